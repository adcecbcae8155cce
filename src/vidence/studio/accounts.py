"""Accounts of a team and their roles. Passwords and sessions are Django's."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.crypto import get_random_string

from vidence.errors import UsageError
from vidence.records import Record
from vidence.studio.access import ROLES, Person, Role
from vidence.studio.audit import note
from vidence.studio.records.fields import NAME_LENGTH
from vidence.studio.records.people import MembershipRow, ProjectRow, UserRow
from vidence.studio.settings import current

MOST_PSEUDONYM: Final = 64
OF_NOBODY: Final = "\n"
"""Prefix of the keys of accounts that cannot sign in; no typed name has it."""
_OPERATOR: Final = "operator"
_WORD_LETTERS: Final = "abcdefghijkmnpqrstuvwxyz23456789"  # none that is taken for another
_WORD_LENGTH: Final = 16


class Profile(Record):
    """Optional facts of a new account.

    `shown` is its name on pages, `name` by default; `pseudonym` the one in files, by default the next
    that is free. With `has_first_password` the person has to choose another one before anything else. `team`
    is that for which a submitter submits answers to the board.
    """

    shown: str = ""
    pseudonym: str = ""
    has_first_password: bool = False
    team: str = ""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Per-project details of a member, besides the roles."""

    domains: tuple[str, ...] = ()
    is_author_of_the_paper: bool = False
    qualified_until: datetime | None = None


def add_user(
    name: str,
    password: str,
    *,
    roles: Collection[str],
    project: str = "",
    profile: Profile | None = None,
    by: str = "",
) -> UserRow:
    """Create an account, with roles in one project or in all.

    Args:
        name: what is typed to sign in.
        password: the password.
        roles: what the person may do.
        project: where; empty: in all projects.
        profile: its other names, and whose the password is.
        by: the pseudonym of the operator; empty: the command line.

    Raises:
        UsageError: the name is taken or too long, the password too short, a role or the project unknown.
    """
    refuse_password(password)
    known = _roles(roles)
    where = project_of(project) if project else None
    about = profile or Profile()
    key = key_of(name)
    if not key:
        raise UsageError("the name is empty; expected letters or digits")
    for text, most in (
        (name, NAME_LENGTH),
        (key, NAME_LENGTH),
        (about.shown, NAME_LENGTH),
        (about.pseudonym, MOST_PSEUDONYM),
        (about.team, NAME_LENGTH),
    ):
        if len(text) > most:
            raise UsageError(f"a name of {len(text)} characters; expected {most} at most")
    with transaction.atomic():
        if UserRow.objects.filter(key=key).exists():
            raise UsageError(f"there is already a user {name!r}; expected a new name")
        pseudonym = about.pseudonym or f"p{UserRow.objects.count() + 1:03d}"
        if UserRow.objects.filter(pseudonym=pseudonym).exists():
            raise UsageError(f"the pseudonym {pseudonym!r} is taken; give another")
        user = UserRow(
            name=name,
            key=key,
            shown=about.shown or name,
            pseudonym=pseudonym,
            created_at=current().settings.clock(),
            has_first_password=about.has_first_password,
            team=team_of(about.team),
        )
        user.set_password(password)
        user.save()
        MembershipRow.objects.create(user=user, project=where, roles=known)
        note("user-added", by=by, about=pseudonym, details={"roles": known, "project": project})
    return user


def set_roles(
    user: UserRow,
    project: ProjectRow | None,
    roles: Collection[str],
    *,
    by: str = "",
    terms: Terms | None = None,
) -> None:
    """Replace an account's roles in one project or in all.

    Args:
        user: whose.
        project: where; None: in all projects.
        roles: none of them takes the person out.
        by: the pseudonym of the operator; empty: the command line.
        terms: replaces what else is noted of the person there; None leaves it.

    Raises:
        UsageError: a role is unknown, there is none to take, or no operator would be left.
    """
    known = _roles(roles) if roles else []
    with transaction.atomic():
        row = MembershipRow.objects.select_for_update().filter(user=user, project=project).first()
        was = [] if row is None else row.roles
        if not was and not known:
            place = f"the project {project.slug}" if project else "all projects"
            raise UsageError(f"{user.name} has no role in {place}; there is nothing to remove")
        if _OPERATOR not in known:
            refuse_without_operator(user, project)
        if not known:
            row.delete()
        else:
            row = row or MembershipRow(user=user, project=project)
            row.roles = known
            if terms is not None:
                row.domains = list(terms.domains)
                row.is_author_of_the_paper = terms.is_author_of_the_paper
                row.qualified_until = terms.qualified_until
            row.save()
        if known != was:
            details = {"roles": known, "project": project.slug if project else ""}
            note("roles-changed", by=by, about=user.pseudonym, details=details)


