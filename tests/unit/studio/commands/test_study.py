"""The commands that open, close and export a study; a server and two processes beside it."""

import json
import os
import re
import subprocess
import sys
import urllib.request

import pytest

from subjects.open_study import draw_study, plain, write_questions
from vidence.study.folder import StudyAnswers, read_answers, write_answers
from vidence.study.study import Participant, PlannedTrial, Response


@pytest.fixture
def folder(tmp_path):
    """A drawn study."""
    write_questions(tmp_path, n=3, clips=1)
    return draw_study(tmp_path, plain(n_people=2, more="\n[exclude]\nproblems_above = 0.0\n"))


def command(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "vidence", "study", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def said(*words):
    done = command(*words)
    out, errors = done.communicate(timeout=60)
    return done.returncode, out + errors


def test_a_study_is_opened_exported_and_closed_once(folder):
    code, words = said("close", folder)
    assert code == 2
    assert "is not open" in words
    server = command(
        "open", folder, "--port", "0", "--recruit", "--people", "2", "--json", folder / "links.json"
    )
    try:
        lines = [next(server.stdout) for _ in range(5)]
        told = json.loads((folder / "links.json").read_text())
        rows = {one["key"]: one["link"]["text"] for one in told["tables"][0]["lines"]}
        assert set(rows) == {"P01", "P02", "many"}
        assert rows["P01"] in "".join(lines)
        page = urllib.request.urlopen(rows["P01"], timeout=20).read().decode()
        assert "I agree and take part" in page
        assert re.search(r"For operators: http://127\.0\.0\.1:\d+/enter\?ticket=", lines[0])
        sheet = Participant(name="P09", slot=8, state="finished", recruited="file")
        trial = PlannedTrial(place=0, phase="free", item_id="q", condition="whole")
        failed = Response(participant="P09", trial=trial, problem="no sound")
        write_answers(folder, StudyAnswers(participants=(sheet,), responses=(failed,)))
        assert said("export", folder)[0] == 0
        people = read_answers(folder).participants
        assert [one.state for one in people] == ["invited", "invited", "finished"]
        assert [one.excluded for one in people] == [(), (), ("problems_above",)]
        write_answers(folder, StudyAnswers(participants=people[:2], responses=()))
    finally:
        server.terminate()
        server.communicate(timeout=20)
    for _ in range(2):
        code, words = said("close", folder)
        assert code == 0, words
        assert "0 people began: 0 finished, 0 withdrawn, 0 declined." in words
    code, words = said("open", folder)
    assert code == 2
    assert "is closed" in words
