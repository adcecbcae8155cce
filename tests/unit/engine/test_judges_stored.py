"""Judging afterwards: stored replies are put to a judge, and the folder carries its verdicts."""

import json
import re
import shutil

import anyio
import msgspec
import pytest

from vidence.engine import engine as engine_module
from vidence.engine.environment import Environment
from vidence.engine.judges import judge_run
from vidence.engine.plan import read_plan
from vidence.errors import NoVerdictsError, TransientModelError
from vidence.records import Reply
from vidence.report.results import load_run


@pytest.fixture
def folder(bench, fake_model):
    """A run over three open questions, all answered."""
    bench.write(3, choices=[], answer="a pan", answer_kind="text")

    async def say(request):
        return Reply(text="A frying pan.")

    bench.run(fake_model(turn=say))
    return bench.folder / "run"


def judge(folder, models, monkeypatch=None, **changes):
    """Judge the run; the summary, and the events."""
    heard = []
    plan, _ = read_plan(folder)
    plan = msgspec.structs.replace(plan, judge="humanpcr", judge_models=tuple(models), **changes)
    if monkeypatch is not None:
        monkeypatch.setattr(engine_module, "create", lambda kind, spec: models[spec])
    environment = Environment(cache_root=folder.parent / "cache", n_workers=1)
    summary = anyio.run(lambda: judge_run(plan, folder, environment=environment, on_event=heard.append))
    return summary, heard


def signed(request, fields):
    """A verdict with the id of the block under judgement."""
    marked = re.search(r'<reply id="(\w+)">', request.prompt.text)[1]
    return Reply(text=json.dumps({"id": marked, **fields}))


def verdict(fake_model, points):
    async def say(request):
        return signed(request, {"extracted answer": "pan", "correctness": points >= 3, "score": points})

    return fake_model(turn=say)


def test_every_stored_reply_gets_a_verdict_and_the_folder_its_judge(folder, bench, fake_model, monkeypatch):
    assert [trial.score.value for trial in bench.trials()] == [None] * 3
    model = verdict(fake_model, 4)
    _, heard = judge(folder, {"fake:judge": model}, monkeypatch)
    assert [trial.score.value for trial in bench.trials()] == [1.0] * 3
    assert (len(model.asked), model.n_closed) == (3, 1)
    assert read_plan(folder)[0].judge == "humanpcr"
    assert len(heard) >= 4  # the beginning, and each trial


def test_what_this_judge_has_scored_is_left_alone_and_another_one_asks_anew(folder, fake_model, monkeypatch):
    judge(folder, {"fake:judge": verdict(fake_model, 4)}, monkeypatch)
    same = verdict(fake_model, 4)
    judge(folder, {"fake:judge": same}, monkeypatch)
    assert same.asked == []
    other = verdict(fake_model, 1)
    other.identity = "fake:2"
    judge(folder, {"fake:other": other}, monkeypatch)
    assert len(other.asked) == 3


def rambling(fake_model, n_times, points=4):
    """Gives no verdict so many times, repairs included, and then points."""
    n_asked = 0

    async def say(request):
        nonlocal n_asked
        n_asked += 1
        if n_asked <= n_times:
            return Reply(text="It is hard to say.")
        return signed(request, {"extracted answer": "pan", "correctness": True, "score": points})

    return fake_model(turn=say)


def test_judging_again_asks_about_judge_errors_alone_and_anew(folder, bench, fake_model, monkeypatch):
    model = rambling(fake_model, 6)  # each of three replies twice
    summary, _ = judge(folder, {"fake:judge": model}, monkeypatch)
    assert (summary.n_judge_errors, summary.n_failed, summary.n_scores_kept) == (0, 0, 3)
    assert [trial.score.value for trial in bench.trials()] == [None] * 3  # they wait, and are not wrong
    # The same judge again, which is lost at one reply and clear about the others.
    again = rambling(fake_model, 2)
    summary, _ = judge(folder, {"fake:judge": again}, monkeypatch)
    assert (summary.n_tried, summary.n_scores_kept, len(again.asked)) == (3, 1, 4)
    last = rambling(fake_model, 0)
    summary, _ = judge(folder, {"fake:judge": last}, monkeypatch)
    assert (summary.n_tried, summary.n_scores_kept, len(last.asked)) == (1, 0, 1)
    assert [trial.score.value for trial in bench.trials()] == [1.0] * 3


def test_a_judge_that_cannot_answer_leaves_the_marks_from_before(folder, bench, fake_model, monkeypatch):
    judge(folder, {"fake:judge": verdict(fake_model, 4)}, monkeypatch)
    lost = rambling(fake_model, 5)  # two replies and the first try at the third
    lost.identity = "fake:2"
    summary, _ = judge(folder, {"fake:other": lost}, monkeypatch)
    assert (summary.n_judge_errors, summary.n_failed, summary.n_scores_kept) == (0, 0, 2)
    kept = [trial.score for trial in bench.trials() if trial.score.unanswered]
    assert [score.value for score in kept] == [1.0, 1.0]
    assert {v.judge_model for score in kept for v in score.verdicts} == {"fake:1"}
    assert {v.judge_model for score in kept for v in score.unanswered} == {"fake:2"}
    assert all(v.value is None and v.error and v.said for score in kept for v in score.unanswered)
    # Back to the judge before: it has marked them, and nothing is open.
    copy = shutil.copytree(folder, folder.parent / "copy")
    summary, _ = judge(copy, {"fake:judge": verdict(fake_model, 4)}, monkeypatch)
    assert summary.n_scores_kept == 0
    assert not any(trial.score.unanswered for trial in bench.trials("copy"))
    # The same command asks about these alone, and not out of the memory.
    again = verdict(fake_model, 1)
    again.identity = "fake:2"
    summary, _ = judge(folder, {"fake:other": again}, monkeypatch)
    assert (summary.n_tried, summary.n_scores_kept, len(again.asked)) == (2, 0, 2)
    assert sorted(trial.score.value for trial in bench.trials()) == [0.0, 0.0, 1.0]
    assert not any(trial.score.unanswered for trial in bench.trials())


