"""An item's history as each role may read it: revisions with differences, acts with messages."""

from collections.abc import Sequence
from dataclasses import dataclass

from vidence.errors import DataError
from vidence.make.review.files import Reviews
from vidence.make.review.recording import said_before
from vidence.make.review.revisions import Event, Revision
from vidence.records import Record
from vidence.studio.access import Person, Role
from vidence.studio.bridge.items import wording_of
from vidence.studio.hint_tries import HintTry, tries_of
from vidence.studio.intake import Pictured, pictured_in
from vidence.studio.records.items import ItemRow
from vidence.studio.reviewing import counted_by, reviews_of_item
from vidence.studio.rules.forms import fields_of
from vidence.studio.rules.review_steps import LOOKS, is_blind, is_hidden
from vidence.studio.rules.wording import FieldDiff, field_diffs


class Deed(Record):
    """An act; its message and person are empty if the reader may not see them."""

    at: str
    kind: str
    role: str
    n: int
    by: str = ""
    message: str = ""
    fault: str = ""


@dataclass(frozen=True, kw_only=True)
class Worded:
    """A revision: its differences from the previous one; the first in full."""

    n: int
    origin: str
    at: str
    by: str
    is_first: bool
    diffs: tuple[FieldDiff, ...]
    pictures: tuple[Pictured, ...] = ()
    fault: str = ""


@dataclass(frozen=True, kw_only=True)
class History:
    """The part of an item's history that a person may read. `n_hidden` counts the revisions left out."""

    wordings: tuple[Worded, ...]
    done: tuple[Deed, ...]
    n_hidden: int
    tried: tuple[HintTry, ...] = ()


def history_of(item: ItemRow, person: Person) -> History:
    """Return the part of an item's history that a person may read.

    Operators read all of it, authors what they wrote and what they were told, researchers what was accepted.
    Whoever looks reads the revisions that they have answered or decided, and no other: the next one may have
    to be solved before its answer is shown, and what others decided of it is told to who has decided, too.
    An operator who may still look at it is one who looks: `rules.looks.is_blind`.
    Who did what is for operators alone.
    """
    reviews = reviews_of_item(item)
    events, revisions = reviews.events, sorted(reviews.revisions.values(), key=lambda revision: revision.n)
    reader = _reader(item, person, reviews)
    numbers = {revision.sha256: revision.n for revision in revisions}
    readable = _readable(item, reader, events=events, revisions=revisions)
    wordings = [
        _wording(
            item,
            revision,
            revisions[revision.n - 2] if revision.n > 1 else None,
            is_operator=reader.is_operator,
        )
        for revision in revisions
        if revision.sha256 in readable
    ]
    done = [
        Deed(
            at=event.at,
            kind="decided" if event.event_id in reader.hidden else event.kind,
            role=event.role,
            n=numbers.get(event.revision, 0),
            by=event.by if reader.is_operator else "",
            message=event.message if event.event_id in reader.told else "",
            fault=event.fault,
        )
        for event in events
    ]
    values = {wording.n for wording in wordings}
    return History(
        wordings=tuple(wordings),
        done=tuple(done),
        n_hidden=len(revisions) - len(wordings),
        tried=tuple(hint_try for hint_try in tries_of(item) if hint_try.n in values),
    )


def question_for(item: ItemRow, person: Person) -> str:
    """Return the question text of an item's last wording that a person may read; empty if none."""
    reviews = reviews_of_item(item)
    revisions = sorted(reviews.revisions.values(), key=lambda revision: revision.n)
    readable = _readable(item, _reader(item, person, reviews), events=reviews.events, revisions=revisions)
    known = [str(row.content.get("question", "")) for row in revisions if row.sha256 in readable]
    return known[-1] if known else ""


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """A reader of an item: `hidden` are acts not shown, `told` acts whose messages are shown."""

    name: str
    roles: frozenset[Role]
    is_author: bool
    is_blind: bool
    hidden: frozenset[str]
    told: frozenset[str]

    @property
    def is_operator(self) -> bool:
        return "operator" in self.roles


def _reader(item: ItemRow, person: Person, reviews: Reviews) -> _Reader:
    roles = person.roles_in(item.project.slug)
    state, protocol, events = reviews.states[item.item_id], reviews.protocol, reviews.events
    is_author = item.author is not None and item.author.pseudonym == person.name
    counted = counted_by(item, person, state)
    blind = not is_author and is_blind(state, protocol, by=person.name, roles=roles, counted=counted)
    hidden = {
        event.event_id
        for event in events
        if is_hidden(event, state, protocol, by=person.name, is_blind=blind)
    }
    ids = {event.event_id for event in events if event.by == person.name}
    if is_author:
        ids |= {event.event_id for event in events}
    elif "operator" in roles and not blind:
        ids |= {event.event_id for event in said_before(reviews, state, by=person.name)}
    return _Reader(
        name=person.name,
        roles=roles,
        is_author=is_author,
        is_blind=blind,
        hidden=frozenset(hidden),
        told=frozenset(ids - hidden),
    )


def _readable(
    item: ItemRow, reader: _Reader, *, events: Sequence[Event], revisions: Sequence[Revision]
) -> frozenset[str]:
    """Return the revisions whose text a person may read."""
    every = frozenset(revision.sha256 for revision in revisions)
    if reader.is_author or (reader.is_operator and not reader.is_blind):
        return every
    if "researcher" in reader.roles and item.state == "accepted" and item.current is not None:
        return frozenset({item.current.sha256})
    return (
        frozenset(event.revision for event in events if event.by == reader.name and event.kind in LOOKS)
        & every
    )


def _wording(item: ItemRow, revision: Revision, before: Revision | None, *, is_operator: bool) -> Worded:
    fault = revision.fault
    try:
        after = fields_of(wording_of(revision.content))
        first = {} if before is None else fields_of(wording_of(before.content))
    except DataError as error:
        after, first, fault = {}, {}, fault or str(error)
    return Worded(
        n=revision.n,
        origin=revision.origin,
        at=revision.at,
        by=revision.by if is_operator else "",
        is_first=before is None,
        diffs=tuple(d for d in field_diffs(first, after) if not d.name.endswith("-id")),
        pictures=pictured_in(item, revision.content),
        fault=fault,
    )
