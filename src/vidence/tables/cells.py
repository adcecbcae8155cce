"""Tables as plain records: terminal, page, CSV and JSON all draw from these."""

import math
from typing import Literal

from vidence.errors import UsageError
from vidence.records import Estimate, Record

DASH = "\u2013"  # what is shown where there is no number


class Cell(Record, kw_only=True, omit_defaults=True):
    """One cell. `text` is what is shown, `detail` goes beside it in a quieter voice.

    `value` is the number behind the text (shares run from 0 to 1), `estimate` the number with its
    interval. Texts may come from a model or a data file: they are data, never markup. `mark` is ``best``
    for the best of its column where it can be told from the others.
    """

    text: str
    detail: str = ""
    value: float | None = None
    estimate: Estimate | None = None
    mark: Literal["", "best"] = ""


class Column(Record, kw_only=True, omit_defaults=True):
    """One column. `group` is a heading over neighbouring columns; `note` says what the column means."""

    key: str
    title: str
    group: str = ""
    note: str = ""
    is_text: bool = False


class Line(Record, kw_only=True, omit_defaults=True):
    """One line of a table: as many cells as there are columns."""

    key: str
    cells: tuple[Cell, ...]


class Table(Record, kw_only=True, omit_defaults=True):
    """A table with a name that is unique within its run.

    `kind` says which figure can be drawn from it. `footnotes` stand below it, each behind its own sign.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    note: str = ""
    footnotes: tuple[str, ...] = ()
    kind: Literal["scores", "differences", "outcomes", "letters", "plain"] = "plain"

    def __post_init__(self) -> None:
        for line in self.lines:
            if len(line.cells) != len(self.columns):
                raise UsageError(
                    f"line {line.key!r} of table {self.name!r} has {len(line.cells)} cells, "
                    f"expected {len(self.columns)}, one for each column"
                )

    def has(self, column: str) -> bool:
        """Whether there is a column with this key."""
        return any(c.key == column for c in self.columns)

    def cell(self, line: str, column: str) -> Cell:
        """The cell at the line and the column with these keys.

        Raises:
            UsageError: no such line or column.
        """
        for i, known in enumerate(self.columns):
            for candidate in self.lines:
                if known.key == column and candidate.key == line:
                    return candidate.cells[i]
        raise UsageError(f"table {self.name!r} has no cell at line {line!r}, column {column!r}")


def percent(share: float, *, digits: int = 1) -> str:
    """A share from 0 to 1 in per cent, without the sign; a dash where there is none.

    >>> percent(0.4312)
    '43.1'
    """
    return DASH if math.isnan(share) else f"{100 * share:.{digits}f}"


def words(text: str, *, detail: str = "") -> Cell:
    """A cell of words."""
    return Cell(text=text, detail=detail)


def count(n: int) -> Cell:
    """A cell with a number of things."""
    return Cell(text=f"{n:,}", value=n)


def share(value: float | None, *, detail: str = "") -> Cell:
    """A cell with a share from 0 to 1, shown in per cent; a dash where there is none."""
    if value is None or math.isnan(value):
        return Cell(text=DASH, detail=detail)
    return Cell(text=percent(value), detail=detail, value=value)


def estimated(estimate: Estimate) -> Cell:
    """A cell with a share and its interval, in per cent; an interval without width is none."""
    if math.isnan(estimate.value):
        return Cell(text=DASH, estimate=estimate)
    interval = interval_text(estimate) if has_interval(estimate) else "no interval"
    return Cell(text=percent(estimate.value), detail=interval, value=estimate.value, estimate=estimate)


def pointed(estimate: Estimate) -> Cell:
    """A cell with a mean of points and its interval, on the scale of the points."""
    interval = f"{estimate.low:.2f} to {estimate.high:.2f}" if has_interval(estimate) else "no interval"
    return Cell(text=f"{estimate.value:.2f}", detail=interval, value=estimate.value, estimate=estimate)


def has_interval(estimate: Estimate) -> bool:
    """Whether there is an interval that says something: its ends are numbers, and apart.

    A single video gives none; when all videos score alike, the draws do not differ either.
    """
    return estimate.high > estimate.low


def interval_text(estimate: Estimate) -> str:
    """The two ends of an interval in per cent, without the sign."""
    return f"{percent(estimate.low)} to {percent(estimate.high)}"


def points(value: float) -> str:
    """A difference of shares in points, with its sign; a dash where there is none.

    >>> points(0.0312), points(-0.2), points(0.0)
    ('+3.1', '-20.0', '0.0')
    """
    if math.isnan(value):
        return DASH
    text = f"{100 * value:+.1f}"
    return text[1:] if float(text) == 0 else text


def difference(estimate: Estimate) -> Cell:
    """A cell with a difference of shares and its interval, in points."""
    interval = interval_text(estimate) if has_interval(estimate) else "no interval"
    return Cell(text=points(estimate.value), detail=interval, value=estimate.value, estimate=estimate)


def p_text(p_value: float) -> str:
    """A p-value with two digits that say something; a dash where there is none.

    >>> p_text(0.0312), p_text(0.4567), p_text(0.00001)
    ('0.031', '0.46', '< 0.001')
    """
    if math.isnan(p_value):
        return DASH
    if p_value < 0.001:
        return "< 0.001"
    return f"{p_value:.2f}" if p_value >= 0.095 else f"{p_value:.3f}"


def p_cell(p_value: float) -> Cell:
    """A cell with a p-value."""
    return Cell(text=p_text(p_value), value=None if math.isnan(p_value) else p_value)
