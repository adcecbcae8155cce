"""Crops of the chosen tracks, and the cards that are written from them or come from files."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from vidence.errors import DataError, MediaError
from vidence.make.cards.cards import CardChecks, TrackCards, check_cards, write_cards
from vidence.make.cards.crops import CropPlan, TrackPictures, cut_crops, plan_crops
from vidence.make.cards.pictures import PictureFolder
from vidence.make.herbench.config import CardStep
from vidence.make.herbench.files import cards_of_people
from vidence.make.herbench.work import Known, Work
from vidence.make.pipeline.kept_video import kept_video
from vidence.make.pipeline.material import Card, Dropped
from vidence.make.pipeline.progress import Trouble, UnitDone
from vidence.make.pipeline.stages import FlowUnit, JsonForm, Kept, Stage, digest_of
from vidence.make.pipeline.wording import CardWording
from vidence.records import Failed

NEED_CARDS = ("a_cards", "b_cards", "crops")


@dataclass(frozen=True, kw_only=True)
class Cropped:
    """The pictures of the chosen tracks of one video, and the tracks of which none could be made."""

    pictures: tuple[TrackPictures, ...] = ()
    dropped: tuple[Dropped, ...] = ()


_CROPPED: JsonForm[Cropped] = JsonForm(Cropped)
_CARDS: JsonForm[TrackCards] = JsonForm(TrackCards)


def write_all_cards(work: Work, videos: list[Known], *, needs: Collection[str]) -> None:
    """Give every video with chosen tracks its cards, from its file of cards or from the model."""
    if not set(NEED_CARDS) & set(needs):
        return
    with_tracks = [one for one in videos if one.material.chosen]
    by_file = [one for one in with_tracks if one.source.rule.cards]
    to_write = [one for one in with_tracks if not one.source.rule.cards]
    results: dict[str, list[TrackCards]] = {one.video_id: _from_file(work, one) for one in by_file}
    step = work.config.cards
    failed: list[Dropped] = []
    if step is None:
        for one in to_write:
            one.absent |= dict.fromkeys(NEED_CARDS, "the configuration has no [cards]")
    else:
        _crop_all(work, to_write, step)
        written, failed = _write(work, to_write, step)
        results |= written
    for one in with_tracks:
        _give(one, results.get(one.video_id, []))
    _account(work, results, failed)


def _crop_all(work: Work, videos: Sequence[Known], step: CardStep) -> None:
    """Cut the crops of every video, out of frames that were kept while it was watched."""
    folder = PictureFolder(work.pictures)
    stage = Stage(name="crops", version=3, settings=step.crops)
    work.began("crops", len(videos))
    taken, kept, dropped = [], [], []
    n_kept = 0
    for one in videos:
        inputs = {"tracks": one.digests["tracked"], "video": one.source.video.sha256}
        found = work.shelf.find(stage, inputs, _CROPPED)
        if found is not None and not _are_there(found.value, folder):
            found = None
        n_kept += found is not None
        if found is None:
            try:
                found = work.shelf.put(stage, inputs, _CROPPED, value=_crop(work, one, step, folder=folder))
            except MediaError as error:
                work.workshop.on_event(Trouble(message=str(error)))
                found = _unreadable(one, error)
        one.pictures = {this.track_id: this for this in found.value.pictures}
        names = [f"{one.video_id}: {name}" for name in one.material.chosen]
        taken += names
        kept += [f"{one.video_id}: {name}" for name in one.pictures]
        dropped += [_of_video(one.video_id, gone, stage="crops") for gone in found.value.dropped]
        work.workshop.on_event(UnitDone(stage="crops", unit=one.video_id, was_kept=found.was_kept))
    work.close("crops", unit="tracks", taken=taken, kept=kept, dropped=dropped, n_kept=n_kept)


def _crop(work: Work, one: Known, step: CardStep, *, folder: PictureFolder) -> Cropped:
    tracked = one.material.tracked
    if tracked is None or one.source.file is None:
        return Cropped()
    planned = [
        plan_crops(
            tracked.track(name),
            width_px=tracked.width_px,
            height_px=tracked.height_px,
            rules=step.crops,
            others=(*tracked.tracks, *tracked.others),
        )
        for name in one.material.chosen
    ]
    plans = [plan for plan in planned if isinstance(plan, CropPlan)]
    around = work.workshop
    video = kept_video(one.source.file, cache_root=around.cache_root, max_bytes=around.cache_max_bytes)
    found, dropped = cut_crops(video, plans, pictures=folder, rules=step.crops)
    unplanned = tuple(plan for plan in planned if isinstance(plan, Dropped))
    return Cropped(pictures=tuple(found.values()), dropped=(*unplanned, *dropped))


def _unreadable(one: Known, error: MediaError) -> Kept[Cropped]:
    """What is made of a video that cannot be read any more; it is not kept, so that it is tried again."""
    dropped = tuple(
        Dropped(what=name, stage="crops", reason="frames-unreadable", detail=str(error))
        for name in one.material.chosen
    )
    return Kept(value=Cropped(dropped=dropped), digest="", was_kept=False)


def _are_there(cropped: Cropped, folder: PictureFolder) -> bool:
    """Whether the pictures are where they were put."""
    crops = [
        crop for one in cropped.pictures for crop in (*one.appearance, *one.path, *one.frames) if crop.digest
    ]
    return all(folder.path(crop.digest).is_file() for crop in crops)


def _write(
    work: Work, videos: Sequence[Known], step: CardStep
) -> tuple[dict[str, list[TrackCards]], list[Dropped]]:
    wording = CardWording.load(work.prompts)
    writer = work.jobs.identity(step.model) if any(one.pictures for one in videos) else ""
    stage = Stage(name="cards", version=2, settings=[step.rules, writer, wording.digest])
    units = [
        FlowUnit(
            name=f"{one.video_id}: {track_id}",
            inputs={"pictures": digest_of(pictures), "times": digest_of(_times(one))},
            start=partial(
                write_cards,
                pictures,
                times_s=_times(one),
                wording=wording,
                rules=step.rules,
                writer=writer,
            ),
        )
        for one in videos
        for track_id, pictures in one.pictures.items()
    ]
    work.began("cards", len(units))
    found, flows = work.shelf.split(stage, units, _CARDS)
    made = work.jobs.run(flows, model=step.model)
    failed: list[Dropped] = []
    results: dict[str, list[TrackCards]] = {}
    for one in videos:
        for track_id in one.pictures:
            name = f"{one.video_id}: {track_id}"
            result = made.get(name) or found[name]
            if isinstance(result, Failed):
                failed += [
                    Dropped(
                        what=f"{name}/{kind}",
                        stage="cards",
                        reason=f"{result.stage}-failed",
                        detail=result.message,
                    )
                    for kind in "AB"
                ]
            else:
                results.setdefault(one.video_id, []).append(result.value)
    return results, failed


def _times(one: Known) -> list[float]:
    return [] if one.material.tracked is None else one.material.tracked.times_s.tolist()


def _from_file(work: Work, one: Known) -> list[TrackCards]:
    """The cards of a video out of its file.

    Raises:
        DataError: it cannot be read, or has a card of a track that the video does not have.
    """
    path = one.source.beside(one.source.rule.cards, work.root)
    if path is None:
        return []
    by_track: dict[str, list[Card]] = {}
    for card in cards_of_people(path, one.material.tracked, video_id=one.video_id):
        by_track.setdefault(card.track_id, []).append(card)
    rules = CardChecks() if work.config.cards is None else work.config.cards.rules
    try:
        return [check_cards(cards, rules) for cards in by_track.values()]
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error


def _give(one: Known, results: Sequence[TrackCards]) -> None:
    """Put the cards into the material, in the order of the chosen tracks."""
    _part_mixed(one, mixed={result.track_id for result in results if not result.is_one_person})
    by_track = {result.track_id: result for result in results}
    order = [by_track[name] for name in one.material.chosen if name in by_track]
    order += [result for result in results if result.track_id not in one.material.chosen]
    cards = [card for result in order for card in result.cards]
    crops = tuple(crop for this in one.pictures.values() for crop in (*this.appearance, *this.path))
    parts = {
        "a_cards": tuple(card for card in cards if card.kind == "A"),
        "b_cards": tuple(card for card in cards if card.kind == "B"),
    }
    one.material = replace(one.material, a_cards=parts["a_cards"], b_cards=parts["b_cards"], crops=crops)
    for name, value in {**parts, "crops": crops}.items():
        if value:
            one.digests[name] = digest_of(value)
        else:
            one.absent.setdefault(name, "no track has one that can be used")
    one.flags = tuple(flag for result in order for flag in result.flags)


def _part_mixed(one: Known, *, mixed: Collection[str]) -> None:
    """Put tracks that are several people among the others: somebody was there, but nobody knows who, when."""
    tracked = one.material.tracked
    if tracked is None or not mixed:
        return
    gone = tuple(track for track in tracked.tracks if track.track_id in mixed)
    left = tuple(track for track in tracked.tracks if track.track_id not in mixed)
    chosen = tuple(name for name in one.material.chosen if name not in mixed)
    tracked = replace(tracked, tracks=left, others=(*tracked.others, *gone))
    one.material = replace(one.material, tracked=tracked, chosen=chosen)
    for name in ("tracked", "chosen"):
        one.digests[name] = digest_of([one.digests[name], sorted(mixed)])
    if not chosen:
        one.absent["chosen"] = "the pictures of every chosen track show different people"


def _account(work: Work, results: dict[str, list[TrackCards]], failed: Sequence[Dropped]) -> None:
    kept = [
        f"{video_id}: {card.track_id}/{card.kind}"
        for video_id, found in results.items()
        for result in found
        for card in result.cards
    ]
    dropped = [
        _of_video(video_id, gone, stage="cards")
        for video_id, found in results.items()
        for result in found
        for gone in result.dropped
    ]
    if not kept and not dropped and not failed:
        return
    gone_names = [gone.what for gone in (*dropped, *failed)]
    work.close("cards", unit="cards", taken=[*kept, *gone_names], kept=kept, dropped=[*dropped, *failed])


def _of_video(video_id: str, gone: Dropped, *, stage: str) -> Dropped:
    return Dropped(what=f"{video_id}: {gone.what}", stage=stage, reason=gone.reason, detail=gone.detail)
