"""Tables with models, tags and benchmarks as rows and columns: scores, or findings of diagnostics."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Clusters, Estimate
from vidence.report.over_models import over_models, where_of
from vidence.report.panel_grid import Grid, GridCell, PanelView, SettingsView, by_benchmark
from vidence.report.panel_views.findings import FindingSettings, findings_of
from vidence.report.panel_views.sorted import counted, title_of
from vidence.report.papers import columns_of, declared, paper_table
from vidence.report.printed_comparison import LETTERS, is_one_of
from vidence.report.printed_rows import PrintedRow, as_label, printed_rows
from vidence.report.results import Row as TrialRow
from vidence.report.scores import (
    Aggregate,
    Draws,
    ScoredQuestions,
    SimpleRules,
    are_people,
    chosen,
    headline_accuracy,
    natural_order,
    over_people,
)
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import Cell, Column, Row, Table

LOGP = "logp"
MODEL = "model"
Values = tuple[str, ...]


class Settings(FindingSettings):
    """Options of the view."""

    columns: Annotated[
        tuple[str, ...],
        Meta(description="tags: a column for each combination of their values; model; none: as in the paper"),
    ] = ()
    rows: Annotated[
        tuple[str, ...],
        Meta(description="a tag: a row for each of its values under each model; with columns=model several"),
    ] = ()
    where: Annotated[str, Meta(description="TAG=VALUE of the questions, with commas between several")] = ""
    models: Annotated[
        Literal["each", "sorted", "mean"],
        Meta(description="sorted: by the mean of the columns; mean: the mean over models in place of each"),
    ] = "each"
    printed: Annotated[str, Meta(description="a published table whose rows stand below, as printed")] = ""

    def __post_init__(self) -> None:
        if self.models != "each" and not self.columns:
            raise UsageError(
                f"pivot: models={self.models} needs columns; expected a tag such as columns=task"
            )
        if self.models == "sorted" and self.rows:
            raise UsageError("pivot: models=sorted sorts whole models; leave out rows=")
        if len(self.rows) > 1 and self.columns != (MODEL,):
            raise UsageError("pivot: several rows= go with columns=model; name one tag")
        if not self.columns and (self.rows or self.where):
            raise UsageError("pivot: rows= and where= go with columns=; expected a tag, or columns=model")
        where_of(self.where, what="pivot: where=")


class Pivot(SettingsView[Settings]):
    """A table with a row per model, tag or run, and a column per part of the questions.

    Runs of one model and condition share rows. People follow the models, and are excluded from their means.

    Source: HumanPCR, tables 3 to 6, 10 and 12, figure 26; HERBench, tables 1, 2 and 4, figure 5;
        PerceptionComp, table 2; MMVU, table 3; ActPLD, tables 2 to 4, figures 4 and 5.
    Departs: intervals, numbers of replies, the rule for the best value and the printed rows are ours.
    """

    name = "pivot"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """Return a table per benchmark or per diagnostic.

        Raises:
            UsageError: no run has a score or the findings, no question has the tags, or two runs of a row
                share a question.
        """
        settings = self.settings
        if settings.finding:
            return findings_of(grid, settings, draws=draws)
        everything = (*grid.scored, *grid.people)
        if not everything:
            raise UsageError(grid.unscored)
        if not settings.columns:
            return _as_paper(everything, grid.scored, draws=draws)
        if settings.columns == (MODEL,):
            return tuple(
                table for tag in settings.rows for table in self._by_model(everything, tag, draws=draws)
            )
        tables = list[Statement]()
        for cells in by_benchmark(everything, lambda c: c.run.plan.benchmark).values():
            parts = Parts.of(cells, settings)
            if parts.columns:
                parts.check()
                table = _LAYOUTS[settings.models](parts, draws)
                tables += [table, *([_bars(table)] if settings.models == "sorted" else [])]
        if not tables:
            raise _no_tags((*settings.columns, *settings.rows), settings.where)
        return tuple(tables)

    def _by_model(self, cells: Sequence[GridCell], tag: str, *, draws: Draws) -> list[Table]:
        settings = msgspec.structs.replace(self.settings, columns=(tag,), rows=())
        entries = [Parts.of(some, settings) for some in joined(cells)]
        if not any(parts.columns for parts in entries):
            raise _no_tags((tag,), settings.where)
        return [_across_models(parts, tag, draws=draws) for parts in entries if parts.columns]


def create(settings: Settings) -> PanelView:
    """Create the view."""
    return Pivot(settings)


def _no_tags(tags: Sequence[str], where: str) -> UsageError:
    of = f" where {where}" if where else ""
    return UsageError(
        f"no question of the panel{of} has the tags {', '.join(tags)}; `vidence report` lists tags"
    )


def joined(cells: Sequence[GridCell]) -> list[list[GridCell]]:
    """Return the runs grouped into rows: a benchmark's runs that a paper joins, if they share no question.

    Others are separate, by the panel's benchmark names.
    """
    groups = []
    for benchmark, some in by_benchmark(cells, lambda cell: cell.run.plan.benchmark).items():
        are_parts = all(map(_are_parts, by_benchmark(some, lambda cell: cell.label).values()))
        groups += [some] if declared(benchmark) and are_parts else list(by_benchmark(some).values())
    return groups


def _are_parts(cells: Sequence[GridCell]) -> bool:
    """Whether these runs share no question."""
    ids = [{(row.item.item_id, row.item.tags.get("task")) for row in cell.run.rows} for cell in cells]
    return sum(map(len, ids)) == len(set[object]().union(*ids))


# --------------------------------------------------------------------------- the columns of a paper


def _as_paper(
    cells: Sequence[GridCell], scored: Sequence[GridCell], *, draws: Draws
) -> tuple[Statement, ...]:
    tables = list[Table]()
    for some in joined(cells):
        models = by_benchmark(some, lambda cell: cell.label)
        rows = {label: [cell.run for cell in own] for label, own in models.items()}
        people = {cell.label for cell in some if cell.about.people}
        for title, columns in columns_of([cell.run for cell in some]):
            name, whole = f"pivot-{len(tables) + 1}", f"{title_of(some)}: {title}"
            tables.append(paper_table(name, whole, rows=rows, columns=columns, draws=draws, people=people))
    best = _best_budgets(scored, draws=draws)
    return (*tables, *([] if best is None else [best]))


def _best_budgets(cells: Sequence[GridCell], *, draws: Draws) -> Table | None:
    """Return the best frame budget of each model; None without several.

    Source: HumanPCR, appendix C.1 (the best of 32, 64 and 128 frames on Human-R).
    """
    groups = by_benchmark(cells, lambda c: f"{c.benchmark}\n{c.run.plan.split}\n{c.model}")
    kept = [some for some in groups.values() if len({c.run.plan.frames for c in some}) == len(some) > 1]
    budgets = sorted({cell.run.plan.frames for some in kept for cell in some})
    rows = []
    for i, some in enumerate(kept):
        scores = {cell.run.plan.frames: headline_accuracy(cell.run, draws=draws) for cell in some}
        known = {n: score.value for n, score in scores.items() if score is not None}
        best = max(known, key=lambda n: (known[n], -n))
        values = (*(scores.get(n) for n in budgets), Cell(value=known[best], detail=f"{best} frames"))
        detail = f"{some[0].benchmark}, {some[0].run.plan.split}"
        rows.append(Row(key=f"row:{i}", label=some[0].model, detail=detail, values=values))
    if not rows:
        return None
    return Table(
        name="pivot-best",
        title="Best of several frame budgets",
        note="The best is chosen on the very questions that are reported: compare it with other bests only.",
        label="model",
        columns=(
            *(Column(key=f"n:{n}", title=f"{n} frames", kind="share") for n in budgets),
            Column(key="best", title="best", kind="share"),
        ),
        rows=tuple(rows),
    )


# --------------------------------------------------------------------------- the parts that tags make


@dataclass(frozen=True, kw_only=True)
class _Order:
    """The order of tag values: as the benchmark lists them for its tables, then alphabetical."""

    named: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, benchmark: str) -> "_Order":
        named: dict[str, list[str]] = {}
        for column in itertools.chain.from_iterable(declared(benchmark).values()):
            for tag, values in column.where.items():
                named.setdefault(tag, []).extend(values)
        return cls(named=named)

    def key(self, tag: str, value: str) -> tuple[int, object]:
        """Return the sort key of a tag's value."""
        known = self.named.get(tag, ())
        return (known.index(value) if value in known else len(known), natural_order(value))


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Each model's trials by row and column values."""

    title: str
    settings: Settings
    rows: Values
    columns: tuple[Values, ...]
    models: Mapping[str, Sequence[GridCell]]
    people: frozenset[str]

    @classmethod
    def of(cls, cells: Sequence[GridCell], settings: Settings) -> "Parts":
        """Collect the row and column values of these runs' questions."""
        where = where_of(settings.where, what="pivot: where=")
        needed = (*settings.columns, *settings.rows)
        kept = [
            row.item.tags
            for cell in cells
            for row in chosen(cell.run.rows, where)
            if all(tag in row.item.tags for tag in needed)
        ]
        order = _Order.of(cells[0].run.plan.benchmark)
        across = {tuple(tags[tag] for tag in settings.columns) for tags in kept}
        down = {tags[tag] for tags in kept for tag in settings.rows} or {""}
        return cls(
            title=title_of(cells),
            settings=settings,
            rows=tuple(sorted(down, key=lambda value: order.key("".join(settings.rows), value))),
            columns=tuple(sorted(across, key=lambda values: [*map(order.key, settings.columns, values)])),
            models=by_benchmark(cells, lambda cell: cell.label),
            people=frozenset(cell.label for cell in cells if cell.about.people),
        )

    def check(self) -> None:
        """Reject two runs of a model with a shared question, measured alike: their mean would mix runs."""
        tags = (*self.settings.columns, *self.settings.rows)
        for label, cells in self.models.items():
            seen: dict[tuple[str, tuple[str | None, ...]], GridCell] = {}
            for cell in cells:
                for item in (row.item for row in cell.run.rows):
                    place = (item.item_id, tuple(map(item.tags.get, tags)))
                    other = seen.setdefault(place, cell)
                    if other is not cell:
                        raise UsageError(
                            f"{other.run.folder} and {cell.run.folder} both hold {item.item_id!r} of "
                            f"{label}; give one of them another condition"
                        )

    def where(self, row: str, column: Values) -> dict[str, Values]:
        """Return the filter of a cell's questions; empty row or column means all."""
        tags = {tag: (value,) for tag, value in zip(self.settings.columns, column, strict=False)}
        rows = {tag: (row,) for tag in self.settings.rows if row}
        return {**where_of(self.settings.where, what="pivot: where="), **tags, **rows}

    def by_run(self, label: str, row: str, column: Values) -> list[list[TrialRow]]:
        """Return a model's trials in a cell's mean, run by run."""
        where = self.where(row, column)
        return [kept for cell in self.models[label] if (kept := list(chosen(counted(cell), where)))]

    def trials(self, label: str, row: str, column: Values) -> list[TrialRow]:
        """Return a model's trials in a cell's mean."""
        return [*itertools.chain.from_iterable(self.by_run(label, row, column))]

    def n_asked(self, label: str, row: str, column: Values) -> int:
        """Return the number of trials, including those that are in no mean."""
        where = self.where(row, column)
        return sum(len(chosen(cell.run.rows, where)) for cell in self.models[label])

    def score(self, label: str, row: str, column: Values, *, draws: Draws) -> Estimate | None:
        """Return the mean of a cell; None without trials."""
        kept = self.trials(label, row, column)
        return Aggregate.of(kept).estimate(draws) if kept else None

    def over(self, row: str, column: Values, *, draws: Draws) -> list[float]:
        """Return the scores of the models that have one."""
        scores = (self.score(label, row, column, draws=draws) for label in self.ordered(are_people=False))
        return [score.value for score in scores if score is not None]

    def chance(self, row: str, column: Values, *, is_read: bool = True) -> Cell:
        """Return blind guessing in a cell, on all questions or, with `is_read`, on those with letters."""
        rows = [
            trial
            for label in self.models
            for trial in self.trials(label, row, column)
            if not is_read or is_one_of(trial.score.scorer, (LETTERS, LOGP))
        ]
        whole = list({trial.item.item_id: trial for trial in rows}.values())
        return SimpleRules.of(whole).on("chance", Aggregate.of(whole)) if whole else Cell()

    def ordered(self, *, are_people: bool | None = None) -> list[str]:
        """Return the models in the panel's order, people last; or only people or models."""
        some = [label for label in self.models if are_people in (None, label in self.people)]
        return sorted(some, key=lambda label: label in self.people)

    @property
    def words(self) -> str:
        """Describe the filter."""
        return f" ({self.settings.where})" if self.settings.where else ""

    def with_printed(self, table: Table, row_of: Callable[[PrintedRow, int], Row]) -> Table:
        """Add a paper's printed rows below ours."""
        if not self.settings.printed:
            return table
        tags = self.settings.columns
        printed = printed_rows(self.settings.printed, [dict(zip(tags, c, strict=True)) for c in self.columns])
        return printed.below(table, (row_of(row, place) for place, row in enumerate(printed.rows)))


