"""Two scores over points: runs, runs by tag, rows of a table; and what is refused."""

import csv
import json
import math

import numpy as np
import pytest
from scipy import stats

from vidence.errors import UsageError
from vidence.explain.published.printed_tables import read_file
from vidence.report.correlation import (
    JSON_FORMAT,
    Point,
    Points,
    correlate,
    points_of_runs,
    points_of_table,
    section,
    sentences,
    tables,
    write_points_csv,
)
from vidence.tables.table import shown

TABLE = """Model,Type,3AFC,Matching
A,Label,40.1,30
A,Intention,35.0,28
B,Label,50,44
B,Intention,41,-
C,Label,30,35
C,Intention,28,31
D,Label,22,20
D,Intention,27,24
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TABLE)
    path.with_suffix(".toml").write_text('names = ["Model", "Type"]\n')
    return read_file(path)


@pytest.fixture
def four(runs):
    """Runs with 10 questions of each kind and target, of which some of each are right."""
    parts = [{"kind": kind, "target": target} for target in "st" for kind in ("easy", "hard")]
    tags = [part for part in parts for _ in range(10)]
    counts = {"k": (9, 7, 8, 7), "l": (7, 5, 5, 4), "m": (5, 3, 6, 5), "n": (3, 1, 2, 1)}
    return [
        runs.asked(name, [i < n for n in right for i in range(10)], tags=tags, model=f"scripted:{name}")
        for name, right in counts.items()
    ]


def names_of(some):
    return [one.name for one in some]


def test_points_are_rows_of_a_table(table):
    points = points_of_table(table, x="3AFC", y="Matching", cluster="Model", within="Type")
    assert points.points[0] == Point(cluster="A", stratum="Label", x=40.1, y=30.0)
    assert len(points.points) == 7
    assert points.notes == ("Rows without both numbers, or made of others, are left out: 1.",)


def test_points_are_runs_or_runs_by_a_tag(four):
    points = points_of_runs(four, names_of(four), x="kind=easy", y="kind=hard")
    assert points.points[0] == Point(cluster="k", stratum="", x=0.85, y=0.7)
    by = points_of_runs(four, names_of(four), x="kind=easy", y="kind=hard", by="target")
    assert by.points[1] == Point(cluster="k", stratum="t", x=0.8, y=0.7)
    assert len(by.points) == 8
    one = points_of_runs(four, names_of(four), x="kind=easy,target=s", y="all")
    assert one.points[0].x == 0.9
    assert shown(tables(correlate(one, rng=np.random.default_rng(0)))[-1], "point:0", "x").text == "90.0"


def test_runs_stand_beside_a_table_by_their_names(four, tmp_path):
    path = tmp_path / "size.csv"
    path.write_text(
        "Model,target,size\n" + "".join(f"{n},{t},{i}\n" for i, n in enumerate("klmn") for t in "st")
    )
    path.with_suffix(".toml").write_text('names = ["Model", "target"]\n')
    points = points_of_runs(four, names_of(four), x="all", y="size", by="target", table=read_file(path))
    assert [p.y for p in points.points] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert (points.y, points.are_shares) == ("size of size", (True, False))


def test_coefficients_are_those_of_scipy_and_clusters_move_whole(four):
    points = points_of_runs(four, names_of(four), x="kind=easy", y="kind=hard", by="target")
    found = correlate(points, rng=np.random.default_rng(0))
    x, y = [p.x for p in points.points], [p.y for p in points.points]
    rho, r = found.coefficients
    assert rho.found.value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert r.found.value == pytest.approx(stats.pearsonr(x, y).statistic)
    assert found.n_clusters == 4
    # 4 clusters have 24 orders; the least p is that of the seen one alone.
    assert rho.p_clusters is not None
    assert (rho.p_clusters * 24) == pytest.approx(round(rho.p_clusters * 24))
    assert {part.name: part.n for part in found.parts} == {"s": 4, "t": 4, "means of clusters": 4}
    said = sentences(found)
    assert said[0].startswith(
        "accuracy, kind=easy against accuracy, kind=hard over 8 points of 4 clusters: Spearman's rho is "
    )
    assert "by drawing whole clusters; p " in said[0]
    assert said[1].startswith("As if points were independent, which those of one cluster are not: ")


def test_three_points_in_one_line_prove_nothing():
    some = tuple(Point(cluster=str(i), stratum="", x=i, y=2 * i) for i in range(3))
    points = Points(x="x", y="y", points=some)
    found = correlate(points, rng=np.random.default_rng(0))
    assert found.coefficients[0].p_clusters == pytest.approx(2 / 6)
    assert "no interval" in sentences(found)[0]
    assert "p = 0.33 by permuting points" in sentences(found)[0]
    assert math.isnan(found.coefficients[0].found.bootstrap.low)
    assert found.coefficients[0].found.bootstrap.reason == "too few clusters (3)"


def test_clusters_without_every_stratum_are_not_permuted(table):
    points = points_of_table(table, x="3AFC", y="Matching", cluster="Model", within="Type")
    found = correlate(points, rng=np.random.default_rng(0))
    assert found.coefficients[0].p_clusters is None
    assert "no p, since clusters without the same strata once each cannot be permuted" in sentences(found)[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"x": "kind", "y": "all"}, "--x 'kind'; expected 'all', or TAG=VALUE"),
        ({"x": "all", "y": "kind="}, "--y 'kind='; expected 'all', or TAG=VALUE"),
        ({"x": "kind=odd", "y": "all"}, "no scored question of k is kind=odd"),
        ({"x": "all", "y": "all", "by": "none"}, "no scored question of k has the tag 'none'"),
    ],
)
def test_questions_that_are_not_there_are_refused(four, options, said):
    with pytest.raises(UsageError, match=said):
        points_of_runs(four, names_of(four), **options)


def test_tables_that_do_not_fit_are_refused(four, table):
    with pytest.raises(UsageError, match="has no column 'None'; its columns are Model, Type, 3AFC, Matching"):
        points_of_table(table, x="None", y="3AFC")
    with pytest.raises(UsageError, match="0 rows of scores have Model 'k'; expected one"):
        points_of_runs(four, names_of(four), x="all", y="3AFC", table=table)
    with pytest.raises(UsageError, match="2 rows of scores have Model 'A'; expected one"):
        points_of_runs(four[:1], ["A"], x="all", y="3AFC", table=table)
    with pytest.raises(UsageError, match="1 names for 4 runs; expected a different one for each"):
        points_of_runs(four, ["A"], x="all", y="3AFC", table=table)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([(1, 2), (2, 3)], "2 points; a correlation needs three or more"),
        ([], "0 points"),
        ([(1, 2), (1, 3), (1, 4)], "x is 1 at every point"),
        ([(1, 2), (2, 2), (3, 2)], "y is 2 at every point"),
    ],
)
def test_points_without_a_correlation_are_refused(pairs, said):
    points = tuple(Point(cluster=str(i), stratum="", x=x, y=y) for i, (x, y) in enumerate(pairs))
    with pytest.raises(UsageError, match=said):
        correlate(Points(x="x", y="y", points=points), rng=np.random.default_rng(0))


def test_every_form_has_the_same_figures(four, tmp_path):
    points = points_of_runs(four, names_of(four), x="kind=easy", y="kind=hard", by="target")
    found = correlate(points, rng=np.random.default_rng(0))
    write_points_csv(found, tmp_path / "p.csv")
    rows = list(csv.reader((tmp_path / "p.csv").read_text().splitlines()))
    assert rows[0] == ["cluster", "stratum", "accuracy, kind=easy", "accuracy, kind=hard"]
    assert rows[1] == ["k", "s", "0.9", "0.7"]
    section(found).write_json(tmp_path / "p.json", JSON_FORMAT, correlated=found)
    whole = json.loads((tmp_path / "p.json").read_text())
    rho = whole["correlated"]["coefficients"][0]
    assert rho["found"]["value"] == found.coefficients[0].found.value
    assert whole["sentences"] == list(sentences(found))
    facts = (("Correlation", {"x": "kind=easy"}),)
    section(found).write_page(tmp_path / "p.html", eyebrow="vidence stats correlate", facts=facts)
    text = (tmp_path / "p.html").read_text()
    assert "Parts of the points" in text
    assert "kind=easy" in text
    assert [one.name for one in section(found).tables] == ["correlation", "parts", "points"]
