"""Described shots: which descriptions can be asked about, and random draws of them."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from vidence.explain.audit.key import FALSE_STATEMENTS
from vidence.make.herbench.tasks.candidates import (
    Candidate,
    Candidates,
    Choice,
    ComputedTask,
    DraftLog,
    NoCandidate,
    any_or,
    fresh,
)
from vidence.make.pipeline.english import MOST_ALIKE, closest, number_word, numbered, sentence
from vidence.make.pipeline.material import Corpus, Material, SceneCard
from vidence.records import Evidence, Record
from vidence.seeing.shooting import Shot
from vidence.text import normal_form

N_LISTED = 4
FEWEST_CHANGES, MOST_CHANGES = 2, 5
RULES = "rules"  # how the writer of a card that no model made begins
# After so many draws in a row that were there before, a source has nothing more.
_MOST_REPEATS = 60


class SceneSettings(Record):
    """Which descriptions are used."""

    alike: Annotated[
        float, Meta(ge=0, le=1, description="word likeness above which descriptions do not tell shots apart")
    ] = MOST_ALIKE
    shortest_s: Annotated[float, Meta(ge=0, description="shortest shot, seconds")] = 0.5


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One description of one shot."""

    shot: Shot
    card: SceneCard

    @property
    def text(self) -> str:
        """The description as it is shown."""
        return sentence(self.card.text)

    @property
    def evidence(self) -> Evidence:
        """The shot; shown by the frame nearest to its middle that the writer saw, or its middle."""
        middle = (self.shot.clear_frame + self.shot.last_frame) // 2
        seen = [f for f in self.card.frames if self.shot.first_frame <= f <= self.shot.last_frame]
        return Evidence(
            kind="oracle",
            start_s=self.shot.start_s,
            end_s=self.shot.end_s,
            frames=(min(seen, key=lambda f: (abs(f - middle), f)) if seen else middle,),
            note=self.shot.shot_id + ("" if self.card.is_faithful else ", described falsely"),
        )


@dataclass(frozen=True, kw_only=True)
class Scenes:
    """What can be asked about, by shot id: one true description, and the false ones."""

    faithful: Mapping[str, Scene]
    false: Mapping[str, tuple[Scene, ...]]

    def drawn(self, n: int, *, n_false: int, rng: np.random.Generator) -> tuple[Scene, ...] | None:
        """`n` descriptions of different shots in a drawn order, `n_false` of them false; None if too few."""
        if n_false > len(self.false) or n > len({*self.faithful, *self.false}):
            return None
        false_ids = [sorted(self.false)[i] for i in rng.permutation(len(self.false))[:n_false]]
        true_ids = sorted(set(self.faithful) - set(false_ids))
        if n - n_false > len(true_ids):
            return None
        chosen = [self.faithful[true_ids[i]] for i in rng.permutation(len(true_ids))[: n - n_false]]
        for shot_id in false_ids:
            versions = self.false[shot_id]
            chosen.append(versions[int(rng.integers(len(versions)))])
        return tuple(chosen[i] for i in rng.permutation(n))


def scenes_of(material: Material, settings: SceneSettings, log: DraftLog) -> Scenes:
    """The descriptions that can be used; the others go to the account with a reason.

    A true description is used where no other shot's is like it. A false one is used where it has two to five
    changes, and is not like the true description of another shot.

    Source: HERBench, section 7.4 (two to five details altered).
    Departs: the paper does not say how it keeps descriptions from fitting two shots.
    """
    shots = {shot.shot_id: shot for shot in material.shots}
    true_cards: dict[str, SceneCard] = {}
    false_cards: list[SceneCard] = []
    for card in material.scene_cards:
        problem = _problem(card, shots, settings)
        if problem:
            log.drop(f"scene card {card.card_id}", reason=problem[0], detail=problem[1])
        elif card.is_faithful:
            true_cards.setdefault(card.shot_id, card)
        else:
            false_cards.append(card)
    texts = {shot_id: card.text for shot_id, card in true_cards.items()}
    faithful: dict[str, Scene] = {}
    false: dict[str, tuple[Scene, ...]] = {}
    for card in (*true_cards.values(), *false_cards):
        scene = Scene(shot=shots[card.shot_id], card=card)
        like = closest(card.text, [text for other, text in texts.items() if other != card.shot_id])
        if like > settings.alike:
            detail = f"word likeness {like:.2f} to it"
            log.drop(f"scene card {card.card_id}", reason="fits-another-shot", detail=detail)
        elif card.is_faithful:
            faithful[card.shot_id] = scene
        elif normal_form(texts.get(card.shot_id, "")) == normal_form(card.text):
            log.drop(f"scene card {card.card_id}", reason="false-card-says-the-same", detail=card.text)
        else:
            false[card.shot_id] = (*false.get(card.shot_id, ()), scene)
    return Scenes(faithful=faithful, false=false)


