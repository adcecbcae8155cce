"""Files of a review: protocol, revisions, events; reading, appending and merging."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from vidence.engine.config_file import read_config
from vidence.errors import DataError, UsageError, cause
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.output import json_lines
from vidence.make.review.protocol import Protocol
from vidence.make.review.revisions import Event, Revision, chains, in_order
from vidence.make.review.states import Folded, ItemState, fold
from vidence.media.whole import remove_leftovers
from vidence.records import Item, by_key
from vidence.text import first_lines

PROTOCOL_FILE, REVISIONS_FILE, EVENTS_FILE = "protocol.toml", "revisions.jsonl", "reviews.jsonl"
_OneT = TypeVar("_OneT", Revision, Event)


ASIDE: Final = frozenset({"author", "minutes"})
"""Fields of a submitted item besides the item format: author and working time."""
_NOTES: Final = frozenset({"misconception", "annotations"})  # for those who review


def bare(content: Mapping[str, object]) -> dict[str, object]:
    """Return a submitted item in the item format, without `ASIDE`."""
    return {name: value for name, value in content.items() if name not in ASIDE}


def question_fault(content: Mapping[str, object]) -> str:
    """Return why a wording is not a valid question; empty if it is."""
    try:
        question_of(content)
    except DataError as error:
        return str(error)
    return ""


def question_of(content: Mapping[str, object]) -> Item:
    """Return the question in a wording, without reviewers' fields.

    Raises:
        DataError: it is none.
    """
    try:
        return msgspec.convert(
            {name: value for name, value in bare(content).items() if name not in _NOTES}, Item
        )
    except msgspec.ValidationError as error:
        what = f"the wording of {content.get('item_id')} is no question ({error})"
        raise DataError(f"{what}; fix it, or have it edited again") from error


@dataclass(frozen=True, kw_only=True)
class Reviews:
    """A complete review: protocol, wordings, events, and the resulting states."""

    protocol: Protocol
    revisions: Mapping[str, Revision]
    events: tuple[Event, ...]
    folded: Folded

    @classmethod
    def of(cls, protocol: Protocol, revisions: Iterable[Revision], events: Iterable[Event]) -> "Reviews":
        """Compute the states of all items; the chains must be intact (`chains`)."""
        known = {revision.sha256: revision for revision in revisions}
        ordered = in_order(events)
        return cls(protocol=protocol, revisions=known, events=ordered, folded=fold(known, ordered, protocol))

    @property
    def states(self) -> Mapping[str, ItemState]:
        """Return the states by item, in order of submission."""
        return self.folded.states

    @cached_property
    def events_of(self) -> Mapping[str, tuple[Event, ...]]:
        """Return each item's events, in order."""
        events = by_key((event.item_id, event) for event in self.events)
        return {name: tuple(mine) for name, mine in events.items()}

    @cached_property
    def revisions_of(self) -> Mapping[str, tuple[Revision, ...]]:
        """Return each item's wordings."""
        revisions = by_key((revision.item_id, revision) for revision in self.revisions.values())
        return {name: tuple(mine) for name, mine in revisions.items()}

    def content(self, item_id: str) -> Mapping[str, object]:
        """Return an item's last submitted wording, or else its first one."""
        state = self.states[item_id]
        if state.revision:
            return self.revisions[state.revision].content
        return self.revisions_of[item_id][0].content

    def source(self, item_id: str) -> Mapping[str, object]:
        """Return an item's last wording that is not a translation."""
        revision = self.revisions.get(self.states[item_id].revision)
        while revision is not None and revision.origin == "translate":
            revision = self.revisions.get(revision.parent)
        return self.content(item_id) if revision is None else revision.content

    def deciding(self, item_id: str) -> Event | None:
        """Return the event that decided an item; None if it is not decided."""
        state = self.states.get(item_id)
        kind = {"accepted": "accept", "rejected": "reject"}.get(state.state) if state is not None else None
        refused = {event.event_id for event, _ in self.folded.refused}
        mine = reversed(self.events_of.get(item_id, ()))
        return next((event for event in mine if event.kind == kind and event.event_id not in refused), None)

    def last_of(self, by: str) -> str:
        """Return the `event_id` of a person's last act; empty if there is none."""
        return next((event.event_id for event in reversed(self.events) if event.by == by), "")


def read_reviews(folder: Path) -> Reviews:
    """Read a review from its folder.

    Raises:
        UsageError: there is no review, or its protocol is none.
        DataError: lines cannot be used, or a chain is broken; the first twenty faults are named with file
            and line.
    """
    if not (folder / PROTOCOL_FILE).is_file():
        raise UsageError(
            f"{folder} holds no review (no {PROTOCOL_FILE}); `vidence items review open` begins one"
        )
    protocol = read_config(folder / PROTOCOL_FILE, Protocol)
    revisions, events = _of_folder(folder)
    return Reviews.of(protocol, revisions, events)


def _of_folder(folder: Path) -> tuple[list[Revision], list[Event]]:
    return read_files(_paths(folder))


def _paths(folder: Path) -> list[Path]:
    return [path for name in (REVISIONS_FILE, EVENTS_FILE) if (path := folder / name).is_file()]


