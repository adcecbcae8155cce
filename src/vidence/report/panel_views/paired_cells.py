"""Differences between cells of a panel on the same questions, adjusted for all that stand in one table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.records import Clusters, Estimate, Item
from vidence.report.pairing import pair_where_possible
from vidence.report.panel_grid import GridCell
from vidence.report.scores import Draws, macro_tag
from vidence.statistics.intervals import mean_interval
from vidence.statistics.paired import Comparison, compare, holm
from vidence.tables.table import Cell, Column, Measure, RowSpec, Table, count, number, share, tabulate

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Lineup:
    """Several conditions on the same questions; `values` has the mean score of each question by condition."""

    items: tuple[Item, ...]
    values: dict[str, Values]
    groups: tuple[str, ...] | None = None

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
        )

    def versus(self, first: str, second: str, *, level: float) -> Comparison:
        """The first condition less the second."""
        clusters = Clusters.of(self.items)
        return compare(
            self.values[first], self.values[second], clusters=clusters, groups=self.groups, level=level
        )

    def mean(self, values: Values, *, level: float) -> Estimate:
        """The mean of scores over the questions, as the runs are averaged."""
        clusters = Clusters.of(self.items)
        return mean_interval(values, clusters=clusters, groups=self.groups, level=level)

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
            clusters=Clusters.of(self.items),
            groups=self.groups,
            bounds=(0.0, most),
            level=level,
        )
        return found.difference, found.p_value


@dataclass(frozen=True, kw_only=True)
class Versus:
    """One line of a table of differences; `found` is None where the two are not on the same questions."""

    label: str
    detail: str
    found: Comparison | None


def differences(
    name: str, title: str, some: Sequence[Versus], *, draws: Draws, notes: Sequence[str] = ()
) -> Table:
    """A line for each difference, with Holm's p-value over all of them."""
    known = [one.found.p_value for one in some if one.found is not None]
    adjusted = iter(holm(known) if known else ())
    p_holm = {i: next(adjusted) for i, one in enumerate(some) if one.found is not None}
    is_clear = {i: p < 1 - draws.level for i, p in p_holm.items()}
    n_apart = sum(one.found is None for one in some)
    apart = f"{n_apart} of them are not about the same questions and have no difference." if n_apart else ""

    def clear(at: tuple[int, Versus]) -> Cell:
        if at[0] not in is_clear:
            return Cell()
        return Cell(value=int(is_clear[at[0]]), text="clear" if is_clear[at[0]] else "not clear")

    measures: tuple[Measure[tuple[int, Versus]], ...] = (
        count("questions", lambda at: at[1].found.difference.n if at[1].found else None),
        share("first", lambda at: at[1].found.mean_first if at[1].found else None, "score"),
        share("second", lambda at: at[1].found.mean_second if at[1].found else None, "against"),
        number(
            "difference",
            lambda at: at[1].found.difference if at[1].found else Cell(detail="other questions"),
            "difference, points",
            kind="difference",
            note="paired",
        ),
        number("p_holm", lambda at: p_holm.get(at[0]), "p (Holm)", kind="p", note="over this whole table"),
        count("clear", clear, "verdict"),
    )
    return tabulate(
        name,
        title,
        label=Column(key="name", title="compared"),
        rows=(RowSpec(f"pair:{i}", one.label, (i, one), detail=one.detail) for i, one in enumerate(some)),
        measures=measures,
        notes=(apart, *notes),
        figure="differences",
    )
