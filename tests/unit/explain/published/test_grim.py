"""The implied-integer audit against enumeration with whole numbers."""

import pytest

from vidence.errors import UsageError
from vidence.explain.published.grim import (
    ROUNDINGS,
    audit_row,
    check_mean,
    check_sum,
    fitting,
    implied,
    nearby_sizes,
    printed,
    shared_rules,
)

# Rows of made-up tables: 3 / 7, 5 / 11, 4 / 13 and together 12 / 31.
SIZES = {"x": 7, "y": 11, "z": 13}
RIGHT = {"x": "42.86", "y": "45.45", "z": "30.77"}


@pytest.mark.parametrize(
    ("text", "clean", "decimals"),
    [("46.20", "46.20", 2), (" 33.0 % ", "33.0", 1), ("27%", "27", 0), ("100", "100", 0), ("0.0", "0.0", 1)],
)
def test_percentages_are_read_with_their_digits(text: str, clean: str, decimals: int) -> None:
    found = printed(text)
    assert (found.text, found.decimals) == (clean, decimals)


@pytest.mark.parametrize("text", ["", "56.", ".5", "-3", "1,5", "n/a", "1e1", "+3", "٣", "2.3.4", "²"])
def test_what_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no percentage in digits"):
        printed(text)


def test_more_than_all_is_refused() -> None:
    with pytest.raises(UsageError, match="more than 100"):
        implied("100.01", 10)


@pytest.mark.parametrize("n", [0, -5])
def test_a_percentage_is_of_something(n: int) -> None:
    for call in (implied, nearby_sizes):
        with pytest.raises(UsageError, match="1 or more"):
            call("50", n)


def test_ties_go_up_to_even_down_or_are_cut() -> None:
    # 1 / 8 = 12.5 and 3 / 8 = 37.5 per cent, printed without digits.
    by_text = {text: implied(text, 8).counts for text in ("12", "13", "37", "38")}
    assert [by_text["12"][name] for name in ROUNDINGS] == [(), (1,), (1,), (1,)]
    assert [by_text["13"][name] for name in ROUNDINGS] == [(1,), (), (), ()]
    assert [by_text["37"][name] for name in ROUNDINGS] == [(), (), (3,), (3,)]
    assert [by_text["38"][name] for name in ROUNDINGS] == [(3,), (3,), (), ()]
    assert implied("37", 8).nearest == implied("38", 8).nearest == (3,)


def test_verdicts() -> None:
    # 37 / 137 = 27.0073 per cent, printed 27.01 or, cut off, 27.00.
    assert implied("27.01", 137).verdict == "possible"
    assert implied("27.00", 137).verdict == "truncated only"
    assert implied("27.00", 137).truncated == implied("27.00", 137).all == (37,)
    assert implied("27.02", 137).verdict == "impossible"
    assert implied("27.02", 137).all == ()


def test_coarse_percentages_of_many_questions_leave_many_counts() -> None:
    # 18.95 <= 100 k / 4569 < 19.05 for k = 866 to 870; cut off also up to below 19.1: 872.
    assert implied("19.0", 4569).counts["half-up"] == (866, 867, 868, 869, 870)
    assert implied("19.0", 4569).all == (866, 867, 868, 869, 870, 871, 872)


@pytest.mark.parametrize(("text", "count"), [("0", (0,)), ("0.00", (0,)), ("100", (7,)), ("100.0", (7,))])
def test_nothing_and_all_are_counts(text: str, count: tuple[int, ...]) -> None:
    assert implied(text, 7).all == count


def test_the_rule_that_a_row_shares() -> None:
    # 1 of 8 is 12.5, 3 of 8 37.5, 1 of 3 33.33..., 2 of 3 66.66...: 67 is rounded and 66 cut off.
    ties = [implied("13", 8), implied("37", 8)]
    assert shared_rules(ties) == ("nearest",)
    assert shared_rules([implied("50", 8), implied("33", 3)]) == ("nearest", "truncated")
    assert shared_rules([implied("12", 8), implied("66", 3)]) == ("truncated",)
    assert shared_rules([implied("13", 8), implied("66", 3)]) == ()
    assert shared_rules([implied("51", 8), implied("33", 3)]) == ()


