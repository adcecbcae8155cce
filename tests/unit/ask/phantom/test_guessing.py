"""Guesses have the chance and the stickiness that are planted, and mind the order of choices as they say."""

import math
from itertools import pairwise

import numpy as np
import pytest

from vidence.ask.phantom.guessing import Guess, guessed, moved

LETTERS = "ABCDE"


def question(number: int, *, shift: int = 0) -> dict[str, int]:
    """Five choices of their own for each question, shown from a later one on with `shift`."""
    numbers = [5 * number + i for i in range(5)]
    return dict(zip(LETTERS, [*numbers[shift:], *numbers[:shift]], strict=True))


def guess(how: Guess, number: int, k: int, *, stick: float = 0.0, shift: int = 0) -> str | None:
    shown = [f"frame {number}:{i}" for i in range(k)]
    return guessed(how, question(number, shift=shift), question=["red"], n_frames=k, shown=shown, stick=stick)


@pytest.mark.parametrize("how", ["independent", "letter", "text"])
def test_every_letter_is_as_likely(how: Guess) -> None:
    for k in (0, 1, 7):
        counts = [sum(guess(how, i, k) == letter for i in range(3000)) for letter in LETTERS]
        assert counts == pytest.approx([600] * 5, abs=4 * math.sqrt(3000 * 0.16))


@pytest.mark.parametrize("how", ["letter", "text"])
@pytest.mark.parametrize("stick", [0.0, 0.5, 0.8, 1.0])
def test_a_guess_is_kept_as_often_as_planted(how: Guess, stick: float) -> None:
    vectors = [[guess(how, i, k, stick=stick) for k in range(1, 17)] for i in range(400)]
    same = np.mean([a == b for one in vectors for a, b in pairwise(one)])
    assert float(same) == pytest.approx(stick + (1 - stick) / 5, abs=0.03)
    assert [guess(how, i, 9, stick=stick) for i in range(400)] == [one[8] for one in vectors]


@pytest.mark.parametrize("how", ["independent", "letter", "text"])
def test_a_guess_without_frames_is_one_of_its_own(how: Guess) -> None:
    same = np.mean([guess(how, i, 0, stick=1.0) == guess(how, i, 1, stick=1.0) for i in range(2000)])
    assert float(same) == pytest.approx(0.2, abs=0.04)


def test_in_another_order_a_letter_stays_or_the_choice_does() -> None:
    for i in range(50):
        first, turned = (guess("letter", i, 4, shift=shift) for shift in (0, 2))
        assert first == turned
        first, turned = (guess("text", i, 4, shift=shift) for shift in (0, 2))
        assert first
        assert turned
        assert question(i)[first] == question(i, shift=2)[turned]
    same = np.mean([guess("independent", i, 4) == guess("independent", i, 4, shift=2) for i in range(2000)])
    assert float(same) == pytest.approx(0.2, abs=0.04)


def test_nothing_is_guessed_without_a_way_or_choices() -> None:
    assert guess("", 0, 3) is None
    assert guessed("text", {}, question=["red"], n_frames=1, shown=(), stick=0.5) is None


def test_noise_has_its_spread_and_leaves_the_whole() -> None:
    logps = dict(zip(LETTERS, np.log([0.4, 0.2, 0.1, 0.1, 0.1]).tolist(), strict=True))
    drawn = [moved(logps, noise=0.3, shown=[str(i)]) for i in range(2000)]
    for one in drawn[:20]:
        assert sum(map(math.exp, one.values())) == pytest.approx(0.9)
    odds = [one["A"] - one["B"] for one in drawn]
    assert float(np.mean(odds)) == pytest.approx(math.log(2), abs=0.03)
    assert float(np.std(odds)) == pytest.approx(0.3 * math.sqrt(2), abs=0.02)
    assert moved(logps, noise=0.3, shown=["1"]) == drawn[1]
    assert moved(logps, noise=0.0, shown=["1"]) == pytest.approx(logps)
