"""Exchanged points: two that change places, through gaps too, and limbs that fit only when crossed."""

from dataclasses import replace

import numpy as np
import pytest

from vidence.pointlight.exchanges import Crossed, Exchange, crossed, exchanges
from vidence.pointlight.motion import Motion
from vidence.pointlight.walker import ACTIONS, WalkerSpec, walker


def with_exchanged(motion: Motion, first: str, second: str, frames: slice) -> Motion:
    """The motion with the places of two points exchanged in some frames."""
    places = motion.positions_m.copy()
    a, b = motion.index(first), motion.index(second)
    places[frames, a], places[frames, b] = motion.positions_m[frames, b], motion.positions_m[frames, a]
    return replace(motion, positions_m=places)


def two_markers(n_frames: int = 40, *, step_m: float = 0.01) -> Motion:
    """Two markers of one wrist, 6 cm apart, that go on by 1 cm a frame, or as told."""
    way = np.arange(n_frames)[:, None] * np.array([0.0, 0.0, step_m])
    places = np.stack([way, way + np.array([0.06, 0.0, 0.0])], axis=1)
    seen = np.ones((n_frames, 2), bool)
    return Motion(positions_m=places, is_valid=seen, names=("LWRA", "LWRB"), fps=60.0, kind="markers")


def test_two_markers_of_one_side_are_found_too():
    assert exchanges(two_markers()) == ()
    found = exchanges(with_exchanged(two_markers(), "LWRA", "LWRB", slice(10, 25)))
    assert found == (
        Exchange(first="LWRA", second="LWRB", after_frame=9),
        Exchange(first="LWRA", second="LWRB", after_frame=24),
    )


def test_an_exchange_behind_a_gap_is_found_and_a_long_gap_says_nothing():
    wrong = with_exchanged(two_markers(step_m=0.001), "LWRA", "LWRB", slice(20, None))
    for n_hidden, n_found in ((5, 1), (19, 0)):
        seen = wrong.is_valid.copy()
        seen[20 - n_hidden : 20] = False
        hidden = replace(
            wrong, is_valid=seen, positions_m=np.where(seen[..., None], wrong.positions_m, np.nan)
        )
        assert len(exchanges(hidden, longest_gap_s=0.2)) == n_found


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_nothing_is_found_in_the_built_in_figure(action: str):
    figure = walker(WalkerSpec(action=action))
    assert exchanges(figure) == ()
    assert crossed(figure) == ()


def test_frames_in_which_a_wrist_is_on_the_other_arm():
    wrong = with_exchanged(walker(WalkerSpec()), "left_wrist", "right_wrist", slice(0, 40))
    assert crossed(wrong) == (Crossed(joint="wrist", start=0, stop=40),)


def test_a_part_of_a_body_says_nothing():
    assert crossed(two_markers()) == ()
