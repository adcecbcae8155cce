"""Tables with the columns that a benchmark's paper prints, one row for each run."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from vidence.catalog import create, names
from vidence.contracts import PaperColumn
from vidence.records import Estimate
from vidence.report.judged import marked_by
from vidence.report.measured import NO_VALUE, accuracy, chosen, points
from vidence.report.pairing import Paired, pair_where_possible
from vidence.report.results import Run
from vidence.report.side_by_side import run_names
from vidence.report.tables import natural_order
from vidence.statistics.paired import rank
from vidence.statistics.resampling import Resampling
from vidence.tables.cells import DASH, Cell, Column, Line, Table, estimated, pointed, words

# Where a benchmark names no columns: the headline, and the values of tags with at most so many.
MOST_VALUES = 8
_FLIPS = 9_999


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Where draws come from, and the level of intervals; every cell starts from the same state."""

    rng: np.random.Generator
    level: float = 0.95

    def fresh(self) -> np.random.Generator:
        """A generator in the state that all cells start from, so that no cell depends on another."""
        return copy.deepcopy(self.rng)


def has_paper_tables(runs: Sequence[Run]) -> bool:
    """Whether the benchmark of one of the runs names the tables of its paper."""
    return any(_declared(name) for name in dict.fromkeys(run.plan.benchmark for run in runs))


def paper_tables(runs: Sequence[Run], *, drawn: Drawn) -> tuple[Table, ...]:
    """The tables of the benchmarks of these runs, shaped as in their papers; else the scores by small tags.

    Columns of which no run has a question are left out, and tables without columns. Where all runs of a
    benchmark have the same questions, the best value of a column is marked if it can be told from every
    other one (`Cell.mark`).

    Args:
        runs: one run or more.
        drawn: where the draws of intervals and tests come from.
    """
    tables: list[Table] = []
    for name in dict.fromkeys(run.plan.benchmark for run in runs):
        own = [run for run in runs if run.plan.benchmark == name]
        for title, columns in columns_of(own).items():
            kept = [c for c in columns if any(chosen(run.rows, c.where) for run in own)]
            if kept:
                tables.append(_table(f"paper-{len(tables) + 1}", title, own, kept, drawn=drawn))
    return tuple(tables)


def _table(  # noqa: PLR0917 - name and title belong together, runs and columns make the cells
    name: str, title: str, runs: Sequence[Run], columns: Sequence[PaperColumn], *, drawn: Drawn
) -> Table:
    cells = [_cells(run, columns, drawn=drawn) for run in runs]
    note = _note(columns, level=drawn.level)
    if len(runs) > 1:
        paired = pair_where_possible(runs)
        if paired is None:
            note += " The rows are not about the same questions, so that no value is marked as best."
        else:
            cells = _with_best(paired, columns, cells, drawn=drawn)
            note += " Bold: best, and told apart from every other row (test by video, Holm over all pairs)."
    return Table(
        name=name,
        title=f"{runs[0].plan.benchmark}: {title}",
        note=note,
        columns=(
            Column(key="name", title="model", note="and how it was asked and marked", is_text=True),
            *_table_columns(columns),
        ),
        lines=tuple(
            Line(key=f"run:{i}", cells=(words(label, detail=how_asked(run)), *some))
            for i, (label, run, some) in enumerate(zip(run_names(runs), runs, cells, strict=True))
        ),
    )


def _declared(benchmark: str) -> Mapping[str, tuple[PaperColumn, ...]]:
    """The tables that a benchmark names; none where it is not installed here."""
    if benchmark not in names("benchmark"):
        return {}
    found: Mapping[str, tuple[PaperColumn, ...]] = getattr(create("benchmark", benchmark), "paper_tables", {})
    return found


