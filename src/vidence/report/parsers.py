"""What other parsers read in the same replies, without asking a model."""

import math
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from urllib.parse import unquote

from vidence.ask.scoring.peers import facts_of, rules_of
from vidence.catalog import create, ready
from vidence.contracts import Scorer
from vidence.records import LOGP, Answered, Score, Unreadable
from vidence.report.results import Row, Run, read_again
from vidence.tables.table import DASH, Cell, Column, Table
from vidence.tables.table import Row as TableRow

MOST_CHANGED = 200
_OF_LOG = " For the log, its own marks count."
_NONE = Unreadable(reason="the log has no mark")
LOG = "the log"
"""The tool whose scores are shown with the parsers', for imported runs."""
ROBUST = "robust"


def has_logps(row: Row) -> bool:
    """Whether a trial's reply has log-probabilities of choice letters."""
    return row.trial.reply is not None and bool(row.trial.reply.choice_logps)


STORED: Mapping[str, Callable[[Row], bool]] = {LOGP: has_logps}
"""Parsers that need a feature of replies, and the test for it."""


def parser_tables(run: Run, parsers: Sequence[str] = ()) -> tuple[Table, Table]:
    """Return how each parser reads the replies to questions with choices, and the disagreements.

    Args:
        run: the run; its own parser comes first. For an imported run, the original tool's rules and `LOG`
            follow.
        parsers: names of others; if empty, all text parsers of the catalog, and ``logp`` if a reply has
            log-probabilities.

    Raises:
        UnknownNameError: no parser has that name.
    """
    known = rules_of(unquote(run.plan.model.rpartition("?asked=")[2]))
    n_least = int(any(facts_of(name).leaves_out_blank for name in known))
    rows = [
        row
        for row in run.rows
        if row.item.answer_kind == "choice" and row.trial.reply and len(row.trial.reply.text) >= n_least
    ]
    read = {run.reader: _ParserReading.of(rows, (row.score for row in rows))}
    for name in dict.fromkeys([*known, *(parsers or ready("parser"))]):
        if name != run.reader:
            scorer: Scorer = create("parser", name)
            is_wanted = parsers or name in known or scorer.reads_letters
            if is_wanted or (name in STORED and any(map(STORED[name], rows))):
                read[name] = _ParserReading.of(
                    rows, (read_again(row.item, row.trial, scorer) for row in rows)
                )
    if any(row.trial.reply and row.trial.reply.logged is not None for row in rows):
        read[LOG] = _ParserReading.of(rows, map(_logged, rows))
    return _counts(read, base=run.reader), _changed(read, rows, base=run.reader)


def _logged(row: Row) -> Score:
    """Return the score of the tool that wrote the log."""
    mark = row.trial.reply.logged if row.trial.reply else None
    outcome = (
        Answered(answer={0.0: "wrong", 1.0: "right"}.get(mark, f"{mark:g}")) if mark is not None else _NONE
    )
    return Score(outcome=outcome, value=mark, scorer=LOG, scorer_version=1)


@dataclass(frozen=True, kw_only=True)
class _ParserReading:
    """One parser's readings and scores; NaN if a score counts in no mean."""

    letters: tuple[str, ...]
    marks: Sequence[float]

    @classmethod
    def of(cls, rows: Sequence[Row], scores: Iterable[Score]) -> "_ParserReading":
        """Keep only letters and scores; complete scores of all parsers would exceed the run's memory."""
        letters, marks = [], array("d")
        for row, score in zip(rows, scores, strict=True):
            again = Row(item=row.item, trial=row.trial, score=score)
            letters.append(sys.intern(again.read))
            marks.append(math.nan if row.item.is_hidden or again.correct is None else again.correct)
        return cls(letters=tuple(letters), marks=marks)

    @property
    def share(self) -> float:
        """Return the mean score; NaN without any."""
        return fmean([mark for mark in self.marks if not math.isnan(mark)] or [math.nan])


def _differing(read: Mapping[str, _ParserReading], name: str, other: str) -> list[bool]:
    """Return which replies two parsers read differently; for the log, which have another score."""
    reading, two = read[name], read[other]
    if LOG in {name, other}:
        return [abs(a - b) > 0 for a, b in zip(reading.marks, two.marks, strict=True)]
    return [a != b for a, b in zip(reading.letters, two.letters, strict=True)]


def _counts(read: Mapping[str, _ParserReading], *, base: str) -> Table:
    """Return how many letters change, and the accuracy, under each parser; and by pair."""
    n = len(read[base].letters)
    shares = {name: reading.share for name, reading in read.items()}

    def line(name: str) -> TableRow:
        gain = (
            "" if name == base or math.isnan(shares[name]) else f"{100 * (shares[name] - shares[base]):+.1f}"
        )
        values = (
            sum(map(bool, read[name].letters)),
            sum(_differing(read, name, base)),
            Cell(value=None if math.isnan(shares[name]) else shares[name], detail=gain),
            *("·" if other == name else sum(_differing(read, name, other)) for other in read),
        )
        return TableRow(key=name, label=name, detail="this report" if name == base else "", values=values)

    note = "replies read differently than in this report"
    group = "replies read differently from"
    return Table(
        name="parsers",
        title="Parsers",
        note=f"{n:,} replies to questions with choices, each read again by every parser; no model was asked. "
        f"Accuracy is over these replies.{_OF_LOG if LOG in read else ''}",
        label=Column(key="parser", title="parser"),
        columns=(
            Column(key="read", title="letters read", kind="count"),
            Column(key="changed", title="changed", kind="count", note=note),
            Column(key="accuracy", title="accuracy", kind="share", note="and its change in points"),
            *(Column(key=f"against:{name}", title=name, kind="count", group=group) for name in read),
        ),
        rows=tuple(map(line, read)),
    )


def _changed(read: Mapping[str, _ParserReading], rows: Sequence[Row], *, base: str) -> Table:
    """Return the replies on which parsers disagree, with each parser's letter."""
    readings = zip(*(reading.letters for reading in read.values()), strict=True)
    changed = map(any, zip(*(_differing(read, name, base) for name in read), strict=True))
    entries = [entry[:2] for entry in zip(rows, readings, changed, strict=True) if entry[2]]
    listed = f", {MOST_CHANGED:,} of them listed" if len(entries) > MOST_CHANGED else ""
    return Table(
        name="parsers-changed",
        title="Replies on which parsers disagree",
        note=f"{len(entries):,} of {len(rows):,} replies{listed}. A dash: no letter was read.",
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
            for row, letters in entries[:MOST_CHANGED]
        ),
    )
