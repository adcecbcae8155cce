"""Scene cards of the shots, faithful and false, written by a model or from files."""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

from vidence.contracts import Flow
from vidence.errors import MediaError
from vidence.make.cards.perturbing import false_id, perturb
from vidence.make.cards.pictures import PictureFolder
from vidence.make.cards.scenes import ShotPictures, describe, take_pictures, unlike_each_other
from vidence.make.cards.swapping import perturb_by_rules
from vidence.make.herbench.config import BY_RULES, SceneStep
from vidence.make.herbench.files import scenes_of_people
from vidence.make.herbench.work import Known, Work
from vidence.make.pipeline.kept_video import kept_video
from vidence.make.pipeline.material import Dropped, SceneCard
from vidence.make.pipeline.progress import Trouble, UnitDone
from vidence.make.pipeline.stages import FlowUnit, JsonForm, Stage, digest_of
from vidence.make.pipeline.wording import CardWording
from vidence.records import Failed, Record


@dataclass(frozen=True, kw_only=True)
class Pictured:
    """The pictures of the shots of one video, and the shots that cannot be described."""

    shots: tuple[ShotPictures, ...] = ()
    dropped: tuple[Dropped, ...] = ()


class Written(Record, kw_only=True):
    """A scene card, or why there is none."""

    card: SceneCard | None = None
    dropped: Dropped | None = None


_PICTURED: JsonForm[Pictured] = JsonForm(Pictured)
_WRITTEN: JsonForm[Written] = JsonForm(Written)


def write_all_scenes(work: Work, videos: list[Known], *, needs: Collection[str]) -> None:
    """Give every video with shots its scene cards, from its file or from the model.

    Raises:
        DataError: a file of scene cards that is wrong.
    """
    if "scene_cards" not in needs:
        return
    step = work.config.scenes
    to_write: list[Known] = []
    to_falsify: list[Known] = []
    for one in videos:
        if not one.material.shots:
            continue
        if path := one.source.beside(one.source.rule.scene_cards, work.root):
            cards = scenes_of_people(path, one.material.shots, video_id=one.video_id)
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


def _give(one: Known, cards: tuple[SceneCard, ...]) -> None:
    if cards:
        one.material = replace(one.material, scene_cards=cards)
        one.digests["scene_cards"] = digest_of(cards)
    else:
        one.absent["scene_cards"] = "no shot has one that can be used"


