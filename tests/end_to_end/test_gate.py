"""``vidence gate`` and ``vidence split`` as a user runs them."""

import json

import pytest

from subjects.asked_items import question, write_reader
from vidence.records import Item


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(folder, name, items: list[Item]):
    import msgspec

    (folder / name).write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in items))


@pytest.fixture
def folder(vidence):
    items = [question(i, words="known" if i % 10 == 0 else "") for i in range(40)]
    write(vidence.folder, "q.jsonl", items)
    write_reader(vidence.folder)
    return vidence.folder


def test_what_a_reader_knows_is_dropped_with_an_account_and_the_call_repeats_it(vidence, folder):
    arguments = ("gate", "q.jsonl", "--rule", "humanpcr", "--model", "readers.py:reader")
    done = vidence(*arguments, "--out", "kept.jsonl", "--folder", "gate", "--json", "said.json")
    assert done.code == 0, done.err
    assert "of 40 questions are kept" in done.out
    assert "guessing answers 0.3 so" in done.out
    verdicts = lines(folder / "gate" / "verdicts.jsonl")
    gone = {one["item_id"] for one in verdicts if one["decision"] == "dropped"}
    assert {"q0", "q10", "q20", "q30"} <= gone
    kept = lines(folder / "kept.jsonl")
    assert {one["item_id"] for one in kept} == {f"q{i}" for i in range(40)} - gone
    assert {one["what"] for one in lines(folder / "gate" / "dropped.jsonl")} == gone
    stages = {
        one["stage"]: one for one in json.loads((folder / "gate" / "account.json").read_text())["stages"]
    }
    assert stages["text-only"]["n_out"] == len(kept)
    assert "readers" in {one["name"] for one in json.loads((folder / "said.json").read_text())["tables"]}
    before = (folder / "gate" / "verdicts.jsonl").read_bytes()
    assert vidence(*arguments, "--folder", "gate").code == 0
    assert (folder / "gate" / "verdicts.jsonl").read_bytes() == before


def test_verdicts_of_an_earlier_call_are_followed_and_refused_on_other_questions(vidence, folder):
    assert vidence("gate", "q.jsonl", "--model", "readers.py:reader", "--folder", "gate").code == 0
    done = vidence("gate", "q.jsonl", "--by", "gate/verdicts.jsonl", "--out", "kept.jsonl")
    assert done.code == 0, done.err
    assert "solved-blind" in done.out
    left = lines(folder / "kept.jsonl")
    left[0]["question"] = "Something else?"
    (folder / "kept.jsonl").write_text("".join(json.dumps(one) + "\n" for one in left))
    other = vidence("gate", "kept.jsonl", "--by", "gate/verdicts.jsonl")
    assert other.code == 2
    assert "does not have" in other.err


def test_nothing_left_and_what_makes_no_sense(vidence, folder):
    write(folder, "known.jsonl", [question(i, words="known") for i in range(3)])
    assert vidence("gate", "known.jsonl", "--model", "readers.py:reader").code == 3
    for arguments, said in {
        ("--runs", "often"): "expected auto, or a number",
        ("--runs", "3"): "add --model SPEC",
        ("--rule", "herbench", "--model", "readers.py:reader"): "at_least is 3 of 1 models",
        ("--drop", "all"): "expected some of dropped, open, untried",
        ("--where", "task=none"): "none",
    }.items():
        done = vidence("gate", "q.jsonl", *arguments)
        assert done.code == 2
        assert said in done.err


def test_a_set_is_cut_by_source_and_the_parts_share_nothing(vidence, folder):
    done = vidence("split", "q.jsonl", "--shares", "validation=0.4,test=0.6", "--out", "parts", "--seed", "1")
    assert done.code == 0, done.err
    assert "40 questions of 10 sources" in done.out
    one, other = (lines(folder / "parts" / f"{name}.jsonl") for name in ("validation", "test"))
    assert (len(one), len(other)) == (16, 24)
    assert {item["tags"]["split"] for item in one} == {"validation"}
    assert one[0]["media"][0]["path"] == "../clip-0.mp4" or one[0]["media"][0]["path"].startswith("../clip-")
    checked = vidence("split", "--check", "parts/validation.jsonl", "parts/test.jsonl", "--near", "1")
    assert (checked.code, "share nothing" in checked.out) == (0, True)
    same = vidence("split", "--check", "q.jsonl", "parts/test.jsonl", "--json", "-")
    assert same.code == 3
    assert {"shared"} == {one["name"] for one in json.loads(same.out)["tables"]}


def test_shares_that_make_no_sense_are_one_message(vidence, folder):
    for arguments, said in {
        ("q.jsonl",): "expected one file and --shares",
        ("q.jsonl", "--shares", "a=half"): "expected names and shares",
        ("q.jsonl", "--shares", "a=0.5,b=0.1"): "1 together",
        ("q.jsonl", "--check"): "takes two files",
    }.items():
        done = vidence("split", *arguments)
        assert done.code == 2
        assert said in done.err
