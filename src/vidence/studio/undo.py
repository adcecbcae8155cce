"""Decisions that can still be taken back: held for a few seconds, then taken through `reviewing.decide`.

Nothing that was recorded can be undone, so what may be undone is not recorded yet. A held decision is a row
of drafts: it outlives the server, and is taken by the next one when that begins.
"""

import logging
import math
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import msgspec
from django.db import connection, transaction
from django.db.models import QuerySet

from vidence.make.review.revisions import Kind
from vidence.records import Record
from vidence.studio.access import ROLES, Person
from vidence.studio.accounts import account_of, known_account, person_of_user
from vidence.studio.drafts import AUTHOR, HELD, PART
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import UserRow
from vidence.studio.records.work import DraftRow
from vidence.studio.reviewing import decide
from vidence.studio.rules.review_steps import FilledForm
from vidence.studio.settings import current
from vidence.studio.workflow import Refused, Result

TICK_S: Final = 0.5
"""How often a server looks for decisions whose time has come."""
_WORDS: Final = {"accept": "Accepted", "return": "Returned", "reject": "Rejected"}
_CHANGED: Final = "it was worded anew before your decision was taken"


class HeldDecision(Record):
    """A decision that waits, or one that could not be taken, which says why in `refused`."""

    project: str
    public: str
    item_id: str
    kind: Kind
    words: str
    left_s: int
    refused: str = ""


class _Body(Record):
    kind: Kind
    given: FilledForm
    revision: str
    minutes: float | None = None
    refused: str = ""


def hold(
    item: ItemRow, person: Person, kind: Kind, *, given: FilledForm, minutes: float | None, seen: int | None
) -> Result:
    """Decide, after the time in which it can be taken back; at once where there is none.

    Whether it may be decided is tried now, and nothing of it is kept. Where the same person has decided
    already, and it waits, that decision stays.

    Args:
        item: which one.
        person: who looks at it.
        kind: what is decided.
        given: what was filled in.
        minutes: how long it took.
        seen: the `lock_version` that the person saw.
    """
    wait_s = current().settings.undo_s
    with transaction.atomic():
        done = decide(item, person, kind, given=given, minutes=minutes, seen=seen)
        if isinstance(done, Refused):
            return done
        if not wait_s:
            end_drafts(account_of(person), item)
            return done
        transaction.set_rollback(True)
    item.refresh_from_db()
    now = current().settings.clock()
    body = _Body(
        kind=kind,
        given=given,
        revision="" if item.current is None else item.current.sha256,
        minutes=minutes,
    )
    with transaction.atomic():
        user = account_of(person)
        row = _rows(user).select_for_update().filter(item=item).first()
        if row is not None and not _body(row).refused:
            return done
        row = row or DraftRow(user=user, item=item, project=item.project, stage=HELD)
        row.body, row.based_on, row.saved_at = _encoded(body), body.revision, now
        row.save()
    return done


def held_at(item: ItemRow, person: Person) -> HeldDecision | None:
    """The decision of a person on an item that waits."""
    return next((one for one in held_by(person) if one.public == str(item.public) and not one.refused), None)


def held_by(person: Person) -> tuple[HeldDecision, ...]:
    """The decisions of a person that wait, or could not be taken."""
    user = known_account(person)
    return () if user is None else tuple(_held(row) for row in _rows(user))


def take_back(item: ItemRow, person: Person) -> bool:
    """Undo a decision that waits, or put one away that could not be taken; False where it was taken."""
    user = known_account(person)
    return user is not None and bool(_rows(user).filter(item=item).update(is_closed=True))


def take_due() -> int:
    """Take the decisions whose time has come; how many."""
    now = current().settings.clock()
    waiting = DraftRow.objects.filter(stage=HELD, is_closed=False).order_by("saved_at", "pk")
    due = [row.pk for row in waiting if not _body(row).refused and _due(row) <= now]
    return sum(_take(pk) for pk in due)


def _take(pk: int) -> bool:
    with transaction.atomic():
        row = DraftRow.objects.select_for_update().filter(pk=pk, is_closed=False).first()
        if row is None:
            return False  # taken back meanwhile
        item = ItemRow.objects.select_related("project__protocol", "author", "current").get(pk=row.item_id)
        body = _body(row)
        done: Result = Refused(reason=_CHANGED)
        if row.based_on == ("" if item.current is None else item.current.sha256):
            person = _person(row.user)
            done = decide(item, person, body.kind, given=body.given, minutes=body.minutes, seen=None)
        if isinstance(done, Refused):
            row.body = _encoded(msgspec.structs.replace(body, refused=done.reason))
        else:
            row.is_closed = True
            end_drafts(row.user, item)
        row.save()
    return not isinstance(done, Refused)


def end_drafts(user: UserRow, item: ItemRow) -> None:
    """Close what somebody wrote of a review that they have decided."""
    mine = DraftRow.objects.filter(user=user, item=item, is_closed=False)
    mine.exclude(stage__in=(AUTHOR, HELD)).exclude(stage__contains=PART).update(is_closed=True)


def _rows(user: UserRow) -> QuerySet[DraftRow]:
    rows: QuerySet[DraftRow] = DraftRow.objects.filter(user=user, stage=HELD, is_closed=False)
    return rows.select_related("item__project").order_by("saved_at", "pk")


def _held(row: DraftRow) -> HeldDecision:
    body = _body(row)
    left_s = (_due(row) - current().settings.clock()).total_seconds()
    return HeldDecision(
        project=row.item.project.slug,
        public=str(row.item.public),
        item_id=row.item.item_id,
        kind=body.kind,
        words=_WORDS[body.kind],
        left_s=max(0, math.ceil(left_s)),
        refused=body.refused,
    )


def _due(row: DraftRow) -> datetime:
    """When a decision is taken: what this server was told counts, also of what an earlier one held."""
    decided_at: datetime = row.saved_at
    return decided_at + timedelta(seconds=current().settings.undo_s)


def _body(row: DraftRow) -> _Body:
    return msgspec.json.decode(row.body, type=_Body)


def _encoded(body: _Body) -> str:
    return msgspec.json.encode(body).decode()


def _person(user: UserRow) -> Person:
    """Who decides, with the roles of now."""
    if current().settings.mode == "team":
        return person_of_user(user)
    return Person(name=user.pseudonym, shown=user.shown, roles={"": frozenset(ROLES)})


def start_ticking(every_s: float = TICK_S) -> Callable[[], None]:
    """Take what is due in a thread of its own, from now on; what ends it is given back."""
    ended = threading.Event()

    def work() -> None:
        is_ended = False
        while not is_ended:
            try:
                take_due()
            except Exception:  # what waits is in the database, and is tried again
                logging.getLogger(__name__).exception("held decisions could not be taken")
                connection.close()
            is_ended = ended.wait(every_s)
        connection.close()

    thread = threading.Thread(target=work, name="held-decisions", daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join()

    return end
