"""What is asked twice: kind and severity by words, video and answer."""

import pytest

from vidence.explain.audit.audit import find_twins
from vidence.records import Item, Media

WORDS = "Which of these things does the cook put on the table at the very end of the video"


def item(name, *, video="v", question=WORDS, choices=("a cup", "a lamp"), answer="A"):
    media = (Media(path=f"{video}.mp4"),)
    return Item(item_id=name, media=media, question=question, choices=choices, answer=answer)


def said(*items):
    """Kind and severity of what is said of the first question."""
    return [(r.kind, r.severity) for r in find_twins(items).reasons.get(items[0].item_id, ())]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [("repeat", "warning")]),
        ({"answer": "B"}, [("contradiction", "severe")]),
        ({"choices": ("a lamp", "a cup."), "answer": "B"}, [("repeat", "warning")]),  # the same, turned round
        ({"video": "w"}, [("same-elsewhere", "note")]),
        ({"video": "w", "answer": "B"}, []),
        ({"question": f"{WORDS} here"}, [("near-repeat", "warning")]),
        ({"question": f"{WORDS} here", "answer": "B"}, [("near-repeat", "note")]),
        ({"question": f"{WORDS} here", "video": "w"}, [("near-elsewhere", "note")]),
        ({"question": "Who comes in first?"}, []),
    ],
)
def test_what_another_question_makes_of_one(changes, expected):
    assert said(item("q1"), item("q2", **changes)) == expected


def test_groups_hold_equal_and_nearly_equal_questions_of_all_videos():
    others = [item("q2", question="Who comes in first?"), item("q3", video="w")]
    found = find_twins([item("q1"), *others, item("q4", question=f"{WORDS} here"), item("q5")])
    assert found.groups == (("q1", "q3", "q4", "q5"),)


def test_five_others_are_named_and_the_rest_counted():
    (reason,) = find_twins([item(f"q{i}") for i in range(8)]).reasons["q0"]
    assert reason.others == ("q1", "q2", "q3", "q4", "q5")
    assert reason.says.endswith("q5 and 2 more")


def test_open_questions_are_compared_by_their_answer():
    first, second = (
        Item(item_id=name, media=(Media(path="v.mp4"),), question="Who?", answer=answer, answer_kind="text")
        for name, answer in (("q1", "Ann"), ("q2", "Bea"))
    )
    assert said(first, second) == [("contradiction", "severe")]
