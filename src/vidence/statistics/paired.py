"""Comparing runs on the same items: the difference by item is known better than either score."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record, noun_of
from vidence.statistics.exact import binomial_tail
from vidence.statistics.intervals import SHARE, Bounds, ClusteredMean, plural
from vidence.statistics.repeats import over_repeats

# ``clear``: the difference can be told from 0 at the level; ``not clear``: it cannot; ``too few ...``:
# there is no interval, so nothing can be told whatever the scores are.
Verdict: TypeAlias = Literal["clear", "not clear", "too few videos", "too few sources", "too few people"]

# What two runs amount to where a difference within a margin is no difference; see `decided`.
Decided: TypeAlias = Literal["better", "worse", "equivalent", "not decided"]


class McNemar(Record):
    """How often two runs were right together and apart.

    `p_exact` and `p_mid` take items as independent. Where `is_clustered`, since items share videos, they are
    too small (up to 0.16 of false findings at 0.05), and only `Comparison.p_value` holds. `odds_ratio` is
    ``n_only_first / n_only_second`` (inf where the second is 0, NaN if both are). `cohens_g` is the share
    of the first among the items that only one of the two has right, less one half: from -0.5 to 0.5, NaN
    where there are none.
    """

    n_both: int
    n_only_first: int
    n_only_second: int
    n_neither: int
    p_exact: float
    p_mid: float
    odds_ratio: float
    cohens_g: float
    is_clustered: bool = False


class Comparison(Record):
    """The first run less the second, on the same items.

    `difference` and `p_value` are one rule, `ClusteredMean.difference`: the interval leaves out 0 exactly
    where the two-sided p-value is below 1 - level, and `verdict` says in a word what that amounts to.
    `p_value` is 1 where there is no interval. `n_first_higher`, `n_second_higher` and `n_same` count items.
    `standardised` is d_z, the mean difference by item over the standard deviation of these differences
    (NaN if they do not vary). `mcnemar` is there when every value is 0 or 1.
    """

    mean_first: float
    mean_second: float
    difference: Estimate
    p_value: float
    standardised: float
    n_first_higher: int
    n_second_higher: int
    n_same: int
    mcnemar: McNemar | None

    @property
    def verdict(self) -> Verdict:
        """Whether the difference differs clearly from 0; see `Verdict`."""
        return verdict(self.p_value, self.difference)


def verdict(p_value: float, difference: Estimate) -> Verdict:
    """What a test and its interval amount to; see `Verdict`.

    Args:
        p_value: of the difference being 0; adjusted where one of several is looked at.
        difference: the difference; its level is that of the test.
    """
    if difference.reason:
        if "people" in difference.reason:
            return "too few people"
        return "too few sources" if difference.clustered_by == "source" else "too few videos"
    return "clear" if p_value < 1 - difference.level else "not clear"


def check_margin(margin: float) -> None:
    """Reject a margin of equivalence that no difference of two shares can lie within, or all do.

    Raises:
        UsageError: it is not between 0 and 1, that is 100 points.
    """
    if not 0 < margin < 1:
        raise UsageError(f"a margin of {100 * margin:g} points; expected above 0 and below 100, such as 2")


def decided(value: float, *, is_clear: bool, is_within: bool) -> Decided:
    """What the first run is, compared with the second, where differences within a margin do not matter.

    ``better`` and ``worse``: the difference is clear, whether the margin holds it or not. ``equivalent``: it
    is not clear, and two one-sided tests find it within the margin. ``not decided``: neither. A difference
    can be clear and within the margin; then it is better by less than the margin, which `is_within` says.

    Args:
        value: the difference.
        is_clear: whether it differs clearly from 0.
        is_within: whether the interval of two one-sided tests lies within the margin.

    Source: Schuirmann (1987); Lakens (2017), "Equivalence tests: a practical primer" (both tests together).
    Departs: no.

    >>> decided(0.01, is_clear=True, is_within=True), decided(0.0, is_clear=False, is_within=True)
    ('better', 'equivalent')
    """
    if is_clear:
        return "better" if value > 0 else "worse"
    return "equivalent" if is_within else "not decided"


class Decision(Record, omit_defaults=True):
    """What a paired difference amounts to by `decided`, at a margin or at a look after some of its sources.

    `difference` has the interval that this rests on: that of two one-sided tests, or a confidence sequence,
    which allows for all looks before it and has seen all questions of its `n_clusters` sources. `n_items` and
    `n_sources` are those available. `n_decisive` is after how many sources it was decided, and `n_asked`
    after how many questions; both are 0 where it is not. `n_left` questions were not asked.
    """

    decided: Decided
    is_within: bool
    difference: Estimate
    margin: float | None = None
    n_items: int = 0
    n_sources: int = 0
    n_decisive: int = 0
    n_asked: int = 0
    n_left: int = 0

    @classmethod
    def at(cls, margin: float, comparison: Comparison, tests: Estimate) -> "Decision":
        """What a comparison amounts to at a margin.

        Args:
            margin: the difference that is as good as none.
            comparison: the comparison, at a level ``1 - alpha``.
            tests: its difference at the level ``1 - 2 alpha`` of two one-sided tests.
        """
        is_within = -margin < tests.low and tests.high < margin
        word = decided(tests.value, is_clear=comparison.verdict == "clear", is_within=is_within)
        return cls(decided=word, is_within=is_within, difference=tests, margin=margin)

    @property
    def word(self) -> str:
        """What it amounts to, and whether a clear difference lies within the margin."""
        by_less = self.is_within and self.decided != "equivalent"
        return f"{self.decided}{', but by less than the margin' if by_less else ''}"

    @property
    def ends(self) -> str:
        """The difference with its interval at all looks, in points."""
        estimate = self.difference
        value, low, high = (
            f"{100 * number:+.1f}" for number in (estimate.value, estimate.low, estimate.high)
        )
        return f"{value} points, {low} to {high}, {100 * estimate.level:g} % at all looks together"

    def __str__(self) -> str:
        estimate = self.difference
        n, n_sources = self.n_asked or estimate.n, self.n_decisive or estimate.n_clusters
        sources = f"{n_sources:,} of {self.n_sources:,} {plural(estimate.clustered_by)}"
        after = f"decided after {n:,} of {self.n_items:,} questions ({sources})"
        if not self.n_decisive:
            return f"not {after}"
        left = f"; {self.n_left:,} question{'s' * (self.n_left != 1)} not asked" if self.n_left else ""
        return f"{after}: {self.word}{left}"


def mcnemar(first: ArrayLike, second: ArrayLike) -> McNemar:
    """Count where two runs are right together and apart, and test whether the two kinds of apart balance.

    The exact test is the binomial one with share 1/2 on the items that exactly one run has right; the
    mid-p value counts the outcome that was seen with half its weight, since the exact test errs on the
    safe side. Without such items both are 1.

    Args:
        first: 1 for right and 0 for wrong, shape (n,).
        second: the same for the other run.

    Raises:
        UsageError: no items, different numbers of them, or a value other than 0 and 1.

    Source: McNemar (1947); Fagerland, Lydersen & Laake (2013), sections 2.2 and 2.3 (exact and mid-p);
        Cohen, Statistical Power Analysis (1988), section 5.2 (g).
    Departs: g keeps its sign.

    >>> found = mcnemar([1, 1, 1, 0, 1, 1], [1, 0, 0, 0, 0, 0])
    >>> found.n_only_first, found.n_only_second, found.p_exact
    (4, 0, 0.125)
    """
    ours, theirs = _pair(first, second)
    if not _is_binary(ours, theirs):
        raise UsageError("McNemar's test needs values of 0 and 1; average no repeats before it")
    n_first = int(((ours == 1) & (theirs == 0)).sum())
    n_second = int(((ours == 0) & (theirs == 1)).sum())
    n_apart = n_first + n_second
    p_exact = p_mid = 1.0
    if n_apart:
        p_exact = min(1.0, 2 * binomial_tail(n_apart, max(n_first, n_second), 0.5))
        chance_of_seen = math.comb(n_apart, n_first) / 2**n_apart
        p_mid = 1 - chance_of_seen / 2 if n_first == n_second else p_exact - chance_of_seen
    return McNemar(
        n_both=int(((ours == 1) & (theirs == 1)).sum()),
        n_only_first=n_first,
        n_only_second=n_second,
        n_neither=int(((ours == 0) & (theirs == 0)).sum()),
        p_exact=p_exact,
        p_mid=p_mid,
        odds_ratio=n_first / n_second if n_second else (math.inf if n_first else math.nan),
        cohens_g=n_first / n_apart - 0.5 if n_apart else math.nan,
    )


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    ours, theirs = over_repeats(first), over_repeats(second)
    if len(ours) != len(theirs):
        raise UsageError(f"{len(ours)} and {len(theirs)} items; expected the same items in the same order")
    return ours, theirs


def _is_binary(*values: NDArray[np.float64]) -> bool:
    return all(bool(np.isin(v, (0, 1)).all()) for v in values)


def compare(
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: Sequence[str],
    groups: Sequence[str] | None = None,
    bounds: Bounds = SHARE,
    level: float = 0.95,
) -> Comparison:
    """Compare two runs on the same items: the first less the second.

    Values of several repeats are averaged by item first. With `groups` the means, the difference, its
    interval and p-value are of macro means (every group alike); the counts of items, d_z and McNemar's test
    always speak of items.

    Args:
        first: one score for each item, shape (n,), or (n, r) with r repeats.
        second: the scores of the other run on the same items in the same order; its number of repeats may
            differ.
        clusters: the name of the cluster (video) of each item, n of them.
        groups: the name of the group of each item, for example its task, for a macro mean.
        bounds: the minimum and maximum score there can be; infinite for what has no limit.
        level: coverage of the interval; 1 minus the level of the test.

    Raises:
        UsageError: no items, different numbers of items, a value that is not finite, a difference that
            `bounds` do not allow, not one cluster or group for each, or a level outside (0, 1).

    Source: Miller, Adding Error Bars to Evals (2024), section 3.2 (paired differences); error and degrees of
        freedom as `sandwich.Layout`.
    Departs: the paper's interval is normal, and its error is not corrected for few and unequal clusters.

    >>> videos = ["a", "a", "b", "b", "c", "c"]
    >>> found = compare([1, 1, 1, 0, 1, 1], [1, 0, 0, 0, 0, 0], clusters=videos)
    >>> round(found.difference.value, 3), found.p_value, found.verdict
    (0.667, 0.125, 'not clear')
    """
    ours, theirs = _pair(first, second)
    differences = ours - theirs
    mean = ClusteredMean.of(differences, clusters=clusters, groups=groups)
    difference, p_value = mean.difference(bounds=_apart(bounds), level=level, name=_name(mean))
    are_apart = len(differences) > 1 and np.ptp(differences) > 0
    counted = mcnemar(ours, theirs) if _is_binary(ours, theirs) else None
    if counted is not None and difference.n_clusters < difference.n:
        counted = msgspec.structs.replace(counted, is_clustered=True)
    return Comparison(
        mean_first=ClusteredMean.of(ours, clusters=clusters, groups=groups).value,
        mean_second=ClusteredMean.of(theirs, clusters=clusters, groups=groups).value,
        difference=difference,
        p_value=p_value,
        standardised=float(differences.mean() / differences.std(ddof=1)) if are_apart else math.nan,
        n_first_higher=int((differences > 0).sum()),
        n_second_higher=int((differences < 0).sum()),
        n_same=int((differences == 0).sum()),
        mcnemar=counted,
    )


def _apart(bounds: Bounds) -> Bounds:
    """Between what the difference of two scores within these bounds must lie."""
    low, high = bounds
    return low - high, high - low


def _name(mean: ClusteredMean) -> str:
    n_groups = mean.layout.n_groups
    return "mean difference" if n_groups == 1 else f"difference of macro means of {n_groups} groups"


class Pair(Record):
    """One pair of a ranking: the second less the first, in the order in which the systems were given.

    So a difference keeps its sign in every table, whoever is ahead. `difference` is as that of `compare`, not
    adjusted for the number of pairs; `p_holm` is `p_value` adjusted for it. `is_clear` says whether the two
    can be distinguished.
    """

    first: str
    second: str
    difference: Estimate
    p_value: float
    p_holm: float
    is_clear: bool

    @property
    def better(self) -> str:
        """The one ahead; the first where both score the same."""
        return self.second if self.difference.value > 0 else self.first

    @property
    def worse(self) -> str:
        """The one behind; the second where both score the same."""
        return self.first if self.difference.value > 0 else self.second


class Ranking(Record):
    """Systems on the same items, best first, and which of them can be distinguished.

    `names` and `means` are in that order, `pairs` in the order in which the systems were given. `places`
    holds for each the best and the worst place that the clear pairs leave it, counted from 1. `groups` are
    the largest sets of systems of which no two can be distinguished; a system can be in several, since A and
    B, and B and C, may be alike where A and C are not.
    """

    names: tuple[str, ...]
    means: tuple[Estimate, ...]
    places: tuple[tuple[int, int], ...]
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[str, ...], ...]
    level: float
    method: str


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """P-values adjusted so that the chance of even one false finding among all stays below the level.

    Args:
        p_values: those of all comparisons that were looked at, also of the dull ones.

    Returns:
        One for each, in the same order, at most 1.

    Raises:
        UsageError: none, or one that is no probability.

    Source: Holm (1979).
    Departs: no.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    broken = [p for p in p_values if not 0 <= p <= 1]
    if not len(p_values) or broken:
        seen = f"p-value {broken[0]}" if broken else "no p-values"
        raise UsageError(f"{seen}; expected one from 0 to 1 for each comparison; leave out what has none")
    raw = np.asarray(p_values, np.float64)
    order = np.argsort(raw, kind="stable")
    # Of m values the smallest counts m times, the next m - 1 times; none falls below the one before it.
    stepped = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(stepped, 1.0)
    return tuple(adjusted.tolist())


