"""Accounts of a team: names, passwords, roles, and how often a wrong password may be tried."""

import hashlib
import hmac
import secrets
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, cast

from django.contrib.auth.hashers import check_password, is_password_usable, make_password
from django.db import transaction

from vidence.errors import UsageError
from vidence.records import Record
from vidence.studio.access import ROLES, Person, Role
from vidence.studio.audit import note
from vidence.studio.records.fields import NAME_LENGTH
from vidence.studio.records.people import MembershipRow, ProjectRow, SignInTryRow, UserRow
from vidence.studio.settings import current

LEAST_PASSWORD: Final = 10
MOST_PASSWORD: Final = 1000
MOST_PSEUDONYM: Final = 64
FREE_TRIES: Final = 5
"""Wrong passwords for one name before each further try has to wait, twice as long each time."""
MOST_TRIES: Final = 10
"""Wrong passwords before a name is closed for `LOCKED`."""
MOST_OF_ADDRESS: Final = 100
"""Wrong passwords from one address before it is closed for `LOCKED`."""
LOCKED: Final = timedelta(minutes=15)
_OPERATOR: Final = "operator"
_FIRST: Final = "first_password"
_WORD_LETTERS: Final = "abcdefghijkmnpqrstuvwxyz23456789"  # none that is taken for another
_WORD_LENGTH: Final = 16


class Profile(Record):
    """What else is known of a new account.

    `shown` is its name on pages, `name` by default; `pseudonym` the one in files, by default the next
    that is free. With `has_first_password` the person has to choose another one before anything else.
    """

    shown: str = ""
    pseudonym: str = ""
    has_first_password: bool = False