def test_parts_and_whole_add_up_by_one_rule() -> None:
    # 2 of 3 cut off and 2 of 3 rounded; 4 of 6 is 66.67, cut off 66.66.
    cut, rounded = implied("66.66", 3), implied("66.67", 3)
    assert check_sum([rounded, rounded], implied("66.67", 6)).is_possible
    assert check_sum([cut, cut], implied("66.66", 6)).is_possible
    assert not check_sum([cut, rounded], implied("66.67", 6)).is_possible
    assert not check_sum([cut, cut], implied("66.67", 6)).is_possible
    # 49 % of 400 rounded are 194 to 198, cut off 196 to 199; of the 800 behind 49.75 there are 398.
    assert check_sum([implied("49.00", 400), implied("50.50", 400)], implied("49.75", 800)).is_possible
    assert [implied("49", 400).by(rule)[-1] for rule in ("nearest", "truncated")] == [198, 199]
    # 199 and 199 by cutting off make 398; 202 and 198 and 198 and 200 in any other way are no 49.75 cut off.
    assert check_sum([implied("49", 400), implied("49", 400)], implied("49", 800)).part_sums == (388, 398)


def test_a_row_is_possible_by_one_rule_alone() -> None:
    sizes = {"a": 3, "b": 7}
    assert audit_row({"a": "66.67", "b": "28.57"}, sizes).is_possible  # 2 of 7: 28.571...
    assert audit_row({"a": "66.66", "b": "28.57"}, sizes).is_possible
    assert audit_row({"a": "66.66", "b": "42.85"}, sizes).is_possible  # 3 of 7: 42.857...
    assert not audit_row({"a": "66.67", "b": "42.85"}, sizes).is_possible
    assert not audit_row({"a": "66.66", "b": "42.86"}, sizes).is_possible


def test_parts_add_up_or_not() -> None:
    parts = [implied("50.00", 4), implied("33.33", 6)]
    assert check_sum(parts, implied("40.00", 10)).is_possible
    wrong = check_sum(parts, implied("50.00", 10))
    assert not wrong.is_possible
    assert (wrong.part_sums, wrong.whole, wrong.n_parts, wrong.n_whole) == ((4, 4), (5,), 10, 10)


def test_parts_with_several_counts_reach_every_sum_between() -> None:
    parts = [implied("50", 400), implied("50", 400)]
    # 49.5 to 51, cut off: 198 to 203 of each.
    found = check_sum(parts, implied("50.4", 800))
    assert found.part_sums == (396, 406)
    assert found.is_possible


def test_a_sum_with_an_impossible_part_or_whole_is_impossible() -> None:
    assert check_sum([implied("33.00", 4)], implied("50", 4)).part_sums is None
    assert not check_sum([implied("33.00", 4)], implied("50", 4)).is_possible
    assert not check_sum([implied("50", 4)], implied("33.00", 4)).is_possible
    with pytest.raises(UsageError, match="no parts"):
        check_sum([], implied("50", 4))


def test_a_mean_within_rounding_is_possible() -> None:
    # Parts between 19.95 and 20.05, 29.95 and 30.05: the mean between 24.95 and 25.05.
    found = check_mean(["20.0", "30.0"], "25.1")
    assert (found.recomputed, found.low, found.high, found.is_possible) == (25.0, 24.95, 25.05, True)
    off = check_mean(["20.0", "30.0"], "25.2")
    assert not off.is_possible
    assert off.off_by == pytest.approx(0.1)
    assert check_mean(["20.0", "30.0"], "24.8").off_by == pytest.approx(0.1)


def test_a_mean_can_be_weighted() -> None:
    assert check_mean(["20", "30"], "22.5", weights=[3, 1]).off_by == 0
    assert check_mean(["20", "30"], "22.50", weights=[3, 1]).recomputed == 22.5
    assert not check_mean(["20", "30"], "25.00", weights=[3, 1]).is_possible
    assert check_mean(["20", "30"], "30", weights=[0, 5]).is_possible


def test_means_of_numbers_that_were_cut_off() -> None:
    # Parts from 20 to 21: the mean of two may be 20.9, which prints 20.9 but not 19.8.
    assert check_mean(["20", "20"], "20.9", is_truncated=True).is_possible
    assert not check_mean(["20", "20"], "20.9").is_possible
    assert not check_mean(["20", "20"], "19.8", is_truncated=True).is_possible


@pytest.mark.parametrize(
    ("parts", "weights"), [([], None), (["20"], [1, 2]), (["20", "30"], [1, -1]), (["20", "30"], [0, 0])]
)
def test_means_of_nothing_are_refused(parts: list[str], weights: list[int] | None) -> None:
    with pytest.raises(UsageError, match="expected"):
        check_mean(parts, "20", weights=weights)


def test_columns_and_sizes_where_a_value_fits() -> None:
    sizes = {"small": 3, "middle": 7, "large": 1000}
    assert fitting("33.33", sizes) == ("small",)
    assert fitting("14.3", sizes) == ("middle", "large")
    assert nearby_sizes("33.33", 4, reach=1) == (3,)
    assert nearby_sizes("33.33", 1) == (3,)
    with pytest.raises(UsageError, match="reach -1"):
        nearby_sizes("33.33", 4, reach=-1)


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
