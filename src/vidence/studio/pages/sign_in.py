"""The door: the printed address, signing in and out."""

import math
from collections.abc import Mapping
from typing import Final

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from vidence.studio.access import ANYONE, BOTH, EVERY_ROLE, ROLES, SOLO, Person, Role, route
from vidence.studio.pages.faults import closed, fault
from vidence.studio.settings import current

_KEY: Final = "person"
_STAMP: Final = "stamp"
_ALONE: Final[Mapping[str, frozenset[Role]]] = {
    "view": frozenset({"researcher"}),
    "solo": frozenset(ROLES),
}
_WRONG: Final = "The name or the password is wrong, or there were too many tries. Wait, and try again."


def person_of(request: HttpRequest) -> Person | None:
    """Who asks, by the session of the browser."""
    mode = current().settings.mode
    said = request.session.get(_KEY)
    if said is None:
        return None
    if mode != "team":
        return Person(name=SOLO, shown="you", roles={"": _ALONE[mode]}) if said == SOLO else None
    from vidence.studio.accounts import person_of_user, with_stamp

    user = with_stamp(said, request.session.get(_STAMP, ""))
    if user is None:
        return None
    return person_of_user(user, list(user.memberships.select_related("project")))


def enter(request: HttpRequest) -> HttpResponse:
    """Let the browser in that has the printed address; the word is of no use a second time."""
    answer: HttpResponse
    if current().settings.mode != "team" and current().ticket.redeem(request.GET.get("ticket", "")):
        _begin(request, SOLO, "")
        answer = HttpResponseRedirect("/")
    else:
        answer = closed(request)
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


@sensitive_variables("password")
@sensitive_post_parameters("password")
def sign_in(request: HttpRequest) -> HttpResponse:
    """The form of name and password, and what becomes of it."""
    if current().settings.mode != "team":
        return fault(request, 404)
    after = request.POST.get("next", request.GET.get("next", "/"))
    if request.method != "POST":
        return render(request, "sign-in.html", {"next": _on_this_host(request, after)})
    from vidence.studio.accounts import stamp, try_password

    name, password = request.POST.get("name", ""), request.POST.get("password", "")
    found = try_password(name, password, address=address_of(request))
    if found is None or isinstance(found, float):
        told = {"next": _on_this_host(request, after), "name": name, "wrong": _WRONG}
        answer = render(request, "sign-in.html", told, status=403 if found is None else 429)
        if found is not None:
            answer.headers["Retry-After"] = str(math.ceil(found))
        return answer
    _begin(request, str(found.public), stamp(found))
    return HttpResponseRedirect(_on_this_host(request, after))


def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session at once."""
    if current().settings.mode == "team":
        from vidence.studio.audit import note
        from vidence.studio.times import end_work

        end_work(request.person.user)
        note("signed-out", by=request.person.name)
    request.session.flush()
    return closed(request) if current().settings.mode != "team" else HttpResponseRedirect("/sign-in")


def address_of(request: HttpRequest) -> str:
    """Where a request comes from; behind a proxy what the proxy itself has seen, and nobody else has said."""
    if current().settings.is_behind_proxy:
        return str(request.headers.get("X-Forwarded-For", "")).rpartition(",")[2].strip()
    return str(request.META.get("REMOTE_ADDR", ""))


def _begin(request: HttpRequest, who: str, stamp: str) -> None:
    """Begin a session under a new name: one that was known before is of no use."""
    request.session.flush()
    request.session.create()
    request.session[_KEY] = who
    request.session[_STAMP] = stamp
    rotate_token(request)


def _on_this_host(request: HttpRequest, wanted: str) -> str:
    """The address where somebody wanted to go, where it is one of this host; else the first page."""
    is_safe = wanted.startswith("/") and url_has_allowed_host_and_scheme(
        wanted, allowed_hosts=None, require_https=request.is_secure()
    )
    return wanted if is_safe else "/"


urls = [
    route("enter", enter, name="enter", roles=ANYONE),
    route("sign-in", sign_in, name="sign-in", roles=ANYONE, to=BOTH),
    route("sign-out", sign_out, name="sign-out", roles=EVERY_ROLE, to=("POST",)),
]
