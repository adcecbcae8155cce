"""The studio's database: SQLite or Postgres, and its settings."""

import logging
import os
from typing import Final
from urllib.parse import unquote, urlsplit

from vidence.errors import StoreError, UsageError
from vidence.installation import adding
from vidence.media.whole import PRIVATE, make_private, make_private_file
from vidence.studio.settings import StudioSettings

SQLITE_FILE: Final = "studio.sqlite3"
LOCK_FILE: Final = "starting.sqlite3"
"""Lock held during migrations."""
OTHERS: Final = 0o077
"""Permissions of group and others."""
_WAIT_S = 20


class Router:
    """Keeps Django's tables of permissions and sessions out: roles by project and cookies stand for them."""

    def allow_migrate(self, _database: str, app_label: str, **_more: object) -> bool | None:
        """Return False for an application without tables here."""
        return False if app_label in ("auth", "contenttypes", "sessions") else None


def database(settings: StudioSettings) -> dict[str, object]:
    """Return Django's database settings.

    Note [immediate transactions]: a transaction that reads first and writes then fails with "database is
    locked" whenever another wrote in between, however long it is ready to wait. SQLite's immediate
    transactions take the lock at their beginning, and wait for it.

    Raises:
        UsageError: the address is none of Postgres, or its driver is not installed.
    """
    if settings.database:
        return _postgres(settings.database)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": settings.data / SQLITE_FILE,
        "OPTIONS": {
            "timeout": _WAIT_S,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; "
            "PRAGMA secure_delete=ON;",
        },
    }


def keep_private(settings: StudioSettings) -> None:
    """Restrict a studio's folder and databases to this user, whatever the umask.

    SQLite gives what it writes beside a file the rights of that file.

    Raises:
        StoreError: the folder belongs to another user.
    """
    data = settings.data
    make_private(data)
    try:
        if os.name == "posix" and data.stat().st_mode & OTHERS:
            data.chmod(0o700)
            logging.getLogger(__name__).warning(
                "%s: others could read it; its permissions are now restricted", data
            )
        for name in (SQLITE_FILE, LOCK_FILE) if not settings.database else ():
            make_private_file(data / name)
        for path in data.glob("*.sqlite3*"):
            path.chmod(PRIVATE)
    except PermissionError as error:
        raise StoreError(
            f"{data}: others can read it, and it belongs to another user; expected a folder of your own"
        ) from error


def _postgres(address: str) -> dict[str, object]:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise UsageError("the address of the database is not valid; expected postgres://…") from error
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme not in ("postgres", "postgresql") or not name:
        raise UsageError(
            f"a database {parts.scheme or 'without a scheme'!r}; expected postgres://USER:PASSWORD@HOST/NAME "
            "or none, which is SQLite"
        )
    try:
        import psycopg  # noqa: F401 - whether it is there
    except ImportError as error:
        raise UsageError(f"no driver for Postgres; add it with: {adding('studio-postgres')}") from error
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {},
    }
