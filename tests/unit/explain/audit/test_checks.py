"""The form of choices, and which checks a question without choices gets; each fault is in `test_audit`."""

import pytest

from vidence.explain.audit.checks import MOST_CHOICES, exact_form, text_reasons
from vidence.records import Item


def kinds(**fields):
    settings = {"item_id": "q", "question": "What is lifted?", "choices": ("a cup", "a lamp"), "answer": "A"}
    return [reason.kind for reason in text_reasons(Item(**settings | fields))]


@pytest.mark.parametrize(
    ("choice", "form"),
    [
        (' "Two  cats." ', "Two cats"),
        ("two cats,", "two cats"),
        ("\u201cyes\u201d", "yes"),
        ("e\u0301", "\u00e9"),
        ("...", "..."),
        ("3.5", "3.5"),
    ],
)
def test_what_never_matters_is_left_out_of_a_choice(choice, form):
    assert exact_form(choice) == form


def test_an_open_question_is_checked_without_its_choices():
    open_ = {"choices": (), "answer_kind": "text", "answer": "red paint"}
    assert kinds(**open_, question="Is option A right, or (B)?") == []
    assert kinds(**open_, question="Where is the red paint?") == ["answer-in-question"]
    assert kinds(**open_, question="Where is {object}?") == ["placeholder"]


def test_the_most_choices_are_not_too_many():
    words = "red blue pink grey gold teal plum lime jade rust onyx"
    many = tuple(f"thing {word}" for word in words.split())
    assert "many-choices" not in kinds(choices=many[:MOST_CHOICES])
    assert "many-choices" in kinds(choices=many)
