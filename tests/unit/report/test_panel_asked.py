"""The runs of a panel one after the other: one that cannot go on stops no other, and money is for all."""

from pathlib import Path

import pytest

from vidence.engine.evaluate import Summary
from vidence.engine.panel import PanelRun
from vidence.engine.prepare import make_plan
from vidence.errors import BudgetSpentError, ModelError, UsageError
from vidence.report.panel_asked import AskedPanel, ask_panel, read_panel


def cells(tmp_path: Path, *, n: int, **settings: object) -> list[PanelRun]:
    plan = make_plan("table", data=tmp_path, model="scripted:A", overrides=settings)
    names = [f"m{i}" for i in range(n)]
    return [
        PanelRun(benchmark="table", model=name, condition="", plan=plan, folder=tmp_path / name)
        for name in names
    ]


def spent(cost: float, *, n_failed: int = 0) -> Summary:
    return Summary(n_planned=1, n_answered_before=0, cost=cost, n_failed=n_failed)


def test_one_that_cannot_go_on_is_named_and_the_others_are_asked(tmp_path):
    runs = cells(tmp_path, n=3)

    def ask(place, run, plan):
        if place == 2:
            raise ModelError("nobody there")
        return spent(0.0, n_failed=place)

    done = ask_panel(runs, max_cost=None, ask=ask)
    assert [run.model for run in done.runs] == ["m0", "m2"]
    assert done.missing == ["table, m1: nobody there"]
    assert done.n_failed == 4


def test_no_run_may_spend_more_than_the_others_left(tmp_path):
    limits = []

    def ask(place, run, plan):
        limits.append(plan.max_cost)
        if place == 2:
            raise BudgetSpentError("spent")
        return spent(0.75)

    done = ask_panel(cells(tmp_path, n=3, price_in=1.0), max_cost=1.0, ask=ask)
    assert limits == [1.0, 0.25]
    assert [run.model for run in done.runs] == ["m0"]
    assert done.missing[1] == "table, m2: not asked, since the max_cost of the panel is spent"


def test_a_run_keeps_a_smaller_limit_of_its_own_and_free_ones_have_none(tmp_path):
    limits = []

    def ask(place, run, plan):
        limits.append(plan.max_cost)
        return spent(0.0)

    ask_panel(cells(tmp_path, n=1, price_in=1.0, max_cost=0.5), max_cost=2.0, ask=ask)
    ask_panel(cells(tmp_path, n=1), max_cost=2.0, ask=ask)
    assert limits == [0.5, None]


def test_a_panel_without_any_score_says_why():
    with pytest.raises(UsageError, match="no run of the panel has a score: table, m1: nobody there"):
        read_panel("t", AskedPanel(missing=["table, m1: nobody there"]))
