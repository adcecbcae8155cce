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

SECTION = "Ask"

_MOST_NAME, _LEAST_NAME = 40, 12
_HEADINGS = (
    "name",
    "benchmark",
    "status",
    "done",
    "score, %",
    "cost, $",
    "s/reply",
    "tokens/reply",
    "started",
    "folder",
)
_NUMBERS = frozenset({"done", "score, %", "cost, $", "s/reply", "tokens/reply"})
_DISPENSABLE = (
    "tokens/reply",
    "s/reply",
    "cost, $",
    "benchmark",
    "started",
)  # in this order, where a terminal is narrow
_GAP = 2


class Runs(Record):
    """Which runs are listed."""

    folder: Annotated[Path, argument()] = Path("runs")
    json_path: Annotated[Path | None, JSON] = None


@command()
def runs(given: Runs) -> None:
    """The runs in FOLDER (default: runs) and below it: status, score, cost, seconds and tokens of a reply."""
    from vidence.report.run_list import list_runs

    console = screen(given.json_path)
    found = list_runs(given.folder)
    write_said(given.json_path, "runs", values={"runs": found})
    if console.quiet:
        return
    if not found:
        click.echo(f"{given.folder} holds no run; `vidence run` makes one", err=True)
        return
    click.echo("\n".join(_lines(found, width=console.width if console.is_terminal else None)))


def _lines(found: "Sequence[ListedRun]", *, width: int | None) -> list[str]:
    """The list as a table; in a narrow terminal names are shortened, then columns left out.

    The folder, with which a run goes on or is reported, is always whole.
    """
    columns = dict(zip(_HEADINGS, zip(*map(_row, found), strict=True), strict=True))
    gone: list[str] = []
    if width is not None:
        _shorten(columns, width=width)
        for heading in _DISPENSABLE:
            if _width(columns) > width:
                del columns[heading]
                gone.append(heading)
    lines = [_line(columns, None), *(_line(columns, i) for i in range(len(found)))]
    if gone:
        lines.append(f"(not shown: {', '.join(gone)}; a wider terminal or --json - has them)")
    return lines


def _shorten(columns: dict[str, tuple[str, ...]], *, width: int) -> None:
    """Shorten names by what the table is too wide."""
    from vidence.tables.terminal import shortened

    most = max(map(len, columns["name"])) - (_width(columns) - width)
    if most < max(map(len, columns["name"])):
        columns["name"] = tuple(shortened(name, most=max(most, _LEAST_NAME)) for name in columns["name"])


def _widths(columns: dict[str, tuple[str, ...]]) -> list[int]:
    return [max(len(heading), *map(len, cells)) for heading, cells in columns.items()]


def _width(columns: dict[str, tuple[str, ...]]) -> int:
    widths = _widths(columns)
    return sum(widths) + _GAP * (len(widths) - 1)


def _line(columns: dict[str, tuple[str, ...]], i: int | None) -> str:
    """The headings, or a row."""
    cells = [heading if i is None else cells[i] for heading, cells in columns.items()]
    padded = (
        cell.rjust(width) if heading in _NUMBERS else cell.ljust(width)
        for cell, width, heading in zip(cells, _widths(columns), columns, strict=True)
    )
    return (" " * _GAP).join(padded).rstrip()


def _row(one: "ListedRun") -> tuple[str, ...]:
    from vidence.tables.terminal import shortened
    from vidence.text import visible

    status: str = f"{one.n_failed:,} failed" if one.status == "failures" else one.status
    if one.problem:
        status = f"unusable: {shortened(one.problem, most=60)}"
    score = "" if one.score is None else f"{100 * one.score:.1f}"
    if one.low is not None and one.high is not None:
        score += f" [{100 * one.low:.1f}, {100 * one.high:.1f}]"
    cells = (
        shortened(one.name, most=_MOST_NAME),
        one.benchmark,
        status,
        "" if one.problem else f"{one.n_answered:,}/{one.n_planned:,}",
        score,
        "" if one.cost is None else f"{one.cost:,.2f}",
        "" if one.seconds is None else f"{one.seconds:,.1f}",
        "" if one.tokens is None else f"{one.tokens:,.0f}",
        one.started_at[:16].replace("T", " "),
        one.folder,
    )
    return tuple(map(visible, cells))
