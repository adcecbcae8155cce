"""The sorted figure: places along the axis, and the second p only where questions are shared."""

import numpy as np

from vidence.report.over_models import ByValue
from vidence.report.scores import Draws
from vidence.report.sorted_values import sorted_statements
from vidence.statistics.sorted_means import Marks


def test_the_second_p_is_told_only_of_shared_questions():
    one = Marks(values=np.array([1.0, 0.0, 1.0, 0.0]), things=np.array([0, 1, 0, 1]))
    for are_alike in (True, False):
        found = ByValue(
            models=("m",),
            values=("a", "b"),
            marks=(one,),
            scores=np.array([[1.0, 0.0]]),
            left_out=(),
            are_alike=are_alike,
        )
        figure, table = sorted_statements("set", found, by="t", draws=Draws(rng=np.random.default_rng(0)))
        assert ("where questions differ" in figure.note) is are_alike
        assert [row.label for row in table.rows] == ["a", "b"]
