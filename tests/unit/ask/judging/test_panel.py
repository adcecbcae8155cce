"""Several judges on one reply."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.ask.judging.panel import PANEL_RULES, combine
from vidence.records import Answered, Failed, Score, Verdict


def score(value, *, points=None, extracted="", model="m"):
    """The score of one member; None is a judge error."""
    verdict = Verdict(judge_model=model, value=value, points=points, extracted=extracted)
    if value is None:
        outcome = Failed(stage="scoring", error="JudgeError", message="?")
        return Score(outcome=outcome, value=0.0, scorer="j", scorer_version=2, verdicts=(verdict,))
    return Score(
        outcome=Answered(answer=extracted),
        value=value,
        scorer="j",
        scorer_version=2,
        points=points,
        verdicts=(verdict,),
    )


def ruled(value):
    return Score(outcome=Answered(answer="A"), value=value, scorer="rules", scorer_version=1)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0], 1.0), ([1.0, 1.0, 0.0], 1.0), ([0.0, 1.0, 0.0], 0.0), ([1.0, 1.0], 1.0),
        ([1.0, None], 1.0), ([1.0, 1.0, None, None], 1.0), ([0.0, 0.0, None], 0.0), ([1.0, 0.0], None),
        ([1.0, 0.0, None], None), ([1.0, 1.0, 0.0, 0.0], None), ([1.0, None, None], None), ([None], None),
        ([None, None], None), ([1.0, 1.0, None, None, None], None),
    ],
)  # fmt: skip
def test_most_of_the_given_verdicts_decide(values, expected):
    combined = combine([score(v) for v in values])
    is_error = isinstance(combined.outcome, Failed)
    assert is_error is (expected is None)
    assert combined.value == (0.0 if expected is None else expected)
    assert [v.value for v in combined.verdicts] == values
    assert (combined.scorer, combined.scorer_version) == ("j", 2)


def test_the_answer_is_that_of_the_first_in_the_majority_and_points_are_the_mean():
    combined = combine([score(0.0, extracted="x"), score(1.0, extracted="y"), score(1.0, extracted="z")])
    assert combined.outcome == Answered(answer="y")
    members = [score(1.0, points=4.0), score(1.0, points=3.0), score(0.0, points=2.0), score(None)]
    assert combine(members).points == 3.0
    assert combine([score(1.0), score(1.0)]).points is None
    assert combine([ruled(1.0), ruled(1.0)]) == ruled(1.0)
    assert combine([score(1.0, points=4.0)]) == score(1.0, points=4.0)
    with pytest.raises(ValueError, match="at least one score"):
        combine([])


def test_an_undecided_panel_gives_no_points_and_says_why():
    tie = combine([score(1.0, points=4.0), score(0.0, points=0.0)])
    assert tie.points is None
    assert (tie.outcome.error, tie.outcome.message) == ("Undecided", "the judges are tied: 1 for 1, 1 for 0")
    few = combine([score(1.0), score(None), score(None)])
    assert few.outcome.message == "1 of 3 judges gave a verdict"
    assert (tie.is_undecided, tie.has_judge_error) == (True, False)
    assert (few.is_undecided, few.has_judge_error) == (False, True)


@given(st.lists(st.sampled_from([1.0, 0.0, None]), min_size=2, max_size=5))
def test_the_order_of_the_members_does_not_matter(values):
    found = {
        (c.value, type(c.outcome))
        for order in itertools.islice(itertools.permutations(values), 40)
        for c in [combine([score(v) for v in order])]
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("values", "mean", "left_open"),
    [
        ([1.0, 1.0], 1.0, 1.0),
        ([1.0, 0.0], 0.5, None),
        ([1.0, 1.0, 0.0], 2 / 3, None),
        ([0.0, None], 0.0, 0.0),
        ([1.0, 0.0, None], 0.5, None),
    ],
)
def test_other_rules_take_the_mean_or_leave_open_what_differs(values, mean, left_open):
    scores = [score(v) for v in values]
    assert combine(scores, rule="mean").value == pytest.approx(mean)
    found = combine(scores, rule="open")
    assert found.value == left_open
    assert found.is_undecided is (left_open is None)
    assert not found.has_judge_error
    assert [v.value for v in found.verdicts] == values


@pytest.mark.parametrize("rule", PANEL_RULES)
def test_too_few_verdicts_are_a_judge_error_by_every_rule(rule):
    assert combine([score(1.0), score(None), score(None)], rule=rule).has_judge_error
