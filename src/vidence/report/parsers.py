"""What other parsers make of the same replies; nobody is asked again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vidence.catalog import create, names
from vidence.contracts import Scorer
from vidence.records import Answered
from vidence.report.results import Row, Run, read_again
from vidence.tables.table import DASH, Cell, Column, Table
from vidence.tables.table import Row as TableRow

MOST_CHANGED = 200


@dataclass(frozen=True, kw_only=True)
class Readings:
    """Every reply to a question with choices, as each parser reads it.

    `letters` and `values` hold for each parser one entry per row: the letter read (or nothing), and
    the score. `base` is the parser that the run's scores come from.
    """

    base: str
    rows: tuple[Row, ...]
    letters: dict[str, tuple[str, ...]]
    values: dict[str, tuple[float, ...]]


def letter_parsers(run: Run) -> tuple[str, ...]:
    """The run's own parser, then all others of the catalog that read letters."""
    others = [name for name in names("parser") if name != run.parser and create("parser", name).reads_letters]
    return (run.parser, *others)


def read_all(run: Run, parsers: Sequence[str]) -> Readings:
    """Read every reply to a question with choices by each of the parsers.

    Raises:
        UnknownNameError: no parser has that name.
    """
    rows = tuple(row for row in run.rows if row.item.answer_kind == "choice" and row.trial.reply is not None)
    letters = {run.parser: tuple(row.read for row in rows)}
    values = {run.parser: tuple(row.correct or 0.0 for row in rows)}
    for name in parsers:
        if name != run.parser:
            scorer: Scorer = create("parser", name)
            scores = [read_again(row.item, row.trial, scorer) for row in rows]
            letters[name] = tuple(s.outcome.answer if isinstance(s.outcome, Answered) else "" for s in scores)
            values[name] = tuple(s.value or 0.0 for s in scores)
    return Readings(base=run.parser, rows=rows, letters=letters, values=values)


def parser_table(run: Run, parsers: Sequence[str]) -> Table:
    """How many trials change their letter, and the accuracy, under each parser; and pair by pair.

    Raises:
        UnknownNameError: no parser has that name.
    """
    return table_of_readings(read_all(run, parsers))


def table_of_readings(readings: Readings) -> Table:
    """The table of `parser_table` from replies that are read already."""
    names = tuple(readings.letters)
    n = len(readings.rows)
    base = _accuracy(readings, readings.base)
    lines: list[TableRow] = []
    for name in names:
        accuracy = _accuracy(readings, name)
        gain = "" if name == readings.base or not n else f"{100 * (accuracy - base):+.1f}"
        lines.append(
            TableRow(
                key=name,
                label=name,
                detail="this report" if name == readings.base else "",
                values=(
                    sum(map(bool, readings.letters[name])),
                    _n_different(readings, name, readings.base),
                    Cell(value=accuracy, detail=gain),
                    *("·" if other == name else _n_different(readings, name, other) for other in names),
                ),
            )
        )
    group = "replies read differently from"
    return Table(
        name="parsers",
        title="Parsers",
        note=f"{n:,} replies to questions with choices, each read again by every parser; nobody was asked. "
        "Accuracy is over these replies.",
        label=Column(key="parser", title="parser"),
        columns=(
            Column(key="read", title="letters read", kind="count"),
            Column(
                key="changed",
                title="changed",
                kind="count",
                note="replies read differently than in this report",
            ),
            Column(key="accuracy", title="accuracy", kind="share", note="and its change in points"),
            *(Column(key=f"against:{name}", title=name, kind="count", group=group) for name in names),
        ),
        rows=tuple(lines),
    )


def _accuracy(readings: Readings, name: str) -> float:
    return float(np.mean(readings.values[name])) if readings.rows else float("nan")


def _n_different(readings: Readings, one: str, other: str) -> int:
    pairs = zip(readings.letters[one], readings.letters[other], strict=True)
    return sum(a != b for a, b in pairs)


def changed_table(readings: Readings, *, most: int = MOST_CHANGED) -> Table:
    """The replies on which parsers disagree, with the letter that each one reads.

    Args:
        readings: replies as each parser reads them.
        most: how many are listed; the note says how many there are.
    """
    names = tuple(readings.letters)
    changed = [i for i in range(len(readings.rows)) if len({readings.letters[name][i] for name in names}) > 1]
    lines: list[TableRow] = []
    for i in changed[:most]:
        row = readings.rows[i]
        lines.append(
            TableRow(
                key=f"{row.item.item_id}#{row.trial.repeat}",
                label=row.item.item_id,
                detail=f"repeat {row.trial.repeat}" if row.trial.repeat else "",
                values=(row.item.answer, *(readings.letters[name][i] or DASH for name in names)),
            )
        )
    listed = f", {most:,} of them listed" if len(changed) > most else ""
    return Table(
        name="parsers-changed",
        title="Replies on which parsers disagree",
        note=f"{len(changed):,} of {len(readings.rows):,} replies{listed}. A dash: no letter was read.",
        label=Column(key="item", title="question"),
        # Letters stand to the right as the numbers of the other tables do.
        columns=(
            Column(key="gold", title="right", kind="count"),
            *(Column(key=f"read:{name}", title=name, kind="count", group="letter read by") for name in names),
        ),
        rows=tuple(lines),
    )
