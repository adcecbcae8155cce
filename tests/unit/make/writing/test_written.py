"""Replies of writers, checkers and judges: what is read out of them, and what is asked for again."""

import json

import pytest

from vidence.contracts import Flow
from vidence.errors import UsageError
from vidence.make.pipeline.writer import Objection
from vidence.make.sources.annotations.annotation_records import AnnotationRecord
from vidence.make.writing.written import (
    PromptsInEffect,
    WroteAll,
    judge_options,
    read_numbered,
    read_options,
    write_options,
    write_questions,
)
from vidence.records import Reply

WORDS = PromptsInEffect.load()
RECORDS = [AnnotationRecord(record_id=str(n), caption=f"a cup {n}", label="cup") for n in range(3)]


def played(flow: Flow[object], *replies: str) -> tuple[object, list[str]]:
    """What comes of a flow whose prompts get these replies, the last one for ever, and the prompts."""
    asked: list[str] = []
    said = list(replies)
    prompts = next(flow)
    while True:
        given = []
        for prompt in prompts:
            asked.append(prompt.text)
            given.append(Reply(text=said.pop(0) if len(said) > 1 else said[0]))
        try:
            prompts = flow.send(given)
        except StopIteration as ended:
            return ended.value, asked


def test_three_records_are_asked_for_in_one_call():
    made, asked = played(write_questions(RECORDS, WORDS, aspect="what is seen"), "1. A?\n2. B?\n3. C?")
    assert isinstance(made, WroteAll)
    assert [(one.text, one.n_together) for one in made.wrote] == [("A?", 3), ("B?", 3), ("C?", 3)]
    (prompt,) = asked
    told = next(json.loads(line) for line in prompt.splitlines() if line.startswith("["))
    assert [(one["number"], one["text"]) for one in told] == [(1, "a cup 0"), (2, "a cup 1"), (3, "a cup 2")]


@pytest.mark.parametrize(
    "bad", ["1. A?\n2. B?", "1. A?\n2. B?\n3. C?\n4. D?", "2. B?\n1. A?\n3. C?", "no", "I cannot do that."]
)
def test_other_numbers_are_repaired_once_and_then_asked_for_singly(bad):
    made, asked = played(write_questions(RECORDS, WORDS, aspect="x"), bad, bad, "1. D?")
    assert [(one.text, one.n_together) for one in made.wrote] == [("D?", 1)] * 3
    assert len(asked) == 5
    mended, asked = played(write_questions(RECORDS, WORDS, aspect="x"), bad, "1. A?\n2. B?\n3. C?")
    assert [one.n_tries for one in mended.wrote] == [2, 2, 2]
    assert json.dumps(bad) in asked[1]


def test_one_that_never_writes_has_a_reason():
    made, asked = played(write_questions(RECORDS[:1], WORDS, aspect="x"), "1. A?\n2. B?")
    assert [(one.text, one.reason, one.n_tries) for one in made.wrote] == [("", "misshapen", 2)]
    assert len(asked) == 2


def test_replies_in_the_form_that_the_paper_prints_are_read():
    """HumanPCR, figures 12 and 14."""
    assert read_numbered("Question 1: A?\n\nQuestion 2: B?", n=2) == ("A?", "B?")
    assert read_numbered("Question 1: A?", n=1) == ("A?",)
    printed = "Question 1: Where?\nCorrect answer: on it\nWrong answer 1: under it\nWrong answer 2: at it\n"
    asked = {"question": "Where?", "right": "on it", "n": 2}
    assert read_options(printed, **asked) == ("under it", "at it")
    assert read_options(printed.replace("Question 1: ", ""), **asked) == ("under it", "at it")
    assert read_options(printed.replace("Where", "When"), **asked).reason == "question-changed"
    assert read_options(printed.replace("at it", "on it"), **asked).reason == "truth-among-wrong"
    assert read_options(printed.partition("Wrong answer 2")[0], **asked).reason == "wrong-number"


def test_one_line_without_a_number_is_the_one_that_was_wanted():
    assert read_numbered("What is it?", n=1) == ("What is it?",)
    assert isinstance(read_numbered("What is it?\nAnd why?", n=1), Objection)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("fork, knife", "unreadable"),
        ("null", "unreadable"),
        ("[" * 100_000, "unreadable"),
        ('{"question":' * 50_000, "unreadable"),
        ('{"question": "Who?", "wrong": ["fork", null]}', "unreadable"),
        ('{"question": "Who?", "wrong": {"A": "fork", "B": "pan"}}', "unreadable"),
        ('{"question": 7, "wrong": ["fork", "pan"]}', "question-changed"),
        ('{"question": "Who?", "wrong": "fork"}', "unreadable"),
        ('{"question": "Who?", "wrong": ["fork", " "]}', "unreadable"),
        ('{"question": "Who is it?", "wrong": ["fork", "pan"]}', "question-changed"),
        ('{"question": "who?", "wrong": ["fork", "pan"]}', "question-changed"),
        ('{"question": "Who?", "wrong": ["fork"]}', "wrong-number"),
        ('{"question": "Who?", "wrong": ["fork", "pan", "lid"]}', "wrong-number"),
        ('{"question": "Who?", "wrong": ["The Cup!", "Cup."]}', "truth-among-wrong"),
    ],
)
def test_options_that_cannot_be_used(reply, reason):
    found = read_options(reply, question="Who?", right="cup", n=2)
    assert isinstance(found, Objection)
    assert found.reason == reason


def test_options_are_asked_for_once_more_with_what_is_wrong():
    good = '{"question": "Who?", "wrong": ["fork", "pan"]}'
    flow = write_options("Who?", RECORDS[0], WORDS, n=2)
    made, asked = played(flow, '{"question": "Who?", "wrong": ["cup", "pan"]}', f"Here you are:\n{good}")
    assert (made.texts, made.n_tries) == (("fork", "pan"), 2)
    assert "stands among the wrong ones" in asked[1]


@pytest.mark.parametrize(
    ("reply", "texts", "reason"),
    [
        ("None.", (), ""),
        ("1, 2", ("fork", "pan"), ""),
        ("2 and 2", ("pan",), ""),
        ("3", (), "misshapen"),
        ("The second one", (), "misshapen"),
        ("", (), "empty"),
    ],
)
def test_a_judge_names_numbers_or_none(reply, texts, reason):
    made, _ = played(judge_options("Who?", "cup", ("fork", "pan"), words=WORDS), reply)
    assert (made.texts, made.reason) == (texts, reason)


def test_a_template_of_ones_own_must_show_the_notes(tmp_path):
    (tmp_path / "choices_point.txt").write_text("Answer {{ notes }} shortly.")
    assert PromptsInEffect.load(tmp_path).label("choices_point") != WORDS.label("choices_point")
    (tmp_path / "choices_point.txt").write_text("Answer shortly.")
    with pytest.raises(UsageError, match="it must stand there once"):
        PromptsInEffect.load(tmp_path)
