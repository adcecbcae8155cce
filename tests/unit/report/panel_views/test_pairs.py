"""Differences on the same questions: bases, ways of asking, weights, selectors."""

import numpy as np
import pytest

from conftest import IS_THOROUGH
from vidence.engine.panel import ModelFacts
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.explain.diagnostics.selector_gap import GapFinding
from vidence.report.pairing import PairedRuns
from vidence.report.panel_grid import open_view
from vidence.report.panel_views.paired_cells import Lineup, Versus, differences
from vidence.tables.table import DASH, Table, shown

HALF = np.arange(120) % 2 == 0
MORE = HALF | (np.arange(120) % 4 == 1)


def test_a_condition_is_set_against_another_question_by_question(cell, grid, draws):
    half = np.arange(120) % 2 == 0
    more = half | (np.arange(120) % 8 == 1)
    (table,) = open_view("pairs?against=direct").show(
        grid(cell("m", "direct", right=half), cell("m", "cot", right=more)), draws
    )
    assert table.rows[0].label == "m: cot less direct"
    assert shown(table, "pair:0", "difference").text == "+12.5"
    assert shown(table, "pair:0", "clear").text == "clear"


def test_a_method_is_set_against_the_model_it_was_made_from(cell, grid, draws):
    own = ModelFacts(base="m")
    (table,) = open_view("pairs").show(
        grid(cell("m", right=0.2), cell("method", right=0.8, about=own, seed=1)), draws
    )
    assert table.rows[0].label == "method less m"


def test_other_questions_give_no_difference_and_say_so(cell, grid, draws):
    (table,) = open_view("pairs?against=a").show(grid(cell("m", "a"), cell("m", "b", n=60)), draws)
    assert shown(table, "pair:0", "difference").text == DASH
    assert "not about the same questions" in table.note


def test_in_panels_of_copies_of_one_model_no_cell_is_clear_in_95_per_cent(cell, draws):
    items = tuple(row.item for row in cell(n=60, right=0.5).run.rows)
    rng = np.random.default_rng(1)
    n_panels, n_wrong = (200, 0) if IS_THOROUGH else (60, 0)
    for _ in range(n_panels):
        chances = np.repeat(rng.beta(1, 1, 20), 3)  # questions of one video are alike
        names = tuple(f"copy {k}" for k in range(5))
        values = np.column_stack([(rng.random(60) < chances).astype(float) for _ in names])
        lineup = Lineup(paired=PairedRuns(runs=(), names=names, items=items, values=values, noun="video"))
        some = [
            Versus(label=name, detail="", found=lineup.versus(name, "copy 0", level=0.95))
            for name in names[1:]
        ]
        table = differences("t", "t", some, draws=draws)
        n_wrong += any(table.value(row.key, "clear") == 1 for row in table.rows)
    assert n_wrong <= (17 if IS_THOROUGH else 7)  # 5 % are 10 or 3; the 99 % quantile of the binomial


def both(cell, model, *, gain, **more):
    """A model's two runs: of the questions that are wrong directly, each `gain`-th is right step by step."""
    direct = np.arange(120) % 2 == 0
    cot = direct | (np.arange(120) % gain == 1)
    return (
        cell(model, "direct", right=direct, style="direct", **more),
        cell(model, "cot", right=cot, style="cot", **more),
    )


def test_each_model_is_set_against_itself_on_each_benchmark(cell, grid, draws):
    other = both(cell, "m", gain=4, title="other", questions="o")
    half = cell("half", "direct", style="direct")  # asked in one way, and left out
    cells = [*both(cell, "m", gain=4), *both(cell, "n", gain=8), *other, half]
    models = next(t for t in open_view("pairs?by=style").show(grid(*cells), draws) if isinstance(t, Table))
    told = {row.label: shown(models, row.key, "difference").text for row in models.rows}
    assert (len(told), sorted(told.values())) == (3, ["+12.5", "+25.0", "+25.0"])


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("pairs", r"pairs\?against=CONDITION"),
        ("pairs?by=style", "style = 'cot'"),
        ("pairs?by=thinking", "base = MODEL"),
        ("pairs?by=selector&tags=task", "leave it out for by=selector"),
        ("pairs?by=selector", "differ in their selector"),
    ],
)
def test_what_cannot_be_paired_is_refused(cell, grid, draws, spec, says):
    with pytest.raises(UsageError, match=says):
        open_view(spec).show(grid(cell("m", "a", style="direct"), cell("n", "b", style="direct")), draws)


def test_two_runs_asked_alike(cell, grid, draws):
    cells = [*both(cell, "m", gain=4), cell("m", "again", style="cot")]
    with pytest.raises(UsageError, match="'m, cot' and 'm, again' are both asked with style = 'cot'"):
        open_view("pairs?by=style").show(grid(*cells), draws)