def add_user(
    name: str,
    password: str,
    *,
    roles: Collection[str],
    project: str = "",
    profile: Profile | None = None,
    by: str = "",
) -> UserRow:
    """Make an account, with roles in one project, or in all of them.

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
    shown, pseudonym = about.shown, about.pseudonym
    key = key_of(name)
    if not key:
        raise UsageError("the name is empty; expected letters or digits")
    if longest := [one for one in (name, shown) if len(one) > NAME_LENGTH]:
        raise UsageError(f"a name of {len(longest[0])} signs; expected {NAME_LENGTH} at most")
    if len(pseudonym) > MOST_PSEUDONYM:
        raise UsageError(f"a pseudonym of {len(pseudonym)} signs; expected {MOST_PSEUDONYM} at most")
    with transaction.atomic():
        if UserRow.objects.filter(key=key).exists():
            raise UsageError(f"there is a user {name!r} already; expected a new name")
        said = pseudonym or f"p{UserRow.objects.count() + 1:03d}"
        if UserRow.objects.filter(pseudonym=said).exists():
            raise UsageError(f"the pseudonym {said!r} is taken; say another one")
        user = UserRow.objects.create(
            name=name,
            key=key,
            shown=shown or name,
            pseudonym=said,
            password=make_password(password),
            created_at=current().settings.clock(),
            settings={_FIRST: True} if about.has_first_password else {},
        )
        MembershipRow.objects.create(user=user, project=where, roles=known)
        note("user-added", by=by, about=said, details={"roles": known, "project": project})
    return user


def set_roles(name: str, roles: Collection[str], *, project: str = "", by: str = "") -> None:
    """Give an account these roles, and no other, in one project or in all; its sessions end.

    Raises:
        UsageError: there is no such user, role or project, or nobody would be left to lead.
    """
    known = _roles(roles)
    user = user_of(name)
    where = project_of(project) if project else None
    with transaction.atomic():
        if _OPERATOR not in known:
            refuse_without_operator(user, where)
        MembershipRow.objects.update_or_create(user=user, project=where, defaults={"roles": known})
        end_sessions(user)
        note("roles-changed", by=by, about=user.pseudonym, details={"roles": known, "project": project})


def take_roles(name: str, *, project: str = "", by: str) -> None:
    """Take from an account all roles that it has in one project, or in all; its sessions end.

    Raises:
        UsageError: there is no such user or project, it has none there, or nobody would be left to lead.
    """
    user = user_of(name)
    where = project_of(project) if project else None
    with transaction.atomic():
        refuse_without_operator(user, where)
        n_taken, _ = MembershipRow.objects.filter(user=user, project=where).delete()
        if not n_taken:
            place = f"the project {project}" if project else "all projects"
            raise UsageError(f"{user.name} has no role in {place}; there is nothing to take")
        end_sessions(user)
        note("roles-changed", by=by, about=user.pseudonym, details={"roles": [], "project": project})


def refuse_without_operator(user: UserRow, project: ProjectRow | None) -> None:
    """See that somebody is left who leads, where an account leads no longer; call it in the transaction.

    Accounts that are closed, or that nobody can sign in with, lead nothing.

    Args:
        user: whose role would go.
        project: where; None: in all projects.

    Raises:
        UsageError: this is the last operator of the project, or of all projects.
    """
    leading = [
        one
        for one in MembershipRow.objects.select_for_update()
        .filter(user__is_active=True)
        .select_related("user")
        if _OPERATOR in one.roles and is_password_usable(one.user.password)
    ]
    here = [
        one for one in leading if one.project_id is None or one.project_id == getattr(project, "pk", None)
    ]
    own = None if project is None else project.pk
    if not any(one.user_id == user.pk and one.project_id == own for one in here):
        return
    if all(one.user_id == user.pk and one.project_id == own for one in here):
        place = "this studio" if project is None else f"the project {project.slug}"
        raise UsageError(f"{user.name} is the last operator of {place}; make another operator first")


def set_password(name: str, password: str, *, by: str = "", is_first: bool = False) -> None:
    """Give an account another password; its sessions end.

    Args:
        name: of the account.
        password: the new one.
        by: the pseudonym of whoever does it; empty: the command line.
        is_first: whether the person has to choose another one before anything else.

    Raises:
        UsageError: there is no such user, or the password is too short.
    """
    refuse_password(password)
    user = user_of(name)
    with transaction.atomic():
        user.password = make_password(password)
        others = {name: value for name, value in user.settings.items() if name != _FIRST}
        user.settings = {**others, _FIRST: True} if is_first else others
        user.save(update_fields=["password", "settings"])
        end_sessions(user)
        SignInTryRow.objects.filter(key=_try_key("name", user.key)).delete()
        note("password-changed", by=by, about=user.pseudonym)


def choose_password(user: UserRow, before: str, password: str) -> None:
    """Let somebody choose a password in place of theirs; all their sessions end.

    Raises:
        UsageError: the one before is wrong, or the new one is the same or too short.
    """
    if not check_password(before[: MOST_PASSWORD + 1], user.password):
        raise UsageError("the password until now is wrong")
    if password == before:
        raise UsageError("the new password is the one until now; choose another")
    set_password(user.name, password, by=user.pseudonym)


def first_password() -> str:
    """A password that nobody can guess, to be handed to somebody once.

    >>> len(first_password())
    16
    """
    return "".join(secrets.choice(_WORD_LETTERS) for _ in range(_WORD_LENGTH))


def has_first_password(user: object) -> bool:
    """Whether somebody has still to choose a password of their own."""
    return isinstance(user, UserRow) and bool(user.settings.get(_FIRST))


def close_account(name: str, *, by: str = "") -> None:
    """Let nobody sign in with an account any more; its sessions end, what it did stays.

    Raises:
        UsageError: there is no such user, it is closed already, or nobody would be left to lead.
    """
    user = user_of(name)
    if not user.is_active:
        raise UsageError(f"{user.name} is closed already")
    with transaction.atomic():
        for one in user.memberships.select_related("project"):
            refuse_without_operator(user, one.project)
        user.is_active = False
        user.save(update_fields=["is_active"])
        end_sessions(user)
        note("account-closed", by=by, about=user.pseudonym)


def end_sessions(user: UserRow) -> None:
    """End all sessions of an account."""
    user.edition += 1
    user.save(update_fields=["edition"])


def user_of(name: str) -> UserRow:
    """The account of a name.

    Raises:
        UsageError: there is none.
    """
    found = UserRow.objects.filter(key=key_of(name)).first()
    if found is None:
        raise UsageError(f"there is no user {name!r}; vidence studio user list has them")
    return found


def project_of(slug: str) -> ProjectRow:
    """The project of a short name.

    Raises:
        UsageError: there is none.
    """
    found = ProjectRow.objects.filter(slug=slug).first()
    if found is None:
        known = ", ".join(ProjectRow.objects.values_list("slug", flat=True)) or "none"
        raise UsageError(f"there is no project {slug!r}; there are: {known}")
    return found


def refuse_password(password: str) -> None:
    """See that a password is long enough.

    Raises:
        UsageError: it is not.
    """
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise UsageError(
            f"a password of {len(password)} signs; expected {LEAST_PASSWORD} or more, {MOST_PASSWORD} at most"
        )


def key_of(name: str) -> str:
    """A name as it is compared: without regard to capitals and to blanks around it."""
    return " ".join(name.casefold().split())


def person_of_user(user: UserRow, memberships: Sequence[MembershipRow]) -> Person:
    """Who an account is, with its roles by project."""
    roles = {
        "" if one.project is None else one.project.slug: frozenset(cast("list[Role]", one.roles))
        for one in memberships
    }
    return Person(name=user.pseudonym, shown=user.shown, roles=roles, user=user)


def known_account(person: Person) -> UserRow | None:
    """The account under which somebody writes, where there is one already."""
    if isinstance(person.user, UserRow):
        return person.user
    found: UserRow | None = UserRow.objects.filter(pseudonym=person.name).first()
    return found


def account_of(person: Person) -> UserRow:
    """The account under which somebody writes; that of a studio without accounts is made at its first use.

    Nobody can sign in with that one: it has no password.
    """
    if isinstance(person.user, UserRow):
        return person.user
    made, _ = UserRow.objects.get_or_create(
        pseudonym=person.name,
        defaults={
            "name": person.name,
            "key": f"\n{person.name}",  # no name that somebody types has this key
            "shown": person.shown,
            "password": make_password(None),
            "created_at": current().settings.clock(),
        },
    )
    return made


def stamp(user: UserRow) -> str:
    """What a session of an account holds: it fits no longer once its password or a role has changed."""
    said = f"{user.public}|{user.edition}|{user.password}"
    return hmac.new(current().secret, b"session" + said.encode(), hashlib.sha256).hexdigest()


def with_stamp(public: str, said: str) -> UserRow | None:
    """The account of a session, where it may still be used."""
    user: UserRow | None = UserRow.objects.filter(public=public, is_active=True).first()
    return user if user is not None and hmac.compare_digest(stamp(user), said) else None


def try_password(name: str, password: str, *, address: str) -> UserRow | float | None:
    """The account, where the password is right; None where it is not; or how many seconds to wait first.

    A name that nobody has is treated as one that somebody has, in words and in time. The try is counted
    before the password is looked at, so that tries at the same time are counted as well.
    """
    key = key_of(name)[:MOST_PASSWORD]
    tries = [_try_key("name", key), _try_key("address", address)]
    now = current().settings.clock()
    with transaction.atomic():
        rows = [_row_of(one, now) for one in tries]
        wait_s = max(_wait_s(rows[0], now, most=MOST_TRIES), _wait_s(rows[1], now, most=MOST_OF_ADDRESS))
        if wait_s > 0:
            return wait_s
        for row in rows:
            row.n_failed += 1
            row.last_at = now
            row.save()
    user = UserRow.objects.filter(key=key, is_active=True).first()
    is_right = _is_right(password[: MOST_PASSWORD + 1], user)
    with transaction.atomic():
        if user is None or not is_right:
            note("sign-in-refused", details={"n_failed": rows[0].n_failed})
            return None
        SignInTryRow.objects.filter(key=tries[0]).delete()
        _take_back(tries[1])
        note("signed-in", by=user.pseudonym)
    return user


def _is_right(password: str, user: UserRow | None) -> bool:
    if user is None:
        make_password(password)  # takes as long as looking one up
        return False
    return bool(check_password(password, user.password))


def _row_of(key: str, now: datetime) -> Any:  # noqa: ANN401 - a row of Django
    row, _ = SignInTryRow.objects.select_for_update().get_or_create(key=key, defaults={"last_at": now})
    if now - row.last_at >= LOCKED:
        row.n_failed = 0
    return row


def _wait_s(row: SignInTryRow, now: datetime, *, most: int) -> float:
    """How long the next try has to wait; the last one counts from the time it was made."""
    since_s = (now - row.last_at).total_seconds()
    if row.n_failed >= most:
        return float(LOCKED.total_seconds() - since_s)
    if most == MOST_OF_ADDRESS or row.n_failed < FREE_TRIES:
        return 0.0
    return float(max(0.0, 2.0 ** (row.n_failed - FREE_TRIES) - since_s))


def _take_back(key: str) -> None:
    row = SignInTryRow.objects.select_for_update().get(key=key)
    row.n_failed = max(0, row.n_failed - 1)
    row.save()


def _try_key(kind: str, said: str) -> str:
    return hmac.new(current().secret, f"{kind}|{said}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def _roles(roles: Collection[str]) -> list[str]:
    if unknown := sorted(set(roles) - set(ROLES)):
        raise UsageError(f"there is no role {unknown[0]!r}; expected {', '.join(ROLES)}")
    if not roles:
        raise UsageError(f"no roles; expected one or more of {', '.join(ROLES)}")
    return [one for one in ROLES if one in set(roles)]