# --------------------------------------------------------------------------- the layouts


def _each(parts: Parts, draws: Draws) -> Table:
    """Return each value with its interval, number of replies, and number left out."""
    headings = [Column(key="row", title=tag, kind="text") for tag in parts.settings.rows]
    for i, column in enumerate(parts.columns):
        title = ", ".join(column)
        headings += [
            Column(key=f"share:{i}", title="accuracy", group=title, kind="share"),
            Column(key=f"n:{i}", title="n", group=title, kind="count", note="replies in the mean"),
            Column(key=f"left:{i}", title="out", group=title, kind="count", note="replies left out"),
        ]

    def cells(label: str, value: str) -> list[Cell]:
        entries = []
        for column in parts.columns:
            n_asked = parts.n_asked(label, value, column)
            n = sum(row.correct is not None for row in parts.trials(label, value, column))
            counts = [Cell(value=n), Cell(value=n_asked - n)] if n_asked else [Cell(), Cell()]
            entries += [Cell(value=parts.score(label, value, column, draws=draws)), *counts]
        return entries

    def printed(row: PrintedRow, place: int) -> Row:
        values = [
            cell
            for value, n in zip(row.values, row.n, strict=True)
            for cell in (value, Cell(value=n), Cell())
        ]
        label, rest = (row.words[:-1], row.words[-1:]) if parts.settings.rows else (row.words, ())
        return Row(key=f"printed:{place}", label=as_label(label), values=(*rest, *values))

    rows = [
        Row(
            key=f"row:{label}:{value}",
            label=label,
            detail="people" if label in parts.people else "",
            values=(*_named(value), *cells(label, value)),
        )
        for label in parts.ordered()
        for value in parts.rows
        if any(parts.n_asked(label, value, column) for column in parts.columns)
    ]
    for value in parts.rows:
        chance = [cell for column in parts.columns for cell in (parts.chance(value, column), Cell(), Cell())]
        rows.append(Row(key=f"chance:{value}", label="chance", values=(*_named(value), *chance)))
    across = " and ".join((*parts.settings.rows, *parts.settings.columns))
    table = Table(
        name=f"pivot:{parts.title}",
        title=f"{parts.title}: models by {across}{parts.words}",
        note=f"Per cent with {100 * draws.level:g} % intervals, clustered by source. n: replies in the mean; "
        "out: those left out (unreadable, refused, failed).",
        label="model",
        columns=tuple(headings),
        rows=tuple(rows),
    )
    return parts.with_printed(table, printed)