def test_tags_have_tables_of_their_own_each_a_family(cell, grid, draws):
    view = open_view("pairs?by=style&tags=*")
    whole, by_task = view.show(grid(*both(cell, "m", gain=4)), draws)
    assert shown(whole, "pair:0", "relative").text == "50.0"
    assert [shown(whole, "pair:0", f"unread:{side}").text for side in ("first", "second")] == ["0", "0"]
    # questions of one kind are right directly, half of those of the other kind step by step
    assert [(row.label, shown(by_task, row.key, "difference").text) for row in by_task.rows] == [
        ("count", "0.0"),
        ("order", "+50.0"),
    ]
    tags = lambda i: {"task": "order" if i % 2 else "count", "kind": f"{i % 3}"}  # noqa: E731
    both_tags = [
        cell("t", s, style=s, seed=i, tags=tags, questions="t") for i, s in enumerate(("direct", "cot"))
    ]
    _, *tables = view.show(grid(*both_tags), draws)
    alone = [
        open_view(f"pairs?by=style&tags={tag}").show(grid(*both_tags), draws)[1] for tag in ("task", "kind")
    ]
    assert [one.rows for one in tables] == [one.rows for one in alone]
    assert "this table, not for other tables" in tables[0].note


def test_runs_that_differ_in_more_than_the_style_are_refused(cell, grid, draws):
    cells = [cell("m", "direct", style="direct"), cell("m", "cot", style="cot", shuffle_choices=True)]
    with pytest.raises(UsageError, match="differ in more than the style: shuffle_choices"):
        open_view("pairs?by=style").show(grid(*cells), draws)
    (table,) = open_view("pairs?by=style&shared=true").show(grid(*cells), draws)
    assert "differs in more than the style" in table.note


def differences_of(statements):
    """The differences of the first table."""
    table = next(one for one in statements if isinstance(one, Table))
    return [shown(table, row.key, "difference").text for row in table.rows]


def test_the_papers_diagonal_is_said_to_be_confounded(cell, grid, draws):
    own = ModelFacts(base="instruct")
    cells = [
        cell("instruct", "direct", right=HALF, style="direct"),
        cell("thinking", "cot", right=MORE, style="cot", about=own),
    ]
    found = open_view("pairs?by=thinking").show(grid(*cells), draws)
    assert differences_of(found) == ["+25.0"]
    (table,) = found
    assert table.rows[0].detail == "weights and prompt (confounded with the prompt)"
    assert shown(table, table.rows[0].key, "unread:first").text == "0"


def test_with_all_four_runs_weights_and_prompt_are_parted(cell, grid, draws):
    own = ModelFacts(base="instruct")
    cells = [
        cell("instruct", "direct", right=HALF, style="direct"),
        cell("instruct", "cot", right=MORE, style="cot"),
        cell("thinking", "direct", right=HALF, style="direct", about=own),
        cell("thinking", "cot", right=MORE, style="cot", about=own),
    ]
    found = open_view("pairs?by=thinking").show(grid(*cells), draws)
    assert differences_of(found) == ["0.0", "0.0", "+25.0", "+25.0", "+25.0"]
    whole, by_task = open_view("pairs?by=thinking&tags=task").show(grid(*cells), draws)
    details = [row.detail for row in whole.rows]
    expected = [f"{task}, {detail}" for detail in details for task in ("count", "order")]
    assert [row.detail for row in by_task.rows] == expected


def test_runs_that_differ_in_their_selector(cell, grid, draws):
    order = np.random.default_rng(0).permutation(120)
    cells = [
        cell("m", "uniform", right=order < 30, selector="midpoints"),
        cell("m", "all", right=order < 90, selector="all"),
        cell("n", "uniform", selector="midpoints"),
        cell("n", "first", selector="first", seed=1),
    ]
    scores, apart = open_view("pairs?by=selector").show(grid(*cells), draws)
    assert [column.title for column in scores.columns] == ["midpoints", "all", "first"]
    assert shown(scores, "row:1", "selector:all").text == DASH
    assert [row.label for row in apart.rows] == ["m: all less midpoints", "n: first less midpoints"]
    assert shown(apart, "pair:0", "difference").text == "+50.0"
    assert shown(apart, "pair:0", "clear").text == "clear"


def test_findings_of_selector_gap(bare, grid, draws):
    def gap(i):
        right = {"plan": i < 30, "evidence-frames": i < 90, "text": i < 10}
        marks = {name: (ReplyScore(value=float(so), kind="answered"),) for name, so in right.items()}
        return GapFinding(
            marks=marks, recall=dict.fromkeys(right), n_frames=dict.fromkeys(right, 4), n_pieces=1
        )

    order = np.random.default_rng(0).permutation(120)
    whole = grid(bare([gap(i) for i in order], diagnostic="selector-gap", version=1))
    scores, apart = open_view("pairs?by=selector").show(whole, draws)
    assert [column.title for column in scores.columns] == ["midpoints", "evidence"]
    assert shown(apart, "pair:0", "difference").text == "+50.0"
    other = open_view("pairs?by=selector&against=evidence").show(whole, draws)[1]
    assert shown(other, "pair:0", "difference").text == "-50.0"
    with pytest.raises(UsageError, match="no run has the selector 'aks'; there are midpoints, evidence"):
        open_view("pairs?by=selector&against=aks").show(whole, draws)
