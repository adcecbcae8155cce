r"""Tables for a paper: LaTeX with booktabs, in plain ASCII, ready for ``\input``."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import Literal, TypeAlias

from vidence.installation import packaged
from vidence.records import Record
from vidence.tables.table import ENDS, CellText, Column, ShownRow, Table, shown_columns, shown_rows
from vidence.text import visible

Intervals: TypeAlias = Literal["pm", "brackets", "none"]
# With more columns than this a table spans both columns of a page; one with intervals counts for two.
MOST_NARROW = 7
OURS = ("run:", "ours:")  # keys of lines about runs: what is said beside their name becomes a comment
# What would become a dash or a quotation mark when it stands twice.
_LIGATURE = re.compile(r"-(?=-)|'(?=')|,(?=,)|[?!](?=\\textquoteleft)")
_ENDS_VALUE = re.compile(r"[+-]?[\d.,]+")
# By what part of the width the two sides of an interval may differ and still be written with one number.
MOST_UNEQUAL = 0.1
_MEANING = {
    "pm": "After $\\pm$: half the width of the interval; where its sides are unequal, both.",
    "brackets": "In brackets: the interval.",
    "none": "",
}
_NOTE_SIGNS = re.compile(r"[†*]\d+(?: [†*]\d+)*")


class _Characters(Record):
    """``latex.toml``."""

    signs: dict[str, str]
    accents: dict[str, str]


@cache
def _characters() -> _Characters:
    return packaged("vidence.tables", "latex.toml", _Characters)


def escaped(text: str) -> str:
    r"""Return LaTeX that prints the text, in plain ASCII.

    Accented letters are composed; characters missing from LaTeX's standard fonts are printed as numbers.

    >>> escaped("Qwen2.5_VL & 100 %")
    'Qwen2.5\\_VL \\& 100 \\%'
    """
    return _LIGATURE.sub(r"\g<0>{}", "".join(map(_character, visible(text))))


def _character(character: str) -> str:
    known = _characters()
    if character in known.signs:
        return known.signs[character]
    if " " <= character <= "~":
        return character
    apart = unicodedata.normalize("NFD", character)
    if len(apart) == 2 and apart[0].isascii() and apart[0].isalpha() and apart[1] in known.accents:
        return f"{known.accents[apart[1]]}{{{apart[0]}}}"
    return f"U+{ord(character):04X}"


def latex(tables: Sequence[Table], *, intervals: Intervals = "pm") -> str:
    r"""The tables as ``table`` environments, one below the other.

    Args:
        tables: the tables; how each run was asked becomes a comment.
        intervals: ``pm`` gives half the width of each interval behind ``\pm``, ``brackets`` its ends.
    """
    head = (
        "% Written by vidence; needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}.\n"
        "% A file with this content can be read with \\input.\n"
    )
    return head + "\n".join(_environment(table, intervals) for table in tables)


def _environment(table: Table, intervals: Intervals) -> str:
    columns, rows = shown_columns(table), shown_rows(table)
    n_intervals = 0 if intervals == "none" else _n_intervals(rows)
    is_wide = len(columns) + n_intervals > MOST_NARROW
    name = "table*" if is_wide else "table"
    sides = "".join("l" if i == 0 or column.kind == "text" else "r" for i, column in enumerate(columns))
    lines = [
        *_comments(rows),
        f"\\begin{{{name}}}[t]",
        "\\centering",
        "\\footnotesize" if is_wide else "\\small",
        *(["\\setlength{\\tabcolsep}{3pt}"] if is_wide else []),
        f"\\begin{{tabular}}{{{sides}}}",
        "\\toprule",
        *_group_lines(columns),
        f"{' & '.join(escaped(column.title) for column in columns)} \\\\",
        "\\midrule",
    ]
    for n, row in enumerate(rows):
        if n and row.key.startswith("ours:") and not rows[n - 1].key.startswith("ours:"):
            lines.append("\\midrule")
        lines.append(f"{' & '.join(_row(row, intervals))} \\\\")
    meaning = _MEANING[intervals] if n_intervals else ""
    caption = f"{escaped(table.title)}. {escaped(table.note)} {meaning}".strip()
    label = re.sub(r"[^a-z0-9]+", "-", table.name.lower()).strip("-")
    lines += ["\\bottomrule", "\\end{tabular}"]
    if table.footnotes:
        notes = "\\par\n".join(escaped(note) for note in table.footnotes)
        lines += [f"\\par\\smallskip{{\\scriptsize\\raggedright {notes}\\par}}"]
    return "\n".join([*lines, f"\\caption{{{caption}}}", f"\\label{{tab:{label}}}", f"\\end{{{name}}}", ""])


def _comments(rows: Sequence[ShownRow]) -> list[str]:
    """Return the notes after the names of runs, which are left out in print."""
    first = [row.cells[0] for row in rows if row.key.startswith(OURS)]
    return [f"% {escaped(cell.text)}: {escaped(cell.detail)}" for cell in first if cell.detail]


def _row(row: ShownRow, intervals: Intervals) -> list[str]:
    first, *others = row.cells
    name = escaped(first.text) if row.key.startswith(OURS) else _cell(first, intervals)
    return [name, *(_cell(cell, intervals) for cell in others)]


def _n_intervals(rows: Sequence[ShownRow]) -> int:
    """Return how many columns have intervals to print."""
    columns = zip(*(row.cells for row in rows), strict=True)
    return sum(any(c.estimate and ENDS.fullmatch(c.detail) for c in cells) for cells in columns)


def _group_lines(columns: Sequence[Column]) -> list[str]:
    """Return the headings over adjacent columns, and the rules below them."""
    if not any(column.group for column in columns):
        return []
    cells, rules, at = [], [], 1
    for group, members in groupby(columns, key=lambda c: c.group):
        n = len(list(members))
        cells.append(f"\\multicolumn{{{n}}}{{c}}{{{escaped(group)}}}")
        if group:
            rules.append(f"\\cmidrule(lr){{{at}-{at + n - 1}}}")
        at += n
    return [f"{' & '.join(cells)} \\\\", "".join(rules)]


def _cell(cell: CellText, intervals: Intervals) -> str:
    text = escaped(cell.text)
    if re.fullmatch(r"-[\d.,]+", cell.text):
        text = f"$-${escaped(cell.text[1:])}"
    if cell.mark:
        text = f"\\textbf{{{text}}}"
    if not cell.detail:
        return text
    if cell.estimate is not None and (intervals == "none" or ENDS.fullmatch(cell.detail)):
        return text + _interval(cell, intervals)
    if _NOTE_SIGNS.fullmatch(cell.detail):
        return f"{text}\\textsuperscript{{{escaped(cell.detail)}}}"
    return f"{text} {{\\scriptsize {escaped(cell.detail)}}}"


def _interval(cell: CellText, intervals: Intervals) -> str:
    r"""Format the interval in the requested form.

    An asymmetric interval cannot be given with ``\pm``: both sides are written.
    """
    ends = ENDS.fullmatch(cell.detail)
    if ends is None or intervals == "none":
        return ""
    if intervals == "brackets":
        low, high = (end.replace("-", "$-$") for end in ends.groups())
        return f" {{\\scriptsize {{[}}{low}, {high}{{]}}}}"
    digits = len(ends[1].partition(".")[2])
    half = (float(ends[2]) - float(ends[1])) / 2
    if _ENDS_VALUE.fullmatch(cell.text):
        value = float(cell.text.replace(",", ""))
        below, above = value - float(ends[1]), float(ends[2]) - value
        if abs(above - below) > MOST_UNEQUAL * 2 * half:
            return f" {{\\scriptsize $^{{+{above:.{digits}f}}}_{{-{below:.{digits}f}}}$}}"
    return f" {{\\scriptsize $\\pm$ {half:.{digits}f}}}"
