"""Who may see which address: each route names its roles, and one that names none is refused at the start."""

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.deprecation import MiddlewareMixin

from vidence.errors import UsageError
from vidence.studio.rules.keys import Keys
from vidence.studio.settings import current

Role = Literal["researcher", "author", "reviewer", "meta", "operator"]
Rule = Role | Literal["anyone"]
ROLES: Final[tuple[Role, ...]] = ("researcher", "author", "reviewer", "meta", "operator")
EVERY_ROLE: Final[frozenset[Rule]] = frozenset(ROLES)
"""Whoever has signed in."""
ANYONE: Final[frozenset[Rule]] = frozenset({"anyone"})
"""Also who has not signed in: the door, and what its page is drawn with."""
SAFE: Final = ("GET", "HEAD", "OPTIONS")
BOTH: Final = (*SAFE, "POST")
"""The methods of a page with a form."""
PROJECT: Final = "projects/<slug:project>"
ITEM: Final = f"{PROJECT}/items/<uuid:item>"
_BEFORE_A_PASSWORD: Final = ("password", "sign-out")
SOLO: Final = "solo"
"""The pseudonym of the one person of a studio without accounts."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """Who asks. `roles` are by project; under the empty name those of every project."""

    name: str
    shown: str
    roles: Mapping[str, frozenset[Role]]
    user: object = None
    """The row of the account, where there are accounts."""

    def roles_in(self, project: str | None) -> frozenset[Role]:
        """The roles in one project; without one, those that the person has in any."""
        if project is None:
            return frozenset[Role]().union(*self.roles.values())
        return self.roles.get(project, frozenset()) | self.roles.get("", frozenset())

    @property
    def leads_all(self) -> bool:
        """Whether the person is an operator of all projects, who begins projects and makes accounts."""
        return "operator" in self.roles.get("", frozenset())

    def is_in(self, project: str) -> bool:
        """Whether the person has a say in a project at all."""
        return project in self.roles or "" in self.roles


class Ruled(functools.partial[Any]):
    """A view, who may use it, and the methods that it answers."""

    roles: frozenset[Rule]
    methods: frozenset[str]


def route(
    pattern: str, view: Callable[..., Any], *, name: str, roles: Collection[Rule], to: Iterable[str] = SAFE
) -> URLPattern:
    """An address, and who may use it.

    Where the address names a ``project``, the roles are those in that project; whoever has none in it is
    told that there is no such page.

    Args:
        pattern: as Django's `path` takes it.
        view: answers; plain or async.
        name: by which `reverse` finds it.
        roles: who may; `EVERY_ROLE` for all who have signed in, `ANYONE` for all.
        to: the methods that it answers; say "POST" where something is changed.
    """
    ruled = Ruled(view)
    ruled.roles, ruled.methods = frozenset(roles), frozenset(to)
    return path(pattern, ruled, name=name)


def rules(patterns: Iterable[URLPattern | URLResolver], above: str = "") -> Iterator[tuple[str, URLPattern]]:
    """All addresses, with what stands before them."""
    for one in patterns:
        where = above + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from rules(one.url_patterns, where)
        else:
            yield where, one


def refuse_open_routes(patterns: Iterable[URLPattern | URLResolver]) -> None:
    """See that every address has a rule.

    Raises:
        UsageError: one has none.
    """
    known = EVERY_ROLE | ANYONE
    for where, one in rules(patterns):
        said = getattr(one.callback, "roles", None)
        if not said or not said <= known:
            raise UsageError(f"the address {where!r} says {said or 'nothing'} of who may see it; use `route`")


class Door(MiddlewareMixin):
    """Refuses what was sent to another host, or from another site."""

    def process_request(self, request: HttpRequest) -> None:
        """Look at where the request was sent to and comes from.

        Raises:
            DisallowedHost: its host is none of ours.
            PermissionDenied: another site wants to change something.
        """
        request.get_host()
        if request.method not in SAFE and request.headers.get("Sec-Fetch-Site", "same-origin") not in (
            "same-origin",
            "none",
        ):
            raise PermissionDenied("sent from another site")


class SignedIn(MiddlewareMixin):
    """Knows who asks, and lets them see what their roles allow."""

    def process_request(self, request: HttpRequest) -> None:
        """Say who asks as ``request.person``; None where nobody has signed in."""
        from vidence.studio.pages.sign_in import person_of

        request.person = None if request.path.startswith("/static/") else person_of(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _args: object, kwargs: Mapping[str, Any]
    ) -> HttpResponse | None:
        """Refuse whoever may not see this address."""
        if not isinstance(view, Ruled) or not view.roles:
            raise PermissionDenied("no rule")
        if request.method not in view.methods:
            from django.http import HttpResponseNotAllowed

            return HttpResponseNotAllowed(sorted(view.methods))
        if view.roles >= ANYONE:
            return None
        person = cast("Person | None", request.person)
        if person is None:
            return to_the_door(request)
        if current().settings.mode == "team" and (answer := _first_of_all(request, person)) is not None:
            return answer
        project = kwargs.get("project")
        if project is not None and not person.is_in(project):
            raise Http404
        if not person.roles_in(project) & view.roles:
            raise PermissionDenied("another role")
        return None


def _first_of_all(request: HttpRequest, person: Person) -> HttpResponse | None:
    """The answer to somebody who has still to choose a password of their own; None to everybody else."""
    from vidence.studio.accounts import has_first_password

    if not has_first_password(person.user) or request.resolver_match.url_name in _BEFORE_A_PASSWORD:
        return None
    if request.method not in SAFE:
        raise PermissionDenied("a password of one's own comes first")
    return redirect("password")


def to_the_door(request: HttpRequest) -> HttpResponse:
    """The answer to somebody who has not signed in."""
    if current().settings.mode != "team":
        from vidence.studio.pages.faults import closed

        return closed(request)
    if request.method not in SAFE or request.headers.get("HX-Request"):
        return HttpResponse("signed out; sign in again in another tab", status=401, content_type="text/plain")
    asked = urlencode({"next": request.get_full_path()})
    return HttpResponseRedirect(f"{reverse('sign-in')}?{asked}")


def for_templates(request: HttpRequest) -> dict[str, object]:
    """What every page is drawn with: who looks, and which kind of studio this is."""
    person = getattr(request, "person", None)
    return {
        "person": person,
        "roles": person.roles_in(None) if person is not None else frozenset(),
        "mode": current().settings.mode,
        "export": current().settings.export,
        "pulse": current().settings.pulse,
        "own_keys": (own_keys := functools.cache(functools.partial(_own_keys, person))),
        "keys_told": lambda: own_keys().told(),
    }


def _own_keys(person: Person | None) -> Keys:
    from vidence.studio.pages.keys import keys_of

    return keys_of(person)
