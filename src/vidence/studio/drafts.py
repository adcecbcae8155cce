"""Drafts: saved work of one person on an item. A save names the version it is based on."""

import uuid
from typing import Final

from django.db import transaction

from vidence.errors import UsageError
from vidence.records import Record
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import UserRow
from vidence.studio.records.work import DraftLogRow, DraftRow
from vidence.studio.settings import current

AUTHOR: Final = "author"
"The stage of authors."
PART: Final = ":"
"""Separates a stage's role from its page's form in a draft's stage."""
MOST_BYTES: Final = 400_000
_MOST_REQUEST: Final = 64


class Saved(Record):
    """The draft is saved as this version; saving the same content again creates no version."""

    version: int
    at: str


class Conflict(Record):
    """A rejected save: version `version` with `body` is newer, or the draft is closed (`is_closed`)."""

    version: int
    at: str
    body: str
    is_closed: bool


def open_draft(user: UserRow, item: ItemRow, *, stage: str, body: str, based_on: str = "") -> DraftRow:
    """Return the draft of a person for an item; create it with `body` if it does not exist.

    Args:
        user: whose it is.
        item: what it is of.
        stage: who writes: the author, or the role of a stage of the review.
        body: what a new draft begins with.
        based_on: the revision that it begins from.
    """
    with transaction.atomic():
        draft: DraftRow
        draft, _ = DraftRow.objects.get_or_create(
            user=user,
            item=item,
            stage=stage,
            is_closed=False,
            defaults={
                "project": item.project,
                "body": body,
                "based_on": based_on,
                "saved_at": current().settings.clock(),
            },
        )
    return draft


def seen_draft(user: UserRow | None, item: ItemRow, *, stage: str, body: str) -> DraftRow:
    """Return the draft for display, without creating it.

    Args:
        user: whose it is; None: somebody who has written nothing here yet.
        item: what it is of.
        stage: who writes.
        body: what a new draft would begin with.
    """
    row: DraftRow | None = DraftRow.objects.filter(user=user, item=item, stage=stage, is_closed=False).first()
    return row or DraftRow(item=item, body=body, saved_at=current().settings.clock())


def save(draft: DraftRow, *, body: str, seen: int, request: str) -> Saved | Conflict:
    """Save a draft and append to the log of saves, in one transaction.

    Args:
        draft: its row; it is read again.
        body: what is written now.
        seen: the version that it was written on.
        request: a word of the browser for this save, the same when it is sent again.

    Raises:
        UsageError: it is too long, or the request has no word.
    """
    if len(body.encode()) > MOST_BYTES:
        raise UsageError(f"a draft of {len(body.encode()):,} bytes; {MOST_BYTES:,} at most")
    if not 0 < len(request) <= _MOST_REQUEST:
        raise UsageError(f"a request of {len(request)} characters; expected 1 to {_MOST_REQUEST}")
    with transaction.atomic():
        row = DraftRow.objects.select_for_update().get(pk=draft.pk)
        before = DraftLogRow.objects.filter(draft=row, request=request).first()
        if before is not None:
            return Saved(version=before.version, at=before.at.isoformat())
        at = row.saved_at.isoformat()
        if not row.is_closed and row.version and row.body == body:
            return Saved(version=row.version, at=at)
        if row.is_closed or seen != row.version:
            return Conflict(version=row.version, at=at, body=row.body, is_closed=row.is_closed)
        row.version += 1
        row.body = body
        row.saved_at = current().settings.clock()
        row.save()
        DraftLogRow.objects.create(
            draft=row, version=row.version, body=body, request=request, at=row.saved_at
        )
    return Saved(version=row.version, at=row.saved_at.isoformat())


def close(draft: DraftRow) -> None:
    """Close a draft after its content was handed in."""
    DraftRow.objects.filter(pk=draft.pk).update(is_closed=True)


def end_drafts(user: UserRow, item: ItemRow) -> None:
    """Close a person's review drafts after their decision."""
    mine = DraftRow.objects.filter(user=user, item=item, is_closed=False)
    mine.exclude(stage=AUTHOR).exclude(stage__contains=PART).update(is_closed=True)


def new_request() -> str:
    """Return a token for one save."""
    return uuid.uuid4().hex
