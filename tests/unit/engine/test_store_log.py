"""Logs are brought to the disk once a second, and nobody waits for it."""

import errno
import os
import time
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from subjects.viewed import TRIALS
from vidence.engine.store import BriefRow, LogSync, TrialRow
from vidence.errors import StoreError
from vidence.records import Prompt


def wait_for(done, patience_s=20.0):
    end_s = time.monotonic() + patience_s
    while not done():
        assert time.monotonic() < end_s
        time.sleep(0.005)


@pytest.fixture
def synced(monkeypatch):
    """What was synced: the size of each file then."""
    sizes = []
    monkeypatch.setattr(LogSync, "EVERY_S", 0.01)
    monkeypatch.setattr(os, "fsync", lambda file: sizes.append(os.fstat(file).st_size))
    return sizes


def test_a_log_is_synced_when_it_has_grown_and_once_more_at_the_end(tmp_path: Path, synced):
    log = tmp_path / "a-wal"
    beats = []
    with closing(LogSync(log)) as one:
        one.beat = lambda: beats.append(1)
        one.check()
        wait_for(lambda: len(beats) > 2)  # there is no log yet
        assert synced == []
        log.write_bytes(b"12")
        wait_for(lambda: synced)
        n = len(beats)
        wait_for(lambda: len(beats) > n + 2)
        assert synced == [2]
        one._stopping.set()
        wait_for(lambda: not one._thread.is_alive())
        log.write_bytes(b"123")
    assert synced[0] == 2


def test_the_last_rows_are_synced_when_it_closes(tmp_path: Path, synced, monkeypatch):
    monkeypatch.setattr(LogSync, "EVERY_S", 1000.0)
    (tmp_path / "a-wal").write_bytes(b"1")
    with closing(LogSync(tmp_path / "a-wal")) as one:
        one.check()
    assert synced == [1]


def test_a_disk_that_fails_is_said_and_too_many_files_are_waited_for(tmp_path: Path, synced, monkeypatch):
    (tmp_path / "a-wal").write_bytes(b"1")
    opened, tries = os.open, []

    def busy(*arguments: object) -> int:
        tries.append(1)
        if len(tries) < 3:
            raise OSError(errno.EMFILE, "Too many open files")
        return opened(*arguments)

    def broken(file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "open", busy)
    with closing(LogSync(tmp_path / "a-wal")) as one:
        one.check()
        wait_for(lambda: synced)
        monkeypatch.setattr(os, "fsync", broken)
        (tmp_path / "a-wal").write_bytes(b"12")
        wait_for(lambda: one._error is not None)
        with pytest.raises(StoreError, match=r"a-wal could not be written to the disk: .*Input/output error"):
            one.check()


def test_a_row_is_the_trial_without_its_names_and_a_brief_one_lacks_the_words():
    one = TRIALS[0]
    fields = {name: getattr(one, name) for name in TrialRow.__struct_fields__}
    json = msgspec.json.encode(TrialRow(**fields))
    assert msgspec.json.decode(json, type=TrialRow).trial("q1", 0, one.selection) == one
    brief = msgspec.json.decode(json, type=BriefRow).trial("q1", 0, None)
    assert brief.prompt == Prompt(parts=())
    assert brief.reply == one.reply
