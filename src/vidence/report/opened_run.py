"""A run folder for Python callers: its rows, accuracy and tables."""

import base64
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from vidence.engine.specs import label
from vidence.errors import UnknownNameError, UsageError
from vidence.installation import pip
from vidence.media.whole import write_file
from vidence.records import Estimate, by_key
from vidence.report import results
from vidence.report.comparison import Compared, compare_two
from vidence.report.pairing import pair
from vidence.report.results import SEED, Row
from vidence.report.scores import Draws, headline_accuracy, margin_table, score_tables
from vidence.report.sections import notebook_html
from vidence.report.tables import all_tables, headline
from vidence.statistics.resampling import Resampling
from vidence.tables.charts import Statement
from vidence.tables.rendering import drawing_of, style_sheet
from vidence.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

WIDTH_PX, _EDGE_PX, _LEGEND_PX = 760, 12, 22


@dataclass(frozen=True)
class Picture:
    """A figure as SVG; a notebook shows it, `save` writes it."""

    svg: str
    title: str

    def __repr__(self) -> str:
        return f"Picture({self.title!r})"

    def _repr_html_(self) -> str:
        # As an image its style is its own, and changes nothing of the page around it.
        data = base64.b64encode(self.svg.encode()).decode("ascii")
        return f'<img alt="{escape(self.title)}" src="data:image/svg+xml;base64,{data}">'

    def save(self, path: Path | str) -> Path:
        """Write the SVG to a file, and return the path.

        Raises:
            UsageError: the name does not end in ``.svg``.
            StoreError: it cannot be written.
        """
        place = Path(path)
        if place.suffix.lower() != ".svg":
            raise UsageError(f"{place} does not end in .svg; a figure is written as SVG")
        write_file(place, self.svg)
        return place


def picture_of(statement: Statement) -> Picture | None:
    """Return the figure of a table or plot with title and legend; None for tables without one."""
    drawing = drawing_of(statement)
    if drawing is None:
        return None
    height_px = float(drawing.svg.partition(' height="')[2].partition('"')[0])
    top_px = 30
    below_px = top_px + height_px + _LEGEND_PX
    lines = [
        f'<svg x="0" y="{below_px + i * _LEGEND_PX - 13:g}" width="16" height="16">{swatch}</svg>'
        f'<text x="24" y="{below_px + i * _LEGEND_PX:g}">{escape(label)}</text>'
        for i, (swatch, label) in enumerate(drawing.legend)
    ]
    whole_px = below_px + _LEGEND_PX * len(drawing.legend)
    inside = (
        f'<text class="strong" y="14">{escape(statement.title)}</text>'
        f'<svg y="{top_px}" height="{height_px:g}">{drawing.svg}</svg>{"".join(lines)}'
    )
    width_px = WIDTH_PX + 2 * _EDGE_PX
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" '
        f'width="{width_px}" height="{whole_px + 2 * _EDGE_PX:g}">'
        f"<style>{escape(style_sheet(), quote=False)}</style>"
        '<rect width="100%" height="100%" fill="var(--ground)"/>'
        f'<svg class="figure" x="{_EDGE_PX}" y="{_EDGE_PX}" width="{WIDTH_PX}" height="{whole_px:g}">'
        f"{inside}</svg></svg>\n"
    )
    return Picture(svg=svg, title=statement.title)


_MOST_SENTENCES, _MOST_LETTERS = 6, 300  # of a run in a notebook