def columns_of(runs: Sequence[Run]) -> Mapping[str, tuple[PaperColumn, ...]]:
    """The columns that the benchmark names, by the title of their table; else those of small tags."""
    if found := _declared(runs[0].plan.benchmark):
        return found
    values: dict[str, set[str]] = {}
    for run in runs:
        for row in run.rows:
            for tag, value in row.item.tags.items():
                values.setdefault(tag, set()).add(value)
    columns = [PaperColumn(title="overall", average=runs[0].plan.headline)]
    for tag, some in values.items():
        if 2 <= len(some - {NO_VALUE}) <= MOST_VALUES:
            ordered = sorted(some, key=natural_order)
            columns += [PaperColumn(title=v, group=tag, where={tag: (v,)}) for v in ordered]
    return {"scores": tuple(columns)}


def how_asked(run: Run) -> str:
    """Style, frames, and by whom the replies were marked, in a few words."""
    plan = run.plan
    frames = "whole videos" if plan.layout == "video" else f"{plan.n_frames} frames"
    return f"{plan.protocol}: {plan.style}, {frames}, {plan.selector}; {marked_by(run)}"


def _table_columns(columns: Sequence[PaperColumn]) -> list[Column]:
    return [
        Column(key=f"column:{i}", title=column.title, group=column.group, note=_meaning(column))
        for i, column in enumerate(columns)
    ]


def _meaning(column: PaperColumn) -> str:
    where = "; ".join(f"{tag} {' or '.join(values)}" for tag, values in column.where.items())
    if column.of == "points":
        what = "mean of the points of the judge"
    elif column.average == "micro":
        what = "mean over questions"
    elif column.average == "answered":
        what = "mean over readable replies"
    else:
        what = f"mean over {column.average.partition(':')[2]}, each value alike"
    return f"{what}: {where}" if where else what


def figure(run: Run, column: PaperColumn, *, drawn: Drawn) -> Estimate | None:
    """What stands in one column for one run; None where the run has nothing for it."""
    rows = chosen(run.rows, column.where)
    if column.of == "points":
        return points(rows, rng=drawn.fresh(), level=drawn.level)
    return accuracy(rows, column.average, rng=drawn.fresh(), level=drawn.level)


def _cells(run: Run, columns: Sequence[PaperColumn], *, drawn: Drawn) -> list[Cell]:
    cells = []
    for column in columns:
        found = figure(run, column, drawn=drawn)
        if found is None:
            cells.append(Cell(text=DASH))
        else:
            cells.append(pointed(found) if column.of == "points" else estimated(found))
    return cells


def _note(columns: Sequence[PaperColumn], *, level: float) -> str:
    note = f"Accuracy in per cent with {100 * level:g} % intervals, clustered by video."
    if any(column.of == "points" for column in columns):
        note += " Points are on the scale of the judge."
    return note


def _with_best(
    paired: Paired, columns: Sequence[PaperColumn], cells: Sequence[list[Cell]], *, drawn: Drawn
) -> list[list[Cell]]:
    """The cells, with a mark on the best of each column where it is told apart from all others."""
    marked = [list(row) for row in cells]
    labels = [str(i) for i in range(len(paired.runs))]
    for place, column in enumerate(columns):
        keep = [
            i
            for i, item in enumerate(paired.items)
            if all(item.tags.get(tag) in values for tag, values in column.where.items())
        ]
        if column.of != "accuracy" or column.average == "answered" or not keep:
            continue
        part = paired.part(keep)
        tag = column.average.partition(":")[2]
        groups = part.groups(tag) if tag else None
        if tag and groups is None:
            continue
        ranking = rank(
            {label: part.values[:, i] for i, label in enumerate(labels)},
            clusters=part.clusters,
            groups=groups,
            rng=drawn.fresh(),
            settings=Resampling(level=drawn.level, n_boot=1, n_flips=_flips(len(labels), drawn.level)),
        )
        if ranking.places[0] == (1, 1):
            best = int(ranking.names[0])
            marked[best][place] = msgspec.structs.replace(cells[best][place], mark="best")
    return marked


def _flips(n_runs: int, level: float) -> int:
    """Enough swaps that a pair of so many runs can be told apart at all."""
    n_pairs = n_runs * (n_runs - 1) // 2
    return max(_FLIPS, int(20 * n_pairs / (1 - level)))
