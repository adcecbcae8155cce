"""Scene step: scene cards of the shots, faithful and false, written by a model, by rules or from files."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

from vidence.contracts import Flow
from vidence.errors import DataError
from vidence.make.cards.card_files import read_scene_cards
from vidence.make.cards.falsifying import false_id, perturb
from vidence.make.cards.scenes import ShotPictures, describe, take_pictures, unlike_each_other
from vidence.make.cards.swapping import perturb_by_rules
from vidence.make.herbench.config import BY_RULES, SceneStep
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline.cache import FlowUnit, Stage, Unit, digest_of
from vidence.make.pipeline.material import Dropped, SceneCard
from vidence.make.pipeline.wording import CardWording
from vidence.records import Record


@dataclass(frozen=True, kw_only=True)
class Pictured:
    """The pictures of the shots of one video, and the shots that cannot be described."""

    shots: tuple[ShotPictures, ...] = ()
    dropped: tuple[Dropped, ...] = ()


class Written(Record):
    """A scene card, or why there is none."""

    card: SceneCard | None = None
    dropped: Dropped | None = None


Cards = dict[str, tuple[SceneCard, ...]]  # by the id of their video
_Units = dict[str, tuple[VideoState, FlowUnit[Written]]]


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
        if path := one.source.beside(one.source.rule.scene_cards, work.root):
            try:
                cards = read_scene_cards(path, shots=one.material.shots, strict=True).cards
            except DataError as error:
                raise DataError(f"the cards of the video {one.video_id}: {error}") from error
            _give(one, cards)
            if step is not None and step.false and all(card.is_faithful for card in cards):
                to_falsify.append(one)
        elif step is None:
            one.absent["scene_cards"] = "the configuration has no [scenes]"
        elif not step.model:
            one.absent["scene_cards"] = "[scenes] names no model, and the source has no file of scene cards"
        else:
            to_write.append(one)
    if step is not None and (to_write or to_falsify):
        _Writing(work, step).write(to_write, of_people=to_falsify)


def _give(one: VideoState, cards: tuple[SceneCard, ...]) -> None:
    one.material = replace(one.material, scene_cards=cards)
    one.settle("scene_cards", otherwise="no shot has one that can be used")


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
        if not self._step.false:
            false: Cards = {}
        elif self._step.false_model == BY_RULES:
            false = self._false_by_rules(together, true)
        else:
            false = self._false(together, true)
        for one in together:
            _give(one, (*true.get(one.video_id, ()), *false.get(one.video_id, ())))

    def _picture(self, videos: Sequence[VideoState]) -> dict[str, Pictured]:
        work, rules = self._work, self._step.rules
        stage = Stage(name="scene-pictures", kind=Pictured, settings=rules)

        def take(one: VideoState) -> Pictured:
            video = one.open(work)
            if video is None:
                return Pictured()
            shots, dropped = take_pictures(video, one.material.shots, pictures=work.pictures, rules=rules)
            return Pictured(shots=shots, dropped=dropped)

        def is_usable(found: Pictured) -> bool:
            return work.pictures.holds(chain.from_iterable(one.pictures for one in found.shots))

        units = [
            Unit(
                stage=stage,
                name=one.video_id,
                inputs={"shots": one.digests["shots"], "video": one.source.video.sha256},
                make=partial(take, one),
                is_usable=is_usable,
            )
            for one in videos
        ]
        results = work.compute(stage.name, units)
        found: dict[str, Pictured] = {}
        for one in videos:
            if one.video_id in results.failed:
                why = results.failed[one.video_id].message
                gone = [
                    Dropped(what=shot.shot_id, stage="scenes", reason="frames-unreadable", detail=why)
                    for shot in one.material.shots
                ]
                found[one.video_id] = Pictured(dropped=tuple(gone))
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
        writer = self._work.models.identity(self._step.model)
        stage = Stage(name="scenes", kind=Written, settings=[writer, self._wording.digest])
        units: _Units = {}
        for one in videos:
            for shown in pictured[one.video_id].shots:
                flow = partial(describe, shown, wording=self._wording, writer=writer)
                inputs = {"pictures": digest_of(shown)}
                name = one.named(shown.shot.shot_id)
                units[name] = one, _unit(flow, stage=stage, name=name, inputs=inputs)
        cards, dropped = self._ask(units, stage=stage.name, model=self._step.model)
        true: Cards = {}
        for one in videos:
            true[one.video_id], alike = unlike_each_other(cards[one.video_id])
            for gone in alike:
                what = one.named(gone.what.removesuffix("-true"))
                dropped.append(Dropped(what=what, stage=gone.stage, reason=gone.reason, detail=gone.detail))
        kept = [one.named(card.shot_id) for one in videos for card in true[one.video_id]]
        self._work.close("scenes", unit="shots", taken=list(units), kept=kept, dropped=dropped)
        return true

    def _false(self, videos: Sequence[VideoState], true: Cards) -> Cards:
        model = self._step.false_model or self._step.model
        writer = self._work.models.identity(model)
        stage = Stage(name="false-scenes", kind=Written, settings=[writer, self._wording.digest])
        units: _Units = {}
        for one in videos:
            others = true[one.video_id]
            for card in others:
                flow = partial(perturb, card, others=others, wording=self._wording, writer=writer)
                inputs = {"card": digest_of(card), "others": digest_of(others)}
                name = one.named(false_id(card))
                units[name] = one, _unit(flow, stage=stage, name=name, inputs=inputs)
        cards, dropped = self._ask(units, stage=stage.name, model=model)
        gone = {one.what for one in dropped}
        kept = [name for name in units if name not in gone]
        self._work.close(stage.name, unit="cards", taken=list(units), kept=kept, dropped=dropped)
        return {one.video_id: tuple(cards[one.video_id]) for one in videos}

    def _false_by_rules(self, videos: Sequence[VideoState], true: Cards) -> Cards:
        """False cards without a model; nothing is cached, since they are written faster than read."""
        seed = self._work.config.seed
        false: Cards = {}
        taken: list[str] = []
        kept: list[str] = []
        dropped: list[Dropped] = []
        for one in videos:
            cards, mine = true[one.video_id], list[SceneCard]()
            for card in cards:
                name = one.named(false_id(card))
                rng = np.random.default_rng(list(hashlib.sha256(f"{seed}/{name}".encode()).digest()))
                made = perturb_by_rules(card, others=(*cards, *mine), rng=rng)
                taken.append(name)
                if isinstance(made, Dropped):
                    dropped.append(one.dropped(made, stage=made.stage))
                else:
                    mine.append(made)
                    kept.append(one.named(made.card_id))
            false[one.video_id] = tuple(mine)
        self._work.began("false-scenes", len(taken))
        self._work.close("false-scenes", unit="cards", taken=taken, kept=kept, dropped=dropped)
        return false

    def _ask(
        self, units: _Units, *, stage: str, model: str
    ) -> tuple[dict[str, list[SceneCard]], list[Dropped]]:
        """The cards by video, in order, and what came to nothing."""
        flows = [unit for _, unit in units.values()]
        results = self._work.ask(stage, flows, models=self._work.models, model=model)
        cards: dict[str, list[SceneCard]] = defaultdict(list)
        dropped: list[Dropped] = []
        for name, (one, _) in units.items():
            if name in results.failed:
                dropped.append(results.dropped(name, stage=stage))
                continue
            written = results.made[name].value
            if written.card is not None:
                cards[one.video_id].append(written.card)
            elif (why := written.dropped) is not None:
                dropped.append(Dropped(what=name, stage=stage, reason=why.reason, detail=why.detail))
        return cards, dropped


def _unit(
    start: Callable[[], Flow[SceneCard | Dropped]],
    *,
    stage: Stage[Written],
    name: str,
    inputs: dict[str, str],
) -> FlowUnit[Written]:
    def written() -> Flow[Written]:
        made = yield from start()
        return Written(dropped=made) if isinstance(made, Dropped) else Written(card=made)

    return FlowUnit(stage=stage, name=name, inputs=inputs, start=written)
