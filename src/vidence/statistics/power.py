"""Before a run: which difference it could find, and how many questions it would take.

A paired run finds a difference where `paired.compare` calls it clear, and the power here is that of this very
rule: where at least `MANY_APART` independent questions are expected to tell the two runs apart it is that of
Student's t, and with fewer, where that is off by up to 0.2, runs are simulated and the rule is applied to
them. Questions about one video carry less than as many videos would: ``1 + (m - 1) icc`` times the variance,
with m questions on each video, of which any two have the correlation `icc`.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Record
from vidence.statistics.exact import root, t_power
from vidence.statistics.intervals import p_values
from vidence.statistics.resampling import BLOCK_CELLS, as_labels, as_values, check_level
from vidence.statistics.sandwich import Layout

# Where nothing is known. The differences by question of 191 pairs of models on PerceptionComp, VLM4D and
# TempCompass (86 to 600 videos) have at most 0.10, and 0.02 in the median.
USUAL_ICC = 0.1
# From so many on, counted as independent questions, the t test's power is right to 0.03.
MANY_APART = 40.0
N_SIMULATED = 4000
# More videos than this are no answer.
MOST_CLUSTERS = 2**40


class Design(Record):
    """The size of a planned run.

    `icc` is the correlation of what is averaged (for a paired run: of the *differences* by item) between
    two questions about the same video. `intraclass_correlation` finds it in an earlier run; `USUAL_ICC` is
    the greatest of many pairs of models. `sizes` are the questions on each video; without them videos are
    as equal as can be.

    Source: Kish, Survey Sampling (1965), sections 5.4 and 8.2 (design effect, unequal clusters).
    Departs: no.
    """

    n_items: int
    n_clusters: int
    icc: float = USUAL_ICC
    sizes: tuple[int, ...] = ()

    @classmethod
    def of(cls, clusters: Sequence[str], *, icc: float) -> "Design":
        """The design of a run whose items have these clusters.

        Raises:
            UsageError: fewer than two clusters, or an icc outside [0, 1].
        """
        names, codes = as_labels(clusters, len(clusters), what="clusters")
        sizes = tuple(np.bincount(codes).tolist())
        return cls(n_items=len(clusters), n_clusters=len(names), icc=icc, sizes=sizes)

    def __post_init__(self) -> None:
        if not 2 <= self.n_clusters <= self.n_items:
            raise UsageError(
                f"{self.n_items} items on {self.n_clusters} videos; expected two videos or more, "
                "and an item or more on each"
            )
        if not 0 <= self.icc <= 1:
            raise UsageError(f"icc {self.icc}; expected 0 to 1 (0: questions on one video are independent)")
        if self.sizes and (len(self.sizes), sum(self.sizes)) != (self.n_clusters, self.n_items):
            raise UsageError(
                f"{len(self.sizes)} sizes that add up to {sum(self.sizes)}; expected {self.n_clusters} that "
                f"add up to {self.n_items}"
            )

    @property
    def design_effect(self) -> float:
        """By how much the variance of a mean is larger than with as many independent questions."""
        if self.sizes:
            return 1 + (sum(size**2 for size in self.sizes) / self.n_items - 1) * self.icc
        return 1 + (self.n_items / self.n_clusters - 1) * self.icc

    @property
    def dof(self) -> float:
        """The degrees of freedom of the clustered error."""
        if self.sizes:
            return Layout.of(np.array(self.sizes, np.float64)[:, None]).dof
        return self.n_clusters - 1.0

    def counts(self) -> NDArray[np.int64]:
        """The items of each cluster, shape (n_clusters,)."""
        if self.sizes:
            return np.array(self.sizes, np.int64)
        least, more = divmod(self.n_items, self.n_clusters)
        return np.array([least + 1] * more + [least] * (self.n_clusters - more), np.int64)

    @property
    def n_effective(self) -> float:
        """As many independent questions would say the same."""
        return self.n_items / self.design_effect


ONE_EACH = Design(n_items=2, n_clusters=2)


def intraclass_correlation(values: ArrayLike, *, clusters: Sequence[str]) -> float:
    """The correlation of two values of the same cluster, from an earlier run.

    It can come out below 0, mostly by chance; plan with 0 then. NaN if all values are equal.

    Args:
        values: one for each item, shape (n,); for a paired run the differences by item.
        clusters: the name of the cluster of each item, n of them.

    Raises:
        UsageError: as for `as_values`; fewer than two clusters, or no cluster with two items.

    Source: Donner (1986), section 2 (analysis of variance estimator, unequal sizes).
    Departs: no.

    >>> round(intraclass_correlation([1, 1, 0, 0, 1, 0], clusters=["a", "a", "b", "b", "c", "c"]), 2)
    0.5
    """
    numbers = as_values(values)
    names, codes = as_labels(clusters, len(numbers), what="clusters")
    n, k = len(numbers), len(names)
    if k < 2 or k == n:
        raise UsageError(f"{n} items on {k} videos; expected two videos or more, one with two items or more")
    sizes = np.bincount(codes)
    means = np.bincount(codes, weights=numbers) / sizes
    between = float(sizes @ (means - numbers.mean()) ** 2) / (k - 1)
    within = float(((numbers - means[codes]) ** 2).sum()) / (n - k)
    size = (n - float(sizes @ sizes) / n) / (k - 1)
    total = between + (size - 1) * within
    return (between - within) / total if total > 0 else math.nan


def discordance(first: float, second: float, *, correlation: float) -> float:
    """The share of items that exactly one of two runs has right.

    Args:
        first: the accuracy of one run, from 0 to 1.
        second: the accuracy of the other.
        correlation: of right and wrong between the two over items (phi); 0 for independent runs.

    Raises:
        UsageError: an accuracy outside [0, 1], or a correlation that these accuracies do not allow.

    >>> round(discordance(0.5, 0.5, correlation=0.6), 3)
    0.2
    """
    if not (0 <= first <= 1 and 0 <= second <= 1):
        raise UsageError(f"accuracies {first} and {second}; expected shares from 0 to 1, not percentages")
    both = first * second + correlation * math.sqrt(first * (1 - first) * second * (1 - second))
    least, most = max(0.0, first + second - 1), min(first, second)
    if not least - 1e-12 <= both <= most + 1e-12:
        spread = math.sqrt(first * (1 - first) * second * (1 - second))
        lowest, highest = ((b - first * second) / spread if spread else 0.0 for b in (least, most))
        raise UsageError(
            f"correlation {correlation} with accuracies {first} and {second}; "
            f"expected {lowest:.3f} to {highest:.3f}"
        )
    return max(0.0, first + second - 2 * both)


def _check_power(power: float, level: float) -> None:
    check_level(level)
    if not 1 - level < power < 1:
        raise UsageError(f"power {power}; expected more than {1 - level:.3g} and less than 1, such as 0.8")


def _check_discordance(difference: float, apart: float) -> None:
    if not 0 < apart <= 1:
        raise UsageError(f"discordance {apart}; expected a share above 0 and up to 1")
    if abs(difference) > apart:
        raise UsageError(f"difference {difference}, discordance {apart}; expected at most the discordance")


def _fewest(power_of: Callable[[int], float], power: float) -> int:
    """The least number of clusters, two or more, that has this power."""
    high = 2
    while power_of(high) < power:
        high *= 2
        if high > MOST_CLUSTERS:
            raise UsageError("no number of videos detects so small a difference; give a larger one")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= power else (middle, high)
    return high


def paired_power(
    difference: float, *, discordance: float, design: Design, rng: np.random.Generator, level: float = 0.95
) -> float:
    """The chance that `paired.compare` finds a difference of accuracy clear.

    Args:
        difference: between the two accuracies, a share such as 0.03.
        discordance: the share of items that exactly one of the two has right; see `discordance`.
        design: the size of the run; `icc` is that of the differences.
        rng: where simulated runs come from; not used where `MANY_APART` items tell the two apart.
        level: 1 less the chance of a false finding.

    Raises:
        UsageError: a difference larger than the discordance, a discordance outside (0, 1], or a level
            outside (0, 1).

    Source: Connor (1987) for the variance (discordance less the squared difference); the power of the t
        test after Cohen, Statistical Power Analysis (1988), chapter 2, with the design effect of Kish (1965).
        Mosimann (1962), "On the compound multinomial distribution", for the simulated runs.
    Departs: t with the degrees of freedom of `sandwich.Layout`, in place of a normal distribution.

    >>> design = Design(n_items=1000, n_clusters=250, icc=0.05)
    >>> round(paired_power(0.05, discordance=0.3, design=design, rng=np.random.default_rng(0)), 2)
    0.77
    """
    check_level(level)
    _check_discordance(difference, discordance)
    if design.n_effective * discordance < MANY_APART:
        return _simulated_power(difference, discordance, design=design, rng=rng, level=level)
    error = math.sqrt(max(0.0, discordance - difference**2) / design.n_effective)
    if error == 0:
        return 1.0 if difference else 1 - level
    return t_power(abs(difference) / error, dof=design.dof, level=level)


def _simulated_power(
    difference: float, discordance: float, *, design: Design, rng: np.random.Generator, level: float
) -> float:
    """The share of simulated paired runs whose difference is clear."""
    counts = design.counts()
    layout = Layout.of(counts[:, None].astype(np.float64))
    # Of each video: the chance that only the better run is right, only the other one, both or neither.
    shares = np.array([(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance])
    shares = np.maximum(shares, 0.0)
    block = max(1, BLOCK_CELLS // (3 * len(counts)))
    n_clear = 0
    for start in range(0, N_SIMULATED, block):
        n_runs = min(block, N_SIMULATED - start)
        ahead, behind = _drawn(counts, shares, icc=design.icc, n_runs=n_runs, rng=rng)
        totals = (ahead - behind)[..., None].astype(np.float64)
        values = p_values(
            layout.mean(totals),
            layout.variance(totals),
            n_apart=(ahead + behind).sum(axis=1),
            dof=layout.dof,
            n_alike=layout.n_alike,
        )
        n_clear += int((values < 1 - level).sum())
    return n_clear / N_SIMULATED


def _drawn(
    counts: NDArray[np.int64],
    shares: NDArray[np.float64],
    *,
    icc: float,
    n_runs: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many items of each cluster only the one run has right, and only the other: (n_runs, n_clusters).

    The differences of two items of a cluster have this icc.
    """
    shape = (n_runs, len(counts))
    chances = np.broadcast_to(shares, (*shape, 3))
    if icc > 1e-6 and counts.max() > 1:
        alpha = np.maximum(shares * (1 - icc) / icc, 1e-12)
        # By the logarithms of gamma variates; those themselves round to 0 where alpha is small.
        logs = np.log(rng.standard_gamma(alpha + 1, size=(*shape, 3)))
        logs -= rng.standard_exponential(size=(*shape, 3)) / alpha
        odds = np.exp(logs - logs.max(axis=-1, keepdims=True))
        chances = odds / odds.sum(axis=-1, keepdims=True)
    ahead = rng.binomial(counts, chances[..., 0])
    rest = 1 - chances[..., 0]
    behind = np.zeros(shape)
    np.divide(chances[..., 1], rest, out=behind, where=rest > 0)
    return ahead, rng.binomial(counts - ahead, np.minimum(behind, 1.0))


