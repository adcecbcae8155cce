"""Values, labels and levels that statistics take, and those that they refuse."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.statistics.resampling import as_labels, as_values, check_level


def test_values_become_a_row_of_numbers():
    found = as_values([1, True, 0.5])
    assert found.dtype == np.float64
    assert found.tolist() == [1.0, 1.0, 0.5]


@pytest.mark.parametrize("values", [[], [[1.0]], 1.0])
def test_what_is_no_row_is_refused(values):
    with pytest.raises(UsageError, match="expected one row with at least one value"):
        as_values(values)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_named_with_its_position(bad):
    with pytest.raises(UsageError, match="at position 1 is not a finite number"):
        as_values([0.0, bad, bad])


def test_labels_are_sorted_and_told_by_position():
    names, codes = as_labels(["b", "a", "b"], 3, what="videos")
    assert names == ("a", "b")
    assert codes.tolist() == [1, 0, 1]


def test_there_is_one_label_for_each_value():
    with pytest.raises(UsageError, match="2 videos for 3 values"):
        as_labels(["a", "b"], 3, what="videos")


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_level_lies_between_0_and_1(level):
    check_level(0.95)
    with pytest.raises(UsageError, match="expected a number between 0 and 1"):
        check_level(level)
