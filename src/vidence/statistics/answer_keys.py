"""Where right and chosen answers stand among the choices: counts, and tests against no preference."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record, first_letters
from vidence.text import letter_index


class LetterBalance(Record):
    """How often each letter is right, and how often it would be if right answers stood anywhere alike."""

    letters: tuple[str, ...]
    right: tuple[int, ...]
    expected: tuple[float, ...]
    p_value: float
    method: str


def letter_balance(
    right: Sequence[str], *, n_choices: Sequence[int], rng: np.random.Generator, n_draws: int = 9999
) -> LetterBalance:
    """Count the right letters and test whether they are spread evenly over the choices of each question.

    Pearson's statistic of the counts is compared with its values in `n_draws` keys in which every choice
    of a question is right alike: ``p = (1 + #{simulated >= seen}) / (1 + n_draws)``.

    Args:
        right: the right letter of each question.
        n_choices: how many choices each has.
        rng: source of the simulations.
        n_draws: how many of them.

    Raises:
        UsageError: no questions, not one count for each, a letter that is not among the choices, no draws.

    Source: Monte Carlo p-value after Davison & Hinkley, Bootstrap Methods and their Application
        (1997), section 4.2.
    Departs: no.
    """
    if not len(right) or len(right) != len(n_choices):
        raise UsageError(
            f"{len(right)} right letters and {len(n_choices)} counts of choices; expected the same number "
            "of each, at least one"
        )
    sizes = np.asarray(n_choices, np.int64)
    width = int(sizes.max())
    expected = np.array([(1 / sizes[sizes > i]).sum() for i in range(width)])
    counts = np.bincount(right_positions(right, sizes), minlength=width)
    drawn = np.zeros((check_draws(n_draws), width), np.int64)
    for size, n in zip(*np.unique(sizes, return_counts=True), strict=True):
        drawn[:, :size] += rng.multinomial(n, np.full(size, 1 / size), size=n_draws)
    return LetterBalance(
        letters=first_letters(width),
        right=tuple(counts.tolist()),
        expected=tuple(expected.tolist()),
        p_value=simulated_p(counts, drawn, expected),
        method=f"Pearson's statistic of the right letters against {n_draws} simulations",
    )


def right_positions(right: Sequence[str], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The position of each right letter among its choices, shape (n,).

    Raises:
        UsageError: a letter that is none, or that is not among the choices.
    """
    key = np.array([letter_index(letter) for letter in right], np.int64)
    outside = np.flatnonzero(key >= sizes)
    if len(outside):
        first = outside[0]
        raise UsageError(f"item {first}: right letter {right[first]!r} is not among {sizes[first]} choices")
    return key


def check_draws(n_draws: int) -> int:
    """The number of simulations.

    Raises:
        UsageError: it is below 1.
    """
    if n_draws < 1:
        raise UsageError(f"n_draws {n_draws}; expected 1 or more, for example 9999")
    return n_draws


def simulated_p(counts: NDArray[np.int64], drawn: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """The p-value of Pearson's statistic of counts against that of simulated ones.

    ``(1 + #{simulated >= seen}) / (1 + #simulated)``; what is never expected has no part.

    Args:
        counts: how often each outcome was seen, shape (k,).
        drawn: the same of every simulation, shape (n_draws, k).
        expected: how often each is expected, shape (k,).

    Source: Davison & Hinkley, Bootstrap Methods and their Application (1997), section 4.2.
    Departs: no.
    """
    possible = expected > 0

    def distance(some: NDArray[np.int64]) -> NDArray[np.float64]:
        apart = (some[..., possible] - expected[possible]) ** 2 / expected[possible]
        return np.asarray(apart.sum(axis=-1), np.float64)

    # Equal tables can differ by rounding in the order of the sum.
    n_reached = int((distance(drawn) >= distance(counts) * (1 - 1e-9)).sum())
    return (1 + n_reached) / (1 + len(drawn))


class PositionBias(Record):
    """How often each letter was right and was read.

    `right`, `read` count items by letter, in the order of `letters`; `accuracy` is the accuracy on the
    items whose right answer is that letter, NaN if there are none. `n_unread` are items without an
    answer and `n_outside` answers that are no choice of their item: both count as wrong and enter no
    other count. `wrong_read` and `wrong_expected` compare, over the wrong answers alone, how often each
    letter was read and how often it would be if wrong answers fell on all other choices alike.
    `p_value` is NaN if there is nothing to test, and `method` says so.
    """

    letters: tuple[str, ...]
    right: tuple[int, ...]
    read: tuple[int, ...]
    accuracy: tuple[float, ...]
    wrong_read: tuple[int, ...]
    wrong_expected: tuple[float, ...]
    n: int
    n_unread: int
    n_outside: int
    p_value: float
    method: str

    @property
    def read_shares(self) -> tuple[float, ...]:
        """The share of each letter among the answers read; NaN when none was."""
        return _shares(self.read)

    @property
    def right_shares(self) -> tuple[float, ...]:
        """The share of each letter among the right answers."""
        return _shares(self.right)


def _shares(counts: Sequence[int]) -> tuple[float, ...]:
    total = sum(counts)
    return tuple(count / total if total else math.nan for count in counts)


def _read_indices(read: Sequence[str | None], n_choices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Letters as positions; -1 for none, -2 for one that is not among the choices of its item."""
    indices = np.array([-1 if letter is None else letter_index(letter) for letter in read], np.int64)
    indices[indices >= n_choices] = -2
    return indices


def _wrong_chances(right: NDArray[np.int64], n_choices: NDArray[np.int64], width: int) -> NDArray[np.float64]:
    """The chance of each letter for each wrong answer if all other choices are alike, (n, width)."""
    is_open = np.arange(width) < n_choices[:, None]
    is_open[np.arange(len(right)), right] = False
    chances: NDArray[np.float64] = is_open / is_open.sum(axis=1, keepdims=True)
    return chances


def _simulate(chances: NDArray[np.float64], rng: np.random.Generator, n_draws: int) -> NDArray[np.int64]:
    """Counts of letters over all wrong answers in each draw, (n_draws, width)."""
    kinds, sizes = np.unique(chances, axis=0, return_counts=True)
    total = np.zeros((n_draws, chances.shape[1]), np.int64)
    for kind, size in zip(kinds, sizes, strict=True):
        total += rng.multinomial(size, kind, size=n_draws)
    return total


def position_bias(
    read: Sequence[str | None],
    right: Sequence[str],
    *,
    n_choices: Sequence[int],
    rng: np.random.Generator,
    n_draws: int = 9999,
) -> PositionBias:
    """Count letters read and right, and test whether wrong answers prefer a position.

    A good model reads each letter as often as it is right, so the letters read are no evidence by
    themselves when the right ones are not balanced. Wrong answers are: without a preference for a
    position, and with distractors in random order, each falls on any of the other choices alike. The
    test compares Pearson's statistic of the wrong answers with its values in `n_draws` simulations that
    keep the right letters and the number of choices: ``p = (1 + #{simulated >= seen}) / (1 + n_draws)``.
    It cannot tell a preference of the model from a release that puts tempting distractors in one place.

    Args:
        read: the letter read for each item, None if none was.
        right: the right letter of each item.
        n_choices: how many choices each item has.
        rng: source of the simulations.
        n_draws: how many of them.

    Raises:
        UsageError: no items, sequences of different lengths, a letter that is none, a right letter that
            is not among the choices, or no draws.

    Source: Monte Carlo p-value after Davison & Hinkley, Bootstrap Methods and their Application
        (1997), section 4.2.
    Departs: no.
    """
    if not len(right) or not len(read) == len(right) == len(n_choices):
        raise UsageError(
            f"{len(read)} letters read, {len(right)} right and {len(n_choices)} counts of choices; "
            "expected the same number of each, at least one"
        )
    check_draws(n_draws)
    sizes = np.asarray(n_choices, np.int64)
    gold = right_positions(right, sizes)
    width = int(sizes.max())
    given = _read_indices(read, sizes)
    is_wrong = (given >= 0) & (given != gold)
    wrong_read = np.bincount(given[is_wrong], minlength=width)
    chances = _wrong_chances(gold[is_wrong], sizes[is_wrong], width)
    expected = chances.sum(axis=0)
    p_value, method = math.nan, "no test: no wrong answer was read"
    if is_wrong.any():
        p_value = simulated_p(wrong_read, _simulate(chances, rng, n_draws), expected)
        method = f"Pearson's statistic of the wrong answers against {n_draws} simulations"
    n_right = np.bincount(gold, minlength=width)
    n_hits = np.bincount(gold[given == gold], minlength=width)
    return PositionBias(
        letters=first_letters(width),
        right=tuple(n_right.tolist()),
        read=tuple(np.bincount(given[given >= 0], minlength=width).tolist()),
        accuracy=tuple(
            h / r if r else math.nan for h, r in zip(n_hits.tolist(), n_right.tolist(), strict=True)
        ),
        wrong_read=tuple(wrong_read.tolist()),
        wrong_expected=tuple(expected.tolist()),
        n=len(right),
        n_unread=int((given == -1).sum()),
        n_outside=int((given == -2).sum()),
        p_value=p_value,
        method=method,
    )
