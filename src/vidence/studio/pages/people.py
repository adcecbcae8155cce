"""People of a project: roles, domains, qualification, and how many there are for each domain."""

from datetime import UTC, datetime
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from vidence.errors import UsageError
from vidence.studio.access import BOTH, PROJECT, ROLES, route
from vidence.studio.accounts import Terms, set_roles, user_of
from vidence.studio.members import LEAST_A_DOMAIN, coverage, domains_in, members
from vidence.studio.pages.answers import row_named, tried
from vidence.studio.records.people import MembershipRow, ProjectRow, UserRow
from vidence.studio.workflow import protocol_of


def people(request: HttpRequest, project: str) -> HttpResponse:
    """Who may do what in a project, and which domains lack people."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    done, fault = tried(request, lambda: _set(request, row), "people", project)
    if done is not None:
        return done
    protocol = protocol_of(row)
    found = members(row, protocol)
    told = {
        "project": row,
        "members": found,
        "covers": coverage(row, protocol, found),
        "least": LEAST_A_DOMAIN,
        "all_roles": ROLES,
        "fault": fault,
    }
    return render(request, "people/people.html", told, status=400 if fault else 200)


def _set(request: HttpRequest, project: ProjectRow) -> None:
    set_roles(
        _user(request, project),
        project,
        request.POST.getlist("roles"),
        terms=_terms(request),
        by=request.person.name,
    )


def _user(request: HttpRequest, project: ProjectRow) -> UserRow:
    """Whom a form is about: somebody of the project, or, by the name of the account, somebody to take in."""
    if "user" in request.POST:
        here = MembershipRow.objects.filter(project=project).values("user")
        return cast("UserRow", row_named(UserRow, request.POST["user"], pk__in=here))
    user = user_of(request.POST.get("name", ""))
    if MembershipRow.objects.filter(user=user, project=project).exists():
        raise UsageError(f"{user.shown} is in the project already; change the roles there")
    if not request.POST.getlist("roles"):
        raise UsageError("no roles; say what the person may do")
    return user


def _terms(request: HttpRequest) -> Terms:
    until = request.POST.get("until", "")
    try:
        ends = datetime.fromisoformat(until).replace(tzinfo=UTC) if until else None
    except ValueError as error:
        raise UsageError(f"the day {until!r}; expected one such as 2026-11-23") from error
    return Terms(
        domains=domains_in(request.POST.get("domains", "")),
        is_author_of_the_paper="is_author" in request.POST,
        qualified_until=ends,
    )


urls = [
    route(f"{PROJECT}/people", people, name="people", roles={"operator"}, to=BOTH),
]
