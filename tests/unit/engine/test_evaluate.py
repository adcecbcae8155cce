"""Whole runs with a model made here: what is kept, what is asked again, what stops a run."""

import json
import shutil
import sqlite3

import anyio
import numpy as np
import pytest
from PIL import Image

from vidence.ask.scoring.robust import create as create_robust
from vidence.contracts import Request
from vidence.engine import evaluate
from vidence.engine.events import TrialStored, Trouble
from vidence.engine.memory import Memory
from vidence.engine.plan import PLAN_FILE, read_plan
from vidence.engine.prepare import PreparedRun
from vidence.engine.store import RunStore
from vidence.errors import (
    AccessError,
    BudgetSpentError,
    MissingKeyError,
    MissingMediaError,
    RejectedRequestError,
    StoreError,
    UsageError,
)
from vidence.records import Answered, Failed, Reply, Unreadable, Usage


def picture(path, shade=50):
    Image.fromarray(np.full((16, 24, 3), shade, np.uint8)).save(path)


# ------------------------------------------------------------------ folders left half-way


def test_a_run_killed_before_its_plan_was_written_leaves_nothing_in_the_way(bench, fake_model):
    bench.write(5)
    bench.run(fake_model(), limit=3)
    (bench.folder / "run" / PLAN_FILE).unlink()
    with sqlite3.connect(bench.folder / "run" / "run.sqlite") as db:
        db.execute("DELETE FROM trials")
    db.close()
    bench.run(fake_model(), sample=4, seed=1)
    assert len(bench.trials()) == 4


def test_without_its_plan_a_folder_says_what_to_do_and_the_same_command_goes_on(bench, fake_model):
    bench.write(3)
    bench.run(fake_model())
    (bench.folder / "run" / PLAN_FILE).unlink()
    with pytest.raises(StoreError, match="repeat its command with --out"):
        read_plan(bench.folder / "run")
    model = fake_model()
    assert bench.run(model).n_answered_before == 3
    assert model.asked == []
    (bench.folder / "run" / PLAN_FILE).unlink()
    with pytest.raises(StoreError, match="holds an answer to the question 'q2'"):
        bench.run(fake_model(), limit=2)
    assert len(bench.trials()) == 3


def test_another_limit_in_the_same_folder_is_another_run(bench, fake_model):
    bench.write(3)
    bench.run(fake_model(), limit=2)
    with pytest.raises(StoreError, match="holds another run") as refused:
        bench.run(fake_model(), limit=3, style="cot", temperature=0.5, concurrency=2)
    said = str(refused.value).splitlines()[1:-1]
    assert said == [
        '  style: "direct" there, "cot" here',
        "  limit: 2 there, 3 here",
        "  sampling.temperature: 0.0 there, 0.5 here",
    ]


def test_a_run_keeps_its_name_until_it_gets_another(bench, fake_model):
    bench.write(3)
    names = []
    for given in ({"name": "one"}, {}, {"name": "two"}):
        bench.run(fake_model(), **given)
        names.append(read_plan(bench.folder / "run")[0].name)
    assert names == ["one", "one", "two"]


def test_what_costs_no_answer_may_change(bench, fake_model):
    bench.write(3)
    bench.run(fake_model(), limit=2)
    summary = bench.run(
        fake_model(), limit=2, concurrency=2, attempts=2, price_in=1.0, price_out=1.0, max_cost=5.0
    )
    assert summary.n_answered_before == 2
    assert read_plan(bench.folder / "run")[0].max_cost == 5.0


def test_media_that_arrive_later_are_asked_about_and_counted(bench, fake_model):
    bench.write(3, media=["0.png", "1.png", "2.png"])
    picture(bench.folder / "1.png")
    with pytest.raises(MissingMediaError, match=r"2 images are missing, which 2 of 3 questions need:"):
        bench.run(fake_model(looks=True))
    bench.run(fake_model(looks=True), allow_missing=True, in_real_time=True)
    assert [t.item_id for t in bench.trials()] == ["q1"]
    picture(bench.folder / "0.png")
    model = fake_model(looks=True)
    bench.run(model, allow_missing=True, in_real_time=True)
    assert [r.item_id for r in model.asked] == ["q0"]
    assert [t.item_id for t in bench.trials()] == ["q0", "q1"]
    assert read_plan(bench.folder / "run")[1].n_planned == 2


