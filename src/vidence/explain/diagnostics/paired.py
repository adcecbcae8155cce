"""What diagnostics say of several conditions on the same questions: means, differences, ratios, guessing."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.contracts import Examined
from vidence.explain.diagnostics.sitting import Mark, mean_value
from vidence.records import Estimate, Failed, Item, Record
from vidence.statistics import paired
from vidence.statistics.intervals import FEW_CLUSTERS, mean_interval
from vidence.statistics.ratios import ratio_of_means
from vidence.statistics.resampling import Resampling
from vidence.tables.findings import Heading

Values = NDArray[np.float64]

P_HOLM = Heading(
    key="p_holm",
    title="p (Holm)",
    note="cluster sign-flip test of the difference, adjusted for all lines of this table that have one",
    is_p=True,
)
QUESTIONS = Heading(key="questions", title="questions")


@dataclass(frozen=True, kw_only=True)
class Figures:
    """How every figure gets its interval: by video, with Student's t where there are few videos."""

    rng: np.random.Generator
    level: float

    def mean(self, values: Values, items: Sequence[Item]) -> Estimate:
        """The mean over questions, one or more; that of marks or shares has an interval within 0 and 1."""
        found = self.gain(values, items)
        return _within(found) if values.min() >= 0 and values.max() <= 1 else found

    def gain(self, values: Values, items: Sequence[Item]) -> Estimate:
        """The mean of what is no share, such as a difference, over questions, one or more."""
        videos = [item.video_id for item in items]
        return mean_interval(values, clusters=videos, rng=self.rng, rule="student-if-few", level=self.level)

    def mean_where(self, values: Values, is_in: NDArray[np.bool_], items: Sequence[Item]) -> Estimate | None:
        """`mean` over some of the questions; None where these are none."""
        chosen: list[int] = np.flatnonzero(is_in).tolist()
        return self.mean(values[chosen], [items[i] for i in chosen]) if chosen else None

    def gain_where(self, values: Values, is_in: NDArray[np.bool_], items: Sequence[Item]) -> Estimate | None:
        """`gain` over some of the questions; None where these are none."""
        chosen: list[int] = np.flatnonzero(is_in).tolist()
        return self.gain(values[chosen], [items[i] for i in chosen]) if chosen else None

    def difference(self, first: Values, second: Values, items: Sequence[Item]) -> tuple[Estimate, float]:
        """The first less the second on the same questions, and the p-value of the sign-flip test."""
        videos = [item.video_id for item in items]
        found = paired.compare(
            first, second, clusters=videos, rng=self.rng, settings=Resampling(level=self.level)
        )
        is_few = found.difference.n_clusters < FEW_CLUSTERS
        return found.analytic if is_few else found.difference, found.p_value

    def ratio(self, first: Values, second: Values, items: Sequence[Item]) -> Estimate:
        """The mean of the first over the mean of the second on the same questions."""
        videos = [item.video_id for item in items]
        found = ratio_of_means(
            first, second, clusters=videos, rng=self.rng, settings=Resampling(level=self.level)
        )
        return found.fieller if found.fieller.n_clusters < FEW_CLUSTERS else found.bootstrap


def _within(share: Estimate) -> Estimate:
    """The same with its interval cut at 0 and 1: Student's t does not know that there is nothing beyond."""
    if math.isnan(share.low):
        return share
    return msgspec.structs.replace(share, low=max(share.low, 0.0), high=min(share.high, 1.0))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """The p-values of one table, adjusted for their number; an empty table stays empty."""
    if not p_values:
        return {}
    return dict(zip(p_values, paired.holm(list(p_values.values())), strict=True))


# --------------------------------------------------------------------------- conditions side by side


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """The questions that have a mark under every condition, and their values.

    `values` has one array of shape (n_items,) for each condition, the mean over repeats; `marks` has the
    marks of each question, repeats included. `left_out` says who is not there.
    """

    items: tuple[Item, ...]
    findings: tuple[Record, ...]
    values: Mapping[str, Values]
    marks: Mapping[str, tuple[tuple[Mark, ...], ...]]
    left_out: str

    def of(self, positions: Sequence[int]) -> "Conditions":
        """Some of the questions."""
        chosen = np.asarray(positions, np.int64)
        return Conditions(
            items=tuple(self.items[i] for i in positions),
            findings=tuple(self.findings[i] for i in positions),
            values={name: values[chosen] for name, values in self.values.items()},
            marks={name: tuple(marks[i] for i in positions) for name, marks in self.marks.items()},
            left_out=self.left_out,
        )


