"""The public names of the measures."""

import pytest

from vidence.statistics import metrics


@pytest.mark.parametrize("name", metrics.__all__)
def test_every_measure_says_what_it_is(name):
    assert (getattr(metrics, name).__doc__ or "").strip()
