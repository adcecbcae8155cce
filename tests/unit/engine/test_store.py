"""Trials and replies on disk: nothing acknowledged is lost, nothing foreign is read."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import anyio
import msgspec
import pytest

from vidence.engine.store import Header, RunStore, is_in_use
from vidence.errors import StoreError
from vidence.records import (
    Answered,
    Failed,
    FrameRef,
    ImagePart,
    Item,
    Prompt,
    Reply,
    Score,
    Selection,
    TextPart,
    Trial,
    Verdict,
    VideoPart,
)

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


def filled(folder: Path, *trials: Trial) -> None:
    """A run with these trials; without any, with one of the first question."""
    with RunStore(folder, is_writer=True) as store:
        store.put_items(ITEMS)
        for one in trials or (trial("q0"),):
            store.add(one)


def test_trials_come_back_as_they_were_in_the_order_of_the_questions(tmp_path: Path):
    filled(tmp_path, trial("q2"), trial("q0"), trial("q1"))
    with RunStore(tmp_path) as store:
        assert store.items() == ITEMS
        assert list(store.trials()) == [trial("q0"), trial("q1"), trial("q2")]


def test_the_last_trial_counts_and_failed_ones_are_not_answered(tmp_path: Path):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0", LOST))
        store.add(trial("q1", LOST, repeat=1))
        assert store.answered() == set()
        store.add(trial("q0"))
        assert store.answered() == {("q0", 0)}
        assert list(store.trials()) == [trial("q0"), trial("q1", LOST, repeat=1)]


def test_two_writers_in_one_folder_exclude_each_other_until_the_first_ends(tmp_path: Path):
    first = RunStore(tmp_path, is_writer=True)
    with pytest.raises(StoreError, match="another process works"):
        RunStore(tmp_path, is_writer=True)
    with RunStore(tmp_path) as parser:
        assert parser.items() == ()
    first.close()
    assert not (tmp_path / "lock.sqlite").exists()
    RunStore(tmp_path, is_writer=True).close()


def test_a_folder_without_a_run_says_so(tmp_path: Path):
    with pytest.raises(StoreError, match="is not a run folder"):
        RunStore(tmp_path)


@pytest.mark.parametrize("is_writer", [True, False])
def test_another_format_is_refused(tmp_path: Path, is_writer: bool):
    RunStore(tmp_path, is_writer=True).close()
    with sqlite3.connect(tmp_path / "run.sqlite") as db:
        db.execute("UPDATE meta SET value = 'vidence-run/0'")
    db.close()
    with pytest.raises(StoreError, match=r"format 'vidence-run/0'.* reads 'vidence-run/2'"):
        RunStore(tmp_path, is_writer=is_writer)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path):
    (tmp_path / "run.sqlite").write_bytes(b"this is not a database, whatever its name says" * 50)
    with pytest.raises(StoreError, match="not a database"):
        RunStore(tmp_path)


def test_a_full_disk_is_a_store_error_and_what_was_written_stays(tmp_path: Path):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0"))
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages + 1}")
        big = Trial(item_id="q1", reply=Reply(text="x" * 100_000), score=RIGHT)
        with pytest.raises(StoreError, match=r"full; make room; `vidence resume` goes on"):
            store.add(big)
    with RunStore(tmp_path) as store:
        assert [t.item_id for t in store.trials()] == ["q0"]


def test_the_rows_of_one_turn_of_the_event_loop_are_one_transaction(tmp_path: Path) -> None:
    async def go() -> list[int]:
        with (
            RunStore(tmp_path, is_writer=True) as store,
            closing(sqlite3.connect(tmp_path / "run.sqlite")) as other,
        ):
            store.put_items(ITEMS)
            seen = []
            for _ in range(2):
                store.add(trial("q0"))
                seen.append(other.execute("SELECT COUNT(*) FROM trials").fetchone()[0])
            await anyio.sleep(0)
            seen.append(other.execute("SELECT COUNT(*) FROM trials").fetchone()[0])
            store.add(trial("q0"))
            assert store.n_stored() == {("q0", 0): 3}  # its own process sees them at once
            return seen

    assert anyio.run(go) == [0, 0, 2]


def test_what_could_not_be_written_at_the_end_of_a_turn_is_an_error_of_the_next_row_or_of_the_end(
    tmp_path: Path,
) -> None:
    async def go(ends: bool) -> None:
        with RunStore(tmp_path / str(ends), is_writer=True) as store:
            store.put_items(ITEMS)
            store._db.execute("DROP TABLE trials")
            store.add(trial("q0"))
            await anyio.sleep(0)
            if not ends:
                store.add(trial("q0"))
                pytest.fail("the second row is taken")

    for ends in (True, False):
        (tmp_path / str(ends)).mkdir()
        with pytest.raises(StoreError, match="no such table: trials"):
            anyio.run(go, ends)


@pytest.mark.parametrize(
    "item_id", ["a/b c", "ä😀", "nul\x00nul", "'; DROP TABLE trials; --", "A", "a", " a"]
)
def test_ids_may_hold_any_character(tmp_path: Path, item_id: str):
    items = (Item(item_id=item_id, question="?", answer="A"), Item(item_id="other", question="?", answer="A"))
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(items)
        store.add(trial(item_id))
        assert store.answered() == {(item_id, 0)}
    with RunStore(tmp_path) as store:
        assert [t.item_id for t in store.trials()] == [item_id]
        assert store.items() == items


def test_questions_may_be_replaced_until_they_were_asked(tmp_path: Path):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.put_items(ITEMS[::-1])
        assert store.items() == ITEMS[::-1]
        store.put_items(ITEMS[:2])
        store.add(trial("q1"))
        store.put_items(ITEMS)
        assert store.items() == ITEMS
        with pytest.raises(StoreError, match=r"holds an answer to the question 'q1'"):
            store.put_items(ITEMS[:1])
        with pytest.raises(StoreError, match="UNIQUE"):
            store.put_items([ITEMS[1], ITEMS[1]])
        assert store.items() == ITEMS
        assert list(store.trials()) == [trial("q1")]


def digest_of(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.suffix == ".sqlite"}


def test_parsers_change_nothing_and_see_what_a_writer_adds(tmp_path: Path):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0"))
        with RunStore(tmp_path) as one, RunStore(tmp_path) as two:
            assert [t.item_id for t in one.trials()] == [t.item_id for t in two.trials()] == ["q0"]
            store.add(trial("q1"))
            assert [t.item_id for t in one.trials()] == ["q0", "q1"]
            with pytest.raises(StoreError, match="readonly"):
                one.add(trial("q2"))
    before = digest_of(tmp_path)
    with RunStore(tmp_path) as parser:
        assert len(list(parser.trials())) == 2
    assert digest_of(tmp_path) == before


def test_a_parser_does_not_wait_for_a_writer_in_the_middle_of_a_write(tmp_path: Path):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0"))
        store._db.execute("BEGIN IMMEDIATE")
        store.add(trial("q1"))
        with RunStore(tmp_path) as parser:
            assert [t.item_id for t in parser.trials()] == ["q0"]
        store._db.execute("COMMIT")


def test_what_a_killed_writer_left_is_read_without_another_writer(tmp_path: Path):
    script = """