def side_by_side(
    examined: Sequence[Examined],
    marks_of: Callable[[Record], Mapping[str, tuple[Mark, ...]]],
    *,
    conditions: Sequence[str],
) -> Conditions:
    """The questions with a mark under each of these conditions.

    Args:
        examined: what came of each question.
        marks_of: the marks in a finding, by condition; nothing where it was not asked.
        conditions: the conditions that are compared.
    """
    items: list[Item] = []
    findings: list[Record] = []
    rows: list[Mapping[str, tuple[Mark, ...]]] = []
    values: list[list[float]] = []
    n_failed = n_not_asked = n_unmarked = 0
    for one in examined:
        if isinstance(one.finding, Failed):
            n_failed += 1
            continue
        marks = marks_of(one.finding)
        if not all(name in marks for name in conditions):
            n_not_asked += 1
            continue
        means = [mean_value(marks[name]) for name in conditions]
        known = [mean for mean in means if mean is not None]
        if len(known) < len(means):
            n_unmarked += 1
            continue
        items.append(one.item)
        findings.append(one.finding)
        rows.append(marks)
        values.append(known)
    table = np.asarray(values, np.float64).reshape(len(values), len(conditions))
    reasons = {
        "failed": n_failed,
        "were not asked": n_not_asked,
        "have an answer without a mark (it waits for a judge, or the judge or the parser broke)": n_unmarked,
    }
    said = [f"{n:,} {reason}" for reason, n in reasons.items() if n]
    return Conditions(
        items=tuple(items),
        findings=tuple(findings),
        values={name: table[:, i] for i, name in enumerate(conditions)},
        marks={name: tuple(row[name] for row in rows) for name in conditions},
        left_out=f"Left out of every number: {', '.join(said)}." if said else "",
    )


def count_kinds(marks: Sequence[Sequence[Mark]]) -> tuple[int, int, int]:
    """How many replies were unreadable, refused, and cut off at their length limit."""
    flat = [mark for row in marks for mark in row]
    return (
        sum(mark.kind == "unreadable" for mark in flat),
        sum(mark.kind == "refused" for mark in flat),
        sum(mark.is_cut for mark in flat),
    )


KINDS = (
    Heading(key="unreadable", title="unreadable", note="replies without an answer; they count as wrong"),
    Heading(key="refused", title="refused", note="replies that decline; they count as wrong"),
    Heading(key="cut", title="cut off", note="replies that ended at the limit of tokens"),
)


def note(*sentences: str) -> str:
    """Sentences as one note; empty ones fall away."""
    return " ".join(filter(None, sentences))


# --------------------------------------------------------------------------- guessing


def guess(item: Item) -> float:
    """The chance to name the right choice blindly; 0 for an open question."""
    if item.answer_kind == "choice" and item.choices:
        return 1 / len(item.choices)
    return 0.0


def chance_of(n_least: int, n_tries: int, chance: float) -> float:
    """The chance of at least so many hits in independent tries.

    >>> round(chance_of(3, 4, 0.25), 4)
    0.0508
    """
    return sum(
        math.comb(n_tries, k) * chance**k * (1 - chance) ** (n_tries - k) for k in range(n_least, n_tries + 1)
    )


def guesses(items: Sequence[Item], chance: Callable[[float], float]) -> Values:
    """What guessing alone gets on each question, shape (n_items,)."""
    return np.array([chance(guess(item)) for item in items], np.float64)


def beyond_guessing(
    values: Values, chances: Values, items: Sequence[Item], *, figures: Figures
) -> Estimate | None:
    """The share that is known, if whoever does not know guesses: ``(share - chance) / (1 - chance)``.

    None where guessing alone gets everything.
    """
    left = float((1 - chances).mean())
    found = figures.gain(values - chances, items)
    return scaled(found, 1 / left, name="share known beyond guessing") if left > 0 else None


def scaled(estimate: Estimate, factor: float, *, name: str) -> Estimate:
    """An estimate of a mean times a number above 0, under another name."""
    _, *rest = estimate.method.split(";")
    return msgspec.structs.replace(
        estimate,
        value=factor * estimate.value,
        low=factor * estimate.low,
        high=factor * estimate.high,
        method=";".join([name, *rest]),
    )
