"""Disks that take no more: told in words, to people and to scripts, and to whoever runs the server."""

import errno

import pytest
from django.db import OperationalError

from vidence.studio.middleware import CLOSED, FULL, reason


class SqliteError(Exception):
    """As SQLite's module names its errors."""

    def __init__(self, name):
        super().__init__(name)
        self.sqlite_errorname = name


class PostgresError(Exception):
    """As Postgres's driver names its errors."""

    def __init__(self, state):
        super().__init__(state)
        self.sqlstate = state


def of(cause):
    try:
        raise OperationalError("as the database said it") from cause
    except OperationalError as error:
        return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (of(SqliteError("SQLITE_FULL")), FULL),
        (of(SqliteError("SQLITE_IOERR_WRITE")), CLOSED),
        (of(SqliteError("SQLITE_READONLY_DBMOVED")), CLOSED),
        (of(SqliteError("SQLITE_BUSY")), ""),
        (of(PostgresError("53100")), FULL),
        (of(PostgresError("40001")), ""),
        (of(None), ""),
        (OSError(errno.ENOSPC, "no space"), FULL),
        (OSError(errno.EROFS, "read-only"), CLOSED),
        (OSError(errno.ENOENT, "absent"), ""),
        (OSError("without a number"), ""),
        (ValueError("another"), ""),
    ],
)
def test_what_a_disk_says_is_told_in_words(error, words):
    assert reason(error) == words


def test_a_save_that_does_not_fit_says_so_and_the_server_remembers_it(team, monkeypatch):
    from vidence.studio import training

    project = team.project("films")
    team.user("Olga", "operator", project=project.slug)
    team.user("Rita", "operator")
    client, operator = team.signed_in("Olga"), team.signed_in("Rita")
    assert "Not everything was saved" not in operator.get("/health").content.decode()

    def full(*_words, **_more):
        raise of(SqliteError("SQLITE_FULL"))

    monkeypatch.setattr(training, "add_guideline", full)
    said = {"act": "add", "source": "Write questions."}
    page = client.post("/projects/films/guidelines", said)
    assert page.status_code == 507
    assert "<h1>Not saved</h1>" in page.content.decode()
    assert FULL in page.content.decode()
    answer = client.post("/projects/films/guidelines", said, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()) == (507, {"words": FULL})
    health = operator.get("/health").content.decode()
    assert 'role="alert"' in health
    assert f"happened 2 times since the server started, last on 2026-11-23 09:00 UTC: {FULL}" in health