def test_a_reply_still_waits_where_the_judge_did_not_reply(folder, bench, fake_model, monkeypatch):
    async def dead(request):
        raise TransientModelError("nothing is listening there")

    model = fake_model(turn=dead)
    summary, _ = judge(folder, {"fake:judge": model}, monkeypatch, attempts=2)
    assert (summary.n_judge_errors, summary.n_scores_kept) == (0, 3)
    assert [trial.score.value for trial in bench.trials()] == [None] * 3
    assert [len(trial.score.unanswered) for trial in bench.trials()] == [1] * 3
    summary, _ = judge(folder, {"fake:judge": verdict(fake_model, 4)}, monkeypatch)
    assert [trial.score.value for trial in bench.trials()] == [1.0] * 3


def test_a_judge_that_fails_on_more_than_a_tenth_ends_with_every_score_as_it_was(
    bench, fake_model, monkeypatch
):
    bench.write(30, choices=[], answer="a pan", answer_kind="text")

    async def say(request):
        return Reply(text="A frying pan.")

    bench.run(fake_model(turn=say))
    run = bench.folder / "run"
    before = bench.trials()
    with pytest.raises(NoVerdictsError, match=r"on 3 of the first 20 replies.*scores are unchanged"):
        judge(run, {"fake:judge": rambling(fake_model, 6)}, monkeypatch, concurrency=1)
    assert (bench.trials(), read_plan(run)[0].judge_models) == (before, ())
    # A tenth is no reason to stop: the two wait, in no mean, and the others are marked.
    model = rambling(fake_model, 4)
    model.identity = "fake:2"
    summary, _ = judge(run, {"fake:other": model}, monkeypatch, concurrency=1)
    assert summary.n_scores_kept == 2
    values = [row.correct for row in load_run(run).rows]
    assert (values.count(None), values.count(1.0)) == (2, 28)


def test_ids_are_made_with_the_seed_of_the_plan(folder, fake_model, monkeypatch):
    asked = []
    for seed in (1, 2):
        model = verdict(fake_model, 4)
        model.identity = f"fake:{seed}"
        judge(folder, {"fake:judge": model}, monkeypatch, seed=seed)
        asked.append({one.prompt.text for one in model.asked})
    assert not asked[0] & asked[1]


def test_two_judges_that_differ_are_undecided_and_not_asked_again(folder, bench, fake_model, monkeypatch):
    kind, strict = verdict(fake_model, 4), verdict(fake_model, 1)
    strict.identity = "fake:strict"
    models = {"fake:kind": kind, "fake:strict": strict}
    summary, _ = judge(folder, models, monkeypatch)
    assert (summary.n_undecided, summary.n_judge_errors, summary.n_failed) == (3, 0, 0)
    assert {trial.score.outcome.error for trial in bench.trials()} == {"Undecided"}
    assert [trial.score.value for trial in bench.trials()] == [0.0] * 3
    summary, _ = judge(folder, models, monkeypatch)
    assert (summary.n_tried, summary.n_answered_before) == (0, 3)


def test_another_rule_of_the_panel_combines_the_verdicts_anew_and_asks_nobody(
    folder, bench, fake_model, monkeypatch
):
    kind, strict = verdict(fake_model, 4), verdict(fake_model, 1)
    strict.identity = "fake:2"
    models = {"fake:kind": kind, "fake:strict": strict}
    found = {}
    for rule in ("majority", "mean", "open"):
        judge(folder, models, monkeypatch, judge_panel=rule)
        found[rule] = {trial.score.value for trial in bench.trials()}
    assert found == {"majority": {0.0}, "mean": {0.5}, "open": {None}}
    assert (len(kind.asked), len(strict.asked)) == (3, 3)
    assert read_plan(folder)[0].judge_panel == "open"
    (run,) = {row.status for row in load_run(folder).rows}
    assert run == "undecided"


def test_a_verdict_on_the_same_reply_in_another_run_is_remembered(folder, bench, fake_model, monkeypatch):
    async def say(request):
        return Reply(text="A frying pan.")

    asked = verdict(fake_model, 4)
    bench.run(fake_model(turn=say), out="judged", judges={"fake:judge": asked}, judge="humanpcr")
    assert len(asked.asked) == 3
    again = verdict(fake_model, 1)
    summary, _ = judge(folder, {"fake:judge": again}, monkeypatch)
    assert again.asked == []
    assert [trial.score.value for trial in bench.trials()] == [1.0] * 3
    assert (summary.n_planned, summary.n_answered_before, summary.n_tried) == (3, 0, 3)
