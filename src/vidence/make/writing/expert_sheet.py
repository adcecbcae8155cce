"""The sheet of drafts as it goes back to its authors: every cell as it was, with what is wrong beside it."""

from collections.abc import Sequence
from typing import Final

from vidence.make.writing.drafts import COLUMNS
from vidence.make.writing.expert_findings import WHOLE_ROW, DraftRow
from vidence.tables.export import csv_text

SHEET_FILE: Final = "drafts-checked.csv"


def checked_sheet(rows: Sequence[DraftRow]) -> bytes:
    """The sheet as CSV in UTF-8 that spreadsheets open, and that is read as drafts again.

    The columns ``place`` and ``state``, all columns of drafts that somebody used, and for each column with
    findings ``fault:COLUMN`` or ``warning:COLUMN``.
    """
    used = {name for row in rows for name in row.cells}
    columns = [name for name in COLUMNS if name in used]
    columns += sorted(used - {*COLUMNS, WHOLE_ROW})
    said: dict[tuple[str, bool], None] = {}
    for row in rows:
        said |= {(one.column, one.is_fault): None for one in row.findings}
    order = {name: i for i, name in enumerate((WHOLE_ROW, *columns))}
    beside = sorted(said, key=lambda one: (not one[1], order.get(one[0], len(order)), one[0]))
    raw = [WHOLE_ROW] if WHOLE_ROW in used else []
    heads = [f"{'fault' if is_fault else 'warning'}:{name}" for name, is_fault in beside]
    lines: list[list[str]] = [["place", "state", *columns, *raw, *heads]]
    for row in rows:
        cells = [row.cells.get(name, "") for name in (*columns, *raw)]
        notes = ["\n".join(f.says for f in row.findings if (f.column, f.is_fault) == one) for one in beside]
        lines.append([row.place, state_of(row), *cells, *notes])
    return b"\xef\xbb\xbf" + csv_text(lines, is_data=True).encode()


def state_of(row: DraftRow) -> str:
    """``fault``, ``warning`` or ``ok``."""
    if any(one.is_fault for one in row.findings):
        return "fault"
    return "warning" if row.findings else "ok"
