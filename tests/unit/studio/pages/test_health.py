"""The state of the server, as operators see it."""

import os
import sqlite3
from contextlib import closing

import pytest
from django.db import connection

from vidence.studio.records.work import AuditEventRow
from vidence.studio.upkeep import BACKUPS


def test_database_copies_disk_and_what_waits_and_an_old_copy_is_warned_of(team):
    team.user("Olga", "operator")
    client = team.signed_in("Olga")
    page = client.get("/health").content.decode()
    for said in ("at 00", "free of", "items waiting for a reviewer", "5.2"):
        assert said in page, said
    if connection.vendor == "sqlite":
        assert "journal_mode = wal" in page
        assert "vidence studio backup" in page
    folder = team.settings.data / BACKUPS
    folder.mkdir()
    copy = folder / "studio-20261101T000000_000000Z.sqlite3"
    copy.write_bytes(b"x" * 2048)
    for days, is_old in ((6, False), (8, True)):
        at = team.clock().timestamp() - days * 86400
        os.utime(copy, (at, at))
        page = client.get("/health").content.decode()
        assert copy.name in page
        assert ("older than seven days" in page) == is_old


def test_copies_are_warned_of_opened_and_read(team):
    team.user("Olga", "operator")
    client = team.signed_in("Olga")
    assert "when it was made" in client.get("/health").content.decode()
    folder = team.settings.data / BACKUPS
    folder.mkdir()
    copy = folder / "studio-20261101T000000_000000Z.sqlite3"
    copy.write_bytes(b"no database" * 500)
    if connection.vendor == "sqlite":
        assert client.post("/health").status_code == 302
        page = client.get("/health").content.decode()
        assert "damaged: " in page
        assert AuditEventRow.objects.filter(kind="copy-damaged", about=copy.name).count() == 1
    if connection.vendor != "sqlite":
        pytest.skip("copies are made of SQLite")
    copy.unlink()
    live = sqlite3.connect(connection.settings_dict["NAME"])
    with closing(live), closing(sqlite3.connect(folder / "studio-1.sqlite3")) as copy:
        live.backup(copy)
    assert client.post("/health").status_code == 302
    assert "sound, " in client.get("/health").content.decode()
