"""Findings of diagnostics of several runs: what a run lacks is missing, never nothing."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.explain.diagnostics.best_of_n import BestOfNFinding
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.explain.diagnostics.frame_shares import FrameSharesFinding
from vidence.explain.diagnostics.hints import HintsFinding
from vidence.explain.diagnostics.modality import CONDITIONS, ModalityFinding
from vidence.explain.diagnostics.mrfs import MrfsFinding
from vidence.report.panel_grid import open_view
from vidence.report.panel_registry import paper_views
from vidence.report.panel_views.findings import found_of, stacked
from vidence.tables.plots import draw_plot
from vidence.tables.table import DASH, Column, Row, Table, shown


def paper(name):
    return open_view(paper_views()[name].view)


def table(*keys):
    columns = tuple(Column(key=key, title=key) for key in keys)
    rows = (Row(key="all", label="all", values=(1,) * len(keys)),)
    return Table(name="t", title="t", label="", columns=columns, rows=rows)


def test_all_columns_of_any_run_stand_there(bare, grid, draws):
    finding = MrfsFinding(category="undefined", right={0: False, 4: False}, n_delivered=4)
    whole = grid(bare([finding], diagnostic="mrfs", version=2, options={"max": "4"}))
    ((cell, one),) = found_of(whole, ("mrfs",), draws=draws)
    found = [(cell, replace(one, statements=(table(*keys),))) for keys in (("a", "b"), ("b", "c"))]
    made = stacked("s", found)
    assert made.keys == ("a", "b", "c")
    assert shown(made, "1:all", "a").text == DASH
    assert shown(made, "1:all", "c").text == "1"
    assert made.rows[0].detail == "table, max 4"


def needs(n):
    right = {0: False} | {k: k >= n for k in range(1, 5)}
    letters = {k: "A" if so else "BCD"[k % 3] for k, so in right.items()}
    return MrfsFinding(
        category="visual-required", right=right, letters=letters, mrfs=n, asked=(0, 4), n_delivered=4
    )


@pytest.fixture
def found(bare):
    def make(n, **rest):
        options = {"max": "4", "mode": "exhaustive", **rest.pop("options", {})}
        return bare([needs(n)] * 30, diagnostic="mrfs", version=2, options=options, **rest)

    return make


def test_folders_without_trials_stand_beside_each_other(found, grid, draws):
    whole = grid(found(1, title="one"), found(4, title="four"))
    assert not whole.scored
    (table,) = paper("herbench-table1").show(whole, draws)
    (scatter,) = paper("herbench-fig9").show(whole, draws)
    assert [row.label for row in table.rows] == ["one", "four"]
    assert [shown(table, f"run:{i}", "value:2").text for i in (0, 1)] == ["1.00", "4.00"]
    assert all(shown(table, f"run:{i}", "value:3").value is not None for i in (0, 1))
    assert {dot.kind for dot in scatter.dots} == {0, 1}
    assert draw_plot(scatter).legend[1][1] == "base"


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"options": {"max": "8"}}, "differ in max"),
        ({"options": {"selector": "aks:other"}}, "differ in selector"),
        ({"spec": "scripted:other"}, "differ in model"),
    ],
)
def test_what_was_found_in_another_way_is_refused(found, grid, draws, other, says):
    with pytest.raises(UsageError, match=says):
        paper("herbench-table1").show(grid(found(2, title="one"), found(2, title="two", **other)), draws)


def test_diagnostics_that_were_not_run_are_left_out_or_named(found, cell, grid, draws):
    with pytest.raises(UsageError, match="diagnose mrfs RUN"):
        paper("herbench-table1").show(grid(cell()), draws)
    (table,) = open_view("pivot?finding=best-of-n|mrfs").show(grid(found(2), found(2, model="n")), draws)
    assert table.name == "pivot:mrfs"
    assert [row.label for row in table.rows] == ["m: all questions", "n: all questions"]


def test_a_row_for_each_value_of_a_tag_and_the_mean_of_all(runs, bare, grid, draws):
    tags = ["order"] * 20 + ["count"] * 10
    items = [runs.question(f"q{i}", f"v{i}", "A", tags={"task": tag}) for i, tag in enumerate(tags)]
    findings = [needs(4 if tag == "order" else 1) for tag in tags]
    options = {"max": "4", "mode": "exhaustive"}
    some = bare(findings, diagnostic="mrfs", version=2, options=options, items=items)
    by_task, whole = paper("herbench-table4").show(grid(some), draws)
    assert [row.label for row in by_task.rows] == ["m: count", "m: order"]
    assert [shown(by_task, row.key, "mean").text for row in by_task.rows] == ["1.00", "4.00"]
    assert shown(whole, "0:all", "mean").text == "3.00"
    with pytest.raises(UsageError, match="have the table 'by family'"):
        open_view("pivot?finding=mrfs&tables=by family").show(grid(some), draws)


def looked(**right):
    marks = {name: (ReplyScore(value=float(right.get(name, 0)), kind="answered"),) for name in CONDITIONS}
    return ModalityFinding(
        marks=marks, n_frames=8, solved={name: bool(right.get(name)) for name in CONDITIONS}
    )


def test_words_alone_one_frame_and_all_frames(bare, grid, draws):
    # 70 % with all frames, 40 % with words alone: 40 / 70 are 57.1 %
    at = np.random.default_rng(0).permutation(120)
    findings = [looked(full=k < 84, text=k < 48, central=k < 60) for k in at]
    cell = bare(findings, diagnostic="modality", version=1)
    (table,) = paper("humanpcr-table5").show(grid(cell), draws)
    rows = {row.label: shown(table, row.key, "accuracy").text for row in table.rows}
    assert {"40.0", "50.0", "70.0"} <= set(rows.values())
    ratios = [table.value(row.key, "ratio") for row in table.rows]
    assert any(ratio.value == pytest.approx(4 / 7) for ratio in ratios if ratio is not None)


def mark(value):
    return (ReplyScore(value=float(value), kind="answered"),)


def test_each_level_of_hints_has_its_column_as_in_the_paper(bare, grid, draws):
    # 30 %, and 40, 50 and 80 % with one, two and three hints
    at = np.random.default_rng(0).permutation(120)
    right = {"L0": 36, "L1": 48, "L2": 60, "L3": 96}
    findings = [HintsFinding(marks={n: mark(k < m) for n, m in right.items()}, n_hints=3) for k in at]
    shape, controls = paper("humanpcr-table6").show(
        grid(bare(findings, diagnostic="hints", version=2)), draws
    )
    titles = [column.title for column in shape.columns]
    assert titles == ["no hint", "level 1", "gain 1", "level 2", "gain 2", "level 3", "gain 3"]
    values = [shown(shape, "run:0", key).text for key in shape.keys]
    assert values == ["30.0", "40.0", "10.0", "50.0", "20.0", "80.0", "50.0"]
    assert "gain of level 3" in controls.rows[0].label


def test_best_of_n_stands_beside_direct_answers_and_thinking_models(bare, cell, grid, draws):
    pool = BestOfNFinding(
        marks=mark(1) * 8,
        same_as=(0,) * 8,
        lengths=(1,) * 8,
        n_distinct=1,
        points={"self": (4,) * 8},
        picked={"self": {str(m): 0 for m in range(4)}},
        n_unread={"self": 0},
    )
    found = bare([pool] * 12, diagnostic="best-of-n", version=2, options={"rewards": "self"})
    direct = cell(condition="direct", right=[True, False, True, True], style="direct")
    thinking = cell(model="thinker", right=[True, False], style="cot")
    (table,) = paper("humanpcr-table12").show(grid(found, direct, thinking), draws)
    rows = {row.label: row.key for row in table.rows}
    assert (table.keys[0], shown(table, table.rows[0].key, "direct").text) == ("direct", "75.0")
    assert shown(table, rows["thinker"], "m0").text == "50.0"
    assert shown(table, rows["thinker"], "m1").text == DASH


def shared(top, *, is_right):
    rest = (1 - top) / 2
    shares = {"deltas": (top, rest, rest), "shares": (top, rest, rest), "top_share": top}
    return FrameSharesFinding(times_s=(0.0, 1.0, 2.0), chosen="A", is_right=is_right, entropy=0.5, **shares)


def test_models_stand_below_each_other(bare, grid, draws):
    tops = {"m": 0.5, "n": 0.9}
    some = {name: [shared(top, is_right=i % 2 == 0) for i in range(12)] for name, top in tops.items()}
    cells = [bare(those, diagnostic="frame-shares", version=1, model=name) for name, those in some.items()]
    table, violins = paper("herbench-fig5").show(grid(*cells), draws)
    assert table.note.endswith("No run has the table placebo.")
    assert shown(table, "0:all", "top").text == "50.0"
    assert shown(table, "1:all", "top").text == "90.0"
    assert shown(table, "0:all", "even").text == "33.3"
    assert table.row("1:right").label.startswith("n: ")
    labels = [group.label for group in violins.groups][:2]
    assert labels == ["m, table, answered right", "m, table, answered wrong"]
    assert draw_plot(violins) is not None


def test_the_placebo_of_figure_5_is_there_where_it_was_asked_for(bare, grid, draws):
    both = {"beside_deltas": (0.6, 0.2, 0.2), "placebo_deltas": (0.1, 0.1, 0.1)}
    some = [msgspec.structs.replace(shared(0.6, is_right=i % 2 == 0), **both) for i in range(12)]
    cell = bare(some, diagnostic="frame-shares", version=4, options={"placebo": "n"})
    table, placebo, _ = paper("herbench-fig5").show(grid(cell), draws)
    assert "No run has" not in table.note
    assert [shown(placebo, "0:all", key).text for key in ("top", "floor")] == ["60.0", "33.3"]
