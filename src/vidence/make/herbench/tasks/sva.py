"""Scene verification and arrangement: which descriptions fit, and in which order."""

from collections.abc import Sequence
from itertools import combinations
from typing import Annotated

import numpy as np
from msgspec import Meta

from vidence.make.herbench.tasks.candidates import (
    N_CHOICES,
    BalancedDraw,
    Choice,
    DraftLog,
    one_of,
    one_of_each,
)
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
from vidence.make.pipeline.english import joined, number_word, order_of
from vidence.make.pipeline.material import Task

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


_MAY_BE_FEWER = ("order", "which")
"""The structures that have five options with three descriptions; the others have an option for each."""


class Settings(SceneSettings):
    """Which descriptions are used, and how many of them in a question."""

    fewest: Annotated[
        int, Meta(ge=3, le=4, description="fewest descriptions in `order` and `which`; 3 draws three or four")
    ] = N_LISTED


class Sva(SceneTask):
    """Four descriptions, some of them false: the first or last true one, their order, how many, which.

    How many are false is drawn so that every kind of answer is right about as often. With ``fewest=3`` every
    second question of ``order`` and ``which`` has three descriptions.

    Source: HERBench, sections 3.1 and 7.4, figure 17.
    Departs: the paper lists two to four descriptions. Two are fewer than the three pieces of evidence, and
        have fewer than the five options, that the paper wants of every question; three have both only in
        ``order`` and ``which``. The usual is four: each description is one more to be found in the video.
        The structures other than ``first`` and ``order`` are ours.
    """

    code = "SVA"
    title = "Scene Verification Arrangement"
    family = "GC&V"
    structures: tuple[str, ...] = ("first", "last", "order", "how-many", "which")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._fewest = settings.fewest

    def usable(self, scenes: Scenes, log: DraftLog) -> Scenes | None:
        """All of them, where there are false ones to mix in."""
        if scenes.false:
            return scenes
        log.drop("", reason="no-false-scene-cards", detail="the task mixes them in")
        return None

    def deal(self, scenes: Scenes, structure: str, rng: np.random.Generator) -> Deal:
        """Four descriptions, or three; every five draws of so many bring every kind of answer."""
        fewest = self._fewest if structure in _MAY_BE_FEWER else N_LISTED
        kinds = {n: BalancedDraw(N_CHOICES, rng=rng) for n in range(fewest, N_LISTED + 1)}
        lengths = BalancedDraw(len(kinds), rng=rng) if len(kinds) > 1 else None

        def sizes() -> tuple[int, int]:
            n = N_LISTED if lengths is None else fewest + lengths.next()
            return n, n - _n_true(structure, n, card=kinds[n].next(), rng=rng)

        return Deal(sizes=sizes, needed=f"{fewest} shots, some with a false description")

    def ask(
        self, drawn: Sequence[Scene], structure: str, scenes: Scenes, *, rng: np.random.Generator
    ) -> SceneQuestion:
        """The question; the first or the last one is asked for among the options themselves."""
        true = tuple(i for i in in_order(drawn) if drawn[i - 1].card.is_faithful)
        question = _WORDS[structure]
        if structure not in ("first", "last"):
            question = listed(drawn, f"{_WARNING}\n{question}")
        by_time = {"true descriptions by time": order_of(true) or "none"}
        return SceneQuestion(
            question=question, choice=_choice(structure, drawn, true, rng=rng), facts=by_time
        )


def _n_true(structure: str, n: int, *, card: int, rng: np.random.Generator) -> int:
    """How many of `n` descriptions are to be true; `card` counts to five and brings every kind of answer."""
    match structure:
        case "first" | "last":
            return 0 if card == 0 else int(rng.integers(1, n))
        case "order":
            return int(rng.integers(2)) if card == 0 else _size(n, rng)
        case "how-many":
            return card
    return int(rng.binomial(n, 0.5))  # every set of descriptions is as likely as any other


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
    n = len(drawn)
    every = [
        _set_words(combination, n)
        for size in range(n + 1)
        for combination in combinations(range(1, n + 1), size)
    ]
    right = _set_words(sorted(true), n)
    return right, one_of_each(right, every, rng=rng)


def _size(n: int, rng: np.random.Generator) -> int:
    """How many of `n` descriptions an order holds: two or more; of four three as often as two and four."""
    return 2 + int(rng.binomial(n - 2, 0.5))


def _order(by_time: Sequence[int], true: Sequence[int], rng: np.random.Generator) -> Choice:
    """Two sets of descriptions, of which one has one more, in two orders each; or fewer than two are true.

    Nothing in the four orders tells the right one: which set is the larger one is even, and the two orders of
    a set differ by the same exchange. Orders near the right one alone would have it in their middle.
    """
    if len(true) >= 2:
        right, *wrong = _family(by_time, tuple(true), rng=rng)
        return right, (*wrong, FEWER_THAN_TWO)
    others = [i for i in by_time if i not in true]
    kept = {*true, *(others[i] for i in rng.permutation(len(others))[: _size(len(by_time), rng) - len(true)])}
    return FEWER_THAN_TWO, _family(by_time, tuple(i for i in by_time if i in kept), rng=rng)


def _family(by_time: Sequence[int], ours: Sequence[int], *, rng: np.random.Generator) -> tuple[str, ...]:
    """An order, it with two places exchanged, and both with one description more or less."""
    left_out = [i for i in by_time if i not in ours]
    is_more = len(ours) == 2 or (len(ours) < len(by_time) and bool(rng.integers(2)))
    number = (left_out if is_more else list(ours))[int(rng.integers(len(left_out) if is_more else len(ours)))]
    theirs = {*ours, number} if is_more else {*ours} - {number}
    shared = [i for i in by_time if i in theirs and i in ours]
    first, second = (shared[int(i)] for i in sorted(rng.permutation(len(shared))[:2]))
    turned = {first: second, second: first}
    return tuple(
        order_of([turned.get(i, i) if is_turned else i for i in some])
        for some in (ours, [i for i in by_time if i in theirs])
        for is_turned in (False, True)
    )


def _set_words(numbers: Sequence[int], n: int) -> str:
    """The words for some of `n` descriptions."""
    if not numbers:
        return COUNTS[0]
    if len(numbers) == n:
        return f"All {number_word(n)} of them"
    return f"Only description{'s' * (len(numbers) > 1)} {joined(numbers)}"


def create(settings: Settings) -> Task:
    """The task."""
    return Sva(settings)
