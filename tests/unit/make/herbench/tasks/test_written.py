"""Replies that hold a question: which can be used, and which leak the description."""

import json

import pytest

from vidence.make.herbench.tasks.written import Request, WrittenQuestion, leak_in, read_question
from vidence.make.pipeline.material import Card
from vidence.make.pipeline.writer import Objection

GOOD = {
    "possible": True,
    "question": "what does the person do beside the bench?",
    "answer": "Talks to a guard.",
    "distractors": ["feeds pigeons", "Ties a lace", "Waits for a bus", "Takes a photo."],
}


def said(**other: object) -> str:
    return json.dumps({**GOOD, **other})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        (json.dumps({**GOOD, "comment": "x"}), "has the fields"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "answer"}), "has the fields"),
        (said(possible="maybe"), '"possible" is'),
        (said(question="Tell me what"), "question mark"),
        (said(question=f"{'very ' * 61}long?"), "62 words"),
        (said(distractors=["a", "b", "c"]), "no list of 4"),
        (said(distractors="abcd"), "no list of 4"),
        (said(distractors=["a", "b", "c", 4]), "is no text"),
        (said(distractors=["a", "b", "c", " - "]), "is no text"),
        (said(distractors=["a", "b", "c", "talks to a guard"]), "two options say the same"),
        (said(answer=" ".join(["word"] * 21)), "21 words"),
        (said(question="Who talks to a guard?"), "holds the right answer"),
    ],
)
def test_replies_that_cannot_be_used(text: str, problem: str) -> None:
    read = read_question(text)
    assert isinstance(read, Objection)
    assert read.reason == "unreadable"
    assert problem in read.detail


def test_the_last_object_behind_the_thinking_counts() -> None:
    text = f'<think>{{"possible": false}}</think> first {said(answer="Runs")} then {said()}'
    read = read_question(text)
    assert isinstance(read, WrittenQuestion)
    assert read.answer == "Talks to a guard"


@pytest.mark.parametrize(
    ("question", "answer", "leaks"),
    [
        ("What does the person do beside the bench?", "Talks to a guard", False),
        ("What does the person carry?", "A red umbrella", True),
        ("What does the person do?", "Opens the umbrella for a woman with two large dogs", False),
        ("What does the person in the red coat with an umbrella do?", "Talks to a guard", True),
        ("Whom does the person meet?", "Someone in a red coat", True),
    ],
)
def test_leaks(question: str, answer: str, leaks: bool) -> None:
    request = Request(
        topic="",
        b_card=Card(track_id="a", kind="B", text=""),
        a_text="The person wears a red coat and holds an umbrella.",
    )
    written = WrittenQuestion(question=question, answer=answer, distractors=())
    assert bool(leak_in(written, request, leak=0.15)) == leaks
