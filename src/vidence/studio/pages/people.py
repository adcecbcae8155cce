"""People of a project: roles, domains, qualification, and how many there are for each domain."""

from datetime import UTC, datetime
from typing import cast

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from vidence.errors import UsageError
from vidence.studio.access import ROLES, SAFE, Role, route
from vidence.studio.accounts import user_of
from vidence.studio.members import LEAST_A_DOMAIN, Terms, coverage, domains_in, members, set_terms
from vidence.studio.pages.time import uuid_of
from vidence.studio.records.people import MembershipRow, ProjectRow, UserRow
from vidence.studio.workflow import protocol_of


def people(request: HttpRequest, project: str) -> HttpResponse:
    """Who may do what in a project, and which domains lack people."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    fault = ""
    if request.method == "POST":
        try:
            user = _user(request, row)
            set_terms(user, row, _terms(request), by=request.person.name)
            return HttpResponseRedirect(reverse("people", args=[project]))
        except UsageError as error:
            fault = str(error)
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


def _user(request: HttpRequest, project: ProjectRow) -> UserRow:
    """Whom a form is about: somebody of the project, or, by the name of the account, somebody to take in."""
    if "user" in request.POST:
        member = get_object_or_404(
            MembershipRow.objects.select_related("user"),
            project=project,
            user__public=uuid_of(request.POST["user"]),
        )
        return cast("UserRow", member.user)
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
        roles=tuple(cast("list[Role]", request.POST.getlist("roles"))),
        domains=domains_in(request.POST.get("domains", "")),
        is_author_of_the_paper="is_author" in request.POST,
        qualified_until=ends,
    )


urls = [
    route("projects/<slug:project>/people", people, name="people", roles={"operator"}, to=(*SAFE, "POST")),
]
