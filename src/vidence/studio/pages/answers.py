"""What pages read out of requests and answer to them, the same in every family of pages."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from uuid import UUID

import msgspec
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.safestring import SafeString

from vidence.errors import VidenceError
from vidence.studio.drafts import Conflict, Saved
from vidence.studio.records.items import ItemRow

_MOST_DIGITS: Final = 9
"""Beyond these nothing is counted here, and Python takes long for thousands."""


def as_json(value: object, status: int = 200) -> HttpResponse:
    """An answer to a script."""
    return HttpResponse(msgspec.json.encode(value), content_type="application/json", status=status)


def as_piece(piece: str) -> SafeString:
    """A piece of the report as HTML: its own templates have escaped every text in it (`report.fragments`)."""
    return SafeString(piece or "")


def is_script(request: HttpRequest) -> bool:
    """Return whether the request is an autosave by the page's script, not a submitted form."""
    return str(request.headers.get("Accept", "")).startswith("application/json")


def saved_as_json(result: Saved | Conflict) -> HttpResponse:
    """The outcome of a save, for the script that sent it."""
    if isinstance(result, Conflict):
        return as_json({"version": result.version, "closed": result.is_closed}, HTTPStatus.CONFLICT)
    return as_json({"version": result.version, "at": result.at})


def whole_number(text: str, *, most_digits: int = _MOST_DIGITS) -> int | None:
    """A whole number of 0 or more that a form sent; None for anything else.

    >>> whole_number(" 41 "), whole_number("-1"), whole_number("٤"), whole_number("9" * 5000)
    (41, None, None, None)
    """
    number = text.strip()
    return int(number) if number.isascii() and number.isdigit() and len(number) <= most_digits else None


def version_in(request: HttpRequest, name: str = "version") -> int:
    """A version that a page holds; -1, which none is, for anything else."""
    number = whole_number(request.POST.get(name, ""))
    return -1 if number is None else number


def item_named(project: str, item: UUID) -> ItemRow:
    """The item that an address names.

    Raises:
        Http404: there is none.
    """
    rows = ItemRow.objects.select_related("project__protocol", "author", "current")
    row: ItemRow = get_object_or_404(rows, project__slug=project, public=item)
    return row


def row_named(rows: QuerySet, words: str, **where: object) -> Model:
    """Return the row whose public id is in the form.

    Args:
        rows: a table, or some of its rows.
        words: the name.
        where: what else has to hold of it.

    Raises:
        Http404: there is none, or it is no name.
    """
    try:
        public = UUID(words)
    except ValueError as error:
        raise Http404 from error
    return get_object_or_404(rows, public=public, **where)


def tried(
    request: HttpRequest, act: Callable[[], object], to: str, *args: object
) -> tuple[HttpResponse | None, str]:
    """The outcome of a form: the way to the next page, or why it was refused; neither where none was sent.

    Args:
        request: what was sent.
        act: does what the form says.
        to: the name of the address to go on to, with its `args`.
        args: as `reverse` takes them.
    """
    if request.method != "POST":
        return None, ""
    try:
        act()
    except VidenceError as error:
        return None, str(error)
    return redirect(to, *args), ""
