"""Scene step: cards of shots, true and false, by a model, by rules or of files, with people's laid over."""

import hashlib
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
from vidence.records import Record, by_key
from vidence.seeing.shooting import Shot


@dataclass(frozen=True, kw_only=True)
class Pictured:
    """The pictures of the shots of one video, and the shots that cannot be described."""

    shots: tuple[ShotPictures, ...] = ()
    dropped: tuple[Dropped, ...] = ()


class SceneCardResult(Record):
    """A scene card or a failure."""

    card: SceneCard | None = None
    dropped: Dropped | None = None


Cards = dict[str, tuple[SceneCard, ...]]  # by the id of their video
# By the names of parts of videos: the ids of what is asked, what its writer sees, its flow; what came of it.
_Asked = dict[str, tuple[VideoState, dict[str, str], str, Callable[..., Flow[SceneCard | Dropped]]]]
_Made = dict[str, tuple[VideoState, SceneCard | Dropped]]


def write_all_scenes(work: HerbenchSession, videos: list[VideoState], *, needs: Collection[str]) -> None:
    """Give every video its scene cards from file or model, overridden by people's cards.

    Raises:
        DataError: a file of scene cards that is wrong.
    """
    if "scene_cards" not in needs:
        return
    step = work.config.scenes or SceneStep(false=False)
    given, cards = Cards(), Cards()
    states = [video for video in videos if video.material.shots]
    to_write: list[VideoState] = []
    for state in states:
        pattern, over = state.source.rule.scene_cards, state.source.laid_over.get("scene_cards", "")
        if file := state.source.beside(over, work.root):
            cards[state.video_id] = _read(work, state, file, pattern=over)
        if path := state.file_of(pattern, work.root, what="file of scene cards", session=work):
            given[state.video_id] = _read(work, state, path, pattern=pattern)
        elif step.model:
            to_write.append(state)
            continue
        if not (file := path or file):
            why = "[scenes] names no model, and the source has no file of scene cards"
            state.absent["scene_cards"] = why if work.config.scenes else "the configuration has no [scenes]"
        elif not (given.get(state.video_id) or cards.get(state.video_id)):
            state.absent["scene_cards"] = f"{file.name} is not filled in"
            work.trouble(f"{state.video_id}: {file.name} is not filled in")
    _Writing(work, step, given=given, said=cards).write(to_write, shown=states)
    use_false_checks(work, videos)


def _laid_over(before: Sequence[SceneCard], cards: Sequence[SceneCard]) -> tuple[SceneCard, ...]:
    """Override scene cards by people's cards of the same shot and kind.

    The false sentence of a true one that is another now goes with it.
    """
    values = {(card.shot_id, card.is_faithful): card for card in before}
    for card in cards:
        was = values.get((card.shot_id, card.is_faithful))
        if was is None or (was.text, was.changes) != (card.text, card.changes):
            values[card.shot_id, card.is_faithful] = card
            if card.is_faithful:
                values.pop((card.shot_id, False), None)
    return tuple(values.values())


def _read(work: HerbenchSession, state: VideoState, path: Path, *, pattern: str) -> tuple[SceneCard, ...]:
    """The cards of a video out of a file; none of a sheet that is still to be filled in.

    Raises:
        DataError: the file is wrong.
    """
    others = work.others_in(pattern, state.video_id)
    try:
        read = read_scene_cards(path, shots=state.material.shots, video_id=state.video_id, others=others)
    except DataError as error:
        raise DataError(f"the cards of the video {state.video_id}: {error}") from error
    name_unused(work, read.unused, about=state.video_id)
    return read.cards


def _give(state: VideoState, cards: tuple[SceneCard, ...]) -> None:
    state.material = replace(state.material, scene_cards=cards)
    state.settle("scene_cards", otherwise="no shot has one that can be used")


def _take(video: KeptVideo, pictures: PictureFolder, *, shots: Sequence[Shot], rules: SceneRules) -> Pictured:
    pair, dropped = take_pictures(video, shots, pictures=pictures, rules=rules)
    return Pictured(shots=pair, dropped=dropped)


