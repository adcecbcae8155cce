"""``vidence studio``: files in and out, copies put back."""

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

QUESTION = {"media": [{"path": "a.mp4"}], "question": "Which?", "choices": ["one", "two"], "answer": "two"}


OF_EARLIER = "DROP TABLE studio_seal", "DELETE FROM django_migrations WHERE name = '0004_seals'"


def no_triggers(path, *statements):
    """Edit a database by hand."""
    with closing(sqlite3.connect(path)) as opened:
        for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            opened.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            opened.execute(statement)
        opened.commit()


def kill_when_there(vidence, folder, seen):
    """Kill a `restore` when a path is there."""
    words = [sys.executable, "-m", "vidence", "studio", "restore", folder, "copy.sqlite3"]
    with subprocess.Popen(words, cwd=vidence.folder, env=vidence.env) as process:
        while not list((vidence.folder / folder).glob(seen)):
            assert process.poll() is None
            time.sleep(0.001)
        process.kill()
    assert not (vidence.folder / folder / "studio.sqlite3").exists()


def test_questions_come_in_go_out_and_in_again_and_a_copy_is_put_back(vidence):
    lines = "".join(json.dumps({"item_id": f"q{n}", **QUESTION}) + "\n" for n in range(3))
    (vidence.folder / "questions.jsonl").write_text(lines)
    assert vidence.apart("studio", "project", "one", "films", "--protocol", "mmvu").code == 0
    taken = vidence.apart("studio", "import", "one", "questions.jsonl", "--project", "films")
    assert taken.code == 0, taken.err
    assert f"3 new questions, 0 already there; media below {vidence.folder}" in taken.out
    assert vidence.apart("studio", "export", "one", "out").code == 0
    checked = vidence("items", "audit", "out/projects/films/items.jsonl", "--out", "checked")
    assert (checked.code, "3 questions" in checked.out) == (0, True), checked.out + checked.err
    review = vidence.apart("studio", "import", "two", "out/projects/films", "--project", "films")
    assert "3 new events, 0 already there" in review.out, review.err
    assert vidence.apart("studio", "backup", "one", "--to", "copy.sqlite3").code == 0
    for seen in (".restored.*", ".restored.*/studio.sqlite3", ".restored.*/starting.sqlite3"):
        kill_when_there(vidence, "again", seen)
    done = vidence.apart("studio", "restore", "again", "copy.sqlite3")
    assert done.code == 0, done.err
    assert [one.name for one in (vidence.folder / "again").iterdir()] == ["studio.sqlite3"]
    assert ", checked, content " in done.out
    assert (vidence.folder / "again" / "studio.sqlite3").stat().st_mode & 0o777 == 0o600
    assert (vidence.folder / "again").stat().st_mode & 0o777 == 0o700
    content = done.out.split()[-1]
    again = vidence.apart("studio", "verify", "again")
    assert (again.code, again.out.splitlines()[-1]) == (0, f"no faults, content {content}")
    with (
        closing(sqlite3.connect(vidence.folder / "copy.sqlite3")) as opened,
        pytest.raises(sqlite3.OperationalError, match="no such function: studio_seal_of"),
    ):
        opened.execute("UPDATE studio_itemrow SET state = 'accepted'")
    no_triggers(vidence.folder / "copy.sqlite3", "UPDATE studio_itemrow SET kind = 'x' WHERE item_id = 'q0'")
    changed = vidence.apart("studio", "restore", "third", "copy.sqlite3")
    assert changed.code == 1, changed.err
    assert "itemrow, row 1: changed or added by hand" in changed.out
    assert "NOT checked" in changed.out
    assert ", checked" not in changed.out
    assert [one.name for one in (vidence.folder / "third").iterdir()] == ["studio.sqlite3"]
    later = vidence.apart("studio", "verify", "third")
    assert (later.code, "itemrow, row 1: changed or added by hand" in later.out) == (1, True)
    for path in ("copy.sqlite3", "one/studio.sqlite3"):
        no_triggers(vidence.folder / path, *OF_EARLIER)
    unsure = vidence.apart("studio", "restore", "fourth", "copy.sqlite3")
    assert (unsure.code, "has no seals" in unsure.out, "NOT checked" in unsure.out) == (1, True, True)
    sealed = vidence.apart("studio", "verify", "one")
    assert (sealed.code, "edits from before rows got seals" in sealed.out) == (0, True), sealed.out
    assert vidence.apart("studio", "verify", "one").out == sealed.out
