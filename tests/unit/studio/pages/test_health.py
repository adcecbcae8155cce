"""The state of the server, as operators see it."""

import os

from django.db import connection

from vidence.studio.audit import note
from vidence.studio.upkeep import BACKUPS


def test_database_copies_disk_and_what_waits(team):
    team.user("Olga", "operator")
    client = team.signed_in("Olga")
    page = client.get("/health").content.decode()
    for said in ("at 00", "free of", "items that wait for a reviewer", "5.2"):
        assert said in page, said
    if connection.vendor == "sqlite":
        assert "journal_mode = wal" in page
        assert "vidence studio backup" in page
    assert "none is noted" in page


def test_an_old_copy_is_warned_of(team):
    team.user("Olga", "operator")
    client = team.signed_in("Olga")
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


def test_a_check_of_a_restored_copy_is_shown(team):
    team.user("Olga", "operator")
    note("restore-checked", about="studio-20261101.sqlite3")
    assert "restore-checked studio-20261101.sqlite3" in team.signed_in("Olga").get("/health").content.decode()
