"""Tables as they were printed: values as texts, what they mean, and what is known against them."""

import re
from typing import Literal, TypeAlias

import msgspec

from vidence.records import Record

FlagKind: TypeAlias = Literal[
    "impossible",
    "swapped",
    "last digit",
    "fewer",
    "sum",
    "mean",
    "ratio",
    "difference",
    "unreadable",
    "remark",
]
# What is worth knowing and yet no contradiction.
HARMLESS: frozenset[FlagKind] = frozenset({"last digit", "fewer", "remark"})
_BLANK = frozenset({"", "-", "–", "—", "n/a", "N/A", "/"})  # noqa: RUF001 - dashes as in print
_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?", re.ASCII)


class Source(Record, kw_only=True, omit_defaults=True):
    """Where a table was printed: paper, place in it, arXiv number and address where they are known."""

    paper: str = ""
    where: str = ""
    arxiv: str = ""
    address: str = ""


class Measure(Record, kw_only=True, omit_defaults=True):
    """How a run computes what stands in a column.

    `average` is ``micro`` (mean over questions), ``answered`` (mean over those whose reply could be read)
    or ``macro:TAG`` (mean over the values of a tag). Only questions are averaged that have, for each tag in
    `where`, one of its values.
    """

    average: str = "micro"
    where: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class PublishedColumn(Record, kw_only=True, omit_defaults=True):
    """One column.

    A ``percent`` is a share of `n` questions, or of as many as the column `n_from` says; without both
    nothing is known. A ``number`` is any other quantity. `measure` is None where no run gives it.
    """

    name: str
    kind: Literal["percent", "number", "text"] = "percent"
    means: str = ""
    n: int | None = None
    n_from: str = ""
    measure: Measure | None = None


class Flag(Record, kw_only=True):
    """What is wrong with a cell, or worth knowing of it.

    A ``remark`` was written by a person; all other kinds are found by `vidence.explain.published.audited`.
    """

    kind: FlagKind
    says: str

    @property
    def is_problem(self) -> bool:
        """Whether the printed numbers contradict each other or cannot be read."""
        return self.kind not in HARMLESS


class PublishedCell(Record, kw_only=True, omit_defaults=True):
    """One cell as printed, with what is known against it."""

    text: str
    flags: tuple[Flag, ...] = ()


class PublishedRow(Record, kw_only=True, omit_defaults=True):
    """One row. `line` is its line in the file, `missing` how many questions it may lack at most.

    `n` overrides the denominators of columns; without `is_n_known` no denominator holds for the row.
    A ``summary`` is made of other rows.
    """

    name: str
    cells: tuple[PublishedCell, ...]
    line: int
    kind: Literal["model", "human", "baseline", "summary"] = "model"
    is_n_known: bool = True
    n: dict[str, int] = msgspec.field(default_factory=dict)
    missing: int = 0


class SumRule(Record, tag="sum", tag_field="rule", kw_only=True):
    """In every row the right answers of `parts` add up to those of `total`."""

    total: str
    parts: tuple[str, ...]


class MeanRule(Record, tag="mean", tag_field="rule", kw_only=True):
    """In every row `total` is the mean of `of`, with `weights`, or alike; `rows` limits it to some rows."""

    total: str
    of: tuple[str, ...]
    weights: tuple[int, ...] = ()
    rows: tuple[str, ...] = ()


class RatioRule(Record, tag="ratio", tag_field="rule", kw_only=True):
    """In every row `total` is `of` in per cent of `to`."""

    total: str
    of: str
    to: str


class DifferenceRule(Record, tag="difference", tag_field="rule", kw_only=True):
    """In every row `total` is `of` less `less`."""

    total: str
    of: str
    less: str


class RowMeanRule(Record, tag="mean-of-rows", tag_field="rule", kw_only=True):
    """The row `total` is the mean of the rows of models in `columns` (none named: in all with numbers).

    The rows weigh alike, or by the column `weights`.
    """

    total: str
    columns: tuple[str, ...] = ()
    weights: str = ""


class RowSumRule(Record, tag="sum-of-rows", tag_field="rule", kw_only=True):
    """The row `total` is the sum of the rows of models in `columns`."""

    total: str
    columns: tuple[str, ...]


Rule: TypeAlias = SumRule | MeanRule | RatioRule | DifferenceRule | RowMeanRule | RowSumRule


class Across(Record, kw_only=True):
    """A column whose values become columns when a table stands beside a run: one row for each model.

    `where` says for each value which questions it is about; it joins the `where` of the measures.
    """

    column: str
    where: dict[str, dict[str, tuple[str, ...]]]


class RowNote(Record, kw_only=True):
    """What the TOML file says of one row; see `PublishedRow`."""

    row: str
    kind: Literal["model", "human", "baseline", "summary"] = "model"
    n_known: bool = True
    n: dict[str, int] = msgspec.field(default_factory=dict)
    missing: int = 0


class Remark(Record, kw_only=True):
    """What a person found: about one row or all (empty), in some columns or all (none named)."""

    says: str
    row: str = ""
    columns: tuple[str, ...] = ()


class Notes(Record, kw_only=True):
    """What stands beside a CSV: the form of the TOML file.

    `names` are the columns that together name a row (none: the first). `splits` are those of the
    benchmark that the table may stand beside. `across` names one of `names`.
    """

    title: str = ""
    benchmark: str = ""
    splits: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    across: Across | None = None
    notes: tuple[str, ...] = ()
    source: Source = Source()
    columns: tuple[PublishedColumn, ...] = ()
    rules: tuple[Rule, ...] = ()
    rows: tuple[RowNote, ...] = ()
    flags: tuple[Remark, ...] = ()


class PublishedTable(Record, kw_only=True, omit_defaults=True):
    """A table as printed. `notes` are remarks on the whole of it; for the rest see `Notes`."""

    name: str
    title: str
    columns: tuple[PublishedColumn, ...]
    rows: tuple[PublishedRow, ...]
    rules: tuple[Rule, ...] = ()
    benchmark: str = ""
    splits: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    across: Across | None = None
    notes: tuple[str, ...] = ()
    source: Source = Source()

    def position(self, column: str) -> int:
        """Where the column stands, from 0."""
        return next(i for i, known in enumerate(self.columns) if known.name == column)

    def text(self, row: PublishedRow, column: str) -> str:
        """What is printed in a row, in the column with this name."""
        return row.cells[self.position(column)].text

    def n(self, row: PublishedRow, column: PublishedColumn) -> int | None:
        """How many questions a cell is a share of, None where that is not known."""
        if column.name in row.n:
            return row.n[column.name]
        if not row.is_n_known or row.kind == "summary":
            return None
        if column.n_from:
            figure = number(self.text(row, column.n_from))
            return int(figure) if figure is not None and figure.isdecimal() else None
        return column.n


def is_blank(text: str) -> bool:
    """Whether a cell says that there is no value."""
    return text.strip() in _BLANK


def number(text: str) -> str | None:
    """The number in a cell as plain digits: without per cent sign, plus and thousands commas; or None.

    >>> number("26,806"), number("61.1%"), number("+0.22"), number("56.")
    ('26806', '61.1', '0.22', None)
    """
    bare = text.strip().removesuffix("%").rstrip().replace("\N{MINUS SIGN}", "-")
    return bare.replace(",", "").removeprefix("+") if _NUMBER.fullmatch(bare) else None
