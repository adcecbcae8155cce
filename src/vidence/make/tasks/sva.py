"""Scene verification and arrangement: which descriptions fit, and in which order."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from vidence.make.pipeline.material import Task
from vidence.make.tasks.candidates import (
    N_CHOICES,
    BalancedDraw,
    Choice,
    DraftLog,
    one_of,
    one_of_each,
)
from vidence.make.tasks.orders import other_orders
from vidence.make.tasks.scenes import (
    N_LISTED,
    Asked,
    Deal,
    Scene,
    Scenes,
    SceneSettings,
    SceneTask,
    in_order,
    listed,
)
from vidence.make.tasks.wording import joined, order_of

NONE_FIRST = "None of the shots happened as it is described here"
FEWER_THAN_TWO = "Fewer than two of the descriptions fit the video"
COUNTS = ("None of them", "One of them", "Two of them", "Three of them", "All four of them")
_WARNING = "Some of the descriptions may be wrong in details; such a description fits no shot of the video."
_WORDS = {
    "first": "The options describe shots, some of them wrongly. Of the shots that are described correctly in "
    "every detail, which one comes first in the video?",
    "last": "The options describe shots, some of them wrongly. Of the shots that are described correctly in "
    "every detail, which one comes last in the video?",
    "order": "Leave out the descriptions that fit no shot. In which order do the shots of the others come?",
    "how-many": "How many of the descriptions fit a shot of the video in every detail?",
    "which": "Which of the descriptions fit a shot of the video in every detail?",
}


Settings = SceneSettings


class Sva(SceneTask):
    """Four descriptions, some of them false: the first or last true one, their order, how many, which.

    How many are false is drawn so that every kind of answer is right about as often.

    Source: HERBench, sections 3.1 and 7.4, figure 17.
    Departs: the paper lists two to four descriptions; here always four, so that there are at least three
        pieces of evidence. The structures other than ``first`` and ``order`` are ours.
    """

    code = "SVA"
    title = "Scene Verification Arrangement"
    family = "GC&V"
    structures: tuple[str, ...] = ("first", "last", "order", "how-many", "which")

    def usable(self, scenes: Scenes, log: DraftLog) -> Scenes | None:
        """All of them, where there are false ones to mix in."""
        if scenes.false:
            return scenes
        log.drop("", reason="no-false-scene-cards", detail="the task mixes them in")
        return None

    def deal(self, scenes: Scenes, structure: str, rng: np.random.Generator) -> Deal:
        """Four descriptions; every five draws bring every kind of answer."""
        balanced = BalancedDraw(N_CHOICES, rng=rng)
        return Deal(
            n=N_LISTED,
            n_false=lambda: N_LISTED - _n_true(structure, card=balanced.next(), rng=rng),
            needed=f"{N_LISTED} shots, some with a false description",
        )

    def ask(
        self, drawn: Sequence[Scene], structure: str, scenes: Scenes, *, rng: np.random.Generator
    ) -> Asked:
        """The question; the first or the last one is asked for among the options themselves."""
        true = tuple(i for i in in_order(drawn) if drawn[i - 1].card.is_faithful)
        question = _WORDS[structure]
        if structure not in ("first", "last"):
            question = listed(drawn, f"{_WARNING}\n{question}")
        by_time = {"true descriptions by time": order_of(true) or "none"}
        return Asked(question=question, choice=_choice(structure, drawn, true, rng=rng), facts=by_time)


def _n_true(structure: str, *, card: int, rng: np.random.Generator) -> int:
    """How many descriptions are to be true; `card` counts to five and brings every kind of answer."""
    match structure:
        case "first" | "last":
            return 0 if card == 0 else int(rng.integers(1, N_LISTED))
        case "order":
            return int(rng.integers(2)) if card == 0 else int(rng.integers(2, N_LISTED + 1))
        case "how-many":
            return card
    return int(rng.binomial(N_LISTED, 0.5))  # every set of descriptions is as likely as any other


def _choice(
    structure: str, drawn: Sequence[Scene], true: Sequence[int], *, rng: np.random.Generator
) -> Choice:
    """The answers; `true` are the numbers of the true descriptions in the order of their shots."""
    match structure:
        case "first" | "last":
            right = drawn[true[0 if structure == "first" else -1] - 1].text if true else NONE_FIRST
            return one_of(right, (*(scene.text for scene in drawn), NONE_FIRST))
        case "order":
            return _order(in_order(drawn), true, rng)
        case "how-many":
            return one_of(COUNTS[len(true)], COUNTS)
    numbers = range(1, N_LISTED + 1)
    every = [_set_words(one) for size in range(N_LISTED + 1) for one in combinations(numbers, size)]
    right = _set_words(sorted(true))
    return right, one_of_each(right, every, rng=rng)


def _order(by_time: Sequence[int], true: Sequence[int], rng: np.random.Generator) -> Choice:
    if len(true) >= 2:
        return order_of(true), (*_near(by_time, true, n=N_CHOICES - 2, rng=rng), FEWER_THAN_TWO)
    size = int(rng.integers(2, N_LISTED + 1))
    others = [i for i in by_time if i not in true]
    kept = {*true, *(others[i] for i in rng.permutation(len(others))[: size - len(true)])}
    tempting = tuple(i for i in by_time if i in kept)
    near = _near(by_time, tempting, n=N_CHOICES - 2, rng=rng)
    return FEWER_THAN_TWO, (order_of(tempting), *near)


def _near(
    by_time: Sequence[int], right: Sequence[int], *, n: int, rng: np.random.Generator
) -> tuple[str, ...]:
    """Orders that go wrong in one way: another order, one description too many, too few, or a wrong one."""
    left_out = [i for i in by_time if i not in right]
    sets = [{*right, i} for i in left_out]
    sets += [set(right) - {i} for i in right]
    sets += [{*right, i} - {j} for i in left_out for j in right]
    chronological = [order_of([i for i in by_time if i in one]) for one in sets if len(one) >= 2]
    orders = other_orders(right, n=N_LISTED, rng=rng)
    return one_of_each(order_of(right), [*chronological, *orders], n=n, rng=rng)


def _set_words(numbers: Sequence[int]) -> str:
    if len(numbers) in (0, N_LISTED):
        return COUNTS[len(numbers)]
    return f"Only description{'s' * (len(numbers) > 1)} {joined(numbers)}"


def create(settings: Settings) -> Task:
    """The task."""
    return Sva(settings)
