"""How often luck alone is right: guesses among choices that may stick from one prompt to the next."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError

# Searches over numbers of frames; they are told whether an answer is right and return the number found.
Search: TypeAlias = Callable[[Callable[[int], bool]], int | None]
_GRID = np.linspace(0.0, 1.0, 2001)


@dataclass(frozen=True, kw_only=True)
class SamePairs:
    """Pairs of wrong letters, `distance` frames apart, from questions with `n_choices`: how many agree."""

    n_choices: int
    distance: int
    n_same: int
    n: int


@dataclass(frozen=True, kw_only=True)
class Stickiness:
    """The chance that a guess is kept when one more frame is shown, and its interval."""

    rho: float
    low: float
    high: float


def stickiness(pairs: Sequence[SamePairs], *, level: float = 0.95) -> Stickiness | None:
    """The chance that a guess is kept when one more frame is shown, from pairs of wrong letters.

    A guess is kept with probability rho, otherwise drawn again, evenly among the choices; d frames further it
    is the kept one with rho to the power of d. Of two wrong letters the share that agrees is then
    (rho^d + (1 - rho^d) / n) / (rho^d + (1 - rho^d)(n - 1) / n). The most likely rho, to 0.0005, with the
    interval of its likelihood ratio; None without pairs. Pairs of two choices say nothing, since two wrong
    letters always agree there.

    >>> stickiness([SamePairs(n_choices=5, distance=1, n_same=25, n=100)]).rho
    0.0
    """
    telling = [pair for pair in pairs if pair.n_choices > 2 and pair.n]
    if not telling:
        return None
    gain = np.zeros_like(_GRID)
    with np.errstate(divide="ignore", invalid="ignore"):
        for same_pairs in telling:
            kept = _GRID**same_pairs.distance
            alike = kept + (1 - kept) / same_pairs.n_choices
            both = alike / (kept + (1 - kept) * (same_pairs.n_choices - 1) / same_pairs.n_choices)
            gain += same_pairs.n_same * np.log(both)
            if same_pairs.n > same_pairs.n_same:
                gain += (same_pairs.n - same_pairs.n_same) * np.log1p(-both)
    best = int(np.argmax(gain))
    near = _GRID[gain >= gain[best] - NormalDist().inv_cdf((1 + level) / 2) ** 2 / 2]
    return Stickiness(rho=float(_GRID[best]), low=float(near[0]), high=float(near[-1]))


@dataclass(frozen=True, kw_only=True)
class Guesser:
    """Who guesses among `n_choices`, and keeps a guess with probability `rho` for each frame more.

    With `n_orders` the question is put in this many orders of the choices, each guessed on its own, and is
    right where all of them are.
    """

    n_choices: int
    rho: float = 0.0
    n_orders: int = 1

    def __post_init__(self) -> None:
        if self.n_choices < 2 or not 0 <= self.rho <= 1 or self.n_orders < 1:
            raise UsageError(
                f"a guesser among {self.n_choices} choices with rho={self.rho} and {self.n_orders} orders; "
                "expected two choices or more, rho from 0 to 1, one order or more"
            )

    @property
    def chance(self) -> float:
        """The chance to be right with one number of frames."""
        return (1 / self.n_choices) ** self.n_orders

    def probability(self, answers: Mapping[int, bool]) -> float:
        """The chance of being right or wrong as said with each of these numbers of frames."""
        numbers = sorted(answers)
        state = _binomial(self.n_orders, 1 / self.n_choices)
        for before, n in zip([None, *numbers[:-1]], numbers, strict=True):
            if before is not None:
                state = state @ _step(self.n_choices, self.n_orders, self.rho ** (n - before))
            is_seen = np.zeros(self.n_orders + 1)
            is_seen[-1] = 1.0
            state = state * (is_seen if answers[n] else 1 - is_seen)
        return float(state.sum())


@functools.lru_cache(maxsize=4096)
def _step(n_choices: int, n_orders: int, kept: float) -> NDArray[np.float64]:
    """From how many right guesses to how many, where each is kept with this probability."""
    stays, turns = kept + (1 - kept) / n_choices, (1 - kept) / n_choices
    return np.array(
        [
            np.convolve(_binomial(n_right, stays), _binomial(n_orders - n_right, turns))
            for n_right in range(n_orders + 1)
        ]
    )


@functools.lru_cache(maxsize=4096)
def _binomial(n: int, p: float) -> NDArray[np.float64]:
    return np.array([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


@dataclass(frozen=True, kw_only=True)
class ChanceSearch:
    """What a search finds for who knows nothing: how often a number at all, and its mean where it does."""

    chance: float
    mean: float


class _OpenError(Exception):
    """A search asks whether the answer at its argument, a number of frames, is right."""


def luck(search: Search, guesser: Guesser) -> ChanceSearch:
    """What a search finds when every answer is a guess; exact, nothing is drawn.

    Every way that the search can go is followed, each with its probability. So it must not ask for more than
    it needs: one that asks n numbers at once has 2 to the power of n ways.

    >>> found = luck(lambda right: next((k for k in range(1, 17) if right(k)), None), Guesser(n_choices=5))
    >>> round(found.mean, 1), round(found.chance, 2)
    (4.5, 0.97)
    """
    total = chance = 0.0
    ways: list[dict[int, bool]] = [{}]
    while ways:
        known = ways.pop()

        def right(n: int, known: Mapping[int, bool] = known) -> bool:
            if n not in known:
                raise _OpenError(n)
            return known[n]

        try:
            luck = search(right)
        except _OpenError as open_at:
            ways += [known | {open_at.args[0]: is_right} for is_right in (False, True)]
            continue
        if luck is not None:
            probability = guesser.probability(known)
            chance += probability
            total += probability * luck
    return ChanceSearch(chance=chance, mean=total / chance if chance else math.nan)
