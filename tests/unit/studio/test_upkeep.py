"""The database: brought up to date, copied and checked; the key of a team."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vidence.errors import StoreError, UsageError
from vidence.studio import upkeep
from vidence.studio.upkeep import (
    count_tables,
    migrate,
    refuse_unsafe_database,
    refuse_unsafe_folder,
    restore,
    secret_of,
    verify,
    without_studio,
)


def test_bringing_it_up_to_date_twice_changes_nothing(team):
    from django.core.management import call_command
    from django.db import connection

    call_command("makemigrations", "studio", check_changes=True, dry_run=True, verbosity=0)
    before = count_tables(connection)
    migrate()
    assert count_tables(connection) == before
    assert list(verify()) == []
    team.user("Ada", "author")
    found = count_tables(connection)
    assert (found["userrow"], found["membershiprow"], found["itemrow"]) == (1, 1, 0)


def test_a_database_of_a_later_version_is_refused(team):
    from django.db import connection
    from django.db.migrations.recorder import MigrationRecorder

    MigrationRecorder(connection).record_applied("studio", "0999_later")
    with pytest.raises(StoreError, match=r"studio\.0999_later.*by a later vidence; update it"):
        migrate()


def of_sqlite():
    """Skip where the tests were given a database of Postgres."""
    from django.db import connection

    if connection.vendor != "sqlite":
        pytest.skip("of SQLite")


def test_sqlite_in_another_mode_is_refused(team):
    from django.db import connection

    of_sqlite()
    refuse_unsafe_database(connection)
    connection.transaction_mode = None
    try:
        for start in (lambda: refuse_unsafe_database(connection), migrate):
            with pytest.raises(StoreError, match="take a local one"):
                start()
    finally:
        connection.transaction_mode = "IMMEDIATE"


@pytest.mark.parametrize(
    "said", [{"journal_mode": "delete"}, {"synchronous": "1"}, {"foreign_keys": "0"}], ids=str
)
def test_a_disk_that_refuses_what_sqlite_is_told_ends_the_start(team, monkeypatch, said):
    of_sqlite()
    usual = upkeep.mode_of
    monkeypatch.setattr(upkeep, "mode_of", lambda connection: usual(connection) | said)
    with pytest.raises(StoreError, match="may lie on a network disk"):
        migrate()


@pytest.mark.parametrize(
    ("kind", "is_network"),
    [
        ("nfs4", True),
        ("cifs", True),
        ("fuse.sshfs", True),
        ("9p", True),
        ("ext4", False),
        ("fuse.ext", False),
    ],
)
def test_a_folder_on_a_network_is_refused(tmp_path, kind, is_network):
    data = tmp_path / "a team"
    data.mkdir()
    mounts = tmp_path / "mounts"
    where = str(data).replace(" ", r"\040")
    mounts.write_text(f"root / overlay rw 0 0\nfar:/x {where} {kind} rw,relatime 0 0\n")
    refuse_unsafe_folder(data, has_database=False, mounts=mounts)
    refuse_unsafe_folder(data, has_database=True, mounts=tmp_path / "absent")
    refuse_unsafe_folder(tmp_path, has_database=True, mounts=mounts)
    if not is_network:
        refuse_unsafe_folder(data, has_database=True, mounts=mounts)
        return
    with pytest.raises(StoreError, match=rf"lies on a network \({kind}\), where SQLite's locks do not hold"):
        refuse_unsafe_folder(data, has_database=True, mounts=mounts)


def test_a_folder_that_cannot_be_written_is_refused():
    """A folder of the system into which nobody writes files."""
    data = Path("/proc/sys")
    if os.access(data, os.W_OK):
        pytest.skip(f"{data} can be written here")
    with pytest.raises(StoreError, match="is not writable: it is mounted read-only, or belongs to another"):
        refuse_unsafe_folder(data, has_database=False)


def test_the_key_is_made_once_for_its_owner_and_copies_are_put_into_empty_places(tmp_path):
    found = secret_of(tmp_path)
    assert secret_of(tmp_path) == found
    assert len(found) == 32
    path = tmp_path / "keys" / "secret"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.chmod(0o640)
    with pytest.raises(StoreError, match="others can read"):
        secret_of(tmp_path)
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(StoreError, match="too short"):
        secret_of(tmp_path)
    without_studio(tmp_path / "absent")
    (tmp_path / "full").mkdir()
    without_studio(tmp_path / "full")
    (tmp_path / "full" / "a").touch()
    with pytest.raises(UsageError, match="is not empty"):
        without_studio(tmp_path / "full")


def test_a_state_or_column_that_transitions_do_not_lead_to_is_named(team):
    from vidence.studio.projects import add_items
    from vidence.studio.records.items import ItemRow

    add_items(team.project(), ["q1"], kinds={})
    assert list(verify()) == []
    (before,) = ItemRow.objects.values("state", "writer", "is_disputed", "claims")
    for column in ({"state": "accepted"}, {"writer": "p009"}, {"is_disputed": True}, {"claims": '["p009"]'}):
        ItemRow.objects.update(**before | column)
        state = column.get("state", "drafting")
        assert list(verify()) == [f"q1 says {state}, and its transitions lead to drafting"]


def test_a_copy_that_cannot_be_made_is_said(team, tmp_path):
    from vidence.studio.upkeep import backup

    of_sqlite()
    there = tmp_path / "there.sqlite3"
    there.touch()
    with pytest.raises(UsageError, match="expected a new file"):
        backup(tmp_path, to=there, at=team.clock())
    with pytest.raises(StoreError, match="cannot be written"):  # the test holds a transaction open
        backup(tmp_path, to=tmp_path / "new.sqlite3", at=team.clock())
    assert Path(there).exists()


@pytest.mark.parametrize("content", [b"no database", b""])
def test_what_is_no_copy_is_not_restored(team, tmp_path, content):
    of_sqlite()
    copy = tmp_path / "copy.sqlite3"
    copy.write_bytes(content)
    with pytest.raises(StoreError, match="is not a copy of a studio"):
        restore(tmp_path / "new", copy)
    assert not (tmp_path / "new").exists()


def test_of_processes_that_start_together_each_finds_the_database_made(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom vidence.studio.app import configure\n"
        "from vidence.studio.settings import StudioSettings\nfrom vidence.studio.upkeep import migrate\n"
        "configure(StudioSettings(mode='view', data=Path(sys.argv[1])))\nmigrate()\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, tmp_path], stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1] for process in started]
    assert [(process.returncode, words) for process, words in zip(started, said, strict=True)] == [
        (0, "")
    ] * 2
