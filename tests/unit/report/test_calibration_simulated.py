"""Every row of the calibration holds of what is planted, and fails where something else was asked."""

from dataclasses import replace

import numpy as np
import pytest

from vidence.explain.planted import hint_readers, readers
from vidence.explain.planted.readers import Candidates, Refiner
from vidence.report.calibration_simulated import (
    ErrorsPlanted,
    HintReaders,
    recovered_candidates,
    recovered_errors,
    recovered_hints,
    recovered_refining,
    recovered_simulated,
)
from vidence.report.diagnosis_calibration import why_section

SEED = 7


def rng():
    return np.random.default_rng(SEED)


def missed(rows):
    return [one.what for one in rows if not one.is_recovered]


def test_everything_planted_is_recovered():
    rows = recovered_simulated(seed=SEED)
    assert missed(rows) == []
    assert {one.diagnostic for one in rows} == {
        "best-of-n", "self-refine", "hints", "errors", "judges",
    }  # fmt: skip
    assert recovered_simulated(seed=SEED) == rows
    section = why_section(rows)
    (table,) = section.tables
    assert {table.value(row.key, "holds") for row in table.rows} == {"yes"}
    n_drawn = sum(one.is_drawn for one in rows)
    assert f"All {len(rows) - n_drawn} figures are the planted ones" in section.paragraphs[1]
    assert f"In {n_drawn} more chance is planted" in section.paragraphs[1]


def test_a_row_that_misses_says_no():
    rows = recovered_simulated(seed=SEED)
    (table,) = why_section([rows[0], replace(rows[1], planted=0.1)]).tables
    assert [table.value(row.key, "holds") for row in table.rows] == ["yes", "no"]


def test_another_chance_to_be_right_is_seen_for_every_number_of_candidates():
    other = Candidates(p=0.25, points=readers.perfect, rng=rng())
    *sizes, auc = recovered_candidates(other, p=0.4, n=150)
    assert len(missed(sizes)) == 4
    assert auc.is_recovered


def test_a_reward_that_errs_is_seen():
    def poor(asked, text):
        return 4 - readers.perfect(asked, text)

    one, *more, auc = recovered_candidates(Candidates(p=0.4, points=poor, rng=rng()), p=0.4, n=150)
    assert one.is_recovered  # of one candidate there is nothing to pick
    assert len(missed(more)) == 3
    assert not auc.is_recovered


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        ({"repairs": 0.2}, {"repair rate of a review", "accuracy after 3 rounds"}),
        ({"spoils": 0.5}, {"spoil rate of a review", "accuracy after 3 rounds"}),
        ({"start": 0.05}, {"wrong to right, asked anew"}),
    ],
)
def test_other_rates_of_refining_are_seen(change, rows):
    found = recovered_refining(Refiner(rng=rng(), **change), planted=Refiner(rng=rng()), n=150)
    assert rows <= set(missed(found))


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        ({"climber": hint_readers.searcher}, {"gain of hint level 1", "gain of hint level 2"}),
        ({"climber": hint_readers.parrot}, {"gain of hint level 3"}),
        (
            {"searcher": hint_readers.parrot},
            {
                "hints less those of another question",
                "hints less words that say nothing",
                "gain without frames, no leak",
            },
        ),
        ({"parrot": hint_readers.searcher}, {"gain without frames, hints leak"}),
        (
            {"swayed": hint_readers.searcher},
            {"placebo of a reader whom any words help", "its gain less that placebo"},
        ),
    ],
)
def test_readers_with_other_habits_are_seen(change, rows):
    assert set(missed(recovered_hints(replace(HintReaders(), **change), n=60))) >= rows


def test_hints_that_leak_and_are_not_called_are_seen():
    # Of twenty questions a leak of three in ten is too little to be called.
    def dim(asked, ask):
        return hint_readers.parrot(asked, ask) and int(asked.item_id[1:]) % 10 < 1

    found = {one.what: one for one in recovered_hints(HintReaders(parrot=dim), n=20)}
    assert found["gain without frames, hints leak"].n_different == 20


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        ({"few": {"missing-referred": 0.05, "missing-proactive": 0.3, "knowledge": 0.15}},
         {"missing referred, 8 frames", "missing referred, 32 less 8 frames"}),
        ({"confused": 0.9}, {"knowledge, by a confused model"}),
        ({"many": {"missing-referred": 0.04, "missing-proactive": 0.15, "knowledge": 0.6}},
         {"knowledge, corrected by people"}),
    ],
)  # fmt: skip
def test_other_kinds_of_errors_are_seen(change, rows):
    asked = replace(ErrorsPlanted(), **change)
    found = recovered_errors(asked, planted=ErrorsPlanted(), n=200, seed=SEED)
    assert rows <= set(missed(found))
