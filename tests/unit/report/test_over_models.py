"""The marks of several models on the values of a tag."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.report.over_models import ByValue, over_models, sorted_statements, where_of
from vidence.report.scores import Draws
from vidence.statistics.sorted_means import Marks


@pytest.fixture
def rows(runs):
    def make(name, values, answers):
        tags = [{"label": v, "set": "one"} for v in values]
        return runs.asked(name, [letter == "A" for letter in answers], tags=tags).rows

    return make


def test_only_values_of_every_model_are_kept(rows):
    both = {"a": rows("a", "xxyz", "ABAA"), "b": rows("b", "xyyw", "AABA")}
    found = ByValue.of(both, by="label", where={})
    assert (found.models, found.values, found.left_out) == (("a", "b"), ("x", "y"), ("w", "z"))
    assert found.scores.tolist() == [[0.5, 1.0], [1.0, 0.5]]
    assert "w, z" in found.note()
    assert ByValue.of(both, by="label", where={"set": ("two",)}) is None
    assert ByValue.of({}, by="label", where={}) is None


def test_words_of_questions_and_the_interval_of_student_over_models():
    found = over_models([0.2, 0.4, 0.6], level=0.95)
    assert (found.low, found.high) == (0.0, pytest.approx(0.4 + 4.302653 * 0.2 / 3**0.5))
    assert over_models([0.2, 0.4], level=0.95).reason == "too few models (2)"
    assert over_models([], level=0.95) is None
    assert where_of("set=single, task=3afc", what="x") == {"set": ("single",), "task": ("3afc",)}
    assert where_of("", what="x") == {}
    with pytest.raises(UsageError, match="x 'single'; expected TAG=VALUE"):
        where_of("single", what="x")


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
        assert ("if questions differ" in figure.note) is are_alike
        assert [row.label for row in table.rows] == ["a", "b"]
