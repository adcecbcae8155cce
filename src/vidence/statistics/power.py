"""Before a run: which difference it could find, and how many questions it would take.

Everything is for two-sided tests with Student's t and the clustered error of `paired.compare`. Questions
about one video carry less than as many videos would: ``1 + (m - 1) icc`` times the variance, with m
questions on each video, of which any two have the correlation `icc`.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from vidence.errors import UsageError
from vidence.records import Record
from vidence.statistics.resampling import as_labels, as_values, check_level

# More videos than this are no answer.
MOST_CLUSTERS = 2**40
# Differences of so many standard errors are not taken for ones of the other sign.
FAR = 5.0


class Design(Record):
    """The size of a planned run.

    `icc` is the correlation of what is averaged (for a paired run: of the *differences* by item) between
    two questions about the same video. `intraclass_correlation` finds it in an earlier run.

    Source: Kish, Survey Sampling (1965), section 5.4 (design effect).
    Departs: videos count as equally large.
    """

    n_items: int
    n_clusters: int
    icc: float = 0.0

    def __post_init__(self) -> None:
        if not 2 <= self.n_clusters <= self.n_items:
            raise UsageError(
                f"{self.n_items} items on {self.n_clusters} videos; expected two videos or more, "
                "and an item or more on each"
            )
        if not 0 <= self.icc <= 1:
            raise UsageError(f"icc {self.icc}; expected 0 to 1 (0: questions on one video are independent)")

    @property
    def design_effect(self) -> float:
        """By how much the variance of a mean is larger than with as many independent questions."""
        return 1 + (self.n_items / self.n_clusters - 1) * self.icc

    @property
    def n_effective(self) -> float:
        """As many independent questions would say the same."""
        return self.n_items / self.design_effect


def intraclass_correlation(values: ArrayLike, *, clusters: Sequence[str]) -> float:
    """The correlation of two values of the same cluster, from an earlier run.

    It can come out below 0, mostly by chance; plan with 0 then. NaN where all values are equal.

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
        raise UsageError(
            f"{n} items on {k} videos; expected two videos or more, one of them with two items or more"
        )
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


def _t_power(difference: float, error: float, *, df: float, level: float) -> float:
    """The chance that a two-sided t test finds a difference that has this standard error."""
    from scipy.special import nctdtr, stdtrit
    from scipy.stats import nct

    if error == 0:
        return 1.0 if difference else 1 - level
    distance, critical = abs(difference) / error, float(stdtrit(df, (1 + level) / 2))
    # Farther out that tail is below 1e-6, and scipy (and statsmodels with it) gives NaN for it at times.
    far_tail = float(nctdtr(df, distance, -critical)) if distance < FAR else 0.0
    return min(1.0, float(nct.sf(critical, df, distance)) + far_tail)


def _check_power(power: float, level: float) -> None:
    check_level(level)
    if not 1 - level < power < 1:
        raise UsageError(f"power {power}; expected more than {1 - level:.3g} and less than 1, such as 0.8")


def _check_discordance(difference: float, apart: float) -> None:
    if not 0 < apart <= 1:
        raise UsageError(f"discordance {apart}; expected a share above 0 and up to 1")
    if abs(difference) > apart:
        raise UsageError(
            f"a difference of {difference} with a discordance of {apart}; it cannot be the larger one"
        )


def _smallest(power_of: Callable[[float], float], most: float, power: float) -> float:
    """The difference in (0, most] that has this power; inf where none has."""
    from scipy.optimize import brentq

    if power_of(most) < power:
        return math.inf
    return float(brentq(lambda d: power_of(d) - power, most * 1e-9, most, xtol=1e-9))


def _fewest(power_of: Callable[[int], float], power: float) -> int:
    """The least number of clusters, two or more, that has this power."""
    high = 2
    while power_of(high) < power:
        high *= 2
        if high > MOST_CLUSTERS:
            raise UsageError("no number of videos finds a difference so small; expected a larger difference")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= power else (middle, high)
    return high


def _smallest_design(
    power_of: Callable[[Design], float], power: float, *, items_per_cluster: float, icc: float
) -> Design:
    """The design with the fewest clusters that has this power."""

    def design(n_clusters: int) -> Design:
        return Design(n_items=math.ceil(n_clusters * items_per_cluster), n_clusters=n_clusters, icc=icc)

    return design(_fewest(lambda n_clusters: power_of(design(n_clusters)), power))


def paired_power(difference: float, *, discordance: float, design: Design, level: float = 0.95) -> float:
    """The chance that a paired run finds a difference of accuracy.

    Args:
        difference: between the two accuracies, a share such as 0.03.
        discordance: the share of items that exactly one of the two has right; see `discordance`.
        design: the size of the run; `icc` is that of the differences.
        level: 1 less the chance of a false finding.

    Raises:
        UsageError: a difference larger than the discordance, a discordance outside (0, 1], or a level
            outside (0, 1).

    Source: Connor (1987) for the variance (discordance less the squared difference); the power of the t
        test after Cohen, Statistical Power Analysis (1988), chapter 2, with the design effect of Kish (1965).
    Departs: t with one degree of freedom less than there are videos, in place of a normal distribution.

    >>> design = Design(n_items=1000, n_clusters=250, icc=0.05)
    >>> round(paired_power(0.05, discordance=0.3, design=design), 2)
    0.77
    """
    check_level(level)
    _check_discordance(difference, discordance)
    error = math.sqrt(max(0.0, discordance - difference**2) / design.n_effective)
    return _t_power(difference, error, df=design.n_clusters - 1, level=level)


