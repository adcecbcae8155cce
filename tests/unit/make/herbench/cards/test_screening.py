"""How alike two cards are, counted by hand."""

import pytest

from vidence.make.herbench.cards.screening import jaccard, leakage


def test_words_are_counted_in_two_ways():
    found = leakage("The red Car and the man", "the man and a red bus")
    # As written: {The, red, Car, and, the, man} and {the, man, and, a, red, bus}: 4 of 8.
    assert found.raw == pytest.approx(4 / 8)
    # Small, without words that say nothing: {red, car, man} and {man, red, bus}: 2 of 4.
    assert found.content == pytest.approx(2 / 4)
    assert found.shared == ("man", "red")
    assert found.repeated == ("red",)


def test_case_and_possession_only_count_as_written():
    found = leakage("Woman Coat", "the woman's coat")
    assert found.raw == 0.0
    assert found.content == 1.0


@pytest.mark.parametrize(
    ("a", "b", "is_leak"),
    [
        ("red coat tall man", "walks left stops turns", False),
        ("red coat tall man", "the coat moves on and on along streets towards another large building", True),
        ("tall thin man seven", "tall thin man walks", True),
        # By the words as they are written 3 of 6, by those that carry meaning none.
        ("the tall of and", "the seven of and cats", True),
        # By the words as they are written none, by those that carry meaning both.
        ("Woman Seven", "the woman's seven", True),
        ("", "", False),
    ],
)
def test_a_leak_is_likeness_or_appearance_that_is_said_again(a, b, is_leak):
    assert leakage(a, b).is_leak() is is_leak


def test_the_limit_itself_is_allowed():
    # 3 words of 20 are shared: 0.15, which the paper still allows.
    a = " ".join(f"a{i}" for i in range(9)) + " x y z"
    b = " ".join(f"b{i}" for i in range(8)) + " x y z"
    found = leakage(a, b)
    assert found.content == pytest.approx(0.15)
    assert not found.is_leak()
    assert found.is_leak(0.149)


def test_nothing_is_like_nothing():
    assert jaccard(frozenset(), frozenset()) == 0.0
