"""Single trials as rows of an index."""

import pytest

from subjects.viewed import ITEMS, TRIALS, trial, write_run
from vidence.records import Verdict
from vidence.studio.bridge.runs import Reader, judges_differ, margin_of, readings, row_of


@pytest.fixture
def reader(tmp_path):
    return Reader(write_run(tmp_path / "a", plan={"price_out": 1e6}))


def _stored(reader):
    from vidence.engine.store import RunStore

    with RunStore(reader.head.folder) as store:
        return store.rows_after(0, 9)


def test_readers_that_read_otherwise_are_found(tmp_path):
    said = [trial(ITEMS[0], None, text="This cannot be told from what is shown."), TRIALS[1]]
    reader = Reader(write_run(tmp_path / "a", trials=said))
    assert reader.disagreeing(0, 1) == ([("q1", 0)], 1, 1)
    assert reader.disagreeing(1, 5) == ([], 2, 1)
    assert reader.disagreeing(2, 5) == ([], 2, 0)
    row = row_of(reader.items, _stored(reader)[0])
    assert row is not None
    assert next(iter(readings(row, "robust").items())) == ("robust", "")


@pytest.mark.parametrize(
    ("values", "expected"), [([1.0, 1.0], False), ([1.0, 0.0], True), ([1.0, None], False), ([], False)]
)
def test_judges_differ_where_two_verdicts_do(values, expected):
    verdicts = [Verdict(judge_model=f"j{i}", value=value) for i, value in enumerate(values)]
    assert judges_differ(trial(ITEMS[0], "A", verdicts=verdicts).score) is expected


@pytest.mark.parametrize(
    ("logps", "expected"),
    [
        (None, None),
        ({"A": -1.0}, None),
        ({"A": -1.0, "B": -3.0, "C": -2.0}, 1.0),
        ({"A": -1.0, "B": -9e999}, None),
    ],
)
def test_the_margin_is_between_the_two_likeliest_letters(reader, logps, expected):
    from vidence.report.results import Row

    one = trial(ITEMS[0], "A", logps=logps)
    assert margin_of(Row(item=ITEMS[0], trial=one, score=one.score)) == expected