def _named(value: str) -> Values:
    return (value,) if value else ()


def _sorted(parts: Parts, draws: Draws) -> Table:
    """Return models by decreasing mean of their columns; then people, the mean over models, chance."""
    means = {label: _mean_of_columns(parts, label, draws=draws) for label in parts.models}
    models = parts.ordered(are_people=False)
    models.sort(key=lambda label: -mean.value if (mean := means[label]) is not None else 1.0)
    rows = [
        Row(
            key=f"row:{label}",
            label=label,
            detail="people" if label in parts.people else "",
            values=(*(parts.score(label, "", column, draws=draws) for column in parts.columns), means[label]),
        )
        for label in (*models, *parts.ordered(are_people=True))
    ]
    over = [parts.over("", column, draws=draws) for column in parts.columns]
    over.append([mean.value for label in models if (mean := means[label]) is not None])
    rows.append(
        Row(
            key="models",
            label=f"mean over {len(models)} models",
            values=tuple(over_models(scores, level=draws.level) for scores in over),
        )
    )
    chance = tuple(parts.chance("", column) for column in parts.columns)
    rows.append(Row(key="chance", label="chance", values=(*chance, Cell())))
    return Table(
        name=f"pivot-sorted:{parts.title}",
        title=f"{parts.title}: models by their mean{parts.words}",
        note=f"Per cent with {100 * draws.level:g} % intervals, clustered by source; those of the mean over "
        "models are Student's t, over those that have the column. The mean of the columns counts each alike, "
        "and is there where all are. People are in no mean over models.",
        label="model",
        columns=(*_shares(parts), Column(key="mean", title="mean of the columns", kind="share")),
        rows=tuple(rows),
    )


