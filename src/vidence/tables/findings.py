"""What a diagnostic has to say, as plain records: terminal, page, CSV and JSON are drawn from these."""

from typing import TypeAlias

from vidence.records import Estimate, Record

Value: TypeAlias = Estimate | float | int | str | None


class Heading(Record, kw_only=True, omit_defaults=True):
    """One column of a sheet.

    With `is_share` its numbers run from 0 to 1 and are shown in per cent; with `is_p` they are p-values.
    """

    key: str
    title: str
    note: str = ""
    is_share: bool = False
    is_p: bool = False


class Entry(Record, kw_only=True, omit_defaults=True):
    """One line of a sheet: as many values as there are headings. None is "does not apply"."""

    key: str
    label: str
    values: tuple[Value, ...]
    detail: str = ""


class Sheet(Record, kw_only=True, omit_defaults=True):
    """A table: a heading over the labels, headings over the values, and the lines.

    `name` is unique within a diagnostic; `note` says what must be known to read it.
    """

    name: str
    title: str
    label: str
    headings: tuple[Heading, ...]
    entries: tuple[Entry, ...]
    note: str = ""

    def value(self, entry: str, heading: str) -> Value:
        """The value at these keys.

        Raises:
            KeyError: there is no such line or column.
        """
        column = [h.key for h in self.headings].index(heading) if heading in self.keys else None
        for line in self.entries:
            if line.key == entry and column is not None:
                return line.values[column]
        raise KeyError(f"sheet {self.name!r} has no value at line {entry!r}, column {heading!r}")

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns."""
        return tuple(h.key for h in self.headings)


class Point(Record, kw_only=True):
    """One point of a curve: `x` (such as a number of frames) and an estimate."""

    x: float
    y: Estimate


class Series(Record, kw_only=True):
    """One curve of a chart, its points in the order of x."""

    label: str
    points: tuple[Point, ...]


class Chart(Record, kw_only=True, omit_defaults=True):
    """Curves with intervals. `marks` are vertical lines with their words, such as a saturation point.

    `y_marks` are horizontal ones, such as chance; `x_labels` are words in place of numbers along x, such as
    the names of levels.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    is_share: bool = True
    is_log: bool = False
    marks: tuple[tuple[float, str], ...] = ()
    y_marks: tuple[tuple[float, str], ...] = ()
    x_labels: tuple[tuple[float, str], ...] = ()
    note: str = ""


class Group(Record, kw_only=True):
    """The values of one group, such as those of the correct answers."""

    label: str
    values: tuple[float, ...]


class Violins(Record, kw_only=True, omit_defaults=True):
    """Distributions side by side, each on the range ``[low, high]``."""

    name: str
    title: str
    y_title: str
    groups: tuple[Group, ...]
    low: float = 0.0
    high: float = 1.0
    note: str = ""


class Dot(Record, kw_only=True):
    """One named point of a scatter."""

    label: str
    x: Estimate
    y: Estimate


class Scatter(Record, kw_only=True, omit_defaults=True):
    """Named points with intervals in both directions, such as tasks or benchmarks."""

    name: str
    title: str
    x_title: str
    y_title: str
    dots: tuple[Dot, ...]
    x_is_share: bool = False
    y_is_share: bool = True
    note: str = ""


Statement: TypeAlias = Sheet | Chart | Violins | Scatter
