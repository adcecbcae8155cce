"""Identification step: test each description on the people of its video, by a model or people.

They tell everybody in a video apart by a few pictures of each track, long or short.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.make.herbench.cards.crops import CropRules, box_of, cut_box
from vidence.make.herbench.cards.identification import STAGE, IdentificationTry, identified, try_card
from vidence.make.herbench.config import CardStep
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.herbench.tasks.people import NOT_IDENTIFIED
from vidence.make.pipeline.cache import FlowUnit, Stage, digest_of
from vidence.make.pipeline.kept_video import KeptVideo
from vidence.make.pipeline.material import Card, Crop, Dropped
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.wording import CardWording
from vidence.media.video import FrameProblem
from vidence.records import by_key
from vidence.seeing.boxes import areas_px
from vidence.seeing.same_person import distance
from vidence.seeing.tracks import Track, TrackedVideo, listed_others
from vidence.seeing.visibility import shares_covered

_LEAST_SIDE_PX: Final = 4


@dataclass(frozen=True, kw_only=True)
class Portrayed:
    """Pictures of everyone in a video, by track."""

    pictures: dict[str, tuple[Crop, ...]]


def cut_all_portraits(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Cut pictures of everyone with a track, in every available video."""
    step = work.config.cards or CardStep()
    n = step.identification.n_pictures
    here = [video for video in videos if video.material.tracked is not None]
    results = work.cut(
        Stage(name="portraits", kind=Portrayed, settings=[step.crops, n]),
        here,
        lambda material: partial(_portray, tracked=material.tracked, n=n, rules=step.crops),
        rests_on={"tracks": "tracked"},
        crops=lambda portrayed: chain.from_iterable(portrayed.pictures.values()),
    )
    for state in here:
        if state.video_id in results.made:
            state.portraits = dict(results.made[state.video_id].value.pictures)


def _portray(
    video: KeptVideo, pictures: PictureFolder, *, tracked: TrackedVideo | None, n: int, rules: CropRules
) -> Portrayed:
    """Cut a few pictures of everybody with a track; damaged frames are left out.

    Raises:
        MediaError: the file cannot be opened any more.
        StoreError: the folder cannot be written.
    """
    if tracked is None:
        return Portrayed(pictures={})
    everybody = (*tracked.tracks, *listed_others(tracked.others, tracked))
    wanted = {
        track.track_id: portrait_frames(
            track,
            width_px=tracked.width_px,
            height_px=tracked.height_px,
            n=n,
            others=[other for other in everybody if other is not track],
        )
        for track in everybody
    }
    known = {track.track_id: track for track in everybody}
    by_frame = by_key((frame, name) for name, frames in wanted.items() for frame in frames)

    def make(index: int, picture: NDArray[np.uint8]) -> dict[str, Crop]:
        keep = partial(pictures.keep, frame_index=index, quality=rules.quality)
        return {
            name: keep(cut_box(picture, box_of(known[name], index), rules), track_id=name)
            for name in by_frame[index]
        }

    read = video.read(sorted(by_frame), make)
    portraits: dict[str, tuple[Crop, ...]] = {}
    for name, frames in wanted.items():
        held = [(read[index], name) for index in frames]
        portraits[name] = tuple(row[name] for row, name in held if not isinstance(row, FrameProblem))
    return Portrayed(pictures=portraits)


def identify_all(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Have a model test every untested A-card, and account for all tests."""
    step = work.config.cards
    if step is not None and step.identify:
        _ask(work, [video for video in videos if video.material.a_cards], step)
    cards = [(video, card) for video in videos for card in video.material.a_cards if card.identified_by]
    if not cards:
        return
    dropped = [
        Dropped(what=state.named(f"{card.track_id}/A"), stage=STAGE, reason=NOT_IDENTIFIED, detail=card.fit)
        for state, card in cards
        if not card.fits_it_alone
    ]
    taken = [state.named(f"{card.track_id}/A") for state, card in cards]
    work.close(STAGE, unit="cards", taken=taken, dropped=dropped)


def _ask(work: HerbenchSession, videos: Sequence[VideoState], step: CardStep) -> None:
    cut_all_portraits(work, videos)
    wording = CardWording.load(work.prompts)
    by = work.models.identity(step.identify)
    settings = [step.identification, by, wording.digest]
    stage = Stage(name=STAGE, kind=IdentificationTry, settings=settings)
    units: dict[str, tuple[VideoState, Card, FlowUnit[IdentificationTry]]] = {}
    for video in videos:
        for card in video.material.a_cards:
            if card.identified_by or not video.portraits.get(card.track_id):
                continue
            values = {
                name: video.portraits[name]
                for name in most_alike(card.track_id, video, most=step.identification.most_people)
            }
            name = video.named(f"{card.track_id}/A")
            unit = FlowUnit(
                stage=stage,
                name=name,
                inputs={"card": digest_of(card), "pictures": digest_of(values)},
                start=partial(try_card, card, values, wording=wording),
            )
            units[name] = video, card, unit
    results = work.ask(
        STAGE, [unit for _, _, unit in units.values()], models=work.models, model=step.identify
    )
    for name, (video, card, _) in units.items():
        if name in results.failed:
            work.trouble(f"{name} was not tried on the others: {results.failed[name].message}")
            continue
        tried = results.made[name].value
        if tried.dropped is not None:
            work.trouble(
                f"{name} was not tried on the others: {tried.dropped.reason}, {tried.dropped.detail}"
            )
        result = identified(card, tried, by=by)
        cards = tuple(result if other is card else other for other in video.material.a_cards)
        video.material = replace(video.material, a_cards=cards)
    for video in videos:
        video.settle("a_cards", otherwise="no track has one that can be used")


def most_alike(track_id: str, state: VideoState, *, most: int) -> tuple[str, ...]:
    """Return the people to show with a described one: all with pictures, or the most similar by colour.

    Whose colours nobody knows come first: they cannot be ruled out.
    """
    looks = {} if state.material.tracked is None else state.material.tracked.looks
    others = [name for name, some in state.portraits.items() if some and name != track_id]
    mine = looks.get(track_id)

    def far(name: str) -> float:
        theirs = looks.get(name)
        return -1.0 if mine is None or theirs is None else float(distance(np.asarray(mine), theirs))

    return (track_id, *sorted(others, key=far)[: most - 1])


def portrait_frames(
    track: Track, *, width_px: int, height_px: int, n: int, others: Sequence[Track] = ()
) -> tuple[int, ...]:
    """Up to `n` frames of a track, spread over its time, in each of which most is seen of the box.

    Detected boxes come before filled in ones; a box outside the frame is never chosen. None if all are.

    Args:
        track: who is shown.
        width_px: of the video.
        height_px: of the video.
        n: how many frames are wanted.
        others: everybody else in the video, who may stand in front or behind.
    """
    inside = np.clip(track.boxes_px, 0, [width_px, height_px, width_px, height_px])
    is_inside = np.minimum(inside[:, 2] - inside[:, 0], inside[:, 3] - inside[:, 1]) >= _LEAST_SIDE_PX
    worth = areas_px(inside) * (1 - shares_covered(track, others)) * np.where(track.is_detected, 1.0, 0.01)
    frames: list[int] = []
    for places in np.array_split(np.arange(len(track.frame_indices)), n):
        usable = places[is_inside[places]]
        if len(usable):
            frames.append(int(track.frame_indices[usable[np.argmax(worth[usable])]]))
    return tuple(frames)
