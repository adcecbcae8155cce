"""List the runs in a folder: status, score, cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.console.files import screen, write_said
from vidence.console.flags import JSON, argument, command
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.report.run_list import ListedRun
    from vidence.tables.table import Table

SECTION = "Ask"

_WIDE = 400


class Runs(Record):
    """The runs to list."""

    folder: Annotated[Path, argument()] = Path("runs")
    json_path: Annotated[Path | None, JSON] = None


@command()
def runs(given: Runs) -> None:
    """List the runs in and below FOLDER (default: runs): status, score, cost, time and tokens per reply."""
    from vidence.report.run_list import list_runs
    from vidence.tables.terminal import print_table

    console = screen(given.json_path)
    runs = list_runs(given.folder)
    write_said(given.json_path, "runs", values={"runs": runs})
    if console.quiet:
        return
    if not runs:
        click.echo(f"{given.folder} holds no runs; `vidence run` makes one", err=True)
        return
    console.width = max(console.width, _WIDE)  # a terminal folds the lines, and a folder stays whole
    print_table(_table(runs), console, most_lines=len(runs))


def _table(runs: "Sequence[ListedRun]") -> "Table":
    """Return the list; folders, which commands need, are not shortened."""
    from vidence.tables.table import RowSpec, count, number, tabulate, words

    return tabulate(
        "runs",
        "Runs",
        label="folder",
        rows=[RowSpec(run.folder, run.folder, run) for run in runs],
        measures=[
            words("name", lambda run: run.name),
            words("benchmark", lambda run: run.benchmark),
            words("status", _status),
            words("done", lambda run: f"{run.n_answered:,}/{run.n_planned:,}"),
            words("score", _score, "score, %"),
            number("cost", lambda run: run.cost, "cost, $"),
            number("seconds", lambda run: run.seconds, "s/reply"),
            count("tokens", lambda run: run.tokens, "tokens/reply"),
            words("started", lambda run: run.started_at[:16].replace("T", " ")),
        ],
        notes=(f"{run.status}: {run.problem}" if run.problem else "" for run in runs),
    )


def _status(run: "ListedRun") -> str:
    return f"{run.n_failed:,} failed" if run.status == "failures" else run.status


def _score(run: "ListedRun") -> str:
    if run.score is None:
        return "answers hidden" if run.n_hidden else ""
    interval = "" if run.low is None or run.high is None else f" [{100 * run.low:.1f}, {100 * run.high:.1f}]"
    hidden = f", {run.n_hidden:,} hidden" if run.n_hidden else ""
    return f"{100 * run.score:.1f}{interval}{hidden}"
