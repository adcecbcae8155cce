"""Tables of diagnostics: values with intervals, shared columns, comparisons of conditions."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.contracts import Examined
from vidence.explain.diagnostics.conditions import ReplyScore, mean_value
from vidence.records import Clusters, Estimate, Item, Record
from vidence.statistics import paired
from vidence.statistics.intervals import SHARE, UNBOUNDED, Bounds, mean_interval
from vidence.statistics.ratios import ratio_of_means
from vidence.statistics.resampling import Resampling
from vidence.tables.table import (
    Measure,
    RowSpec,
    Table,
    Value,
    by_name,
    lines,
    number,
    p_value,
    share,
    tabulate,
)

LEAST_VALUES, MOST_VALUES = 2, 40  # of a tag that parts the questions
POOL: Final = "pool"
NO_ADJUSTMENT = "No adjustment for the number of lines."
_ROUNDING = 1e-9

Values: TypeAlias = NDArray[np.float64]
FindingT = TypeVar("FindingT", bound=Record)
RowT = TypeVar("RowT")


class _OfItem(Protocol):
    @property
    def item(self) -> Item: ...


OfItemT = TypeVar("OfItemT", bound=_OfItem)


# --------------------------------------------------------------------------- figures


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A paired difference of means, with its p-value adjusted within its table."""

    estimate: Estimate
    p_holm: float


