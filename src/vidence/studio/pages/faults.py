"""The pages that say why there is no other."""

from django.http import HttpRequest, HttpResponse
from django.template import loader

from vidence.studio.settings import current

_SAID = {
    400: ("Unreadable request", "This page cannot use what the browser sent."),
    403: ("No access", "Your roles do not allow this page, or the form has expired: reload it."),
    404: ("Nothing here", "This page does not exist, or you may not see it."),
    405: ("Not allowed", "This address does not accept this kind of request."),
    500: ("Server error", "The server could not answer. What you saved before is safe."),
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
        words=f"The address that {command} printed works once, for one browser. Start it again for another.",
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
