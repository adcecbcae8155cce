"""Accounts of a team: made, given roles and passwords, closed, by operators of all projects."""

from collections.abc import Callable, Mapping
from typing import Final

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from vidence.errors import UsageError
from vidence.studio import accounts as kept
from vidence.studio.access import BOTH, EVERY_ROLE, ROLES, route
from vidence.studio.pages.answers import row_named, tried
from vidence.studio.pages.faults import fault
from vidence.studio.records.people import MembershipRow, ProjectRow, UserRow
from vidence.studio.settings import current

_OF_NOBODY: Final = "\n"
"""What the key of an account begins with under which nobody can sign in."""
_FIELDS: Final = ("act", "name", "shown", "pseudonym", "project")
_ALONE: Final = "a studio of one person has no accounts; a team is served with: vidence studio serve DIR"


@sensitive_variables("said")
@sensitive_post_parameters("password")
def accounts(request: HttpRequest) -> HttpResponse:
    """All accounts with their roles, and the forms that make and change them."""
    if not request.person.leads_all:
        raise PermissionDenied("operators of all projects make accounts")
    wrong = ""
    if request.method == "POST":
        said = {name: request.POST.get(name, "").strip() for name in _FIELDS}
        try:
            drawn = _done(request, said)
        except UsageError as error:
            wrong = str(error)
        else:
            return _page(request, drawn=drawn) if drawn else redirect("accounts")
    return _page(request, wrong=wrong)


def _page(request: HttpRequest, *, wrong: str = "", drawn: tuple[UserRow, str] | None = None) -> HttpResponse:
    rows = UserRow.objects.exclude(key__startswith=_OF_NOBODY).order_by("key")
    told = {
        "users": [(one, _memberships(one)) for one in rows.prefetch_related("memberships__project")],
        "projects": list(ProjectRow.objects.order_by("slug")),
        "all_roles": ROLES,
        "wrong": wrong,
        "said": request.POST if wrong and request.POST.get("act") == "make" else {},
        "said_roles": request.POST.getlist("roles") if wrong else [],
        "drawn": drawn,
        "least": kept.LEAST_PASSWORD,
    }
    return render(request, "people/accounts.html", told, status=400 if wrong else 200)


def _memberships(user: UserRow) -> list[MembershipRow]:
    """What somebody may do, first in all projects."""
    return sorted(user.memberships.all(), key=lambda one: one.project.slug if one.project else "")


def _done(request: HttpRequest, said: Mapping[str, str]) -> tuple[UserRow, str] | None:
    """Do what a button says; the account and its password, where one was drawn.

    Raises:
        UsageError: a rule refuses it.
    """
    if current().settings.mode != "team":
        raise UsageError(_ALONE)
    by = request.person.name
    if said["act"] == "make":
        return _make(request, said, by=by)
    acts: dict[str, Callable[[UserRow], object]] = {
        "roles": lambda user: kept.set_roles(
            user.name, request.POST.getlist("roles"), project=said["project"], by=by
        ),
        "take": lambda user: kept.take_roles(user.name, project=said["project"], by=by),
        "close": lambda user: kept.close_account(user.name, by=by),
    }
    if said["act"] not in (*acts, "password"):
        raise UsageError("nothing that can be done here")
    rows = UserRow.objects.exclude(key__startswith=_OF_NOBODY)
    user = row_named(rows, request.POST.get("user", ""))
    if said["act"] == "password":
        return _new_password(user, request.POST.get("password", ""), by=by)
    acts[said["act"]](user)
    return None


@sensitive_variables("typed", "password")
def _make(request: HttpRequest, said: Mapping[str, str], *, by: str) -> tuple[UserRow, str] | None:
    typed = request.POST.get("password", "")
    password = typed or kept.first_password()
    user = kept.add_user(
        said["name"],
        password,
        roles=request.POST.getlist("roles"),
        project=said["project"],
        profile=kept.Profile(shown=said["shown"], pseudonym=said["pseudonym"], has_first_password=True),
        by=by,
    )
    return None if typed else (user, password)


@sensitive_variables("typed", "password")
def _new_password(user: UserRow, typed: str, *, by: str) -> tuple[UserRow, str] | None:
    password = typed or kept.first_password()
    kept.set_password(user.name, password, by=by, is_first=True)
    return None if typed else (user, password)


@sensitive_post_parameters("before", "first", "again")
def password(request: HttpRequest) -> HttpResponse:
    """The form in which somebody chooses a password of their own; they sign in again with it."""
    user = request.person.user
    if current().settings.mode != "team" or not isinstance(user, UserRow):
        return fault(request, 404)
    done, wrong = tried(request, lambda: _choose(request, user), "sign-in")
    if done is not None:
        return done
    told = {"wrong": wrong, "is_first": kept.has_first_password(user), "least": kept.LEAST_PASSWORD}
    return render(request, "people/password.html", told, status=400 if wrong else 200)


@sensitive_variables("before", "first", "again")
def _choose(request: HttpRequest, user: UserRow) -> None:
    before, first, again = (request.POST.get(name, "") for name in ("before", "first", "again"))
    if first != again:
        raise UsageError("the two new passwords differ; type the same one twice")
    kept.choose_password(user, before, first)
    request.session.flush()


urls = [
    route("accounts", accounts, name="accounts", roles={"operator"}, to=BOTH),
    route("password", password, name="password", roles=EVERY_ROLE, to=BOTH),
]
