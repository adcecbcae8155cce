"""Scene step: cards of shots, true and false, by a model, by rules or of files, with people's laid over."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from vidence.contracts import Flow
from vidence.errors import DataError
from vidence.make.herbench.cards.falsifying import false_id, folded, perturb
from vidence.make.herbench.cards.plausible import SlotCounts
from vidence.make.herbench.cards.scene_files import read_scene_cards
from vidence.make.herbench.cards.scenes import (
    SceneRules,
    ShotPictures,
    describe,
    take_pictures,
    unlike_each_other,
)
from vidence.make.herbench.cards.swapping import perturb_by_rules
from vidence.make.herbench.config import BY_RULES, SceneStep
from vidence.make.herbench.people import name_unused, use_false_checks
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline.cache import FlowUnit, Stage, digest_of
from vidence.make.pipeline.kept_video import KeptVideo
from vidence.make.pipeline.material import Dropped, SceneCard
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.wording import CardWording
from vidence.records import Record
from vidence.seeing.shooting import Shot


@dataclass(frozen=True, kw_only=True)
class Pictured:
    """The pictures of the shots of one video, and the shots that cannot be described."""

    shots: tuple[ShotPictures, ...] = ()
    dropped: tuple[Dropped, ...] = ()


class SceneCardResult(Record):
    """A scene card, or why there is none."""

    card: SceneCard | None = None
    dropped: Dropped | None = None


Cards = dict[str, tuple[SceneCard, ...]]  # by the id of their video
# By the names of parts of videos: the ids of what is asked, what its writer sees, its flow; what came of it.
_Asked = dict[str, tuple[VideoState, dict[str, str], str, Callable[..., Flow[SceneCard | Dropped]]]]
_Made = dict[str, tuple[VideoState, SceneCard | Dropped]]


def write_all_scenes(work: HerbenchSession, videos: list[VideoState], *, needs: Collection[str]) -> None:
    """Give every video with shots its scene cards: of its file or the model, and over them those of people.

    Raises:
        DataError: a file of scene cards that is wrong.
    """
    if "scene_cards" not in needs:
        return
    step = work.config.scenes or SceneStep(false=False)
    given, said = Cards(), Cards()
    shown = [one for one in videos if one.material.shots]
    to_write: list[VideoState] = []
    for one in shown:
        pattern, over = one.source.rule.scene_cards, one.source.laid_over.get("scene_cards", "")
        if file := one.source.beside(over, work.root):
            said[one.video_id] = _read(work, one, file, pattern=over)
        if path := one.file_of(pattern, work.root, what="file of scene cards", session=work):
            given[one.video_id] = _read(work, one, path, pattern=pattern)
        elif step.model:
            to_write.append(one)
            continue
        if not (file := path or file):
            why = "[scenes] names no model, and the source has no file of scene cards"
            one.absent["scene_cards"] = why if work.config.scenes else "the configuration has no [scenes]"
        elif not (given.get(one.video_id) or said.get(one.video_id)):
            one.absent["scene_cards"] = f"nobody has filled in {file.name}"
            work.trouble(f"{one.video_id}: nobody has filled in {file.name}")
    _Writing(work, step, given=given, said=said).write(to_write, shown=shown)
    use_false_checks(work, videos)


def _laid_over(before: Sequence[SceneCard], said: Sequence[SceneCard]) -> tuple[SceneCard, ...]:
    """The cards with those that people said in place of others of their shot and kind; the rest stay.

    The false sentence of a true one that is another now goes with it.
    """
    found = {(card.shot_id, card.is_faithful): card for card in before}
    for card in said:
        was = found.get((card.shot_id, card.is_faithful))
        if was is None or (was.text, was.changes) != (card.text, card.changes):
            found[card.shot_id, card.is_faithful] = card
            if card.is_faithful:
                found.pop((card.shot_id, False), None)
    return tuple(found.values())


def _read(work: HerbenchSession, one: VideoState, path: Path, *, pattern: str) -> tuple[SceneCard, ...]:
    """The cards of a video out of a file; none of a sheet that is still to be filled in.

    Raises:
        DataError: the file is wrong.
    """
    others = work.others_in(pattern, one.video_id)
    try:
        read = read_scene_cards(path, shots=one.material.shots, video_id=one.video_id, others=others)
    except DataError as error:
        raise DataError(f"the cards of the video {one.video_id}: {error}") from error
    name_unused(work, read.unused, about=one.video_id)
    return read.cards


def _give(one: VideoState, cards: tuple[SceneCard, ...]) -> None:
    one.material = replace(one.material, scene_cards=cards)
    one.settle("scene_cards", otherwise="no shot has one that can be used")


def _take(video: KeptVideo, pictures: PictureFolder, *, shots: Sequence[Shot], rules: SceneRules) -> Pictured:
    shown, dropped = take_pictures(video, shots, pictures=pictures, rules=rules)
    return Pictured(shots=shown, dropped=dropped)


class _Writing:
    """Pictures, then faithful cards, then false ones; an account for each."""

    def __init__(self, work: HerbenchSession, step: SceneStep, *, given: Cards, said: Cards) -> None:
        self._work, self._step = work, step
        self._before, self._said = given, said
        self._wording = CardWording.load(work.prompts)

    def write(self, videos: Sequence[VideoState], *, shown: Sequence[VideoState]) -> None:
        """Give all that are `shown` their scene cards; the model describes the shots of `videos`.

        A true sentence gets a false one where people gave none, and its file has none at all.
        """
        if videos:
            self._before |= self._faithful(videos, self._picture(videos))
        cards, wanted = Cards(), Cards()
        for one in shown:
            was, name = self._before.get(one.video_id, ()), one.video_id
            cards[name] = _laid_over(was, self._said.get(name, ()))
            has_false = {card.shot_id for card in cards[name] if not card.is_faithful}
            done = () if all(card.is_faithful for card in was) else was
            true = [card for card in cards[name] if card.is_faithful and card not in done]
            wanted[name] = tuple(card for card in true if card.shot_id not in has_false)
        is_asked = videos or any(wanted.values())
        false = self._false(shown, wanted) if self._step.false and is_asked else {}
        for one in shown:
            found = (*cards[one.video_id], *false.get(one.video_id, ()))
            if one.video_id in self._said:  # a false sentence keeps its place, whoever wrote it
                order = [card.shot_id for card in found if card.is_faithful]
                found = tuple(sorted(found, key=lambda o: (not o.is_faithful, order.index(o.shot_id))))
            _give(one, found)

    def _picture(self, videos: Sequence[VideoState]) -> dict[str, Pictured]:
        work, rules = self._work, self._step.rules
        stage = Stage(name="scene-pictures", kind=Pictured, settings=rules)
        results = work.cut(
            stage,
            videos,
            lambda made: partial(_take, shots=made.shots, rules=rules),
            rests_on={"shots": "shots"},
            crops=lambda made: chain.from_iterable(one.pictures for one in made.shots),
        )
        found: dict[str, Pictured] = {}
        for one in videos:
            if one.video_id in results.failed:
                why = results.failed[one.video_id].message
                gone = [
                    Dropped(what=shot.shot_id, stage="scenes", reason="frames-unreadable", detail=why)
                    for shot in one.material.shots
                ]
                found[one.video_id] = Pictured(dropped=tuple(gone))
            elif one.source.file is None:
                found[one.video_id] = Pictured()
            else:
                found[one.video_id] = results.made[one.video_id].value
        work.close(
            stage.name,
            unit="shots",
            taken=[one.named(shot.shot_id) for one in videos for shot in one.material.shots],
            kept=[one.named(s.shot.shot_id) for one in videos for s in found[one.video_id].shots],
            dropped=[one.dropped(g, stage=g.stage) for one in videos for g in found[one.video_id].dropped],
            n_cached=results.n_cached,
        )
        return found

    def _faithful(self, videos: Sequence[VideoState], pictured: Mapping[str, Pictured]) -> Cards:
        asked: _Asked = {}
        for one in videos:
            for shown in pictured[one.video_id].shots:
                shot_id = shown.shot.shot_id
                ids = {"shot_id": shot_id, "card_id": f"{shot_id}-true"}
                asked[one.named(shot_id)] = one, ids, digest_of(shown.pictures), partial(describe, shown)
        made = self._ask("scenes", asked, model=self._step.model)
        cards = _by_video(made)
        dropped = [gone for _, gone in made.values() if isinstance(gone, Dropped)]
        true: Cards = {}
        for one in videos:
            true[one.video_id], alike = unlike_each_other(cards[one.video_id])
            for gone in alike:
                what = one.named(gone.what.removesuffix("-true"))
                dropped.append(msgspec.structs.replace(gone, what=what))
        kept = [one.named(card.shot_id) for one in videos for card in true[one.video_id]]
        self._work.close("scenes", unit="shots", taken=list(made), kept=kept, dropped=dropped)
        return true

    def _false(self, videos: Sequence[VideoState], true: Cards) -> Cards:
        """False cards, by a model or by rules, of every true one."""
        made = (
            self._by_rules(videos, true)
            if self._step.false_model == BY_RULES
            else self._by_model(videos, true)
        )
        dropped = [gone for _, gone in made.values() if isinstance(gone, Dropped)]
        kept = [name for name, (_, card) in made.items() if isinstance(card, SceneCard)]
        self._work.close("false-scenes", unit="cards", taken=list(made), kept=kept, dropped=dropped)
        return {video_id: tuple(cards) for video_id, cards in _by_video(made).items()}

    def _by_model(self, videos: Sequence[VideoState], true: Cards) -> _Made:
        asked: _Asked = {}
        for one in videos:
            others = self._others(one)
            for card in true[one.video_id]:
                ids = {"shot_id": card.shot_id, "card_id": false_id(card)}
                seen, start = digest_of([card.text, card.frames]), partial(perturb, card, others=others)
                asked[one.named(false_id(card))] = one, ids, seen, start
        made = self._ask("false-scenes", asked, model=self._step.false_model or self._step.model)
        taken = {one.video_id: {folded(card.text) for card in self._others(one)} for one in videos}
        for what, (one, wrote) in made.items():  # others may say so since it was written
            if isinstance(wrote, SceneCard) and folded(wrote.text) in taken[one.video_id]:
                made[what] = one, Dropped(what=what, stage="false-scenes", reason="same-as-another")
        return made

    def _others(self, one: VideoState) -> tuple[SceneCard, ...]:
        """All that is said of a video, by a model and by people."""
        return (*self._before.get(one.video_id, ()), *self._said.get(one.video_id, ()))

    def _by_rules(self, videos: Sequence[VideoState], true: Cards) -> _Made:
        """False cards without a model; nothing is cached, since they are written faster than read."""
        seed = self._work.config.seed
        made: _Made = {}
        n_without = 0
        sources = {one.video_id: one.source.video.source_id or one.video_id for one in videos}
        for one in videos:
            others = list(self._others(one))
            elsewhere = [v for v, name in sources.items() if name != sources[one.video_id]]
            known = SlotCounts.of(chain.from_iterable(map(self._known, elsewhere)))
            for card in true[one.video_id]:
                name = one.named(false_id(card))
                rng = np.random.default_rng(list(hashlib.sha256(f"{seed}/{name}".encode()).digest()))
                found = perturb_by_rules(card, others=others, known=known, rng=rng)
                if isinstance(found, Dropped):
                    n_without += 1
                    found = one.dropped(found, stage=found.stage)
                else:
                    others.append(found)
                made[name] = one, found
        self._work.began("false-scenes", len(made))
        self._work.ledger.notes.append(
            f"false-scenes: {len(made) - n_without} false descriptions were made by rules and not by a model "
            f'(false_model = "rules"); {n_without} descriptions have none, since nothing plausible could be '
            "swapped in them"
        )
        return made

    def _known(self, video_id: str) -> Sequence[SceneCard]:
        """What other videos can take words from: what stands before people mend a part of it."""
        before = self._before.get(video_id, ())
        has_false = any(not card.is_faithful for card in before)
        return () if has_false else before or self._said.get(video_id, ())

    def _ask(self, name: str, asked: _Asked, *, model: str) -> _Made:
        """What a model writes, or why it is not used; `name` is that of the stage."""
        writer = self._work.models.identity(model)
        stage = Stage(name=name, kind=SceneCardResult, settings=[writer, self._wording.digest])
        units = [
            FlowUnit(
                stage=stage,
                name=what,
                inputs={"seen": seen},
                start=partial(_written, partial(start, wording=self._wording, writer=writer)),
            )
            for what, (_, _, seen, start) in asked.items()
        ]
        results = self._work.ask(name, units, models=self._work.models, model=model)
        made: _Made = {}
        for what, (one, ids, *_) in asked.items():
            if what in results.failed:
                made[what] = one, results.dropped(what, stage=name)
                continue
            found = results.made[what].value
            if found.card is not None:
                made[what] = one, msgspec.structs.replace(found.card, **ids)
            elif found.dropped is not None:
                made[what] = one, msgspec.structs.replace(found.dropped, what=what, stage=name)
        return made


def _written(start: Callable[[], Flow[SceneCard | Dropped]]) -> Flow[SceneCardResult]:
    made = yield from start()
    return SceneCardResult(dropped=made) if isinstance(made, Dropped) else SceneCardResult(card=made)


def _by_video(made: _Made) -> dict[str, list[SceneCard]]:
    cards: dict[str, list[SceneCard]] = defaultdict(list)
    for one, card in made.values():
        if isinstance(card, SceneCard):
            cards[one.video_id].append(card)
    return cards
