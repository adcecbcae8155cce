"""The trail of answers and reviews."""

from vidence.ask.strategies.self_refine import RefineRound, is_unchanged, trail_of
from vidence.records import Reply


def test_the_trail_has_answers_and_reviews_in_order():
    rounds = [RefineRound(Reply(text=" A\n"), "Why?"), RefineRound(Reply(text="B"))]
    assert trail_of(rounds) == "[Answer 1]\nA\n\n[Review 1]\nWhy?\n\n[Answer 2]\nB"


def test_space_changes_nothing_and_a_word_does():
    assert is_unchanged(Reply(text="It is A."), Reply(text=" It  is\nA.\n"))
    assert not is_unchanged(Reply(text="It is A."), Reply(text="It is B."))
