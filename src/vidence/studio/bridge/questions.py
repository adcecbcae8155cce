"""The drawn questions of a made set: its sheet as wordings of a review, and verdicts as the filled sheet."""

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from vidence.errors import DataError
from vidence.make.gates.gate_sequence import VERDICTS_FILE
from vidence.make.gates.model_gates import GateVerdict
from vidence.make.gates.rules import ReviewRules
from vidence.make.herbench.release import SHEET_FILE
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.output import ITEMS_FILE
from vidence.make.review.decision import REVIEW, TaskPlan, clean_needed, most_rejectable
from vidence.make.review.filled_sheets import (
    CHECK,
    ITEM_ID,
    NOTE,
    VERDICT,
    columns_to_fill,
    has_writing,
    sheet_lines,
)
from vidence.make.review.protocol import digest
from vidence.make.review.revisions import Event
from vidence.make.review.sheet import ABOUT, audit
from vidence.records import Estimate, Item, Record
from vidence.statistics.intervals import proportion
from vidence.tables.export import csv_text

FILLED_FILE: Final = "filled.csv"
_MARK: Final = b"\xef\xbb\xbf"
_CHOICE: Final = re.compile(r"[A-Z]\. ")
_SAMPLE: Final = "sample"
RecordT = TypeVar("RecordT", bound=Record)


@dataclass(frozen=True, kw_only=True)
class QuestionSheet:
    """The sheet of the drawn questions as `make herbench` wrote it: its columns and its rows."""

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]

    def name(self, row: Mapping[str, str]) -> str:
        """What a question is called in a project: another name where what is asked was changed."""
        return f"{row[ITEM_ID]}.{row[CHECK]}"


class TaskProgress(TaskPlan):
    """How far the review of one task is, beside what its sample can release.

    Of the sample `n_seen` are decided and `n_rejected` were rejected: `rejected` is their share, None before
    the first.
    """

    n_seen: int
    n_rejected: int
    rejected: Estimate | None

    @property
    def words(self) -> str:
        """What would become of the rest, as it stands."""
        if self.n_rest == 0:
            return "all are looked at"
        if self.most_rejected < 0:
            return f"the rest is held back whatever is said; {self.needed} clean reviews would release it"
        if self.n_rejected > self.most_rejected:
            return "the rest is held back"
        left = self.n_sample - self.n_seen
        if left:
            return f"{left} to go; the rest is released with up to {self.most_rejected} rejected"
        return "the rest is released"


def read_sheet(folder: Path) -> QuestionSheet:
    """The sheet of a made set.

    Args:
        folder: that of the set.

    Raises:
        DataError: there is none, or it is not as it was written.
    """
    path = folder / REVIEW / SHEET_FILE
    if not path.is_file():
        raise DataError(f"{path} is not there; `vidence make` writes it where the configuration has [review]")
    for line, cells in sheet_lines(path):
        if not isinstance(cells, Mapping):
            raise DataError(f"{path}: line {line}: {cells.reason}")
    lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""), strict=True))
    columns = tuple(lines[0])
    expected = (*ABOUT, *columns_to_fill(audit()))
    if columns != expected:
        raise DataError(f"{path}: the columns are {', '.join(columns)}; expected {', '.join(expected)}")
    rows = tuple(dict(zip(columns, line, strict=True)) for line in lines[1:])
    return QuestionSheet(columns=columns, rows=rows)


def items_of(folder: Path) -> dict[str, Item]:
    """The questions of a made set by their names; empty where its file of items is not there.

    Raises:
        DataError: a line is no item.
    """
    path = folder / ITEMS_FILE
    return {one.item_id: one for one in _lines(path, Item)}


def verdicts_of(folder: Path) -> dict[str, list[GateVerdict]]:
    """What the gates said, by draft; empty where none did.

    Raises:
        DataError: a line is no verdict.
    """
    found: dict[str, list[GateVerdict]] = defaultdict(list)
    for one in _lines(folder / VERDICTS_FILE, GateVerdict):
        found[one.draft_id].append(one)
    return found


def _lines(path: Path, kind: type[RecordT]) -> Iterator[RecordT]:
    if not path.is_file():
        return
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            try:
                yield msgspec.json.decode(line, type=kind)
            except msgspec.DecodeError as error:
                raise DataError(f"{path}:{number}: {error}") from error


