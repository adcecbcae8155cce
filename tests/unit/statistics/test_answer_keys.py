"""What a key gives away, on keys whose tells are known."""

import math

import numpy as np
import pytest
from scipy import stats

from conftest import IS_THOROUGH
from vidence.errors import UsageError
from vidence.statistics.answer_keys import letter_balance, position_bias, simulated_p


def test_a_lopsided_key_is_found_and_a_balanced_one_is_not(rng):
    even = letter_balance(list("ABCD") * 25, n_choices=[4] * 100, rng=rng)
    assert even.right == (25, 25, 25, 25)
    assert even.expected == (25, 25, 25, 25)
    assert even.p_value == 1.0
    uneven = letter_balance(list("AAAB") * 25, n_choices=[4] * 100, rng=rng)
    assert uneven.right == (75, 25, 0, 0)
    assert uneven.p_value == pytest.approx(1 / 10_000)


def test_fewer_choices_are_expected_to_give_the_first_letters_more(rng):
    found = letter_balance(["A", "B", "D", "A"], n_choices=[2, 2, 4, 4], rng=rng)
    assert found.expected == pytest.approx((1.5, 1.5, 0.5, 0.5))
    assert found.letters == ("A", "B", "C", "D")


@pytest.mark.parametrize(
    ("right", "sizes", "draws", "words"),
    [
        ([], [], 10, "at least one"),
        (["A"], [2, 2], 10, "the same number"),
        (["C"], [2], 10, "item 0: right letter 'C' is not among 2 choices"),
        (["A"], [2], 0, "expected 1 or more"),
    ],
)
def test_keys_that_are_none_are_refused(rng, right, sizes, draws, words):
    with pytest.raises(UsageError, match=words):
        letter_balance(right, n_choices=sizes, rng=rng, n_draws=draws)


def measure(read, right, n_choices=4, *, n_draws=999):
    """Letters as words: ``measure("ABC", "ABD")``; a blank is no answer."""
    letters = [None if letter == " " else letter for letter in read]
    counts = [n_choices] * len(right) if isinstance(n_choices, int) else n_choices
    return position_bias(
        letters, list(right), n_choices=counts, rng=np.random.default_rng(0), n_draws=n_draws
    )


def test_letters_are_counted():
    found = measure("AABC D", "ABBCCA")
    assert found.letters == ("A", "B", "C", "D")
    assert found.right == (2, 2, 2, 0)
    assert found.read == (2, 1, 1, 1)
    assert found.accuracy[:3] == (0.5, 0.5, 0.5)
    assert math.isnan(found.accuracy[3])
    assert (found.n, found.n_unread, found.n_outside) == (6, 1, 0)
    assert found.read_shares == (0.4, 0.2, 0.2, 0.2)
    assert found.right_shares == pytest.approx((1 / 3, 1 / 3, 1 / 3, 0))


def test_wrong_answers_are_expected_alike_on_the_other_choices():
    # Wrong: B read as A with 4 choices (A, C, D a third each) and A read as D with 5 (a quarter each).
    found = measure("ADC", "BAC", [4, 5, 3])
    assert found.wrong_read == (1, 0, 0, 1, 0)
    assert found.wrong_expected == pytest.approx((1 / 3, 1 / 4, 1 / 3 + 1 / 4, 1 / 3 + 1 / 4, 1 / 4))


def test_a_letter_that_is_no_choice_of_its_item_counts_as_wrong_and_apart():
    found = measure("EAB", "AAB", 4)
    assert found.n_outside == 1
    assert found.read == (1, 1, 0, 0)
    assert found.accuracy[0] == 0.5
    assert found.wrong_read == (0, 0, 0, 0)


def test_wrong_answers_that_fall_on_all_others_alike_are_no_bias():
    # Every pair of right and other letter once.
    pairs = [(r, w) for r in "ABCD" for w in "ABCD" if r != w]
    found = measure([w for _, w in pairs], "".join(r for r, _ in pairs))
    assert found.wrong_expected == pytest.approx((3, 3, 3, 3))
    assert found.p_value == 1.0


def test_a_good_parser_of_unbalanced_answers_is_not_biased():
    # Right on 90 of 100 C and wrong on A, B, D alike: C is read most, as it is right most.
    found = measure("C" * 90 + "ABD" * 3 + "A", "C" * 100)
    assert found.read_shares[2] == 0.9
    assert found.p_value > 0.5


def test_the_p_value_is_that_of_the_chi_square_test_for_large_counts():
    # The right letter is always A: wrong answers are one multinomial on B, C, D.
    counts = {"B": 120, "C": 90, "D": 102}
    read = "".join(letter * count for letter, count in counts.items())
    found = measure(read, "A" * 312, n_draws=20000)
    expected = stats.chisquare(list(counts.values())).pvalue
    assert found.p_value == pytest.approx(expected, abs=0.01)
    assert "20000 simulations" in found.method


