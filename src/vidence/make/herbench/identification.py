"""Identification step: each description is tried on the people of its video, by a model or by people."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

from vidence.make.herbench.cards.crops import CropRules
from vidence.make.herbench.cards.identification import STAGE, IdentificationTry, identified, try_card
from vidence.make.herbench.cards.portraits import cut_portraits, portrait_frames
from vidence.make.herbench.config import CardStep
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.herbench.tasks.people import NOT_IDENTIFIED
from vidence.make.pipeline.cache import FlowUnit, Stage, digest_of
from vidence.make.pipeline.kept_video import KeptVideo
from vidence.make.pipeline.material import Card, Crop, Dropped
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.wording import CardWording
from vidence.seeing.same_person import distance
from vidence.seeing.tracks import TrackedVideo, listed_others


@dataclass(frozen=True, kw_only=True)
class Portrayed:
    """A few pictures of everybody in one video, by track."""

    pictures: dict[str, tuple[Crop, ...]]


def cut_all_portraits(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Give every video that is here a few pictures of everybody who has a track in it."""
    step = work.config.cards or CardStep()
    n = step.identification.n_pictures
    here = [one for one in videos if one.material.tracked is not None]
    results = work.cut(
        Stage(name="portraits", kind=Portrayed, settings=[step.crops, n]),
        here,
        lambda made: partial(_portray, tracked=made.tracked, n=n, rules=step.crops),
        rests_on={"tracks": "tracked"},
        crops=lambda made: chain.from_iterable(made.pictures.values()),
    )
    for one in here:
        if one.video_id in results.made:
            one.portraits = dict(results.made[one.video_id].value.pictures)


def _portray(
    video: KeptVideo, pictures: PictureFolder, *, tracked: TrackedVideo | None, n: int, rules: CropRules
) -> Portrayed:
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
    made = cut_portraits(video, wanted, everybody, pictures=pictures, rules=rules)
    return Portrayed(pictures=made)


def identify_all(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Have every A-card that nobody has tried yet tried by the model, and account for all that were tried."""
    step = work.config.cards
    if step is not None and step.identify:
        _ask(work, [one for one in videos if one.material.a_cards], step)
    cards = [(one, card) for one in videos for card in one.material.a_cards if card.identified_by]
    if not cards:
        return
    dropped = [
        Dropped(what=one.named(f"{card.track_id}/A"), stage=STAGE, reason=NOT_IDENTIFIED, detail=card.fit)
        for one, card in cards
        if not card.fits_it_alone
    ]
    taken = [one.named(f"{card.track_id}/A") for one, card in cards]
    work.close(STAGE, unit="cards", taken=taken, dropped=dropped)


def _ask(work: HerbenchSession, videos: Sequence[VideoState], step: CardStep) -> None:
    cut_all_portraits(work, videos)
    wording = CardWording.load(work.prompts)
    by = work.models.identity(step.identify)
    settings = [step.identification, by, wording.digest]
    stage = Stage(name=STAGE, kind=IdentificationTry, settings=settings)
    units: dict[str, tuple[VideoState, Card, FlowUnit[IdentificationTry]]] = {}
    for one in videos:
        for card in one.material.a_cards:
            if card.identified_by or not one.portraits.get(card.track_id):
                continue
            shown = {
                name: one.portraits[name]
                for name in most_alike(card.track_id, one, most=step.identification.most_people)
            }
            name = one.named(f"{card.track_id}/A")
            unit = FlowUnit(
                stage=stage,
                name=name,
                inputs={"card": digest_of(card), "pictures": digest_of(shown)},
                start=partial(try_card, card, shown, wording=wording),
            )
            units[name] = one, card, unit
    results = work.ask(
        STAGE, [unit for _, _, unit in units.values()], models=work.models, model=step.identify
    )
    for name, (one, card, _) in units.items():
        if name in results.failed:
            work.trouble(f"{name} was not tried on the others: {results.failed[name].message}")
            continue
        tried = results.made[name].value
        if tried.dropped is not None:
            work.trouble(
                f"{name} was not tried on the others: {tried.dropped.reason}, {tried.dropped.detail}"
            )
        found = identified(card, tried, by=by)
        cards = tuple(found if other is card else other for other in one.material.a_cards)
        one.material = replace(one.material, a_cards=cards)
    for one in videos:
        one.settle("a_cards", otherwise="no track has one that can be used")


def most_alike(track_id: str, one: VideoState, *, most: int) -> tuple[str, ...]:
    """Who is shown beside somebody: everybody with pictures, or those most alike by colours.

    Whose colours nobody knows come first: they cannot be ruled out.
    """
    looks = {} if one.material.tracked is None else one.material.tracked.looks
    others = [name for name, some in one.portraits.items() if some and name != track_id]
    mine = looks.get(track_id)

    def far(name: str) -> float:
        theirs = looks.get(name)
        return -1.0 if mine is None or theirs is None else float(distance(np.asarray(mine), theirs))

    return (track_id, *sorted(others, key=far)[: most - 1])
