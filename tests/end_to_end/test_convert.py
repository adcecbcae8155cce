"""``vidence items convert`` and ``--map``: questions in other layouts, and the way out that messages tell."""

import json
import re
import shlex
import shutil

import pytest
import tomli_w

from subjects.layouts import BOTH, LAYOUTS
from subjects.samples import sample_folder
from vidence.ask.mapping.mapping import NAMED, as_table, presets


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_questions_are_written_in_the_item_format(vidence, tmp_path):
    (tmp_path / "in").mkdir()
    questions = LAYOUTS["vlm4d"].write(tmp_path / "in")
    done = vidence(
        "items", "convert", str(questions), "--map", "vlm4d", "--out", str(tmp_path / "ours.jsonl")
    )
    assert done.code == 0, done.err
    assert "2 questions; 0 lines left out" in done.err
    ours = lines((tmp_path / "ours.jsonl").read_text())
    assert [one["media"][0]["path"] for one in ours] == ["in/videos/kitchen.mp4", "in/videos/garden.mp4"]
    assert [one["answer"] for one in ours] == [one.letter for one in BOTH]
    again = vidence("items", "convert", str(tmp_path / "ours.jsonl"))
    assert lines(again.out)[0]["question"] == BOTH[0].question


def test_a_run_reads_another_layout_and_is_taken_up_from_anywhere(vidence, tmp_path):
    questions = LAYOUTS["nextqa"].write(tmp_path)
    (vidence.folder / "own.toml").write_text(tomli_w.dumps(as_table(presets()["nextqa"])))
    said = (
        *("run", "table", "--data", str(questions), "--map", "own.toml"),
        *("--model", "baseline:constant?letter=B"),
    )
    done = vidence(*said, "--out", "run", "--no-page")
    assert done.code == 0, done.err
    assert "Accuracy 50.0 %" in done.out
    assert f'map = "{vidence.folder / "own.toml"}"' in (vidence.folder / "run" / "plan.toml").read_text()
    assert "nothing is left to ask" in vidence("resume", "run", "--no-page").err


@pytest.mark.parametrize(
    ("name", "expected"),
    [("vlm4d", "--map vlm4d"), ("video-mme", "--map video-mme"), ("tempcompass", "--map tempcompass")],
)
def test_a_file_in_a_known_layout_is_told_its_preset(vidence, tmp_path, name, expected):
    path = LAYOUTS[name].write(tmp_path)
    file = path if path.is_file() else next(path.glob("*.json"))
    done = vidence("run", "table", "--data", str(file), "--model", "baseline:random")
    assert done.code == 2
    assert "is in another layout. Its columns are" in done.err
    assert expected in done.err


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv"])
def test_a_file_in_no_known_layout_is_told_how_to_say_it(vidence, name):
    row = {"id": 1, "video": "a.mp4", "ask": "?", "options": "a|b", "key": "a"}
    text = json.dumps(row) if name == "x.jsonl" else ",".join(row) + "\n" + ",".join(map(str, row.values()))
    (vidence.folder / name).write_text(text + "\n")
    done = vidence("run", "table", "--data", name, "--model", "baseline:random")
    assert done.code == 2
    assert (
        "Its columns are id, video, ask, options, key. Say which is which: --map item_id=COLUMN" in done.err
    )
    pairs = "item_id=id,question=ask,choices=options,answer=key"
    done = vidence("run", "table", "--data", name, "--model", "baseline:random", "--map", pairs)
    assert done.code == 0, done.err


def test_steps_of_a_table_come_through_and_stay_on_a_second_way(vidence, tmp_path):
    rows = [
        {"id": 1, "q": "Which?", "c": ["a", "b"], "a": "A", "why": "Look left.\nThen right."},
        {"id": 2, "q": "Which one?", "c": ["a", "b"], "a": "B", "why": ["Once."]},
        {"id": 3, "q": "And who?", "c": ["a", "b"], "a": "B"},
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    pairs = "item_id=id,question=q,choices=c,answer=a,steps=why"
    ours = tmp_path / "ours.jsonl"
    assert (
        vidence("items", "convert", str(tmp_path / "rows.json"), "--map", pairs, "--out", str(ours)).code == 0
    )
    steps = [json.loads(line).get("steps", []) for line in ours.read_text().splitlines()]
    assert steps == [["Look left.", "Then right."], ["Once."], []]
    (tmp_path / "again.jsonl").write_bytes(vidence("items", "convert", str(ours)).out.encode())
    assert (tmp_path / "again.jsonl").read_text().splitlines() == ours.read_text().splitlines()


def test_a_preset_whose_columns_fit_and_that_reads_no_question_is_not_named(vidence) -> None:
    """The folder of MLVU has the columns of MVBench, whose preset finds no video in it."""
    shutil.copytree(sample_folder("mlvu") / "MLVU", vidence.folder / "mlvu")
    (vidence.folder / "other").mkdir()
    (vidence.folder / "other" / "data.json").write_text('[{"vid": "a.mp4", "ask": "?", "gold": "A"}]')
    done = vidence("run", "mlvu/", "--model", "scripted:A")
    assert done.code == 2
    assert "It is read with --map mlvu" in done.err
    assert "mvbench" not in done.err
    said = shlex.split(re.search("`vidence (run mlvu --data .*?)`", done.err)[1])
    done = vidence(*said, "--model", "scripted:A", "--allow-missing")
    assert "No question is left without them" in done.err  # its questions were read, their films are not here
    assert vidence("run", "mlvu/", "--map", "mvbench", "--model", "scripted:A").code == 2
    assert "Its columns are vid, ask, gold. Say which is which" in vidence("items", "describe", "other").err


@pytest.mark.parametrize("path", sorted(NAMED.glob("*.toml")), ids=lambda path: path.stem)
def test_a_folder_of_a_release_is_told_its_benchmark(vidence, path) -> None:
    done = vidence("items", "describe", str(sample_folder(path.stem)))
    assert f"`vidence run {path.stem} --data {sample_folder(path.stem)}` asks it" in done.err


def test_a_folder_of_several_tables_is_told_their_columns(vidence) -> None:
    (vidence.folder / "many" / "b").mkdir(parents=True)
    for n in range(6):
        (vidence.folder / "many" / f"{n}.jsonl").write_text(f'{{"id": {n}, "ask_{n}": "?"}}\n')
    (vidence.folder / "many" / "b" / "test.csv").write_text("vid,gold\na,B\n")
    done = vidence("run", "many", "--model", "scripted:A")
    assert done.code == 2
    four = "; ".join(f"{n}.jsonl (id, ask_{n})" for n in range(4))
    assert f"Name one of its 7 tables, such as {four}. Say which is which" in done.err
    ours = '{"item_id": "1", "question": "?", "media": [{"path": "a.mp4"}]}'
    (vidence.folder / "many" / "0.jsonl").write_text(ours)
    assert "another layout" not in vidence("run", "many", "--model", "scripted:A").err
