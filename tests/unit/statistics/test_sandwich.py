"""CR2 errors and their degrees of freedom against clubSandwich and against plain matrices."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from vidence.statistics.intervals import UNBOUNDED, ClusteredMean
from vidence.statistics.sandwich import Layout

GOLDEN = Path(__file__).parents[2] / "golden" / "statistics" / "clubsandwich.json"
SETS = json.loads(GOLDEN.read_text(encoding="utf-8"))["sets"]


def mean_of(one):
    names = [f"v{c}" for c in one["clusters"]], [f"g{g}" for g in one["groups"]]
    return ClusteredMean.of(one["values"], clusters=names[0], groups=names[1])


@pytest.mark.parametrize("one", SETS, ids=[one["name"] for one in SETS])
def test_means_errors_and_intervals_are_those_of_clubsandwich(one):
    mean = mean_of(one)
    assert mean.value == pytest.approx(one["value"], rel=1e-12)
    assert math.sqrt(mean.variance) == pytest.approx(one["error"], rel=1e-10)
    assert mean.layout.dof == pytest.approx(one["dof"], rel=1e-10)
    found, _ = mean.difference(bounds=UNBOUNDED)
    assert (found.low, found.high) == pytest.approx((one["low"], one["high"]), rel=1e-9)


def dense(values, clusters, groups):
    """The CR2 variance of the mean of the group means, and its degrees of freedom, by the definition."""
    labels = np.unique(groups)
    x = (groups[:, None] == labels).astype(float)
    bread = np.linalg.inv(x.T @ x)
    contrast = np.full(len(labels), 1 / len(labels))
    hat = np.eye(len(values)) - x @ bread @ x.T
    rows = []
    for name in np.unique(clusters):
        is_in = clusters == name
        own = hat[np.ix_(is_in, is_in)]
        roots, vectors = np.linalg.eigh(own)
        adjust = vectors @ np.diag(roots**-0.5) @ vectors.T
        rows.append(contrast @ bread @ x[is_in].T @ adjust @ hat[is_in])
    rows = np.array(rows)
    products = rows @ rows.T
    return float(((rows @ values) ** 2).sum()), float(np.trace(products) ** 2 / (products**2).sum())


@pytest.mark.parametrize("n_groups", [1, 2, 4])
def test_the_closed_form_is_the_definition_with_matrices(n_groups):
    rng = np.random.default_rng(n_groups)
    sizes = rng.integers(1, 20, 14)
    clusters = np.repeat(np.arange(14), sizes)
    groups = rng.integers(0, n_groups, len(clusters))
    values = rng.normal(size=len(clusters)) + clusters % 3
    mean = ClusteredMean.of(values, clusters=[str(c) for c in clusters], groups=[str(g) for g in groups])
    variance, dof = dense(values, clusters, groups)
    assert mean.variance == pytest.approx(variance)
    assert mean.layout.dof == pytest.approx(dof)


def test_five_thousand_clusters_in_forty_groups_take_no_matrix_of_items():
    assert Layout.of(np.array([[60.0], *[[1.0]] * 90])).dof < 7  # a large cluster leaves few degrees
    counts = np.random.default_rng(0).integers(0, 3, (5000, 40)).astype(float)
    layout = Layout.of(counts[counts.sum(axis=1) > 0])
    assert 1000 < layout.dof < 5000
    assert layout.n_groups == 40
    assert len(layout.singles) == 0


def test_clusters_are_counted_by_the_group_that_lies_in_the_fewest():
    layout = Layout.of(np.array([[1.0, 2.0, 1.0], [3.0, 1.0, 0.0], [1.0, 0.0, 0.0], [2.0, 5.0, 0.0]]))
    assert (layout.n_clusters, layout.n_groups) == (4, 3)
    assert layout.n_alike == 1
    assert len(layout.singles) == 1
    assert layout.sizes.tolist() == [7.0, 8.0, 1.0]
    assert Layout.of(np.array([[1.0, 2.0], [3.0, 1.0], [1.0, 0.0]])).n_alike == 2
    assert Layout.of(np.ones((5, 1))).n_alike == 5