def read_files(paths: Sequence[Path]) -> tuple[list[Revision], list[Event]]:
    """Return the distinct revisions and events in JSON lines files, told by their keys.

    Raises:
        DataError: see `read_reviews`. Nothing of any file is taken where one has a fault.
    """
    revisions: dict[str, Revision] = {}
    events: dict[str, Event] = {}
    where: dict[str, str] = {}
    faults: list[str] = []
    for path in paths:
        for place, entry in _rows(path):
            fault = entry if isinstance(entry, str) else entry.fault
            if fault:
                faults.append(f"{place}: {fault}")
            elif isinstance(entry, Revision):
                revisions[entry.sha256] = entry
                where.setdefault(entry.sha256, place)
            elif isinstance(entry, Event):
                events[entry.event_id] = entry
                where.setdefault(entry.event_id, place)
    if not faults:
        _, broken = chains(tuple(events.values()))
        faults += [f"{where[name]}: {reason}" for name, reason in broken.items()]
        faults += [
            f"{where[r.sha256]}: the revision {r.parent[:12]!r} that it was made of is not there"
            for r in revisions.values()
            if r.parent and r.parent not in revisions
        ]
        faults += [
            f"{where[event.event_id]}: the revision {event.revision[:12]!r} that it is about is not there; "
            f"name the {REVISIONS_FILE} beside it, too"
            for event in events.values()
            if event.revision not in revisions
        ]
    refuse_faulty(faults, what="the files of the review")
    return list(revisions.values()), list(events.values())


def add_to(folder: Path, *, revisions: Sequence[Revision], events: Sequence[Event]) -> tuple[Path, ...]:
    """Write what is new behind what is there; what is there stays byte by byte.

    Whatever a killed process left half written is removed.

    Returns:
        The files that were changed.

    Raises:
        DataError: a file of the folder cannot be read.
        StoreError: a file cannot be written.
    """
    remove_leftovers(folder)
    known, done = _of_folder(folder)
    names = {revision.sha256 for revision in known} | {event.event_id for event in done}
    fresh = [revision for revision in revisions if revision.sha256 not in names]
    new = [event for event in events if event.event_id not in names]
    changed = []
    for name, lines in ((REVISIONS_FILE, json_lines(fresh)), (EVENTS_FILE, json_lines(new))):
        if lines:
            path = folder / name
            write_file(path, (path.read_bytes() if path.is_file() else b"") + lines)
            changed.append(path)
    return tuple(changed)


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The number of merged entries, and the merged events without effect."""

    n_revisions: int
    n_events: int
    refused: tuple[tuple[Event, str], ...]


def merge(folder: Path, others: Sequence[Path]) -> Merged:
    """Merge others' entries from their folders, or files of events and revisions.

    An event that the guards refuse is kept, has no effect, and is named. A second merge adds nothing.

    Raises:
        UsageError: another folder was reviewed by another protocol.
        DataError: a file has faults; nothing is added.
        StoreError: a file cannot be written.
    """
    mine = read_reviews(folder)
    paths: list[Path] = []
    for other in others:
        if not other.is_dir():
            paths.append(other)
            continue
        if read_config(other / PROTOCOL_FILE, Protocol) != mine.protocol:
            raise UsageError(f"{other} was reviewed with another protocol than {folder}; expected the same")
        paths += _paths(other)
    revisions, events = read_files([*_paths(folder), *paths])
    before = {event.event_id for event in mine.events}
    whole = Reviews.of(mine.protocol, revisions, events)
    add_to(folder, revisions=revisions, events=whole.events)
    return Merged(
        n_revisions=len(revisions) - len(mine.revisions),
        n_events=len(events) - len(mine.events),
        refused=tuple(pair for pair in whole.folded.refused if pair[0].event_id not in before),
    )


def read_items(path: Path) -> dict[str, dict[str, object]]:
    """Return the items of a JSON lines file by `item_id`, with all their fields.

    Raises:
        DataError: it cannot be read, or lines are no objects with an `item_id` of their own.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {cause(error)}") from error
    items: dict[str, dict[str, object]] = {}
    faults: list[str] = []
    for line, raw in enumerate(io.StringIO(text, newline="\n"), 1):
        if not raw.strip():
            continue
        item = _item(raw)
        if isinstance(item, str):
            faults.append(f"{path}:{line}: {item}")
        elif str(item["item_id"]) in items:
            faults.append(f"{path}:{line}: a second item {item['item_id']!r}; keep one")
        else:
            items[str(item["item_id"])] = item
    refuse_faulty(faults, what=f"{path} cannot be reviewed")
    return items


def _item(raw: str) -> dict[str, object] | str:
    try:
        value = msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        return f"no JSON: {error}"
    named = value.get("item_id") if isinstance(value, dict) else None
    if not isinstance(named, str) or not named.strip():
        return "no item_id; expected an object with one"
    return dict(value)


def refuse_faulty(faults: Sequence[str], *, what: str) -> None:
    """Reject faulty input, listing the first twenty faults.

    Raises:
        DataError: there are some.
    """
    if faults:
        raise DataError(f"{what}: {len(faults)} faults\n{first_lines(faults)}")


# --------------------------------------------------------------------------- lines


def _rows(path: Path) -> Iterator[tuple[str, Revision | Event | str]]:
    """Yield the content of each line of a file, or its fault, with its place."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {cause(error)}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 ({error})") from error
    for line, raw in enumerate(io.StringIO(text, newline="\n"), 1):
        if raw.strip():
            yield f"{path}:{line}", _line(raw)


def _line(raw: str) -> Revision | Event | str:
    if not raw.endswith("\n"):
        return "the line does not end; it was cut off"
    try:
        value = msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        return f"no JSON: {error}"
    if isinstance(value, dict) and "event_id" in value:
        return _converted(value, Event)
    return _converted(value, Revision)


def _converted(value: object, kind: type[_OneT]) -> _OneT | str:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        return str(error)
