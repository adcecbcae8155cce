"""Described shots: which descriptions can be asked about, and random draws of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from vidence.make.pipeline.material import Material, SceneCard
from vidence.make.tasks.candidates import DraftLog, NoCandidate, fresh
from vidence.make.tasks.wording import MOST_ALIKE, closest, sentence
from vidence.records import Evidence, Record
from vidence.seeing.shooting import Shot
from vidence.text import normal_form

N_LISTED = 4
FEWEST_CHANGES, MOST_CHANGES = 2, 5
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


def scenes_of(material: Material, settings: SceneSettings, log: DraftLog, *, mixed: bool = True) -> Scenes:
    """The descriptions that can be used; the others go to the account with a reason.

    Without `mixed` false descriptions are left out.

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
    for shot_id, card in true_cards.items():
        like = closest(card.text, [text for other, text in texts.items() if other != shot_id])
        if like > settings.alike:
            _drop_alike(log, card, like)
        else:
            faithful[shot_id] = Scene(shot=shots[shot_id], card=card)
    false: dict[str, tuple[Scene, ...]] = {}
    for card in false_cards:
        like = closest(card.text, [text for other, text in texts.items() if other != card.shot_id])
        own = texts.get(card.shot_id, "")
        if like > settings.alike:
            _drop_alike(log, card, like)
        elif normal_form(own) == normal_form(card.text):
            log.drop(f"scene card {card.card_id}", reason="false-card-says-the-same", detail=card.text)
        else:
            scene = Scene(shot=shots[card.shot_id], card=card)
            false[card.shot_id] = (*false.get(card.shot_id, ()), scene)
    return Scenes(faithful=faithful, false=false if mixed else {})


def _drop_alike(log: DraftLog, card: SceneCard, like: float) -> None:
    log.drop(
        f"scene card {card.card_id}", reason="fits-another-shot", detail=f"word likeness {like:.2f} to it"
    )


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


def about(scenes: Sequence[Scene]) -> str:
    """What a question about these is about, for the account."""
    return f"scene cards {', '.join(scene.card.card_id for scene in scenes)}"


def facts(scenes: Sequence[Scene]) -> dict[str, str]:
    """For each listed description which shot it is of, when, and what is false in it."""
    found = {}
    for i, scene in enumerate(scenes, 1):
        shot = scene.shot
        changes = "; ".join(f"{c.before or 'nothing'} became {c.after}" for c in scene.card.changes)
        found[f"description {i}"] = f"shot {shot.shot_id}, {shot.start_s:.2f} s to {shot.end_s:.2f} s, " + (
            f"false: {changes}" if changes else "true"
        )
    return found


def new_draws(
    draw: Callable[[], tuple[Scene, ...] | None], *, structure: str, needed: str
) -> Iterator[tuple[Scene, ...] | NoCandidate]:
    """Draws of descriptions that were not drawn before, until there seem to be no more.

    Args:
        draw: draws a set, or None where there are too few descriptions for what it wants.
        structure: for the account.
        needed: what was wanted, for the account.
    """
    any_yet = False
    for drawn in fresh(draw, _cards, most_repeats=_MOST_REPEATS):
        any_yet = True
        yield drawn
    if not any_yet:
        yield NoCandidate(subject=structure, reason="too-few-scene-cards", detail=f"expected {needed}")


def _cards(scenes: Sequence[Scene]) -> frozenset[str]:
    return frozenset(scene.card.card_id for scene in scenes)
