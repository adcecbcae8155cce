"""Single trials as rows of an index."""

import pytest

from subjects.viewed import ITEMS, TRIALS, trial, write_run
from vidence.errors import StoreError
from vidence.records import Verdict
from vidence.studio.bridge.runs import (
    DAMAGED,
    Reader,
    content_key,
    entry_of,
    judges_differ,
    margin_of,
    readings,
    row_of,
)


@pytest.fixture
def reader(tmp_path):
    return Reader(write_run(tmp_path / "a", plan={"price_out": 1e6}))


def test_rows_come_in_their_order_a_few_at_a_time(reader):
    first, rest = reader.after(0, 3), reader.after(3, 3)
    assert [one.item_id[:4] for one in (*first, *rest)] == ["q1", "q2", "q/3?", "q4<s"]
    assert [one.fate for one in (*first, *rest)] == ["right", "wrong", "right", "unreadable"]
    assert [one.seq for one in (*first, *rest)] == [1, 2, 3, 4]
    assert [one.cost_usd for one in first] == [30.0, 20.0, 40.0]
    assert [one.finish for one in first] == ["stop", "length", "stop"]
    assert first[0].margin == pytest.approx(2.5)
    assert (first[0].latency_s, first[0].tokens, first[0].gold, first[0].read) == (3.0, 130, "A", "A")
    assert reader.after(4, 3) == []


def test_a_trial_that_fits_no_question_is_damaged(reader):
    entries = [entry_of(reader.head, {}, stored) for stored in _stored(reader)]
    assert {one.fate for one in entries} == {DAMAGED}
    assert "fits no question" in entries[0].problem


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


def test_another_run_at_the_path_has_another_key_and_one_that_goes_on_keeps_it(tmp_path):
    from vidence.engine.store import RunStore

    run = write_run(tmp_path / "a", trials=TRIALS[:2])
    key = content_key(run)
    with RunStore(run, is_writer=True) as store:
        store.add(TRIALS[2])
    assert content_key(run) == key
    (run / "plan.toml").write_text((run / "plan.toml").read_text() + "\n")
    assert content_key(run) != key
    (run / "run.sqlite").unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        content_key(run)
