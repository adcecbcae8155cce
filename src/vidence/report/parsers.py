"""What other parsers make of the same replies; nobody is asked again."""

import math
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vidence.catalog import create, ready
from vidence.contracts import Scorer
from vidence.records import LOGP, Score
from vidence.report.results import Row, Run, read_again
from vidence.tables.table import DASH, Cell, Column, Table
from vidence.tables.table import Row as TableRow

MOST_CHANGED = 200
ROBUST = "robust"


def has_logps(row: Row) -> bool:
    """Whether the reply of a trial came with log-probabilities of choice letters."""
    return row.trial.reply is not None and bool(row.trial.reply.choice_logps)


STORED: Mapping[str, Callable[[Row], bool]] = {LOGP: has_logps}
"""Parsers that read what only some replies have, and whether a reply has it."""


def parser_tables(run: Run, parsers: Sequence[str] = ()) -> tuple[Table, Table]:
    """Every reply to a question with choices as each parser reads it; and those on which they disagree.

    Args:
        run: the run; its own parser comes first.
        parsers: names of others; without any, all of the catalog that read letters out of words, and
            ``logp`` where a reply has log-probabilities.

    Raises:
        UnknownNameError: no parser has that name.
    """
    rows = [row for row in run.rows if row.item.answer_kind == "choice" and row.trial.reply is not None]
    read = {run.reader: _ParserReading.of(rows, (row.score for row in rows))}
    for name in parsers or ready("parser"):
        if name != run.reader:
            scorer: Scorer = create("parser", name)
            if parsers or scorer.reads_letters or (name in STORED and any(map(STORED[name], rows))):
                read[name] = _ParserReading.of(
                    rows, (read_again(row.item, row.trial, scorer) for row in rows)
                )
    return _counts(read, base=run.reader), _changed(read, rows)


@dataclass(frozen=True, kw_only=True)
class _ParserReading:
    """What one parser reads in each reply, and the share that is right."""

    letters: tuple[str, ...]
    share: float

    @classmethod
    def of(cls, rows: Sequence[Row], scores: Iterable[Score]) -> "_ParserReading":
        """Only this is kept: the scores of every parser would take more memory than the run."""
        letters, marks = [], array("d")
        for row, score in zip(rows, scores, strict=True):
            again = Row(item=row.item, trial=row.trial, score=score)
            letters.append(sys.intern(again.read))
            if not row.item.is_hidden:
                marks.append(again.correct or 0.0)
        return cls(letters=tuple(letters), share=float(np.mean(marks)) if marks else float("nan"))


def _counts(read: Mapping[str, _ParserReading], *, base: str) -> Table:
    """How many trials change their letter, and the accuracy, under each parser; and pair by pair."""
    letters = {name: one.letters for name, one in read.items()}
    n = len(letters[base])
    shares = {name: one.share for name, one in read.items()}

    def n_different(name: str, other: str) -> int:
        return sum(a != b for a, b in zip(letters[name], letters[other], strict=True))

    def line(name: str) -> TableRow:
        gain = (
            "" if name == base or math.isnan(shares[name]) else f"{100 * (shares[name] - shares[base]):+.1f}"
        )
        values = (
            sum(map(bool, letters[name])),
            n_different(name, base),
            Cell(value=None if math.isnan(shares[name]) else shares[name], detail=gain),
            *("·" if other == name else n_different(name, other) for other in letters),
        )
        return TableRow(key=name, label=name, detail="this report" if name == base else "", values=values)

    note = "replies read differently than in this report"
    group = "replies read differently from"
    return Table(
        name="parsers",
        title="Parsers",
        note=f"{n:,} replies to questions with choices, each read again by every parser; nobody was asked. "
        "Accuracy is over these replies.",
        label=Column(key="parser", title="parser"),
        columns=(
            Column(key="read", title="letters read", kind="count"),
            Column(key="changed", title="changed", kind="count", note=note),
            Column(key="accuracy", title="accuracy", kind="share", note="and its change in points"),
            *(Column(key=f"against:{name}", title=name, kind="count", group=group) for name in letters),
        ),
        rows=tuple(map(line, letters)),
    )


def _changed(read: Mapping[str, _ParserReading], rows: Sequence[Row]) -> Table:
    """The replies on which parsers disagree, with the letter that each one reads."""
    readings = zip(*(one.letters for one in read.values()), strict=True)
    found = [(row, letters) for row, letters in zip(rows, readings, strict=True) if len(set(letters)) > 1]
    listed = f", {MOST_CHANGED:,} of them listed" if len(found) > MOST_CHANGED else ""
    return Table(
        name="parsers-changed",
        title="Replies on which parsers disagree",
        note=f"{len(found):,} of {len(rows):,} replies{listed}. A dash: no letter was read.",
        label=Column(key="item", title="question"),
        # Letters stand to the right as the numbers of the other tables do.
        columns=(
            Column(key="gold", title="right", kind="count"),
            *(Column(key=f"read:{name}", title=name, kind="count", group="letter read by") for name in read),
        ),
        rows=tuple(
            TableRow(
                key=f"{row.item.item_id}#{row.trial.repeat}",
                label=row.item.item_id,
                detail=f"repeat {row.trial.repeat}" if row.trial.repeat else "",
                values=(row.item.answer, *(letter or DASH for letter in letters)),
            )
            for row, letters in found[:MOST_CHANGED]
        ),
    )
