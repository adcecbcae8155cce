"""``vidence runs``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vidence.report.listed import Listed

_MOST_NAME = 40
_HEADINGS = ("name", "benchmark", "status", "done", "score, %", "cost, $", "started", "folder")
_NUMBERS = frozenset({"done", "score, %", "cost, $"})


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@click.option("--json", "as_json", is_flag=True, help="The same as JSON, for other programs.")
def runs(*, folder: Path, as_json: bool) -> None:
    """The runs in FOLDER (default: runs) and below it: how far each is, its score, what it cost."""
    import msgspec

    from vidence.report.listed import list_runs

    found = list_runs(folder)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    elif not found:
        click.echo(f"{folder} holds no run; `vidence run` makes one", err=True)
    else:
        click.echo("\n".join(_lines(found)))


def _lines(found: "Sequence[Listed]") -> list[str]:
    rows = [_HEADINGS, *map(_row, found)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADINGS))]
    return [
        "  ".join(
            cell.rjust(width) if heading in _NUMBERS else cell.ljust(width)
            for cell, width, heading in zip(row, widths, _HEADINGS, strict=True)
        ).rstrip()
        for row in rows
    ]


def _row(one: "Listed") -> tuple[str, ...]:
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
        one.started_at[:16].replace("T", " "),
        one.folder,
    )
    return tuple(map(visible, cells))
