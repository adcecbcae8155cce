"""Acts of people on items, recorded after the rules of `make.review` have checked them."""

import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC
from functools import lru_cache
from typing import TypeAlias

import msgspec
from django.db import transaction

from vidence.make.review.protocol import Protocol
from vidence.make.review.revisions import Event, Kind, Origin, Revision, Role, chained, new_revision
from vidence.make.review.states import ItemState, advance, drafting
from vidence.records import Record
from vidence.studio import admission, hint_tries, training
from vidence.studio.audit import link
from vidence.studio.records.items import ItemRow, RevisionRow, TransitionRow
from vidence.studio.records.people import GuidelineRow, ProjectRow
from vidence.studio.settings import current


class Act(Record):
    """One person's act on one item. `content` is a new wording, if the act has one."""

    kind: Kind
    role: Role
    by: str
    content: dict[str, object] | None = None
    origin: Origin = "submit"
    checks: dict[str, str] = msgspec.field(default_factory=dict)
    scores: dict[str, int] = msgspec.field(default_factory=dict)
    message: str = ""
    answer: str = ""
    minutes: float | None = None
    whose: str = ""
    """The person whose claim expires."""
    seen: int | None = None
    """The `lock_version` of the item that the person saw; None if nothing was shown."""


class RecordedAct(Record):
    """A recorded act; `number` is its position among the project's transitions."""

    state: ItemState
    number: int
    revision: str


class Refused(Record):
    """The act was rejected, and nothing has changed; says why."""

    reason: str


Result: TypeAlias = RecordedAct | Refused


def protocol_of(project: ProjectRow) -> Protocol:
    """Return a project's rules."""
    return _protocol(project.protocol.source)


@lru_cache(maxsize=64)
def _protocol(source: str) -> Protocol:
    return msgspec.convert(tomllib.loads(source), Protocol)


def standing(item: ItemRow, protocol: Protocol) -> ItemState:
    """Return an item's state, by its transitions."""
    state = drafting(item.item_id, protocol)
    revisions = revisions_of(item)
    for event in events_of(item):
        result = advance(state, event, revisions=revisions, protocol=protocol)
        if isinstance(result, str):  # it was checked when it was recorded
            raise AssertionError(result)
        state = result
    return state


def revisions_of(item: ItemRow) -> dict[str, Revision]:
    """Return an item's wordings by hash."""
    rows = RevisionRow.objects.filter(item=item).order_by("n")
    return {row.sha256: to_revision(row, item.item_id) for row in rows}


def events_of(item: ItemRow) -> Iterator[Event]:
    """Yield an item's events, in order."""
    for row in TransitionRow.objects.filter(item=item).order_by("number"):
        yield to_event(row)


def to_revision(row: RevisionRow, item_id: str) -> Revision:
    """Return the record of a wording."""
    return Revision(
        item_id=item_id,
        n=row.n,
        content=msgspec.json.decode(row.content, type=dict[str, object]),
        parent=row.parent,
        origin=row.origin,
        by=row.by,
        at=row.at,
        sha256=row.sha256,
    )


def to_event(row: TransitionRow) -> Event:
    """Return the record of a transition."""
    return msgspec.json.decode(row.event, type=Event)


