"""``vidence audit`` as a user runs it, with and without models."""

import csv
import json
import sqlite3
from contextlib import closing

import pytest

from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.planted import SimulatedModel, demand, expected
from vidence.ask.phantom.world import render
from vidence.records import Item


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_file_is_audited_without_a_model(vidence, tmp_path, questions):
    path = questions()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0] |= {"choices": ["two", "two or three", "five"], "answer": "A"}
    lines[1] |= {"question": "Who is in the cafÃ©?"}
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"item_id": "broken"}\n')
    done = vidence("audit", "questions.jsonl", "--out", "found")
    assert done.code == 0, done.err
    assert "not asked; give --model" in " ".join(done.out.split())
    found = {one["item_id"]: one for one in read_lines(tmp_path / "found" / "suspicious.jsonl")}
    assert found["0-0"]["severity"] == "severe"
    assert found["0-1"]["reasons"][0]["kind"] == "garbled"
    assert any(one["reasons"][0]["kind"] == "unusable" for one in found.values())
    whole = json.loads((tmp_path / "found" / "audit.json").read_text())
    assert whole["n_items"] == 6
    assert whole["n_asked"] == 0
    with (tmp_path / "found" / "suspicious.csv").open() as file:
        assert {row["item_id"] for row in csv.DictReader(file)} == set(found)
    page = (tmp_path / "found" / "audit.html").read_text()
    assert "Evidence-demand report card" in page
    assert "https://" not in page
    assert "No model was asked" in (tmp_path / "found" / "datasheet.md").read_text()
    assert vidence("audit", "questions.jsonl", "--strict", "--no-page").code == 3
    assert vidence("audit", "questions.jsonl", "--where", "task=t2", "--strict").code == 3  # the broken line


def test_a_sound_file_is_no_failure_with_strict(vidence, questions):
    questions()
    done = vidence("audit", "questions.jsonl", "--strict", "--where", "task=t1")
    assert done.code == 0, done.err


def test_what_is_neither_file_nor_benchmark_is_refused(vidence):
    done = vidence("audit", "nothing.jsonl")
    assert done.code == 2
    assert "neither a file nor a benchmark" in done.err
    assert "--data" in vidence("audit", "mmvu").err


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted") / "world"
    spec = WorldSpec(n_videos=2, n_variable=0, sizes=((320, 180),), rates=(10,), min_s=24, max_s=24)
    render(folder, spec, seed=5)
    lines = (folder / "items.jsonl").read_bytes().splitlines()
    import msgspec

    return folder, {item.item_id: item for item in (msgspec.json.decode(line, type=Item) for line in lines)}


def test_planted_demand_is_found_in_a_phantom_world(vidence, tmp_path, world):
    folder, items = world
    words = ("audit", "phantom", "--data", str(folder), "--model", "phantom:fuser", "--out", "found")
    words += ("--selector", "evidence", "--frames", "16", "--memory", "replies.sqlite")
    done = vidence(*words)
    assert done.code == 0, done.err
    found = {one["item_id"]: one for one in read_lines(tmp_path / "found" / "suspicious.jsonl")}
    leaky = {i for i, item in items.items() if item.tags["leak"] == "yes"}
    assert leaky
    blind = {i for i, one in found.items() if any(r["kind"] == "solved-blind" for r in one["reasons"])}
    assert blind == leaky
    middle = {i for i, one in found.items() if any(r["kind"] == "solved-one-frame" for r in one["reasons"])}
    shown = {i: (23.9 / 2,) for i in items}  # the central frame of 240 frames at 10 per second
    wanted = {
        i
        for i, item in items.items()
        if i not in leaky and expected(SimulatedModel(name="fuser"), item, times_s=shown[i])
    }
    assert middle == wanted
    with closing(sqlite3.connect(tmp_path / "found" / "run.sqlite")) as db:
        rows = db.execute("SELECT item_id, json FROM findings WHERE diagnosis = 'mrfs-max-16'").fetchall()
    demands = {item_id: json.loads(found)["finding"] for item_id, found in rows}
    for item_id, item in items.items():
        assert demands[item_id]["mrfs"] == (0 if item_id in leaky else demand(item))
    needy = [demand(item) for i, item in items.items() if i not in leaky]
    whole = json.loads((tmp_path / "found" / "audit.json").read_text())
    sheets = {one["name"]: one for one in whole["statements"]}
    assert sheets["mrfs"]["entries"][0]["values"][0]["value"] == pytest.approx(sum(needy) / len(needy))
    again = vidence(*words)
    assert again.code == 0
    assert "0 replies asked for" in again.err
    asked = [line for line in again.err.splitlines() if "replies asked for" in line]
    assert all("; 0 replies asked for" in line for line in asked)


def test_several_models_are_a_panel_and_a_sample_is_asked(vidence, tmp_path, world):
    folder, items = world
    words = ("audit", "phantom", "--data", str(folder), "--no-mrfs", "--sample", "10", "--out", "found")
    models = ("phantom:fuser", "phantom:single", "phantom:blind")
    done = vidence(*words, *(word for model in models for word in ("--model", model)))
    assert done.code == 0, done.err
    whole = json.loads((tmp_path / "found" / "audit.json").read_text())
    assert (whole["n_items"], whole["n_asked"]) == (len(items), 10)
    names = {one["name"] for one in whole["statements"]}
    assert {"blind-panel", "modality"} <= names
    assert "mrfs" not in names
    assert "a panel of models" in (tmp_path / "found" / "datasheet.md").read_text()
    panel = next(one for one in whole["statements"] if one["name"] == "blind-panel")
    assert panel["entries"][0]["label"] == "at least 3 of 3 right (flagged)"
