"""Whether the numbers of a printed table can be true."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.console.files import screen, write_asked, write_said
from vidence.console.options import file_option
from vidence.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

    from vidence.explain.published.printed_tables import ColumnRule, PublishedTable
    from vidence.explain.published.table_audit import Coverage

SECTION = "Explain"

PROBLEMS = 3  # as for a run with failed questions: the command did its work, and not all is well


@click.command("audit-table")
@click.argument("table", required=False)
@click.option(
    "--n",
    "sizes",
    multiple=True,
    metavar="COLUMN=N",
    help="How many questions a column is about; may be repeated.",
)
@click.option(
    "--sums",
    multiple=True,
    metavar="TOTAL=A+B+...",
    help="Columns whose right answers add up to those of another; may be repeated.",
)
@click.option(
    "--mean",
    "means",
    multiple=True,
    metavar="MEAN=A,B,...",
    help="A column that is the mean of others, each alike; may be repeated.",
)
@click.option("--names", metavar="A,B", help="Columns that together name a row (default: first).")
@file_option("--json", "json_path", "Write the table with its flags as JSON; - prints it.")
def audit_table(
    *,
    table: str | None,
    sizes: tuple[str, ...],
    sums: tuple[str, ...],
    means: tuple[str, ...],
    names: str | None,
    json_path: Path | None,
) -> int:
    """Check a printed TABLE: a CSV of percentages, or the name of a published one (none: list these).

    The exit code is 3 when something in it cannot be true.
    """
    from vidence.explain.published import published
    from vidence.explain.published.printed_tables import read_file, with_n, with_rules
    from vidence.explain.published.table_audit import audited, coverage, problems

    console = screen(json_path)
    if table is None:
        titles = {name: published.load(name).title for name in published.names()}
        write_said(json_path, "audit-table", values={"published": titles})
        if not console.quiet:
            click.echo("\n".join(f"{name:<24} {title}" for name, title in titles.items()))
        return 0
    columns = [column.strip() for column in (names or "").split(",") if column.strip()]
    is_file = table.lower().endswith((".csv", ".tsv")) or Path(table).exists()
    if columns and not is_file:
        raise UsageError(f"--names is for files; the rows of the published table {table!r} have their names")
    read = read_file(Path(table), names=columns) if is_file else published.load(table)
    read = with_n(read, dict(_size(one) for one in sizes), where=f"--n for {table}")
    read = with_rules(read, _rules(sums, means), where=f"--sums and --mean for {table}")
    checked = audited(read)
    write_asked((json_path, lambda file: _write(checked, coverage(checked), file)))
    _draw(checked, coverage(checked), console)
    return PROBLEMS if any(problems(checked)) else 0


# --------------------------------------------------------------------------- what was asked


def _size(text: str) -> tuple[str, int]:
    column, _, n = text.rpartition("=")
    if not column or not n.strip().isdecimal() or not int(n):
        raise UsageError(f"--n {text!r}; expected COLUMN=N with a whole number of 1 or more: --n Overall=500")
    return column.strip(), int(n)


def _rules(sums: Sequence[str], means: Sequence[str]) -> "list[ColumnRule]":
    from vidence.explain.published.printed_tables import ColumnRule

    named_sums, named_means = (
        [_parts(text, between, flag) for text in texts]
        for texts, between, flag in ((sums, "+", "--sums"), (means, ",", "--mean"))
    )
    return [
        *(ColumnRule(rule="sum", total=total, of=of) for total, of in named_sums),
        *(ColumnRule(rule="mean", total=total, of=of) for total, of in named_means),
    ]


def _parts(text: str, between: str, flag: str) -> tuple[str, tuple[str, ...]]:
    total, _, rest = text.partition("=")
    parts = tuple(part.strip() for part in rest.split(between) if part.strip())
    if not total.strip() or len(parts) < 2:
        raise UsageError(
            f"{flag} {text!r}; expected a column, =, and two or more columns with {between!r} between them"
        )
    return total.strip(), parts


# --------------------------------------------------------------------------- what comes out


def _write(table: "PublishedTable", covered: "Coverage", path: Path) -> None:
    import msgspec

    from vidence.media.whole import write_file

    whole = {"format": "vidence-audit/2", "table": table, "coverage": covered}
    write_file(path, msgspec.json.encode(whole) + b"\n")


def _draw(table: "PublishedTable", covered: "Coverage", console: "Console") -> None:
    from vidence.tables.terminal import plain

    title = f"{table.name} · {table.title}" if table.title != table.name else table.name
    console.print(plain(title, style="bold"))
    source = ", ".join(filter(None, (table.source.paper, table.source.where, table.source.address)))
    for line in filter(None, (source, *table.notes)):
        console.print(plain(line, style="dim"))
    flags = [flag for row in table.rows for cell in row.cells for flag in cell.flags]
    if flags:
        console.print()
        console.print(_grid(table))
    console.print()
    n_problems = sum(flag.is_problem for flag in flags)
    console.print(plain(f"{_several(len(table.rows), 'row')}: {_several(n_problems, 'problem')}."))
    for said, names in (
        ("Checked against a number of questions", covered.checked),
        ("With so many questions every value is possible", covered.vacuous),
        ("Number of questions not known, so not checked", covered.unknown),
    ):
        if names:
            console.print(plain(f"{said}: {', '.join(names)}.", style="dim"))


def _grid(table: "PublishedTable") -> "Grid":
    """One line for each flag, in the order of the table."""
    from vidence.tables.terminal import new_grid, plain

    grid = new_grid()
    for title in ("row", "column", "printed", ""):
        grid.add_column(plain(title, style="dim"), justify="right" if title == "printed" else "left")
    last = ""
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            place, printed = ("", "") if column.kind == "text" else (column.name, cell.text)
            for flag in cell.flags:
                says = plain(f"{flag.kind}: ", style="red" if flag.is_problem else "dim")
                name = row.name if row.name != last else ""
                grid.add_row(plain(name), plain(place), plain(printed), says.append_text(plain(flag.says)))
                last = row.name
    return grid


def _several(n: int, what: str) -> str:
    return f"{n or 'no'} {what}{'' if n == 1 else 's'}"
