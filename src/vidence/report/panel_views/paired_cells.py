"""Differences between cells of a panel on the same questions, adjusted for all that stand in one table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.records import Clusters, Estimate, Item
from vidence.report.checked import Checked, as_read
from vidence.report.pairing import pair_where_possible
from vidence.report.panel_grid import GridCell
from vidence.report.scores import NO_VALUE, Draws, macro_tag
from vidence.statistics.intervals import mean_interval
from vidence.statistics.paired import Comparison, compare, holm
from vidence.tables.table import Cell, Column, Measure, RowSpec, Table, count, number, share, tabulate

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Lineup:
    """Several conditions on the same questions; `values` has the mean score of each question by condition.

    `samples` has what people read of the replies, by condition, where they read a sample.
    """

    items: tuple[Item, ...]
    values: dict[str, Values]
    groups: tuple[str, ...] | None = None
    samples: Mapping[str, Checked | None] = field(default_factory=dict)

    @classmethod
    def of(cls, cells: dict[str, GridCell]) -> "Lineup | None":
        """The runs by the names of their conditions; None where they cannot be paired."""
        paired = pair_where_possible([cell.run for cell in cells.values()])
        if paired is None:
            return None
        averages = {cell.run.plan.headline for cell in cells.values()}
        tag = macro_tag(averages.pop()) if len(averages) == 1 else None
        return cls(
            items=paired.items,
            values={name: paired.values[:, i] for i, name in enumerate(cells)},
            groups=paired.groups(tag) if tag else None,
            samples={name: cell.run.rows[0].sample for name, cell in cells.items()},
        )

    @property
    def clusters(self) -> Clusters:
        """The source of each question."""
        return Clusters.of(self.items)

    def places(self, tag: str) -> dict[str, list[int]]:
        """The positions of the questions with each value of a tag, `NO_VALUE` where they lack it."""
        places: dict[str, list[int]] = {}
        for i, item in enumerate(self.items):
            places.setdefault(item.tags.get(tag, NO_VALUE), []).append(i)
        return places

    def part(self, places: Sequence[int]) -> "Lineup":
        """Some of the questions, by their positions; their mean is over questions."""
        return Lineup(
            items=tuple(self.items[i] for i in places),
            values={name: values[list(places)] for name, values in self.values.items()},
            samples=self.samples,
        )

    def versus(self, first: str, second: str, *, level: float) -> Comparison:
        """The first condition less the second."""
        found = compare(
            self.values[first], self.values[second], clusters=self.clusters, groups=self.groups, level=level
        )
        return msgspec.structs.replace(found, difference=self._as_read(found.difference, first, second))

    def mean(self, name: str, *, level: float) -> Estimate:
        """The mean score of a condition over the questions, as the runs are averaged."""
        found = mean_interval(self.values[name], clusters=self.clusters, groups=self.groups, level=level)
        return self._as_read(found, name)

    def _as_read(self, raw: Estimate, *names: str) -> Estimate:
        samples = [self.samples.get(name) for name in names]
        return as_read(raw, samples, self.items, clusters=self.clusters, groups=self.groups)

    def slope(self, amounts: dict[str, float], *, level: float) -> tuple[Estimate, float]:
        """The least-squares slope of the score over these amounts, and the p-value of its being 0."""
        x = np.array(list(amounts.values()))
        weights = (x - x.mean()) / float(((x - x.mean()) ** 2).sum())
        slopes = np.column_stack([self.values[name] for name in amounts]) @ weights
        most = float(weights[weights > 0].sum())  # of scores from 0 to 1
        nothing = np.zeros(len(slopes))
        found = compare(
            slopes,
            nothing,
            clusters=self.clusters,
            groups=self.groups,
            bounds=(0.0, most),
            level=level,
        )
        return found.difference, found.p_value


@dataclass(frozen=True, kw_only=True)
class Versus:
    """One line of a table of differences; `found` is None where the two are not on the same questions.

    `relative` is the difference over the second score, `unread` how many replies of both had no answer.
    """

    label: str
    detail: str
    found: Comparison | None
    relative: Estimate | None = None
    unread: tuple[int, int] | None = None
    p_holm: float | None = None


def adjusted(lines: Sequence[Versus]) -> list[Versus]:
    """The lines with Holm's p-values over all of them."""
    known = [line.found.p_value for line in lines if line.found is not None]
    p_values = iter(holm(known) if known else ())
    return [line if line.found is None else replace(line, p_holm=next(p_values)) for line in lines]


def differences(
    name: str, title: str, lines: Sequence[Versus], *, draws: Draws, notes: Sequence[str] = ()
) -> Table:
    """A line for each difference, with Holm's p-value over all of them where they have none yet."""
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
