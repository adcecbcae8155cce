"""What a reviewer has filled in and not sent yet: kept as drafts, whatever becomes of the claim.

Each form of the page of a look has a draft of its own, its part; that of the decision has no name.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import msgspec
from django.http import HttpRequest, HttpResponse

from vidence.errors import UsageError
from vidence.records import Record
from vidence.studio.accounts import account_of
from vidence.studio.drafts import AUTHOR, PART, Conflict, Saved, close, new_request, open_draft, save
from vidence.studio.pages.answers import as_json, saved_as_json, version_in
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import UserRow
from vidence.studio.records.work import AssignmentRow, DraftRow
from vidence.studio.reviewing import NOT_CLAIMED, ItemView

CONTROL: Final = frozenset(
    {"csrfmiddlewaretoken", "version", "request", "act", "seen", "opened", "next", "wording"}
)
"Fields of the form that are not part of the review."
PARTS: Final = ("solve", "count", "say", "edit")
"""The forms beside the decision, by the act that they send."""
_FIRST: Final = ("solve", "count")
"""Parts that are sent once of a wording."""
_NAMED: Final = ("message", "answer", "witnesses", "words")
_WORDED: Final = ("message", "note:", "witnesses", "words")
"""Fields that hold words; verdicts and answers are about one wording only."""


class KeptDraft(Record):
    """What is kept of a review: the version of the draft, what it says, and of which wording."""

    version: int = 0
    said: dict[str, str] = msgspec.field(default_factory=dict)
    revision: str = ""


def part_of(request: HttpRequest) -> str:
    """Which form was sent, also where its button says that it is only to be saved."""
    return next((entry for entry in request.POST.getlist("act") if entry in PARTS), "")


def kept_of(user: UserRow | None, item: ItemRow, part: str = "") -> KeptDraft:
    """Return the draft of a person's review of an item; empty if there is no draft."""
    row = _open(user, item, part)
    if row is None:
        return KeptDraft()
    return msgspec.structs.replace(msgspec.json.decode(row.body, type=KeptDraft), version=row.version)


def shown(kept: KeptDraft, revision: str) -> dict[str, str]:
    """What of a draft goes into the form: of another wording only the words, not the verdicts."""
    if kept.revision == revision:
        return kept.said
    return {name: message for name, message in kept.said.items() if name.startswith(_WORDED)}


def keep(request: HttpRequest, item: ItemRow, look: ItemView, *, part: str = "") -> Saved | Conflict:
    """Keep what a form says, also where the claim has ended since.

    Raises:
        UsageError: it is not this person's to write, or it cannot be kept.
    """
    user = account_of(request.person)
    draft = _open(user, item, part)
    is_mine = request.person.name in look.state.claims
    if draft is None:
        if not is_mine and not _ended(user, item):
            raise UsageError(NOT_CLAIMED)
        if part in _FIRST and is_mine and look.step != part:
            return Conflict(version=0, at="", body="", is_closed=True)
        stage = f"{look.stage.role}{PART}{part}" if part else look.stage.role
        draft = open_draft(user, item, stage=stage, body="{}", based_on=look.state.revision)
    values = {name: str(request.POST[name]) for name in request.POST if name not in CONTROL}
    wording = request.POST.get("wording", "") or look.state.revision
    body = msgspec.json.encode({"revision": wording[:64], "said": values}).decode()
    return save(draft, body=body, seen=version_in(request), request=request.POST.get("request", ""))


def elsewhere(request: HttpRequest, kept: KeptDraft) -> list[tuple[str, str]]:
    """What is kept and differs from what was sent: it was saved in another tab."""
    if "request" not in request.POST:
        return []
    return [
        (name, message)
        for name, message in kept.said.items()
        if message and message != request.POST.get(name)
    ]


def unsent(kept: Mapping[str, KeptDraft], sent: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the words of unsent forms, for a person whose claim has ended."""
    items = [pair for draft in kept.values() for pair in draft.said.items()]
    values = {name: words for name, words in items if words} | dict(sent)
    return [(name, words) for name, words in values.items() if words and name in _NAMED]


def end(request: HttpRequest, item: ItemRow, part: str) -> None:
    """Close the draft of a submitted form."""
    draft = _open(account_of(request.person), item, part)
    if draft is not None:
        close(draft)


def answered(request: HttpRequest, item: ItemRow, look: ItemView, *, part: str) -> HttpResponse:
    """A save of the script of the page, answered as JSON."""
    try:
        result = keep(request, item, look, part=part)
    except UsageError as error:
        is_over = str(error) == NOT_CLAIMED
        fields = {"words": str(error), "version": 0, "closed": is_over}
        return as_json(fields, HTTPStatus.CONFLICT if is_over else HTTPStatus.BAD_REQUEST)
    return saved_as_json(result)


def hidden(kept: KeptDraft) -> dict[str, object]:
    """What a form needs for its saves."""
    return {"version": kept.version, "request_word": new_request(), "kept": kept}


def _open(user: UserRow | None, item: ItemRow, part: str) -> DraftRow | None:
    """The draft of a form by one person, of whichever stage it was begun at."""
    mine = DraftRow.objects.filter(user=user, item=item, is_closed=False) if user else DraftRow.objects.none()
    if part:
        mine = mine.filter(stage__endswith=f"{PART}{part}")
    else:
        mine = mine.exclude(stage=AUTHOR).exclude(stage__contains=PART)
    row: DraftRow | None = mine.order_by("-saved_at").first()
    return row


def _ended(user: UserRow, item: ItemRow) -> bool:
    """Return whether the last claim of a person ended without a decision."""
    last = AssignmentRow.objects.filter(user=user, item=item).order_by("-claimed_at", "-pk").first()
    return last is not None and last.state in ("expired", "released")
