"""Messages: the thread of one item, and the threads that have something new."""

from functools import cache
from http import HTTPStatus
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from vidence.errors import DataError, UsageError
from vidence.studio.access import BOTH, EVERY_ROLE, ITEM, Person, route
from vidence.studio.drafts import Conflict, new_request
from vidence.studio.pages.answers import (
    as_json,
    is_script,
    item_named,
    saved_as_json,
    version_in,
    whole_number,
)
from vidence.studio.pages.faults import fault
from vidence.studio.records.items import ItemRow
from vidence.studio.settings import current
from vidence.studio.threads import keep, mark_read, say, thread_of, unread, words_in, written_by
from vidence.studio.workflow import Refused


def for_templates(request: HttpRequest) -> dict[str, object]:
    """Which new messages whoever looks has, and how many; they are looked for where a page shows them."""
    person: Person | None = getattr(request, "person", None)

    @cache
    def found() -> list[tuple[ItemRow, int]]:
        return [] if person is None or current().settings.mode == "view" else unread(person)

    return {"unread": found, "n_unread": lambda: sum(n for _, n in found())}


def messages(request: HttpRequest) -> HttpResponse:
    """The threads that have something new for this person."""
    if current().settings.mode == "view":
        return fault(request, HTTPStatus.NOT_FOUND)
    return render(request, "messages/messages.html")


def thread(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """What people say about one item; a post saves a message, sends it, or says that the others were read."""
    row = item_named(project, item)
    return _page(request, row) if request.method != "POST" else _posted(request, row)


def _posted(request: HttpRequest, row: ItemRow) -> HttpResponse:
    words = request.POST.get("words", "").replace("\r\n", "\n").strip()
    act = request.POST.get("act", "")
    if act == "read":
        mark_read(row, request.person, up_to=whole_number(request.POST.get("seen", "")) or 0)
        return _again(row)
    if closed := thread_of(row, request.person).closed:
        return _refused(request, row, closed, words=words, status=HTTPStatus.CONFLICT)
    try:
        kept = keep(
            row, request.person, words, seen=version_in(request), request=request.POST.get("request", "")
        )
    except UsageError as error:
        return _refused(request, row, str(error), words=words, status=HTTPStatus.BAD_REQUEST)
    if isinstance(kept, Conflict):
        return _conflict(request, row, kept, words=words)
    if is_script(request):
        return saved_as_json(kept)
    return _sent(request, row, words) if act == "say" else _again(row)


def _refused(request: HttpRequest, row: ItemRow, why: str, *, words: str, status: int) -> HttpResponse:
    if is_script(request):
        return as_json({"words": why}, HTTPStatus.BAD_REQUEST)
    return _page(request, row, refused=why, words=words, status=status)


def _sent(request: HttpRequest, row: ItemRow, words: str) -> HttpResponse:
    done = say(row, request.person, words)
    if isinstance(done, Refused):
        return _page(request, row, refused=done.reason, words=words, status=HTTPStatus.CONFLICT)
    mark_read(row, request.person, up_to=whole_number(request.POST.get("seen", "")) or 0)
    return _again(row)


def _conflict(request: HttpRequest, row: ItemRow, found: Conflict, *, words: str) -> HttpResponse:
    if is_script(request):
        return saved_as_json(found)
    refused = (
        f"Version {found.version} of this message was saved meanwhile, in another tab: it stands above the "
        "form, which holds what you wrote here. Send it again to go on with what is here."
    )
    elsewhere = words_in(found.body)
    return _page(request, row, refused=refused, words=words, elsewhere=elsewhere, status=HTTPStatus.CONFLICT)


def _page(
    request: HttpRequest,
    row: ItemRow,
    *,
    refused: str = "",
    words: str = "",
    elsewhere: str = "",
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    try:
        written = written_by(row, request.person)
    except DataError as error:
        return fault(request, HTTPStatus.CONFLICT, title="This cannot be shown", words=str(error))
    told = {
        "item": row,
        "thread": thread_of(row, request.person),
        "written": written,
        "words": words or written.words,
        "elsewhere": elsewhere,
        "refused": refused,
        "request_word": new_request(),
    }
    return render(request, "messages/thread.html", told, status=status)


def _again(row: ItemRow) -> HttpResponse:
    return redirect("thread", row.project.slug, row.public)


urls = [
    route("messages", messages, name="messages", roles=EVERY_ROLE),
    route(f"{ITEM}/messages", thread, name="thread", roles=EVERY_ROLE, to=BOTH),
]
