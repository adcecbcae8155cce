"""Views by name: those of papers, and views with their options."""

import numpy as np
import pytest

from vidence.catalog import names
from vidence.errors import UnknownNameError, UsageError
from vidence.report.panel_grid import Grid, GridCell, open_view
from vidence.report.panel_registry import check_view, paper_views, viewed, whole_papers
from vidence.report.scores import Draws


@pytest.mark.parametrize("name", paper_views())
def test_every_name_of_a_paper_is_a_view_of_known_benchmarks(name):
    paper = paper_views()[name]
    assert open_view(paper.view)
    assert set(paper.benchmarks) <= {"*", *names("benchmark")}
    assert name.partition("-")[0] in names("benchmark")
    assert name not in names("view")


def test_an_unknown_name_is_refused_before_anything_is_asked():
    with pytest.raises(UnknownNameError, match="humanpcr-fig7"):
        check_view("humanpcr-fig77")
    with pytest.raises(UsageError, match="no option 'bi'"):
        check_view("pivot?bi=task")


def test_a_view_is_a_page_and_tables(runs, tmp_path):
    run = runs.load(benchmark="mmvu")
    grid = Grid(cells=(GridCell(benchmark="mmvu", model="m", condition="", run=run),), missing=("x: gone",))
    draws = Draws(rng=np.random.default_rng(0))
    with pytest.raises(UsageError, match="no run on herbench; there is mmvu"):
        viewed(grid, "herbench-table2", draws=draws)
    found = viewed(grid, "pivot", draws=draws)
    assert found.sentences == ("Missing: x: gone.",)
    assert found.tables[0].name == "pivot-1"
    found.write_page(tmp_path / "p.html", title="Mine & all")
    page = (tmp_path / "p.html").read_text()
    assert "pivot · Mine &amp; all" in page
    assert "m: paper protocol, own wording" in found.tables[0].note
    assert "m: paper protocol, own wording" in page


def test_a_whole_paper_is_all_that_the_runs_give(runs, tmp_path):
    check_view("mmvu")
    assert whole_papers()["mmvu"] == ("mmvu-table3", "mmvu-fig4")
    run = runs.load(benchmark="mmvu")
    grid = Grid(cells=(GridCell(benchmark="mmvu", model="m", condition="", run=run),))
    draws = Draws(rng=np.random.default_rng(0))
    found = viewed(grid, "mmvu", draws=draws)
    assert found.statements[0].name == "mmvu-table3"
    assert found.statements[0].title == "MMVU, table 3. Disciplines by models."
    (missing,) = found.missing
    assert missing.startswith("mmvu-fig4: ")
    assert found.sentences[0] == f"Not shown: {missing}."
    with pytest.raises(UsageError, match="no run on actpld; there is mmvu"):
        viewed(grid, "actpld", draws=draws)
