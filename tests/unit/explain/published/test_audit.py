"""Rows of made-up tables whose mistakes are known."""

import pytest

from vidence.errors import UsageError
from vidence.explain.published.grim import audit_row

SIZES = {"x": 7, "y": 11, "z": 13}
# 3 / 7, 5 / 11, 4 / 13 and together 12 / 31.
RIGHT = {"x": "42.86", "y": "45.45", "z": "30.77"}


def test_a_right_row_has_nothing_to_say() -> None:
    found = audit_row(RIGHT, SIZES, whole=("38.71", 31))
    assert found.is_possible
    assert {name: cell.nearest for name, cell in found.cells.items()} == {"x": (3,), "y": (5,), "z": (4,)}
    assert (found.fits, found.other_sizes, found.moves) == ({}, {}, ())
    assert found.sum_check is not None
    assert found.sum_check.part_sums == (12, 12)
    assert audit_row(RIGHT, SIZES).is_possible


def test_swapped_columns_are_found() -> None:
    found = audit_row({**RIGHT, "x": "45.45", "y": "42.86"}, SIZES, whole=("38.71", 31))
    assert not found.is_possible
    assert found.fits == {"x": ("y",), "y": ("x",)}
    assert [(move.sources, move.adds_up) for move in found.moves] == [({"x": "y", "y": "x"}, True)]


def test_rotated_columns_are_found_without_a_whole() -> None:
    found = audit_row({"x": "30.77", "y": "42.86", "z": "45.45"}, SIZES)
    assert found.sum_check is None
    assert [(move.sources, move.adds_up) for move in found.moves] == [({"x": "y", "y": "z", "z": "x"}, None)]


def test_a_misprint_fits_nowhere() -> None:
    found = audit_row({**RIGHT, "x": "42.00"}, SIZES)
    assert found.fits == {"x": ()}
    assert found.moves == ()
    # 5 / 7 over one question less: 4 / 6 = 66.67.
    assert audit_row({**RIGHT, "x": "66.67"}, SIZES).other_sizes == {"x": (6, 9)}


def test_possible_values_that_do_not_add_up() -> None:
    found = audit_row(RIGHT, SIZES, whole=("41.94", 31))
    assert not found.is_possible
    assert found.fits == {}
    assert found.moves == ()
    impossible_whole = audit_row(RIGHT, SIZES, whole=("38.00", 31))
    assert not impossible_whole.is_possible


def test_a_swap_of_columns_of_one_size_is_no_repair_of_the_sum() -> None:
    sizes = {"x": 5, "y": 5, "z": 5}
    found = audit_row({"x": "20", "y": "40", "z": "60"}, sizes, whole=("53.33", 15))
    assert found.moves == ()


def test_four_values_in_each_others_place_are_found() -> None:
    # Printed where 4 / 6, 3 / 4, 10 / 11, 5 / 5 belong, in another order.
    values = {"a": "100.00", "b": "66.67", "c": "75.00", "d": "90.91"}
    sizes = {"a": 6, "b": 4, "c": 11, "d": 5}
    found = audit_row(values, sizes, whole=("84.62", 26))
    moves = [(move.sources, move.adds_up) for move in found.moves]
    # No value but 100 fits d, where five questions are, so all four move.
    assert ({"a": "b", "b": "c", "c": "d", "d": "a"}, True) in moves
    assert all(adds_up for _, adds_up in moves)


def test_the_fewest_moves_come_first_and_the_sum_may_need_more() -> None:
    # The human row of PerceptionComp in small: swapping two makes all possible, a rotation also adds up.
    values = {"shopping": "80", "sport": "81.08", "home": "93.33", "show": "100"}
    sizes = {"shopping": 5, "sport": 15, "home": 74, "show": 15}
    found = audit_row(values, sizes, whole=("83.49", 109))
    moves = [(move.sources, move.adds_up) for move in found.moves]
    assert moves[0] == ({"sport": "home", "home": "sport"}, False)
    # 5 of 5, 12 of 15, 60 of 74, 14 of 15: 91 of 109.
    assert ({"shopping": "show", "sport": "shopping", "home": "sport", "show": "home"}, True) in moves[1:]


@pytest.mark.parametrize("values", [{}, {"x": "50", "w": "50"}])
def test_a_row_needs_columns_with_sizes(values: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="each with the number of its questions"):
        audit_row(values, SIZES)
