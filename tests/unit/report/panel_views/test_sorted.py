"""Sorted values of a tag over models, with the envelope of luck."""

from dataclasses import replace

import msgspec
import pytest

from vidence.engine.panel import ModelFacts
from vidence.errors import UsageError
from vidence.records import Unreadable
from vidence.report.panel_grid import open_view
from vidence.report.panel_views.sorted import counted
from vidence.tables.plots import draw_plot
from vidence.tables.table import shown

ACTIONS = [f"action {i:02d}" for i in range(20)]


def tags(i):
    return {"label": ACTIONS[i % 20], "set": "single" if i < 100 else "social"}


def test_what_all_models_find_hard_comes_last_and_leaves_the_envelope(cell, grid, draws):
    hard = [i % 20 not in {3, 7} for i in range(120)]
    cells = [cell(f"m{k}", right=hard, tags=tags) for k in range(4)]
    figure, table = open_view("sorted?by=label&where=set=single").show(grid(*cells), draws)
    assert [row.label for row in table.rows][-2:] == ["action 03", "action 07"]
    assert shown(table, "value:action 03", "side").text == "below"
    assert shown(table, "value:action 03", "marks").text == "20"  # 5 questions, 4 models
    assert [one.label for one in figure.series] == ["mean over the models", "by sorting alone"]
    assert "with p < 0.001; if questions differ" in figure.note
    drawing = draw_plot(figure)
    assert drawing.svg.count("<path") >= 20


def test_models_that_guess_are_inside(cell, grid, draws):
    cells = [cell(f"m{k}", seed=k, tags=tags) for k in range(6)]
    figure, table = open_view("sorted?by=label").show(grid(*cells), draws)
    sides = [shown(table, row.key, "side").text for row in table.rows]
    assert sides.count("inside") >= 18
    # All 20 names, upright below the axis.
    assert [words for _, words in figure.x_labels] == [row.label for row in table.rows]
    assert draw_plot(figure).svg.count('writing-mode="vertical-rl"') == 20


def test_a_tag_that_nobody_has(cell, grid, draws):
    figure, _ = open_view("sorted").show(grid(*(cell(f"m{k}", seed=k) for k in range(2))), draws)
    assert {words for _, words in figure.x_labels} == {"order", "count"}
    with pytest.raises(UsageError, match="no two values of the tag 'colour' where task=order"):
        open_view("sorted?by=colour&where=task=order").show(grid(cell()), draws)


def test_people_stand_at_their_places_and_parts_in_columns(cell, grid, draws):
    hard = [i % 20 not in {3, 7} for i in range(120)]
    some = [False] * 10 + [True] * 10
    person = cell("one", right=some, n=20, tags=tags, about=ModelFacts(people=True), questions="own")
    cells = [cell(f"m{k}", right=hard, tags=tags) for k in range(3)]
    figure, table = open_view("sorted?by=label&parts=set").show(grid(*cells, person), draws)
    assert [one.label for one in figure.series][-1] == "people"
    assert len(figure.series[-1].points) == 20
    assert shown(table, "value:action 03", "mean").text == "0.0"  # not moved by who misses it, too
    assert shown(table, "value:action 12", "people:one").text == "100.0"
    assert shown(table, "value:action 12", "people-marks:one").text == "1"
    assert shown(table, "value:action 12", "part:single").text == "100.0"
    assert msgspec.json.encode(figure)


def test_replies_that_cannot_be_read_count_as_the_headline_says(cell, grid, draws):
    answered = cell(tags=tags, headline="answered")
    rows = list(answered.run.rows)
    trial = msgspec.structs.replace(
        rows[0].trial, score=msgspec.structs.replace(rows[0].score, outcome=Unreadable(reason="no letter"))
    )
    rows[0] = replace(rows[0], trial=trial, score=trial.score)
    one = replace(answered, run=replace(answered.run, rows=tuple(rows)))
    assert len(counted(one)) == len(rows) - 1
    assert grid(one).left_out() == ("Replies in the means: m 119 of 120 (1 unreadable).",)
    assert len(counted(cell(tags=tags, headline="micro"))) == len(rows)
