"""People of a project: roles, domains, qualification, and how many there are for each domain."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, cast

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from vidence.errors import UsageError
from vidence.make.review.protocol import Protocol
from vidence.records import Record
from vidence.studio import training
from vidence.studio.access import BOTH, PROJECT, ROLES, route
from vidence.studio.accounts import Terms, set_roles, user_of
from vidence.studio.pages.answers import row_named, tried
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import MembershipRow, ProjectRow, UserRow
from vidence.studio.workflow import protocol_of

LEAST_A_DOMAIN: Final = 2
"""How many qualified people of each kind a domain should have."""


def domains_in(words: str) -> tuple[str, ...]:
    """Domains as people write them: one by one, with commas between.

    >>> domains_in(" law,  art ,, law")
    ('art', 'law')
    """
    return tuple(sorted({" ".join(part.split()) for part in words.split(",") if part.strip()}))


@dataclass(frozen=True, kw_only=True)
class Member:
    """A member of a project, with why a role is not open to them."""

    user: UserRow
    membership: MembershipRow
    closed: dict[str, str]

    def is_open(self, role: str) -> bool:
        """Whether a member may work in a role that they have."""
        return role in self.membership.roles and role not in self.closed


def members(project: ProjectRow, protocol: Protocol) -> list[Member]:
    """The people of a project, by name; those of all projects as well."""
    here = Q(project=project) | Q(project=None)
    related = MembershipRow.objects.filter(here, user__is_active=True).select_related("user", "project")
    members = []
    for entry in related.order_by("user__key", "pk"):
        closed: dict[str, str] = {}
        for role in training.WORKERS:
            seat = training.Seat(user=entry.user, project=project, protocol=protocol, role=role)
            if role in entry.roles and (why := training.refusal(seat)):
                closed[role] = why
        members.append(Member(user=entry.user, membership=entry, closed=closed))
    return members


class Cover(Record):
    """How many items a domain has, and how many people may write, review and meta-review in it now."""

    domain: str
    n_items: int
    n_people: dict[str, int]
    lacks: tuple[str, ...]


def coverage(project: ProjectRow, protocol: Protocol, people: Sequence[Member]) -> list[Cover]:
    """The domains of items and people, each with who is there for it.

    A member without domains works in all of them. The roles are those that the protocol has.
    """
    roles = ("author", *(stage.role for stage in protocol.stages))
    counted = ItemRow.objects.filter(project=project).values_list("strata__domain").annotate(n=Count("pk"))
    of_items = Counter({str(domain): n for domain, n in counted.order_by() if domain})
    named = {element for member in people for element in member.membership.domains}
    return [_cover(domain, of_items[domain], people, roles=roles) for domain in sorted({*of_items} | named)]


def _cover(domain: str, n_items: int, people: Sequence[Member], *, roles: Collection[str]) -> Cover:
    here = [person for person in people if domain in (person.membership.domains or [domain])]
    # One may be in a project twice, as one of all projects as well.
    counts = {role: len({member.user.pk for member in here if member.is_open(role)}) for role in roles}
    lacks = tuple(role for role, n in counts.items() if n < LEAST_A_DOMAIN)
    return Cover(domain=domain, n_items=n_items, n_people=counts, lacks=lacks)


def people(request: HttpRequest, project: str) -> HttpResponse:
    """Who may do what in a project, and which domains lack people."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    done, fault = tried(request, lambda: _set(request, row), "people", project)
    if done is not None:
        return done
    protocol = protocol_of(row)
    entries = members(row, protocol)
    fields = {
        "project": row,
        "members": entries,
        "covers": coverage(row, protocol, entries),
        "least": LEAST_A_DOMAIN,
        "all_roles": ROLES,
        "fault": fault,
    }
    return render(request, "people/people.html", fields, status=400 if fault else 200)


def _set(request: HttpRequest, project: ProjectRow) -> None:
    set_roles(
        _user(request, project),
        project,
        request.POST.getlist("roles"),
        terms=_terms(request),
        by=request.person.name,
    )


def _user(request: HttpRequest, project: ProjectRow) -> UserRow:
    """Return the user that a form names: a member of the project, or an account to add."""
    if "user" in request.POST:
        here = MembershipRow.objects.filter(project=project).values("user")
        return cast("UserRow", row_named(UserRow, request.POST["user"], pk__in=here))
    user = user_of(request.POST.get("name", ""))
    if MembershipRow.objects.filter(user=user, project=project).exists():
        raise UsageError(f"{user.shown} is already in the project; change the roles there")
    if not request.POST.getlist("roles"):
        raise UsageError("no roles; choose one or more")
    return user


def _terms(request: HttpRequest) -> Terms:
    until = request.POST.get("until", "")
    try:
        ends = datetime.fromisoformat(until).replace(tzinfo=UTC) if until else None
    except ValueError as error:
        raise UsageError(f"the day {until!r}; expected a day such as 2026-11-23") from error
    return Terms(
        domains=domains_in(request.POST.get("domains", "")),
        is_author_of_the_paper="is_author" in request.POST,
        qualified_until=ends,
    )


urls = [route(f"{PROJECT}/people", people, name="people", roles={"operator"}, to=BOTH)]
