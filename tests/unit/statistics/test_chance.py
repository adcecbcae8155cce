"""Baselines against values worked out by hand."""

import pytest

from vidence.errors import UsageError
from vidence.statistics.chance import (
    SIZE_RULES,
    choice_sizes,
    longest_choice,
    margin,
    numeric_median,
    shortest_choice,
    size_rank,
)
from vidence.statistics.intervals import mean_interval
from vidence.statistics.paired import compare


def test_the_longest_and_the_shortest_choice_are_none_where_several_are():
    assert longest_choice(["aa", "bbbb", "ccc"]) == 1
    assert longest_choice(["a       ", "bb"]) == 1
    assert longest_choice(["aa", "bbbb", "cccc"]) is None
    assert shortest_choice(["aa", "bbbb", "cccc"]) == 0
    assert shortest_choice(["aa", "bb", "cccc"]) is None
    for rule in (longest_choice, shortest_choice, numeric_median, choice_sizes):
        with pytest.raises(UsageError, match="no choices"):
            rule([])


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        (["9", "1", "5"], 2),
        (["4", "1", "3", "2"], 3),  # of 1, 2, 3, 4 the lower middle: 2
        (["7", "5", "5", "2", "1", "1"], 3),  # of 1, 1, 2, 5, 5, 7 the lower middle: 2
        (["7", "2", "2", "2", "1"], None),  # three have the median
        (["5", "5", "5"], None),
        (["1", "2-3", "3"], 1),
        (["0 to 4", "10-12", "5 cm to 9 cm", "between 13 and 20", "21\u201340"], 1),
        (["-3", "0", "\u22125"], 0),
        (["1,000 m", "900 m", "1,000.5 m"], 0),
        ([".5", "0.25", "1"], 0),
        (["3rd", "1st", "2nd"], 2),
        (["30°", "0°", "90°"], 0),
        (["take-2", "take-3", "take-1"], 0),
        (["No.5", "No.7", "No.9"], 1),
        (["$5", "(7)", "+6"], 2),
        (["12"], 0),
    ],
)
def test_the_median_number_is_found(choices, expected):
    assert numeric_median(choices) == expected


@pytest.mark.parametrize(
    "option",
    ["two", "3-2", "2 and 3", "2-3-4", "10:30", "1/2", "GA783FY", "1,2345", "1.2.3", "", "2 of 5", "1,5"],
)
def test_there_is_no_median_unless_each_choice_has_one_number(option):
    assert numeric_median(["1", option, "3"]) is None


def test_the_size_of_a_range_is_its_middle():
    assert choice_sizes(["3-5", "-3", "1,000 to 2,000 m", "from 6 until 8", "Between 2 and 3 s", "6~7"]) == (
        4, -3, 1500, 7, 2.5, 6.5,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("choices", "found"),
    [
        # In the order of SIZE_RULES: smallest, second smallest, second largest, largest.
        (["8 to 9", "0 to 2", "3 to 7", "30 to 50", "10 to 20"], [1, 2, 4, 3]),
        (["4", "1", "1", "9", "7"], [None, None, 4, 3]),
        (["1", "2"], [0, 1, 0, 1]),
        (["1"], [0, None, None, 0]),
        (["1", "2", "many"], [None] * 4),
    ],
)
def test_rules_of_sizes_find_what_has_that_rank_alone(choices, found):
    assert [pick(choices) for _, pick in SIZE_RULES.values()] == found
    # There is no rank beyond the choices.
    assert [size_rank(rank)(["1", "2"]) for rank in (2, -3, -2)] == [None, None, 0]


def test_the_margin_over_a_rule_is_the_paired_difference():
    score, rule, videos = [1, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 1], ["a", "a", "b", "b", "c", "c"]
    found = margin(score, rule, clusters=videos, level=0.9)
    assert found == compare(score, rule, clusters=videos, level=0.9).difference
    assert found.value == pytest.approx(1 / 6)


def test_the_margin_over_guessing_is_the_score_moved_by_the_chance():
    # All right; the differences vary only with the number of choices.
    score, chances = [1] * 6, [0.25, 0.2] * 3
    found = margin(score, chances, clusters=list("abcdef"))
    alone = mean_interval(score, clusters=list("abcdef"))
    assert (found.value, found.low, found.high) == pytest.approx(
        (1 - 0.225, alone.low - 0.225, alone.high - 0.225)
    )
    assert found.method.endswith("; less the mean chance")
    none = margin([1, 0, 1], [1, 0, 1], clusters=["a", "b", "c"])
    assert none.value == 0
    assert none.low == -none.high < 0
    with pytest.raises(UsageError, match="1 baseline values for 2"):
        margin([1, 0], [0.5], clusters=["a", "b"])


def test_a_margin_over_groups_counts_each_group_alike():
    # Ten of one group, all right; two of another, none right: a micro margin of 10/12 - 1/4.
    score, groups = [1.0] * 10 + [0.0] * 2, ["a"] * 10 + ["b"] * 2
    videos = [f"v{n}" for n in range(12)]
    over_chance = margin(score, [0.25] * 12, clusters=videos, groups=groups)
    assert over_chance.value == pytest.approx(0.25)
    alone = mean_interval(score, clusters=videos, groups=groups)
    assert (over_chance.low, over_chance.high) == pytest.approx((alone.low - 0.25, alone.high - 0.25))
    over_rule = margin(score, [1.0] * 5 + [0.0] * 7, clusters=videos, groups=groups)
    assert over_rule.value == pytest.approx(0.25)
