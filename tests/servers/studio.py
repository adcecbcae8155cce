"""The studio inside the process of a test: its pages asked without a server, in any of its modes.

Django can be set up once in a process. `configured` does it for all tests of one; `studio` puts the settings
of one studio in their place for a while, and takes back what was written in it.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from vidence.studio.commands.studio import DATABASE_VARIABLE
from vidence.studio.settings import Mode, Studio, StudioSettings, Ticket

SECRET = b"s" * 32
PASSWORD = "correct horse battery"  # noqa: S105 - of tests
TICKET = "the-word-of-the-address"
_STAYS = ("DATABASES", "INSTALLED_APPS", "TEMPLATES", "STUDIO", "CACHES")


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.time += timedelta(seconds=seconds)


@cache
def configured() -> object:
    """Django, set up for a database in a folder of its own; the application. Then tables can be imported."""
    from vidence.studio.app import configure

    folder = Path(tempfile.mkdtemp(prefix="vidence-studio-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    database = os.environ.get(DATABASE_VARIABLE, "")  # an empty one of Postgres, to try the same on it
    application = configure(StudioSettings(mode="team", data=folder, database=database), secret=SECRET)
    from django.db import connections

    atexit.register(connections.close_all)
    return application


@cache
def _with_tables() -> None:
    from vidence.studio.upkeep import migrate

    configured()
    migrate()


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A studio of a test."""

    settings: StudioSettings
    clock: Clock

    def client(self, **more: Any) -> Any:
        """A browser that has not signed in."""
        from django.test import Client

        return Client(SERVER_NAME="127.0.0.1", **more)

    def user(self, name: str, *roles: str, project: str = "") -> Any:
        """A new account."""
        from vidence.studio.accounts import add_user

        return add_user(name, PASSWORD, roles=roles, project=project)

    def signed_in(self, name: str = "", **more: Any) -> Any:
        """A browser that is let in: under a name, or by the printed address."""
        client = self.client(**more)
        if self.settings.mode == "team":
            done = client.post("/sign-in", {"username": name, "password": PASSWORD})
        else:
            done = client.get("/enter", {"ticket": TICKET})
        assert done.status_code == 302, done.content
        return client

    def project(self, slug: str = "films", protocol: str = "mmvu") -> Any:
        """A new project."""
        from vidence.studio.projects import add_project

        return add_project(slug, protocol)


def under(project: Any, source: str) -> None:
    """Put a project under other rules."""
    from vidence.make.review.protocol import digest
    from vidence.studio.records.people import ProtocolRow

    words = {"title": "Other rules", "source": source, "added_at": project.created_at}
    project.protocol, _ = ProtocolRow.objects.get_or_create(sha256=digest(source.encode()), defaults=words)
    project.save()


@contextmanager
def studio(mode: Mode, data: Path, **more: Any) -> Iterator[Tried]:
    """A studio for one test."""
    _with_tables()
    from django.conf import settings as django_settings
    from django.core.cache import caches
    from django.db import transaction
    from django.test import override_settings

    from vidence.studio.app import settings_of_django

    clock = Clock()
    # The clock stands still, so all of a test is sent in one minute.
    told = {"clock": clock, "most_changes_a_minute": 10**6, **more}
    settings = StudioSettings(mode=mode, data=data, **told)
    made = Studio(settings=settings, secret=SECRET, ticket=Ticket(TICKET if mode != "team" else ""))
    # What is as it was stays: Django would read its templates and addresses again for each test.
    changed = {
        name: value
        for name, value in settings_of_django(made).items()
        if name not in _STAYS and getattr(django_settings, name, None) != value
    }
    changed["PASSWORD_HASHERS"] = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with override_settings(STUDIO=made, **changed), transaction.atomic():
        yield Tried(settings=settings, clock=clock)
        transaction.set_rollback(True)
    for one in caches.all():
        one.clear()
