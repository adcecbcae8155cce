"""People and items crossed: against a calculation over a matrix, and against planted truth."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

from vidence.errors import UsageError
from vidence.records import Clusters
from vidence.statistics.crossed import between, crossed_interval, crossed_layout, crossed_mean
from vidence.statistics.intervals import UNBOUNDED, mean_interval, p_values, share_ends
from vidence.statistics.sandwich import Layout


def interval(answers, **options):
    """The interval of answers, which takes no items."""
    return crossed_interval(**{name: some for name, some in answers.items() if name != "items"}, **options)


def long(matrix, videos):
    """The answers of a matrix, people x items, one after the other; NaN where a person did not answer."""
    matrix = np.asarray(matrix, float)
    at = np.argwhere(~np.isnan(matrix))
    return {
        "values": [matrix[i, j] for i, j in at],
        "people": [f"P{i + 1:02d}" for i, _ in at],
        "items": [f"q{j}" for _, j in at],
        "clusters": Clusters([videos[j] for _, j in at], noun="video"),
    }


def test_the_variance_adds_people_and_videos_and_takes_off_what_both_hold():
    rng = np.random.default_rng(3)
    matrix = (rng.random((4, 12)) < rng.random((4, 1)) * 0.6 + 0.2).astype(float)
    videos = [f"v{j}" for j in range(12)]
    found = interval(long(matrix, videos), bounds=UNBOUNDED)
    # Balanced, one item on a video: CR2 is the sum of squared deviations over (G - 1) G, and dof are G - 1.
    mean = matrix.mean()
    people, items = matrix.mean(axis=1), matrix.mean(axis=0)
    of_people = ((people - mean) ** 2).sum() / (4 * 3)
    of_items = ((items - mean) ** 2).sum() / (12 * 11)
    of_both = ((matrix - mean) ** 2).sum() / (48 * 47)
    error = math.sqrt(max(of_people + of_items - of_both, of_people, of_items))
    half = stats.t.ppf(0.975, 3) * error
    assert (found.value, found.low, found.high) == pytest.approx((mean, mean - half, mean + half))
    assert (found.n, found.n_clusters, found.clustered_by, found.n_people) == (48, 12, "video", 4)
    assert found.dof == pytest.approx(3)
    assert "4 people and 12 videos crossed" in found.method


def test_many_people_on_few_videos_have_the_degrees_of_freedom_of_the_videos():
    rng = np.random.default_rng(4)
    matrix = (rng.random((12, 6)) < 0.5).astype(float)
    found = interval(long(matrix, ["a", "a", "b", "b", "c", "c"]))
    assert found.dof == pytest.approx(2)
    assert (found.n_clusters, found.n_people) == (3, 12)


def test_one_person_gets_the_interval_by_videos_of_a_model():
    values, videos = [1, 0, 1, 1, 0, 1], Clusters(["a", "a", "b", "b", "c", "c"], noun="source")
    found = crossed_interval(values, people=["P01"] * 6, clusters=videos)
    assert found == mean_interval(values, clusters=videos)
    assert found.n_people == 0


def test_people_who_are_all_right_leave_open_what_other_people_would_answer():
    found = interval(long(np.ones((3, 40)), [f"v{j}" for j in range(40)]))
    alone = mean_interval([1] * 40, clusters=[f"v{j}" for j in range(40)])
    assert (found.low, found.high, round(alone.low, 2)) == (pytest.approx(0.6915, abs=1e-4), 1, 0.91)
    assert "error CR2 of 3 people and 40 videos crossed" in found.method


def test_a_single_video_has_no_interval_however_many_people_saw_it():
    found = interval(long([[1, 0], [1, 1], [0, 1]], ["v", "v"]))
    assert (found.reason, found.n_people, math.isnan(found.low)) == ("too few videos (1)", 3, True)


def test_a_person_for_each_group_says_nothing_of_other_people():
    answers = long([[1, 0, math.nan, math.nan], [math.nan, math.nan, 1, 0]], ["a", "b", "c", "d"])
    found = interval(answers, groups=["x", "x", "y", "y"])
    assert (found.reason, found.n_people) == ("too few people (2)", 2)


def test_the_mean_is_over_answers_where_people_answered_different_numbers():
    matrix = [[1, 1, 1, 1], [0, math.nan, math.nan, math.nan], [1, 0, math.nan, 0]]
    found = interval(long(matrix, ["a", "b", "c", "d"]))
    assert (found.value, found.n) == (5 / 8, 8)


def test_a_difference_counts_items_and_not_answers_as_turns_of_a_coin():
    # Ten people differ on four items, always to one side: four turns of a coin are no finding.
    matrix = np.zeros((10, 40))
    matrix[:, :4] = 1
    mean = crossed_mean(**long(matrix, [f"v{j}" for j in range(40)]))
    found, p_value = mean.difference()
    assert mean.n_apart == 4
    assert p_value >= 2 * 0.5**4
    assert found.low <= 0 < found.value
    assert found.n_people == 10


@pytest.mark.parametrize("missing", ["people", "items", "clusters"])
def test_every_answer_needs_a_person_an_item_and_a_video(missing):
    answers = long(np.ones((2, 3)), ["a", "b", "c"])
    answers[missing] = answers[missing][:-1]
    with pytest.raises(
        UsageError, match=f"5 {'sources' if missing == 'clusters' else missing}.* of 6 values"
    ):
        crossed_mean(**answers)


def planted(*, n_people, n_items, share, of_people, of_items, n_runs=1500, seed=5):
    """Right answers of able and less able people to easy and hard items, shape (n_runs, people, items)."""
    rng = np.random.default_rng(seed)
    able = rng.normal(size=(n_runs, n_people, 1)) * math.sqrt(of_people)
    hard = rng.normal(size=(n_runs, 1, n_items)) * math.sqrt(of_items)
    rest = rng.normal(size=(n_runs, n_people, n_items)) * math.sqrt(1 - of_people - of_items)
    return (able + hard + rest < ndtri(share)).astype(float)


def rule(values):
    """Means, variances, and the factor with the fewer degrees of freedom, of balanced answers."""
    _, n_people, n_items = values.shape
    people = Layout.of(np.full((n_people, 1), float(n_items)))
    items = Layout.of(np.full((n_items, 1), float(n_people)))
    cells = Layout.of(np.ones((n_people * n_items, 1)))
    totals = values.sum(axis=2)[..., None]
    variances = between(
        people.variance(totals),
        items.variance(values.sum(axis=1)[..., None]),
        cells.variance(values.reshape(len(values), -1)[..., None]),
    )
    return people.mean(totals), variances, crossed_layout(people, items)


@pytest.mark.parametrize("n_people", [2, 4, 12])
@pytest.mark.parametrize(("of_people", "of_items"), [(0, 0), (0.05, 0.4), (0.2, 0.1)])
@pytest.mark.parametrize("share", [0.5, 0.85])
def test_the_interval_holds_the_planted_share(n_people, of_people, of_items, share):
    values = planted(n_people=n_people, n_items=30, share=share, of_people=of_people, of_items=of_items)
    means, variances, fewer = rule(values)
    low, high = share_ends(means, variances, layout=fewer, level=0.95)
    assert ((low <= share) & (share <= high)).mean() > 0.93
    one = interval(long(values[7], [f"v{j}" for j in range(30)]))
    assert (one.low, one.high) == pytest.approx((low[7], high[7]))


def test_by_videos_alone_the_interval_holds_for_these_people_only():
    values = planted(n_people=4, n_items=30, share=0.7, of_people=0.2, of_items=0.1)
    layout = Layout.of(np.full((30, 1), 4.0))
    totals = values.sum(axis=1)[..., None]
    low, high = share_ends(layout.mean(totals), layout.variance(totals), layout=layout, level=0.95)
    assert ((low <= 0.7) & (high >= 0.7)).mean() < 0.7


@pytest.mark.parametrize("n_people", [2, 4, 12])
def test_two_phases_that_are_alike_are_told_apart_in_five_of_a_hundred_at_most(n_people):
    common = {"n_people": n_people, "n_items": 30, "share": 0.6, "of_people": 0.1, "of_items": 0.2}
    values = planted(**common, seed=6) - planted(**common, seed=7)
    means, variances, fewer = rule(values)
    n_apart = (values != 0).any(axis=1).sum(axis=1)
    found = p_values(means, variances, n_apart=n_apart, dof=fewer.dof, n_alike=fewer.n_alike)
    assert (found < 0.05).mean() < 0.06