def _bars(table: Table) -> Chart:
    """Return a sorted table's columns as grouped bars.

    Source: ActPLD, figures 4 and 5 (four bars for each model).
    """
    columns = [column for column in table.columns if column.key != "mean"]
    places = {float(place): row for place, row in enumerate(table.rows, start=1)}
    chances = _chances(table)
    bars = (
        (
            column.title,
            (
                (place, estimate)
                for place, row in places.items()
                if isinstance(estimate := table.cell(row.key, column.key).value, Estimate)
            ),
        )
        for column in columns
    )
    return Chart(
        name=f"{table.name}:bars",
        title=table.title,
        x_title="model, by the mean of its bars",
        y_title="accuracy",
        series=curves(bars),
        x_labels=tuple((place, row.label) for place, row in places.items() if row.key != "chance"),
        y_marks=tuple((value, "chance") for value in chances),
        is_bars=True,
        note=f"{table.note} {' '.join(f'Chance of {name}.' for name in chances.values())}".strip(),
    )


def _chances(table: Table) -> dict[float, str]:
    """Return chance for the columns with choices, with the titles of these columns."""
    chances: dict[float, list[str]] = {}
    for column in table.columns:
        cell = table.cell("chance", column.key)
        value = cell.value.value if isinstance(cell.value, Estimate) else cell.value
        if isinstance(value, float):
            chances.setdefault(round(value, 4), []).append(column.title)
    return {value: "; ".join(titles) for value, titles in chances.items()}


