"""Middleware that identifies the sender of a request, and enforces roles."""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlencode

from django.contrib.auth import logout
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.core.cache import caches
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import get_resolver, reverse
from django.utils.deprecation import MiddlewareMixin

from vidence.studio.access import (
    ANYONE,
    EVERY_ROLE,
    PROJECT,
    ROLES,
    SAFE,
    SOLO,
    Person,
    Role,
    RoutedView,
    rules,
)
from vidence.studio.accounts import person_of_user
from vidence.studio.pages.faults import closed
from vidence.studio.settings import SESSION_S, current

LET_IN: Final = "person"
"""Session entry of a browser admitted by the printed address."""
_ALONE: Final[Mapping[str, frozenset[Role]]] = {"view": frozenset({"researcher"}), "solo": frozenset(ROLES)}
_STEPS: Final[Mapping[str, str]] = {
    "guidelines": "Guidelines",
    "qualification": "Qualification",
    "intake": "Media",
    "new-item": "New item",
    "project": "Items",
    "hints": "Hints to try",
    "rates": "Review results",
    "releases": "Releases",
    "time": "Time",
    "people": "People",
    "trials": "Trial items",
    "ledger": "Ledger",
}
"""A project's pages in order of the work, then those for operators."""
_BEFORE_A_PASSWORD: Final = ("password", "sign-out")


class AuthMiddleware(AuthenticationMiddleware):
    """Django's middleware, which also sets ``person``; None if no one is signed in."""

    def process_request(self, request: HttpRequest) -> None:
        """Set ``request.user`` and ``request.person``."""
        if caches["kept"].get(_signature_of(request)):
            request.session.flush()
        super().process_request(request)
        request.person = None if request.path.startswith("/static/") else _person_of(request)


class PolicyMiddleware(MiddlewareMixin):
    """Deny a request unless a role of the person is among those of its URL."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., object], _args: object, kwargs: Mapping[str, str]
    ) -> HttpResponse | None:
        """Return the refusal, or None if the view may answer.

        Raises:
            PermissionDenied: it is of another role, or names none.
            Http404: it is of a project that the person is not in.
        """
        if not isinstance(view, RoutedView) or not view.roles:
            raise PermissionDenied("no rule")
        if request.method not in view.methods:
            return HttpResponseNotAllowed(sorted(view.methods))
        if view.roles >= ANYONE:
            return None
        person: Person | None = request.person
        if person is None:
            return _to_sign_in(request)
        if getattr(person.user, "has_first_password", False) and (
            request.resolver_match.url_name not in _BEFORE_A_PASSWORD
        ):
            if request.method not in SAFE:
                raise PermissionDenied("choose your own password first")
            return redirect("password")
        project = kwargs.get("project")
        if project is not None and not person.is_in(project):
            raise Http404
        if not person.roles_in(project) & view.roles:
            raise PermissionDenied("another role")
        return None


def end_session(request: HttpRequest) -> None:
    """Sign a browser out; copies of its cookie become invalid while the server runs."""
    caches["kept"].set(_signature_of(request), True, SESSION_S)
    logout(request)


def _signature_of(request: HttpRequest) -> str:
    return str(request.session.session_key).rpartition(":")[2]


def _person_of(request: HttpRequest) -> Person | None:
    mode = current().settings.mode
    if mode == "team":
        return person_of_user(request.user) if request.user.is_authenticated else None
    is_let_in = request.session.get(LET_IN) == SOLO
    return Person(name=SOLO, shown="you", roles={"": _ALONE[mode]}) if is_let_in else None


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    if current().settings.mode != "team":
        return closed(request)
    if request.method not in SAFE or request.headers.get("HX-Request"):
        return HttpResponse("signed out; sign in again in another tab", status=401, content_type="text/plain")
    return HttpResponseRedirect(f"{reverse('sign-in')}?{urlencode({'next': request.get_full_path()})}")


def for_templates(request: HttpRequest) -> dict[str, object]:
    """Return the context of every page: the person, and the kind of studio."""
    person = getattr(request, "person", None)
    settings = current().settings
    roles = person.roles_in(None) if person is not None else frozenset()
    match = request.resolver_match
    project = str(match.kwargs.get("project", "")) if match is not None else ""
    return {
        "person": person,
        "roles": roles,
        "steps": _steps(project, person) if project and person is not None else (),
        "works": not EVERY_ROLE.isdisjoint(roles),
        "mode": settings.mode,
        "export": settings.export,
        "first": settings.first,
        "pulse": settings.pulse,
    }


def _steps(project: str, person: Person) -> list[tuple[str, str, str]]:
    """Return a project's pages that a person may open, in order of the work: name, label and address."""
    allowed = {
        pattern.name: pattern.callback.roles  # as `route` makes them
        for where, pattern in rules(get_resolver().url_patterns)
        if where.startswith(PROJECT)
    }
    roles = person.roles_in(project)
    return [
        (name, words, reverse(name, args=[project]))
        for name, words in _STEPS.items()
        if not roles.isdisjoint(allowed[name])
    ]
