"""What a key gives away, on keys whose tells are known."""

import math

import pytest
from scipy.stats import chisquare

from vidence.errors import UsageError
from vidence.statistics.answer_keys import answer_prior, length_rank, letter_balance
from vidence.statistics.chance import shortest_choice


def test_a_lopsided_key_is_found_and_a_balanced_one_is_not(rng):
    even = letter_balance(list("ABCD") * 25, n_choices=[4] * 100, rng=rng)
    assert even.right == (25, 25, 25, 25)
    assert even.expected == (25, 25, 25, 25)
    assert even.p_value == 1.0
    uneven = letter_balance(list("AAAB") * 25, n_choices=[4] * 100, rng=rng)
    assert uneven.right == (75, 25, 0, 0)
    assert uneven.p_value == pytest.approx(1 / 10_000)


def test_the_p_value_is_that_of_pearsons_test_where_that_is_exact_enough(rng):
    counts = [60, 45, 50, 45]
    key = [letter for letter, n in zip("ABCD", counts, strict=True) for _ in range(n)]
    found = letter_balance(key, n_choices=[4] * 200, rng=rng, n_draws=20_000)
    assert found.p_value == pytest.approx(chisquare(counts).pvalue, abs=0.02)


def test_fewer_choices_are_expected_to_give_the_first_letters_more(rng):
    found = letter_balance(["A", "B", "D", "A"], n_choices=[2, 2, 4, 4], rng=rng)
    assert found.expected == pytest.approx((1.5, 1.5, 0.5, 0.5))
    assert found.letters == ("A", "B", "C", "D")


@pytest.mark.parametrize(
    ("right", "sizes", "draws", "words"),
    [
        ([], [], 10, "at least one"),
        (["A"], [2, 2], 10, "the same number"),
        (["C"], [2], 10, "'C' of item 0 is not among 2 choices"),
        (["A"], [2], 0, "expected 1 or more"),
    ],
)
def test_keys_that_are_none_are_refused(rng, right, sizes, draws, words):
    with pytest.raises(UsageError, match=words):
        letter_balance(right, n_choices=sizes, rng=rng, n_draws=draws)


def test_the_shortest_choice_is_the_first_of_equals():
    assert shortest_choice(["long one", " b ", "a"]) == 1
    with pytest.raises(UsageError, match="at least one"):
        shortest_choice([])


def test_the_length_rank_counts_shorter_choices_and_half_of_the_equal_ones():
    choices = ["a", "bb", "cc", "dddd"]
    assert [length_rank(choices, i) for i in range(4)] == pytest.approx([0, 0.5, 0.5, 1])
    assert math.isnan(length_rank(["a"], 0))
    with pytest.raises(UsageError, match="expected 0 to 1"):
        length_rank(["a", "b"], 2)


def test_a_favourite_answer_is_found_in_other_videos_only():
    choices = [["yes", "no"]] * 4
    # Three videos say yes; the fourth is answered by them, and each of them by the others.
    assert answer_prior(choices, [0, 0, 0, 1], contexts=[0] * 4, clusters=list("abcd")) == (1, 1, 1, 0)
    # All about one video: nothing is known from elsewhere.
    assert answer_prior(choices, [0, 0, 0, 1], contexts=[0] * 4, clusters=["a"] * 4) == (None,) * 4


def test_an_answer_is_carried_over_within_its_context():
    choices = [["red", "blue"], ["red", "blue"], ["red", "blue"]]
    said = answer_prior(choices, [0, 0, 1], contexts=["x", "x", "y"], clusters=list("abc"))
    assert said == (1, 1, None)


def test_equals_share_and_what_was_wrong_elsewhere_is_avoided():
    # "red" was offered once elsewhere and wrong; "x" and "y" are unknown and share.
    said = answer_prior([["red", "x", "y"], ["red", "z", "w"]], [1, 1], contexts=[0, 0], clusters=["a", "b"])
    assert said == pytest.approx((0.5, 0.5))


def test_a_prior_of_unequal_lists_is_refused():
    with pytest.raises(UsageError, match="the same number of each"):
        answer_prior([["a"]], [0, 0], contexts=[0], clusters=["a"])
    with pytest.raises(UsageError, match="choice 3 of 2"):
        answer_prior([["a", "b"]], [3], contexts=[0], clusters=["a"])
