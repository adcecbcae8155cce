"""``vidence studio``: files in and out, copies put back."""

import json
import sqlite3
from contextlib import closing

QUESTION = {"media": [{"path": "a.mp4"}], "question": "Which?", "choices": ["one", "two"], "answer": "two"}


def test_questions_come_in_go_out_and_in_again_and_a_copy_is_put_back(vidence):
    lines = "".join(json.dumps({"item_id": f"q{n}", **QUESTION}) + "\n" for n in range(3))
    (vidence.folder / "questions.jsonl").write_text(lines)
    assert vidence.apart("studio", "project", "one", "films", "--protocol", "mmvu").code == 0
    taken = vidence.apart("studio", "import", "one", "questions.jsonl", "--project", "films")
    assert taken.code == 0, taken.err
    assert f"3 questions new, 0 there already; media below {vidence.folder}" in taken.out
    assert vidence.apart("studio", "export", "one", "out").code == 0
    checked = vidence("audit", "out/projects/films/items.jsonl", "--out", "checked")
    assert (checked.code, "3 questions" in checked.out) == (0, True), checked.out + checked.err
    review = vidence.apart("studio", "import", "two", "out/projects/films", "--project", "films")
    assert "3 events new, 0 there already" in review.out, review.err
    assert vidence.apart("studio", "backup", "one", "--to", "copy.sqlite3").code == 0
    done = vidence.apart("studio", "restore", "again", "copy.sqlite3")
    assert done.code == 0, done.err
    assert "        3  transitionrow" in done.out
    assert "checked" in done.out
    assert (vidence.folder / "again" / "studio.sqlite3").stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(vidence.folder / "copy.sqlite3")) as opened:
        opened.execute("UPDATE studio_itemrow SET state = 'accepted'")
        opened.commit()
    changed = vidence.apart("studio", "restore", "third", "copy.sqlite3")
    assert changed.code != 0
    assert "q0 says accepted, and its transitions lead to submitted" in changed.err
    assert not any((vidence.folder / "third").iterdir())
