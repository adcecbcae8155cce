"""What a score is worth: what guessing and simple rules get, and how far a score lies above them."""

import re
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics.intervals import ClusteredMean, mean_interval
from vidence.statistics.resampling import as_values
from vidence.text import letter_index

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


def guess_rate(n_choices: Sequence[int]) -> float:
    """The accuracy to expect of blind guessing: the mean of 1 / n_choices over the items.

    Raises:
        UsageError: no items, or an item without choices.

    >>> guess_rate([4, 4, 2])
    0.3333333333333333
    """
    if not len(n_choices) or min(n_choices) < 1:
        raise UsageError("the guess rate needs items with at least one choice each; leave open questions out")
    return float(np.mean(1 / np.asarray(n_choices, np.float64)))


def constant_letter(answers: Sequence[str], *, n_choices: Sequence[int] | None = None) -> dict[str, float]:
    """The accuracy of always answering A, of always answering B, and so on.

    Args:
        answers: the right letter of each item.
        n_choices: how many choices each item has; without it the letters end at the last right one.
            An item that does not have the letter counts as wrong.

    Returns:
        An accuracy for each letter, ``A`` first.

    Raises:
        UsageError: no items, an answer that is no letter of its item, or not one count for each answer.

    >>> constant_letter(["A", "C", "C", "C"])
    {'A': 0.25, 'B': 0.0, 'C': 0.75}
    """
    if not len(answers):
        raise UsageError("no answers; expected the right letter of at least one item")
    right = [letter_index(answer) for answer in answers]
    counts = [i + 1 for i in right] if n_choices is None else list(n_choices)
    if len(counts) != len(right):
        raise UsageError(f"{len(counts)} counts of choices for {len(right)} answers; expected one for each")
    for answer, i, count in zip(answers, right, counts, strict=True):
        if i >= count:
            raise UsageError(f"the answer {answer!r} is not among {count} choices")
    shares = np.bincount(right, minlength=max(counts)) / len(right)
    return {chr(ord("A") + i): float(share) for i, share in enumerate(shares)}


def longest_choice(choices: Sequence[str]) -> int:
    """The position of the choice with the most characters; of equals the first.

    Blanks at the ends do not count.

    Raises:
        UsageError: no choices.

    >>> longest_choice(["red", "light blue", "green"])
    1
    """
    lengths = _lengths(choices)
    return lengths.index(max(lengths))


def shortest_choice(choices: Sequence[str]) -> int:
    """The position of the choice with the fewest characters; of equals the first.

    Blanks at the ends do not count.

    Raises:
        UsageError: no choices.

    >>> shortest_choice(["green", "red", "light blue"])
    1
    """
    lengths = _lengths(choices)
    return lengths.index(min(lengths))


def _lengths(choices: Sequence[str]) -> list[int]:
    if not choices:
        raise UsageError("no choices; expected at least one")
    return [len(choice.strip()) for choice in choices]


def numeric_median(choices: Sequence[str]) -> int | None:
    """The position of the choice with the median number; None unless every choice has exactly one number.

    Numbers are written in digits: ``12``, ``-3``, ``1,000``, ``2.5``, with or without words around them.
    "2-3", "10:30" and "1/2" hold two numbers, "B12" none. Of an even count the lower of the two middle
    ones; of equal numbers the first choice that has it.

    Raises:
        UsageError: no choices.

    >>> numeric_median(["3 times", "1 time", "2 times"])
    2
    >>> numeric_median(["3", "four", "5"]) is None
    True
    """
    if not choices:
        raise UsageError("no choices; expected at least one")
    found = [NUMBER.findall(choice) for choice in choices]
    if any(len(numbers) != 1 for numbers in found):
        return None
    values = [float(numbers[0].replace(",", "").replace("\u2212", "-")) for numbers in found]
    return values.index(sorted(values)[(len(values) - 1) // 2])


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
    (0.5, -0.21)
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
