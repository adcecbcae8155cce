"""Letters read against letters right."""

import math

import numpy as np
import pytest
from scipy import stats

from vidence.errors import UsageError
from vidence.statistics.position import PositionBias, position_bias


def measure(
    read: str | list[str | None], right: str, n_choices: int | list[int] = 4, *, n_draws: int = 999
) -> PositionBias:
    """Letters as words: ``measure("ABC", "ABD")``; a blank is no answer."""
    letters = [None if letter == " " else letter for letter in read]
    counts = [n_choices] * len(right) if isinstance(n_choices, int) else n_choices
    return position_bias(
        letters, list(right), n_choices=counts, rng=np.random.default_rng(0), n_draws=n_draws
    )


def test_letters_are_counted() -> None:
    found = measure("AABC D", "ABBCCA")
    assert found.letters == ("A", "B", "C", "D")
    assert found.right == (2, 2, 2, 0)
    assert found.read == (2, 1, 1, 1)
    assert found.accuracy[:3] == (0.5, 0.5, 0.5)
    assert math.isnan(found.accuracy[3])
    assert (found.n, found.n_unread, found.n_outside) == (6, 1, 0)
    assert found.read_shares == (0.4, 0.2, 0.2, 0.2)
    assert found.right_shares == pytest.approx((1 / 3, 1 / 3, 1 / 3, 0))


def test_wrong_answers_are_expected_alike_on_the_other_choices() -> None:
    # Wrong: B read as A with 4 choices (A, C, D a third each) and A read as D with 5 (a quarter each).
    found = measure("ADC", "BAC", [4, 5, 3])
    assert found.wrong_read == (1, 0, 0, 1, 0)
    assert found.wrong_expected == pytest.approx((1 / 3, 1 / 4, 1 / 3 + 1 / 4, 1 / 3 + 1 / 4, 1 / 4))


def test_a_letter_that_is_no_choice_of_its_item_counts_as_wrong_and_apart() -> None:
    found = measure("EAB", "AAB", 4)
    assert found.n_outside == 1
    assert found.read == (1, 1, 0, 0)
    assert found.accuracy[0] == 0.5
    assert found.wrong_read == (0, 0, 0, 0)


def test_always_the_same_letter_is_found() -> None:
    assert measure("C" * 40, "ABCD" * 10).p_value == 1 / 1000


def test_wrong_answers_that_fall_on_all_others_alike_are_no_bias() -> None:
    # Every pair of right and other letter once.
    pairs = [(r, w) for r in "ABCD" for w in "ABCD" if r != w]
    found = measure([w for _, w in pairs], "".join(r for r, _ in pairs))
    assert found.wrong_expected == pytest.approx((3, 3, 3, 3))
    assert found.p_value == 1.0


def test_a_good_parser_of_unbalanced_answers_is_not_biased() -> None:
    # Right on 90 of 100 C and wrong on A, B, D alike: C is read most, as it is right most.
    found = measure("C" * 90 + "ABD" * 3 + "A", "C" * 100)
    assert found.read_shares[2] == 0.9
    assert found.p_value > 0.5


def test_the_p_value_is_that_of_the_chi_square_test_for_large_counts() -> None:
    # The right letter is always A: wrong answers are one multinomial on B, C, D.
    counts = {"B": 120, "C": 90, "D": 102}
    read = "".join(letter * count for letter, count in counts.items())
    found = measure(read, "A" * 312, n_draws=20000)
    expected = stats.chisquare(list(counts.values())).pvalue
    assert found.p_value == pytest.approx(expected, abs=0.01)
    assert "20000 simulations" in found.method


@pytest.mark.parametrize("read", ["ABCD", "    "])
def test_without_wrong_answers_there_is_no_test(read: str) -> None:
    found = measure(read, "ABCD")
    assert math.isnan(found.p_value)
    assert found.method == "no test: no wrong answer was read"
    assert found.wrong_read == (0, 0, 0, 0)


def test_without_any_answer_there_are_no_shares() -> None:
    assert all(math.isnan(share) for share in measure("  ", "AB").read_shares)


def test_two_choices_leave_nothing_to_prefer() -> None:
    assert measure("AABB", "BBAA", 2).p_value == 1.0


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="0 letters read, 0 right"):
        measure("", "")
    with pytest.raises(UsageError, match="1 letters read, 2 right and 2 counts"):
        measure("A", "AB")
    with pytest.raises(UsageError, match="'E' of item 1 is not among 4 choices"):
        measure("AA", "AE")
    with pytest.raises(UsageError, match="'a' is no choice letter"):
        measure("a", "A")
    with pytest.raises(UsageError, match="n_draws 0"):
        measure("A", "A", n_draws=0)


def test_an_unbiased_guesser_of_skewed_answers_is_flagged_as_rarely_as_it_should_be() -> None:
    rng = np.random.default_rng(5)
    n_flagged = 0
    for _ in range(400):
        right = rng.choice(list("ABCD"), size=60, p=[0.1, 0.1, 0.7, 0.1])
        read = rng.choice(list("ABCD"), size=60)
        found = position_bias(list(read), list(right), n_choices=[4] * 60, rng=rng, n_draws=199)
        n_flagged += found.p_value <= 0.1
    # Three standard errors of 400 draws at 0.1 are 0.045.
    assert n_flagged / 400 == pytest.approx(0.1, abs=0.045)
