"""The table and the figure of a panel; numbers that can be counted by hand."""

import json
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from vidence.records import Answered
from vidence.report.panel import PanelCell, bars, panel_section, score_table, write_panel_json
from vidence.report.scores import Draws
from vidence.report.tables import all_tables
from vidence.tables.figures import draw_figure
from vidence.tables.table import DASH, shown


@pytest.fixture
def draws():
    return Draws(rng=np.random.default_rng(0))


def asked(runs, folder, *, n_right, n=24, benchmark="table", label="", **plan):
    items = [runs.question(f"q{i}", f"v{i}", "A") for i in range(n)]
    trials = [runs.marked(item, Answered(answer="A" if i < n_right else "B")) for i, item in enumerate(items)]
    run = runs.load(folder, items=items, trials=trials, facts={"n_planned": n}, name=label, **plan)
    score = all_tables(run, rng=np.random.default_rng(0))[0]
    return PanelCell(benchmark=benchmark, label=label, run=run, score=score)


def test_rows_are_models_and_columns_are_benchmarks(runs, draws):
    cells = [
        asked(runs, "a", n_right=24, label="good"),
        asked(runs, "b", n_right=6, label="bad"),
        asked(runs, "c", n_right=12, n=20, label="good", benchmark="other"),
    ]
    table = score_table(cells, draws=draws)
    assert [column.title for column in table.columns] == ["table", "other"]
    assert [row.label for row in table.rows] == ["good", "bad", "chance"]
    keys = ("benchmark:table", "benchmark:other")
    written = {row.label: [shown(table, row.key, key).text for key in keys] for row in table.rows}
    assert written == {"good": ["100.0", "60.0"], "bad": ["25.0", DASH], "chance": ["25.0", "25.0"]}
    assert table.cell("run:good", "benchmark:table").mark == "best"
    assert not table.cell("run:bad", "benchmark:table").mark
    assert "told apart from every other row" in table.note
    person = replace(asked(runs, "d", n_right=24, label="person"), is_people=True)
    table = score_table([cells[1], asked(runs, "e", n_right=18, label="fair"), person], draws=draws)
    assert [table.cell(f"run:{name}", "benchmark:table").mark for name in ("fair", "person")] == ["best", ""]
    table = score_table([cells[0], asked(runs, "f", n_right=6, n=20, label="few")], draws=draws)
    assert "table: the runs do not have scores for the same questions" in table.note
    assert not table.cell("run:good", "benchmark:table").mark


def test_the_figure_has_a_bar_for_every_run(runs):
    cells = [asked(runs, "a", n_right=24, label="good"), asked(runs, "b", n_right=6, label="bad")]
    table = bars(cells)
    drawing = draw_figure(table)
    assert drawing.svg.count('class="bar"') == 2
    assert [shown(table, row.key, "items").text for row in table.rows] == ["24", "24"]


def test_the_chance_of_a_macro_score_is_averaged_as_the_score(runs):
    """Tasks of 3 and 1 questions with 2 and 4 choices: over tasks 37.5, over questions 43.8."""
    tasks = [("a", 2)] * 3 + [("b", 4)]
    items = [
        msgspec.structs.replace(
            runs.question(f"q{i}", f"v{i}", "A", tags={"task": task}), choices=tuple("wxyz"[:n])
        )
        for i, (task, n) in enumerate(tasks)
    ]
    trials = [runs.marked(item, Answered(answer="A")) for item in items]
    run = runs.load("macro", items=items, trials=trials, headline="macro:task")
    cell = PanelCell(
        benchmark="table", label="m", run=run, score=all_tables(run, rng=np.random.default_rng(0))[0]
    )
    assert shown(bars([cell]), "run:0", "chance").text == "37.5"


def test_a_section_says_what_is_missing_and_what_it_cost(runs, draws, tmp_path):
    cell = asked(runs, "a", n_right=24, label="good")
    found = panel_section("Mine", [cell], missing=["other, bad: no server"], draws=draws)
    assert found.title == "Mine"
    assert found.paragraphs[0] == "No score: other, bad: no server"
    assert "US dollars" in found.paragraphs[1]
    write_panel_json([cell], found, tmp_path / "p.json")
    whole = json.loads((tmp_path / "p.json").read_text())
    assert whole["format"] == "vidence-panel/1"
    assert whole["runs"][0]["plan"]["name"] == "good"
    assert [table["name"] for table in whole["tables"]] == ["panel", "panel:runs"]