import os, sys
from pathlib import Path
from vidence.records import *
from vidence.engine.store import RunStore
store = RunStore(Path(sys.argv[1]), is_writer=True)
store.put_items([Item(item_id="q0", question="?", answer="A")])
score = Score(outcome=Answered(answer="A"), value=1.0, scorer="s", scorer_version=1)
store.add(Trial(item_id="q0", score=score))
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert (tmp_path / "run.sqlite-wal").exists()
    with RunStore(tmp_path) as parser:
        assert [t.item_id for t in parser.trials()] == ["q0"]


def test_a_folder_that_nobody_may_write_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    filled(tmp_path)
    names = sorted(p.name for p in tmp_path.iterdir())
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # tests may run as root, who may all
    with RunStore(tmp_path) as parser:
        assert len(list(parser.trials())) == 1
        assert sorted(p.name for p in tmp_path.iterdir()) == names


def test_a_log_beside_a_store_is_read_also_where_nobody_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0"))
        assert (tmp_path / "run.sqlite-wal").exists()
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        with RunStore(tmp_path) as parser:
            assert [one.item_id for one in parser.trials()] == ["q0"]


@pytest.mark.parametrize("is_writer", [False, True])
@pytest.mark.parametrize(
    ("kind", "program"),
    [
        (
            "view",
            "ALTER TABLE trials RENAME TO real; CREATE VIEW trials AS WITH RECURSIVE n(seq) AS (SELECT 1 "
            "UNION ALL SELECT seq + 1 FROM n) SELECT n.seq, item_id, repeat, selection, json FROM n, real",
        ),
        ("trigger", "CREATE TRIGGER more AFTER INSERT ON trials BEGIN DELETE FROM items; END"),
    ],
)
def test_programs_in_a_file_are_refused(tmp_path: Path, kind: str, program: str, is_writer: bool):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0"))
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as db:
        db.executescript(program)
    with pytest.raises(StoreError, match=f"holds a {kind}, '.*', which would run when it is used"):
        RunStore(tmp_path, is_writer=is_writer)


