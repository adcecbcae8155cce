"""vidence study check and draw: what would be shown, what is written, and what is wrong said at once."""

import json

import pytest

from vidence.cli.main import main
from videos.samples import squares, write_video

STUDY = """
title = "Moving squares"
items = "questions.jsonl"
n_people = 3
design = "latin-square"
[draw]
n = 8
seed = 4
[[phases]]
name = "frames"
title = "Pictures"
condition = "frames"
limit_s = 600
[[phases]]
name = "whole"
trial_limit_s = 30
[[form]]
name = "answer"
kind = "answer"
[practice]
n = 1
[catch]
n = 2
"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "study"
    for n in range(3):
        write_video(folder / f"film{n}.mp4", squares())
    lines = [
        {
            "item_id": f"q{i}",
            "question": f"Which one, {i}?",
            "choices": ["a", "b"],
            "answer": "A",
            "media": [{"path": f"film{i % 3}.mp4"}],
        }
        for i in range(10)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "study.toml").write_text(STUDY)
    return folder


def ran(*words):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    return ended.value.code


def test_check_says_what_would_be_shown_and_writes_nothing(folder, tmp_path, capsys):
    before = sorted(folder.iterdir())
    assert ran("study", "check", folder, "--json", tmp_path / "check.json") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "8 questions of table, latin-square, to 3 people: 24 trials in total as data, and 1 of practice"
        in said
    )
    assert "The Latin square needs a multiple of 2 people; with 3 some questions" in said
    assert "One person beside one model, both around 80 %, on 4 questions" in said
    assert "Pictures frames 4 2 10.00" in said
    assert "whole whole 4 2 3.00" in said
    assert json.loads((tmp_path / "check.json").read_text())["tables"]
    assert sorted(folder.iterdir()) == before


def test_draw_writes_items_and_pictures_and_the_same_again(folder, capsys):
    assert ran("study", "draw", folder / "study.toml") == 0
    frames = json.loads((folder / "frames.json").read_text())["items"]
    drawn = json.loads((folder / "drawn.json").read_text())
    asked = {one["item_id"] for one in drawn["asked"]}
    assert len(asked) == 8
    assert set(frames) == asked | {one["item_id"] for one in drawn["practice"]}
    assert all(
        (folder / "frames" / f"{p['digest']}.jpg").exists() for i in frames.values() for p in i["frames"]
    )
    content = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert ran("study", "draw", folder) == 0
    assert "lie outside the folder" not in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == content
    (folder / "study.toml").write_text(STUDY.replace("seed = 4", "seed = 5"))
    assert ran("study", "draw", folder) == 2
    assert "is another draw of this study, and answers may belong to it" in capsys.readouterr().err


def test_a_study_that_cannot_be_is_refused_with_all_that_is_wrong(folder, capsys):
    (folder / "study.toml").write_text(
        STUDY.replace('condition = "frames"', 'condition = "frame"').replace(
            'kind = "answer"', 'kind = "pair"'
        )
    )
    for command in ("check", "draw"):
        assert ran("study", command, folder) == 2
        said = capsys.readouterr().err
        assert "phase 'frames': its condition is 'frame'; expected whole, once" in said
        assert "field 'answer': two replies to a question are compared" in said
    (folder / "study.toml").write_text(STUDY + "cacth = 3\n")
    assert ran("study", "check", folder) == 2
    assert "study.toml:24: there is no setting 'catch.cacth'" in capsys.readouterr().err


def test_one_clip_alone_finds_nothing(folder, capsys):
    with (folder / "study.toml").open("w") as file:
        file.write(
            STUDY.replace('items = "questions.jsonl"', 'items = "one.jsonl"').replace("n = 8", "n = 3")
        )
    lines = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    same = [line for line in lines if line["media"] == [{"path": "film0.mp4"}]]
    (folder / "one.jsonl").write_text("".join(json.dumps(line) + "\n" for line in same))
    assert ran("study", "check", folder) == 0
    assert (
        "With questions on one video alone no difference can be detected; draw from more."
        in capsys.readouterr().out
    )
