"""Drawing clusters and turning signs, against enumeration by hand."""

import math

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.statistics import resampling
from vidence.statistics.resampling import Resampling, cluster_draws, percentile_estimate


def generator(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("wrong", [{"n_boot": 0}, {"level": 1.0}, {"level": 95}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(UsageError, match="expected"):
        Resampling(**wrong)
    assert Resampling(n_boot=1).n_boot == 1


def test_every_draw_has_as_many_clusters_as_there_are(monkeypatch):
    whole = np.concatenate(list(cluster_draws(7, generator(3), 50)))
    assert whole.shape == (50, 7)
    assert (whole.sum(axis=1) == 7).all()
    monkeypatch.setattr(resampling, "BLOCK_CELLS", 20)
    assert (np.concatenate(list(cluster_draws(7, generator(3), 50))) == whole).all()


def test_each_cluster_is_drawn_once_on_average():
    drawn = np.concatenate(list(cluster_draws(5, generator(), 20_000)))
    # Standard error of each mean: sqrt(0.8 / 20000) = 0.006.
    assert drawn.mean(axis=0) == pytest.approx([1.0] * 5, abs=0.03)


def estimate(value, draws, n_clusters=9):
    return percentile_estimate(value, np.array(draws), size=(20, n_clusters), name="thing", level=0.5)


def test_the_interval_lies_between_quartiles_of_the_draws():
    found = estimate(2.0, [0, 1, 2, 3, 4])
    assert (found.value, found.low, found.high, found.n, found.n_clusters) == (2.0, 1.0, 3.0, 20, 9)
    assert found.method == "thing; cluster bootstrap, percentile, 5 draws"
    found = estimate(2.0, [0, 1, math.nan, 2, 3, 4])
    assert (found.low, found.high) == (1.0, 3.0)
    assert found.method.endswith("6 draws; left out 1 draws in which it is undefined")
    assert "not informative" in estimate(2.0, [2.0, 2.0]).method


@pytest.mark.parametrize(
    ("value", "draws", "n_clusters", "said"),
    [
        (math.nan, [1.0], 9, "undefined for these values"),
        (1.0, [1.0], 1, "no interval: there is a single cluster"),
        (1.0, [math.nan, math.nan], 9, "no interval: undefined in all 2 draws"),
    ],
)
def test_where_there_is_no_interval_the_method_says_why(value, draws, n_clusters, said):
    found = estimate(value, draws, n_clusters)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.method == f"thing; {said}"


FIRST, SECOND = [3.0, 5.0, 4.0], [1.0, 3.0, 2.0, 2.0]
CLUSTERS = (["a", "a", "b"], ["a", "b", "b", "c"])


@pytest.mark.parametrize("cells", [2**20, 7])
def test_groups_equal_draws_done_one_by_one(cells, monkeypatch):
    monkeypatch.setattr(resampling, "BLOCK_CELLS", cells)
    known = []
    for block in resampling.cluster_draws(3, np.random.default_rng(5), 200):
        for weights in block:
            times = dict(zip("abc", weights.astype(int), strict=True))
            first, second = (
                np.repeat(values, [times[c] for c in names])
                for values, names in zip((FIRST, SECOND), CLUSTERS, strict=True)
            )
            if len(first) and len(second):
                known.append(first.mean() - second.mean())
    found = resampling.difference_of_groups(
        FIRST, SECOND, clusters=CLUSTERS, rng=np.random.default_rng(5), settings=Resampling(n_boot=200)
    )
    assert (found.value, found.n, found.n_clusters) == (2.0, 7, 3)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(known, [0.025, 0.975])))
    assert f"left out {200 - len(known)} draws" in found.method
    alone = resampling.difference_of_groups([2.0], [1.0], clusters=(["a"], ["a"]), rng=generator())
    assert alone.value == 1.0
    assert "single cluster" in alone.method


@pytest.mark.parametrize(
    ("first", "second", "clusters", "message"),
    [
        ([], [1.0], ([], ["a"]), "at least one value"),
        ([1.0], [1.0], (["a"], ["a", "b"]), "2 clusters for 1 values of the second group"),
        ([1.0], [math.nan], (["a"], ["a"]), "not a finite number"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused(first, second, clusters, message):
    with pytest.raises(UsageError, match=message):
        resampling.difference_of_groups(first, second, clusters=clusters, rng=np.random.default_rng(0))


@pytest.mark.parametrize("values", [[], [[1.0]], 1.0])
def test_what_is_no_row_is_refused(values):
    with pytest.raises(UsageError, match="expected one row with at least one value"):
        resampling.as_values(values)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_named_with_its_position(bad):
    with pytest.raises(UsageError, match="at position 1 is not a finite number"):
        resampling.as_values([0.0, bad, bad])


def test_labels_are_sorted_and_told_by_position():
    names, codes = resampling.as_labels(["b", "a", "b"], 3, what="videos")
    assert names == ("a", "b")
    assert codes.tolist() == [1, 0, 1]
    with pytest.raises(UsageError, match="2 videos for 3 values"):
        resampling.as_labels(["a", "b"], 3, what="videos")
    values = resampling.as_values([1, True, 0.5])
    assert (values.dtype, values.tolist()) == (np.float64, [1.0, 1.0, 0.5])


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_level_lies_between_0_and_1(level):
    resampling.check_level(0.95)
    with pytest.raises(UsageError, match="expected a number between 0 and 1"):
        resampling.check_level(level)
