"""``vidence threshold`` as a user runs it: models, a simulated observer and people, both methods."""

import csv
import json
import os

import pytest

from end_to_end.conftest import CommandLine

CONFIG = """
out = "made"
[motions]
n_each = 2
duration_s = 0.5
[stimulus]
fps = 10
[vary]
levels = [0, 20, 40, 80]
[method]
n_boot = 200
n_trials = 40
[ask]
models = ["pointlight-nn", "baseline:random", "replay:people.csv"]
[[observers]]
name = "planted"
location = 40
width = 30
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("threshold")
    vidence = CommandLine(folder, os.environ | {"VIDENCE_CACHE": str(folder / "cache"), "COLUMNS": "120"})
    # Somebody who saw half of the clips at 0 to 40 dots and none at 80; letters as in questions.jsonl.
    (folder / "people.csv").write_text("item_id,text\n")
    (folder / "t.toml").write_text(CONFIG.replace(', "replay:people.csv"', ""))
    first = vidence("threshold", "t.toml")
    lines = (folder / "made" / "stimuli" / "questions.jsonl").read_text().splitlines()
    rows = ["item_id,text"]
    for number, item in enumerate(map(json.loads, lines)):
        is_seen = float(item["tags"]["level"]) < 30 or number % 5 == 0
        wrong = next(letter for letter in "ABC" if letter != item["answer"])
        rows.append(f"{item['item_id']},{item['answer'] if is_seen else wrong}")
    (folder / "people.csv").write_text("\n".join(rows[:-8]) + "\n")
    (folder / "p.toml").write_text(CONFIG)
    return vidence, first, vidence("threshold", "p.toml")


def found(folder, name="threshold.csv"):
    with (folder / name).open(newline="") as file:
        return {row["observer"]: row for row in csv.DictReader(file)}


def test_models_observers_and_people_stand_beside_each_other(made):
    vidence, first, done = made
    assert first.code == 0, first.err
    rows = found(vidence.folder / "made")
    assert list(rows) == ["pointlight-nn", "baseline:random", "replay:people.csv", "observer planted"]
    planted, people = rows["observer planted"], rows["replay:people.csv"]
    assert float(planted["threshold_low"]) < 40 < float(planted["threshold_high"])
    assert 10 < float(people["threshold"]) < 60
    assert (people["n"], people["n_failed"], planted["n"]) == ("56", "8", "64")
    assert rows["baseline:random"]["threshold"] == ""
    assert rows["baseline:random"]["reason"].startswith("answers do not change with the level")
    assert done.code == 3
    assert "8 questions failed; they count nowhere" in done.out


def test_nothing_is_asked_twice(made):
    _, _, done = made
    assert "pointlight-nn: 0 asked, 64 before" in done.err
    assert "replay:people.csv: 64 asked, 0 before" in done.err


def test_a_staircase_asks_the_same_questions_and_remembers_the_replies(made):
    vidence, _, _ = made
    options = ("threshold", "t.toml", "--method", "staircase")
    done = vidence(*options)
    assert done.code == 0, done.err
    assert "pointlight-nn: 40 asked, 0 before" in done.err
    rows = found(vidence.folder / "made")
    assert rows["observer planted"]["method"] == "staircase"
    assert rows["observer planted"]["n"] == "40"
    assert (
        float(rows["observer planted"]["threshold_low"])
        < 40
        < float(rows["observer planted"]["threshold_high"])
    )
    before = (vidence.folder / "made" / "threshold.csv").read_bytes()
    again = vidence(*options)
    assert "pointlight-nn: 0 asked, 40 before" in again.err
    assert (vidence.folder / "made" / "threshold.csv").read_bytes() == before
    page = (vidence.folder / "made" / "threshold.html").read_text()
    assert "The threshold after each answer" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_check_only_counts_and_says_what_it_would_tell(made):
    vidence, _, _ = made
    done = vidence("threshold", "t.toml", "--check", "--out", "nothing", "--model", "openai:m")
    counted, known = done.out.splitlines()
    assert counted == "16 motions at 4 levels, 2 observers: 128 questions"
    assert known.startswith("a threshold of 39.6 would be found between ")
    assert "(16 questions at each of 4 levels; noise dots, 16 sources of motions)" in known
    assert not (vidence.folder / "nothing").exists()


def test_other_settings_in_the_same_folder_are_refused(made):
    vidence, _, _ = made
    (vidence.folder / "other.toml").write_text(CONFIG.replace("fps = 10", "fps = 12"))
    done = vidence("threshold", "other.toml")
    assert done.code == 2
    assert "made from other settings" in done.err


def test_detection_and_direction_have_d_prime_and_criterion(made):
    vidence, _, _ = made
    for task in ("detect", "direction"):
        text = CONFIG.replace('"made"', f'"{task}"\ntask = "{task}"').replace(', "replay:people.csv"', "")
        (vidence.folder / f"{task}.toml").write_text(
            text.replace("levels = [0, 20, 40, 80]", "levels = [0, 20, 80]")
        )
        done = vidence("threshold", f"{task}.toml", "--model", "baseline:constant?letter=A")
        assert done.code == 0, done.err
        with (vidence.folder / task / "levels.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["observer"].startswith("baseline")]
        assert [row["n"] for row in rows] == ["32"] * 3
        assert {float(row["right"]) for row in rows} == {0.5}
        assert {round(float(row["d_prime"]), 9) for row in rows} == {0.0}
        assert all(float(row["criterion"]) < -1.5 for row in rows)
