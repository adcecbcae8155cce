"""Masks: every step of the figure's dots, elsewhere; no jump that can be seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.pointlight.figures import staged
from vidence.pointlight.specs import spec_of
from vidence.pointlight.stimulus import make_stimulus, mask_scrambled, other_phases


def paths(n_frames=30, n_dots=5, *, seed=0):
    """Random walks, all of them seen."""
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(size=(n_frames, n_dots, 2)), axis=0), np.ones((n_frames, n_dots), bool)


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_another_phase_is_a_turn_of_the_steps(n_frames, seed):
    places, valid = paths(n_frames, seed=seed)
    shifts = np.random.default_rng(seed).integers(0, n_frames - 1, 5)
    moved, seen = other_phases(places, valid, dots=np.arange(5), shifts=shifts)
    steps = np.diff(places, axis=0)
    for dot, shift in enumerate(shifts):
        assert np.allclose(np.diff(moved[:, dot], axis=0), np.roll(steps[:, dot], -shift, axis=0))
    assert np.allclose(moved[-1] - moved[0], places[-1] - places[0])
    assert seen.all()


def test_a_hidden_dot_is_hidden_in_its_copies_as_long_and_makes_no_step_that_is_too_large():
    places, valid = paths()
    valid[7:12, 2] = False
    places[~valid] = np.nan
    moved, seen = other_phases(places, valid, dots=np.full(29, 2), shifts=np.arange(29))
    assert np.isfinite(moved).all()
    hidden = (~seen).sum(axis=0)
    assert set(hidden.tolist()) == {5, 6}  # 6 where a path begins and ends in the gap
    longest = np.nanmax(np.linalg.norm(np.diff(places[:, 2], axis=0), axis=1))
    steps = np.linalg.norm(np.diff(moved, axis=0), axis=2)
    assert steps[seen[1:] & seen[:-1]].max() <= longest + 1e-9


@pytest.mark.parametrize("phases", [False, True])
def test_every_copy_has_the_steps_of_its_dot_and_each_dot_is_copied_as_often(phases):
    places, valid = paths()
    box = np.array([[-20.0, -20.0], [20.0, 20.0]])
    made, _, copied = mask_scrambled(places, valid, 15, box=box, phases=phases, rng=np.random.default_rng(3))
    assert np.bincount(copied).tolist() == [3] * 5
    theirs = np.linalg.norm(np.diff(made, axis=0), axis=2)
    ours = np.linalg.norm(np.diff(places, axis=0), axis=2)[:, copied]
    assert np.allclose(np.sort(theirs, axis=0), np.sort(ours, axis=0))
    if not phases:
        assert np.allclose(np.diff(made, axis=0), np.diff(places, axis=0)[:, copied])


def test_copies_lie_evenly_wherever_their_paths_stay_in_the_box():
    places, valid = paths(20, 1)
    box = np.array([[-30.0, -40.0], [30.0, 40.0]])
    made = mask_scrambled(places, valid, 4000, box=box, phases=False, rng=np.random.default_rng(4))[0]
    assert (made.min(axis=0) >= box[0] - 1e-9).all()
    assert (made.max(axis=0) <= box[1] + 1e-9).all()
    room = box[1] - box[0] - np.ptp(places[:, 0], axis=0)
    moved = (made[0] - made[0].min(axis=0)) / room
    counts = np.histogram2d(*moved.T, bins=4, range=[(0, 1), (0, 1)])[0]
    assert counts.min() > 200
    assert counts.max() < 300


def test_copies_look_as_the_dots_that_they_copy():
    two = make_stimulus(staged(["walker:wave", "walker:bow"]), spec_of({"colours": "two", "n_noise": "26"}))
    assert sorted(map(tuple, two.levels[26:].tolist())) == sorted(map(tuple, two.levels[:26].tolist()))
