"""The logistic model with two parameters: planted values come back, wrong keys are found, anchors predict."""

import dataclasses

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.statistics import item_response
from vidence.statistics.item_response import ABILITIES, DOUBTFUL, anchors, calibrate, falling, predicted


def planted(seed=0, *, n_items=400, n_runs=16, n_wrong=0):
    """Scores, abilities, discriminations and difficulties; the keys of the first questions are wrong."""
    rng = np.random.default_rng(seed)
    ability = rng.permutation(np.linspace(-1.6, 1.6, n_runs))
    ability /= ability.std()
    slope, hard = rng.normal(1.0, 0.4, n_items).clip(0.1), rng.normal(0.3, 1.0, n_items)
    slope[:n_wrong] = -1.5
    hard[:n_wrong] = 0.0
    chance = 1 / (1 + np.exp(-(np.outer(slope, ability) - hard[:, None])))
    return (rng.random(chance.shape) < chance).astype(float), ability, slope, hard


@pytest.fixture(scope="module")
def found():
    return (*planted(), calibrate(planted()[0]))


def test_planted_parameters_come_back_within_their_errors(found):
    _, ability, slope, hard, fitted = found
    assert np.abs(fitted.ability - ability).max() < 0.25
    for ours, true, error in (
        (fitted.difficulty, hard, fitted.difficulty_error),
        (fitted.discrimination, slope, fitted.discrimination_error),
    ):
        assert (np.abs(ours - true) < 1.96 * error).mean() > 0.9
    assert np.corrcoef(fitted.difficulty, hard)[0, 1] > 0.85


def test_a_question_is_drawn_towards_the_others():
    """All right has a difficulty, the least of all, and a start nearby leads to the same abilities."""
    values, *_ = planted(n_items=60, n_runs=8)
    values[0] = 1.0
    fitted = calibrate(values)
    assert -6 < fitted.difficulty[0] == min(fitted.difficulty) < 0
    assert np.abs(calibrate(values, start=fitted.ability).ability - fitted.ability).max() < 0.05


def test_wrong_keys_are_found_and_right_ones_let_be():
    values, *_ = planted(1, n_runs=20, n_wrong=20)
    fitted = calibrate(values)
    p = falling(values, fitted.ability, rng=np.random.default_rng(0))
    assert (p[:20] < DOUBTFUL).mean() > 0.5
    assert (p[20:] < DOUBTFUL).mean() < DOUBTFUL / 2
    assert (fitted.discrimination[:20] < 0).mean() > 0.9
    # Where ability does not matter the test is exact: its level is what it says.
    flat = (np.random.default_rng(2).random((4000, 20)) < 0.5).astype(float)
    assert (falling(flat, fitted.ability, rng=np.random.default_rng(3)) < DOUBTFUL).mean() < 1.5 * DOUBTFUL


def test_anchors_are_as_many_as_wanted_also_where_questions_are_alike(found):
    fitted = found[-1]
    for n in (2, 50, 399):
        assert len(set(anchors(fitted, n).tolist())) == n
    alike = calibrate(np.tile(planted()[0][:5], (20, 1)))
    assert len(set(anchors(alike, 60).tolist())) == 60


def test_a_new_run_is_predicted_better_than_by_random_questions(found):
    _, _, slope, hard, fitted = found
    rng, weights = np.random.default_rng(5), np.full(400, 1 / 400)
    some = anchors(fitted, 60)
    ours, theirs = [], []
    for ability in rng.normal(0, 1, 300):
        scores = (rng.random(400) < 1 / (1 + np.exp(hard - slope * ability))).astype(float)
        value = predicted(
            scores[some], fitted.curves[some], weights=weights[some], whole=weights @ fitted.curves
        )
        ours.append(value - scores.mean())
        theirs.append(scores[rng.choice(400, 60, replace=False)].mean() - scores.mean())
    assert np.sqrt(np.mean(np.square(ours))) < 0.92 * np.sqrt(np.mean(np.square(theirs)))
    assert abs(np.mean(ours)) < 0.02


def test_a_prediction_by_hand():
    """One anchor that counts one half and tells nothing of the ability: the rest is as expected of any."""
    flat, whole = np.full((1, len(ABILITIES)), 0.5), 0.25 + 0.5 / (1 + np.exp(-ABILITIES))
    assert predicted(np.ones(1), flat, weights=np.array([0.5]), whole=whole) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("values", "said"),
    [(np.eye(9)[:, :6], "6 runs; expected 8 or more"), (np.eye(8), "all runs have the same score")],
)
def test_what_cannot_be_calibrated_says_why(values, said):
    with pytest.raises(UsageError, match=said):
        calibrate(values)


def test_replies_are_drawn_as_if_no_key_were_wrong(found):
    model = found[-1]
    turned = dataclasses.replace(model, discrimination=-np.abs(model.discrimination))
    draws = np.mean([turned.drawn(np.random.default_rng(i)) for i in range(200)], axis=0)
    right = 1 / (1 + np.exp(model.difficulty))
    assert np.abs(draws - right[:, None]).mean() < 0.04  # a question below 0 tells nothing of ability
    drawn = model.drawn(np.random.default_rng(0))
    assert np.corrcoef(drawn.mean(axis=0), model.ability)[0, 1] > 0.9


def test_a_fit_that_is_cut_short_is_still_one(monkeypatch):
    monkeypatch.setattr(item_response, "_ROUNDS", 2)
    assert np.corrcoef(calibrate(planted()[0]).ability, planted()[1])[0, 1] > 0.9
