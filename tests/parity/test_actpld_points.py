"""ActPLD's correlations over models and targets as its paper prints them, and its tables of people."""

import json
import math

import numpy as np
import pytest

from conftest import need
from vidence.explain.published import published
from vidence.report.correlation import Point, Points, correlate, points_of_table
from vidence.statistics.contrasts import contrast

pytestmark = pytest.mark.parity


def correlated(name):
    points = points_of_table(
        published.load(name), x="3AFC", y="Description Matching", cluster="Model", within="Type"
    )
    return correlate(points, rng=np.random.default_rng(0))


def test_social_clips_as_section_3_3_prints_them():
    found = correlated("actpld-table3")
    rho = found.coefficients[0]
    assert (found.n_clusters, rho.found.n) == (6, 12)
    assert (round(rho.found.value, 3), round(rho.found.p_value, 3)) == (0.725, 0.008)
    assert (round(rho.found.fisher.low, 2), round(rho.found.fisher.high, 2)) == (0.24, 0.92)
    # Six models, not twelve points: the interval is wider below, and p about the same here.
    assert rho.found.bootstrap.low < rho.found.fisher.low
    assert rho.p_clusters == pytest.approx(5 / math.factorial(6), abs=2e-3)
    assert {part.name: round(part.spearman, 2) for part in found.parts} == {
        "Label": 0.77,
        "Intention": 0.87,
        "means of clusters": 0.88,
    }


def test_clips_of_one_actor_as_section_3_3_prints_them():
    found = correlated("actpld-table2")
    rho = found.coefficients[0]
    assert (round(rho.found.value, 3), round(rho.found.p_value, 3)) == (-0.112, 0.730)
    assert rho.p_clusters is not None
    assert rho.p_clusters > 0.5
    assert {part.name: round(part.spearman, 2) for part in found.parts} == {
        "Label": -0.65,
        "Intention": 0.06,
        "means of clusters": -0.03,
    }


def people(checks_dir, name):
    """Right or wrong by clip; clips without a mark are left out."""
    tables = json.loads(need(checks_dir / "actpld" / "human_tables.json").read_text())["human"]
    return {row["n"]: float(row["correct"]) for row in tables[name]["rows"] if row["correct"] is not None}


def test_what_two_people_miss_has_nothing_in_common(checks_dir):
    first, second = people(checks_dir, "table7"), people(checks_dir, "table8")
    points = tuple(Point(cluster=str(n), stratum="", x=first[n], y=second[n]) for n in first)
    found = correlate(
        Points(x="participant 1", y="participant 2", points=points), rng=np.random.default_rng(0)
    )
    # 3 and 1 of 30 clips are missed, none by both: phi is -sqrt(3 * 1 / (27 * 29)).
    rho, r = found.coefficients
    assert r.found.value == pytest.approx(-math.sqrt(3 / (27 * 29)))
    assert rho.found.value == pytest.approx(r.found.value)
    assert rho.p_clusters is not None
    assert rho.p_clusters > 0.5


def test_people_on_social_clips_less_single_actors(checks_dir):
    marks = [
        (mark, f"{kind} {n}", kind)
        for kind, names in (("social", ("table5", "table6")), ("single", ("table7", "table8")))
        for name in names
        for n, mark in people(checks_dir, name).items()
    ]
    values, clips, kinds = zip(*marks, strict=True)
    found = contrast(values, clusters=clips, groups=kinds, weights={"social": 1, "single": -1})
    assert (found.estimate.n, found.estimate.n_clusters, found.n_shared) == (114, 57, 0)
    assert found.estimate.value == pytest.approx(52 / 54 - 56 / 60)
    assert found.verdict == "not clear"
