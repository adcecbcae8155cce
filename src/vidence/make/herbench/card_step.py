"""Card step: crops of the chosen tracks, and cards written from them or of files, with people's laid over."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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
    """The pictures of the chosen tracks of one video, and the tracks of which none could be made."""

    pictures: tuple[TrackPictures, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def write_all_cards(work: HerbenchSession, videos: list[VideoState], *, needs: Collection[str]) -> None:
    """Give every video with chosen tracks its cards: of its file or the model, people's laid over them."""
    if not set(NEED_CARDS) & set(needs):
        return
    step = work.config.cards
    by_people = step is not None and step.model == BY_PEOPLE
    with_tracks = [one for one in videos if one.material.chosen]
    cut_all_crops(work, with_tracks)
    cards, said = _Cards(), _Said()
    to_write: list[VideoState] = []
    for one in with_tracks:
        pattern = one.source.rule.cards or (step.file if step is not None else "")
        over = one.source.laid_over.get("cards", "")
        if path := one.source.beside(over, work.root):
            said[one.video_id] = _from_file(work, one, path, pattern=over)
        path = one.file_of(pattern, work.root, what="file of cards", session=work)
        if path is not None:
            cards[one.video_id] = _laid_over(work, [], _from_file(work, one, path, pattern=pattern))
        elif step is not None and step.model and not by_people:
            to_write.append(one)
        elif one.video_id in said:
            continue
        elif step is None:
            one.absent |= dict.fromkeys(NEED_CARDS, "the configuration has no [cards]")
        else:
            none = (
                f"there is no {pattern.format(video_id=one.video_id)}" if pattern else "[cards] has no model"
            )
            why = "nobody has written its cards yet" if by_people else none
            one.absent |= dict.fromkeys(("a_cards", "b_cards"), why)
    failed = [] if step is None or by_people else _write(work, to_write, step, cards=cards, said=said)
    cards |= {video_id: _laid_over(work, cards.get(video_id, []), mine) for video_id, mine in said.items()}
    for one in with_tracks:
        _give(one, cards.get(one.video_id, []))
    _account(work, with_tracks, cards, failed=failed)
    if by_people:
        work.waiting.update({one.video_id: n for one in with_tracks if (n := _n_missing(one))})
    use_card_checks(work, with_tracks)
    identify_all(work, with_tracks)


def _n_missing(one: VideoState) -> int:
    """How many cards of chosen tracks with pictures nobody has written: two of each."""
    written = {(card.track_id, card.kind) for card in (*one.material.a_cards, *one.material.b_cards)}
    chosen = set(one.material.chosen)
    return sum((name, kind) not in written for name in one.pictures if name in chosen for kind in _KINDS)


def cut_all_crops(work: HerbenchSession, with_tracks: Sequence[VideoState]) -> None:
    """Cut the crops of the chosen tracks of every video, out of frames kept while it was watched."""
    videos = [one for one in with_tracks if one.source.file is not None]
    if not videos:
        return
    step = work.config.cards or CardStep()
    results = work.cut(
        Stage(name="crops", kind=Cropped, version=4, settings=step.crops),
        videos,
        lambda made: partial(_crop, tracked=made.tracked, chosen=made.chosen, rules=step.crops),
        rests_on={"tracks": "tracked"},
        crops=lambda made: chain.from_iterable((*o.appearance, *o.path, *o.frames) for o in made.pictures),
    )
    taken, kept, dropped = [], [], []
    for one in videos:
        taken += [one.named(name) for name in one.material.chosen]
        if one.video_id in results.failed:
            why = results.failed[one.video_id].message
            gone = [
                Dropped(what=name, stage="crops", reason="frames-unreadable", detail=why)
                for name in one.material.chosen
            ]
            found = Cropped(dropped=tuple(gone))
        else:
            found = results.made[one.video_id].value
        one.pictures = {this.track_id: this for this in found.pictures}
        kept += [one.named(name) for name in one.pictures]
        dropped += [one.dropped(gone, stage="crops") for gone in found.dropped]
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
    found, dropped = cut_crops(video, plans, pictures=pictures, rules=rules)
    unplanned = tuple(plan for plan in planned if isinstance(plan, Dropped))
    return Cropped(pictures=tuple(found.values()), dropped=(*unplanned, *dropped))


def _write(
    work: HerbenchSession, videos: Sequence[VideoState], step: CardStep, *, cards: _Cards, said: _Said
) -> list[Dropped]:
    """Have the cards of tracks with pictures written, into `cards`, unless people said both; what failed."""
    wording = CardWording.load(work.prompts)
    writer = work.models.identity(step.model) if any(one.pictures for one in videos) else ""
    stage = Stage(name="cards", kind=TrackCards, version=2, settings=[step.rules, writer, wording.digest])
    units: dict[str, tuple[VideoState, FlowUnit[TrackCards]]] = {}
    for one in videos:
        times_s = [] if one.material.tracked is None else one.material.tracked.times_s.tolist()
        ask = partial(write_cards, times_s=times_s, wording=wording, rules=step.rules, writer=writer)
        by_people = Counter(card.track_id for card in said.get(one.video_id, ()))
        for track_id, pictures in one.pictures.items():
            if by_people[track_id] == len(_KINDS):
                continue
            name = one.named(track_id)
            inputs = {"pictures": digest_of(pictures), "times": digest_of(times_s)}
            units[name] = one, FlowUnit(stage=stage, name=name, inputs=inputs, start=partial(ask, pictures))
    flows = [unit for _, unit in units.values()]
    results = work.ask("cards", flows, models=work.models, model=step.model)
    failed: list[Dropped] = []
    for name, (one, _) in units.items():
        if name in results.failed:
            failed += [results.dropped(name, stage="cards", what=f"{name}/{kind}") for kind in _KINDS]
        else:
            cards.setdefault(one.video_id, []).append(results.made[name].value)
    return failed


