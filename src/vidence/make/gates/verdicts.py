"""Verdicts of gates on the questions of a file: written, read, and what is kept by them."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from vidence.errors import DataError
from vidence.make.gates.model_gates import GateVerdict
from vidence.make.pipeline.material import Dropped
from vidence.records import Item

FILTER: Final = "filter"
_LISTED: Final = 5


def content_of(item: Item) -> str:
    """The SHA-256 of what is asked: media, question, choices, answer, evidence; not tags, or where files lie.

    Media count by their hash, where one is stated, otherwise by the name of the file; with their spans.

    >>> one = Item(item_id="a", question="Which?", choices=("x", "y"), answer="A")
    >>> content_of(one) == content_of(msgspec.structs.replace(one, tags={"level": "2"}))
    True
    """
    media = [
        [one.sha256 or Path(one.path or one.url or "").name, one.kind, one.start_s, one.end_s]
        for one in item.media
    ]
    spans = [[one.start_s, one.end_s, list(one.frames)] for one in item.evidence]
    asked = [media, item.question, list(item.choices), item.answer, item.answer_kind, spans]
    return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()


def read_verdicts(path: Path) -> tuple[GateVerdict, ...]:
    """The verdicts of a file.

    Raises:
        DataError: it cannot be read, or a line of it is no verdict.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    found: list[GateVerdict] = []
    decoder = msgspec.json.Decoder(GateVerdict)
    for number, line in enumerate(lines, 1):
        try:
            found.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            raise DataError(f"{path}:{number}: no verdict of `vidence gate` ({error})") from error
    return tuple(found)


def filter_items(
    items: Sequence[Item], verdicts: Sequence[GateVerdict], *, drop: Collection[str] = ("dropped",)
) -> tuple[tuple[Item, ...], tuple[Dropped, ...]]:
    """Keep what no verdict speaks against; each of the others with the reason of its first verdict.

    Raises:
        DataError: verdicts on questions that are not here, or on another wording of one.
    """
    by_id = {item.item_id: item for item in items}
    _check(by_id, verdicts)
    gone: dict[str, Dropped] = {}
    for one in verdicts:
        if one.decision in drop:
            reason = one.reason or f"{one.decision}-{one.gate}"
            detail = one.why or f"{one.n_right} of {len(one.votes)} right"
            gone.setdefault(
                one.item_id, Dropped(what=one.item_id, stage=FILTER, reason=reason, detail=detail)
            )
    kept = tuple(item for item in items if item.item_id not in gone)
    return kept, tuple(gone[item.item_id] for item in items if item.item_id in gone)


def decisions_words(verdicts: Sequence[GateVerdict], *, drop: Collection[str]) -> tuple[str, ...]:
    """What is said of questions that are kept though a verdict is open about them, or they were not tried."""
    said = []
    for decision, what in (("open", "left open"), ("untried", "not tried")):
        n = len({one.item_id for one in verdicts if one.decision == decision})
        if n and decision not in drop:
            said.append(f"{n:,} questions were {what}; --drop dropped,{decision} leaves them out.")
    return tuple(said)


def _check(by_id: Mapping[str, Item], verdicts: Sequence[GateVerdict]) -> None:
    unknown = list(dict.fromkeys(one.item_id for one in verdicts if one.item_id not in by_id))
    if unknown:
        raise DataError(
            f"{len(unknown)} verdicts are on questions that the set does not have: {_named(unknown)}; give "
            "the verdicts on this set"
        )
    contents = {name: content_of(item) for name, item in by_id.items()}
    older = list(dict.fromkeys(one.item_id for one in verdicts if one.content != contents[one.item_id]))
    if older:
        raise DataError(
            f"{len(older)} questions were changed behind their verdicts: {_named(older)}; run vidence gate "
            "on them again"
        )


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(map(repr, names[:_LISTED])) + more
