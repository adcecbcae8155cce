"""A paired difference that may be looked at after every source, so that asking stops once it is decided."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Item, Record, source_noun
from vidence.statistics.paired import Decided, decided
from vidence.statistics.resampling import check_level, mean_weights

METHOD: Final = "confidence sequence by betting (aGRAPA)"
_MEANS: Final = np.arange(-999, 1000) / 1000  # steps of a tenth of a point
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

    The chance that it leaves out the true difference at any look is at most ``1 - level``. It is the
    intersection of those of all looks. As in `paired.compare` the difference is that of the population that
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
        self.level, self.low, self.high, self.n_sources = level, -1.0, 1.0, 0
        self._capital = BettingCapital(_MEANS, most=most)
        self._total = self._size = 0.0

    @property
    def value(self) -> float:
        """The mean difference so far; 0 before the first source."""
        return self._total / self._size if self._size else 0.0

    def add(self, total: float, size: float) -> None:
        """Look at one more source: the sum of its weighted differences, and of the weights."""
        self.n_sources, self._total, self._size = self.n_sources + 1, self._total + total, self._size + size
        self._capital.add(total, size)
        log = self._capital.log
        left = np.flatnonzero(log < -np.log1p(-self.level))
        first, last = (int(left[0]), int(left[-1])) if len(left) else (int(np.argmin(log)),) * 2
        low = max(self.low, float(_MEANS[first - 1]) if first else -1.0)
        high = min(self.high, float(_MEANS[last + 1]) if last + 1 < len(_MEANS) else 1.0)
        if low < high:
            self.low, self.high = low, high


class Look(Record, omit_defaults=True):
    """What a paired difference amounts to at a look, in a comparison that allows for all looks before it.

    `difference` has the ends of the confidence sequence; of its `n_clusters` sources all questions were
    looked at, and `n_items` and `n_sources` are those that there are. `decided` is as `paired.decided`, with
    0 outside of the ends for clear, and the ends within `margin`. `n_decisive` is after how many sources it
    was decided first, with `n_asked` questions; 0 where it is not.
    """

    decided: Decided
    is_within: bool
    difference: Estimate
    n_items: int
    n_sources: int
    n_decisive: int = 0
    n_asked: int = 0
    margin: float | None = None


class Watch:
    """Looks at the paired difference of items after each source of a random order.

    A source counts when all its items have come, and all sources before it have.

    Args:
        items: all that there are, whether they will come or not.
        seed: of the order.
        tag: of a macro mean over its values, which all items have; empty for the mean over items.
        level: coverage of all looks together.
        margin: the difference of shares that is as good as none.
    """

    def __init__(
        self,
        items: Sequence[Item],
        *,
        seed: int,
        tag: str = "",
        level: float = 0.95,
        margin: float | None = None,
    ) -> None:
        groups = [item.tags[tag] for item in items] if tag else None
        parts: dict[str, dict[str, float]] = {}
        for item, weight in zip(items, mean_weights(groups, len(items)).tolist(), strict=True):
            parts.setdefault(item.source_id, {})[item.item_id] = weight
        self.order = source_order(parts, seed=seed)
        self.sequence = ConfidenceSequence(most=max(sum(p.values()) for p in parts.values()), level=level)
        self._parts, self._margin = parts, margin
        self._n_items, self._noun = len(items), source_noun(items)
        self._differences: dict[str, float] = {}
        self._n_looked = self._n_decisive = self._n_asked = 0

    def add(self, item_id: str, difference: float) -> None:
        """Add the difference of one item, in any order."""
        self._differences[item_id] = difference
        while self.sequence.n_sources < len(self.order):
            part = self._parts[self.order[self.sequence.n_sources]]
            if not part.keys() <= self._differences.keys():
                return
            total = sum(weight * self._differences[name] for name, weight in part.items())
            self.sequence.add(total, sum(part.values()))
            self._n_looked += len(part)
            if not self._n_decisive and self.decided != "not decided":
                self._n_decisive, self._n_asked = self.sequence.n_sources, self._n_looked

    @property
    def is_within(self) -> bool:
        """Whether the sequence lies within the margin; false without one."""
        margin = self._margin
        return margin is not None and -margin <= self.sequence.low and self.sequence.high <= margin

    @property
    def is_outside(self) -> bool:
        """Whether the sequence holds nothing within the margin, so that it will never lie there."""
        margin = self._margin or 0.0
        return self.sequence.low >= margin or self.sequence.high <= -margin

    @property
    def decided(self) -> Decided:
        """What the difference amounts to so far."""
        low, high = self.sequence.low, self.sequence.high
        is_clear = low >= 0 or high <= 0
        return decided(low + high, is_clear=is_clear, is_within=self.is_within)

    def look(self) -> Look:
        """What there is to see now."""
        sequence = self.sequence
        return Look(
            decided=self.decided,
            is_within=self.is_within,
            difference=Estimate(
                value=sequence.value,
                low=sequence.low,
                high=sequence.high,
                level=sequence.level,
                n=self._n_looked,
                n_clusters=sequence.n_sources,
                method=METHOD,
                clustered_by=self._noun,
            ),
            n_items=self._n_items,
            n_sources=len(self.order),
            n_decisive=self._n_decisive,
            n_asked=self._n_asked,
            margin=self._margin,
        )
