"""The runs of a panel one after the other: one that cannot go on stops no other, and money is for all."""

from dataclasses import replace

import pytest

from vidence.engine.diagnose import Account, open_diagnostic
from vidence.engine.evaluate import Summary
from vidence.engine.panel import PanelRun
from vidence.engine.panel_diagnostics import Examination
from vidence.engine.prepare import make_plan
from vidence.errors import BudgetSpentError, ModelError, UsageError
from vidence.report.panel_runs import AskedPanel, ask_panel, read_panel


def cells(tmp_path, *, n, **settings):
    plan = make_plan("table", data=tmp_path, model="scripted:A", overrides=settings)
    place = {"benchmark": "table", "condition": "", "plan": plan}
    return [PanelRun(**place, model=f"m{i}", folder=tmp_path / f"m{i}") for i in range(n)]


def spent(cost, *, n_failed=0):
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
    with pytest.raises(UsageError, match="no run of the panel has a score: table, m1: nobody there"):
        read_panel("t", AskedPanel(missing=done.missing))


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


def looked_into(runs):
    return [Examination(run=run, diagnostic=open_diagnostic("mrfs", {}), options={}) for run in runs]


def free(place, run, plan):
    return spent(0.0)


def test_diagnostics_come_after_all_runs_and_have_what_these_left(tmp_path):
    runs, order = cells(tmp_path, n=2, price_in=1.0), []

    def ask(place, run, plan):
        order.append(f"ask {run.model}")
        return spent(0.25)

    def examine(place, one, plan):
        order.append(f"examine {place} {one.run.model}")
        limits.append(plan.max_cost)
        return Account(cost=0.5, n_failed=1)

    limits = []
    done = ask_panel(runs, max_cost=1.0, ask=ask, examinations=looked_into(runs), examine=examine)
    assert order == ["ask m0", "ask m1", "examine 1 m0"]
    assert limits == [0.5]
    assert done.not_found == ["mrfs on table, m1: not examined, since the max_cost of the panel is spent"]
    assert (done.missing, done.n_failed, done.spent) == ([], 1, 1.0)


def test_what_a_diagnostic_spent_that_broke_off_counts_as_all_it_might_have(tmp_path):
    runs = cells(tmp_path, n=2, price_in=1.0)

    def examine(place, one, plan):
        raise ModelError("nobody there")

    done = ask_panel(runs, max_cost=1.0, ask=free, examinations=looked_into(runs), examine=examine)
    assert done.not_found[0].startswith("mrfs on table, m0: nobody there; 1.0000 US dollars count as spent")
    assert "max_cost of the panel is spent" in done.not_found[1]
    no_limit = ask_panel(runs, max_cost=None, ask=free, examinations=looked_into(runs), examine=examine)
    assert no_limit.not_found == [f"mrfs on table, m{i}: nobody there" for i in (0, 1)]


def test_a_run_of_diagnostics_alone_is_not_asked_and_is_there_once_one_has_begun(tmp_path):
    runs = [replace(run, has_trials=False) for run in cells(tmp_path, n=2)]

    def examine(place, one, plan):
        one.run.folder.mkdir()
        (one.run.folder / "plan.toml").write_text("")
        return Account()

    def never(place, run, plan):
        raise AssertionError(run)

    done = ask_panel(runs, max_cost=None, ask=never, examinations=looked_into(runs[:1]), examine=examine)
    assert [run.model for run in done.runs] == ["m0"]
    assert done.missing == []
