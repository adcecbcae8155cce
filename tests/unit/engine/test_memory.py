"""Replies that were asked before: under which key, in one file for all processes, asked by one at a time."""

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from vidence.contracts import Request
from vidence.engine.memory import LEASE_S, Memory, memory_key
from vidence.errors import StoreError
from vidence.records import ImagePart, Prompt, Reply, Sampling, TextPart, VideoPart

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


def test_a_memory_that_somebody_holds_too_long_says_so(tmp_path: Path):
    path = tmp_path / "replies.sqlite"
    with Memory(path) as one, Memory(path) as two:
        two._db.execute("PRAGMA busy_timeout = 50")
        one._db.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked; another process holds it"):
            two.put(b"k", Reply(text="A"))
        one._db.execute("COMMIT")
        two.put(b"k", Reply(text="A"))


def test_two_processes_share_one_memory_under_load(tmp_path: Path):
    path = tmp_path / "replies.sqlite"
    script = """
import sys
from pathlib import Path
from vidence.records import Reply
from vidence.engine.memory import Memory
with Memory(Path(sys.argv[1])) as memory:
    for n in range(300):
        memory.put(f"{sys.argv[2]}{n}".encode(), Reply(text=str(n)))
        memory.put(f"shared{n}".encode(), Reply(text=sys.argv[2]))
"""
    writers = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in ("one", "two")]
    assert [w.wait(timeout=60) for w in writers] == [0, 0]
    with Memory(path) as memory:
        assert all(
            memory.get(f"{w}{n}".encode()) == Reply(text=str(n)) for w in ("one", "two") for n in range(300)
        )
        assert {memory.get(f"shared{n}".encode()).text for n in range(300)} <= {"one", "two"}
        (n_kept,) = memory._db.execute("SELECT COUNT(*) FROM replies").fetchone()
    assert n_kept == 900


def test_memory_waits_for_process_that_makes_the_file(tmp_path: Path):
    path = tmp_path / "replies.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as maker:
        maker.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
        maker.execute("BEGIN IMMEDIATE")  # SQLite refuses the change of the log at once, whatever its timeout
        ends = threading.Timer(0.3, lambda: maker.execute("DROP TABLE meta") and maker.execute("COMMIT"))
        ends.start()
        with Memory(path) as memory:
            memory.put(b"k", Reply(text="A"))
            assert memory.get(b"k") == Reply(text="A")
        ends.join()


def request(
    *parts: TextPart | ImagePart | VideoPart, item_id: str = "q0", template: str = "", sample: int = 0
) -> Request:
    prompt = Prompt(parts=parts, choices=("x", "y"), template=template)
    return Request(item_id=item_id, prompt=prompt, sampling=Sampling(), sample=sample)


IMAGE = ImagePart(digest="d1", width_px=4, height_px=3)


def test_the_key_is_what_is_sent():
    def key(r: Request, identity: str = "m") -> bytes:
        return memory_key(r, identity=identity, by_item=False)

    base = key(request(IMAGE, TextPart(text="Who?")))
    moved = ImagePart(digest="d1", width_px=9, height_px=9, frames=(7,))
    assert key(request(moved, TextPart(text="Who?"), item_id="q9", template="other")) == base
    different = [
        key(request(TextPart(text="Who?"), IMAGE)),
        key(request(IMAGE, TextPart(text="Who? "))),
        key(request(msgspec.structs.replace(IMAGE, digest="d2"), TextPart(text="Who?"))),
        key(request(msgspec.structs.replace(IMAGE, media_type="image/png"), TextPart(text="Who?"))),
        key(request(VideoPart(path="a", digest="d1"), TextPart(text="Who?"))),
        key(request(VideoPart(path="a", digest="d1", media_type="video/webm"), TextPart(text="Who?"))),
        key(request(IMAGE, TextPart(text="Wh"), TextPart(text="o?"))),
        key(request(IMAGE, TextPart(text="Who?"), sample=1)),
        key(request(IMAGE, TextPart(text="Who?")), identity="n"),
        memory_key(request(IMAGE, TextPart(text="Who?")), identity="m", by_item=True),
    ]
    assert len({base, *different}) == len(different) + 1
    assert len({memory_key(request(item_id=i), identity="m", by_item=True) for i in ("q0", "q1")}) == 2


def test_every_way_of_drawing_and_the_system_prompt_count_and_choices_where_they_are_read():
    plain = request(TextPart(text="Who?"))

    def key(*, logps: bool = False, sampling: Sampling | None = None, **changes: object) -> bytes:
        sampling = sampling or Sampling(want_choice_logps=logps)
        prompt = msgspec.structs.replace(plain.prompt, **changes)
        return memory_key(replace(plain, prompt=prompt, sampling=sampling), identity="m", by_item=False)

    ways = {"temperature": None, "top_p": 0.5, "max_tokens": 9, "seed": 1, "want_choice_logps": True}
    drawn = [key(sampling=Sampling(**{field: value})) for field, value in ways.items()]
    assert len({key(), *drawn}) == 1 + len(ways)

    assert key(system="Be brief.") != key()
    assert key(choices=("x", "y", "z")) == key()
    assert key(choices=("x", "y", "z"), logps=True) != key(logps=True)


def test_what_an_earlier_version_remembered_is_found():
    # The keys that revision 03e2a47 made.
    plain = request(TextPart(text="Who?"))
    letters = replace(plain, sampling=Sampling(want_choice_logps=True))
    earlier = (
        "029fc657926f5dbd31566c6aaf07ce9a2e61e2520c5be887d8181c6684dc6d1e",
        "2069f01acd24b593639309315a22edbd965c2fe36fd823aaedd07575a49b297b",
    )
    assert [memory_key(r, identity="m", by_item=False).hex() for r in (plain, letters)] == [*earlier]


def test_two_memories_share_one_file(tmp_path: Path):
    path = tmp_path / "deep" / "replies.sqlite"
    with Memory(path) as one, Memory(path) as two:
        one.put(b"k", Reply(text="first"))
        two.put(b"k", Reply(text="second"))
        assert one.get(b"k") == two.get(b"k") == Reply(text="first")
        assert two.get(b"unknown") is None


def test_a_memory_that_cannot_be_made_says_where(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot make"):
        Memory(tmp_path / "file" / "replies.sqlite")


def test_another_schema_is_another_key_in_whatever_order_it_is_written():
    def key(schema: dict[str, object] | None) -> bytes:
        asked = request(TextPart(text="Who?"))
        prompt = msgspec.structs.replace(asked.prompt, reply_schema=schema)
        return memory_key(replace(asked, prompt=prompt), identity="m", by_item=False)

    schemas = (None, {}, {"type": "object"}, {"type": "string"}, {"type": "object", "required": ["score"]})
    assert len({key(schema) for schema in schemas}) == len(schemas)
    assert key({"a": 1, "b": {"c": 2, "d": 3}}) == key({"b": {"d": 3, "c": 2}, "a": 1})


def test_a_memory_of_an_earlier_version_gets_the_tables_it_lacks(tmp_path: Path):
    path = tmp_path / "replies.sqlite"
    with Memory(path) as memory:
        memory.put(b"k", Reply(text="A"))
    with closing(sqlite3.connect(path)) as db:  # as it was before runs told each other what they ask
        db.executescript("DROP TABLE owners; DROP TABLE leases")
    with Memory(path) as memory:
        assert memory.get(b"k") == Reply(text="A")
        assert memory.claim(b"other")
