"""Two scores against each other, over values and over models."""

import numpy as np
import pytest

from vidence.engine.panel import ModelFacts
from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.tables.plots import draw_plot
from vidence.tables.table import shown

VALUES = "points?by=label&x=target=label&y=target=intention"
MODELS = "points?points=models&by=target&x=task=3afc&y=task=description"


def tags(i):
    return {
        "label": f"action {i % 24:02d}",
        "target": "label" if i < 240 else "intention",
        "task": "3afc" if i % 2 else "description",
        "group": f"group {i % 24 % 6}",
    }


@pytest.fixture
def models(cell):
    """Six models, to which the same actions are easy for both targets."""
    share = np.tile(np.random.default_rng(5).random(24), 20)
    return [
        cell(f"m{k}", right=np.random.default_rng(k).random(480) < share, n=480, tags=tags) for k in range(6)
    ]


def test_actions_that_are_easy_for_both_go_together_as_far_as_they_can(models, grid, draws):
    figure, ceiling, coefficients, points = open_view(VALUES).show(grid(*models), draws)
    assert len(points.rows) == len(figure.dots) == 24
    assert figure.dots[0].label == "action 00"
    assert coefficients.value("pearson", "p-clusters") < 0.001
    assert ceiling.value("all", "ceiling") > 0.9
    assert ceiling.value("all", "share") == pytest.approx(1.0, abs=0.08)
    assert draw_plot(figure).svg.count("<path") >= 24


def test_a_cluster_of_actions_is_drawn_together(models, grid, draws):
    *_, coefficients, parts, points = open_view(VALUES + "&cluster=group").show(grid(*models), draws)
    assert shown(coefficients, "spearman", "clusters").text == "6"
    assert points.rows[0].label == "group 0"
    assert parts.rows[-1].label == "means of clusters"
    with pytest.raises(UsageError, match="of 'task': 3afc, description; expected one"):
        open_view("points?by=target&x=task=3afc&y=task=description&cluster=task").show(grid(*models), draws)


def test_two_models_have_no_ceiling_and_it_says_why(models, grid, draws):
    _, ceiling, *_ = open_view(VALUES).show(grid(*models[:2]), draws)
    assert ceiling.value("all", "ceiling") is None
    assert "2 models, and split halves need 4" in ceiling.note


def test_a_point_for_each_model_and_target(models, grid, draws):
    figure, coefficients, *_ = open_view(MODELS).show(grid(*models), draws)
    assert len(figure.dots) == 12
    assert figure.kinds == ("intention", "label")
    assert figure.dots[0].label == "m0"
    assert shown(coefficients, "spearman", "clusters").text == "6"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (MODELS.replace("description", "essay"), "m0 has no score of task=essay"),
        (VALUES.replace("intention", "mood"), "no value of 'label' has both scores"),
        (MODELS + "&cluster=group", "cluster= is for points=values"),
        (VALUES.replace("target=label", "label"), "expected TAG=VALUE"),
    ],
)
def test_what_is_not_there_is_refused(models, grid, draws, spec, says):
    with pytest.raises(UsageError, match=says):
        open_view(spec).show(grid(*models), draws)


def test_a_model_without_one_of_the_scores_has_no_point_and_the_figure_says_so(models, cell, grid, draws):
    mute = cell("mute", right=np.ones(480, bool), n=480, tags=lambda i: tags(i) | {"task": "3afc"})
    without, *numbers = open_view(MODELS).show(grid(*models), draws)
    figure, *others = open_view(MODELS).show(grid(*models, mute), draws)
    assert figure.dots == without.dots
    assert [other.rows for other in others] == [number.rows for number in numbers]
    assert "mute has no score of task=description, and no point." in figure.note


def test_people_are_marks_of_their_own_and_in_no_number(models, cell, grid, draws):
    people = ModelFacts(people=True)
    person = cell("one", right=np.ones(480, bool), n=480, tags=tags, about=people)
    means, *_ = open_view(VALUES).show(grid(*models, person), draws)
    assert means.dots == open_view(VALUES).show(grid(*models), draws)[0].dots
    assert means.note.endswith("People are in no point: each is the mean over the models.")
    alone = cell(
        "two", right=np.ones(480, bool), n=480, tags=lambda i: tags(i) | {"task": "3afc"}, about=people
    )
    without, *numbers = open_view(MODELS).show(grid(*models), draws)
    figure, *others = open_view(MODELS).show(grid(*models, person, alone), draws)
    assert others == numbers
    assert figure.note == without.note
    assert figure.kinds == (*without.kinds, "people")
    assert [dot.label for dot in figure.dots[len(without.dots) :]] == ["one, intention", "one, label"]
