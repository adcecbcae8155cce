"""Rounds of a review and a new answer."""

import pytest

from subjects.simulated import Simulated, drive
from vidence import catalog
from vidence.ask.strategies.self_refine import RefineRound, SelfRefine, Settings, is_unchanged, trail_of
from vidence.errors import RejectedRequestError, UsageError
from vidence.records import Item, Reply

ITEM = Item(item_id="q1", question="Which?", choices=("one", "two", "three"), answer="B")


def refined(says, **options):
    return drive(SelfRefine(Settings(**options)).answer(Simulated(ITEM, {"": (0.0,)})), says)


def rewriting(*answers, review="Look again."):
    """A model that gives these answers one after the other."""
    left = iter(answers)
    return lambda ask: Reply(text=review if "words: critique" in ask.prompt.text else next(left))


def test_each_round_sees_all_before_it():
    found = refined(rewriting("A", "B", "C"), rounds=2)
    assert found.made.reply.text == "C"
    assert [(s.role, s.about, s.reply.text) for s in found.made.steps] == [
        ("candidate", None, "A"),
        ("critique", 0, "Look again."),
        ("rewrite", None, "B"),
        ("critique", 2, "Look again."),
        ("rewrite", None, "C"),
    ]
    last = found.asks[-1].prompt
    assert last == found.made.prompt
    assert last.text.startswith("Which?")
    trail = "[Answer 1]\nA\n\n[Review 1]\nLook again.\n\n[Answer 2]\nB\n\n[Review 2]\nLook again."
    assert trail in last.text
    assert last.choices == ITEM.choices
    assert found.asks[1].prompt.choices == ()


def test_it_ends_where_nothing_changes_only_if_it_is_told_to():
    assert len(refined(rewriting("A", "A ", "B"), rounds=3, stop="unchanged").asks) == 3
    assert len(refined(rewriting("A", "A ", "B", "C"), rounds=3).asks) == 7


def test_no_round_is_a_plain_run_and_an_empty_review_is_none():
    found = refined(rewriting("A"), rounds=0)
    assert (len(found.asks), found.made.steps, found.made.reply.text) == (1, (), "A")
    found = refined(rewriting("A", "B", review=" \n"), rounds=1)
    assert "[Review" not in found.asks[-1].prompt.text
    assert "has_review: \n" in found.asks[-1].prompt.text + "\n"
    assert refined(rewriting("B", "?"), rounds=1).made.reply.text == "?"


def test_a_trail_that_is_too_long_for_the_model_fails_the_question():
    def says(ask):
        if "words: rewrite" in ask.prompt.text:
            raise RejectedRequestError("too many tokens")
        return Reply(text="A")

    with pytest.raises(RejectedRequestError, match="too many tokens"):
        refined(says, rounds=1)


@pytest.mark.parametrize("options", ["rounds=-1", "rounds=9", "stop=soon"])
def test_a_loop_that_never_ends_is_refused(options):
    with pytest.raises(UsageError, match="self-refine"):
        catalog.create("strategy", f"self-refine?{options}")


def test_the_trail_has_answers_and_reviews_in_order():
    rounds = [RefineRound(Reply(text=" A\n"), "Why?"), RefineRound(Reply(text="B"))]
    assert trail_of(rounds) == "[Answer 1]\nA\n\n[Review 1]\nWhy?\n\n[Answer 2]\nB"


def test_space_changes_nothing_and_a_word_does():
    assert is_unchanged(Reply(text="It is A."), Reply(text=" It  is\nA.\n"))
    assert not is_unchanged(Reply(text="It is A."), Reply(text="It is B."))