class _Writing:
    """Pictures, then faithful cards, then false ones; an account for each."""

    def __init__(self, work: Work, step: SceneStep) -> None:
        self._work, self._step = work, step
        self._wording = CardWording.load(work.prompts)
        self._folder = PictureFolder(work.pictures)

    def write(self, videos: Sequence[Known], *, of_people: Sequence[Known]) -> None:
        """Give each of the videos its scene cards, and false ones to those that people described."""
        true = self._faithful(videos, self._picture(videos)) if videos else {}
        true |= {one.video_id: one.material.scene_cards for one in of_people}
        together = (*videos, *of_people)
        if not self._step.false:
            false = {}
        elif self._step.false_model == BY_RULES:
            false = self._false_by_rules(together, true)
        else:
            false = self._false(together, true)
        for one in together:
            _give(one, (*true.get(one.video_id, ()), *false.get(one.video_id, ())))

    def _picture(self, videos: Sequence[Known]) -> dict[str, Pictured]:
        work, stage = self._work, Stage(name="scene-pictures", settings=self._step.rules)
        work.began("scene-pictures", len(videos))
        found: dict[str, Pictured] = {}
        n_kept = 0
        for one in videos:
            inputs = {"shots": one.digests["shots"], "video": one.source.video.sha256}
            kept = work.shelf.find(stage, inputs, _PICTURED)
            if kept is not None and not self._are_there(kept.value):
                kept = None
            n_kept += kept is not None
            if kept is None:
                try:
                    kept = work.shelf.put(stage, inputs, _PICTURED, value=self._take(one))
                except MediaError as error:
                    work.workshop.on_event(Trouble(message=str(error)))
                    found[one.video_id] = _unreadable(one, error)
                    continue
            found[one.video_id] = kept.value
            work.workshop.on_event(
                UnitDone(stage="scene-pictures", unit=one.video_id, was_kept=kept.was_kept)
            )
        work.close(
            "scene-pictures",
            unit="shots",
            taken=[f"{one.video_id}: {shot.shot_id}" for one in videos for shot in one.material.shots],
            kept=[f"{name}: {s.shot.shot_id}" for name, made in found.items() for s in made.shots],
            dropped=[_of(name, gone) for name, made in found.items() for gone in made.dropped],
            n_kept=n_kept,
        )
        return found

    def _take(self, one: Known) -> Pictured:
        if one.source.file is None:
            return Pictured()
        around = self._work.workshop
        video = kept_video(one.source.file, cache_root=around.cache_root, max_bytes=around.cache_max_bytes)
        shots, dropped = take_pictures(
            video, one.material.shots, pictures=self._folder, rules=self._step.rules
        )
        return Pictured(shots=shots, dropped=dropped)

    def _are_there(self, pictured: Pictured) -> bool:
        crops = chain.from_iterable(one.pictures for one in pictured.shots)
        return all(self._folder.path(crop.digest).is_file() for crop in crops)

    def _faithful(
        self, videos: Sequence[Known], pictured: dict[str, Pictured]
    ) -> dict[str, tuple[SceneCard, ...]]:
        writer = self._work.jobs.identity(self._step.model)
        stage = Stage(name="scenes", settings=[writer, self._wording.digest])
        units = {
            f"{one.video_id}: {shown.shot.shot_id}": FlowUnit(
                name=f"{one.video_id}: {shown.shot.shot_id}",
                inputs={"pictures": digest_of(shown)},
                start=partial(_noted, partial(describe, shown, wording=self._wording, writer=writer)),
            )
            for one in videos
            for shown in pictured[one.video_id].shots
        }
        cards, dropped = self._run(stage, units, model=self._step.model)
        true: dict[str, tuple[SceneCard, ...]] = {}
        for one in videos:
            mine = [cards[name] for name in units if name in cards and name.startswith(f"{one.video_id}: ")]
            true[one.video_id], alike = unlike_each_other(mine)
            dropped += [_of(one.video_id, gone, suffix="-true") for gone in alike]
        kept = [f"{name}: {card.shot_id}" for name, mine_cards in true.items() for card in mine_cards]
        self._work.close("scenes", unit="shots", taken=list(units), kept=kept, dropped=dropped)
        return true

    def _false(
        self, videos: Sequence[Known], true: dict[str, tuple[SceneCard, ...]]
    ) -> dict[str, tuple[SceneCard, ...]]:
        model = self._step.false_model or self._step.model
        writer = self._work.jobs.identity(model)
        stage = Stage(name="false-scenes", settings=[writer, self._wording.digest])
        units = {
            f"{one.video_id}: {false_id(card)}": FlowUnit(
                name=f"{one.video_id}: {false_id(card)}",
                inputs={"card": digest_of(card), "others": digest_of(true[one.video_id])},
                start=partial(
                    _noted,
                    partial(perturb, card, others=true[one.video_id], wording=self._wording, writer=writer),
                ),
            )
            for one in videos
            for card in true[one.video_id]
        }
        cards, dropped = self._run(stage, units, model=model)
        self._work.close("false-scenes", unit="cards", taken=list(units), kept=list(cards), dropped=dropped)
        return {
            one.video_id: tuple(
                cards[name] for name in units if name in cards and name.startswith(f"{one.video_id}: ")
            )
            for one in videos
        }

    def _false_by_rules(
        self, videos: Sequence[Known], true: dict[str, tuple[SceneCard, ...]]
    ) -> dict[str, tuple[SceneCard, ...]]:
        """False cards without a model; nothing is kept, since they are written faster than read."""
        seed = self._work.config.seed
        false: dict[str, list[SceneCard]] = {one.video_id: [] for one in videos}
        taken: list[str] = []
        dropped: list[Dropped] = []
        for one in videos:
            cards = true[one.video_id]
            for card in cards:
                name = f"{one.video_id}: {false_id(card)}"
                rng = np.random.default_rng(list(hashlib.sha256(f"{seed}/{name}".encode()).digest()))
                mine = false[one.video_id]
                made = perturb_by_rules(card, others=(*cards, *mine), rng=rng)
                taken.append(name)
                if isinstance(made, Dropped):
                    dropped.append(_of(one.video_id, made))
                else:
                    mine.append(made)
        kept = [f"{video_id}: {card.card_id}" for video_id, made in false.items() for card in made]
        self._work.began("false-scenes", len(taken))
        self._work.close("false-scenes", unit="cards", taken=taken, kept=kept, dropped=dropped)
        return {video_id: tuple(made) for video_id, made in false.items()}

    def _run(
        self, stage: Stage, units: dict[str, FlowUnit[Written]], *, model: str
    ) -> tuple[dict[str, SceneCard], list[Dropped]]:
        """The cards by the names of their units, in order, and what came to nothing."""
        self._work.began(stage.name, len(units))
        found, flows = self._work.shelf.split(stage, list(units.values()), _WRITTEN)
        made = self._work.jobs.run(flows, model=model)
        cards: dict[str, SceneCard] = {}
        dropped: list[Dropped] = []
        for name in units:
            result = made[name] if name in made else found[name]
            if isinstance(result, Failed):
                reason = f"{result.stage}-failed"
                dropped.append(Dropped(what=name, stage=stage.name, reason=reason, detail=result.message))
            elif result.value.card is not None:
                cards[name] = result.value.card
            elif (why := result.value.dropped) is not None:
                dropped.append(Dropped(what=name, stage=stage.name, reason=why.reason, detail=why.detail))
        return cards, dropped


def _noted(start: Callable[[], Flow[SceneCard | Dropped]]) -> Flow[Written]:
    made = yield from start()
    return Written(dropped=made) if isinstance(made, Dropped) else Written(card=made)


def _unreadable(one: Known, error: MediaError) -> Pictured:
    return Pictured(
        dropped=tuple(
            Dropped(what=shot.shot_id, stage="scenes", reason="frames-unreadable", detail=str(error))
            for shot in one.material.shots
        )
    )


def _of(video_id: str, gone: Dropped, *, suffix: str = "") -> Dropped:
    what = f"{video_id}: {gone.what.removesuffix(suffix)}"
    return Dropped(what=what, stage=gone.stage, reason=gone.reason, detail=gone.detail)