def refuse_without_operator(user: UserRow, project: ProjectRow | None) -> None:
    """Check that an operator remains if this account stops being one; call it in the transaction.

    Accounts that are closed, or that have no password, lead nothing.

    Args:
        user: whose role would go.
        project: where; None: in all projects.

    Raises:
        UsageError: this is the last operator of the project, or of all projects.
    """
    rows = MembershipRow.objects.select_for_update().filter(user__is_active=True).select_related("user")
    places = {None, project.pk if project else None}
    leading = [
        (row.user_id, row.project_id)
        for row in rows
        if _OPERATOR in row.roles and row.project_id in places and row.user.has_usable_password()
    ]
    if leading == [(user.pk, project.pk if project else None)]:
        place = "this studio" if project is None else f"the project {project.slug}"
        raise UsageError(f"{user.name} is the last operator of {place}; make another operator first")


def set_password(user: UserRow, password: str, *, by: str = "", is_first: bool = False) -> None:
    """Change an account's password and end its sessions.

    Args:
        user: whose.
        password: the new one.
        by: the pseudonym of the operator; empty: the command line.
        is_first: whether the person has to choose another one before anything else.

    Raises:
        UsageError: the password is too short.
    """
    refuse_password(password)
    with transaction.atomic():
        user.set_password(password)
        user.has_first_password = is_first
        user.save()
        note("password-changed", by=by, about=user.pseudonym)


def first_password() -> str:
    """Draw a password that is handed out once.

    >>> len(first_password())
    16
    """
    return get_random_string(_WORD_LENGTH, _WORD_LETTERS)


def close_account(user: UserRow, *, by: str = "") -> None:
    """Close an account: its sessions end, its work stays.

    Raises:
        UsageError: it is closed already, or no operator would be left.
    """
    if not user.is_active:
        raise UsageError(f"{user.name} is already closed")
    with transaction.atomic():
        for row in user.memberships.select_related("project"):
            refuse_without_operator(user, row.project)
        user.is_active = False
        user.save(update_fields=["is_active"])
        note("account-closed", by=by, about=user.pseudonym)


def user_of(name: str) -> UserRow:
    """Return the account with a name.

    Raises:
        UsageError: there is none.
    """
    user = UserRow.objects.filter(key=key_of(name)).first()
    if user is None:
        raise UsageError(f"there is no user {name!r}; list all with: vidence studio user list")
    return user


def project_of(slug: str) -> ProjectRow:
    """Return the project with a short name.

    Raises:
        UsageError: there is none.
    """
    project = ProjectRow.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(ProjectRow.objects.values_list("slug", flat=True)) or "none"
        raise UsageError(f"there is no project {slug!r}; there are: {known}")
    return project


def refuse_password(password: str) -> None:
    """Validate a password with the validators of the settings.

    Raises:
        UsageError: one refuses it.
    """
    try:
        validate_password(password)
    except ValidationError as error:
        raise UsageError(" ".join(error.messages)) from error


def team_of(name: str) -> str:
    """Return a team's stored name: that of a known team if `key_of` gives the same."""
    known = UserRow.objects.exclude(team="").values_list("team", flat=True).distinct()
    return next((entry for entry in known if key_of(entry) == key_of(name)), " ".join(name.split()))


def key_of(name: str) -> str:
    """Normalise a name for comparison: case, surrounding blanks, and letter widths."""
    return " ".join(UserRow.normalize_username(name).casefold().split())


def person_of_user(user: UserRow) -> Person:
    """Return an account's person, with roles by project."""
    roles = {
        "" if membership.project is None else membership.project.slug: frozenset(
            cast("list[Role]", membership.roles)
        )
        for membership in user.memberships.select_related("project")
    }
    return Person(name=user.pseudonym, shown=user.shown, roles=roles, user=user)


def known_account(person: Person) -> UserRow | None:
    """Return the account under which a person writes, if it exists."""
    if isinstance(person.user, UserRow):
        return person.user
    row: UserRow | None = UserRow.objects.filter(pseudonym=person.name).first()
    return row


def account_of(person: Person) -> UserRow:
    """Return the account under which a person writes; created on first use in a studio without accounts.

    That one has no password, so no one signs in with it.
    """
    if isinstance(person.user, UserRow):
        return person.user
    row, _ = UserRow.objects.get_or_create(
        pseudonym=person.name,
        defaults={
            "name": person.name,
            "key": f"{OF_NOBODY}{person.name}",
            "shown": person.shown,
            "password": make_password(None),
            "created_at": current().settings.clock(),
        },
    )
    return row


def _roles(roles: Collection[str]) -> list[str]:
    if unknown := sorted(set(roles) - set(ROLES)):
        raise UsageError(f"there is no role {unknown[0]!r}; expected {', '.join(ROLES)}")
    if not roles:
        raise UsageError(f"no roles; expected one or more of {', '.join(ROLES)}")
    return [name for name in ROLES if name in set(roles)]
