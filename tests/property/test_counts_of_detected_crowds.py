"""Ranges about detected people hold the true number as often as said, over crowds drawn without pixels."""

from dataclasses import replace

import numpy as np
import pytest

from subjects.drawn_crowds import asked, counted, crowd, holds, tried, true_number
from vidence.seeing.tracks import TrackBasis

CONFIDENCE = 0.95
DENSITIES = (5, 10, 20, 40, 80, 120)
# The share of boxes that is found, and how many crowds of each density are drawn: 126 in all.
RECALLS = {0.5: 1, 0.6: 1, 0.7: 1, 0.8: 3, 0.9: 5, 0.95: 5, 1.0: 5}


def test_ranges_that_are_asked_hold_the_true_number() -> None:
    held = {
        recall: [
            one
            for n_people in DENSITIES
            for seed in range(n_crowds)
            for one in tried(seed, n_people=n_people, recall=recall)
        ]
        for recall, n_crowds in RECALLS.items()
    }
    every = [one for some in held.values() for one in some]
    assert len(every) >= 240
    assert np.mean(every) >= CONFIDENCE
    assert all(np.mean(some) >= CONFIDENCE for some in held.values() if len(some) >= 50)


def test_large_crowds_are_asked_about() -> None:
    """Ranges as wide as the paper's, up to 197: a question whose right range goes beyond 60."""
    some = crowd(np.random.default_rng(0), n_people=120, recall=0.97, false_share=0.02)
    tops = [
        int(one.choices[one.answer_index].split(" to ")[-1])
        for one in asked(counted(some, n_frames=12), seed=0)
    ]
    assert max(tops) > 60


@pytest.mark.parametrize("n_people", [8, 16, 40])
def test_every_second_person_whom_a_detector_never_sees_makes_no_wrong_question(n_people: int) -> None:
    """Whoever deletes the boxes of every second figure got wrong ranges once: 3 to 6, where eight passed."""
    n_asked = 0
    for seed in range(6):
        whole = crowd(np.random.default_rng(seed), n_people=n_people, recall=1.0, false_share=0.0)
        kept = tuple(one for one in whole.tracked.tracks if int(one.track_id[1:].split("-")[0]) % 2 == 0)
        half = replace(whole, tracked=replace(whole.tracked, tracks=kept))
        assert asked(half.tracked, seed=seed) == []  # nobody has counted
        found = asked(counted(half, n_frames=12), seed=seed, widest="9")
        n_asked += len(found)
        assert all(holds(one, true_number(half, one)) for one in found)
        assert all(one.review == "detected-count" for one in found)
        blind = asked(replace(half.tracked, basis=TrackBasis(kind="given")), seed=seed)
        if n_people == 40:  # what taking them for everybody comes to
            assert not all(holds(one, true_number(half, one)) for one in blind)
    assert n_asked > 0 or n_people < 40
