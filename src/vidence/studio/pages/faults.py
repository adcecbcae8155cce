"""The pages that say why there is no other."""

from django.http import HttpRequest, HttpResponse
from django.template import loader

from vidence.studio.settings import current

_SAID = {
    400: ("This cannot be read", "What the browser sent is not what this page takes."),
    403: ("Not for you", "Your roles do not allow this page, or the form is too old: load it again."),
    404: ("Nothing here", "There is no such page, or it is not for you."),
    405: ("Not like this", "This address does not take what was sent."),
    500: ("This went wrong", "The server could not answer. What you saved before is kept."),
}


def fault(request: HttpRequest, status: int, *, title: str = "", words: str = "") -> HttpResponse:
    """A page with a status and what it means."""
    fault = _SAID.get(status, _SAID[500])
    fields = {"title": title or fault[0], "words": words or fault[1], "status": status}
    text = loader.render_to_string("fault.html", fields, request=request if status != 500 else None)
    return HttpResponse(text, status=status)


def closed(request: HttpRequest) -> HttpResponse:
    """What a browser sees that was not let in by the printed address."""
    command = "vidence view" if current().settings.mode == "view" else "vidence studio open"
    return fault(
        request,
        403,
        title="Closed",
        words=f"The address that {command} printed lets one browser in, once. Start it again for a new one.",
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What was sent cannot be read."""
    return fault(request, 400)


def forbidden(request: HttpRequest, exception: Exception | None = None, reason: str = "") -> HttpResponse:
    """403: a page of another person, or a form that this session was not given."""
    return fault(request, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: the page does not exist."""
    return fault(request, 404)


def broken(request: HttpRequest) -> HttpResponse:
    """The server's own fault."""
    return fault(request, 500)
