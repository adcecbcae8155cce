"""Any table in the terminal; one that is too wide is printed in several blocks of columns."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from vidence.tables.table import Column, Shown, ShownRow, Table, shown_columns, shown_rows
from vidence.text import visible

MOST_NAME = 28
MOST_LABEL = 100  # in the first column, where words fold
MOST_WORDS = 40
MOST_HEADING = 18
MOST_LINES = 45
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


def print_table(table: Table, console: Console) -> None:
    """Print a table with its notes; of a long one only how long it is."""
    console.print()
    console.print(plain(table.title, style="bold"))
    if len(table.rows) > MOST_LINES:
        console.print(plain(f"{len(table.rows):,} lines, on the page and in the files.", style="dim"))
        return
    columns, rows = shown_columns(table), shown_rows(table)
    widths = _widths(columns, rows)
    widths[0] = min(widths[0], console.width // 2)
    for block in _blocks(widths, console.width):
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
        console.print(grid)
    for note in filter(None, (table.note, *table.footnotes)):
        console.print(plain(note, style="dim"))


def _heading(column: Column) -> str:
    return "\n".join(filter(None, (column.group, column.title)))


def _cell(i: int, cell: Shown) -> str:
    if i == 0:
        gap = " " if cell.detail.startswith(("†", "*")) else ", "
        return gap.join(filter(None, (shortened(cell.text, most=MOST_LABEL), visible(cell.detail))))
    return " ".join(filter(None, (shortened(cell.text, most=MOST_WORDS), visible(cell.detail))))


def _widths(columns: Sequence[Column], rows: Sequence[ShownRow]) -> list[int]:
    """How wide each column is; headings fold."""
    widths = []
    for i, column in enumerate(columns):
        words = max(map(cell_len, (column.group, column.title)))
        cells = max((cell_len(_cell(i, row.cells[i])) for row in rows), default=0)
        widths.append(max(cells, min(words, MOST_HEADING)))
    return widths


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