def paired_detectable(
    *, discordance: float, design: Design, rng: np.random.Generator, power: float = 0.8, level: float = 0.95
) -> float:
    """The smallest difference of accuracy that `paired.compare` finds with this power; inf where none is.

    Args:
        discordance: the share of items that exactly one of the two has right.
        design: the size of the run.
        rng: where simulated runs come from, the same ones for every difference that is tried.
        power: the chance to find the difference.
        level: 1 less the chance of a false finding.

    Raises:
        UsageError: a discordance outside (0, 1], a power that is not between 1 - level and 1, or a level
            outside (0, 1).

    Source: as `paired_power`.
    Departs: as `paired_power`.
    """
    _check_power(power, level)
    _check_discordance(0, discordance)
    power_of = _with_the_same_draws(discordance=discordance, level=level, rng=rng)
    if power_of(discordance, design) < power:
        return math.inf
    close = 1e-4 if design.n_effective * discordance < MANY_APART else 1e-9  # draws are coarser
    return root(lambda d: power_of(d, design) - power, 0.0, discordance, close=close)


def _with_the_same_draws(
    *, discordance: float, level: float, rng: np.random.Generator
) -> Callable[[float, Design], float]:
    """The power of a difference and a design, without noise between one call and the next."""
    seed = int(rng.integers(2**63))

    def power_of(difference: float, design: Design) -> float:
        draws = np.random.default_rng(seed)
        return paired_power(difference, discordance=discordance, design=design, rng=draws, level=level)

    return power_of


def paired_needed(
    difference: float,
    *,
    discordance: float,
    rng: np.random.Generator,
    like: Design = ONE_EACH,
    power: float = 0.8,
    level: float = 0.95,
) -> Design:
    """The smallest paired run that finds a difference of accuracy with this power.

    Args:
        difference: between the two accuracies; not 0.
        discordance: the share of items that exactly one of the two has right.
        rng: where simulated runs come from.
        like: a run with as many questions on each video, and the same icc of the differences.
        power: the chance to find the difference.
        level: 1 less the chance of a false finding.

    Raises:
        UsageError: as for `paired_power`; a difference of 0, or one that no number of videos finds.

    Source: as `paired_power`.
    Departs: as `paired_power`.
    """
    _check_power(power, level)
    _check_discordance(difference, discordance)
    if difference == 0:
        raise UsageError("a difference of 0; expected another, such as 0.05")
    power_of = _with_the_same_draws(discordance=discordance, level=level, rng=rng)

    def design(n_clusters: int) -> Design:
        n_items = math.ceil(n_clusters * like.n_items / like.n_clusters)
        return Design(n_items=n_items, n_clusters=n_clusters, icc=like.icc)

    return design(_fewest(lambda n_clusters: power_of(difference, design(n_clusters)), power))
