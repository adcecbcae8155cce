"""A table in the terminal. One that is too wide is narrowed, laid on its side, or split, in this order.

Narrowed are headings and labels, whose words fold; values never do. A table of few rows gets a line for each
column. What is left is split into blocks of columns, as few and as even as can be, below each other.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from vidence.records import Estimate
from vidence.tables.table import (
    DASH,
    CellText,
    Column,
    Row,
    ShownRow,
    Table,
    cell_of,
    several,
    show,
    shown_columns,
    shown_rows,
)
from vidence.text import some, unsaid, visible

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
_END_LINES = 4  # what a sheet keeps for naming what it left out
_HEAD_LINES = 3  # of a table at least, the empty one above it among them
_MOST_NAMED = 4
_MOST_ASIDE = 14  # columns of a table that is laid on its side where lines are few
_LEAST_ROWS = 4  # of a table that is cut
_SIGN = re.compile(r"[†*]\d+ ")


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


def new_grid() -> Grid:
    """An empty grid."""
    return Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))


class Sheet:
    """What a command prints: no sentence twice, and of its parts as many as there are lines for.

    Parts without room are left out, and `end` names them. A table gets fewer columns before it gets fewer
    rows, and fewer rows before it is left out.

    Args:
        console: where to.
        most_lines: how many lines there are; None for no limit.
    """

    def __init__(self, console: Console, *, most_lines: int | None = None) -> None:
        self.console = console
        self._room = None if most_lines is None else most_lines - _END_LINES
        self._printed: set[str] = set()
        self._left_out: list[str] = []
        self._n_sentences = self._n_cut = 0

    @property
    def is_brief(self) -> bool:
        """Whether there is a limit of lines."""
        return self._room is not None

    def words(self, *texts: str, style: str = "") -> None:
        """Print sentences; one that stands there already is not printed again."""
        for text in texts:
            if fresh := unsaid(visible(text), self._printed):
                self._n_sentences += not self._put([Text(fresh, style=style)])

    def table(self, table: Table, *, first: Sequence[str] = ()) -> None:
        """Print a table with its notes; of one with very many rows only how many.

        Args:
            table: the table.
            first: which columns go first where there is no room for all; without any those of most
                questions.
        """
        if self._room is None:
            self._put(_parts(table, self.console, self._printed))
            return
        part = _narrowed(table, self.console.width, first)
        n_all = len(part.rows)
        for n in range(min(n_all, self._room - _HEAD_LINES), min(n_all, _LEAST_ROWS) - 1, -1):
            printed = set(self._printed)
            more = [plain(f"and {several(n_all - n, 'more row')}", style="dim")] if n < n_all else []
            if self._put([*_parts(_of_rows(part, n), self.console, printed), *more]):
                self._printed = printed
                self._n_cut += n < n_all or len(part.columns) < len(table.columns)
                return
        self._left_out.append(table.title)

    def end(self, how: str) -> None:
        """Name what was left out, and say how to see it."""
        n = self._n_sentences
        left_out = [several(n, "sentence")] if n else []
        left_out += [f"the rest of {several(self._n_cut, 'table')}"] if self._n_cut else []
        left_out += self._left_out
        if left_out:
            listed = some([shortened(one, most=MOST_WORDS) for one in left_out], most=_MOST_NAMED)
            self.console.print(plain(f"\nNot printed: {listed}. {how}", style="dim"))

    def _put(self, parts: Sequence[RenderableType]) -> bool:
        """Print some parts where there is room for all of them."""
        if self._room is not None:
            with self.console.capture() as caught:
                self.console.print(*parts, sep="\n")
            n_lines = caught.get().count("\n")
            if n_lines > self._room:
                return False
            self._room -= n_lines
        for part in parts:
            self.console.print(part)
        return True


def print_table(table: Table, console: Console, *, most_lines: int = MOST_LINES) -> None:
    """Print a table with its notes; of one with more lines only how long it is."""
    for part in _parts(table, console, set(), most_lines=most_lines):
        console.print(part)


def _parts(
    table: Table, console: Console, printed: set[str], *, most_lines: int = MOST_LINES
) -> Sequence[RenderableType]:
    """What is printed of a table, below an empty line; sentences that are printed already are left out."""
    heading = plain(f"\n{table.title}", style="bold")
    if len(table.rows) > most_lines:
        return (heading, plain(f"{len(table.rows):,} lines, on the page and in the files.", style="dim"))
    columns, rows = shown_columns(table), shown_rows(table)
    widths = _widths(columns, rows, width=console.width)
    aside = _aside(columns, rows, width=console.width) if _whole(widths) > console.width else None
    grids: list[RenderableType] = [] if aside is None else [aside]
    if aside is None:
        for place, block in enumerate(_even_blocks(widths, console.width)):
            if place:
                grids.append(plain("the same rows, further columns:", style="dim"))
                rows = tuple(_without_detail(row) for row in rows)
            grids.append(_grid(columns, rows, widths=widths, block=block))
    notes = (unsaid(visible(note), printed) for note in (table.note, *table.footnotes))
    return (heading, *grids, *(Text(note, style="dim") for note in notes if note))


def _without_detail(row: ShownRow) -> ShownRow:
    """A row whose label stands there already with all its words."""
    first, *others = row.cells
    return ShownRow(key=row.key, cells=(msgspec.structs.replace(first, detail=""), *others))


def _narrowed(table: Table, width: int, first: Sequence[str]) -> Table:
    """As many columns of a table as fit beside each other; those that hold nothing but 0 go first."""

    def n_questions(place: int) -> int:
        values = (cell_of(row.values[place], "number").value for row in table.rows)
        return max((value.n for value in values if isinstance(value, Estimate)), default=0)

    said = [
        {shown.text for row in table.rows if (shown := show(row.values[i])).text}
        for i in range(len(table.columns))
    ]
    places = [i for i, texts in enumerate(said) if not texts <= {"0", DASH}]
    if first:
        kept = [i for key in first for i in places if table.keys[i] == key]
    else:
        kept = sorted(places, key=lambda i: -n_questions(i))
    part = _of_columns(table, kept)
    while len(kept) > 1 and not _fits(part, width):
        kept.pop()
        part = _of_columns(table, kept)
    return part


def _fits(table: Table, width: int) -> bool:
    columns, rows = shown_columns(table), shown_rows(table)
    whole = _whole(_widths(columns, rows, width=width))
    aside = _aside(columns, rows, width=width) if len(columns) <= _MOST_ASIDE else None
    return whole <= width or aside is not None


def _of_columns(table: Table, places: Sequence[int]) -> Table:
    """Some columns of a table, in their order."""
    kept = sorted(places)
    rows = tuple(
        msgspec.structs.replace(row, values=tuple(row.values[i] for i in kept)) for row in table.rows
    )
    return msgspec.structs.replace(table, columns=tuple(table.columns[i] for i in kept), rows=rows)


def _of_rows(table: Table, n: int) -> Table:
    """At most so many rows of a table, those with estimates before others; and the footnotes on them."""

    def is_measured(row: Row) -> bool:
        return any(isinstance(cell_of(value, "number").value, Estimate) for value in row.values)

    kept = sorted(range(len(table.rows)), key=lambda i: not is_measured(table.rows[i]))[:n]
    part = msgspec.structs.replace(table, rows=tuple(table.rows[i] for i in sorted(kept)))
    cells = [cell for row in shown_rows(part) for cell in row.cells]
    signs = {sign for cell in cells for sign in f"{cell.text} {cell.detail}".split()}
    notes = tuple(n for n in table.footnotes if not _SIGN.match(n) or n.partition(" ")[0] in signs)
    return msgspec.structs.replace(part, footnotes=notes)


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