def _from_file(work: HerbenchSession, one: VideoState, path: Path, *, pattern: str) -> list[Card]:
    """The cards of a video out of its file: a list of cards, or a sheet that a person filled in.

    Raises:
        DataError: it cannot be read, or has a card of a track that the video does not have.
    """
    tracked = one.material.tracked
    tracks = () if tracked is None else tracked.tracks
    try:
        if is_sheet(path):
            everybody = tracks if tracked is None else (*tracks, *listed_others(tracked.others, tracked))
            filled = read_filled(
                path,
                one.video_id,
                tracks=[track.track_id for track in tracks],
                everybody=[track.track_id for track in everybody],
                checks={track.track_id: track_check(track) for track in everybody},
                others=work.others_in(pattern, one.video_id),
            )
            found = filled.cards
            if filled.n_open:
                rows = "row has" if filled.n_open == 1 else "rows have"
                work.trouble(f"{one.video_id}: {filled.n_open} {rows} no text in {path.name}")
        else:
            read = read_cards(
                path,
                tracks=[track.track_id for track in tracks],
                checks={track.track_id: track_check(track) for track in tracks},
            )
            found = read.cards
            name_unused(work, read.stale, about=one.video_id)
    except DataError as error:
        raise DataError(f"the cards of the video {one.video_id}: {error}") from error
    return [_with_frames(card, one) for card in found]


def _laid_over(work: HerbenchSession, before: Sequence[TrackCards], said: Sequence[Card]) -> list[TrackCards]:
    """The cards with those that people said in place of others of their track and kind; the rest stay.

    A person who describes a track overrules a model that saw different people in it.
    """
    found = {one.track_id: one for one in before}
    for track_id in dict.fromkeys(card.track_id for card in said):
        was = found.get(track_id, TrackCards(track_id=track_id))
        cards = {card.kind: card for card in (*was.cards, *said) if card.track_id == track_id}
        left = [gone for gone in was.dropped if gone.reason != NOT_ONE_PERSON and gone.what[-1] not in cards]
        now = check_cards(list(cards.values()), (work.config.cards or CardStep()).rules)
        found[track_id] = replace(now, dropped=(*now.dropped, *left))
    return list(found.values())


def _with_frames(card: Card, one: VideoState) -> Card:
    """The card with the frames that its writer was shown, where the file names none."""
    shown = one.pictures.get(card.track_id)
    if card.frames or shown is None:
        return card
    crops = shown.appearance if card.kind == "A" else shown.path
    return msgspec.structs.replace(card, frames=tuple(crop.frame_index for crop in crops))


def _give(one: VideoState, results: Sequence[TrackCards]) -> None:
    """Put the cards into the material, in the order of the chosen tracks."""
    _part_mixed(one, mixed={result.track_id for result in results if not result.is_one_person})
    by_track = {result.track_id: result for result in results}
    order = [by_track[name] for name in one.material.chosen if name in by_track]
    order += [result for result in results if result.track_id not in one.material.chosen]
    cards = [card for result in order for card in result.cards]
    one.material = replace(
        one.material,
        a_cards=tuple(card for card in cards if card.kind == "A"),
        b_cards=tuple(card for card in cards if card.kind == "B"),
        crops=tuple(c for this in one.pictures.values() for c in (*this.appearance, *this.path)),
    )
    one.settle("a_cards", "b_cards", "crops", otherwise="no track has one that can be used")
    one.flags = tuple(flag for result in order for flag in result.flags)


def _part_mixed(one: VideoState, *, mixed: Collection[str]) -> None:
    """Put tracks that are several people among the others: somebody was there, but nobody knows who, when."""
    tracked = one.material.tracked
    if tracked is None or not mixed:
        return
    one.parted = tuple(sorted(mixed))
    gone = tuple(track for track in tracked.tracks if track.track_id in mixed)
    left = tuple(track for track in tracked.tracks if track.track_id not in mixed)
    chosen = tuple(name for name in one.material.chosen if name not in mixed)
    tracked = replace(tracked, tracks=left, others=(*tracked.others, *gone))
    one.material = replace(one.material, tracked=tracked, chosen=chosen)
    for name in ("tracked", "chosen"):
        one.digests[name] = digest_of([one.digests[name], sorted(mixed)])
    if not chosen:
        one.absent["chosen"] = "the pictures of every chosen track show different people"


def _account(
    work: HerbenchSession,
    videos: Sequence[VideoState],
    results: Mapping[str, Sequence[TrackCards]],
    *,
    failed: Sequence[Dropped],
) -> None:
    known = {one.video_id: one for one in videos}
    found = [(known[video_id], result) for video_id, mine in results.items() for result in mine]
    kept = [one.named(f"{card.track_id}/{card.kind}") for one, result in found for card in result.cards]
    dropped = [one.dropped(gone, stage="cards") for one, result in found for gone in result.dropped]
    named = {*kept, *(gone.what for gone in dropped)}
    dropped += [gone for gone in failed if gone.what not in named]
    if kept or dropped:
        taken = [*kept, *(gone.what for gone in dropped)]
        work.close("cards", unit="cards", taken=taken, kept=kept, dropped=dropped)
