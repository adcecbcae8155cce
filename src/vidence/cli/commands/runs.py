"""The runs in a folder: how far each is, its score, what it cost."""

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
    """Which runs are listed."""

    folder: Annotated[Path, argument()] = Path("runs")
    json_path: Annotated[Path | None, JSON] = None


@command()
def runs(given: Runs) -> None:
    """The runs in FOLDER (default: runs) and below it: status, score, cost, seconds and tokens of a reply."""
    from vidence.report.run_list import list_runs
    from vidence.tables.terminal import print_table

    console = screen(given.json_path)
    found = list_runs(given.folder)
    write_said(given.json_path, "runs", values={"runs": found})
    if console.quiet:
        return
    if not found:
        click.echo(f"{given.folder} holds no run; `vidence run` makes one", err=True)
        return
    console.width = max(console.width, _WIDE)  # a terminal folds the lines, and a folder stays whole
    print_table(_table(found), console, most_lines=len(found))


def _table(found: "Sequence[ListedRun]") -> "Table":
    """The list; the folder, with which a run goes on or is reported, is whole."""
    from vidence.tables.table import RowSpec, count, number, tabulate

    return tabulate(
        "runs",
        "Runs",
        label="folder",
        rows=[RowSpec(one.folder, one.folder, one) for one in found],
        measures=[
            number("name", lambda one: one.name, kind="text"),
            number("benchmark", lambda one: one.benchmark, kind="text"),
            number("status", _status, kind="text"),
            number("done", lambda one: f"{one.n_answered:,}/{one.n_planned:,}", kind="text"),
            number("score", _score, "score, %", kind="text"),
            number("cost", lambda one: one.cost, "cost, $"),
            number("seconds", lambda one: one.seconds, "s/reply"),
            count("tokens", lambda one: one.tokens, "tokens/reply"),
            number("started", lambda one: one.started_at[:16].replace("T", " "), kind="text"),
        ],
        notes=(f"{one.status}: {one.problem}" if one.problem else "" for one in found),
    )


def _status(one: "ListedRun") -> str:
    return f"{one.n_failed:,} failed" if one.status == "failures" else one.status


def _score(one: "ListedRun") -> str:
    if one.score is None:
        return "answers hidden" if one.n_hidden else ""
    interval = "" if one.low is None or one.high is None else f" [{100 * one.low:.1f}, {100 * one.high:.1f}]"
    hidden = f", {one.n_hidden:,} hidden" if one.n_hidden else ""
    return f"{100 * one.score:.1f}{interval}{hidden}"
