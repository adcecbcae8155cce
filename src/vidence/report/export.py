"""Trials as CSV, tables as CSV, everything as JSON, for other programs."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vidence.errors import StoreError
from vidence.media.whole import write_whole
from vidence.report.logps import has_logps, has_text_logps
from vidence.report.results import Row, Run
from vidence.tables.export import csv_text, table_as_csv, table_as_json
from vidence.tables.table import Table

JSON_FORMAT = "vidence-report/1"
LOGPS = {"choice_logps": has_logps, "choice_text_logps": has_text_logps}
FIXED = ("item_id", "model", "parser", "outcome", "read", "gold", "correct", "repeat")


def columns(run: Run) -> tuple[str, ...]:
    """The columns of the CSV file: the fixed ones, then the tags, ``repeat`` where there are several.

    ``choice_logps`` and ``choice_text_logps`` come last where replies have such log-probabilities. A tag
    that has the name of another column becomes ``tag_NAME``.
    """
    repeat = FIXED[-1:] if run.plan.repeats > 1 else ()
    logps = [name for name, has in LOGPS.items() if any(map(has, run.rows))]
    return (*FIXED[:-1], *_tag_columns(run).values(), *repeat, *logps)


def _tag_columns(run: Run) -> dict[str, str]:
    names = dict.fromkeys(tag for row in run.rows for tag in row.item.tags)
    found: dict[str, str] = {}
    for name in names:
        column = name
        while column in (*FIXED, *LOGPS) or (column != name and column in {*names, *found.values()}):
            column = f"tag_{column}"
        found[name] = column
    return found


def record(run: Run, row: Row) -> tuple[str | int | float | None, ...]:
    """The fixed columns of one trial."""
    return (
        row.item.item_id,
        run.plan.model,
        row.score.scorer,
        row.outcome,
        row.read,
        row.item.answer,
        row.correct,
        row.trial.repeat,
    )


def write_csv(run: Run, path: Path) -> None:
    """Write one line per trial, in the order of the questions: UTF-8, comma, first line the names.

    `correct` is 1 or 0 (or between, for partial scores), and empty where a judge is still to be asked.
    `choice_logps` is a JSON object of natural-log probabilities by letter, empty where a reply has none,
    `choice_text_logps` one of those of the texts of the choices, with their tokens and bytes.
    A text that a spreadsheet would run as a formula gets an apostrophe in front; plain numbers stay.

    Raises:
        StoreError: the file cannot be written.
    """
    tags = _tag_columns(run)
    named = columns(run)
    rows = []
    for row in run.rows:
        *first, repeat = record(run, row)
        cells = [*first, *(row.item.tags.get(tag, "") for tag in tags)]
        if FIXED[-1] in named:
            cells.append(repeat)
        logps = _logps(row)
        cells += [
            msgspec.json.encode(logps[name], order="sorted").decode() if name in logps else ""
            for name in LOGPS
            if name in named
        ]
        rows.append(cells)
    write_file(path, csv_text([named, *rows]))


def _logps(row: Row) -> dict[str, object]:
    """The log-probabilities that a reply has, of letters and of texts, by the name of their column."""
    return {name: getattr(row.trial.reply, name) for name, has in LOGPS.items() if has(row)}


def write_json(run: Run, tables: Sequence[Table], path: Path) -> None:
    """Write plan, facts, tables and trials as one JSON object.

    Shares run from 0 to 1; a number that does not exist (NaN) is null.

    Raises:
        StoreError: the file cannot be written.
    """
    whole = {
        "format": JSON_FORMAT,
        "name": run.name,
        "parser": run.parser,
        "plan": run.plan,
        "facts": run.facts,
        "n_left_out": len(run.facts.problems),
        "tables": [table_as_json(table) for table in tables],
        "trials": [
            {
                **dict(zip(FIXED, record(run, row), strict=True)),
                "tags": row.item.tags,
                **_logps(row),
            }
            for row in run.rows
        ],
    }
    write_file(path, msgspec.json.encode(whole) + b"\n")


def write_tables(tables: Sequence[Table], folder: Path) -> tuple[Path, ...]:
    """Write one CSV file for each table into a folder, which is made where it is not there.

    Raises:
        StoreError: the folder cannot be made, or a file cannot be written.
    """
    make_folder(folder)
    written: list[Path] = []
    for table in tables:
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", table.name).strip("-.") or "table"
        path = folder / f"{name}.csv"
        n = 2
        while path in written:
            path = folder / f"{name}-{n}.csv"
            n += 1
        write_file(path, table_as_csv(table))
        written.append(path)
    return tuple(written)


def make_folder(folder: Path) -> None:
    """Make a folder where it is not there.

    Raises:
        StoreError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {error.strerror or error}") from error


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; text as UTF-8, and what is no character as its number.

    Raises:
        StoreError: the file cannot be written.
    """
    if path.is_dir():
        raise StoreError(f"cannot write {path}: it is a folder; give the name of a file in it")
    if not path.parent.is_dir():
        raise StoreError(f"cannot write {path}: there is no folder {path.parent}; make it or choose another")
    if isinstance(content, str):
        content = content.encode("utf-8", errors="backslashreplace")
    try:
        write_whole(path, content)
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}; make room or choose another file"
        ) from error
