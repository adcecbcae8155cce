"""A table in the terminal. One that is too wide is narrowed, laid on its side, or split, in this order.

Narrowed are headings and labels, whose words fold; values never do. A table of few rows gets a line for each
column. What is left is split into blocks of columns, as few and as even as can be, below each other.
"""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from vidence.tables.table import CellText, Column, ShownRow, Table, shown_columns, shown_rows
from vidence.text import visible

MOST_NAME = 28
MOST_LABEL = 100  # in the first column, where words fold
MOST_WORDS = 40
MOST_HEADING = 18
MOST_LINES = 45
MOST_ROWS_ASIDE = 3  # of a table that is laid on its side
_NARROW_HEADING = 11
_NARROW_LABEL = 20
_LABEL_ASIDE = 28
_GAP = 2


def plain(text: str, *, style: str = "") -> Text:
    """Text as it is: no markup, no terminal commands."""
    return Text(visible(text), style=style)


def shortened(text: str, *, most: int = MOST_NAME) -> str:
    """A text on one line of limited length; of a long one the beginning and the end."""
    text = visible(text).replace("\n", " ")
    if len(text) <= most:
        return text
    n_last = (most - 1) // 2
    return f"{text[: most - 1 - n_last]}…{text[-n_last:]}"


def new_grid(title: str = "") -> Grid:
    """An empty grid, with a heading where one is given."""
    heading = plain(title, style="bold") if title else None
    return Grid(title=heading, title_justify="left", box=None, pad_edge=False, padding=(0, _GAP, 0, 0))


def print_table(table: Table, console: Console, *, most_lines: int = MOST_LINES) -> None:
    """Print a table with its notes; of one with more lines only how long it is."""
    console.print()
    console.print(plain(table.title, style="bold"))
    if len(table.rows) > most_lines:
        console.print(plain(f"{len(table.rows):,} lines, on the page and in the files.", style="dim"))
        return
    columns, rows = shown_columns(table), shown_rows(table)
    widths = _widths(columns, rows, width=console.width)
    aside = _aside(columns, rows, width=console.width) if _whole(widths) > console.width else None
    if aside is not None:
        console.print(aside)
    else:
        for place, block in enumerate(_even_blocks(widths, console.width)):
            if place:
                console.print(plain("the same rows, further columns:", style="dim"))
            console.print(_grid(columns, rows, widths=widths, block=block))
    for note in filter(None, (table.note, *table.footnotes)):
        console.print(plain(note, style="dim"))


def _grid(
    columns: Sequence[Column], rows: Sequence[ShownRow], *, widths: Sequence[int], block: Sequence[int]
) -> Grid:
    """Some columns of a table."""
    grid = new_grid()
    for i in block:
        grid.add_column(
            plain(_heading(columns[i]), style="dim"),
            justify="left" if i == 0 or columns[i].kind == "text" else "right",
            max_width=widths[i],
            overflow="fold",
        )
    for row in rows:
        grid.add_row(*(plain(_cell(i, row.cells[i])) for i in block))
    return grid


def _aside(columns: Sequence[Column], rows: Sequence[ShownRow], *, width: int) -> Grid | None:
    """A table of few rows with a line for each of its columns; None where its values leave no room."""
    if not 0 < len(rows) <= MOST_ROWS_ASIDE < len(columns):
        return None
    values = [max(cell_len(_cell(i, row.cells[i])) for i in range(1, len(columns))) for row in rows]
    values = [max(value, _NARROW_HEADING) for value in values]
    room = width - sum(value + _GAP for value in values)
    if room < _LABEL_ASIDE:
        return None
    grid = new_grid()
    grid.add_column(plain(columns[0].title, style="dim"), max_width=room, overflow="fold")
    for row, value in zip(rows, values, strict=True):
        label = plain(_cell(0, row.cells[0]), style="dim")
        grid.add_column(label, justify="right", max_width=value, overflow="fold")
    for i, column in enumerate(columns[1:], start=1):
        heading = ", ".join(filter(None, (column.group, column.title)))
        grid.add_row(plain(heading, style="dim"), *(plain(_cell(i, row.cells[i])) for row in rows))
    return grid


def _heading(column: Column) -> str:
    return "\n".join(filter(None, (column.group, column.title)))


def _cell(i: int, cell: CellText) -> str:
    if i == 0:
        gap = " " if cell.detail.startswith(("†", "*")) else ", "
        return gap.join(filter(None, (shortened(cell.text, most=MOST_LABEL), visible(cell.detail))))
    return " ".join(filter(None, (shortened(cell.text, most=MOST_WORDS), visible(cell.detail))))


def _widths(columns: Sequence[Column], rows: Sequence[ShownRow], *, width: int) -> list[int]:
    """How wide each column is; headings fold, and in a narrow terminal sooner, and the labels, too."""
    cells = [max((cell_len(_cell(i, row.cells[i])) for row in rows), default=0) for i in range(len(columns))]
    words = [max(map(cell_len, (column.group, column.title))) for column in columns]
    found: list[list[int]] = []
    for most in (MOST_HEADING, _NARROW_HEADING):
        widths = [max(cell, min(word, most)) for cell, word in zip(cells, words, strict=True)]
        widths[0] = min(max(cells[0], words[0]), width // 2)
        over = _whole(widths) - width
        if over <= 0:
            return widths
        if widths[0] - over >= _NARROW_LABEL:
            widths[0] -= over
            return widths
        found.append(widths)
    return min(found, key=lambda widths: len(list(_blocks(widths, width))))


def _whole(widths: Sequence[int]) -> int:
    """How wide a table of such columns is."""
    return sum(widths) + _GAP * (len(widths) - 1)


def _even_blocks(widths: Sequence[int], width: int) -> list[Sequence[int]]:
    """As few blocks of columns as there can be, none of them wider than it has to be."""
    blocks = list(_blocks(widths, width))
    for narrower in range(width - 1, 0, -1):
        tried = list(_blocks(widths, narrower))
        if len(tried) > len(blocks):
            break
        blocks = tried
    return blocks


def _blocks(widths: Sequence[int], width: int) -> Iterator[Sequence[int]]:
    """Positions of columns that fit beside each other, the first column in every block."""
    block, used = [0], widths[0] + _GAP
    for i in range(1, len(widths)):
        if used + widths[i] > width and len(block) > 1:
            yield block
            block, used = [0], widths[0] + _GAP
        block.append(i)
        used += widths[i] + _GAP
    yield block