def adjusted(values: Mapping[str, tuple[Estimate, float]]) -> dict[str, Difference]:
    """Return differences with p-values adjusted for their number."""
    p_values = paired.holm([p for _, p in values.values()]) if values else ()
    return {
        name: Difference(estimate=estimate, p_holm=p)
        for (name, (estimate, _)), p in zip(values.items(), p_values, strict=True)
    }


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Computes intervals for all values, clustered by video like other means."""

    rng: np.random.Generator
    level: float

    def mean(self, values: Values, items: Sequence[Item], *, bounds: Bounds = SHARE) -> Estimate:
        """Return the mean over one or more questions; values within `bounds` bound the interval, too."""
        within = bounds if _is_within(bounds, values) else UNBOUNDED
        return mean_interval(values, clusters=Clusters.of(items), bounds=within, level=self.level)

    def over(
        self, some: Sequence[OfItemT], of: Callable[[OfItemT], float], *, bounds: Bounds = SHARE
    ) -> Estimate | None:
        """Return the mean of a value, or share of a property; None without questions."""
        if not some:
            return None
        return self.mean(
            np.array([float(of(entry)) for entry in some]), [entry.item for entry in some], bounds=bounds
        )

    def difference(
        self, first: Values, second: Values, items: Sequence[Item], *, bounds: Bounds = SHARE
    ) -> tuple[Estimate, float]:
        """Return the first minus the second on the same questions, and the p-value.

        `bounds` are those of the values; if values exceed them, the interval is unbounded.
        """
        within = bounds if _is_within(bounds, first, second) else UNBOUNDED
        comparison = paired.compare(
            first, second, clusters=Clusters.of(items), bounds=within, level=self.level
        )
        return comparison.difference, comparison.p_value

    def differences(
        self, pairs: Mapping[str, tuple[Values, Values]], items: Sequence[Item]
    ) -> dict[str, Difference]:
        """Return first minus second for each pair, adjusted for their number; empty without questions."""
        return adjusted(
            {name: self.difference(*pair, items) for name, pair in pairs.items()} if items else {}
        )

    def ratio(self, first: Values, second: Values, items: Sequence[Item]) -> Estimate:
        """Return the mean of the first divided by that of the second, on the same questions."""
        clusters, settings = Clusters.of(items), Resampling(level=self.level)
        return ratio_of_means(first, second, clusters=clusters, rng=self.rng, settings=settings).fieller


def _is_within(bounds: Bounds, *values: Values) -> bool:
    return all(bounds[0] - _ROUNDING <= v.min() and v.max() <= bounds[1] + _ROUNDING for v in values)


# --------------------------------------------------------------------------- guessing


def guess(item: Item) -> float:
    """Return the probability of guessing the right choice; 0 for an open question."""
    return 1 / len(item.choices) if item.answer_kind == "choice" and item.choices else 0.0


def guesses(items: Sequence[Item], chance: Callable[[float], float] = float) -> Values:
    """Return what guessing gives on each question, from the chance of one guess; shape (n_items,)."""
    return np.array([chance(guess(item)) for item in items], np.float64)


def chance_of(n_least: int, n_tries: int, chance: float) -> float:
    """Return the probability of at least this many hits in independent tries.

    >>> round(chance_of(3, 4, 0.25), 4)
    0.0508
    """
    return sum(
        math.comb(n_tries, k) * chance**k * (1 - chance) ** (n_tries - k) for k in range(n_least, n_tries + 1)
    )


# --------------------------------------------------------------------------- columns and rows


def difference(
    key: str, values: Mapping[str, Difference], title: str, *, note: str = "paired"
) -> Measure[str]:
    """Return a column of paired differences for rows by name; empty if a row has none."""
    return share(key, lambda name: values[name].estimate if name in values else None, title, note=note)


def holm(values: Mapping[str, Difference]) -> Measure[str]:
    """Return a column with the p-values of these differences."""
    how = "test of the difference, by source; adjusted for all lines of this table that have one"
    return p_value(
        "p_holm", lambda name: values[name].p_holm if name in values else None, "p (Holm)", note=how
    )


def counted(
    items: Sequence[Item], figures: Figures
) -> tuple[Measure[Sequence[bool]], Measure[Sequence[bool]]]:
    """Return two columns for rows with a property per question: its share, and the number of questions."""
    return (
        share("share", lambda is_so: figures.mean(np.array(is_so, np.float64), items)),
        number("n", sum, "questions"),
    )


@dataclass(frozen=True, kw_only=True)
class Flagged:
    """Which questions have a property, the share by guessing, and the share beyond guessing."""

    is_so: Values
    chances: Values
    beyond: Estimate | None = None


def flagged(mean: Callable[[Values], Estimate], *, note: str) -> tuple[Measure[Flagged], ...]:
    """Return columns for rows that flag questions: number, share, and share by guessing."""
    return (
        number("questions", lambda row: int(row.is_so.sum())),
        share("share", lambda row: mean(row.is_so)),
        share("chance", lambda row: float(row.chances.mean()), "by guessing", note=note),
    )


def kinds(scores: Mapping[str, Sequence[Sequence[ReplyScore]]]) -> tuple[Measure[str], ...]:
    """Return columns that count unreadable, refused and truncated replies."""

    def n_of(is_so: Callable[[ReplyScore], bool]) -> Callable[[str], Value]:
        return lambda name: sum(map(is_so, chain.from_iterable(scores[name])))

    unread = n_of(lambda score: score.kind == "unreadable")
    declined = n_of(lambda score: score.kind == "refused")
    cut = n_of(lambda score: score.is_cut)
    return (
        number("unreadable", unread, note="replies without an answer; they count as wrong"),
        number("refused", declined, note="replies that decline; they count as wrong"),
        number("cut", cut, "cut off", note="replies that ended at the limit of tokens"),
    )


def tag_tables(
    prefix: str,
    title: str,
    items: Sequence[Item],
    *,
    about: Callable[[tuple[int, ...]], RowT],
    measures: Sequence[Measure[RowT]],
    notes: Sequence[str] = (NO_ADJUSTMENT,),
) -> list[Table]:
    """Return a table per usable tag, with a row per value.

    Args:
        prefix: of table names, followed by the tag.
        title: of the tables, followed by ``, by TAG``.
        items: the questions.
        about: returns what a row describes, from its questions' positions.
        measures: the columns.
        notes: for readers.
    """
    return [
        tabulate(
            prefix + tag,
            f"{title}, by {tag}",
            label=tag,
            rows=lines((value, about(positions)) for value, positions in values.items()),
            measures=measures,
            notes=notes,
        )
        for tag, values in by_tag(items).items()
    ]


def by_tag(items: Sequence[Item]) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return, for each tag with 2 to 40 values, the positions of the items with each value."""
    entries: dict[str, dict[str, list[int]]] = {}
    for position, item in enumerate(items):
        for tag, value in item.tags.items():
            entries.setdefault(tag, {}).setdefault(value, []).append(position)
    return {
        tag: {value: tuple(values[value]) for value in sorted(values, key=_in_order)}
        for tag, values in entries.items()
        if LEAST_VALUES <= len(values) <= MOST_VALUES
    }


def _in_order(value: str) -> tuple[bool, float, str]:
    """Sort key: numbers first, by size; then words."""
    is_number = value.isascii() and value.isdecimal()
    return not is_number, float(value) if is_number else 0.0, value


# --------------------------------------------------------------------------- conditions side by side