def _problem(card: SceneCard, shots: Mapping[str, Shot], settings: SceneSettings) -> tuple[str, str] | None:
    """Why a card cannot be used at all: a reason and what was seen."""
    shot = shots.get(card.shot_id)
    if shot is None:
        return "no-such-shot", f"shot {card.shot_id}"
    if not normal_form(card.text):
        return "empty-card", repr(card.text)
    length_s = shot.end_s - shot.start_s
    if length_s < settings.shortest_s:
        return "shot-too-short", f"{length_s:.2f} s, at least {settings.shortest_s:g} s"
    if not card.is_faithful and not FEWEST_CHANGES <= len(card.changes) <= MOST_CHANGES:
        return "number-of-changes", f"{len(card.changes)}, not {FEWEST_CHANGES} to {MOST_CHANGES}"
    return None


def in_order(scenes: Sequence[Scene]) -> tuple[int, ...]:
    """The numbers of the descriptions, from 1 as listed, in the order of their shots."""
    return tuple(sorted(range(1, len(scenes) + 1), key=lambda i: scenes[i - 1].shot.first_frame))


def facts(scenes: Sequence[Scene]) -> dict[str, str]:
    """For each listed description which shot it is of, when, and what is false in it."""
    facts = {}
    for i, scene in enumerate(scenes, 1):
        shot = scene.shot
        changes = "; ".join(f"{c.before or 'nothing'} became {c.after}" for c in scene.card.changes)
        facts[f"description {i}"] = f"shot {shot.shot_id}, {shot.start_s:.2f} s to {shot.end_s:.2f} s, " + (
            f"false: {changes}" if changes else "true"
        )
    return facts


def listed(scenes: Sequence[Scene], question: str) -> str:
    """A question about numbered descriptions."""
    texts = numbered([scene.text for scene in scenes])
    return f"Here are descriptions of {number_word(len(scenes))} shots:\n{texts}\n{question}"


@dataclass(frozen=True, kw_only=True)
class Deal:
    """Which descriptions a structure asks about.

    `sizes` draws how many there are, and how many of them are false. `needed` says what there must be, for
    the account.
    """

    sizes: Callable[[], tuple[int, int]]
    needed: str


@dataclass(frozen=True, kw_only=True)
class SceneQuestion:
    """A question about drawn descriptions, with its answers and what else a reviewer should know."""

    question: str
    choice: Choice
    facts: dict[str, str]


class SceneTask(ComputedTask):
    """A task about drawn descriptions of shots; which ones, and what is asked, is for the task to say."""

    version = 2
    needs: tuple[str, ...] = ("shots", "scene_cards")

    def __init__(self, settings: SceneSettings) -> None:
        self.scene_settings = settings

    @abstractmethod
    def deal(self, scenes: Scenes, structure: str, rng: np.random.Generator) -> Deal:
        """How descriptions are drawn."""

    @abstractmethod
    def ask(
        self, drawn: Sequence[Scene], structure: str, scenes: Scenes, *, rng: np.random.Generator
    ) -> SceneQuestion:
        """What is asked about drawn descriptions."""

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        scenes = self.usable(scenes_of(material, self.scene_settings, log), log)
        return [] if scenes is None else [self._candidates(scenes, name, rng) for name in self.structures]

    def usable(self, scenes: Scenes, log: DraftLog) -> Scenes | None:
        """What the task asks about of what there is; None if it can ask nothing."""
        return scenes

    def _candidates(self, scenes: Scenes, structure: str, rng: np.random.Generator) -> Candidates:
        """Draws that were not there before, until there seem to be no more."""
        deal = self.deal(scenes, structure, rng)

        def draw() -> tuple[Scene, ...] | None:
            n, n_false = deal.sizes()
            return scenes.drawn(n, n_false=n_false, rng=rng)

        detail = f"expected {deal.needed}"
        none = NoCandidate(subject=structure, reason="too-few-scene-cards", detail=detail)
        for drawn in any_or(fresh(draw, _cards, most_repeats=_MOST_REPEATS), none):
            if isinstance(drawn, NoCandidate):
                yield drawn
                continue
            asked = self.ask(drawn, structure, scenes, rng=rng)
            right, wrong = asked.choice
            yield Candidate(
                structure=structure,
                subject=f"scene cards {', '.join(scene.card.card_id for scene in drawn)}",
                question=asked.question,
                right=right,
                wrong=wrong,
                evidence=tuple(s.evidence for s in sorted(drawn, key=lambda s: s.shot.first_frame)),
                facts=facts(drawn) | asked.facts,
                tags=_tags(drawn, asked.question, scenes),
            )


def _tags(drawn: Sequence[Scene], question: str, scenes: Scenes) -> dict[str, str]:
    """Which listed descriptions are false, and whether false ones were made by rules and not by a model."""
    tags = {}
    false = [str(i) for i, scene in enumerate(drawn, 1) if not scene.card.is_faithful]
    if false and numbered([scene.text for scene in drawn]) in question:
        tags[FALSE_STATEMENTS] = " ".join(false)
    if any(scene.card.writer.startswith(RULES) for some in scenes.false.values() for scene in some):
        tags["false_model"] = RULES
    return tags


def _cards(scenes: Sequence[Scene]) -> frozenset[str]:
    return frozenset(scene.card.card_id for scene in scenes)
