"""Trials as CSV, JSON lines and Parquet, tables as CSV, everything as JSON, for other programs."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vidence.media.whole import own_folder, write_file
from vidence.report.results import Run
from vidence.report.trials import trial_records, trials_as_csv, trials_as_jsonl, trials_as_parquet
from vidence.tables.export import table_as_csv, table_as_json
from vidence.tables.table import Table

JSON_FORMAT = "vidence-report/1"
SEVERAL_FORMAT = "vidence-reports/1"
TABLES_MARK = ".vidence-tables"


def write_csv(runs: Sequence[Run], path: Path) -> None:
    """Write everything that is known of each trial as CSV (`vidence.report.trials`): UTF-8, comma.

    `correct` is 1 or 0 (or between, for partial scores), and empty where a judge is still to be asked.
    A text that a spreadsheet would run as a formula gets an apostrophe in front; plain numbers stay.

    Raises:
        StoreError: the file cannot be written.
    """
    write_file(path, trials_as_csv(runs))


def write_jsonl(runs: Sequence[Run], path: Path) -> None:
    """Write everything that is known of each trial as JSON lines (`vidence.report.trials`).

    Raises:
        StoreError: the file cannot be written.
    """
    write_file(path, trials_as_jsonl(runs))


def write_parquet(runs: Sequence[Run], path: Path) -> None:
    """Write everything that is known of each trial as Parquet (`vidence.report.trials`).

    Raises:
        UsageError: pyarrow is not installed.
        StoreError: the file cannot be written.
    """
    write_file(path, trials_as_parquet(runs))


def write_json(reports: Sequence[tuple[Run, Sequence[Table]]], path: Path) -> None:
    """Write plan, facts, tables and trials of each run as one JSON object; of several runs under ``runs``.

    Shares run from 0 to 1; a number that does not exist (NaN) is null.

    Raises:
        StoreError: the file cannot be written.
    """
    wholes = [_whole(run, tables) for run, tables in reports]
    whole = wholes[0] if len(wholes) == 1 else {"format": SEVERAL_FORMAT, "runs": wholes}
    write_file(path, msgspec.json.encode(whole) + b"\n")


def _whole(run: Run, tables: Sequence[Table]) -> dict[str, object]:
    return {
        "format": JSON_FORMAT,
        "name": run.name,
        "parser": run.reader,
        "plan": run.plan,
        "facts": run.facts,
        "n_left_out": len(run.facts.problems),
        "tables": [table_as_json(table) for table in tables],
        "trials": list(trial_records(run)),
    }


def write_tables(tables: Sequence[Table], folder: Path) -> tuple[Path, ...]:
    """Write one CSV file for each table into a folder, which is new, empty or has `TABLES_MARK`.

    Raises:
        UsageError: the folder holds other files.
        StoreError: the folder cannot be made, or a file cannot be written.
    """
    own_folder(folder, TABLES_MARK)
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
