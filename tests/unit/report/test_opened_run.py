"""A run folder as a value for Python, on the small run of `conftest`."""

import dataclasses
import sys
import types

import msgspec
import pytest

from vidence.errors import StoreError, UnknownNameError, UsageError
from vidence.report.opened_run import open_run, trial_columns


def test_a_run_counts_its_trials_and_says_its_score(runs):
    run = open_run(runs.write())
    assert len(run) == len(list(run)) == 7
    assert run.accuracy.value == pytest.approx(2 / 6)  # the open question waits for a judge
    assert "accuracy 33.3 %" in repr(run)
    assert next(iter(run.tables())) == "score"
    shown, table = run._repr_html_(), run.tables()["score"]
    assert max(len(repr(run)), len(repr(table)), len(shown) / 10) < 300
    assert "Accuracy 33.3 %" in shown
    assert shown.count("<li>") <= 6
    assert table._repr_html_().startswith("<p><strong>Score</strong></p><table>")
    with pytest.raises(UnknownNameError, match=r"no figure named 'scores'\. Did you mean 'score'"):
        run.plot("scores")
    waiting = open_run(runs.write("b", items=[runs.items[-1]], trials=[runs.trials[-1]]))
    assert waiting.accuracy is None
    assert "no question is scored" in repr(waiting)
    assert "No question was answered yet" in open_run(runs.write("c", trials=[]))._repr_html_()


def test_what_is_no_run_or_no_parser_is_refused(runs, tmp_path):
    with pytest.raises(StoreError, match="not a run folder"):
        open_run(tmp_path / "none")
    with pytest.raises(UnknownNameError, match="robust"):
        open_run(runs.write(), parser="robuste")


def test_what_a_run_shows_is_escaped(runs):
    items = [msgspec.structs.replace(item, question="<script>") for item in runs.items]
    run = open_run(runs.write(items=items))
    named = dataclasses.replace(run, plan=msgspec.structs.replace(run.plan, model="<script>x"))
    assert "<script>" not in named._repr_html_()


def test_trials_are_a_table_of_pandas(runs):
    pytest.importorskip("pandas")
    trials = open_run(runs.write()).trials
    assert len(trials) == 7
    assert {"item_id", "question", "reply", "correct", "prompt"} <= set(trials.columns)
    assert "tags" not in trials.columns
    assert set(runs.items[0].tags) <= set(trials.columns)
    assert trials["correct"].mean() == pytest.approx(2 / 6)


def test_trials_are_a_table_of_polars_with_the_same_columns(runs, monkeypatch):
    run = open_run(runs.write())
    polars = types.SimpleNamespace(DataFrame=lambda columns, **_: columns)
    monkeypatch.setitem(sys.modules, "polars", polars)
    assert list(run.to_polars()) == list(trial_columns(run))


@pytest.mark.parametrize(
    ("library", "of"), [("pandas", lambda run: run.trials), ("polars", lambda run: run.to_polars())]
)
def test_a_library_that_is_not_there_is_named(runs, monkeypatch, library, of):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=f"this needs {library}, .* run: .*pip install {library}, or take"):
        of(open_run(runs.write()))


def test_a_run_compares_itself_with_another(runs, tmp_path):
    run = open_run(runs.write())
    compared = run.compare(runs.write("run-b"))
    assert compared.headline.difference.value == 0
    assert "less" in repr(compared)
    assert len(repr(compared)) < 200
    assert compared == run.compare(open_run(runs.folder / "run-b"))