def test_media_that_left_after_they_were_asked_about_stop_the_run(bench, fake_model):
    bench.write(2, media=["0.png", "1.png"])
    for name in ("0.png", "1.png"):
        picture(bench.folder / name)
    bench.run(fake_model(looks=True), allow_missing=True, in_real_time=True)
    (bench.folder / "0.png").unlink()
    with pytest.raises(StoreError, match="holds an answer to the question 'q0'"):
        bench.run(fake_model(looks=True), allow_missing=True)
    assert len(bench.trials()) == 2


def test_a_run_folder_that_cannot_be_made_says_so(bench, fake_model):
    bench.write(1)
    (bench.folder / "file").write_text("")
    with pytest.raises(UsageError, match="or one above it, is a file"):
        bench.run(fake_model(), out="file/run")


# ------------------------------------------------------------------ the model


def test_the_model_is_closed_whatever_happens(bench, fake_model):
    bench.write(2)

    async def no_access(request):
        raise AccessError("wrong key")

    models = {name: fake_model() for name in ("fine", "done", "no question", "other run", "no access")}
    models["no access"].turn = no_access
    bench.run(models["fine"])
    bench.run(models["done"])
    with pytest.raises(UsageError, match="no question has the tag"):
        bench.run(models["no question"], where={"task": "none"})
    with pytest.raises(StoreError, match="holds another run"):
        bench.run(models["other run"], limit=1)
    with pytest.raises(AccessError, match="wrong key"):
        bench.run(models["no access"], out="second", memory=str(bench.folder / "own.sqlite"))
    assert {name: m.n_closed for name, m in models.items()} == dict.fromkeys(models, 1)


