"""Accounts of a team: made, given roles and passwords, closed, by operators of all projects."""

from collections.abc import Mapping
from typing import Final

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from vidence.errors import UsageError
from vidence.studio import accounts as kept
from vidence.studio.access import BOTH, ROLES, route
from vidence.studio.pages.answers import row_named
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.settings import current

_FIELDS: Final = ("act", "name", "shown", "pseudonym", "project", "team")
_ALONE: Final = "a studio for one person has no accounts; serve a team with: vidence studio serve DIR"


@sensitive_variables("said")
@sensitive_post_parameters("password")
def accounts(request: HttpRequest) -> HttpResponse:
    """All accounts with their roles, and the forms that make and change them."""
    if not request.person.leads_all:
        raise PermissionDenied("only operators of all projects create accounts")
    wrong = ""
    if request.method == "POST":
        accounts = {name: request.POST.get(name, "").strip() for name in _FIELDS}
        try:
            drawn = _done(request, accounts)
        except UsageError as error:
            wrong = str(error)
        else:
            return _page(request, drawn=drawn) if drawn else redirect("accounts")
    return _page(request, wrong=wrong)


def _page(request: HttpRequest, *, wrong: str = "", drawn: tuple[UserRow, str] | None = None) -> HttpResponse:
    rows = UserRow.objects.exclude(key__startswith=kept.OF_NOBODY).order_by("key")
    fields = {
        "users": [
            (user, sorted(user.memberships.all(), key=lambda row: row.project.slug if row.project else ""))
            for user in rows.prefetch_related("memberships__project")
        ],
        "projects": list(ProjectRow.objects.order_by("slug")),
        "all_roles": ROLES,
        "wrong": wrong,
        "said": request.POST if wrong and request.POST.get("act") == "make" else {},
        "said_roles": request.POST.getlist("roles") if wrong else [],
        "drawn": drawn,
    }
    return render(request, "people/accounts.html", fields, status=400 if wrong else 200)


@sensitive_variables("typed", "password")
def _done(request: HttpRequest, values: Mapping[str, str]) -> tuple[UserRow, str] | None:
    """Do what a button says; the account and its password, where one was drawn.

    Raises:
        UsageError: a rule refuses it.
    """
    if current().settings.mode != "team":
        raise UsageError(_ALONE)
    by, roles, act = request.person.name, request.POST.getlist("roles"), values["act"]
    typed = request.POST.get("password", "")
    password = typed or kept.first_password()
    if act == "make":
        profile = kept.Profile(
            shown=values["shown"], pseudonym=values["pseudonym"], has_first_password=True, team=values["team"]
        )
        user = kept.add_user(
            values["name"], password, roles=roles, project=values["project"], profile=profile, by=by
        )
        return None if typed else (user, password)
    rows = UserRow.objects.exclude(key__startswith=kept.OF_NOBODY)
    user = row_named(rows, request.POST.get("user", ""))
    project = kept.project_of(values["project"]) if values["project"] else None
    if act == "password":
        kept.set_password(user, password, by=by, is_first=True)
        return None if typed else (user, password)
    if act == "roles" and not roles:
        raise UsageError(f"no roles; expected one or more of {', '.join(ROLES)}")
    if act in ("roles", "take"):
        kept.set_roles(user, project, roles if act == "roles" else (), by=by)
    elif act == "close":
        kept.close_account(user, by=by)
    else:
        raise UsageError("this action is not available here")
    return None


urls = [route("accounts", accounts, name="accounts", roles={"operator"}, to=BOTH)]
