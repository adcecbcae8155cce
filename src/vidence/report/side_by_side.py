"""Several runs next to each other: their names, and the same tables with a column per run."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from vidence.engine.specs import label, short_name
from vidence.report.results import OUTCOMES, Run
from vidence.tables.table import FEW_VIDEOS, Cell, Column, Table, Value, several
from vidence.tables.table import Row as TableRow

_DRAWN: Final[Mapping[str, str]] = {
    "videos": "videos",
    "accuracy": "accuracy",
    "chance": "chance",
    "constant": "always one letter",
}


def run_names(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a distinct name for each run: its own, or its model's short name (`label`).

    Equal names are extended by the first that distinguishes them: provider, benchmark, folder name, or a
    number.
    """
    names = [label(run.plan) for run in runs]
    longer = [run.plan.name or short_name(run.plan.model, with_provider=True) for run in runs]
    names = [w if names.count(n) > longer.count(w) == 1 else n for n, w in zip(names, longer, strict=True)]
    longer = [f"{n} ({run.plan.benchmark})" for n, run in zip(names, runs, strict=True)]
    names = [w if names.count(n) > longer.count(w) == 1 else n for n, w in zip(names, longer, strict=True)]
    names = [f"{n} ({run.name})" if names.count(n) > 1 else n for n, run in zip(names, runs, strict=True)]
    return tuple(
        f"{n.removesuffix(')')}, {i})" if names.count(n) > 1 else n for i, n in enumerate(names, start=1)
    )


def side_by_side(runs: Sequence[Run], tables: Sequence[Sequence[Table]]) -> tuple[Table, ...]:
    """Return the headline figures of all runs, then the accuracies of every score table.

    Args:
        runs: the runs.
        tables: each run's score tables, ``score`` first.
    """
    columns = _run_columns(runs)
    by_name = [{table.name: table for table in some} for some in tables]
    names = dict.fromkeys(name for values in by_name for name in values)
    return (
        overview(runs, [some[0] for some in tables]),
        *(_accuracies(name, [values.get(name) for values in by_name], columns) for name in names),
    )


def _run_columns(runs: Sequence[Run]) -> tuple[Column, ...]:
    return tuple(Column(key=f"run:{i}", title=name) for i, name in enumerate(run_names(runs)))


def overview(runs: Sequence[Run], scores: Sequence[Table]) -> Table:
    """Return the headline figures of all runs.

    Args:
        runs: the runs.
        scores: each run's table ``score``.
    """
    columns = _run_columns(runs)
    titles = dict.fromkeys(c.title for score in scores for c in score.columns if c.key == "videos")
    labels = {"accuracy": "accuracy, %", "items": "questions", "videos": " or ".join(titles)}
    labels |= {"chance": "chance, %", "constant": "always one letter, %"} | {name: name for name in OUTCOMES}
    parsers = TableRow(key="parser", label="parser", values=tuple(run.reader for run in runs))
    rows = (
        TableRow(key=key, label=label, values=tuple(score.cell("headline", key) for score in scores))
        for key, label in labels.items()
    )
    return Table(
        name="runs",
        title="Overview",
        label=Column(key="name", title=""),
        columns=columns,
        rows=(parsers, *rows),
        note=_same_questions(runs),
    )


def scores_of_runs(runs: Sequence[Run], scores: Sequence[Table]) -> Table:
    """Return a table with a row per run's headline score, for the figure above the other tables.

    Args:
        runs: the runs.
        scores: each run's table ``score``.
    """
    known = {column.key: column for column in scores[0].columns}
    columns = tuple(replace(known[key], title=title) for key, title in _DRAWN.items())
    return Table(
        name="runs:scores",
        title="Accuracy of each run",
        label="run",
        columns=columns,
        rows=tuple(
            TableRow(key=name, label=name, values=tuple(score.cell("headline", c.key) for c in columns))
            for name, score in zip(run_names(runs), scores, strict=True)
        ),
        figure="scores",
    )


def _same_questions(runs: Sequence[Run]) -> str:
    asked = [{(row.item.item_id, row.item.question) for row in run.rows} for run in runs]
    shared = set.intersection(*asked)
    if all(len(some) == len(shared) for some in asked):
        return f"All runs have trials on the same {len(shared):,} questions."
    sizes = ", ".join(f"{len(some):,}" for some in asked)
    return (
        f"The runs have trials on different questions ({sizes}; {len(shared):,} are shared by all), "
        "so their scores are not comparable as they stand."
    )


def _on_videos(key: str, sizes: Sequence[Mapping[str, Value]]) -> str:
    """Return the number of videos of a line, as a range if runs differ."""
    videos = sorted({n for of_run in sizes if isinstance(n := of_run.get(key), int)})
    if not videos:
        return ""
    n = several(videos[0], "video") if len(videos) == 1 else f"{videos[0]:,} to {videos[-1]:,} videos"
    return f"{n} (few)" if videos[0] < FEW_VIDEOS else n


def _accuracies(name: str, tables: Sequence[Table | None], columns: tuple[Column, ...]) -> Table:
    known = [table for table in tables if table is not None]
    lines: dict[str, TableRow] = {}
    for row in (row for table in known for row in table.rows):
        if lines.setdefault(row.key, row).label != row.label:  # of the headlines of several protocols
            lines[row.key] = TableRow(key=row.key, label="headline of each run", values=row.values)
    cells = [{} if t is None else {row.key: t.cell(row.key, "accuracy") for row in t.rows} for t in tables]
    sizes = [{} if t is None else {row.key: t.value(row.key, "videos") for row in t.rows} for t in tables]
    return Table(
        name=f"runs:{name}",
        title=f"{known[0].title}: accuracy, %",
        label=known[0].label,
        columns=columns,
        rows=tuple(
            TableRow(
                key=key,
                label=row.label,
                detail=", ".join(filter(None, (row.detail, _on_videos(key, sizes)))),
                values=tuple(of_run.get(key, Cell()) for of_run in cells),
            )
            for key, row in lines.items()
        ),
    )
