"""Scene step: scene cards of the shots, faithful and false, written by a model, by rules or from files."""

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
from vidence.make.herbench.cards.falsifying import false_id, perturb
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
# By the names of parts of videos: the inputs and the flow of what is asked, and what came of it.
_Asked = dict[str, tuple[VideoState, dict[str, str], Callable[..., Flow[SceneCard | Dropped]]]]
_Made = dict[str, tuple[VideoState, SceneCard | Dropped]]


def write_all_scenes(work: HerbenchSession, videos: list[VideoState], *, needs: Collection[str]) -> None:
    """Give every video with shots its scene cards, from its file or from the model.

    Raises:
        DataError: a file of scene cards that is wrong.
    """
    if "scene_cards" not in needs:
        return
    step = work.config.scenes
    to_write: list[VideoState] = []
    to_falsify: list[VideoState] = []
    for one in videos:
        if not one.material.shots:
            continue
        pattern = one.source.rule.scene_cards
        if path := one.file_of(pattern, work.root, what="file of scene cards", session=work):
            cards = _read(work, one, path)
            if cards and step is not None and step.false and all(card.is_faithful for card in cards):
                to_falsify.append(one)
        elif step is None:
            one.absent["scene_cards"] = "the configuration has no [scenes]"
        elif not step.model:
            one.absent["scene_cards"] = "[scenes] names no model, and the source has no file of scene cards"
        else:
            to_write.append(one)
    if step is not None and (to_write or to_falsify):
        _Writing(work, step).write(to_write, of_people=to_falsify)
    use_false_checks(work, videos)


def _read(work: HerbenchSession, one: VideoState, path: Path) -> tuple[SceneCard, ...]:
    """Give a video the cards of its file; none where it is a sheet that nobody has filled in.

    Raises:
        DataError: the file is wrong.
    """
    others = work.others_in(one.source.rule.scene_cards, one.video_id)
    try:
        read = read_scene_cards(path, shots=one.material.shots, video_id=one.video_id, others=others)
        cards = read.cards
    except DataError as error:
        raise DataError(f"the cards of the video {one.video_id}: {error}") from error
    name_unused(work, read.stale, about=one.video_id)
    if not cards:
        one.absent["scene_cards"] = f"nobody has filled in {path.name}"
        work.trouble(f"{one.video_id}: nobody has filled in {path.name}")
    _give(one, cards)
    return cards


def _give(one: VideoState, cards: tuple[SceneCard, ...]) -> None:
    one.material = replace(one.material, scene_cards=cards)
    one.settle("scene_cards", otherwise="no shot has one that can be used")


def _take(video: KeptVideo, pictures: PictureFolder, *, shots: Sequence[Shot], rules: SceneRules) -> Pictured:
    shown, dropped = take_pictures(video, shots, pictures=pictures, rules=rules)
    return Pictured(shots=shown, dropped=dropped)


class _Writing:
    """Pictures, then faithful cards, then false ones; an account for each."""

    def __init__(self, work: HerbenchSession, step: SceneStep) -> None:
        self._work, self._step = work, step
        self._wording = CardWording.load(work.prompts)

    def write(self, videos: Sequence[VideoState], *, of_people: Sequence[VideoState]) -> None:
        """Give each of the videos its scene cards, and false ones to those that people described."""
        true = self._faithful(videos, self._picture(videos)) if videos else {}
        true |= {one.video_id: one.material.scene_cards for one in of_people}
        together = (*videos, *of_people)
        false = self._false(together, true) if self._step.false else {}
        for one in together:
            _give(one, (*true.get(one.video_id, ()), *false.get(one.video_id, ())))

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
                inputs = {"pictures": digest_of(shown)}
                asked[one.named(shown.shot.shot_id)] = one, inputs, partial(describe, shown)
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
            others = true[one.video_id]
            for card in others:
                inputs = {"card": digest_of(card), "others": digest_of(others)}
                asked[one.named(false_id(card))] = one, inputs, partial(perturb, card, others=others)
        return self._ask("false-scenes", asked, model=self._step.false_model or self._step.model)

    def _by_rules(self, videos: Sequence[VideoState], true: Cards) -> _Made:
        """False cards without a model; nothing is cached, since they are written faster than read."""
        seed = self._work.config.seed
        made: _Made = {}
        n_without = 0
        sources = {one.video_id: one.source.video.source_id or one.video_id for one in videos}
        for one in videos:
            others = list(true[one.video_id])
            elsewhere = [v for v, name in sources.items() if name != sources[one.video_id]]
            known = SlotCounts.of(chain.from_iterable(true[name] for name in elsewhere))
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

    def _ask(self, name: str, asked: _Asked, *, model: str) -> _Made:
        """What a model writes, or why it is not used; `name` is that of the stage."""
        writer = self._work.models.identity(model)
        stage = Stage(name=name, kind=SceneCardResult, settings=[writer, self._wording.digest])
        units = [
            FlowUnit(
                stage=stage,
                name=what,
                inputs=inputs,
                start=partial(_written, partial(start, wording=self._wording, writer=writer)),
            )
            for what, (_, inputs, start) in asked.items()
        ]
        results = self._work.ask(name, units, models=self._work.models, model=model)
        made: _Made = {}
        for what, (one, *_) in asked.items():
            if what in results.failed:
                made[what] = one, results.dropped(what, stage=name)
                continue
            found = results.made[what].value
            if found.card is not None:
                made[what] = one, found.card
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
