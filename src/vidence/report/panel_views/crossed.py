"""Each model under the values of some tags, with how many replies are behind each value, and its mean."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Clusters, Estimate, Record
from vidence.report.over_models import over_models, where_of
from vidence.report.panel_grid import Grid, GridCell, PanelView, by_benchmark
from vidence.report.panel_views.sorted import counted, title_of
from vidence.report.papers import declared
from vidence.report.printed_comparison import LETTERS, is_one_of
from vidence.report.printed_rows import as_label, printed_rows
from vidence.report.results import Row as TrialRow
from vidence.report.scores import Aggregate, Draws, ScoredQuestions, SimpleRules, chosen, natural_order
from vidence.tables.charts import Statement
from vidence.tables.table import Cell, Column, Row, Table

LOGP = "logp"
Values = tuple[str, ...]


class Settings(Record):
    """Options of the view."""

    columns: Annotated[
        tuple[str, ...], Meta(description="tags: a column for each combination of their values")
    ] = ("task",)
    rows: Annotated[str, Meta(description="a tag: a row for each of its values under each model")] = ""
    where: Annotated[str, Meta(description="TAG=VALUE of the questions, with commas between several")] = ""
    mean: Annotated[
        bool, Meta(description="the mean of the columns, each alike, which models are sorted by")
    ] = False
    printed: Annotated[str, Meta(description="a published table whose rows stand below, as printed")] = ""

    def __post_init__(self) -> None:
        if not self.columns:
            raise UsageError("crossed: no columns; expected a tag such as columns=task")
        if self.mean and self.rows:
            raise UsageError("crossed: mean=true sorts whole models; leave out rows=")


class Crossed:
    """A row for each model, or for each model and value of a tag; a column for each part of the questions.

    Runs of a model and condition share its rows. People stand below the models, and enter no mean over these.
    Beside each value is how many replies it is the mean of and how many were left out.

    Source: ActPLD, tables 2 and 3 and figures 4 and 5.
    Departs: intervals (clustered by source of the questions), numbers of replies and the rows as printed are
        ours.
    """

    name = "crossed"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """A table for each benchmark, with a figure of shades where there is a mean.

        Raises:
            UsageError: no question has the tags, or two runs of a row have the same question.
        """
        made = []
        for cells in by_benchmark((*grid.scored, *grid.people), lambda c: c.run.plan.benchmark).values():
            parts = _CrossedTrials.of(cells, self.settings)
            if parts.columns:
                made.append(_means(parts, draws=draws) if self.settings.mean else _table(parts, draws=draws))
        if not made:
            tags = ", ".join(filter(None, (*self.settings.columns, self.settings.rows)))
            of = f" where {self.settings.where}" if self.settings.where else ""
            raise UsageError(f"no question of the panel{of} has the tags {tags}; `vidence report` lists tags")
        return tuple(made)


def create(settings: Settings) -> PanelView:
    """The view."""
    return Crossed(settings)


@dataclass(frozen=True, kw_only=True)
class _Order:
    """Values of tags in the order in which the benchmark names them for its tables, then by letter."""

    named: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, cells: Sequence[GridCell]) -> "_Order":
        found: dict[str, list[str]] = {}
        for columns in declared(cells[0].run.plan.benchmark).values():
            for column in columns:
                for tag, values in column.where.items():
                    found.setdefault(tag, []).extend(values)
        return cls(named=found)

    def key(self, tag: str, value: str) -> tuple[int, object]:
        """What a value of a tag is sorted by."""
        known = self.named.get(tag, ())
        return (known.index(value) if value in known else len(known), natural_order(value))


@dataclass(frozen=True, kw_only=True)
class _CrossedTrials:
    """The trials of each model by the values of the row and those of the columns."""

    title: str
    settings: Settings
    rows: tuple[str, ...]
    columns: tuple[Values, ...]
    models: Mapping[str, Sequence[GridCell]]
    people: frozenset[str]

    @classmethod
    def of(cls, cells: Sequence[GridCell], settings: Settings) -> "_CrossedTrials":
        models: dict[str, list[GridCell]] = {}
        for cell in cells:
            models.setdefault(cell.label, []).append(cell)
        where = where_of(settings.where, what="crossed: where=")
        kept = [row.item.tags for cell in cells for row in chosen(cell.run.rows, where)]
        kept = [
            tags for tags in kept if all(tag in tags for tag in (*settings.columns, *_named(settings.rows)))
        ]
        across = {tuple(tags[tag] for tag in settings.columns) for tags in kept}
        down = {tags[settings.rows] for tags in kept} if settings.rows else {""}
        order = _Order.of(cells)
        found = cls(
            title=title_of(cells),
            settings=settings,
            rows=tuple(sorted(down, key=lambda value: order.key(settings.rows, value))),
            columns=tuple(sorted(across, key=lambda values: [*map(order.key, settings.columns, values)])),
            models=models,
            people=frozenset(cell.label for cell in cells if cell.about.people),
        )
        for label in models:
            found.check(label)
        return found

    def check(self, label: str) -> None:
        """Refuse two runs that hold one question, measured alike: their mean would be of no run."""
        seen: dict[tuple[str, tuple[str | None, ...]], GridCell] = {}
        for cell in self.models[label]:
            for item in (row.item for row in cell.run.rows):
                place = (item.item_id, tuple(item.tags.get(tag) for tag in self.settings.columns))
                other = seen.setdefault(place, cell)
                if other is not cell:
                    raise UsageError(
                        f"{other.run.folder} and {cell.run.folder} both hold {item.item_id!r} of {label}; "
                        "give one of them another condition"
                    )

    def trials(self, label: str, row: str, column: Values, *, are_counted: bool = True) -> list[TrialRow]:
        """The trials of a model in a cell; with `are_counted` false those too that enter no mean."""
        settings = self.settings
        tags = {tag: (value,) for tag, value in zip(settings.columns, column, strict=True)}
        where = {
            **where_of(settings.where, what="crossed: where="),
            **tags,
            **({settings.rows: (row,)} if row else {}),
        }
        return [
            one
            for cell in self.models[label]
            for one in chosen(counted(cell) if are_counted else cell.run.rows, where)
        ]

    def chance(self, row: str, column: Values) -> Cell:
        """What blind guessing gets in a cell, on the questions of all; nothing where no letters were read."""
        rows = [
            one
            for label in self.models
            for one in self.trials(label, row, column)
            if is_one_of(one.score.scorer, (LETTERS, LOGP))
        ]
        whole = list({one.item.item_id: one for one in rows}.values())
        return SimpleRules.of(whole).on("chance", Aggregate.of(whole)) if whole else Cell()

    def ordered(self) -> list[str]:
        """The models as the panel has them, people last."""
        return sorted(self.models, key=lambda label: label in self.people)

    @property
    def words(self) -> str:
        """Of which questions."""
        return f" ({self.settings.where})" if self.settings.where else ""


def _named(tag: str) -> tuple[str, ...]:
    return (tag,) if tag else ()


# --------------------------------------------------------------------------- as tables 2 and 3


def _table(parts: _CrossedTrials, *, draws: Draws) -> Table:
    """Each value with its interval, the replies that it is the mean of, and how many were left out."""
    headings = [Column(key="row", title=parts.settings.rows, kind="text")] if parts.settings.rows else []
    for i, column in enumerate(parts.columns):
        title = ", ".join(column)
        headings += [
            Column(key=f"share:{i}", title="accuracy", group=title, kind="share"),
            Column(key=f"n:{i}", title="n", group=title, kind="count", note="replies in the mean"),
            Column(key=f"left:{i}", title="out", group=title, kind="count", note="replies left out"),
        ]
    rows = [
        Row(
            key=f"row:{label}:{value}",
            label=label,
            detail="people" if label in parts.people else "",
            values=(*_named(value), *_cells(parts, label, value, draws=draws)),
        )
        for label in parts.ordered()
        for value in parts.rows
        if any(parts.trials(label, value, column, are_counted=False) for column in parts.columns)
    ]
    for value in parts.rows:
        cells = itertools.chain.from_iterable(
            (parts.chance(value, column), Cell(), Cell()) for column in parts.columns
        )
        rows.append(Row(key=f"chance:{value}", label="chance", values=(*_named(value), *cells)))
    note = (
        f"Per cent with {100 * draws.level:g} % intervals, clustered by source. n: replies in the mean; out: "
        "those left out (unreadable, refused, failed)."
    )
    table = Table(
        name=f"crossed:{parts.title}",
        title=f"{parts.title}: models by {_across(parts)}{parts.words}",
        note=note,
        label="model",
        columns=tuple(headings),
        rows=tuple(rows),
    )
    return _with_printed(table, parts)


def _across(parts: _CrossedTrials) -> str:
    return " and ".join((*_named(parts.settings.rows), *parts.settings.columns))


def _cells(parts: _CrossedTrials, label: str, value: str, *, draws: Draws) -> list[Cell]:
    found = []
    for column in parts.columns:
        kept = parts.trials(label, value, column)
        n_all = len(parts.trials(label, value, column, are_counted=False))
        estimate = Aggregate.of(kept).estimate(draws) if kept else None
        n = sum(row.correct is not None for row in kept)
        found += [Cell(value=estimate), *([Cell(value=n), Cell(value=n_all - n)] if n_all else [Cell()] * 2)]
    return found


def _with_printed(table: Table, parts: _CrossedTrials) -> Table:
    """The table with the rows of a paper below ours."""
    if not parts.settings.printed:
        return table
    tags = parts.settings.columns
    wanted = [dict(zip(tags, column, strict=True)) for column in parts.columns]
    printed = printed_rows(parts.settings.printed, wanted)
    rows = []
    for place, one in enumerate(printed.rows):
        words, values = one.words, list[Cell]()
        for value, n in zip(one.values, one.n, strict=True):
            values += [value, Cell(value=n), Cell()]
        label, rest = (words[:-1], words[-1:]) if parts.settings.rows else (words, ())
        rows.append(Row(key=f"printed:{place}", label=as_label(label), values=(*rest, *values)))
    return printed.below(table, rows)


# --------------------------------------------------------------------------- as figures 4 and 5


def _means(parts: _CrossedTrials, *, draws: Draws) -> Table:
    """Models by the mean of their columns, the highest first; then people, the mean over models, chance."""
    values = {
        label: [_estimate(parts, label, column, draws=draws) for column in parts.columns]
        for label in parts.models
    }
    means = {label: _mean(parts, label, draws=draws) for label in parts.models}
    models = [label for label in parts.ordered() if label not in parts.people]
    models.sort(key=lambda label: -one.value if (one := means[label]) is not None else 1.0)
    rows = [
        Row(
            key=f"row:{label}",
            label=label,
            detail="people" if label in parts.people else "",
            values=(*values[label], means[label]),
        )
        for label in (*models, *(label for label in parts.ordered() if label in parts.people))
    ]
    every = [*([values[label][i] for label in models] for i in range(len(parts.columns)))]
    over = [*every, [means[label] for label in models]]
    known = [[one.value for one in some if one is not None] for some in over]
    rows.append(
        Row(
            key="models",
            label=f"mean over {len(models)} models",
            values=tuple(over_models(some, level=draws.level) for some in known),
        )
    )
    chance = tuple(parts.chance("", column) for column in parts.columns)
    rows.append(Row(key="chance", label="chance", values=(*chance, Cell())))
    return Table(
        name=f"crossed-means:{parts.title}",
        title=f"{parts.title}: models by their mean{parts.words}",
        note=f"Per cent with {100 * draws.level:g} % intervals, clustered by source; those of the mean over "
        "models are Student's t, over those that have the column. The mean of the columns counts each alike, "
        "and is there where all are. People are in no mean over models.",
        label="model",
        columns=(
            *(
                Column(key=f"share:{i}", title=", ".join(column), kind="share")
                for i, column in enumerate(parts.columns)
            ),
            Column(key="mean", title="mean of the columns", kind="share"),
        ),
        rows=tuple(rows),
        figure="matrix",
    )


def _estimate(parts: _CrossedTrials, label: str, column: Values, *, draws: Draws) -> Estimate | None:
    kept = parts.trials(label, "", column)
    return Aggregate.of(kept).estimate(draws) if kept else None


def _mean(parts: _CrossedTrials, label: str, *, draws: Draws) -> Estimate | None:
    """The mean of the columns of a model, each alike; None where it has no score in one of them."""
    scored = [ScoredQuestions.of(parts.trials(label, "", column)) for column in parts.columns]
    if not all(one.items for one in scored):
        return None
    items = [item for one in scored for item in one.items]
    return draws.average(
        np.concatenate([one.values for one in scored]),
        clusters=Clusters.of(items),
        groups=[", ".join(c) for c, one in zip(parts.columns, scored, strict=True) for _ in one.items],
    )
