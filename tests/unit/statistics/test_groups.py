"""Groups of questions that count together."""

from itertools import product

import pytest

from vidence.errors import UsageError
from vidence.statistics.groups import all_right, graded, group_rule


@pytest.mark.parametrize(
    ("structure", "right", "score"),
    [
        ("[1,2,3,4]", "1110", 9 / 16),
        ("[1,2,3,4]", "0111", 0),
        ("[1, [2, 3], 4]", "1100", 4 / 12),
        ("[1,[2,3],4]", "1011", 4 / 12),
        ("[1,[2,3],4]", "1001", 1 / 12),
        ("[1,[2,3],4]", "1110", 7 / 12),
        ("[[1,2],3,4]", "0111", 0.1),
        ("[[1,2],3,4]", "1011", 0.1),
        ("[[1,2],3,4]", "1101", 0.2),
        ("[[1,2],3,4]", "1111", 1),
        ("relevance", "1010", 1 / 4),
        ("relevance", "1111", 1),
    ],
)
def test_a_group_is_graded_by_its_structure(structure, right, score):
    assert graded([float(one) for one in right], structure) == pytest.approx(score)


@pytest.mark.parametrize("structure", ["[1,2,3,4]", "[1,[2,3],4]", "[[1,2],3,4]", "relevance"])
def test_one_more_right_answer_never_costs(structure):
    for right in product((0.0, 1.0), repeat=4):
        for place in range(4):
            better = [*right[:place], 1.0, *right[place + 1 :]]
            assert graded(better, structure) >= graded(right, structure)


def test_a_group_of_another_size_has_no_score_and_another_structure_is_refused():
    assert graded([1, 1, 1], "[1,2,3,4]") is None
    with pytest.raises(UsageError, match=r"'1-2'; expected relevance"):
        graded([1, 1, 1, 1], "1-2")


def test_all_of_a_group_must_be_right():
    assert (all_right([1, 1]), all_right([1, 0.5]), all_right([0])) == (1.0, 0.0, 0.0)
    assert group_rule("graded:group")[0] is graded
    assert group_rule("micro") is None
