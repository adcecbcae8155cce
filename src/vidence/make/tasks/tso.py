"""Temporal shot ordering: in which order described shots come."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta

from vidence.make.pipeline.material import Corpus, Material, Task
from vidence.make.tasks.candidates import (
    BalancedDraw,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
)
from vidence.make.tasks.orders import other_orders
from vidence.make.tasks.scenes import (
    N_LISTED,
    Scene,
    Scenes,
    SceneSettings,
    about,
    facts,
    in_order,
    new_draws,
    scenes_of,
)
from vidence.make.tasks.wording import joined, number_word, numbered, order_of

ABSTAIN = "At least two of the descriptions fit no shot of the video"
_FEWEST_FALSE = 2
# Abstaining is right as often as one letter in five is.
_ABSTAIN_IN = 5
_WORDS = {
    "order": "In which order do these shots come in the video?",
    "first": "Which of these shots comes first in the video?",
    "last": "Which of these shots comes last in the video?",
}


class Settings(SceneSettings):
    """Which descriptions are used."""

    mixed: Annotated[
        bool, Meta(description="whether false descriptions are mixed in, where there are some")
    ] = True


class Tso(ComputedTask):
    """Four described shots: their order, the first, the last, which come between two of them.

    Where there are false descriptions, an option says that at least two descriptions fit no shot; it is right
    in one draft of five, and the descriptions of such a draft are false in two places or more. Without false
    descriptions there is no such option, and questions other than the order list five shots.

    Source: HERBench, section 3.1 and figure 10.
    Departs: the paper prints one structure; the other three are ours. How often abstaining is right is not
        printed.
    """

    code = "TSO"
    title = "Temporal Shot Ordering"
    family = "TR&C"
    version = 1
    needs: tuple[str, ...] = ("shots", "scene_cards")
    structures: tuple[str, ...] = ("order", "first", "last", "between")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        scenes = scenes_of(material, self._settings, log, mixed=self._settings.mixed)
        return [_candidates(scenes, name, rng=rng) for name in self.structures]


def _candidates(scenes: Scenes, structure: str, *, rng: np.random.Generator) -> Candidates:
    can_abstain = len(scenes.false) >= _FEWEST_FALSE
    n_listed = N_LISTED if can_abstain or structure == "order" else N_LISTED + 1
    balanced = BalancedDraw(_ABSTAIN_IN, rng=rng)

    def draw() -> tuple[Scene, ...] | None:
        is_false = can_abstain and balanced.next() == 0
        n_most = min(n_listed, len(scenes.false))
        n_false = int(rng.integers(_FEWEST_FALSE, n_most + 1)) if is_false else 0
        return scenes.drawn(n_listed, n_false=n_false, rng=rng)

    needed = f"{n_listed} shots with true descriptions that tell them apart"
    for drawn in new_draws(draw, structure=structure, needed=needed):
        yield (
            drawn
            if isinstance(drawn, NoCandidate)
            else _candidate(drawn, structure, can_abstain=can_abstain, rng=rng)
        )


def _candidate(
    scenes: tuple[Scene, ...], structure: str, *, can_abstain: bool, rng: np.random.Generator
) -> Candidate:
    is_abstain = any(not scene.card.is_faithful for scene in scenes)
    make = _between if structure == "between" else _ends if structure in ("first", "last") else _order
    words, right, wrong = make(scenes, structure, rng)
    if can_abstain:
        tempting = (right, *wrong)[: _ABSTAIN_IN - 1]
        right, wrong = (ABSTAIN, tempting) if is_abstain else (right, (*wrong[: _ABSTAIN_IN - 2], ABSTAIN))
    listed = numbered([scene.text for scene in scenes])
    return Candidate(
        structure=structure,
        subject=about(scenes),
        question=f"Here are descriptions of {number_word(len(scenes))} shots:\n{listed}\n{words}",
        right=right,
        wrong=wrong,
        evidence=tuple(scene.evidence for scene in sorted(scenes, key=lambda s: s.shot.first_frame)),
        facts=facts(scenes) | {"order of their shots": order_of(in_order(scenes))},
    )


_Made = tuple[str, str, tuple[str, ...]]


def _order(scenes: Sequence[Scene], structure: str, rng: np.random.Generator) -> _Made:
    right = in_order(scenes)
    return _WORDS[structure], order_of(right), other_orders(right, n=_ABSTAIN_IN - 1, rng=rng)


def _ends(scenes: Sequence[Scene], structure: str, rng: np.random.Generator) -> _Made:
    numbers = in_order(scenes)
    right = numbers[0] if structure == "first" else numbers[-1]
    wrong = tuple(f"Shot {i}" for i in sorted(numbers) if i != right)
    return _WORDS[structure], f"Shot {right}", wrong


def _between(scenes: Sequence[Scene], structure: str, rng: np.random.Generator) -> _Made:
    """Which shots come between two drawn ones; which option is to be right is drawn first, all alike."""
    numbers = in_order(scenes)
    n_others = len(numbers) - 2
    drawn = int(rng.integers(n_others + 2))
    n_between = 1 if drawn < n_others else 0 if drawn == n_others else int(rng.integers(2, n_others + 1))
    place = int(rng.integers(len(numbers) - n_between - 1))
    inside = numbers[place + 1 : place + 1 + n_between]
    ends = sorted((numbers[place], numbers[place + 1 + n_between]))
    others = sorted(set(numbers) - set(ends))
    if n_others == 2:
        several = f"Both shot {others[0]} and shot {others[1]}"
        none = f"Neither shot {others[0]} nor shot {others[1]}"
    else:
        several = f"More than one of the shots {joined(others)}"
        none = f"None of the shots {joined(others)}"
    options = (*(f"Only shot {i}" for i in others), several, none)
    right = none if not inside else f"Only shot {inside[0]}" if len(inside) == 1 else several
    words = (
        f"Counting only these shots, which come between shot {ends[0]} and shot {ends[1]} in the video, "
        "whichever of these two comes first?"
    )
    return words, right, tuple(text for text in options if text != right)


def create(settings: Settings) -> Task:
    """The task."""
    return Tso(settings)
