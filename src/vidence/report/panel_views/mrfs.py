"""How many frames benchmarks demand (MRFS), of one model under one ranking."""

import math
from collections.abc import Callable, Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from vidence.errors import UsageError
from vidence.explain.diagnostics.mrfs import Mrfs
from vidence.records import Estimate, Record
from vidence.report.diagnosis import Diagnosed
from vidence.report.panel_grid import Grid, GridCell, PanelView
from vidence.report.scores import Draws
from vidence.tables.charts import Dot, Scatter, Statement
from vidence.tables.table import (
    Cell,
    Column,
    Measure,
    RowSpec,
    Table,
    count,
    has_interval,
    number,
    share,
    tabulate,
)

Found = tuple[GridCell, Diagnosed]


class Settings(Record):
    """Options of the view."""

    by: Annotated[str, Meta(description="a tag: a row for each of its values, too, such as by=task")] = ""


class MrfsAcross:
    """The findings of ``mrfs`` side by side, one row for each benchmark, or for each value of a tag.

    Means compare only where the model, the ranking of frames, x and the search are the same: anything else
    is refused. Beside each mean stands that of whoever needs one frame and is as often right, by guessing
    otherwise.

    Source: HERBench, tables 1 and 4 and figure 9.
    Departs: the guess line is ours.
    """

    name = "mrfs"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """The table, and the mean demand against the accuracy.

        Raises:
            UsageError: nobody ran the diagnostic, it ran in different ways, or no question has the tag.
        """
        found = [(cell, one) for cell in grid.cells for one in cell.found("mrfs", level=draws.level)]
        if not found:
            raise UsageError(
                "no run of the panel has findings of mrfs; `vidence diagnose RUN mrfs` makes them"
            )
        _check_alike(found)
        if self.settings.by:
            return _by_value(found, self.settings.by)
        return _table(found), *_scatter(found)


def create(settings: Settings) -> PanelView:
    """The view."""
    return MrfsAcross(settings)


def _how(one: Diagnosed) -> dict[str, str]:
    """In what two demands must be alike, in words."""
    diagnostic = one.diagnostic
    if not isinstance(diagnostic, Mrfs):
        raise UsageError(f"{one.diagnostic.name} is not the diagnostic mrfs; uninstall what replaces it")
    settings = diagnostic.settings
    return {
        "model": one.plan.model,
        "ranking": settings.selector or one.plan.selector,
        "x": str(settings.max),
        "mode": settings.mode,
        "least frames": str(settings.min),
        "orders": str(settings.orders),
        "asked without frames": str(settings.text_only),
    }


def _check_alike(found: list[Found]) -> None:
    how = [_how(one) for _, one in found]
    wrong = []
    for what in how[0]:
        values = [one[what] for one in how]
        if len(set(values)) > 1:
            said = "; ".join(
                f"{cell.benchmark}, {cell.label}: {v}" for (cell, _), v in zip(found, values, strict=True)
            )
            wrong.append(f"{what} ({said})")
    if wrong:
        raise UsageError(
            f"mean demands do not compare across these runs, which differ in {'; '.join(wrong)}; put those "
            "that are alike into a panel of their own"
        )


def _cell(one: Diagnosed, column: str, *, table: str = "mrfs", row: str = "all") -> Cell:
    """A figure of the diagnostic; missing where it has none."""
    found = one.tables().get(table)
    if found is None or column not in found.keys or row not in {line.key for line in found.rows}:
        return Cell()
    return msgspec.structs.replace(found.cell(row, column), kind=None)


def _estimate(one: Diagnosed, column: str, *, table: str = "mrfs", row: str = "all") -> Estimate | None:
    value = _cell(one, column, table=table, row=row).value
    return value if isinstance(value, Estimate) else None


def _verdict(one: Diagnosed) -> str:
    mean, line = _estimate(one, "mean"), _line(one)
    if mean is None or line is None or not has_interval(mean) or not has_interval(line):
        return "cannot be told"
    if mean.low <= line.high and line.low <= mean.high:
        return "not told from one frame"
    return "more than one frame" if mean.value > line.value else "less than one frame"


def _line(one: Diagnosed) -> Estimate | None:
    """The mean of whoever needs one frame, with guesses that stick as measured where that is known."""
    measured = _estimate(one, "mean", table="guessing", row="one-frame")
    return measured or _estimate(one, "mean", table="guessing", row="one-frame-independent")


