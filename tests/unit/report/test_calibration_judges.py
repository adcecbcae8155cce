"""Planted judges are recovered, and a judge with other habits is seen."""

from dataclasses import replace

import numpy as np
import pytest

from vidence.report.calibration_judges import (
    ACCURACY,
    LENIENT,
    OWN,
    PARTIAL,
    RUNS,
    SOUND,
    JudgesAsked,
    PlantedJudge,
    judged_replies,
    recovered_judges,
    verdicts,
)

PLANTED = JudgesAsked()
SENSITIVITY, SPECIFICITY, LEVEL, FAVOURED, FAIR = (
    "sensitivity",
    "specificity",
    "level of llama above people, called",
    "own family favoured, called",
    "own family not favoured, let be",
)


def recovered(asked=PLANTED):
    return {one.what: one for one in recovered_judges(asked, planted=PLANTED, n_questions=200, seed=7)}


def missed(found):
    return {what for what, one in found.items() if not one.is_recovered}


def test_all_habits_are_recovered():
    found = recovered()
    assert list(found) == [SENSITIVITY, SPECIFICITY, LEVEL, FAVOURED, FAIR]
    assert missed(found) == set()
    assert [one.planted for what, one in found.items() if what != LEVEL] == [0.9, 0.8, 0.12, 0.0]
    assert found[LEVEL].planted == pytest.approx(0.3 * (1 - ACCURACY["llama"]), abs=0.03)


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        (replace(PLANTED, errs=replace(SOUND, sensitivity=0.7)), {SENSITIVITY}),
        (replace(PLANTED, errs=replace(SOUND, specificity=0.6)), {SPECIFICITY}),
        (replace(PLANTED, lenient=PlantedJudge(sensitivity=1.0, specificity=1.0)), {LEVEL}),
        (replace(PLANTED, partial=replace(PARTIAL, bonus=0.0)), {FAVOURED}),
        (replace(PLANTED, errs=replace(SOUND, bonus=0.2)), {FAIR}),
    ],
)
def test_other_habits_are_seen(asked, rows):
    assert rows <= missed(recovered(asked))


def test_who_is_not_called_is_missed_whatever_the_figure_says():
    found = recovered(replace(PLANTED, partial=replace(PARTIAL, bonus=0.0)))[FAVOURED]
    assert found.n_different == 1
    assert recovered()[FAVOURED].n_different == 0


def test_marks_have_the_planted_rates():
    replies = judged_replies(4000, rng=np.random.default_rng(0))
    for judge in (SOUND, LENIENT, PARTIAL):
        marks = judge.marks(replies, rng=np.random.default_rng(1))
        for run in RUNS:
            mine = np.array(replies.runs) == run
            bonus = judge.bonus if run == OWN else 0.0
            right, wrong = (marks[mine & (replies.people == one)].mean() for one in (1, 0))
            assert right == pytest.approx(min(1, judge.sensitivity + bonus), abs=0.03)
            assert 1 - wrong == pytest.approx(judge.specificity - bonus, abs=0.04)


def test_repeats_are_columns():
    replies = judged_replies(3, rng=np.random.default_rng(0))
    once, twice = verdicts(replies, replies.people), verdicts(replies, np.zeros((9, 2)))
    assert once.values.shape == (9, 1)
    assert twice.values.shape == (9, 2)
