"""A paired difference that may be looked at after every source, so that asking stops once it is decided."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Item, source_noun
from vidence.statistics.paired import Decided, Decision, decided
from vidence.statistics.resampling import check_level, mean_weights

METHOD: Final = "confidence sequence by betting (aGRAPA)"
_ENDS: Final = np.arange(-1000, 1001) / 1000  # steps of a tenth of a point; the first and last are no means
_LARGEST: Final = 0.95  # of the bet that could lose everything
_FIRST_VARIANCE: Final = 1.0  # of values from -1 to 1, before any is seen


def source_order(sources: Iterable[str], *, seed: int) -> tuple[str, ...]:
    """Distinct sources in a random order; some of them have the order that they have among all.

    >>> source_order(["a", "b", "c", "a"], seed=1), source_order(["a", "c"], seed=1)
    (('a', 'b', 'c'), ('a', 'c'))
    """
    return tuple(sorted(set(sources), key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).digest()))


class BettingCapital:
    """The capital of bets against each of several mean differences, as a logarithm (`log`).

    Where a mean is the true one, its capital is a martingale that begins at 1: the chance that it ever
    reaches 1 / alpha is at most alpha (Ville's inequality), for sources of any kind in a random order.

    Args:
        means: the mean differences that are bet against, inside (-1, 1).
        most: the greatest size that a source can have.

    Source: Waudby-Smith & Ramdas (2024), "Estimating means of bounded random variables by betting", the
        capital process with bets by approximate GRAPA, which are predictable and truncated.
    Departs: sources have sizes. What is bet on is ``(total - mean * size) / most``, from -(1 + mean) to
        1 - mean, whose expected value is 0 where the mean over questions is `mean`.
    """

    def __init__(self, means: ArrayLike, *, most: float) -> None:
        if not most > 0:
            raise UsageError(f"the greatest size of a source is {most}; expected more than 0")
        self.log: NDArray[np.float64] = np.zeros_like(means, np.float64)
        self._means, self._most = np.asarray(means, np.float64), most
        self._sum, self._squares = np.zeros_like(self.log), np.full_like(self.log, _FIRST_VARIANCE)

    def add(self, total: ArrayLike, size: ArrayLike) -> None:
        """Bet on one more source.

        Args:
            total: the sum of its weighted differences; of many sequences at once an array, (n, 1).
            size: the sum of their weights, same shape.
        """
        bets = np.clip(self._sum / self._squares, -_LARGEST / (1 - self._means), _LARGEST / (1 + self._means))
        gains = (np.asarray(total) - self._means * np.asarray(size)) / self._most
        self.log = self.log + np.log1p(bets * gains)
        self._sum, self._squares = self._sum + gains, self._squares + gains**2


class ConfidenceSequence:
    """The interval ``(low, high)`` of a mean difference over a population of sources, at every look.

    The chance that it leaves out the true difference at any look is at most ``1 - level``. It holds the
    means that no look has refuted. As in `paired.compare` the difference is that of the population that
    the sources are from, and not of these sources alone: it keeps a width when all have been asked.

    Args:
        most: the greatest size that a source can have: its number of questions, or the sum of their weights.
        level: coverage of all looks together.

    Raises:
        UsageError: `most` is not above 0, or a level outside (0, 1).

    Source: as `BettingCapital`; the set of all means whose capital is below ``1 / (1 - level)``.
    Departs: means are tested in steps of a tenth of a point, and the interval reaches from the step before
        the first that is left to the step after the last.
    """

    def __init__(self, *, most: float, level: float = 0.95) -> None:
        check_level(level)
        self.level, self.low, self.high, self.value, self.n_sources = level, -1.0, 1.0, 0.0, 0
        self._capital, self._is_left = BettingCapital(_ENDS[1:-1], most=most), np.True_
        self._total = self._size = 0.0

    def add(self, total: float, size: float) -> None:
        """Look at one more source: the sum of its weighted differences, and of the weights."""
        self.n_sources, self._total, self._size = self.n_sources + 1, self._total + total, self._size + size
        self.value = self._total / self._size
        self._capital.add(total, size)
        is_left = self._is_left & (self._capital.log < -np.log1p(-self.level))
        if is_left.any():  # otherwise looks contradict each other
            self._is_left = is_left
            self.low, self.high = _ENDS[np.flatnonzero(is_left)[[0, -1]] + [0, 2]].tolist()


class Watch:
    """Looks at the paired difference of items after each source of a random order.

    A source counts when all its items have come, and all sources before it have. Of an item whose difference
    is open both ends are watched, and it is decided where both amount to the same.

    Args:
        items: all available, whether they will come or not.
        seed: of the order.
        tag: of a macro mean over its values, which all items have; empty for the mean over items.
        level: coverage of all looks together.
        margin: the difference of shares that is as good as none.
        beyond: how far from 0 the whole interval must lie for one to be better.
    """

    def __init__(
        self,
        items: Sequence[Item],
        *,
        seed: int,
        tag: str = "",
        level: float = 0.95,
        margin: float | None = None,
        beyond: float = 0.0,
    ) -> None:
        groups = [item.group(tag) or "" for item in items] if tag else None
        parts: dict[str, dict[str, float]] = {}
        for item, weight in zip(items, mean_weights(groups, len(items)).tolist(), strict=True):
            parts.setdefault(item.source_id, {})[item.item_id] = weight
        self.order, self._parts = source_order(parts, seed=seed), parts
        most = max(sum(part.values()) for part in parts.values())
        self._sides = [ConfidenceSequence(most=most, level=level) for _ in range(2)]
        self._margin, self._beyond = margin, beyond
        self._n_items, self._noun = len(items), source_noun(items)
        self._differences: dict[str, tuple[float, float]] = {}
        self._n_looked = self.n_decisive = self._n_asked = 0

    def add(self, item_id: str, least: float, most: float | None = None) -> None:
        """Add the difference of one item, in any order; where it is open, the minimum and maximum."""
        self._differences[item_id] = least, least if most is None else most
        for source in self.order[self._sides[0].n_sources :]:
            part = self._parts[source]
            if not part.keys() <= self._differences.keys():
                return
            for i, side in enumerate(self._sides):
                total = sum(weight * self._differences[name][i] for name, weight in part.items())
                side.add(total, sum(part.values()))
            self._n_looked += len(part)
            words = {self._decided(side, self._beyond) for side in self._sides}
            if not self.n_decisive and len(words) == 1 and words != {"not decided"}:
                self.n_decisive, self._n_asked = self._sides[0].n_sources, self._n_looked

    def _is_within(self, side: ConfidenceSequence) -> bool:
        margin = self._margin
        return margin is not None and -margin <= side.low and side.high <= margin

    def _decided(self, side: ConfidenceSequence, beyond: float = 0.0) -> Decided:
        is_clear = side.low >= beyond or side.high <= -beyond
        return decided(side.low + side.high, is_clear=is_clear, is_within=self._is_within(side))

    def look(self) -> Decision:
        """What there is to see now, open differences at their least."""
        side = self._sides[0]
        return Decision(
            decided=self._decided(side),
            is_within=self._is_within(side),
            difference=Estimate(
                value=side.value,
                low=side.low,
                high=side.high,
                level=side.level,
                n=self._n_looked,
                n_clusters=side.n_sources,
                method=METHOD,
                clustered_by=self._noun,
            ),
            margin=self._margin,
            n_items=self._n_items,
            n_sources=len(self.order),
            n_decisive=self.n_decisive,
            n_asked=self._n_asked,
        )