def _shares(parts: Parts) -> list[Column]:
    return [
        Column(key=f"share:{i}", title=", ".join(column), kind="share")
        for i, column in enumerate(parts.columns)
    ]


def _mean_of_columns(parts: Parts, label: str, *, draws: Draws) -> Estimate | None:
    """Return the unweighted mean of a model's columns; None if a column has no score."""
    trials = [parts.trials(label, "", column) for column in parts.columns]
    scored = [ScoredQuestions.of(some) for some in trials]
    if not all(part.items for part in scored):
        return None
    rows = [row for some in trials for row in some]
    if are_people(rows):
        groups = [", ".join(c) for c, some in zip(parts.columns, trials, strict=True) for _ in some]
        return over_people(rows, draws=draws, groups=groups)
    items = tuple(item for part in scored for item in part.items)
    joined = replace(
        ScoredQuestions.of(rows),
        items=items,
        values=np.concatenate([part.values for part in scored]),
        clusters=Clusters.of(items),
    )
    groups = [", ".join(c) for c, part in zip(parts.columns, scored, strict=True) for _ in part.items]
    return joined.mean(groups=groups, level=draws.level)


def _mean(parts: Parts, draws: Draws) -> Table:
    """Return the mean over models of each cell; below, people and the paper's rows.

    The interval treats the models as a sample of all models: Student's t of their scores; it does not cover
    other questions.
    """
    over = {
        (row, column): parts.over(row, column, draws=draws) for row in parts.rows for column in parts.columns
    }
    rows = [
        Row(
            key=f"row:{row}",
            label=row,
            values=tuple(over_models(over[row, column], level=draws.level) for column in parts.columns),
        )
        for row in parts.rows
    ]
    every = [[score for row in parts.rows for score in over[row, column]] for column in parts.columns]
    rows.append(
        Row(
            key="row:",
            label="overall",
            values=tuple(float(np.mean(scores)) if scores else None for scores in every),
        )
    )
    for label in parts.ordered(are_people=True):
        for row in parts.rows:
            values = tuple(parts.score(label, row, column, draws=draws) for column in parts.columns)
            if any(value is not None for value in values):
                key = f"people:{label}:{row}"
                rows.append(Row(key=key, label=f"{label}, {row}", detail="people", values=values))
    n = len(parts.ordered(are_people=False))
    table = Table(
        name=f"pivot-mean:{parts.title}",
        title=f"{parts.title}: means over {n} models{parts.words}",
        note="Each model and condition counts alike; intervals are over models. The row overall is the mean "
        "of all values of the column and has none, since a model stands in it several times.",
        label="".join(parts.settings.rows),
        columns=tuple(_shares(parts)),
        rows=tuple(rows),
        figure="matrix",
    )
    return parts.with_printed(
        table, lambda row, place: Row(key=f"printed:{place}", label=as_label(row.words), values=row.values)
    )


