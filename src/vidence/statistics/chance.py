"""What a score is worth: what guessing and simple rules get, and how far a score lies above them."""

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics.intervals import ClusteredMean, mean_interval
from vidence.statistics.resampling import as_values

# A sign counts only where no word or number ends before it ("5-6" and "take-2" have no minus), and a
# number only where no letter stands before it ("GA783FY" has none).
NUMBER = re.compile(
    r"""(?: (?<![\w.)]) [-+\u2212] )?
        (?<!\w) (?: \d{1,3} (?:,\d{3})+ (?!\d) (?:\.\d+)?   # 1,000 and 1,000.5
                 | \d+ (?:\.\d+)?                          # 12 and 1.5
                 | \.\d+ )                                 # .5
    """,
    re.VERBOSE,
)
# What stands between the ends of a range, the unit of the first end included.
_TO = re.compile(r"\s*[^\W\d]*\s*(?:[-\u2013\u2014~]|\bto\b|\buntil\b)\s*")
_BETWEEN = re.compile(r"\bbetween\s*\Z", re.IGNORECASE)
_AND = re.compile(r"\s*[^\W\d]*\s*\band\s+")


def longest_choice(choices: Sequence[str]) -> int | None:
    """The position of the choice with the most characters; None if several have as many.

    Blanks at the ends do not count.

    Raises:
        UsageError: no choices.

    >>> longest_choice(["red", "light blue", "green"])
    1
    >>> longest_choice(["red", "one"]) is None
    True
    """
    return _ranked(_lengths(choices), -1)


def shortest_choice(choices: Sequence[str]) -> int | None:
    """The position of the choice with the fewest characters; None if several have as few.

    Blanks at the ends do not count.

    Raises:
        UsageError: no choices.

    >>> shortest_choice(["green", "red", "light blue"])
    1
    """
    return _ranked(_lengths(choices), 0)


def _lengths(choices: Sequence[str]) -> list[float]:
    if not choices:
        raise UsageError("no choices; expected at least one")
    return [len(choice.strip()) for choice in choices]


def _ranked(sizes: Sequence[float], rank: int) -> int | None:
    """Where the size of that rank stands; None if there is no such rank, or several have this size.

    A rule that took the first of equals would say something about letters, not about sizes.
    """
    if not -len(sizes) <= rank < len(sizes):
        return None
    wanted = sorted(sizes)[rank]
    return sizes.index(wanted) if sizes.count(wanted) == 1 else None


def choice_sizes(choices: Sequence[str]) -> tuple[float, ...] | None:
    """The number of each choice, of a range its middle; None unless every choice is one of both.

    Numbers are written in digits: ``12``, ``-3``, ``1,000``, ``2.5``, and ranges as ``3-5``, ``10 to 12`` or
    ``between 3 and 5``, with or without words around them. "10:30" and "1/2" are neither, "B12" holds none.
    Where one reads ``3-2``, such pairs are scores and no ranges.

    Raises:
        UsageError: no choices.

    >>> choice_sizes(["3 to 5 people", "about 7", "10-12"])
    (4.0, 7.0, 11.0)
    """
    if not choices:
        raise UsageError("no choices; expected at least one")
    sizes: list[float] = []
    for choice in choices:
        if (size := _size(choice)) is None:
            return None
        sizes.append(size)
    return tuple(sizes)


def _size(choice: str) -> float | None:
    matches = list(NUMBER.finditer(choice))
    values = [float(match[0].replace(",", "").replace("\u2212", "-")) for match in matches]
    if len(values) == 1:
        return values[0]
    if len(values) != 2 or values[0] >= values[1]:
        return None
    before, between = choice[: matches[0].start()], choice[matches[0].end() : matches[1].start()]
    is_range = _TO.fullmatch(between) or (_BETWEEN.search(before) and _AND.fullmatch(between))
    return sum(values) / 2 if is_range else None


def numeric_median(choices: Sequence[str]) -> int | None:
    """The position of the choice with the median number or range; None if choices are not numbers.

    There is none unless every choice has a size (`choice_sizes`), and where several have the middle one. Of
    an even count it is the lower of the two middle ones.

    Raises:
        UsageError: no choices.

    >>> numeric_median(["3 times", "1 time", "2 times"])
    2
    >>> numeric_median(["3", "four", "5"]) is None
    True
    """
    sizes = choice_sizes(choices)
    return None if sizes is None else _ranked(sizes, (len(sizes) - 1) // 2)


def size_rank(rank: int) -> Callable[[Sequence[str]], int | None]:
    """A rule: the position of the choice whose number or range has that rank by size.

    The rule finds none where not every choice has a size (`choice_sizes`), or several have that one.

    Args:
        rank: 0 for the smallest, 1 for the second, -1 for the largest.

    >>> size_rank(1)(["3-5", "0-2", "6-9"])
    0
    """

    def pick(choices: Sequence[str]) -> int | None:
        sizes = choice_sizes(choices)
        return None if sizes is None else _ranked(sizes, rank)

    return pick


# The rules that look at the sizes of numbers alone, beside the median: what each takes, and how it is found.
SIZE_RULES: Mapping[str, tuple[str, Callable[[Sequence[str]], int | None]]] = {
    "smallest": ("smallest number or range", size_rank(0)),
    "second-smallest": ("second smallest number or range", size_rank(1)),
    "second-largest": ("second largest number or range", size_rank(-2)),
    "largest": ("largest number or range", size_rank(-1)),
}


def margin(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    clusters: Sequence[str],
    groups: Sequence[str] | None = None,
    level: float = 0.95,
) -> Estimate:
    """How far a score lies above a baseline on the same items, with its interval.

    The score beats the baseline at this level when the interval lies above 0. A binomial test against
    chance would take questions about one video for independent ones and see more than there is.

    For a rule, which is right or wrong on each item, the interval is that of the paired differences. A
    chance such as 1/4 has no luck of its own: the interval is that of the score, moved by the mean chance.
    The differences would say too much there; where all is right they vary only with the number of choices.

    Args:
        values: one score from 0 to 1 for each item, shape (n,).
        baseline: what the baseline gets on each: 1 / n_choices for guessing, 1.0 or 0.0 for a rule.
            A letter that was picked because it is best on these items is a hard baseline.
        clusters: the name of the cluster of each item, n of them.
        groups: where given, both are means over these groups, each alike.
        level: coverage of the interval.

    Raises:
        UsageError: as for `mean_interval`, or not one baseline for each value.

    Source: Miller, Adding Error Bars to Evals (2024), section 3.2 (paired differences); the intervals as
        for `intervals.mean_interval`.
    Departs: as there.

    >>> found = margin([1, 1, 0, 1], [0.25] * 4, clusters=["a", "b", "c", "d"])
    >>> found.value, round(found.low, 2)
    (0.5, -0.06)
    """
    ours, theirs = as_values(values), as_values(baseline)
    if len(ours) != len(theirs):
        raise UsageError(f"{len(theirs)} baseline values for {len(ours)} values; expected one for each")
    if np.isin(theirs, (0, 1)).all():
        paired = ClusteredMean.of(ours - theirs, clusters=clusters, groups=groups)
        return paired.difference(level=level)[0]
    score = mean_interval(ours, clusters=clusters, groups=groups, level=level)
    chance = ClusteredMean.of(theirs, clusters=clusters, groups=groups).value
    return msgspec.structs.replace(
        score,
        value=score.value - chance,
        low=score.low - chance,
        high=score.high - chance,
        method=f"{score.method}; less the mean chance",
    )
