"""The door: the printed address, signing in and out."""

from collections.abc import Mapping
from typing import Final

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.shortcuts import render

from vidence.studio.access import ANYONE, EVERY_ROLE, ROLES, SOLO, Person, Role, route
from vidence.studio.pages.faults import closed
from vidence.studio.settings import current

_KEY: Final = "person"
_ALONE: Final[Mapping[str, frozenset[Role]]] = {
    "view": frozenset({"researcher"}),
    "solo": frozenset(ROLES),
}


def person_of(request: HttpRequest) -> Person | None:
    """Who asks, by the session of the browser."""
    mode = current().settings.mode
    if mode == "team":
        return None
    if request.session.get(_KEY) != SOLO:
        return None
    return Person(name=SOLO, shown="you", roles={"": _ALONE[mode]})


def enter(request: HttpRequest) -> HttpResponse:
    """Let the browser in that has the printed address; the word is of no use a second time."""
    answer: HttpResponse
    if current().ticket.redeem(request.GET.get("ticket", "")):
        request.session.cycle_key()
        request.session[_KEY] = SOLO
        rotate_token(request)
        answer = HttpResponseRedirect("/")
    else:
        answer = closed(request)
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


def sign_in(request: HttpRequest) -> HttpResponse:
    """The form of name and password."""
    return render(request, "sign-in.html", {"next": request.GET.get("next", "/")})


def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session at once."""
    request.session.flush()
    return closed(request) if current().settings.mode != "team" else HttpResponseRedirect("/sign-in")


urls = [
    route("enter", enter, name="enter", roles=ANYONE),
    route("sign-in", sign_in, name="sign-in", roles=ANYONE, to=("GET", "HEAD", "POST")),
    route("sign-out", sign_out, name="sign-out", roles=EVERY_ROLE, to=("POST",)),
]
