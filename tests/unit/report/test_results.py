import msgspec
import pytest

from vidence.catalog import create
from vidence.errors import StoreError
from vidence.records import Answered, Failed
from vidence.report import results
from vidence.report.results import load_run, load_runs


def test_rows_carry_the_stored_scores_in_the_order_of_the_questions(runs):
    run = runs.load()
    assert [row.item.item_id for row in run.rows] == ["q1", "q2", "q3", "q4", "q5", "q6", "q7"]
    assert [row.correct for row in run.rows] == [1, 0, 0, 1, 0, 0, None]
    assert [row.read for row in run.rows] == ["A", "C", "", "C", "", "", "a cat"]
    outcomes = "answered answered unreadable answered refused failed answered"
    assert [row.outcome for row in run.rows] == outcomes.split()
    statuses = "right wrong unreadable right refused failed unmarked"
    assert [row.status for row in run.rows] == statuses.split()
    assert (run.name, run.parser, run.n_missing) == ("run-a", "robust", 0)
    assert runs.load("part", trials=runs.trials[:4]).n_missing == 3


def test_another_parser_reads_every_reply_again(runs):
    run = load_run(runs.write(), parser="herbench-official")
    # "A man appears" is read as A by that rule; the refusal, the failure and the free answer stay.
    assert [row.read for row in run.rows] == ["A", "C", "A", "C", "", "", "a cat"]
    assert [row.outcome for row in run.rows][4:] == ["refused", "failed", "answered"]
    assert [row.score.scorer for row in run.rows] == ["herbench-official"] * 6 + ["needs-judge"]
    assert run.parser == "herbench-official"


def test_a_reply_whose_judge_broke_is_read_by_another_parser(runs):
    item = runs.items[0]
    failed = Failed(stage="scoring", error="JudgeError", message="broken")
    trial = runs.marked(item, failed, reply=runs.said(f"Answer: {item.answer}"))
    folder = runs.write(items=[item], trials=[trial])
    assert load_run(folder).rows[0].score.outcome == failed
    assert load_run(folder).rows[0].correct == 0.0
    assert load_run(folder, parser="robust").rows[0].correct == 1.0
    without = runs.write("without", items=[item], trials=[runs.marked(item, failed)])
    assert load_run(without, parser="robust").rows[0].score.outcome == failed
    score = type(trial.score)(outcome=Answered(answer="A"), value=0.5, scorer="judge", scorer_version=1)
    part = runs.load("part", items=[item], trials=[type(trial)(item_id="q1", score=score)])
    assert part.rows[0].status == "partly"
    free = runs.load("free", items=runs.items[6:], trials=[runs.marked(runs.items[6], failed)])
    assert (free.rows[0].correct, free.rows[0].status) == (None, "failed")


def test_a_parser_that_breaks_costs_a_report_one_reply(runs, monkeypatch):
    robust = create("parser", "robust")

    class Fragile:
        name, version, mark = "fragile", 1, robust.mark

        def read(self, item, reply):
            if reply.text == runs.trials[1].reply.text:
                raise ValueError("too much")
            return robust.read(item, reply)

    monkeypatch.setattr(results, "create", lambda kind, name: Fragile())
    rows = load_run(runs.write(), parser="fragile").rows
    assert [row.outcome for row in rows[:3]] == ["answered", "failed", "unreadable"]
    assert "the parser 'fragile' broke on item 'q2': ValueError: too much" in rows[1].score.outcome.message


def test_a_question_stands_as_it_was_shown(runs):
    item = runs.items[0]
    order = tuple(reversed(range(len(item.choices))))
    shown = item.with_order(order)
    trial = runs.marked(item, Answered(answer=shown.answer), reply=runs.said(f"Answer: {shown.answer}"))
    trial = msgspec.structs.replace(trial, choice_order=order)
    folder = runs.write(items=[item], trials=[trial])
    for parser in (None, "robust"):
        row = load_run(folder, parser=parser).rows[0]
        assert row.item.choices == tuple(reversed(item.choices))
        assert row.item.answer == shown.answer != item.answer
        assert row.read == shown.answer


def test_folders_without_a_run_that_vidence_wrote_are_left_out_of_several(runs, tmp_path, caplog):
    first, second = runs.write("first"), runs.write("second")
    audit, asked = tmp_path / "audit-items", tmp_path / "questions"
    for file in (audit / ".vidence-audit", asked / "questions-0123456789ab.jsonl"):
        file.parent.mkdir()
        file.touch()
    loaded = load_runs([audit, first, asked, second], are_brief=True)
    assert [run.folder for run in loaded] == [first, second]
    assert caplog.messages == [f"left out, since they hold no run: {audit}, {asked}"]
    with pytest.raises(StoreError, match=f"{audit.name} is not a run folder"):
        load_runs([audit])
    with pytest.raises(StoreError, match=f"is not a run folder: it holds run folders, such as {first}"):
        load_runs([tmp_path])
    (second / "plan.toml").unlink()
    with pytest.raises(StoreError, match="holds a run that never began"):
        load_runs([first, audit, second])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(StoreError, match="empty is not a run folder"):
        load_runs([first, empty])
