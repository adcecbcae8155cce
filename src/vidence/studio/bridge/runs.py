"""Runs as the viewer reads them: their heads, and single trials as rows of an index; nothing is written."""

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from vidence.catalog import create, ready
from vidence.contracts import Scorer
from vidence.engine.plan import read_plan
from vidence.engine.store import PLAN_NAME, RUN_FILE, RunStore, Stored
from vidence.errors import StoreError, cause
from vidence.records import Item, Score
from vidence.report.parsers import STORED
from vidence.report.provenance import is_asked
from vidence.report.results import Row, Run, read_again
from vidence.report.trials import cost_usd

# Of a reply so many characters are searched for words; the page says so.
SEARCHED = 20_000
LONGEST = 300
"""Letters of a question in a list."""
DAMAGED = "damaged"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One trial as lists show and filter it, as a row of the index; of its question the beginning.

    `fate` is its status, or `DAMAGED` with a `problem`. `tokens` are those that went in and came out.
    `margin` is how far the log-probability of the most likely letter is above the next; None without such.
    `words` are what a search looks through, in small letters.
    """

    seq: int
    position: int
    item_id: str
    repeat: int
    fate: str
    question: str = ""
    read: str = ""
    gold: str = ""
    value: float | None = None
    finish: str = ""
    tokens: int | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    margin: float | None = None
    judges_differ: bool = False
    words: str = ""
    problem: str = ""


def open_head(folder: Path) -> Run:
    """A run without its trials: its plan, its facts, and what it is called.

    Raises:
        StoreError: not a run folder, or a damaged one.
    """
    plan, facts = read_plan(folder)
    name = folder.resolve().name
    return Run(folder=folder, name=name, plan=plan, facts=facts, rows=(), parser=plan.parser, are_brief=True)


def content_key(folder: Path) -> str:
    """Which run this is: another one at the same path has another key; one that goes on keeps its own.

    Raises:
        StoreError: it is gone.
    """
    try:
        state = (folder / RUN_FILE).stat()
        plan = (folder / PLAN_NAME).read_bytes()
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {cause(error)}") from error
    key = f"{os.path.realpath(folder)}\0{state.st_dev}\0{state.st_ino}\0"
    return hashlib.sha256(os.fsencode(key) + plan).hexdigest()


class Reader:
    """Reads the rows of one run, as many at a time as memory allows.

    It is made once for a run and holds its questions.

    Raises:
        StoreError: the questions cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.head = open_head(folder)
        with RunStore(folder) as store:
            self.items = {item.item_id: (i, item) for i, item in enumerate(store.items())}

    def after(self, seq: int, n: int) -> list[Entry]:
        """The next rows as entries.

        Raises:
            StoreError: the run cannot be read any more.
        """
        with RunStore(self.head.folder) as store:
            stored = store.rows_after(seq, n)
        return [entry_of(self.head, self.items, entry) for entry in stored]

    def disagreeing(self, seq: int, n: int) -> tuple[list[tuple[str, int]], int, int]:
        """Item and repeat of those of the next rows in which readers disagree, the last number, how many.

        Raises:
            StoreError: the run cannot be read any more.
        """
        with RunStore(self.head.folder) as store:
            stored = store.rows_after(seq, n)
        entries = []
        for entry in stored:
            row = row_of(self.items, entry)
            if row is not None and len(set(readings(row, self.head.parser).values())) > 1:
                entries.append((entry.item_id, entry.repeat))
        return entries, stored[-1].seq if stored else seq, len(stored)


def row_of(items: Mapping[str, tuple[int, Item]], stored: Stored) -> Row | None:
    """Match a stored trial with its question; None if either is damaged or they differ."""
    values = items.get(stored.item_id)
    if values is None or stored.trial is None:
        return None
    try:
        item = values[1].with_order(stored.trial.choice_order)
    except (ValueError, TypeError):
        return None
    return Row(item=item, trial=stored.trial, score=stored.trial.score)


def entry_of(head: Run, items: Mapping[str, tuple[int, Item]], stored: Stored) -> Entry:
    """A stored trial as lists show it; one that is damaged with what is wrong."""
    row = row_of(items, stored)
    position = items[stored.item_id][0] if stored.item_id in items else -1
    question = items[stored.item_id][1].question if stored.item_id in items else ""
    damaged = Entry(
        seq=stored.seq,
        position=position,
        item_id=stored.item_id,
        repeat=stored.repeat,
        fate=DAMAGED,
        question=question[:LONGEST],
        problem=stored.problem or "the trial fits no question of the run; the file is damaged",
        words=question.casefold(),
    )
    if row is None:
        return damaged
    reply, usage = row.trial.reply, row.trial.usage
    entry = "" if reply is None else f"{reply.text[:SEARCHED]}\n{reply.reasoning[:SEARCHED]}"
    known = [n for n in (usage.input_tokens, usage.output_tokens) if n is not None]
    return replace(
        damaged,
        fate=row.status,
        problem="",
        read=row.read[:200],
        gold=row.item.answer[:200],
        value=row.correct,
        finish="" if reply is None else reply.finish,
        tokens=sum(known) if known else None,
        latency_s=reply.latency_s if reply is not None and is_asked(head) else None,
        cost_usd=cost_usd(head, row),
        margin=margin_of(row),
        judges_differ=judges_differ(row.score),
        words="\n".join((question, *row.item.choices, row.item.item_id, entry)).casefold(),
    )


def margin_of(row: Row) -> float | None:
    """How far the log-probability of the most likely letter is above that of the next."""
    reply = row.trial.reply
    if reply is None or not reply.choice_logps:
        return None
    known = sorted((v for v in reply.choice_logps.values() if math.isfinite(v)), reverse=True)
    return known[0] - known[1] if len(known) > 1 else None


def judges_differ(score: Score) -> bool:
    """Whether judges of one reply gave different verdicts, or are tied."""
    values = {verdict.value for verdict in score.verdicts if verdict.value is not None}
    return len(values) > 1 or score.is_undecided


@cache
def _readers() -> Mapping[str, Scorer]:
    """All readers by name that read letters in words, or the most likely choice out of what is stored."""
    scorers: dict[str, Scorer] = {name: create("parser", name) for name in ready("parser")}
    return {n: scorer for n, scorer in scorers.items() if scorer.reads_letters or n in STORED}


def readings(row: Row, own: str) -> dict[str, str]:
    """Parse a reply to a multiple-choice question with every reader, the run's own first; no model is called.

    Args:
        row: the trial.
        own: the reader of the run.
    """
    if row.item.answer_kind != "choice" or row.trial.reply is None:
        return {}
    readings = {own: row.read}
    for name, scorer in _readers().items():
        if name == own or (name in STORED and not STORED[name](row)):
            continue
        again = read_again(row.item, row.trial, scorer)
        readings[name] = Row(item=row.item, trial=row.trial, score=again).read
    return readings