class _Writing:
    """Pictures, then faithful cards, then false ones; an account for each."""

    def __init__(self, work: HerbenchSession, step: SceneStep, *, given: Cards, said: Cards) -> None:
        self._work, self._step = work, step
        self._before, self._said = given, said
        self._wording = CardWording.load(work.prompts)

    def write(self, videos: Sequence[VideoState], *, shown: Sequence[VideoState]) -> None:
        """Give all `shown` videos their scene cards; the model describes the shots of `videos`.

        A true sentence gets a false one where people gave none, and its file has none at all.
        """
        if videos:
            self._before |= self._faithful(videos, self._picture(videos))
        cards, wanted = Cards(), Cards()
        for state in shown:
            was, name = self._before.get(state.video_id, ()), state.video_id
            cards[name] = _laid_over(was, self._said.get(name, ()))
            has_false = {card.shot_id for card in cards[name] if not card.is_faithful}
            done = () if all(card.is_faithful for card in was) else was
            true = [card for card in cards[name] if card.is_faithful and card not in done]
            wanted[name] = tuple(card for card in true if card.shot_id not in has_false)
        is_asked = videos or any(wanted.values())
        false = self._false(shown, wanted) if self._step.false and is_asked else {}
        for state in shown:
            scene_cards = (*cards[state.video_id], *false.get(state.video_id, ()))
            if state.video_id in self._said:  # a false sentence keeps its place, whoever wrote it
                order = [card.shot_id for card in scene_cards if card.is_faithful]
                scene_cards = tuple(
                    sorted(scene_cards, key=lambda o: (not o.is_faithful, order.index(o.shot_id)))
                )
            _give(state, scene_cards)

    def _picture(self, videos: Sequence[VideoState]) -> dict[str, Pictured]:
        work, rules = self._work, self._step.rules
        stage = Stage(name="scene-pictures", kind=Pictured, settings=rules)
        results = work.cut(
            stage,
            videos,
            lambda material: partial(_take, shots=material.shots, rules=rules),
            rests_on={"shots": "shots"},
            crops=lambda pictured: chain.from_iterable(shot.pictures for shot in pictured.shots),
        )
        values: dict[str, Pictured] = {}
        for video in videos:
            if video.video_id in results.failed:
                why = results.failed[video.video_id].message
                gone = [
                    Dropped(what=shot.shot_id, stage="scenes", reason="frames-unreadable", detail=why)
                    for shot in video.material.shots
                ]
                values[video.video_id] = Pictured(dropped=tuple(gone))
            elif video.source.file is None:
                values[video.video_id] = Pictured()
            else:
                values[video.video_id] = results.made[video.video_id].value
        work.close(
            stage.name,
            unit="shots",
            taken=[state.named(shot.shot_id) for state in videos for shot in state.material.shots],
            kept=[state.named(s.shot.shot_id) for state in videos for s in values[state.video_id].shots],
            dropped=[
                state.dropped(g, stage=g.stage) for state in videos for g in values[state.video_id].dropped
            ],
            n_cached=results.n_cached,
        )
        return values

    def _faithful(self, videos: Sequence[VideoState], pictured: Mapping[str, Pictured]) -> Cards:
        asked: _Asked = {}
        for video in videos:
            for shot in pictured[video.video_id].shots:
                shot_id = shot.shot.shot_id
                ids = {"shot_id": shot_id, "card_id": f"{shot_id}-true"}
                asked[video.named(shot_id)] = video, ids, digest_of(shot.pictures), partial(describe, shot)
        values = self._ask("scenes", asked, model=self._step.model)
        cards = _by_video(values)
        dropped = [gone for _, gone in values.values() if isinstance(gone, Dropped)]
        true: Cards = {}
        for video in videos:
            true[video.video_id], alike = unlike_each_other(cards.get(video.video_id, []))
            for gone in alike:
                what = video.named(gone.what.removesuffix("-true"))
                dropped.append(msgspec.structs.replace(gone, what=what))
        kept = [state.named(card.shot_id) for state in videos for card in true[state.video_id]]
        self._work.close("scenes", unit="shots", taken=list(values), kept=kept, dropped=dropped)
        return true

    def _false(self, videos: Sequence[VideoState], true: Cards) -> Cards:
        """False cards, by a model or by rules, of every true one."""
        rules = (
            self._by_rules(videos, true)
            if self._step.false_model == BY_RULES
            else self._by_model(videos, true)
        )
        dropped = [gone for _, gone in rules.values() if isinstance(gone, Dropped)]
        kept = [name for name, (_, card) in rules.items() if isinstance(card, SceneCard)]
        self._work.close("false-scenes", unit="cards", taken=list(rules), kept=kept, dropped=dropped)
        return {video_id: tuple(cards) for video_id, cards in _by_video(rules).items()}

    def _by_model(self, videos: Sequence[VideoState], true: Cards) -> _Made:
        asked: _Asked = {}
        for video in videos:
            others = self._others(video)
            for card in true[video.video_id]:
                ids = {"shot_id": card.shot_id, "card_id": false_id(card)}
                seen, start = digest_of([card.text, card.frames]), partial(perturb, card, others=others)
                asked[video.named(false_id(card))] = video, ids, seen, start
        values = self._ask("false-scenes", asked, model=self._step.false_model or self._step.model)
        taken = {state.video_id: {folded(card.text) for card in self._others(state)} for state in videos}
        for what, (video, wrote) in values.items():  # others may say so since it was written
            if isinstance(wrote, SceneCard) and folded(wrote.text) in taken[video.video_id]:
                values[what] = video, Dropped(what=what, stage="false-scenes", reason="same-as-another")
        return values

    def _others(self, state: VideoState) -> tuple[SceneCard, ...]:
        """Return all descriptions of a video, by models and people."""
        return (*self._before.get(state.video_id, ()), *self._said.get(state.video_id, ()))

    def _by_rules(self, videos: Sequence[VideoState], true: Cards) -> _Made:
        """False cards without a model; nothing is cached, since they are written faster than read."""
        seed = self._work.config.seed
        values: _Made = {}
        n_without = 0
        sources = {state.video_id: state.source.video.source_id or state.video_id for state in videos}
        for video in videos:
            others = list(self._others(video))
            elsewhere = [v for v, name in sources.items() if name != sources[video.video_id]]
            known = SlotCounts.of(chain.from_iterable(map(self._known, elsewhere)))
            for card in true[video.video_id]:
                name = video.named(false_id(card))
                rng = np.random.default_rng(list(hashlib.sha256(f"{seed}/{name}".encode()).digest()))
                dropped = perturb_by_rules(card, others=others, known=known, rng=rng)
                if isinstance(dropped, Dropped):
                    n_without += 1
                    dropped = video.dropped(dropped, stage=dropped.stage)
                else:
                    others.append(dropped)
                values[name] = video, dropped
        self._work.ledger.notes.append(
            f"false-scenes: {len(values) - n_without} false descriptions were made by rules and "
            "not by a model "
            f'(false_model = "rules"); {n_without} descriptions have none, since nothing plausible could be '
            "swapped in them"
        )
        return values

    def _known(self, video_id: str) -> Sequence[SceneCard]:
        """What other videos can take words from: what stands before people mend a part of it."""
        before = self._before.get(video_id, ())
        has_false = any(not card.is_faithful for card in before)
        return () if has_false else before or self._said.get(video_id, ())

    def _ask(self, name: str, asked: _Asked, *, model: str) -> _Made:
        """Ask a model to write; return the text or why it is not used. `name` is the stage."""
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
        values: _Made = {}
        for what, (state, ids, *_) in asked.items():
            if what in results.failed:
                values[what] = state, results.dropped(what, stage=name)
                continue
            result = results.made[what].value
            if result.card is not None:
                values[what] = state, msgspec.structs.replace(result.card, **ids)
            elif result.dropped is not None:
                values[what] = state, msgspec.structs.replace(result.dropped, what=what, stage=name)
        return values


def _written(start: Callable[[], Flow[SceneCard | Dropped]]) -> Flow[SceneCardResult]:
    result = yield from start()
    return SceneCardResult(dropped=result) if isinstance(result, Dropped) else SceneCardResult(card=result)


def _by_video(values: _Made) -> dict[str, list[SceneCard]]:
    return by_key((state.video_id, card) for state, card in values.values() if isinstance(card, SceneCard))