def paired_detectable(
    *, discordance: float, design: Design, power: float = 0.8, level: float = 0.95
) -> float:
    """The smallest difference of accuracy that a paired run finds with this power; inf where there is none.

    Args:
        discordance: the share of items that exactly one of the two has right.
        design: the size of the run.
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
    return _smallest(
        lambda d: paired_power(d, discordance=discordance, design=design, level=level), discordance, power
    )


def paired_needed(
    difference: float,
    *,
    discordance: float,
    items_per_cluster: float = 1.0,
    icc: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
) -> Design:
    """The smallest paired run that finds a difference of accuracy with this power.

    Args:
        difference: between the two accuracies; not 0.
        discordance: the share of items that exactly one of the two has right.
        items_per_cluster: questions on each video, 1 or more.
        icc: correlation of the differences of two questions about one video.
        power: the chance to find the difference.
        level: 1 less the chance of a false finding.

    Raises:
        UsageError: as for `paired_power`; a difference of 0, or one that no number of videos finds; fewer
            than one item on a video.

    Source: as `paired_power`.
    Departs: as `paired_power`.
    """
    _check_power(power, level)
    _check_discordance(difference, discordance)
    _check_size(difference, items_per_cluster)
    return _smallest_design(
        lambda design: paired_power(difference, discordance=discordance, design=design, level=level),
        power,
        items_per_cluster=items_per_cluster,
        icc=icc,
    )


def _check_size(difference: float, items_per_cluster: float) -> None:
    if difference == 0 or items_per_cluster < 1:
        raise UsageError(
            f"a difference of {difference} with {items_per_cluster} items on each video; "
            "expected a difference other than 0, and one item or more"
        )


def unpaired_power(
    first: float, second: float, *, designs: tuple[Design, Design], level: float = 0.95
) -> float:
    """The chance that two runs on different items find a difference of accuracy.

    Args:
        first: the accuracy of one run, from 0 to 1.
        second: the accuracy of the other.
        designs: the size of each run; `icc` is that of its scores.
        level: 1 less the chance of a false finding.

    Raises:
        UsageError: an accuracy outside [0, 1], or a level outside (0, 1).

    Source: Fleiss, Levin & Paik, Statistical Methods for Rates and Proportions (2003), section 4.2, without
        the pooled variance; design effect of Kish (1965).
    Departs: t with as many degrees of freedom as there are videos less two, in place of a normal
        distribution.
    """
    check_level(level)
    if not (0 <= first <= 1 and 0 <= second <= 1):
        raise UsageError(f"accuracies {first} and {second}; expected shares from 0 to 1, not percentages")
    parts = zip((first, second), designs, strict=True)
    error = math.sqrt(sum(share * (1 - share) / design.n_effective for share, design in parts))
    df = sum(design.n_clusters for design in designs) - 2
    return _t_power(second - first, error, df=df, level=level)


def unpaired_detectable(accuracy: float, *, design: Design, power: float = 0.8, level: float = 0.95) -> float:
    """The smallest gain over an accuracy that two runs of the same size on different items find.

    Returns:
        The gain, a share; inf where even an accuracy of 1 would not be found to differ.

    Raises:
        UsageError: an accuracy outside [0, 1), a power that is not between 1 - level and 1, or a level
            outside (0, 1).

    Source: as `unpaired_power`.
    Departs: as `unpaired_power`.
    """
    _check_power(power, level)
    if not 0 <= accuracy < 1:
        raise UsageError(f"accuracy {accuracy}; expected a share from 0 to below 1, not a percentage")

    def power_of(gain: float) -> float:
        better = min(1.0, accuracy + gain)
        return unpaired_power(accuracy, better, designs=(design, design), level=level)

    return _smallest(power_of, 1 - accuracy, power)


def unpaired_needed(
    first: float,
    second: float,
    *,
    items_per_cluster: float = 1.0,
    icc: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
) -> Design:
    """The smallest size of each of two runs on different items that finds a difference of accuracy.

    Raises:
        UsageError: as for `unpaired_power`; equal accuracies, or a difference that no number of videos
            finds; fewer than one item on a video.

    Source: as `unpaired_power`.
    Departs: as `unpaired_power`.
    """
    _check_power(power, level)
    _check_size(second - first, items_per_cluster)
    return _smallest_design(
        lambda design: unpaired_power(first, second, designs=(design, design), level=level),
        power,
        items_per_cluster=items_per_cluster,
        icc=icc,
    )
