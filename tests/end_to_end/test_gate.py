"""``vidence items gate`` as a user runs it: planted leaks go, verdicts are followed, nonsense is refused."""

import json

import pytest

from subjects.asked_items import question, write_reader
from subjects.making import lines
from vidence.records import Item, Media


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
    arguments = (
        "items",
        "gate",
        "q.jsonl",
        "--rule",
        "humanpcr",
        "--model",
        "readers.py:reader",
        "--allow-leaks",
    )
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
    assert "letters" in {one["name"] for one in json.loads((folder / "said.json").read_text())["tables"]}
    before = (folder / "gate" / "verdicts.jsonl").read_bytes()
    assert vidence(*arguments, "--folder", "gate").code == 0
    assert (folder / "gate" / "verdicts.jsonl").read_bytes() == before


def test_verdicts_of_an_earlier_call_are_followed_and_refused_on_other_questions(vidence, folder):
    given = ("items", "gate", "q.jsonl", "--model", "readers.py:reader", "--folder", "gate", "--allow-leaks")
    assert vidence(*given).code == 0
    done = vidence("items", "gate", "q.jsonl", "--by", "gate/verdicts.jsonl", "--out", "kept.jsonl")
    assert done.code == 0, done.err
    assert "solved-blind" in done.out
    left = lines(folder / "kept.jsonl")
    left[0]["question"] = "Something else?"
    (folder / "kept.jsonl").write_text("".join(json.dumps(one) + "\n" for one in left))
    other = vidence("items", "gate", "kept.jsonl", "--by", "gate/verdicts.jsonl")
    assert other.code == 2
    assert "outside the set" in other.err


def test_a_judge_marks_free_answers_in_other_words(vidence, folder):
    words = ("known", "alike", "odd", "wrong")
    write(
        folder,
        "free.jsonl",
        [question(i, words=w, choices=(), answer="a thing", answer_kind="text") for i, w in enumerate(words)],
    )
    asked = ("items", "gate", "free.jsonl", "--no-checks", "--model", "readers.py:talker", "--folder", "free")
    assert "no judge" in vidence(*asked).out
    done = vidence(*asked, "--judge-model", "readers.py:grader")
    assert done.code == 0, done.err
    verdicts = [one for one in lines(folder / "free" / "verdicts.jsonl") if one["gate"] == "text-only"]
    assert [one["decision"] for one in verdicts] == ["dropped", "dropped", "open", "kept"]
    assert "judged by readers.py:grader as rule-first" in done.out


def test_a_structure_that_is_kept_and_leaks_ends_with_three_unless_it_is_allowed(vidence, folder):
    def told(i: int) -> Item:
        texts = [f"thing {i}{k}" for k in range(5)]
        texts[i % 5] += " with very many words behind it"
        media = (Media(path=f"{i}.mp4"),)
        return question(i, choices=tuple(texts), answer="ABCDE"[i % 5], media=media)

    write(folder, "told.jsonl", [told(i) for i in range(60)])
    done = vidence("items", "gate", "told.jsonl", "--out", "kept.jsonl")
    assert done.code == 3
    assert "Kept though texts give them away: t; drop them (--hold) or say --allow-leaks." in done.out
    assert len(lines(folder / "kept.jsonl")) == 60
    assert vidence("items", "gate", "told.jsonl", "--allow-leaks").code == 0
    held = vidence("items", "gate", "told.jsonl", "--hold", "t", "--out", "held.jsonl")
    assert held.code == 3  # nothing is left
    assert "0 of 60 questions are kept" in held.out


def test_nothing_left_and_what_makes_no_sense(vidence, folder):
    write(folder, "known.jsonl", [question(i, words="known") for i in range(3)])
    assert vidence("items", "gate", "known.jsonl", "--model", "readers.py:reader").code == 3
    for arguments, said in {
        ("--runs", "often"): "expected auto, or a number",
        ("--runs", "3"): "--model SPEC names none; add one",
        ("--rule", "herbench", "--model", "readers.py:reader"): "at_least is 3 of 1 models",
        ("--judge-model", "readers.py:grader"): "no reader is given; add --model SPEC",
        ("--model", "readers.py:talker", "--judge", "mmvu-official"): "add --judge-model SPEC",
        ("--model", "readers.py:talker", "--judge-model", "readers.py:grader", "--judge", "me"): "no judge",
        ("--drop", "all"): "expected some of dropped, open, untried",
        ("--where", "task=none"): "none",
    }.items():
        done = vidence("items", "gate", "q.jsonl", *arguments)
        assert done.code == 2
        assert said in done.err
