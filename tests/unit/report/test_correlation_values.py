"""A correlation over values of runs: what it wants is said before anything is computed."""

import pytest

from vidence.errors import UsageError
from vidence.report.correlation import Axes
from vidence.report.correlation_values import shown_of


def test_it_wants_runs_and_a_tag():
    with pytest.raises(UsageError, match="--over-runs takes run folders and --by TAG"):
        shown_of([], Axes(x="a=1", y="a=2", by="t"), over_runs=True, level=0.95)
