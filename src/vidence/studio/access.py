"""Roles and routes: each route states its roles and methods; one without roles prevents the start."""

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from django.http import HttpResponseBase
from django.urls import URLPattern, URLResolver, path

from vidence.errors import UsageError

Role = Literal["researcher", "author", "reviewer", "meta", "operator", "submitter"]
Rule = Role | Literal["anyone"]
ROLES: Final[tuple[Role, ...]] = ("researcher", "author", "reviewer", "meta", "operator", "submitter")
SIGNED_IN: Final[frozenset[Rule]] = frozenset(ROLES)
"""Everyone signed in."""
EVERY_ROLE: Final[frozenset[Rule]] = SIGNED_IN - {"submitter"}
"""Everyone who works on projects; submitters see only the leaderboard."""
ANYONE: Final[frozenset[Rule]] = frozenset({"anyone"})
"""Everyone, even if not signed in."""
SAFE: Final = ("GET", "HEAD", "OPTIONS")
BOTH: Final = (*SAFE, "POST")
"""The methods of a page with a form."""
PROJECT: Final = "projects/<slug:project>"
ITEM: Final = f"{PROJECT}/items/<uuid:item>"
SOLO: Final = "solo"
"""The pseudonym of the one person of a studio without accounts."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """The sender of a request. `roles` are by project; under the empty name those of every project."""

    name: str
    shown: str
    roles: Mapping[str, frozenset[Role]]
    user: object = None
    """The row of the account, where there are accounts."""

    def roles_in(self, project: str | None) -> frozenset[Role]:
        """Return the person's roles in a project; without one, the roles in any project."""
        if project is None:
            return frozenset[Role]().union(*self.roles.values())
        return self.roles.get(project, frozenset()) | self.roles.get("", frozenset())

    @property
    def leads_all(self) -> bool:
        """Whether the person is an operator of all projects, who creates projects and accounts."""
        return "operator" in self.roles.get("", frozenset())

    def is_in(self, project: str) -> bool:
        """Whether the person has any role in a project."""
        return not EVERY_ROLE.isdisjoint(self.roles_in(project))


class RoutedView(functools.partial[HttpResponseBase]):
    """A view with its roles and methods."""

    roles: frozenset[Rule]
    methods: frozenset[str]


def route(
    pattern: str, view: Callable[..., object], *, name: str, roles: Collection[Rule], to: Iterable[str] = SAFE
) -> URLPattern:
    """An address, and who may use it.

    Where the address names a ``project``, the roles are those in that project; to a person without any in
    it there is no such page.

    Args:
        pattern: as Django's `path` takes it.
        view: answers; plain or async.
        name: by which `reverse` finds it.
        roles: who may; `EVERY_ROLE` for all who work on projects, `SIGNED_IN`, `ANYONE` for all.
        to: the methods that it answers; say "POST" where something is changed.
    """
    routed = RoutedView(view)
    routed.roles, routed.methods = frozenset(roles), frozenset(to)
    return path(pattern, routed, name=name)


def rules(patterns: Iterable[URLPattern | URLResolver], above: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Yield all routes with their full prefixes."""
    for pattern in patterns:
        where = above + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from rules(pattern.url_patterns, where)
        else:
            yield where, pattern


def refuse_open_routes(patterns: Iterable[URLPattern | URLResolver]) -> None:
    """Check that every address has a rule.

    Raises:
        UsageError: one has none.
    """
    known = SIGNED_IN | ANYONE
    for where, entry in rules(patterns):
        value = getattr(entry.callback, "roles", None)
        if not value or not value <= known:
            raise UsageError(
                f"the address {where!r} says {value or 'nothing'} of who may see it; use `route`"
            )