@dataclass(frozen=True, kw_only=True, repr=False)
class Run(results.Run):
    """A run, as `vidence.open_run` and `vidence.evaluate` return it.

    ``len(run)`` counts the trials; iterating yields them as rows, each with its question and score.
    """

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        score = self.accuracy
        why = self.no_score or "no question is scored"
        message = why if score is None else f"accuracy {100 * score.value:.1f} %"
        missing = f" of {self.facts.n_planned}" if self.n_missing else ""
        return f"Run({str(self.folder)!r}, {label(self.plan)!r}, {len(self)}{missing} trials, {message})"

    @property
    def accuracy(self) -> Estimate | None:
        """Return the accuracy by the plan's own average with its 95 % interval: the report's headline.

        None while no question is scored, and if the model never answered.
        """
        return headline_accuracy(self, draws=Draws(rng=np.random.default_rng(SEED)))

    @property
    def score(self) -> Estimate | None:
        """Return the same as `accuracy`."""
        return self.accuracy

    @property
    def trials(self) -> "pd.DataFrame":
        """Return a row per trial with all its fields, and a column per tag.

        Raises:
            UsageError: pandas is not installed.
        """
        pandas = _library("pandas", otherwise="run.to_polars(), or the rows: for row in run")
        return pandas.DataFrame(trial_columns(self))

    def to_polars(self) -> "pl.DataFrame":
        """Return the table of `trials` for polars.

        Raises:
            UsageError: polars is not installed.
        """
        polars = _library("polars", otherwise="run.trials with pandas, or the rows: for row in run")
        return polars.DataFrame(trial_columns(self), strict=False, infer_schema_length=None)

    def plot(self, name: str = "score") -> Picture:
        """Return a figure of the report: notebooks show it, `Picture.save` writes an SVG.

        Args:
            name: a table of `tables` that has a figure.

        Raises:
            UnknownNameError: there is no such figure; the message lists those available.
        """
        tables = self.tables()
        picture = picture_of(tables[name]) if name in tables else None
        if picture is None:
            raise UnknownNameError("figure", name, [n for n, table in tables.items() if picture_of(table)])
        return picture

    def compare(
        self, other: "results.Run | Path | str", *, shared: bool = False, level: float = 0.95
    ) -> Compared:
        """Compare another run with this one: the other minus this one, on the same questions.

        Args:
            other: a run, or its folder.
            shared: if the runs' questions differ, compare those for which both have a score.
            level: coverage of the intervals; 1 minus the level of the tests.

        Raises:
            UsageError: the runs do not have the same questions.
            StoreError: the folder contains no run.
        """
        second = other if isinstance(other, results.Run) else results.load_run(Path(other))
        rng, settings = np.random.default_rng(SEED), Resampling(level=level)
        return compare_two(pair([self, second], shared=shared), rng=rng, settings=settings)

    def _repr_html_(self) -> str:
        """Return a short summary for notebooks: the request, the score with its interval, and notes."""
        plan = self.plan
        tables = score_tables(self, rng=np.random.default_rng(SEED)) if self.rows else ()
        sentences = headline(self, tables[0]) if tables else ("No question was answered yet.",)
        asked = f"{plan.benchmark} · {plan.model} · {len(self):,} trials · {self.folder}"
        return notebook_html(_short(asked), map(_short, sentences[:_MOST_SENTENCES]))

    def tables(self, *, level: float = 0.95, against_chance: bool = False) -> dict[str, Table]:
        """Return all tables of this run's report, by name; the scores come first.

        Args:
            level: coverage of the intervals.
            against_chance: also how far the scores lie above chance, above the best single letter and above
                the longest choice, with intervals.

        Raises:
            UsageError: the run has no trials.
        """
        tables = all_tables(self, rng=np.random.default_rng(SEED), level=level)
        margins = [margin_table(self, level=level)] if against_chance else []
        return {table.name: table for table in (*tables, *margins)}


def open_run(folder: Path | str, *, parser: str | None = None) -> Run:
    """Read the folder of a finished or interrupted run.

    Args:
        folder: the folder that ``vidence run`` or ``vidence.evaluate`` wrote.
        parser: None: use the stored scores. A name: parse every stored reply again with that parser; no model
            is asked.

    Raises:
        StoreError: not a run folder, damaged, or of another format.
        UnknownNameError: no parser has that name.
    """
    return Run(**vars(results.load_run(Path(folder), parser=parser)))


def trial_columns(run: results.Run) -> dict[str, list[object]]:
    """Return all fields of a run's trials by column; lists and objects are kept as they are."""
    from vidence.report.trials import TAGS, tag_columns, trial_records  # only a table of trials needs them

    tags = tag_columns([run])
    return by_key(
        (name, value)
        for row, record in zip(run.rows, trial_records(run), strict=True)
        for name, value in (record | {column: row.item.tags.get(tag) for tag, column in tags.items()}).items()
        if name != TAGS
    )


def _library(name: str, *, otherwise: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"this needs {name}, which is not installed; run: {pip()} install {name}, or take {otherwise}"
        ) from error


def _short(words: str) -> str:
    return words if len(words) <= _MOST_LETTERS else words[: _MOST_LETTERS - 1] + "…"
