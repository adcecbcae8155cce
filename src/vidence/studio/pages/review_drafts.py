"""What a reviewer has filled in and not decided yet: kept as a draft, whatever becomes of the claim."""

from http import HTTPStatus
from typing import Final

import msgspec
from django.http import HttpRequest, HttpResponse

from vidence.errors import UsageError
from vidence.records import Record
from vidence.studio.accounts import account_of
from vidence.studio.drafts import AUTHOR, Conflict, close, new_request, open_draft, save
from vidence.studio.looking import NOT_CLAIMED, Look
from vidence.studio.pages.answers import as_json
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import UserRow
from vidence.studio.records.work import AssignmentRow, DraftRow
from vidence.studio.threads import MESSAGE

CONTROL: Final = frozenset(
    {"csrfmiddlewaretoken", "version", "request", "act", "seen", "opened", "next", "wording"}
)
"""Fields of the form that are not what somebody says of the item."""
_WORDED: Final = ("message", "note:")
"""Fields that hold words; verdicts and answers are about one wording only."""


class Kept(Record):
    """What is kept of a review: the version of the draft, what it says, and of which wording."""

    version: int = 0
    at: str = ""
    said: dict[str, str] = msgspec.field(default_factory=dict)
    revision: str = ""


class _Body(Record):
    """What a draft of a review holds."""

    revision: str = ""
    said: dict[str, str] = msgspec.field(default_factory=dict)


def kept_of(user: UserRow | None, item: ItemRow) -> Kept:
    """What somebody has kept of their review of an item; nothing where there is no draft."""
    row = _open(user, item)
    if row is None:
        return Kept()
    body = msgspec.json.decode(row.body, type=_Body)
    at = row.saved_at.isoformat() if row.version else ""
    return Kept(version=row.version, at=at, said=body.said, revision=body.revision)


def shown(kept: Kept, revision: str) -> dict[str, str]:
    """What of a draft goes into the form: of another wording only the words, not the verdicts."""
    if kept.revision == revision:
        return kept.said
    return {name: said for name, said in kept.said.items() if name.startswith(_WORDED)}


def keep(request: HttpRequest, item: ItemRow, look: Look) -> Kept | Conflict:
    """Keep what the form says, also where the claim has ended since.

    Raises:
        UsageError: it is not this person's to write, or it cannot be kept.
    """
    user = account_of(request.person)
    draft = _open(user, item)
    if draft is None:
        if request.person.name not in look.state.claims and not _ended(user, item):
            raise UsageError(NOT_CLAIMED)
        draft = open_draft(user, item, stage=look.stage.role, body="{}", based_on=look.state.revision)
    said = {name: str(request.POST[name]) for name in request.POST if name not in CONTROL}
    wording = request.POST.get("wording", "") or look.state.revision
    body = msgspec.json.encode(_Body(revision=wording[:64], said=said)).decode()
    seen = request.POST.get("version", "")
    found = save(
        draft,
        body=body,
        seen=int(seen) if seen.isascii() and seen.isdecimal() and len(seen) < 9 else -1,
        request=request.POST.get("request", ""),
    )
    if isinstance(found, Conflict):
        return found
    return Kept(version=found.version, at=found.at, said=said, revision=wording)


def elsewhere(request: HttpRequest, kept: Kept) -> list[tuple[str, str]]:
    """What is kept and differs from what was sent: it was saved in another tab."""
    if "request" not in request.POST:
        return []
    return [(name, said) for name, said in kept.said.items() if said and said != request.POST.get(name)]


def end(request: HttpRequest, item: ItemRow) -> None:
    """The decision is taken: its draft is closed."""
    draft = _open(account_of(request.person), item)
    if draft is not None:
        close(draft)


def answered(request: HttpRequest, item: ItemRow, look: Look) -> HttpResponse:
    """A save of the script of the page, answered as JSON."""
    try:
        found = keep(request, item, look)
    except UsageError as error:
        is_over = str(error) == NOT_CLAIMED
        told = {"words": str(error), "version": 0, "closed": is_over}
        return as_json(told, HTTPStatus.CONFLICT if is_over else HTTPStatus.BAD_REQUEST)
    if isinstance(found, Conflict):
        return as_json({"version": found.version, "closed": found.is_closed}, HTTPStatus.CONFLICT)
    return as_json({"version": found.version, "at": found.at}, HTTPStatus.OK)


def hidden(kept: Kept) -> dict[str, object]:
    """What the form needs for its saves."""
    return {"version": kept.version, "request_word": new_request(), "kept": kept}


def _open(user: UserRow | None, item: ItemRow) -> DraftRow | None:
    """The draft of a review by one person, of whichever stage it was begun at."""
    mine = DraftRow.objects.filter(user=user, item=item, is_closed=False) if user else DraftRow.objects.none()
    found: DraftRow | None = mine.exclude(stage__in=(AUTHOR, MESSAGE)).order_by("-saved_at").first()
    return found


def _ended(user: UserRow, item: ItemRow) -> bool:
    """Whether the last claim of somebody ended without a decision of theirs."""
    last = AssignmentRow.objects.filter(user=user, item=item).order_by("-claimed_at", "-pk").first()
    return last is not None and last.state in ("expired", "released")
