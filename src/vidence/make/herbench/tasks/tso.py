"""Temporal shot ordering: in which order described shots come."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np
from msgspec import Meta

from vidence.make.herbench.tasks.candidates import BalancedDraw, Choice, DraftLog, one_of
from vidence.make.herbench.tasks.orders import other_orders
from vidence.make.herbench.tasks.scenes import (
    N_LISTED,
    Deal,
    Scene,
    SceneQuestion,
    Scenes,
    SceneSettings,
    SceneTask,
    in_order,
    listed,
)
from vidence.make.pipeline.english import joined, order_of
from vidence.make.pipeline.material import Task

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


class Tso(SceneTask):
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
    structures: tuple[str, ...] = ("order", "first", "last", "between")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._mixed = settings.mixed

    def usable(self, scenes: Scenes, log: DraftLog) -> Scenes | None:
        """True descriptions, and false ones if they are mixed in."""
        return scenes if self._mixed else replace(scenes, false={})

    def deal(self, scenes: Scenes, structure: str, rng: np.random.Generator) -> Deal:
        """Four or five descriptions, in one draw of five some of them false."""
        can_abstain = len(scenes.false) >= _FEWEST_FALSE
        n = N_LISTED if can_abstain or structure == "order" else N_LISTED + 1
        balanced = BalancedDraw(_ABSTAIN_IN, rng=rng)

        def n_false() -> int:
            if not can_abstain or balanced.next() > 0:
                return 0
            return int(rng.integers(_FEWEST_FALSE, min(n, len(scenes.false)) + 1))

        needed = f"{n} shots with true descriptions that tell them apart"
        return Deal(sizes=lambda: (n, n_false()), needed=needed)

    def ask(
        self, drawn: Sequence[Scene], structure: str, scenes: Scenes, *, rng: np.random.Generator
    ) -> SceneQuestion:
        """The question; where some are false, abstaining is an option."""
        numbers = in_order(drawn)
        words = _WORDS.get(structure, "")
        match structure:
            case "order":
                right, wrong = order_of(numbers), other_orders(numbers, rng=rng)
            case "between":
                words, (right, wrong) = _between(numbers, rng)
            case _:
                end = numbers[0] if structure == "first" else numbers[-1]
                right, wrong = one_of(f"Shot {end}", [f"Shot {i}" for i in sorted(numbers)])
        if len(scenes.false) >= _FEWEST_FALSE:
            tempting = (right, *wrong)[: _ABSTAIN_IN - 1]
            is_true = all(scene.card.is_faithful for scene in drawn)
            right, wrong = (right, (*tempting[1:], ABSTAIN)) if is_true else (ABSTAIN, tempting)
        order = {"order of their shots": order_of(numbers)}
        return SceneQuestion(question=listed(drawn, words), choice=(right, wrong), facts=order)


def _between(numbers: Sequence[int], rng: np.random.Generator) -> tuple[str, Choice]:
    """Which shots come between two drawn ones; which option is to be right is drawn first, all alike."""
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
    return words, one_of(right, options)


def create(settings: Settings) -> Task:
    """The task."""
    return Tso(settings)
