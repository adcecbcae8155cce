"""What was done with an item, as each role may read it: revisions with what differs, acts with words."""

from dataclasses import dataclass

from vidence.errors import DataError
from vidence.make.review.revisions import Event, Revision
from vidence.records import Record
from vidence.studio.access import Person
from vidence.studio.bridge.items import wording_of
from vidence.studio.records.items import ItemRow
from vidence.studio.rules.diffs import FieldDiff, field_diffs
from vidence.studio.rules.forms import fields_of
from vidence.studio.rules.looks import is_hidden
from vidence.studio.workflow import events_of, protocol_of, revisions_of, standing

_LOOKS = frozenset({"solve", "edit", "accept", "return", "reject"})


class Deed(Record):
    """One act: its words and its person are empty where the reader may not know them."""

    at: str
    kind: str
    role: str
    n: int
    by: str = ""
    message: str = ""
    fault: str = ""


@dataclass(frozen=True, kw_only=True)
class Worded:
    """One revision: what differs from the one before, of the first all of it."""

    n: int
    origin: str
    at: str
    by: str
    is_first: bool
    diffs: tuple[FieldDiff, ...]
    fault: str = ""


@dataclass(frozen=True, kw_only=True)
class History:
    """What somebody may read of an item. `n_hidden` revisions are not for the reader."""

    wordings: tuple[Worded, ...]
    done: tuple[Deed, ...]
    n_hidden: int


def history_of(item: ItemRow, person: Person) -> History:
    """What a person may read of an item.

    Operators read all of it, authors what they wrote and what they were told, researchers what was accepted.
    Whoever looks reads the revisions that they have answered or decided, and no other: the next one may have
    to be solved before its answer is shown, and what others decided of it is told to who has decided, too.
    Who did what is for operators alone.
    """
    events = list(events_of(item))
    revisions = sorted(revisions_of(item).values(), key=lambda one: one.n)
    readable = _readable(item, person, events=events, revisions=revisions)
    is_operator = "operator" in person.roles_in(item.project.slug)
    numbers = {one.sha256: one.n for one in revisions}
    wordings = [
        _wording(one, revisions[one.n - 2] if one.n > 1 else None, is_operator=is_operator)
        for one in revisions
        if one.sha256 in readable
    ]
    is_author = item.author is not None and item.author.pseudonym == person.name
    protocol = protocol_of(item.project)
    state = standing(item, protocol)
    hidden = {one.event_id for one in events if is_hidden(one, state, protocol, by=person.name)}
    done = [
        Deed(
            at=one.at,
            kind="decided" if one.event_id in hidden else one.kind,
            role=one.role,
            n=numbers.get(one.revision, 0),
            by=one.by if is_operator else "",
            message=one.message
            if one.event_id not in hidden and (is_operator or is_author or one.by == person.name)
            else "",
            fault=one.fault,
        )
        for one in events
    ]
    return History(wordings=tuple(wordings), done=tuple(done), n_hidden=len(revisions) - len(wordings))


def _readable(
    item: ItemRow, person: Person, *, events: list[Event], revisions: list[Revision]
) -> frozenset[str]:
    """The revisions whose words a person may read."""
    roles = person.roles_in(item.project.slug)
    every = frozenset(one.sha256 for one in revisions)
    if "operator" in roles or (item.author is not None and item.author.pseudonym == person.name):
        return every
    if "researcher" in roles and item.state == "accepted" and item.current is not None:
        return frozenset({item.current.sha256})
    return frozenset(one.revision for one in events if one.by == person.name and one.kind in _LOOKS) & every


def _wording(one: Revision, before: Revision | None, *, is_operator: bool) -> Worded:
    fault = one.fault
    try:
        after = fields_of(wording_of(one.content))
        first = {} if before is None else fields_of(wording_of(before.content))
    except DataError as error:
        after, first, fault = {}, {}, fault or str(error)
    return Worded(
        n=one.n,
        origin=one.origin,
        at=one.at,
        by=one.by if is_operator else "",
        is_first=before is None,
        diffs=tuple(d for d in field_diffs(first, after) if not d.name.endswith("-id")),
        fault=fault,
    )
