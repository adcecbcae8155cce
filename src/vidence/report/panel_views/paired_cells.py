"""Differences between cells of a panel on the same questions, adjusted within a table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.records import Estimate
from vidence.report.pairing import PairedRuns, pair_where_possible
from vidence.report.panel_grid import GridCell
from vidence.report.scores import Draws, macro_tag
from vidence.statistics.intervals import SHARE, Bounds, mean_interval
from vidence.statistics.paired import Comparison, compare, holm
from vidence.tables.table import Cell, Column, Measure, RowSpec, Table, count, number, share, tabulate

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Lineup:
    """Several conditions on the same questions; the names of `paired` are the conditions.

    Means are over the values of `tag` if there is one, otherwise over questions.
    """

    paired: PairedRuns
    tag: str = ""

    @classmethod
    def of(cls, cells: dict[str, GridCell]) -> "Lineup | None":
        """Return the lineup of runs named by condition; None if they cannot be paired."""
        paired = pair_where_possible([cell.run for cell in cells.values()])
        if paired is None:
            return None
        averages = {cell.run.plan.headline for cell in cells.values()}
        tag = macro_tag(averages.pop()) if len(averages) == 1 else None
        tag = tag if tag and paired.groups(tag) else None
        return cls(paired=replace(paired, names=tuple(cells)), tag=tag or "")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the conditions."""
        return self.paired.names

    @property
    def groups(self) -> tuple[str, ...] | None:
        """Return the tag's value for each question; None without a tag."""
        return self.paired.groups(self.tag) if self.tag else None

    def values(self, name: str) -> Values:
        """Return each question's mean score under a condition; shape (n_items,)."""
        return self.paired.values[:, self.names.index(name)]

    def part(self, places: Sequence[int]) -> "Lineup":
        """Return a subset of the questions by position; its mean is over questions."""
        return Lineup(paired=self.paired.part(places))

    def versus(self, first: str, second: str, *, level: float) -> Comparison:
        """Return the first condition minus the second."""
        comparison = self._compared(self.values(first), self.values(second), level=level)
        return msgspec.structs.replace(
            comparison, difference=self._as_read(comparison.difference, first, second)
        )

    def _compared(self, first: Values, second: Values, *, bounds: Bounds = SHARE, level: float) -> Comparison:
        clusters = self.paired.clusters
        return compare(first, second, clusters=clusters, groups=self.groups, bounds=bounds, level=level)

    def mean(self, name: str, *, level: float) -> Estimate:
        """Return a condition's mean score, averaged as the runs are."""
        clusters = self.paired.clusters
        estimate = mean_interval(self.values(name), clusters=clusters, groups=self.groups, level=level)
        return self._as_read(estimate, name)

    def _as_read(self, raw: Estimate, *names: str) -> Estimate:
        places = map(self.names.index, names)
        return self.paired.as_read(raw, *places, tag=self.tag) if self.paired.runs else raw

    def slope(self, amounts: dict[str, float], *, level: float) -> tuple[Estimate, float]:
        """Return the least-squares slope of the score over these amounts, and its p-value."""
        x = np.array(list(amounts.values()))
        weights = (x - x.mean()) / float(((x - x.mean()) ** 2).sum())
        slopes = np.column_stack([self.values(name) for name in amounts]) @ weights
        most = float(weights[weights > 0].sum())  # of scores from 0 to 1
        comparison = self._compared(slopes, np.zeros(len(slopes)), bounds=(0.0, most), level=level)
        return comparison.difference, comparison.p_value


@dataclass(frozen=True, kw_only=True)
class Versus:
    """One line of a table of differences; `found` is None if the questions differ.

    `relative` is the difference divided by the second score, `unread` the number of unanswered replies of
    both.
    """

    label: str
    detail: str
    found: Comparison | None
    relative: Estimate | None = None
    unread: tuple[int, int] | None = None
    p_holm: float | None = None


def adjusted(lines: Sequence[Versus]) -> list[Versus]:
    """Return the lines with Holm's p-values over all of them."""
    known = [line.found.p_value for line in lines if line.found is not None]
    p_values = iter(holm(known) if known else ())
    return [line if line.found is None else replace(line, p_holm=next(p_values)) for line in lines]


def differences(
    name: str, title: str, lines: Sequence[Versus], *, draws: Draws, notes: Sequence[str] = ()
) -> Table:
    """Return a table of differences, with Holm's p-values if they are not adjusted yet."""
    if all(line.p_holm is None for line in lines):
        lines = adjusted(lines)
    n_apart = sum(line.found is None for line in lines)
    apart = f"{n_apart} of them are not about the same questions and have no difference." if n_apart else ""

    def clear(line: Versus) -> Cell:
        if line.p_holm is None:
            return Cell()
        is_clear = line.p_holm < 1 - draws.level
        return Cell(value=int(is_clear), text="clear" if is_clear else "not clear")

    measures: list[Measure[Versus]] = [
        count("questions", lambda line: line.found.difference.n if line.found else None),
        share("first", lambda line: line.found.mean_first if line.found else None, "score"),
        share("second", lambda line: line.found.mean_second if line.found else None, "against"),
        number(
            "difference",
            lambda line: line.found.difference if line.found else Cell(detail="other questions"),
            "difference, points",
            kind="difference",
            note="paired",
        ),
        number("p_holm", lambda line: line.p_holm, "p (Holm)", kind="p", note="over this whole table"),
        count("clear", clear, "verdict"),
    ]
    if any(line.relative is not None for line in lines):
        measures.append(share("relative", lambda line: line.relative, "of it", note="over the second score"))
    if any(line.unread is not None for line in lines):
        unread = "without an answer"
        measures += [
            count("unread:first", lambda line: line.unread and line.unread[0], "score", group=unread),
            count("unread:second", lambda line: line.unread and line.unread[1], "against", group=unread),
        ]
    return tabulate(
        name,
        title,
        label=Column(key="name", title="compared"),
        rows=(RowSpec(f"pair:{i}", line.label, line, detail=line.detail) for i, line in enumerate(lines)),
        measures=measures,
        notes=(apart, *notes),
        figure="differences",
    )
