"""Gate verdicts on a file's questions: write, read, filter."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from vidence.errors import DataError
from vidence.make.gates.model_gates import GateVerdict
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.output import read_lines
from vidence.records import Item
from vidence.tables.table import several
from vidence.text import some

FILTER: Final = "filter"
_LISTED: Final = 5


def content_of(item: Item) -> str:
    """Return the SHA-256 of media, question, choices, answer and evidence; not of tags or folders.

    Media count by their hash, where one is stated, otherwise by the name of the file; with their spans.

    >>> one = Item(item_id="a", question="Which?", choices=("x", "y"), answer="A")
    >>> content_of(one) == content_of(msgspec.structs.replace(one, tags={"level": "2"}))
    True
    """
    media = [
        [
            medium.sha256 or Path(medium.path or medium.url or "").name,
            medium.kind,
            medium.start_s,
            medium.end_s,
        ]
        for medium in item.media
    ]
    spans = [[evidence.start_s, evidence.end_s, list(evidence.frames)] for evidence in item.evidence]
    asked = [media, item.question, list(item.choices), item.answer, item.answer_kind, spans]
    return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()


def read_verdicts(path: Path) -> tuple[GateVerdict, ...]:
    """Return the verdicts in a file.

    Raises:
        DataError: it cannot be read, or a line of it is no verdict.
    """
    return tuple(read_lines(path, GateVerdict, fault="no verdict of `vidence items gate`"))


def filter_items(
    items: Sequence[Item], verdicts: Sequence[GateVerdict], *, drop: Collection[str] = ("dropped",)
) -> tuple[tuple[Item, ...], tuple[Dropped, ...]]:
    """Keep items without an adverse verdict; drop the others with the reason of their first verdict.

    Raises:
        DataError: verdicts on questions that are not here, or on another wording of one.
    """
    by_id = {item.item_id: item for item in items}
    _check(by_id, verdicts)
    gone: dict[str, Dropped] = {}
    for verdict in verdicts:
        if verdict.decision in drop:
            reason = verdict.reason or f"{verdict.decision}-{verdict.gate}"
            detail = verdict.why or f"{verdict.n_right} of {len(verdict.votes)} right"
            gone.setdefault(
                verdict.item_id, Dropped(what=verdict.item_id, stage=FILTER, reason=reason, detail=detail)
            )
    kept = tuple(item for item in items if item.item_id not in gone)
    return kept, tuple(gone[item.item_id] for item in items if item.item_id in gone)


def decisions_words(verdicts: Sequence[GateVerdict], *, drop: Collection[str]) -> tuple[str, ...]:
    """Return sentences on questions kept with an open verdict or without a test."""
    decisions_words = []
    for decision, what in (("open", "left open"), ("untried", "not tried")):
        n = len({verdict.item_id for verdict in verdicts if verdict.decision == decision})
        if n and decision not in drop:
            decisions_words.append(f"{n:,} questions were {what}; --drop dropped,{decision} leaves them out.")
    return tuple(decisions_words)


def _check(by_id: Mapping[str, Item], verdicts: Sequence[GateVerdict]) -> None:
    unknown = list(dict.fromkeys(verdict.item_id for verdict in verdicts if verdict.item_id not in by_id))
    if unknown:
        raise DataError(
            f"{several(len(unknown), 'verdict')} about questions outside the set: "
            f"{some(map(repr, unknown), most=_LISTED)}; give the verdicts of this set"
        )
    contents = {name: content_of(item) for name, item in by_id.items()}
    if older := list(dict.fromkeys(v.item_id for v in verdicts if v.content != contents[v.item_id])):
        raise DataError(
            f"{several(len(older), 'question')} changed after the verdict: "
            f"{some(map(repr, older), most=_LISTED)}; run vidence items gate on them again"
        )
