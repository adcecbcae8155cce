"""Intervals over people and items on planted truth: unbalanced studies, by the very call of reports."""

import math

import numpy as np
import pytest
from scipy.special import ndtri

from vidence.statistics.crossed import crossed_interval, crossed_mean

N_STUDIES = 250


def study(rng, *, answered, n_people, n_items, share, each=2, of_people=0.1, of_items=0.3):
    """Who answered what, and whether it was right: a person is able, an item and its video are hard."""
    videos = np.arange(n_items) // each
    hard = (rng.normal(size=n_items) + rng.normal(size=videos[-1] + 1)[videos]) * math.sqrt(of_items / 2)
    able = rng.normal(size=(n_people, 1)) * math.sqrt(of_people)
    rest = rng.normal(size=(n_people, n_items)) * math.sqrt(1 - of_people - of_items)
    right = able + hard + rest < ndtri(share)
    if answered == "some":
        mask = rng.random(right.shape) < np.linspace(0.3, 1, n_people)[:, None]
        mask[-1] = True
    else:  # every item by two people in turn
        items = np.arange(n_items)
        mask = np.zeros(right.shape, bool)
        mask[items % n_people, items] = True
        mask[(items + 1 + items // n_people % (n_people - 1)) % n_people, items] = True
    people, items = np.nonzero(mask)
    return {
        "values": right[mask].astype(float),
        "people": [f"P{i}" for i in people],
        "clusters": [f"v{videos[j]}" for j in items],
    }


@pytest.mark.parametrize("answered", ["some", "two of them"])
@pytest.mark.parametrize(("n_people", "n_items"), [(3, 20), (5, 60), (12, 40)])
def test_unbalanced_studies_hold_the_truth(answered, n_people, n_items):
    rng, held = np.random.default_rng(8), 0
    for _ in range(N_STUDIES):
        answers = study(rng, answered=answered, n_people=n_people, n_items=n_items, share=0.7)
        found = crossed_interval(**answers)
        held += found.low <= 0.7 <= found.high
    assert held / N_STUDIES > 0.93


def test_a_difference_that_is_not_there_is_seldom_found():
    rng, n_found = np.random.default_rng(9), 0
    for _ in range(N_STUDIES):
        answers = study(rng, answered="some", n_people=6, n_items=40, share=0.6)
        values = rng.choice([-1.0, 0.0, 1.0], size=len(answers["values"]), p=[0.2, 0.6, 0.2])
        _, p_value = crossed_mean(**answers | {"values": values}).difference()
        n_found += p_value < 0.05
    assert n_found / N_STUDIES < 0.07