def _across_models(parts: Parts, tag: str, *, draws: Draws) -> Table:
    """Return a table with a row per tag value and for all questions, a column per model, and chance."""

    def score(label: str, column: Values) -> Cell:
        runs = parts.by_run(label, "", column)
        return Cell(value=Aggregate.of(runs[0]).estimate(draws)) if len(runs) == 1 else Cell()

    models = [label for label in parts.models if any(parts.by_run(label, "", c) for c in parts.columns)]
    return Table(
        name=f"pivot:{parts.title}:{tag}",
        title=f"{parts.title}: accuracy by {tag}{parts.words}",
        note="Mean over questions. A dash: no run of the model has such questions, or several have.",
        label=tag,
        columns=(
            *(Column(key=f"model:{i}", title=label, kind="share") for i, label in enumerate(models)),
            Column(key="chance", title="chance", kind="share"),
        ),
        rows=tuple(
            Row(
                key=f"value:{''.join(column)}",
                label="".join(column) or "all",
                values=(*(score(label, column) for label in models), parts.chance("", column, is_read=False)),
            )
            for column in (*parts.columns, ())
        ),
        figure="matrix",
    )


_LAYOUTS: Mapping[str, Callable[[Parts, Draws], Table]] = {"each": _each, "sorted": _sorted, "mean": _mean}