def _table(found: list[Found]) -> Table:
    measures: tuple[Measure[Found], ...] = (
        number("n", lambda at: len(at[1].examined), "questions", kind="count"),
        number("needed", lambda at: _cell(at[1], "n"), "visual-required", kind="count"),
        number("mean", lambda at: _cell(at[1], "mean"), "mean MRFS"),
        number(
            "line", lambda at: _line(at[1]), "guess line", note="one frame, as often right, else guessing"
        ),
        number("verdict", lambda at: _verdict(at[1]), "demand", kind="text"),
        number("restricted", lambda at: _cell(at[1], "restricted"), "restricted mean"),
        share("accuracy", lambda at: _cell(at[1], "accuracy"), "right with all frames"),
    )
    how = ", ".join(f"{what} {value}" for what, value in _how(found[0][1]).items())
    return tabulate(
        "mrfs-across",
        "Minimum required frames by benchmark",
        label=Column(key="name", title="benchmark"),
        rows=(RowSpec(f"run:{i}", at[0].benchmark, at, detail=at[0].label) for i, at in enumerate(found)),
        measures=measures,
        notes=(f"All alike: {how}.", "Luck counts as demand, so a mean says nothing without its guess line."),
    )


def _by_value(found: list[Found], by: str) -> tuple[Statement, ...]:
    """A table and a figure for each run that has the tag, all its questions last."""
    made: list[Statement] = []
    for i, (cell, one) in enumerate(found):
        own = one.tables().get(f"by {by}")
        if own is None:
            continue
        made.append(_values_table(f"mrfs-by:{i}", own, (cell, one), by=by))
        made += [s for s in one.statements if isinstance(s, Scatter) and s.name == f"accuracy by {by}"]
    if not made:
        raise UsageError(
            f"no findings of mrfs are parted by {by!r}; expected a tag with 2 to 40 values among the "
            "questions that were examined"
        )
    return tuple(made)


def _values_table(name: str, own: Table, at: Found, *, by: str) -> Table:
    """The values of a tag, the mean over all, and that in which values weigh by their questions."""
    cell, one = at
    values = [{key: own.cell(row.key, key) for key in own.keys} for row in own.rows]
    known = [
        (n.value, mean.value.value)
        for n, mean in ((row["n"], row["mean"]) for row in values)
        if isinstance(mean.value, Estimate) and isinstance(n.value, int) and not math.isnan(mean.value.value)
    ]
    weighted = sum(k * mean for k, mean in known) / sum(k for k, _ in known) if known else None
    whole = {
        "n": Cell(value=len(one.examined)),
        **{key: _cell(one, key) for key in ("mean", "restricted", "accuracy")},
    }

    def of(key: str) -> Callable[[Mapping[str, Cell]], Cell]:
        return lambda row: row.get(key, Cell())

    return tabulate(
        name,
        f"Minimum required frames by {by}: {cell.benchmark}, {cell.label}",
        label=by,
        rows=(
            *(RowSpec(row.key, row.label, found) for row, found in zip(own.rows, values, strict=True)),
            RowSpec("all", "all", whole),
            RowSpec("weighted", "weighted", {"mean": Cell(value=weighted)}),
        ),
        measures=(
            count("n", of("n"), "questions"),
            share("visual-required", of("visual-required")),
            number("mean", of("mean"), "mean MRFS", note="of visual-required questions"),
            number("restricted", of("restricted"), "restricted mean"),
            share("accuracy", of("accuracy"), "right with all frames"),
        ),
        notes=(
            "All: the mean over the visual-required questions. Weighted: the mean of the values above by how "
            "many questions each has; where few questions of a value are visual-required the two differ. The "
            "printed values of HERBench's table 4 give 5.64 weighted so, not the 5.49 in its last row. Luck "
            "counts as demand: set the mean of all beside its guess line (the view mrfs without by).",
        ),
    )


def _scatter(found: list[Found]) -> list[Statement]:
    dots = []
    for cell, one in found:
        mean = _estimate(one, "mean")
        accuracy = _estimate(one, "accuracy")
        if mean is None or accuracy is None:
            continue
        dots.append(Dot(label=cell.benchmark, x=mean, y=accuracy))
        if (line := _line(one)) is not None:
            dots.append(Dot(label=f"{cell.benchmark}, guess line", x=line, y=accuracy, kind=1))
    if not dots:
        return []
    return [
        Scatter(
            name="mrfs-scatter",
            title="Demand and accuracy",
            x_title="mean MRFS",
            y_title="right with all frames",
            dots=tuple(dots),
            kinds=("measured", "guess line"),
        )
    ]
