"""Who asks: one process for each key, and another one when that is gone."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from vidence.engine.memory import LEASE_S, Memory
from vidence.records import Reply

KEY = b"k" * 32
ELSEWHERE = "UPDATE owners SET home = 'another machine'"


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()


def n_rows(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as db:
        found: int = db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        return found


def test_one_asks_and_a_reply_ends_its_lease(tmp_path: Path):
    path = tmp_path / "replies.sqlite"
    with Memory(path) as one, Memory(path) as two:
        assert one.claim(KEY)
        assert not two.claim(KEY)
        assert two.claim(b"another")
        one.put(KEY, Reply(text="yes"))
        assert not two.claim(KEY)
        assert two.get(KEY) == Reply(text="yes")
    assert n_rows(path, "leases") == n_rows(path, "owners") == 0


def test_a_lease_that_is_let_go_of_can_be_taken(tmp_path: Path):
    path = tmp_path / "replies.sqlite"
    with Memory(path) as one, Memory(path) as two:
        assert one.claim(KEY)
        one.release(KEY)
        one.release(KEY)
        assert two.claim(KEY)
        one.release(KEY)
        assert not one.claim(KEY)
        two.close()
        assert one.claim(KEY)


def test_a_lease_from_another_machine_ends_after_its_time(tmp_path: Path):
    path, now_s = tmp_path / "replies.sqlite", [1000.0]
    with Memory(path, clock=lambda: now_s[0]) as one, Memory(path, clock=lambda: now_s[0]) as two:
        assert one.claim(KEY)
        change(path, ELSEWHERE)
        now_s[0] += LEASE_S - 1
        assert not two.claim(KEY)
        one._beat()  # it is still there
        now_s[0] += LEASE_S - 1
        assert not two.claim(KEY)
        now_s[0] += 2
        assert two.claim(KEY)


@pytest.mark.parametrize("offset_s", [-10_000.0, 10_000.0])
def test_a_clock_that_was_set_keeps_nobody_waiting(tmp_path: Path, offset_s: float):
    path, now_s = tmp_path / "replies.sqlite", [50_000.0]
    with Memory(path, clock=lambda: now_s[0]) as one, Memory(path, clock=lambda: now_s[0]) as two:
        assert one.claim(KEY)
        change(path, ELSEWHERE)
        now_s[0] += offset_s
        assert two.claim(KEY)


@pytest.mark.skipif(os.name != "posix", reason="the number of a process says nothing there")
def test_a_process_of_this_machine_that_is_gone_keeps_nobody_waiting(tmp_path: Path):
    path = tmp_path / "replies.sqlite"
    script = (
        "import os, sys; from pathlib import Path; from vidence.engine.memory import Memory\n"
        "memory = Memory(Path(sys.argv[1])); assert memory.claim(b'k' * 32); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode == 9
    assert n_rows(path, "leases") == 1
    with Memory(path) as memory:
        assert memory.claim(KEY)
        assert n_rows(path, "owners") == 2  # the other one is cleared away when its time is over
