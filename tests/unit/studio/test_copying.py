"""Copies that are made by themselves: when they are due, checked, told, and not kept without end."""

import os
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from django.db import connection

from vidence.errors import StoreError
from vidence.studio import copying
from vidence.studio.copying import MOST, copy_when_due, keep_copying
from vidence.studio.records.work import AuditEventRow
from vidence.studio.settings import current
from vidence.studio.upkeep import BACKUPS, Copied

DAY = timedelta(days=1)


@pytest.fixture
def copied(monkeypatch):
    """Copies of nothing: a test holds a transaction open, in which SQLite copies nothing."""

    def made(data, *, to, at):
        to.parent.mkdir(exist_ok=True)
        to.write_bytes(b"copy")
        os.utime(to, (at.timestamp(), at.timestamp()))
        return Copied(path=to, n_rows={"itemrow": 3, "userrow": 4})

    monkeypatch.setattr(copying, "backup", made)


def test_a_copy_is_due_once_the_newest_one_is_old(team, copied):
    at, data = team.clock(), team.settings.data
    first = copy_when_due(data, every=DAY, at=at)
    assert first.name == "studio-20261123T090000_000000Z-by-itself.sqlite3"
    assert copy_when_due(data, every=DAY, at=at + DAY - timedelta(seconds=1)) is None
    assert copy_when_due(data, every=DAY, at=at + DAY) is not None
    told = AuditEventRow.objects.filter(kind="copy-sound").order_by("number").first()
    assert (told.about, told.details) == (first.name, {"fault": "", "n_rows": 7})
    team.user("Olga", "operator")
    page = team.signed_in("Olga").get("/health").content.decode()
    assert "sound, 7 rows" in page
    assert "-by-itself.sqlite3" in page


def test_the_oldest_go_and_those_that_somebody_asked_for_stay(team, copied):
    data, at = team.settings.data, team.clock()
    own = data / BACKUPS / "studio-20200101T000000_000000Z.sqlite3"
    own.parent.mkdir()
    own.touch()
    os.utime(own, (0, 0))
    made = [copy_when_due(data, every=DAY, at=at + n * DAY) for n in range(MOST + 3)]
    assert sorted(own.parent.iterdir()) == [own, *made[3:]]


def test_the_page_says_how_often(team):
    if connection.vendor != "sqlite":
        pytest.skip("copies are made of SQLite")
    team.user("Olga", "operator")
    client = team.signed_in("Olga")
    assert "<dt>Copies by themselves</dt><dd>none</dd>" in client.get("/health").content.decode()


def test_a_copy_that_cannot_be_made_is_told_and_tried_again(team, monkeypatch):
    over, tried = Event(), []

    def fails(data, *, every, at):
        tried.append(at)
        if len(tried) == 2:
            over.set()
        raise StoreError("there is no room")

    monkeypatch.setattr(copying, "copy_when_due", fails)
    keep_copying(team.settings.data, every=DAY, over=over, looks_s=0.01)()
    assert over.wait(30)
    assert tried[0] == datetime(2026, 11, 23, 9, tzinfo=UTC)
    trouble = current().troubles.last
    assert trouble.words == "the database could not be copied: there is no room"
