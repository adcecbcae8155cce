"""Card step: crop the chosen tracks; cards come from a model or files, overridden by people's."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec

from vidence.errors import DataError
from vidence.make.herbench.cards.card_files import is_sheet, read_cards, read_filled
from vidence.make.herbench.cards.cards import TrackCards, check_cards, write_cards
from vidence.make.herbench.cards.crops import CropPlan, CropRules, TrackPictures, cut_crops, plan_crops
from vidence.make.herbench.cards.screening import NOT_ONE_PERSON
from vidence.make.herbench.config import BY_PEOPLE, CardStep
from vidence.make.herbench.identification import identify_all
from vidence.make.herbench.people import name_unused, use_card_checks
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline.cache import FlowUnit, Stage, digest_of
from vidence.make.pipeline.kept_video import KeptVideo
from vidence.make.pipeline.material import Card, Dropped
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.wording import CardWording
from vidence.seeing.tracks import TrackedVideo, listed_others, track_check

NEED_CARDS = ("a_cards", "b_cards", "crops")
_KINDS = "AB"
_Cards = dict[str, list[TrackCards]]  # by the id of their video
_Said = dict[str, list[Card]]


@dataclass(frozen=True, kw_only=True)
class Cropped:
    """The pictures of a video's chosen tracks, and the tracks without pictures."""

    pictures: tuple[TrackPictures, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def write_all_cards(work: HerbenchSession, videos: list[VideoState], *, needs: Collection[str]) -> None:
    """Give every video its cards from file or model, overridden by people's cards."""
    if not set(NEED_CARDS) & set(needs):
        return
    step = work.config.cards
    by_people = step is not None and step.model == BY_PEOPLE
    with_tracks = [video for video in videos if video.material.chosen]
    cut_all_crops(work, with_tracks)
    cards, values = _Cards(), _Said()
    to_write: list[VideoState] = []
    for track in with_tracks:
        pattern = track.source.rule.cards or (step.file if step is not None else "")
        over = track.source.laid_over.get("cards", "")
        if path := track.source.beside(over, work.root):
            values[track.video_id] = _from_file(work, track, path, pattern=over)
        path = track.file_of(pattern, work.root, what="file of cards", session=work)
        if path is not None:
            cards[track.video_id] = _laid_over(work, [], _from_file(work, track, path, pattern=pattern))
        elif step is not None and step.model and not by_people:
            to_write.append(track)
        elif track.video_id in values:
            continue
        elif step is None:
            track.absent |= dict.fromkeys(NEED_CARDS, "the configuration has no [cards]")
        else:
            none = (
                f"there is no {pattern.format(video_id=track.video_id)}"
                if pattern
                else "[cards] has no model"
            )
            why = "its cards are not written yet" if by_people else none
            track.absent |= dict.fromkeys(("a_cards", "b_cards"), why)
    failed = [] if step is None or by_people else _write(work, to_write, step, cards=cards, said=values)
    cards |= {video_id: _laid_over(work, cards.get(video_id, []), mine) for video_id, mine in values.items()}
    for track in with_tracks:
        _give(track, cards.get(track.video_id, []))
    known = {video.video_id: video for video in with_tracks}
    entries = [(known[video_id], result) for video_id, mine in cards.items() for result in mine]
    _account(work, entries, failed)
    if by_people:
        work.waiting.update(
            {with_track.video_id: n for with_track in with_tracks if (n := _n_missing(with_track))}
        )
    use_card_checks(work, with_tracks)
    identify_all(work, with_tracks)


def _account(
    work: HerbenchSession, entries: Sequence[tuple[VideoState, TrackCards]], failed: Sequence[Dropped]
) -> None:
    kept = [state.named(f"{card.track_id}/{card.kind}") for state, result in entries for card in result.cards]
    dropped = [state.dropped(gone, stage="cards") for state, result in entries for gone in result.dropped]
    named = {*kept, *(gone.what for gone in dropped)}
    dropped += [gone for gone in failed if gone.what not in named]
    if kept or dropped:
        taken = [*kept, *(gone.what for gone in dropped)]
        work.close("cards", unit="cards", taken=taken, kept=kept, dropped=dropped)


def _n_missing(state: VideoState) -> int:
    """Count missing cards of chosen tracks with pictures: two per track."""
    written = {(card.track_id, card.kind) for card in (*state.material.a_cards, *state.material.b_cards)}
    chosen = set(state.material.chosen)
    return sum((name, kind) not in written for name in state.pictures if name in chosen for kind in _KINDS)


def cut_all_crops(work: HerbenchSession, with_tracks: Sequence[VideoState]) -> None:
    """Cut the crops of the chosen tracks of every video, out of frames kept while it was watched."""
    videos = [track for track in with_tracks if track.source.file is not None]
    if not videos:
        return
    step = work.config.cards or CardStep()
    results = work.cut(
        Stage(name="crops", kind=Cropped, version=4, settings=step.crops),
        videos,
        lambda material: partial(_crop, tracked=material.tracked, chosen=material.chosen, rules=step.crops),
        rests_on={"tracks": "tracked"},
        crops=lambda result: chain.from_iterable(
            (*o.appearance, *o.path, *o.frames) for o in result.pictures
        ),
    )
    taken, kept, dropped = [], [], []
    for video in videos:
        taken += [video.named(name) for name in video.material.chosen]
        if video.video_id in results.failed:
            why = results.failed[video.video_id].message
            gone = [
                Dropped(what=name, stage="crops", reason="frames-unreadable", detail=why)
                for name in video.material.chosen
            ]
            cropped = Cropped(dropped=tuple(gone))
        else:
            cropped = results.made[video.video_id].value
        video.pictures = {this.track_id: this for this in cropped.pictures}
        kept += [video.named(name) for name in video.pictures]
        dropped += [video.dropped(gone, stage="crops") for gone in cropped.dropped]
    work.close("crops", unit="tracks", taken=taken, kept=kept, dropped=dropped, n_cached=results.n_cached)


def _crop(
    video: KeptVideo,
    pictures: PictureFolder,
    *,
    tracked: TrackedVideo | None,
    chosen: Sequence[str],
    rules: CropRules,
) -> Cropped:
    if tracked is None:
        return Cropped()
    planned = [
        plan_crops(
            tracked.track(name),
            width_px=tracked.width_px,
            height_px=tracked.height_px,
            rules=rules,
            others=(*tracked.tracks, *tracked.others),
            fps=tracked.fps,
        )
        for name in chosen
    ]
    plans = [plan for plan in planned if isinstance(plan, CropPlan)]
    values, dropped = cut_crops(video, plans, pictures=pictures, rules=rules)
    unplanned = tuple(plan for plan in planned if isinstance(plan, Dropped))
    return Cropped(pictures=tuple(values.values()), dropped=(*unplanned, *dropped))


def _write(
    work: HerbenchSession, videos: Sequence[VideoState], step: CardStep, *, cards: _Cards, said: _Said
) -> list[Dropped]:
    """Have a model write missing cards into `cards`; return the failures."""
    wording = CardWording.load(work.prompts)
    writer = work.models.identity(step.model) if any(state.pictures for state in videos) else ""
    stage = Stage(name="cards", kind=TrackCards, version=2, settings=[step.rules, writer, wording.digest])
    units: dict[str, tuple[VideoState, FlowUnit[TrackCards]]] = {}
    for video in videos:
        times_s = [] if video.material.tracked is None else video.material.tracked.times_s.tolist()
        ask = partial(write_cards, times_s=times_s, wording=wording, rules=step.rules, writer=writer)
        by_people = Counter(card.track_id for card in said.get(video.video_id, ()))
        for track_id, pictures in video.pictures.items():
            if by_people[track_id] == len(_KINDS):
                continue
            name = video.named(track_id)
            inputs = {"pictures": digest_of(pictures), "times": digest_of(times_s)}
            units[name] = video, FlowUnit(stage=stage, name=name, inputs=inputs, start=partial(ask, pictures))
    flows = [unit for _, unit in units.values()]
    results = work.ask("cards", flows, models=work.models, model=step.model)
    failed: list[Dropped] = []
    for name, (video, _) in units.items():
        if name in results.failed:
            failed += [results.dropped(name, stage="cards", what=f"{name}/{kind}") for kind in _KINDS]
        else:
            cards.setdefault(video.video_id, []).append(results.made[name].value)
    return failed


def _from_file(work: HerbenchSession, state: VideoState, path: Path, *, pattern: str) -> list[Card]:
    """The cards of a video out of its file: a list of cards, or a sheet that a person filled in.

    Raises:
        DataError: it cannot be read, or has a card of a track that the video does not have.
    """
    tracked = state.material.tracked
    tracks = () if tracked is None else tracked.tracks
    try:
        if is_sheet(path):
            everybody = tracks if tracked is None else (*tracks, *listed_others(tracked.others, tracked))
            filled = read_filled(
                path,
                state.video_id,
                tracks=[track.track_id for track in tracks],
                everybody=[track.track_id for track in everybody],
                checks={track.track_id: track_check(track) for track in everybody},
                others=work.others_in(pattern, state.video_id),
            )
            cards = filled.cards
            if filled.n_open:
                rows = "row has" if filled.n_open == 1 else "rows have"
                work.trouble(f"{state.video_id}: {filled.n_open} {rows} no text in {path.name}")
        else:
            read = read_cards(
                path,
                tracks=[track.track_id for track in tracks],
                checks={track.track_id: track_check(track) for track in tracks},
            )
            cards = read.cards
            name_unused(work, read.stale, about=state.video_id)
    except DataError as error:
        raise DataError(f"the cards of the video {state.video_id}: {error}") from error
    return [_with_frames(card, state) for card in cards]


def _laid_over(
    work: HerbenchSession, before: Sequence[TrackCards], entries: Sequence[Card]
) -> list[TrackCards]:
    """Override cards by people's cards of the same track and kind.

    A person who describes a track overrules a model that saw different people in it.
    """
    values = {track_cards.track_id: track_cards for track_cards in before}
    for track_id in dict.fromkeys(card.track_id for card in entries):
        was = values.get(track_id, TrackCards(track_id=track_id))
        cards = {card.kind: card for card in (*was.cards, *entries) if card.track_id == track_id}
        left = [gone for gone in was.dropped if gone.reason != NOT_ONE_PERSON and gone.what[-1] not in cards]
        now = check_cards(list(cards.values()), (work.config.cards or CardStep()).rules)
        values[track_id] = replace(now, dropped=(*now.dropped, *left))
    return list(values.values())


def _with_frames(card: Card, state: VideoState) -> Card:
    """The card with the frames that its writer was shown, where the file names none."""
    pictures = state.pictures.get(card.track_id)
    if card.frames or pictures is None:
        return card
    crops = pictures.appearance if card.kind == "A" else pictures.path
    return msgspec.structs.replace(card, frames=tuple(crop.frame_index for crop in crops))


def _give(state: VideoState, results: Sequence[TrackCards]) -> None:
    """Store the cards in track order."""
    _part_mixed(state, mixed={result.track_id for result in results if not result.is_one_person})
    by_track = {result.track_id: result for result in results}
    order = [by_track[name] for name in state.material.chosen if name in by_track]
    order += [result for result in results if result.track_id not in state.material.chosen]
    cards = [card for result in order for card in result.cards]
    state.material = replace(
        state.material,
        a_cards=tuple(card for card in cards if card.kind == "A"),
        b_cards=tuple(card for card in cards if card.kind == "B"),
        crops=tuple(c for this in state.pictures.values() for c in (*this.appearance, *this.path)),
    )
    state.settle("a_cards", "b_cards", "crops", otherwise="no track has one that can be used")
    state.flags = tuple(flag for result in order for flag in result.flags)


def _part_mixed(state: VideoState, *, mixed: Collection[str]) -> None:
    """Move mixed-person tracks to the others: present, but of unknown identity and time."""
    tracked = state.material.tracked
    if tracked is None or not mixed:
        return
    state.parted = tuple(sorted(mixed))
    gone = tuple(track for track in tracked.tracks if track.track_id in mixed)
    left = tuple(track for track in tracked.tracks if track.track_id not in mixed)
    chosen = tuple(name for name in state.material.chosen if name not in mixed)
    tracked = replace(tracked, tracks=left, others=(*tracked.others, *gone))
    state.material = replace(state.material, tracked=tracked, chosen=chosen)
    for name in ("tracked", "chosen"):
        state.digests[name] = digest_of([state.digests[name], sorted(mixed)])
    if not chosen:
        state.absent["chosen"] = "the pictures of every chosen track show different people"
