"""A run folder as a value for Python, on the small run of `conftest`."""

import pytest

from vidence.errors import StoreError, UnknownNameError
from vidence.report.opened import open_run


def test_a_run_counts_its_trials_and_says_its_score(runs):
    run = open_run(runs.write())
    assert len(run) == len(list(run)) == 7
    assert run.accuracy.value == pytest.approx(2 / 6)  # the open question waits for a judge
    assert "accuracy 33.3 %" in repr(run)
    assert next(iter(run.tables())) == "score"


def test_a_run_without_scores_has_no_accuracy(runs):
    item = runs.items[-1]
    run = open_run(runs.write(items=[item], trials=[runs.trials[-1]]))
    assert run.accuracy is None
    assert "no question is scored" in repr(run)


def test_what_is_no_run_or_no_parser_is_refused(runs, tmp_path):
    with pytest.raises(StoreError, match="not a run folder"):
        open_run(tmp_path / "none")
    with pytest.raises(UnknownNameError, match="robust"):
        open_run(runs.write(), parser="robuste")
