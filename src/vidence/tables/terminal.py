"""Tables in the terminal. One that is too wide is narrowed, transposed, or split, in this order.

Narrowing wraps headings and labels, never values. A table of few rows gets a line per column. The rest is
split into as few and as equal blocks of columns as possible, one below the other.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from vidence.tables.table import (
    DASH,
    CellText,
    Table,
    cells_by_column,
    filled,
    of_columns,
    several,
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
    """Return text without interpreting markup or terminal commands."""
    return Text(visible(text), style=style)


def shortened(text: str, *, most: int = MOST_NAME) -> str:
    """Return a text on one line of limited length, keeping start and end."""
    text = visible(text).replace("\n", " ")
    if len(text) <= most:
        return text
    n_last = (most - 1) // 2
    return f"{text[: most - 1 - n_last]}…{text[-n_last:]}"


class Sheet:
    """A command's output: no repeated sentences, and as many parts as fit the lines.

    Parts without room are left out, and `end` names them. A table first loses columns, then rows, before it
    is left out.

    Args:
        console: the output.
        most_lines: number of lines; None for no limit.
    """

    def __init__(self, console: Console, *, most_lines: int | None = None) -> None:
        self.console = console
        self._room = None if most_lines is None else most_lines - _END_LINES
        self._printed: set[str] = set()
        self._left_out: list[str] = []
        self._n_sentences = self._n_cut = 0

    @property
    def is_brief(self) -> bool:
        """Whether lines are limited."""
        return self._room is not None

    def words(self, *texts: str, style: str = "") -> None:
        """Print sentences that were not printed yet."""
        for text in texts:
            if fresh := unsaid(visible(text), self._printed):
                self._n_sentences += not self._put([Text(fresh, style=style)])

    def table(self, table: Table, *, first: Sequence[str] = ()) -> None:
        """Print a table with its notes; of a very long one only the number of rows.

        Args:
            table: the table.
            first: the columns to keep if not all fit; by default those with most questions.
        """
        if self._room is None:
            self._put(_parts(filled(table), self.console, self._printed))
            return
        part = _narrowed(filled(table), self.console.width, first)
        if table.rows and table.columns and not part.columns:
            self._left_out.append(table.title)
            return
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
            listed = some([shortened(name, most=MOST_WORDS) for name in left_out], most=_MOST_NAMED)
            self.console.print(plain(f"\nNot printed: {listed}. {how}", style="dim"))

    def _put(self, parts: Sequence[RenderableType]) -> bool:
        """Print parts if all of them fit."""
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


class _Block(NamedTuple):
    """A table as text: headings, then a line per row; and which columns are words."""

    lines: list[list[str]]
    are_words: Sequence[bool]


def print_table(table: Table, console: Console, *, most_lines: int = MOST_LINES) -> None:
    """Print a table with its notes; of one with more lines only the number of rows."""
    for part in _parts(filled(table), console, set(), most_lines=most_lines):
        console.print(part)


def _parts(
    table: Table, console: Console, printed: set[str], *, most_lines: int = MOST_LINES
) -> Sequence[RenderableType]:
    """Return what to print of a table, after an empty line; printed sentences are left out."""
    heading = plain(f"\n{table.title}", style="bold")
    if len(table.rows) > most_lines:
        return (heading, plain(f"{len(table.rows):,} rows; see the page or the files.", style="dim"))
    block, widths = _laid_out(table, console.width)
    grids: list[RenderableType] = []
    for places in _even_blocks(widths, console.width):
        if grids:
            grids.append(plain("the same rows, further columns:", style="dim"))
            for line, row in zip(block.lines[1:], table.rows, strict=True):
                line[0] = shortened(row.label, most=MOST_LABEL)  # its detail stands there already
        grids.append(_grid(block, widths, places))
    notes = (unsaid(visible(note), printed) for note in (table.note, *table.footnotes))
    return (heading, *grids, *(Text(note, style="dim") for note in notes if note))


def _narrowed(table: Table, width: int, first: Sequence[str]) -> Table:
    """Keep as many columns as fit; columns with only zeros go first."""
    cells = cells_by_column(table)
    kept = [i for i, column in enumerate(cells) if not {cell.text for cell in column} <= {"0", DASH}]
    if first:
        kept = [i for key in first for i in kept if table.keys[i] == key]
    else:
        kept.sort(key=lambda i: -max((cell.estimate.n for cell in cells[i] if cell.estimate), default=0))
    while len(kept) > 1 and not _fits(of_columns(table, kept), width):
        kept.pop()
    return of_columns(table, kept)


def _fits(table: Table, width: int) -> bool:
    block, widths = _laid_out(table, width)
    return _whole(widths) <= width and len(block.lines) <= max(_MOST_ASIDE, len(table.rows) + 1)


def _of_rows(table: Table, n: int) -> Table:
    """Keep at most `n` rows, those with estimates first, with their footnotes."""
    rows = shown_rows(table)
    kept = sorted(range(len(rows)), key=lambda i: not any(cell.estimate for cell in rows[i].cells))[:n]
    cells = [cell for i in kept for cell in rows[i].cells]
    signs = {sign for cell in cells for sign in f"{cell.text} {cell.detail}".split()}
    return msgspec.structs.replace(
        table,
        rows=tuple(table.rows[i] for i in sorted(kept)),
        footnotes=tuple(n for n in table.footnotes if not _SIGN.match(n) or n.partition(" ")[0] in signs),
    )


def _laid_out(table: Table, width: int) -> tuple[_Block, list[int]]:
    """Return a table as text with widths; one of few rows that is too wide is transposed."""
    columns = shown_columns(table)
    headings = ["\n".join(filter(None, (column.group, column.title))) for column in columns]
    rows = [[_cell(i, cell) for i, cell in enumerate(row.cells)] for row in shown_rows(table)]
    block = _Block([headings, *rows], [i == 0 or c.kind == "text" for i, c in enumerate(columns)])
    widths = _widths(block.lines, width)
    if _whole(widths) > width and 0 < len(rows) <= MOST_ROWS_ASIDE < len(columns):
        lines = [[cell.replace("\n", ", ") for cell in line] for line in zip(*block.lines, strict=True)]
        narrow = [
            max(_NARROW_HEADING, *(cell_len(line[i]) for line in lines[1:])) for i in range(1, len(lines[0]))
        ]
        room = width - _whole([*narrow, 0])
        if room >= _LABEL_ASIDE:
            return _Block(lines, [True, *(False for _ in rows)]), [room, *narrow]
    return block, widths


def _grid(block: _Block, widths: Sequence[int], places: Sequence[int]) -> Grid:
    """Return some columns of a table."""
    grid = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    headings, *rows = block.lines
    for i in places:
        justify: Literal["left", "right"] = "left" if block.are_words[i] else "right"
        grid.add_column(
            plain(headings[i], style="dim"), justify=justify, max_width=widths[i], overflow="fold"
        )
    for line in rows:
        grid.add_row(*(plain(line[i]) for i in places))
    return grid


def _cell(i: int, cell: CellText) -> str:
    text = shortened(cell.text, most=MOST_WORDS if i else MOST_LABEL)
    gap = " " if i or cell.detail.startswith(("†", "*")) else ", "
    return gap.join(filter(None, (text, visible(cell.detail))))


def _widths(lines: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return column widths; headings wrap, and in a narrow terminal more so, as do labels."""
    headings, *rows = lines
    cells = [max((cell_len(row[i]) for row in rows), default=0) for i in range(len(headings))]
    words = [max(map(cell_len, heading.split("\n"))) for heading in headings]
    entries: list[list[int]] = []
    for most in (MOST_HEADING, _NARROW_HEADING):
        widths = [max(cell, min(word, most)) for cell, word in zip(cells, words, strict=True)]
        widths[0] = min(max(cells[0], words[0]), width // 2)
        over = max(0, _whole(widths) - width)
        if not over or widths[0] - over >= _NARROW_LABEL:
            return [widths[0] - over, *widths[1:]]
        entries.append(widths)
    return min(entries, key=lambda widths: len(list(_blocks(widths, width))))


def _whole(widths: Sequence[int]) -> int:
    """Return the total width of columns."""
    return sum(widths) + _GAP * (len(widths) - 1)


def _even_blocks(widths: Sequence[int], width: int) -> list[Sequence[int]]:
    """Return the fewest blocks of columns, none wider than necessary."""
    blocks = list(_blocks(widths, width))
    for narrower in range(width - 1, 0, -1):
        tried = list(_blocks(widths, narrower))
        if len(tried) > len(blocks):
            break
        blocks = tried
    return blocks


def _blocks(widths: Sequence[int], width: int) -> Iterator[Sequence[int]]:
    """Yield positions of columns that fit next to each other, the first column in every block."""
    block = [0]
    for i in range(1, len(widths)):
        if len(block) > 1 and _whole([widths[k] for k in (*block, i)]) > width:
            yield block
            block = [0]
        block.append(i)
    yield block
