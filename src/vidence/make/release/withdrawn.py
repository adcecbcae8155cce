"""Withdrawn questions of earlier releases; their ids are never reused."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from vidence.ask.files import FieldError, decoded, objects, read
from vidence.errors import DataError, UsageError
from vidence.records import Item, Record

WITHDRAWN_FILE: Final = Path("about") / "withdrawn.jsonl"
IDS_FILE: Final = Path("about") / "ids.jsonl"
_MOST_NAMED: Final = 5


class Withdrawn(Record, omit_defaults=True):
    """A question that was withdrawn; `version` is the first release without it."""

    item_id: str
    reason: str = ""
    version: str = ""


class ReleasedId(Record):
    """A question of a release, by its name and split."""

    item_id: str
    split: str


class _Mark(Record):
    canary: str


RecordT = TypeVar("RecordT", bound=Record)


def read_withdrawn(path: Path) -> tuple[Withdrawn, ...]:
    """The questions that a file of JSON lines withdraws.

    Raises:
        DataError: it cannot be read, or a line is none; the line is named.
    """
    decoder = msgspec.json.Decoder(Withdrawn)
    return tuple(_read(path, decoder))


def withdrawn_since(
    before: Path, items: Sequence[Item], *, now_withdrawn: Sequence[Withdrawn], version: str
) -> tuple[Withdrawn, ...]:
    """All that is withdrawn: by the release before, now by name, and what is simply no longer there.

    Args:
        before: the folder of the release before.
        items: what is released now.
        now_withdrawn: what is withdrawn by name.
        version: that of the new release.

    Raises:
        UsageError: the folder is no such release.
        DataError: its lists cannot be read.
    """
    if not (before / IDS_FILE).is_file():
        raise UsageError(f"{before} is no release of vidence items release (no {IDS_FILE})")
    known = {withdrawn.item_id: withdrawn for withdrawn in read_withdrawn(before / WITHDRAWN_FILE)}
    known |= {withdrawn.item_id: withdrawn for withdrawn in now_withdrawn if withdrawn.item_id not in known}
    there = {item.item_id for item in items}
    for released_id in read_ids(before):
        if released_id.item_id not in there and released_id.item_id not in known:
            known[released_id.item_id] = Withdrawn(
                item_id=released_id.item_id, reason="left out", version=version
            )
    return tuple(known[name] for name in sorted(known))


def read_ids(folder: Path) -> tuple[ReleasedId, ...]:
    """The questions of a release.

    Raises:
        DataError: the list cannot be read.
    """
    return tuple(_read(folder / IDS_FILE, msgspec.json.Decoder(ReleasedId)))


def refuse_withdrawn(items: Sequence[Item], withdrawn: Sequence[Withdrawn]) -> None:
    """Refuse questions with the id of one that was withdrawn.

    Raises:
        UsageError: there are some.
    """
    gone = {entry.item_id for entry in withdrawn}
    used = [item.item_id for item in items if item.item_id in gone]
    if used:
        raise UsageError(
            f"{len(used):,} ids belong to questions that were withdrawn: {', '.join(used[:_MOST_NAMED])}. An "
            "id is never used again: leave these out, or give them other ids"
        )


def _read(path: Path, decoder: msgspec.json.Decoder[RecordT]) -> list[RecordT]:
    entries: list[RecordT] = []
    if path.is_file() and not path.stat().st_size:
        return entries
    for line, row in objects(read(path, what="a list of questions")):
        try:
            decoded(row, msgspec.json.Decoder(_Mark))
        except FieldError:
            pass
        else:
            continue  # the line that carries the canary
        try:
            entries.append(decoded(row, decoder))
        except FieldError as error:
            raise DataError(f"{path}:{line}: {error}") from error
    return entries