def test_repeats_differ_and_equal_questions_are_sent_once(bench, fake_model):
    rows = [
        {"item_id": name, "question": "Same?", "choices": ["x", "y"], "answer": "A"}
        for name in ("one", "two")
    ]
    (bench.folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    model = fake_model()
    summary = bench.run(model, repeats=3)
    assert sorted(r.sample for r in model.asked) == [0, 1, 2]
    assert (summary.n_planned, summary.n_tried, summary.n_remembered) == (6, 6, 3)


# ------------------------------------------------------------------ plug-ins that break


class BrokenParser:
    """Cannot read some replies, and cannot mark failures either."""

    name, version = "broken", 7

    def __init__(self, error):
        self.error = error
        self.whole = create_robust()

    def read(self, item, reply):
        if item.item_id == "q1":
            raise self.error
        return self.whole.read(item, reply)

    def mark(self, item, outcome):
        if isinstance(outcome, Failed):
            raise TypeError("no failures, please")
        return self.whole.mark(item, outcome)


@pytest.mark.parametrize("error", [ValueError("bad group"), UsageError("bad use")])
def test_a_parser_that_breaks_loses_neither_the_reply_nor_the_others(bench, fake_model, monkeypatch, error):
    bench.write(3)
    with monkeypatch.context() as patch:
        patch.setattr(PreparedRun, "parser_for", lambda self, item: BrokenParser(error))
        summary = bench.run(fake_model())
    assert (summary.n_tried, summary.n_failed) == (3, 1)
    trial = bench.trials()[1]
    assert isinstance(trial.score.outcome, Failed)
    assert trial.score.outcome.stage == "scoring"
    assert "the parser 'broken' broke on item 'q1'" in trial.score.outcome.message
    assert (trial.score.value, trial.score.scorer, trial.score.scorer_version) == (0.0, "broken", 7)
    assert trial.reply.text == "Answer: A"
    mended = fake_model()
    assert bench.run(mended).n_tried == 1
    assert mended.asked == []  # the reply was remembered
    assert all(isinstance(t.score.outcome, Answered) for t in bench.trials())


def test_a_failure_stays_the_failure_it_is_when_the_parser_cannot_mark_it(bench, fake_model, monkeypatch):
    bench.write(1)

    async def turn(request):
        raise RejectedRequestError("too long")

    monkeypatch.setattr(PreparedRun, "parser_for", lambda self, item: BrokenParser(ValueError()))
    bench.run(fake_model(turn=turn))
    [trial] = bench.trials()
    assert trial.score.outcome == Failed(stage="model", error="RejectedRequestError", message="too long")
    assert trial.prompt is not None  # it was sent


def test_a_prompt_that_cannot_be_made_fails_its_question_only(bench, fake_model, monkeypatch):
    from vidence.ask.prompting.compose import Prompter
    from vidence.errors import MediaError

    whole = Prompter.prompt

    def broken(self, item, *rest, **more):
        if item.item_id == "q0":
            raise MediaError("q0.png: the frame cannot be decoded")
        return whole(self, item, *rest, **more)

    monkeypatch.setattr(Prompter, "prompt", broken)
    bench.write(2)
    bench.run(fake_model())
    first, second = bench.trials()
    assert first.score.outcome == Failed(
        stage="prompting", error="MediaError", message="q0.png: the frame cannot be decoded"
    )
    assert first.prompt is None
    assert isinstance(second.score.outcome, Answered)


def test_montages_are_made_and_damaged_images_fail_only_their_questions(bench, fake_model):
    bench.write(2, media=["good.png", "bad.png"])
    picture(bench.folder / "good.png")
    (bench.folder / "bad.png").write_text("no picture")
    model = fake_model(looks=True)
    summary = bench.run(model, layout="montage:2x1", selector="all", in_real_time=True)
    assert [r.item_id for r in model.asked] == ["q0"]
    assert summary.n_failed == 1
    assert [type(t.score.outcome) for t in bench.trials()] == [Answered, Failed]
    assert sum(isinstance(e, Trouble) and "bad.png" in e.message for e in bench.events) == 1


# ------------------------------------------------------------------ money


def test_spending_ends_with_what_is_in_flight_and_goes_on_with_a_higher_limit(bench, fake_model):
    bench.write(40)

    async def turn(request):
        await anyio.sleep(1)
        return Reply(text="Answer: A", usage=Usage(input_tokens=1000, output_tokens=0))

    settings = {"concurrency": 4, "price_in": 10.0, "price_out": 10.0}  # each reply costs one cent
    model = fake_model(turn=turn)
    with pytest.raises(BudgetSpentError, match=r"limit is 0\.0950"):
        bench.run(model, max_cost=0.095, **settings)
    assert 10 <= len(model.asked) <= 10 + 3
    assert len(bench.trials()) == len(model.asked)
    paid = [e.cost for e in bench.events if isinstance(e, TrialStored)]
    assert sum(paid) == pytest.approx(0.01 * len(model.asked))
    again = fake_model(turn=turn)
    summary = bench.run(again, max_cost=100.0, **settings)
    assert len(model.asked) + len(again.asked) == 40
    assert summary.cost == pytest.approx(0.01 * len(again.asked))
    assert summary.input_tokens == 1000 * len(again.asked)


# ------------------------------------------------------------------ disks that are full


def fill(connection):
    """No page more: what SQLite meets on a full disk."""
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")


@pytest.mark.parametrize("store", [Memory, RunStore])
def test_a_full_disk_stops_the_run_and_what_was_acknowledged_is_there(bench, fake_model, monkeypatch, store):
    bench.write(300)
    method = "put" if store is Memory else "add"
    whole = getattr(store, method)
    n_stored = 0

    def filling(self, *words):
        nonlocal n_stored
        if n_stored == 20:
            fill(self._db)
        whole(self, *words)
        n_stored += 1

    with monkeypatch.context() as patch:
        patch.setattr(store, method, filling)
        with pytest.raises(StoreError, match=r"full; make room; `vidence resume` goes on"):
            bench.run(fake_model(), concurrency=4)
    assert 20 <= n_stored < 300
    with Memory(bench.folder / "cache" / "replies.sqlite") as memory:
        n_remembered = memory._db.execute("SELECT COUNT(*) FROM replies").fetchone()[0]
    n_trials = len(bench.trials())
    kept = n_remembered if store is Memory else n_trials
    # All of a turn of the event loop is kept, or nothing; the error comes out in the next one.
    assert n_stored - 2 * 4 <= kept <= n_stored
    model = fake_model()
    bench.run(model, concurrency=4)
    assert len(model.asked) == 300 - max(n_remembered, n_trials)
    assert len(bench.trials()) == 300


def test_a_plan_that_cannot_be_written_stops_the_run_before_anything_is_asked(bench, fake_model, monkeypatch):
    bench.write(2)

    def full(folder, plan, facts):
        raise StoreError("cannot write plan.toml: no space left")

    model = fake_model()
    with monkeypatch.context() as patch:
        patch.setattr(evaluate, "write_plan", full)
        with pytest.raises(StoreError, match="no space left"):
            bench.run(model)
    assert model.asked == []
    bench.run(model)
    assert len(bench.trials()) == 2


# ------------------------------------------------------------------ errors nobody foresaw


def test_an_error_that_is_none_of_ours_comes_out_whole(bench, fake_model, monkeypatch):
    bench.write(2)

    def broken(self, trial):
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(RunStore, "add", broken)
    model = fake_model()
    with pytest.raises(ExceptionGroup) as caught:
        bench.run(model, concurrency=1)
    assert caught.group_contains(ZeroDivisionError, match="a defect")
    assert model.n_closed == 1


def test_one_cache_serves_another_run_and_a_folder_may_be_moved(bench, fake_model):
    bench.write(3)
    bench.run(fake_model())
    shutil.move(bench.folder / "run", bench.folder / "elsewhere")
    model = fake_model()
    assert bench.run(model, out="elsewhere").n_answered_before == 3
    assert bench.run(model, out="fresh").n_remembered == 3
    assert model.asked == []


def test_a_reply_of_any_length_is_read_or_said_to_be_too_long(bench, fake_model):
    texts = {"Question 0?": "so " * 40_000 + "Answer: A", "Question 1?": "so " * 100_000 + "Answer: A"}
    texts["Question 2?"] = f"<think>{texts['Question 1?']}</think>Answer: A"

    async def turn(request: Request) -> Reply:
        return Reply(text=next(said for asked, said in texts.items() if asked in request.prompt.text))

    bench.write(3)
    bench.run(fake_model(turn=turn), in_real_time=True)
    first, second, third = (trial.score.outcome for trial in bench.trials())
    assert [type(first), type(third)] == [Answered, Answered]
    assert second == Unreadable(reason="the reply has 300,009 characters; at most 200,000 are read")


def test_failures_are_named_by_kind_with_a_message():
    failures = evaluate.Failures()
    assert str(failures) == ""
    failures.add(Failed(stage="media", error="MediaError", message="a.mp4 is cut off"))
    failures.add(Failed(stage="media", error="MediaError", message="a.mp4 is cut off"))
    assert str(failures) == "a.mp4 is cut off"
    failures.add(Failed(stage="media", error="MediaError", message="b.mp4 is empty"))
    assert str(failures) == "for example a.mp4 is cut off"
    for n in range(4):
        failures.add(Failed(stage="model", error=f"Error{n}", message="x" * 999))
    assert str(failures).startswith("3 MediaError, for example a.mp4 is cut off; 1 Error0, xxx")
    assert str(failures).endswith("; and 2 more kinds of errors")
    assert len(str(failures)) < 800


def test_a_run_without_a_key_leaves_nothing_unless_there_was_something(bench, fake_model):
    def turn(request: Request) -> Reply:
        if request.item_id == "q1":
            raise MissingKeyError("no key")
        return Reply(text="A")

    bench.write(1)
    with pytest.raises(MissingKeyError):
        bench.run(fake_model(turn=lambda request: turn_away()))
    assert not (bench.folder / "run").exists()
    bench.write(2)
    with pytest.raises(MissingKeyError):
        bench.run(fake_model(turn=turn), concurrency=1)
    assert [t.item_id for t in bench.trials()] == ["q0"]


def turn_away() -> Reply:
    raise MissingKeyError("no key")