def wordings(folder: Path, sheet: QuestionSheet) -> dict[str, dict[str, object]]:
    """What a review keeps of each drawn question, and shows to whoever looks at it.

    Raises:
        DataError: a file of the set has faults.
    """
    items, verdicts = items_of(folder), verdicts_of(folder)
    found = {}
    for row in sheet.rows:
        item = items.get(row[ITEM_ID])
        gates = verdicts.get(item.tags.get("draft", ""), []) if item is not None else []
        content: dict[str, object] = {
            "item_id": sheet.name(row),
            "question_id": row[ITEM_ID],
            "why": row["why"],
            "source_id": row["video"],
            "media": [] if item is None else _media(folder, item),
            "question": row["question"],
            "choices": [_CHOICE.sub("", line, count=1) for line in row["choices"].split("\n")],
            "answer": row["answer"],
            "rests on": row["rests on"],
            "evidence": _evidence(row, item),
            "facts": row["facts"].split("\n") if row["facts"] else [],
            "gates": [gate_words(one) for one in gates],
            "tags": {"task": row["task"], "structure": row["structure"]},
        }
        found[sheet.name(row)] = content
    return found


def _media(folder: Path, item: Item) -> list[object]:
    media = [msgspec.to_builtins(one) for one in item.media]
    return [{**one, "path": str(folder / one["path"])} if one.get("path") else one for one in media]


def _evidence(row: Mapping[str, str], item: Item | None) -> list[object]:
    if item is None:
        return list(row["evidence"].split("\n")) if row["evidence"] else []
    return [msgspec.to_builtins(one) for one in item.evidence]


def gate_words(verdict: GateVerdict) -> str:
    """What a gate said of a question, with its votes and the frames that were tried."""
    tried = sorted({vote.frame_index for vote in verdict.votes if vote.frame_index >= 0})
    frames = f"; frames tried: {', '.join(map(str, tried))}" if tried else ""
    why = f" ({verdict.why})" if verdict.why else ""
    votes = f"{verdict.n_right} of {len(verdict.votes)} votes right"
    return f"{verdict.gate}: {verdict.decision}{why}; {votes}{frames}"


# --------------------------------------------------------------------------- what was said


def filled(sheet: QuestionSheet, said: Mapping[str, Event]) -> bytes:
    """The sheet with what people said in it, as `vidence make` and `vidence review` read it.

    What nobody has decided here stays empty. A note that a spreadsheet would run gets an apostrophe.

    Args:
        sheet: as it was written.
        said: by the name of a question the act that decided it.
    """
    checks = [one.id for one in audit().checks]
    lines: list[list[str]] = [list(sheet.columns)]
    for row in sheet.rows:
        event = said.get(sheet.name(row))
        cells = {name: cell if name in ABOUT else "" for name, cell in row.items()}
        if event is not None:
            cells |= {name: event.checks.get(name, "") for name in checks}
            cells |= {VERDICT: event.kind, NOTE: event.message}
        lines.append([cells[name] for name in sheet.columns])
    return _MARK + csv_text(lines).encode()


def write_filled(path: Path, content: bytes, *, ours: Collection[str]) -> str:
    """Write the filled sheet; one that somebody else has filled in is never written over.

    Args:
        path: where.
        content: its bytes.
        ours: the hashes of what the studio has written there.

    Returns:
        The hash of the content.

    Raises:
        DataError: somebody else has filled it in.
        StoreError: it cannot be written.
    """
    if (
        path.exists()
        and digest(path.read_bytes()) not in ours
        and has_writing(path, columns_to_fill(audit()))
    ):
        raise DataError(
            f"{path} was filled in elsewhere and stays as it is; name both sheets as filled in [review], "
            "or move it away"
        )
    write_file(path, content)
    return digest(content)


def progress(
    sheet: QuestionSheet, items: Mapping[str, Item], said: Mapping[str, Event], *, rules: ReviewRules
) -> tuple[TaskProgress, ...]:
    """How far each task is.

    Args:
        sheet: what was drawn.
        items: all questions of the set.
        said: by the name of a question the act that decided it.
        rules: when the rest of a task is released.
    """
    drawn = {row[ITEM_ID]: row["task"] for row in sheet.rows}
    tasks = Counter({**{one.item_id: one.tags.get("task", "") for one in items.values()}, **drawn}.values())
    return tuple(
        _progress(
            task, n, [row for row in sheet.rows if row["task"] == task], sheet=sheet, said=said, rules=rules
        )
        for task, n in sorted(tasks.items())
    )


def _progress(
    task: str,
    n: int,
    rows: Sequence[Mapping[str, str]],
    *,
    sheet: QuestionSheet,
    said: Mapping[str, Event],
    rules: ReviewRules,
) -> TaskProgress:
    sample = [row for row in rows if row["why"] == _SAMPLE]
    seen = [said[name] for row in sample if (name := sheet.name(row)) in said]
    n_rejected = sum(one.kind == "reject" for one in seen)
    n_queued = len(rows) - len(sample)
    return TaskProgress(
        task=task,
        n=n,
        n_sample=len(sample),
        n_queued=n_queued,
        n_rest=n - len(rows),
        n_seen=len(seen),
        n_rejected=n_rejected,
        rejected=proportion(n_rejected, len(seen), level=rules.level) if seen else None,
        most_rejected=most_rejectable(len(sample), rules),
        needed=min(clean_needed(rules), n - n_queued),
    )
