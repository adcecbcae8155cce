"""What every view of a panel in the catalog must do."""

import numpy as np
import pytest

import vidence
from vidence import catalog
from vidence.engine.panel import ModelFacts, PanelRun
from vidence.errors import UsageError
from vidence.records import Item, Media
from vidence.report.panel_grid import Grid, grid_of, open_view
from vidence.report.scores import Draws
from vidence.tables.charts import table_of
from vidence.tables.export import table_as_csv
from vidence.tables.latex import latex
from vidence.tables.rendering import drawing_of

NAMES = catalog.names("view")
ARGUMENTS = {"items": "items:q0", "points": "points?by=task&x=set=s0&y=set=s1"}
WANTING = {"points": "a correlation needs values that differ", "repeats": "repeats = 3"}
"""What the views say that the grid of the tests cannot fill."""


def item(i: int) -> Item:
    return Item(
        item_id=f"q{i}",
        media=(Media(path=f"v{i // 2}.mp4"),),
        question=f"Which is {i}?",
        choices=("x", "yes"),
        answer="AB"[i % 2],
        tags={"task": f"t{i % 3}", "set": f"s{i % 2}"},
    )


@pytest.fixture(scope="module")
def grid(tmp_path_factory) -> Grid:
    """Three models, of which one was made from another, with two budgets and two selectors of frames."""
    folder = tmp_path_factory.mktemp("views")
    items = [item(i) for i in range(12)]
    facts = {
        "scripted:A": ModelFacts(size_b=1.0, family="f"),
        "scripted:B": ModelFacts(size_b=2.0, family="f", base="scripted:A"),
        "baseline:longest": ModelFacts(),
    }
    runs = []
    for model, about in facts.items():
        for condition, settings in {
            "4": {"frames": 4, "selector": "none"},
            "8": {"frames": 8, "selector": "none"},
        }.items():
            out = folder / f"{len(runs)}"
            made = vidence.evaluate(
                items, model=model, out=out, cache=folder / "cache", progress=False, **settings
            )
            runs.append(
                PanelRun(
                    benchmark="Letters",
                    model=model,
                    condition=condition,
                    plan=made.plan,
                    folder=out,
                    about=about,
                )
            )
    return grid_of(runs)


def draws() -> Draws:
    return Draws(rng=np.random.default_rng(0))


@pytest.mark.parametrize("name", NAMES)
def test_it_has_the_name_of_its_file_and_a_summary(name: str) -> None:
    assert open_view(ARGUMENTS.get(name, name)).name == name
    assert catalog.summary("view", name).endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_it_shows_tables_or_says_what_is_wanting(name: str, grid: Grid) -> None:
    view = open_view(ARGUMENTS.get(name, name))
    try:
        shown = view.show(grid, draws())
    except UsageError:
        with pytest.raises(UsageError, match=WANTING[name]):
            view.show(grid, draws())
        return
    tables = [table_of(one) for one in shown]
    assert len({table.name for table in tables}) == len(tables)
    for one, table in zip(shown, tables, strict=True):
        assert table.rows
        assert table_as_csv(table)
        assert latex([table])
        drawing = drawing_of(one)
        assert drawing is None or drawing.svg.startswith("<svg")


@pytest.mark.parametrize("name", NAMES)
def test_the_same_draws_give_the_same_figures(name: str, grid: Grid) -> None:
    view = open_view(ARGUMENTS.get(name, name))
    try:
        first = view.show(grid, draws())
    except UsageError:
        with pytest.raises(UsageError):
            view.show(grid, draws())
        return
    assert repr(first) == repr(view.show(grid, draws()))


@pytest.mark.parametrize("name", NAMES)
def test_a_grid_without_runs_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        open_view(ARGUMENTS.get(name, name)).show(Grid(cells=()), draws())