def compact_letter_display(
    names: Sequence[str], clear: Sequence[tuple[str, str]]
) -> tuple[tuple[str, ...], ...]:
    """The largest sets of names that hold no clear pair, each in the order of `names`.

    Raises:
        UsageError: a pair with a name that is not among `names`, or of a name with itself.

    Source: Piepho (2004), "An algorithm for a letter-based representation of all-pairwise comparisons"
        (insert and absorb).
    Departs: sets in place of letters.

    >>> compact_letter_display(["a", "b", "c"], [("a", "c")])
    (('a', 'b'), ('b', 'c'))
    """
    place = {name: i for i, name in enumerate(names)}
    sets = [frozenset(place)]
    for word, other in clear:
        if word == other or word not in place or other not in place:
            raise UsageError(f"the pair {word!r}, {other!r} does not name two of {', '.join(names)}")
        split = [s - {x} for s in sets if {word, other} <= s for x in (word, other)]
        kept = [s for s in sets if not {word, other} <= s]
        sets = kept + [s for s in dict.fromkeys(split) if not any(s <= t for t in kept)]
    ordered = [tuple(sorted(s, key=place.__getitem__)) for s in sets]
    return tuple(sorted(ordered, key=lambda s: [place[name] for name in s]))


def _matrix(systems: Mapping[str, ArrayLike]) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Names and item values, shape (n, k)."""
    if len(systems) < 2:
        raise UsageError(f"{len(systems)} systems to rank; expected two or more")
    columns = {name: over_repeats(values) for name, values in systems.items()}
    sizes = {len(column) for column in columns.values()}
    if len(sizes) > 1:
        listed = ", ".join(f"{name}: {len(column)}" for name, column in columns.items())
        raise UsageError(f"different numbers of items ({listed}); expected the same items in the same order")
    return tuple(columns), np.column_stack(list(columns.values()))


def _places(names: Sequence[str], clear: Sequence[tuple[str, str]]) -> tuple[tuple[int, int], ...]:
    n_better = {name: sum(worse == name for _, worse in clear) for name in names}
    n_worse = {name: sum(better == name for better, _ in clear) for name in names}
    return tuple((1 + n_better[name], len(names) - n_worse[name]) for name in names)


def rank(
    systems: Mapping[str, ArrayLike],
    *,
    clusters: Sequence[str],
    groups: Sequence[str] | None = None,
    bounds: Bounds = SHARE,
    level: float = 0.95,
) -> Ranking:
    """Rank systems on the same items, and say which of them can be distinguished.

    All pairs are tested as by `compare`, and the p-values adjusted by Holm's method. Two systems can be told
    apart if the adjusted p-value is below 1 - level.

    Args:
        systems: for each name the scores of the same items in the same order, (n,) or (n, r) as for
            `compare`.
        clusters: the name of the cluster (video) of each item, n of them.
        groups: the name of the group of each item, for macro means.
        bounds: the minimum and maximum score there can be; infinite for what has no limit.
        level: coverage of the intervals; 1 minus the level of the tests.

    Raises:
        UsageError: as for `compare`; fewer than two systems.

    Source: Holm (1979); groups after Piepho (2004), see `compact_letter_display`.
    Departs: no.

    >>> videos = ["a", "a", "b", "b", "c", "c"]
    >>> systems = {"ours": [1, 1, 1, 0, 1, 1], "theirs": [1, 0, 0, 0, 0, 0]}
    >>> found = rank(systems, clusters=videos)
    >>> found.names, found.groups
    (('ours', 'theirs'), (('ours', 'theirs'),))
    """
    unordered, values = _matrix(systems)
    unranked = [ClusteredMean.of(column, clusters=clusters, groups=groups) for column in values.T]
    order = sorted(range(len(unranked)), key=lambda i: (-unranked[i].value, unordered[i]))
    names = tuple(unordered[i] for i in order)
    means = tuple(unranked[i].interval(bounds=bounds, level=level) for i in order)
    entries = []
    for i, j in itertools.combinations(range(len(names)), 2):
        gap = ClusteredMean.of(values[:, j] - values[:, i], clusters=clusters, groups=groups)
        entries.append(
            (unordered[i], unordered[j], *gap.difference(bounds=_apart(bounds), level=level, name=_name(gap)))
        )
    pairs = tuple(
        Pair(
            first=first,
            second=second,
            difference=difference,
            p_value=p_value,
            p_holm=p_holm,
            is_clear=verdict(p_holm, difference) == "clear",
        )
        for (first, second, difference, p_value), p_holm in zip(
            entries, holm([p_value for *_, p_value in entries]), strict=True
        )
    )
    clear = [(pair.better, pair.worse) for pair in pairs if pair.is_clear]
    return Ranking(
        names=names,
        means=means,
        places=_places(names, clear),
        pairs=pairs,
        groups=compact_letter_display(names, clear),
        level=level,
        method=f"paired differences clustered by {noun_of(clusters)}; Holm over {len(pairs)} pairs",
    )
