"""Split halves: planted reliabilities come back, and nothing is claimed where nothing can be said."""

import math

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.statistics.split_halves import ceiling, reliability, stepped_up


def test_a_planted_reliability_comes_back():
    """Means over 8 raters of things with variance 1 and noise 2: 1 / (1 + 2 / 8) = 0.8."""
    rng = np.random.default_rng(0)
    things = rng.normal(size=4000)
    scores = things + math.sqrt(2) * rng.normal(size=(8, 4000))
    assert reliability(scores, rng=rng, n_splits=50) == pytest.approx(0.8, abs=0.02)


def test_nothing_in_common_few_raters_and_flat_halves_have_none():
    rng = np.random.default_rng(1)
    assert math.isnan(reliability(rng.normal(size=(3, 10)), rng=rng))
    assert math.isnan(reliability(np.ones((6, 10)), rng=rng))
    assert math.isnan(stepped_up(-0.2))
    with pytest.raises(UsageError, match="finite numbers"):
        reliability([[1.0, math.nan]], rng=rng)


def test_the_ceiling_is_the_root_of_the_product():
    assert ceiling(0.64, 0.25) == pytest.approx(0.4)
    assert math.isnan(ceiling(math.nan, 0.5))
