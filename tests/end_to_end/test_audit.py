"""``vidence items audit`` as a user runs it."""

import csv
import json


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_file_is_audited_without_a_model(vidence, tmp_path, questions):
    path = questions()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0] |= {"choices": ["two", "two or three", "five"], "answer": "A"}
    lines[1] |= {"question": "Who is in the cafÃ©?"}
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"item_id": "broken"}\n')
    done = vidence("items", "audit", "questions.jsonl", "--out", "found")
    assert done.code == 0, done.err
    assert "Are the right letters balanced?" in done.out
    found = {one["item_id"]: one for one in read_lines(tmp_path / "found" / "suspicious.jsonl")}
    assert found["0-0"]["severity"] == "severe"
    assert found["0-1"]["reasons"][0]["kind"] == "garbled"
    assert any(one["reasons"][0]["kind"] == "unusable" for one in found.values())
    whole = json.loads((tmp_path / "found" / "audit.json").read_text())
    assert whole["n_items"] == 6
    with (tmp_path / "found" / "suspicious.csv").open() as file:
        assert {row["item_id"] for row in csv.DictReader(file)} == set(found)
    page = (tmp_path / "found" / "audit.html").read_text()
    assert "Report card" in page
    assert "https://" not in page
    assert vidence("items", "audit", "questions.jsonl", "--strict", "--no-page").code == 3
    assert (
        vidence("items", "audit", "questions.jsonl", "--where", "task=t2", "--strict").code == 3
    )  # the broken line


def test_a_sound_file_is_no_failure_with_strict(vidence, questions):
    questions()
    done = vidence("items", "audit", "questions.jsonl", "--strict", "--where", "task=t1")
    assert done.code == 0, done.err


def test_what_is_neither_file_nor_benchmark_is_refused(vidence):
    done = vidence("items", "audit", "nothing.jsonl")
    assert done.code == 2
    assert "there is nothing at" in done.err
    assert "--data" in vidence("items", "audit", "mmvu").err
