"""Scores of all models as the paper's tables print them, one row for each model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from vidence.contracts import PaperColumn
from vidence.errors import UsageError
from vidence.records import Clusters, Record
from vidence.report.pairing import pair_where_possible
from vidence.report.panel_grid import Grid, GridCell, PanelView, by_benchmark
from vidence.report.panel_views.paired_cells import Lineup
from vidence.report.panel_views.sorted import title_of
from vidence.report.papers import best_of, column_cell, column_rows, columns_of, declared
from vidence.report.provenance import how_asked
from vidence.report.results import Row as ResultRow
from vidence.report.results import Run
from vidence.report.scores import (
    Aggregate,
    Draws,
    SimpleRules,
    chosen,
    headline_accuracy,
    natural_order,
)
from vidence.statistics.resampling import Resampling, as_labels, cluster_draws
from vidence.tables.charts import Statement
from vidence.tables.table import Cell, Column, Measure, Row, RowSpec, Table, count, share, tabulate

Place = tuple[str, str]  # model and condition


class Settings(Record):
    """Options of the view."""

    by: Annotated[
        tuple[str, ...], Meta(description="tags: for each a matrix of its values by models, such as by=task")
    ] = ()
    where: Annotated[str, Meta(description="TAG=VALUE of the questions of the matrix")] = ""

    def __post_init__(self) -> None:
        tag, sign, value = self.where.partition("=")
        if self.where and not (tag and sign and value):
            raise UsageError(f"scores: where={self.where!r}; expected TAG=VALUE, such as where=set=single")
        if self.where and not self.by:
            raise UsageError("scores: where= is of the matrix; say by=TAG, too")


class Scores:
    """One row for each model and condition, whose cells may come from several runs of it.

    A run on one part of a benchmark and one on another fill one row. Where a model was asked with several
    budgets of frames, the best of them is a table of its own, beside what choosing it on the test questions
    adds.

    Source: HumanPCR, tables 3 and 10 and appendix C.1; PerceptionComp, table 2; MMVU, table 3; HERBench,
        table 2; ActPLD, tables 2 to 4 and figures 4 and 5.
    Departs: intervals, what counts as best, and the inflation of choosing are ours.
    """

    name = "scores"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """The tables of each benchmark, best budgets, and a bar for every run; or one matrix by a tag.

        Raises:
            UsageError: no run has a score, or none has the tag.
        """
        if not grid.scored and not grid.people:
            raise UsageError("no run of the panel has a score")
        if self.settings.by:
            return matrices(grid, self.settings, draws=draws)
        made: list[Statement] = []
        for cells in together((*grid.scored, *grid.people)):
            for title, columns in columns_of([cell.run for cell in cells]).items():
                kept = [c for c in columns if any(column_rows(cell.run, c) for cell in cells)]
                if kept:
                    made.append(
                        _joined(f"scores-{len(made) + 1}", title, cells=cells, columns=kept, draws=draws)
                    )
        best = best_budgets(grid.scored, draws=draws)
        return (*made, *([best] if best else []), _bars(grid, draws=draws))


def create(settings: Settings) -> PanelView:
    """The view."""
    return Scores(settings)


def together(cells: Sequence[GridCell]) -> list[list[GridCell]]:
    """The runs whose rows are joined: those of a benchmark that a paper prints, if none share questions.

    Others stand together where the panel gives them one name.
    """
    found = []
    for benchmark, some in by_benchmark(cells, lambda cell: cell.run.plan.benchmark).items():
        are_parts = all(map(_are_parts, _places(some).values()))
        found += [some] if declared(benchmark) and are_parts else list(by_benchmark(some).values())
    return found


def _are_parts(cells: Sequence[GridCell]) -> bool:
    """Whether no question is in two of these runs."""
    ids = [{(row.item.item_id, row.item.tags.get("task")) for row in cell.run.rows} for cell in cells]
    return sum(map(len, ids)) == len(set[str]().union(*ids))


def _places(cells: Sequence[GridCell]) -> dict[Place, list[GridCell]]:
    found: dict[Place, list[GridCell]] = {}
    for cell in cells:
        found.setdefault(cell.row, []).append(cell)
    return found


# --------------------------------------------------------------------------- as the papers print them


def _joined(
    name: str,
    title: str,
    *,
    cells: Sequence[GridCell],
    columns: Sequence[PaperColumn],
    draws: Draws,
) -> Table:
    places, values, several = _places(cells), dict[Place, list[Cell]](), 0
    marks = _Best(draws=draws)
    sources: list[dict[Place, Run]] = [{} for _ in columns]
    for place, some in places.items():
        values[place] = []
        for i, column in enumerate(columns):
            runs = [cell.run for cell in some if column_rows(cell.run, column)]
            several += len(runs) > 1
            if len(runs) == 1:
                sources[i][place] = runs[0]
            values[place].append(column_cell(runs[0], column, draws=draws) if len(runs) == 1 else Cell())
    people = {cell.row for cell in cells if cell.about.people}
    for i, column in enumerate(columns):
        models = {place: run for place, run in sources[i].items() if place not in people}
        if (best := marks.of(models, column)) is not None:
            values[best][i] = msgspec.structs.replace(values[best][i], mark="best")
    ambiguous = f"{several} cells are empty since several runs of the row hold them." if several else ""
    note = (
        f"Per cent with {100 * draws.level:g} % intervals. A row joins the runs of a model and condition. "
        f"Bold: told apart from every other row on the same questions (Holm over all pairs). {ambiguous}"
    )
    return Table(
        name=name,
        title=f"{title_of(cells)}: {title}",
        note=note.strip(),
        label=Column(key="name", title="model"),
        columns=tuple(
            Column(key=f"column:{i}", title=c.title, group=c.group, kind="share")
            for i, c in enumerate(columns)
        ),
        rows=tuple(
            Row(
                key=f"row:{i}",
                label=some[0].label,
                values=tuple(values[place]),
            )
            for i, (place, some) in enumerate(places.items())
        ),
        footnotes=tuple(
            f"{some[0].label}: {'; '.join(dict.fromkeys(how_asked(cell.run) for cell in some))}."
            for some in places.values()
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _Best:
    """Which row is best in a column, told apart from all others on the same questions."""

    draws: Draws

    def of(self, sources: Mapping[Place, Run], column: PaperColumn) -> Place | None:
        if len(sources) < 2:
            return None
        paired = pair_where_possible(list(sources.values()))
        best = None if paired is None else best_of(paired, column, draws=self.draws)
        return None if best is None else list(sources)[best]


# --------------------------------------------------------------------------- models by tag


def matrices(grid: Grid, settings: Settings, *, draws: Draws) -> tuple[Table, ...]:
    """For each tag and benchmark a row for each of its values, a column for each model and condition.

    Raises:
        UsageError: no question has one of the tags.
    """
    made, (tag, _, value) = list[Table](), settings.where.partition("=")
    for by in settings.by:
        n_before = len(made)
        for cells in together((*grid.scored, *grid.people)):
            rows: dict[Place, list[Sequence[ResultRow]]] = {}
            for cell in cells:
                kept = chosen(cell.run.rows, {tag: (value,)} if tag else {})
                if any(by in row.item.tags for row in kept):
                    rows.setdefault(cell.row, []).append(kept)
            if rows:
                labels = {cell.row: cell.label for cell in cells}
                made.append(_matrix(title_of(cells), rows, labels, by=by, draws=draws))
        if len(made) == n_before:
            of = f" where {settings.where}" if tag else ""
            raise UsageError(f"no question of the panel{of} has the tag {by!r}; `vidence report` lists tags")
    return tuple(made)


def _matrix(
    benchmark: str,
    runs: Mapping[Place, Sequence[Sequence[ResultRow]]],
    labels: Mapping[Place, str],
    *,
    by: str,
    draws: Draws,
) -> Table:
    values = {
        row.item.tags[by] for some in runs.values() for rows in some for row in rows if by in row.item.tags
    }
    whole = {row.item.item_id: row for some in runs.values() for rows in some for row in rows}

    def of(some: Iterable[Sequence[ResultRow]], value: str) -> list[Sequence[ResultRow]]:
        parts = [[row for row in rows if value in ("", row.item.tags.get(by))] for rows in some]
        return [part for part in parts if part]

    def score(place: Place, value: str) -> Cell:
        kept = of(runs[place], value)
        return Cell(value=Aggregate.of(kept[0]).estimate(draws)) if len(kept) == 1 else Cell()

    def chance(value: str) -> Cell:
        (rows,) = of([list(whole.values())], value)
        return SimpleRules.of(rows).on("chance", Aggregate.of(rows))

    return Table(
        name=f"scores:{benchmark}:{by}",
        title=f"{benchmark}: accuracy by {by}",
        note="Mean over questions. A dash: no run of the model has such questions, or several have.",
        label=by,
        columns=(
            *(Column(key=f"model:{i}", title=labels[place], kind="share") for i, place in enumerate(runs)),
            Column(key="chance", title="chance", kind="share"),
        ),
        rows=tuple(
            Row(
                key=f"value:{value}",
                label=value or "all",
                values=(*(score(place, value) for place in runs), chance(value)),
            )
            for value in (*sorted(values, key=natural_order), "")
        ),
        figure="matrix",
    )


# --------------------------------------------------------------------------- the best of several budgets


def best_budgets(cells: Sequence[GridCell], *, draws: Draws) -> Table | None:
    """The best of the budgets of frames of each model, and what choosing it adds; None without several.

    The inflation is the mean, over draws of whole clusters, of the score of the draw's best budget in the
    draw less its score on the questions themselves.

    Source: HumanPCR, appendix C.1 (the best of 32, 64 and 128 frames on Human-R); Efron (1983), the
        bootstrap's optimism.
    Departs: the paper gives no inflation.
    """
    groups = by_benchmark(cells, lambda c: f"{c.benchmark}\n{c.run.plan.split}\n{c.model}")
    kept = [some for some in groups.values() if len({c.run.plan.n_frames for c in some}) == len(some) > 1]
    if not kept:
        return None
    budgets = sorted({cell.run.plan.n_frames for some in kept for cell in some})
    rows = []
    for i, some in enumerate(kept):
        at = {cell.run.plan.n_frames: cell for cell in some}
        found = {n: headline_accuracy(cell.run, draws=draws) for n, cell in at.items()}
        known = {n: one.value for n, one in found.items() if one is not None}
        best = max(known, key=lambda n: (known[n], -n))
        lineup = Lineup.of({str(n): cell for n, cell in at.items()})
        inflation = None if lineup is None else optimism(lineup, draws=draws)
        values = (*(found.get(n) for n in budgets), Cell(value=known[best], detail=f"{best} frames"))
        detail = f"{some[0].benchmark}, {some[0].run.plan.split}"
        rows.append(Row(key=f"row:{i}", label=some[0].model, detail=detail, values=(*values, inflation)))
    return Table(
        name="scores-best",
        title="Best of several frame budgets",
        note="The best is chosen on the very questions that are reported: compare it with other bests only. "
        "Inflation is what choosing adds on average, over draws of whole videos.",
        label="model",
        columns=(
            *(Column(key=f"n:{n}", title=f"{n} frames", kind="share") for n in budgets),
            Column(key="best", title="best", kind="share"),
            Column(key="inflation", title="inflation, points", kind="difference"),
        ),
        rows=tuple(rows),
    )


def optimism(lineup: Lineup, *, draws: Draws) -> float:
    """What choosing the best of several conditions on the questions themselves adds to its score."""
    names, codes = as_labels(list(Clusters.of(lineup.items)), len(lineup.items), what="clusters")
    values = np.column_stack(list(lineup.values.values()))
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, codes, values)
    sizes = np.bincount(codes, minlength=len(names))
    own = values.mean(axis=0)
    found = []
    for weights in cluster_draws(len(names), draws.fresh(), Resampling().n_boot, width=values.shape[1]):
        means = (weights @ sums) / (weights @ sizes)[:, None]
        chosen = means.argmax(axis=1)
        found.append(means[np.arange(len(means)), chosen] - own[chosen])
    return float(np.concatenate(found).mean())


# --------------------------------------------------------------------------- the figure


def _bars(grid: Grid, *, draws: Draws) -> Table:
    def chance(cell: GridCell) -> Cell:
        return SimpleRules.of(cell.run.rows).on("chance", Aggregate.of(cell.run.rows))

    measures: tuple[Measure[GridCell], ...] = (
        count("items", lambda cell: len({row.item.item_id for row in cell.run.rows}), "questions"),
        share("accuracy", lambda cell: headline_accuracy(cell.run, draws=draws)),
        share("chance", chance, note="blind guessing"),
    )
    return tabulate(
        "scores-runs",
        "Every run",
        label=Column(key="name", title="run"),
        rows=(
            RowSpec(f"run:{i}", cell.label, cell, detail=f"{cell.benchmark}, {cell.run.plan.split}")
            for i, cell in enumerate((*grid.scored, *grid.people))
        ),
        measures=measures,
        notes=grid.gaps(),
        figure="scores",
    )