def test_a_store_that_was_only_begun_says_so(tmp_path: Path):
    (tmp_path / "run.sqlite").touch()
    with pytest.raises(StoreError, match="has format None"):
        RunStore(tmp_path)
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        assert store.items() == ITEMS


@pytest.mark.parametrize("table", ["trials", "items"])
def test_a_damaged_row_names_the_file(tmp_path: Path, table: str):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0"))
        store._db.execute(f"UPDATE {table} SET json = '{{\"no\": 1}}'")
        with pytest.raises(StoreError, match=r"run\.sqlite: a row is damaged"):
            list(store.trials() if table == "trials" else store.items())


def test_a_folder_that_cannot_be_locked_says_why(tmp_path: Path):
    (tmp_path / "lock.sqlite").mkdir()
    with pytest.raises(StoreError, match=r"lock\.sqlite: unable to open .* may be written to"):
        RunStore(tmp_path, is_writer=True)


def test_a_lock_that_is_no_lock_says_so(tmp_path: Path):
    (tmp_path / "lock.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match=r"lock\.sqlite: file is not a database"):
        RunStore(tmp_path, is_writer=True)


def test_a_run_that_ends_while_somebody_reads_is_whole(tmp_path: Path):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0"))
        reader = RunStore(tmp_path)
        reading = reader.trials()
        next(reading)
    reader.close()
    RunStore(tmp_path, is_writer=True).close()
    assert [path.name for path in tmp_path.iterdir()] == ["run.sqlite"]
    with RunStore(tmp_path) as again:
        assert len(list(again.trials())) == 1


def test_sql_filters_by_outcome_value_parser_tags_and_verdicts(tmp_path: Path):
    verdict = Verdict(judge_model="j", value=1.0, reason="same")
    judged = Score(
        outcome=Answered(answer="A"), value=1.0, scorer="judge", scorer_version=1, verdicts=(verdict,)
    )
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items([Item(item_id="q0", question="?", answer="A", tags={"task": "u"}), *ITEMS[1:]])
        store.add(Trial(item_id="q0", score=judged))
        store.add(Trial(item_id="q1", score=LOST))
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as db:
        rows = db.execute("SELECT item_id, outcome, value, parser FROM trials").fetchall()
        tags = db.execute("SELECT item_id FROM items WHERE tags ->> 'task' = 'u'").fetchall()
        verdicts = db.execute("SELECT item_id, judge_model, value, reason FROM verdicts").fetchall()
        plan = db.execute("EXPLAIN QUERY PLAN SELECT seq FROM trials WHERE outcome = 'failed'").fetchall()
    assert rows == [("q0", "answered", 1.0, "judge"), ("q1", "failed", LOST.value, LOST.scorer)]
    assert tags == [("q0",)]
    assert verdicts == [("q0", "j", 1.0, "same")]
    assert "trials_by_outcome" in plan[0][-1]


def test_brief_trials_share_what_they_repeat_and_leave_words_and_images_out(tmp_path: Path):
    video = VideoPart(path="v.mp4", digest="cd")
    parts = (ImagePart(digest="ab", width_px=4, height_px=3), video, TextPart(text="Who?"))
    whole = msgspec.structs.replace(trial("q0"), prompt=Prompt(parts=parts, system="s", template="plain/x@1"))
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        for one in (whole, msgspec.structs.replace(whole, item_id="q1"), trial("q2", LOST)):
            store.add(one)
        store.add(msgspec.structs.replace(whole, item_id="q1", prompt=None))
        first, second, third = store.trials(are_brief=True)
        assert store.prompts([("q0", 0), ("q1", 0), ("q9", 0)]) == {("q0", 0): whole.prompt, ("q1", 0): None}
    assert first == msgspec.structs.replace(whole, prompt=Prompt(parts=(video,), template="plain/x@1"))
    assert second.prompt is None
    assert second.score is first.score
    assert third.score == LOST
    assert third.prompt == Prompt(parts=())


def test_questions_come_back_sharing_what_they_repeat(tmp_path: Path):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        first, *others = store.items()
    assert (first, *others) == ITEMS
    assert all(one.choices is first.choices and one.tags is first.tags for one in others)


def test_a_run_says_what_was_found_out_about_it(tmp_path: Path) -> None:
    header = Header(
        diagnostic="mrfs",
        version=2,
        options={"max": "4"},
        plan_digest="p",
        content_hash="c",
        model_identities={"": "m"},
        prompts_digest="d",
    )
    with RunStore(tmp_path, is_writer=True) as store:
        assert store.diagnoses() == {}
        store.begin_diagnosis("mrfs-max-4", header)
        store.begin_diagnosis("budgets", msgspec.structs.replace(header, diagnostic="budgets", options={}))
        assert list(store.diagnoses()) == ["budgets", "mrfs-max-4"]
        assert store.diagnoses()["mrfs-max-4"] == header


def test_rows_are_read_as_they_came_in_and_a_few_at_a_time(tmp_path: Path):
    filled(tmp_path, trial("q0"), trial("q1", LOST), trial("q1"))
    with RunStore(tmp_path) as store:
        first, rest = store.rows_after(0, 2), store.rows_after(2, 2)
        assert [(one.seq, one.item_id) for one in (*first, *rest)] == [(1, "q0"), (2, "q1"), (3, "q1")]
        assert first[0].trial is not None
        assert first[0].trial.reply == trial("q0").reply
        assert first[0].trial.prompt == Prompt(parts=())
        assert store.rows_after(3, 2) == []


def test_one_trial_is_the_last_of_its_question_with_all_that_was_sent(tmp_path: Path):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        for one in (trial("q1", LOST), trial("q1"), trial("q1", repeat=1)):
            store.add(one)
        found, other = store.trial("q1"), store.trial("q1", 1)
        assert (found.seq, found.trial, other.trial) == (2, trial("q1"), trial("q1", repeat=1))
        assert store.trial("q2") is None
        assert (store.item("q2"), store.item("absent")) == (ITEMS[2], None)


@pytest.mark.parametrize("json", ['{"score": 1}', '{"score": {"value": "<b>"}}', 7])
def test_a_damaged_row_says_so_and_hides_no_other(tmp_path: Path, json: object):
    filled(tmp_path, trial("q0"), trial("q1"))
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as db, db:
        db.execute("DROP INDEX trials_by_outcome")  # it would refuse what is no JSON
        db.execute("UPDATE trials SET json = ? WHERE item_id = 'q0'", (json,))
    with RunStore(tmp_path) as store:
        bad, good = store.rows_after(0, 9)
        assert good.trial is not None
        assert (bad.item_id, bad.trial) == ("q0", None)
        assert "the row is damaged" in bad.problem
        assert store.trial("q0") == bad


def test_the_line_of_a_list_is_kept(tmp_path: Path):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        kept, before = store.line()
        assert kept is None
        store.add(trial("q0"))
        store.keep_line("a line")
        kept, after = store.line()
        assert (kept, after > before) == ("a line", True)
        store.keep_line("another")
        assert store.line() == ("another", after)


def test_a_folder_is_in_use_as_long_as_somebody_writes(tmp_path: Path):
    assert not is_in_use(tmp_path)
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        assert is_in_use(tmp_path)
        with RunStore(tmp_path):
            assert is_in_use(tmp_path)
    assert not is_in_use(tmp_path)


@pytest.mark.parametrize(("column", "value"), [("repeat", "'x'"), ("item_id", "x'6162'")])
def test_a_row_whose_number_or_name_is_none_is_damaged(tmp_path: Path, column: str, value: str):
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items(ITEMS)
        store.add(trial("q0"))
        store._db.execute("PRAGMA foreign_keys = OFF")
        store._db.execute(f"UPDATE trials SET {column} = {value}")
        if column == "item_id":
            store._db.execute(f"UPDATE items SET item_id = {value} WHERE item_id = 'q0'")
        with pytest.raises(StoreError, match="a row is damaged: expected a question and a number"):
            list(store.trials())
