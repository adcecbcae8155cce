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
            return int(rng.integers(2)) if card == 0 else _size(rng)
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


def _size(rng: np.random.Generator) -> int:
    """How many descriptions an order holds: two to four, three as often as the others together."""
    return 2 + int(rng.binomial(2, 0.5))


def _order(by_time: Sequence[int], true: Sequence[int], rng: np.random.Generator) -> Choice:
    """Two sets of descriptions, of which one has one more, in two orders each; or fewer than two are true.

    Nothing in the four orders tells the right one: which set is the larger one is even, and the two orders of
    a set differ by the same exchange. Orders near the right one alone would have it in their middle.
    """
    if len(true) >= 2:
        right, *wrong = _family(by_time, tuple(true), rng=rng)
        return right, (*wrong, FEWER_THAN_TWO)
    others = [i for i in by_time if i not in true]
    kept = {*true, *(others[i] for i in rng.permutation(len(others))[: _size(rng) - len(true)])}
    return FEWER_THAN_TWO, _family(by_time, tuple(i for i in by_time if i in kept), rng=rng)


def _family(by_time: Sequence[int], ours: Sequence[int], *, rng: np.random.Generator) -> tuple[str, ...]:
    """An order, it with two places exchanged, and both with one description more or less."""
    left_out = [i for i in by_time if i not in ours]
    is_more = len(ours) == 2 or (len(ours) < N_LISTED and bool(rng.integers(2)))
    one = (left_out if is_more else list(ours))[int(rng.integers(len(left_out) if is_more else len(ours)))]
    theirs = {*ours, one} if is_more else {*ours} - {one}
    shared = [i for i in by_time if i in theirs and i in ours]
    first, second = (shared[int(i)] for i in sorted(rng.permutation(len(shared))[:2]))
    turned = {first: second, second: first}
    return tuple(
        order_of([turned.get(i, i) if is_turned else i for i in some])
        for some in (ours, [i for i in by_time if i in theirs])
        for is_turned in (False, True)
    )


def _set_words(numbers: Sequence[int]) -> str:
    if len(numbers) in (0, N_LISTED):
        return COUNTS[len(numbers)]
    return f"Only description{'s' * (len(numbers) > 1)} {joined(numbers)}"


def create(settings: Settings) -> Task:
    """The task."""
    return Sva(settings)