def act(item: ItemRow, act: Act) -> Result:
    """Record an act on an item if the rules allow it, in one transaction.

    Args:
        item: its row; it is read again, and changed.
        act: what is done.
    """
    with transaction.atomic():
        project = ProjectRow.objects.select_for_update().get(pk=item.project_id)
        row = ItemRow.objects.select_for_update().get(pk=item.pk)
        if act.seen is not None and act.seen != row.lock_version:
            return Refused(reason="it has changed since it was shown")
        protocol = protocol_of(project)
        if admission.is_asked(act.kind, act.origin) and (
            fault := admission.refusal(act.by, project, protocol, role=act.role, item=row)
        ):
            return Refused(reason=fault)
        if fault := hint_tries.refusal(act.kind, row, protocol, by=act.by):
            return Refused(reason=fault)
        before = standing(row, protocol)
        known = revisions_of(row)
        last = TransitionRow.objects.filter(project=project).order_by("-number").first()
        mine = TransitionRow.objects.filter(project=project, by=act.by).order_by("-number").first()
        at = at_after(mine)
        fresh = None
        if act.content is not None:
            parent = known.get(before.revision)
            fresh = new_revision(row.item_id, act.content, parent=parent, origin=act.origin, by=act.by, at=at)
            known[fresh.sha256] = fresh
        bare = _event(row, act, revision=fresh.sha256 if fresh else before.revision, at=at)
        (event,) = chained([bare], last="" if mine is None else mine.event_id)
        fault = event.fault or ("" if fresh is None else fresh.fault)
        after = fault or advance(before, event, revisions=known, protocol=protocol)
        if isinstance(after, str):
            return Refused(reason=after)
        if fresh is not None:
            row.current = revision_row(row, fresh, guideline=training.read_by(fresh.by, project))
            row.current.save(force_insert=True)
        result = transition_row(row, event, last, states=(before, after))
        result.save(force_insert=True)
        show(row, after)
    item.refresh_from_db()
    return RecordedAct(state=after, number=result.number, revision=after.revision)


def transition_row(
    item: ItemRow, event: Event, last: TransitionRow | None, *, states: tuple[ItemState, ItemState]
) -> TransitionRow:
    """Return an unsaved transition that continues its project's chain.

    Args:
        item: with which it was done.
        event: the act.
        last: the row before it; None: it is the first one.
        states: of the item, before and after it.
    """
    number = 1 if last is None else last.number + 1
    return TransitionRow(
        project_id=item.project_id,
        item=item,
        number=number,
        event_id=event.event_id,
        event=msgspec.json.encode(event).decode(),
        kind=event.kind,
        role=event.role,
        by=event.by,
        at=event.at,
        state_before=states[0].state,
        state_after=states[1].state,
        chain_sha256=link("" if last is None else last.chain_sha256, chain_content(number, event)),
    )


def revision_row(item: ItemRow, revision: Revision, *, guideline: GuidelineRow | None) -> RevisionRow:
    """Return an unsaved wording; `guideline` is the version that its author had to read."""
    return RevisionRow(
        item=item,
        n=revision.n,
        content=msgspec.json.encode(revision.content).decode(),
        parent=revision.parent,
        origin=revision.origin,
        by=revision.by,
        at=revision.at,
        sha256=revision.sha256,
        guideline=guideline,
    )


def columns_of(state: ItemState) -> dict[str, object]:
    """Return the columns of an item that mirror its state."""
    return {
        "state": state.state,
        "returns_left": state.returns_left,
        "writer": state.author,
        "is_disputed": state.is_disputed,
        "claims": msgspec.json.encode(state.claims).decode() if state.claims else "",
    }


def show(row: ItemRow, state: ItemState) -> None:
    """Update an item's columns from its state."""
    for name, value in columns_of(state).items():
        setattr(row, name, value)
    row.standing = msgspec.to_builtins(state)
    row.lock_version += 1
    row.changed_at = current().settings.clock()
    row.save()


def chain_content(number: int, event: Event) -> Mapping[str, object]:
    """Return what a project's chain covers of one transition."""
    return {"number": number, "event": msgspec.to_builtins(event)}


def _event(row: ItemRow, act: Act, *, revision: str, at: str) -> Event:
    return Event(
        event_id="",
        item_id=row.item_id,
        revision=revision,
        kind=act.kind,
        role=act.role,
        by=act.by,
        at=at,
        checks=act.checks,
        scores=act.scores,
        message=act.message.strip(),
        answer=act.answer,
        minutes=act.minutes,
        whose=act.whose,
    )


def at_after(mine: TransitionRow | None) -> str:
    """Return the current time, never before the person's last act even if the clock was set back."""
    return now_words() if mine is None else max(now_words(), mine.at)


def now_words() -> str:
    """Return the time in the format of acts."""
    return current().settings.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