@pytest.mark.parametrize("read", ["ABCD", "    "])
def test_without_wrong_answers_there_is_no_test(read):
    found = measure(read, "ABCD")
    assert math.isnan(found.p_value)
    assert found.method == "no test: no wrong answer was read"
    assert all(math.isnan(share) for share in measure("  ", "AB").read_shares)
    assert measure("AABB", "BBAA", 2).p_value == 1.0  # two choices leave nothing to prefer
    assert found.wrong_read == (0, 0, 0, 0)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="0 letters read, 0 right"):
        measure("", "")
    with pytest.raises(UsageError, match="1 letters read, 2 right and 2 counts"):
        measure("A", "AB")
    with pytest.raises(UsageError, match="item 1: right letter 'E' is not among 4 choices"):
        measure("AA", "AE")
    with pytest.raises(UsageError, match="'a' is not a choice letter"):
        measure("a", "A")
    with pytest.raises(UsageError, match="n_draws 0"):
        measure("A", "A", n_draws=0)


def test_an_unbiased_guesser_of_skewed_answers_is_flagged_as_rarely_as_it_should_be():
    rng = np.random.default_rng(5)
    n_flagged, n = 0, 400 if IS_THOROUGH else 100
    for _ in range(n):
        right = rng.choice(list("ABCD"), size=60, p=[0.1, 0.1, 0.7, 0.1])
        read = rng.choice(list("ABCD"), size=60)
        found = position_bias(list(read), list(right), n_choices=[4] * 60, rng=rng, n_draws=199)
        n_flagged += found.p_value <= 0.1
    assert n_flagged / n == pytest.approx(0.1, abs=3 * math.sqrt(0.1 * 0.9 / n))


def test_a_count_far_from_a_large_expected_one_is_no_surprise():
    # Pearson: (3 - 1)^2 / 1 + 2 (3 - 4)^2 / 4 = 4.5 as seen; the simulation has 0 + 2 (2 - 4)^2 / 4 = 2.
    seen, drawn = np.array([3, 3, 3]), np.array([[1, 2, 6]])
    assert simulated_p(seen, drawn, np.array([1.0, 4.0, 4.0])) == 0.5
    assert simulated_p(np.array([1, 2, 6]), seen[None], np.array([1.0, 4.0, 4.0])) == 1.0


def pearson_of(counts, expected):
    return sum((c - e) ** 2 / e for c, e in zip(counts, expected, strict=True) if e)


def test_p_values_are_those_of_keys_and_answers_that_are_drawn_kind_by_kind():
    """Draws of keys with two, and with four choices; of wrong answers by the letters that are left."""
    right, sizes = ["A", "B", "B", "D", "A", "B", "B"], [2, 2, 4, 4, 4, 2, 4]
    found = letter_balance(right, n_choices=sizes, rng=np.random.default_rng(1), n_draws=300)
    expected = [3 / 2 + 4 / 4, 3 / 2 + 4 / 4, 1.0, 1.0]
    assert found.expected == pytest.approx(expected)
    assert found.right == (2, 4, 0, 1)
    draws = np.random.default_rng(1)
    two, four = draws.multinomial(3, [0.5] * 2, size=300), draws.multinomial(4, [0.25] * 4, size=300)
    keys = np.pad(two, ((0, 0), (0, 2))) + four
    n_reached = sum(pearson_of(row, expected) >= pearson_of(found.right, expected) - 1e-9 for row in keys)
    assert 0 < n_reached < 300
    assert found.p_value == (1 + n_reached) / 301
    read = ["B", "A", "B", "B", None, "A", "D"]
    bias = position_bias(read, right, n_choices=sizes, rng=np.random.default_rng(2), n_draws=300)
    assert (bias.n, bias.n_unread, bias.n_outside) == (7, 1, 0)
    assert bias.read == (2, 3, 0, 1)
    assert bias.wrong_read == (2, 2, 0, 1)
    assert bias.right == (2, 4, 0, 1)
    assert bias.accuracy[:2] == (0.0, 0.25)
    # Wrong: one of two with A right, two of two with B right, one of four with D right, and one with B.
    third = 1 / 3
    assert bias.wrong_expected == pytest.approx((2 + 2 * third, 1 + third, 2 * third, third))
    kinds = sorted([(0.0, 1.0, 0, 0), (1.0, 0, 0, 0), (third, third, third, 0), (third, 0, third, third)])
    counts = {(0.0, 1.0, 0, 0): 1, (1.0, 0, 0, 0): 2}
    draws = np.random.default_rng(2)
    total = sum(draws.multinomial(counts.get(kind, 1), kind, size=300) for kind in kinds)
    n_reached = sum(
        pearson_of(row, bias.wrong_expected) >= pearson_of(bias.wrong_read, bias.wrong_expected) - 1e-9
        for row in total
    )
    assert 0 < n_reached < 300
    assert bias.p_value == (1 + n_reached) / 301


def test_so_many_simulations_that_a_p_value_has_four_digits():
    rng = np.random.default_rng(0)
    assert letter_balance(["A"] * 200, n_choices=[4] * 200, rng=rng).p_value == 1e-4
    assert position_bias(["A"] * 200, ["B"] * 200, n_choices=[4] * 200, rng=rng).p_value == 1e-4
    assert letter_balance(["A"], n_choices=[2], rng=rng, n_draws=1).p_value == 1.0
