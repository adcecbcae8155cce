"""``vidence items split`` as a user runs it: by source, and what two splits share."""

import json

import msgspec
import pytest

from subjects.asked_items import question
from subjects.making import lines


@pytest.fixture
def folder(vidence):
    items = [msgspec.json.encode(question(i)) + b"\n" for i in range(40)]
    (vidence.folder / "q.jsonl").write_bytes(b"".join(items))
    return vidence.folder


def test_a_set_is_cut_by_source_and_the_parts_share_nothing(vidence, folder):
    done = vidence(
        "items", "split", "q.jsonl", "--shares", "validation=0.4,test=0.6", "--out", "parts", "--seed", "1"
    )
    assert done.code == 0, done.err
    assert "40 questions of 10 sources" in done.out
    one, other = (lines(folder / "parts" / f"{name}.jsonl") for name in ("validation", "test"))
    assert (len(one), len(other)) == (16, 24)
    assert {item["tags"]["split"] for item in one} == {"validation"}
    assert all(item["media"][0]["path"].startswith("../clip-") for item in one)
    checked = vidence("items", "split", "--check", "parts/validation.jsonl", "parts/test.jsonl")
    assert (checked.code, "share nothing" in checked.out) == (0, True)
    same = vidence("items", "split", "--check", "q.jsonl", "parts/test.jsonl", "--json", "-")
    assert same.code == 3
    assert {"shared"} == {one["name"] for one in json.loads(same.out)["tables"]}


def test_shares_that_make_no_sense_are_one_message(vidence, folder):
    for arguments, said in {
        ("q.jsonl",): "expected one file and --shares",
        ("q.jsonl", "--shares", "a=half"): "expected names and shares",
        ("q.jsonl", "--shares", "a=0.5,b=0.1"): "1 together",
        ("q.jsonl", "--check"): "takes two files",
        (
            "q.jsonl",
            "--shares",
            "a=0.5,b=0.5",
            "--out",
            "x.jsonl",
        ): "x.jsonl is a file name; expected a folder name",
    }.items():
        done = vidence("items", "split", *arguments)
        assert done.code == 2
        assert said in done.err
