"""Trials and replies on disk: nothing acknowledged is lost, nothing foreign is read."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from vidence.contracts import Request
from vidence.errors import StoreError
from vidence.records import (
    Answered,
    Failed,
    FrameRef,
    ImagePart,
    Item,
    Prompt,
    Reply,
    Sampling,
    Score,
    Selection,
    TextPart,
    Trial,
    VideoPart,
)
from vidence.running.store import Memory, TrialStore, memory_key

ITEMS = tuple(
    Item(item_id=f"q{i}", question="?", choices=("x", "y"), answer="A", tags={"task": "t"}) for i in range(3)
)
RIGHT = Score(outcome=Answered(answer="A"), value=1.0, scorer="robust", scorer_version=1)
LOST = Score(
    outcome=Failed(stage="model", error="TransientModelError", message="500"),
    value=0.0,
    scorer="robust",
    scorer_version=1,
)
SHOWN = Selection(
    selector="midpoints", version=1, frames=(FrameRef(frame_index=3, time_s=0.1),), n_candidates=30
)


def trial(item_id: str, score: Score = RIGHT, repeat: int = 0) -> Trial:
    return Trial(
        item_id=item_id,
        repeat=repeat,
        selection=SHOWN,
        prompt=Prompt(parts=(ImagePart(digest="ab", width_px=4, height_px=3), TextPart(text="Who?"))),
        reply=Reply(text="A 😀 \x00 é"),
        score=score,
    )


def test_trials_come_back_as_they_were_in_the_order_of_the_questions(tmp_path: Path):
    with TrialStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        for item_id in ("q2", "q0", "q1"):
            store.add(trial(item_id))
    with TrialStore(tmp_path) as store:
        assert store.items() == ITEMS
        assert list(store.trials()) == [trial("q0"), trial("q1"), trial("q2")]


def test_the_last_trial_counts_and_failed_ones_are_not_answered(tmp_path: Path):
    with TrialStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0", LOST))
        store.add(trial("q1", LOST, repeat=1))
        assert store.answered() == set()
        store.add(trial("q0"))
        assert store.answered() == {("q0", 0)}
        assert list(store.trials()) == [trial("q0"), trial("q1", LOST, repeat=1)]


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path):
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from vidence.records import *
        from vidence.running.store import TrialStore
        store = TrialStore(Path(sys.argv[1]), is_writer=True)
        store.put_items([Item(item_id=f"q{i}", question="?", answer="A") for i in range(100000)])
        score = Score(outcome=Answered(answer="A"), value=1.0, scorer="s", scorer_version=1)
        for i in range(100000):
            store.add(Trial(item_id=f"q{i}", score=score))
            print(i, flush=True)
        """
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    acknowledged = -1
    while acknowledged < 500:
        acknowledged = int(writer.stdout.readline())
    os.kill(writer.pid, signal.SIGKILL)
    acknowledged = [acknowledged, *map(int, writer.stdout.read().split())][-1]
    writer.wait()
    writer.stdout.close()
    with TrialStore(tmp_path, is_writer=True) as store:
        assert {f"q{i}" for i in range(acknowledged + 1)} <= {item_id for item_id, _ in store.answered()}


def test_two_writers_in_one_folder_exclude_each_other_until_the_first_ends(tmp_path: Path):
    first = TrialStore(tmp_path, is_writer=True)
    with pytest.raises(StoreError, match="another process is running"):
        TrialStore(tmp_path, is_writer=True)
    with TrialStore(tmp_path) as reader:
        assert reader.items() == ()
    first.close()
    TrialStore(tmp_path, is_writer=True).close()


def test_a_folder_without_a_run_says_so(tmp_path: Path):
    with pytest.raises(StoreError, match="is not a run folder"):
        TrialStore(tmp_path)


@pytest.mark.parametrize("is_writer", [True, False])
def test_another_format_is_refused(tmp_path: Path, is_writer: bool):
    TrialStore(tmp_path, is_writer=True).close()
    with sqlite3.connect(tmp_path / "trials.sqlite") as db:
        db.execute("UPDATE meta SET value = 'vidence-run/0'")
    db.close()
    with pytest.raises(StoreError, match=r"format 'vidence-run/0'.* reads 'vidence-run/1'"):
        TrialStore(tmp_path, is_writer=is_writer)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path):
    (tmp_path / "trials.sqlite").write_bytes(b"this is not a database, whatever its name says" * 50)
    with pytest.raises(StoreError, match="not a database"):
        TrialStore(tmp_path)


def test_a_full_disk_is_a_store_error_and_what_was_written_stays(tmp_path: Path):
    with TrialStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0"))
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages + 1}")
        big = Trial(item_id="q1", reply=Reply(text="x" * 100_000), score=RIGHT)
        with pytest.raises(StoreError, match=r"full; make room; `vidence resume` goes on"):
            store.add(big)
    with TrialStore(tmp_path) as store:
        assert [t.item_id for t in store.trials()] == ["q0"]


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
        key(request(ImagePart(digest="d2", width_px=4, height_px=3), TextPart(text="Who?"))),
        key(request(VideoPart(path="a", digest="d1"), TextPart(text="Who?"))),
        key(request(IMAGE, TextPart(text="Who?"), sample=1)),
        key(request(IMAGE, TextPart(text="Who?")), identity="n"),
        memory_key(request(IMAGE, TextPart(text="Who?")), identity="m", by_item=True),
    ]
    assert len({base, *different}) == len(different) + 1


def test_models_that_answer_by_item_are_remembered_by_item():
    keys = {memory_key(request(item_id=i), identity="m", by_item=True) for i in ("q0", "q1")}
    assert len(keys) == 2


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