@dataclass(frozen=True, kw_only=True)
class SideBySide(Generic[FindingT]):
    """The questions that have a score under every condition, with all their figures.

    `values` has one array of shape (n_items,) for each condition, the mean over repeats; `marks` has the
    scores of each question, repeats included. `left_out` says which questions are not there.
    """

    items: tuple[Item, ...]
    findings: tuple[FindingT, ...]
    values: Mapping[str, Values]
    marks: Mapping[str, tuple[tuple[ReplyScore, ...], ...]]
    left_out: str
    figures: Figures

    def of(self, positions: Sequence[int] | NDArray[np.int64]) -> "SideBySide[FindingT]":
        """Return a subset of the questions."""
        chosen = np.asarray(positions, np.int64)
        at: list[int] = chosen.tolist()
        return replace(
            self,
            items=tuple(self.items[i] for i in at),
            findings=tuple(self.findings[i] for i in at),
            values={name: values[chosen] for name, values in self.values.items()},
            marks={name: tuple(marks[i] for i in at) for name, marks in self.marks.items()},
        )

    def mean(self, values: Values) -> Estimate:
        """See `Figures.mean`."""
        return self.figures.mean(values, self.items)

    def gain(self, values: Values) -> Estimate:
        """Return the mean of an unbounded value, such as a difference."""
        return self.figures.mean(values, self.items, bounds=UNBOUNDED)

    def ratio(self, first: Values, second: Values) -> Estimate:
        """See `Figures.ratio`."""
        return self.figures.ratio(first, second, self.items)

    def accuracy(self, condition: str) -> Estimate:
        """Return the mean under a condition."""
        return self.mean(self.values[condition])

    def difference(self, first: str, second: str) -> Estimate:
        """Return the first condition minus the second, paired."""
        return self.figures.difference(self.values[first], self.values[second], self.items)[0]

    def differences(self, pairs: Mapping[str, tuple[str, str]]) -> dict[str, Difference]:
        """Return first minus second condition by name; see `Figures.differences`."""
        values = {name: (self.values[first], self.values[second]) for name, (first, second) in pairs.items()}
        return self.figures.differences(values, self.items)

    def questions(self) -> Measure[object]:
        """Return a column with the number of questions."""
        return number("questions", lambda _: len(self.items))

    def rows(self, names: Iterable[str], labels: Mapping[str, str] | None = None) -> Iterator[RowSpec[str]]:
        """Yield a row per name; none without questions."""
        return by_name(names if self.items else (), labels)

    def guessing_note(self, more: str = "") -> str:
        """Return a sentence on what guessing alone gives; empty without questions."""
        chance = 100 * float(guesses(self.items).mean()) if self.items else 0.0
        return f"Guessing alone gets {chance:.1f} %{more}." if self.items else ""

    def beyond_guessing(self, values: Values, chances: Values) -> Estimate | None:
        """Return the share known, corrected for guessing: ``(share - chance) / (1 - chance)``.

        None if guessing alone gives everything.
        """
        left = float((1 - chances).mean())
        if left <= 0:
            return None
        estimate = self.gain(values - chances)
        method = ";".join(["share known beyond guessing", *estimate.method.split(";")[1:]])
        value, low, high = estimate.value / left, estimate.low / left, estimate.high / left
        return msgspec.structs.replace(estimate, value=value, low=low, high=high, method=method)


def side_by_side(
    examined: Sequence[Examined],
    kind: type[FindingT],
    marks_of: Callable[[FindingT], Mapping[str, tuple[ReplyScore, ...]]],
    *,
    conditions: Sequence[str],
    figures: Figures,
) -> SideBySide[FindingT]:
    """Return the questions with a score under each of these conditions.

    Args:
        examined: the results of the questions.
        kind: the diagnostic's finding type; other results count as failed.
        marks_of: returns a finding's scores by condition; empty if not asked.
        conditions: the conditions to compare.
        figures: how intervals are computed.
    """
    items: list[Item] = []
    findings: list[FindingT] = []
    values: list[list[float]] = []
    n_failed = n_not_asked = n_unscored = 0
    for entry in examined:
        if not isinstance(entry.finding, kind):
            n_failed += 1
            continue
        marks = marks_of(entry.finding)
        if not all(name in marks for name in conditions):
            n_not_asked += 1
            continue
        known = [mean for name in conditions if (mean := mean_value(marks[name])) is not None]
        if len(known) < len(conditions):
            n_unscored += 1
            continue
        items.append(entry.item)
        findings.append(entry.finding)
        values.append(known)
    reasons = {
        "failed": n_failed,
        "were not asked": n_not_asked,
        "have an answer without a score (it waits for a judge, or the judge or the parser broke)": n_unscored,
    }
    side = ", ".join(f"{n:,} {reason}" for reason, n in reasons.items() if n)
    columns = np.asarray(values, np.float64).reshape(len(values), len(conditions)).T
    return SideBySide(
        items=tuple(items),
        findings=tuple(findings),
        values=dict(zip(conditions, columns, strict=True)),
        marks={name: tuple(marks_of(finding)[name] for finding in findings) for name in conditions},
        left_out=f"Left out of every number: {side}." if side else "",
        figures=figures,
    )
