"""The rules of the papers."""

import pytest

from vidence.make.gates.rules import PRESETS, TextOnlyRules


def test_three_runs_are_too_few_for_two_choices_and_auto_is_not():
    three = TextOnlyRules(models=("a",), at_least=1, runs=PRESETS["humanpcr"].runs)
    assert three.by_luck(2) == pytest.approx(0.125)
    auto = TextOnlyRules(models=("a",), at_least=1, runs=PRESETS["mmvu"].runs)
    assert [auto.by_luck(n) <= 0.01 for n in (2, 3, 4, 5)] == [True] * 4


def test_three_of_four_guessers_are_right_by_luck_as_the_binomial_says():
    one = PRESETS["herbench"]
    rules = TextOnlyRules(models=("a", "b", "c", "d"), at_least=one.at_least, runs=one.runs)
    assert rules.by_luck(5) == pytest.approx(4 * 0.2**3 * 0.8 + 0.2**4)
    assert not one.forced


def test_only_mmvu_leaves_it_to_people():
    assert [name for name, one in PRESETS.items() if one.to_people] == ["mmvu"]
