"""Workers that do a part of a run each: the same trials, nothing asked twice, whatever is lost on the way."""

from contextvars import ContextVar

import anyio
import msgspec
import pytest

from servers.carried import Carried
from vidence.engine import evaluate
from vidence.engine.environment import Environment
from vidence.engine.executors import worker
from vidence.engine.store import Memory
from vidence.errors import (
    AccessError,
    BudgetSpentError,
    MissingKeyError,
    RejectedRequestError,
    StoreError,
    UsageError,
)
from vidence.records import Failed, Reply, Usage

LATENCY_S = 0.3


@pytest.fixture
def spread(bench, monkeypatch):
    """Makes a run over workers; gives the executor, which tells what they did."""

    def run(
        model,
        *,
        out="run",
        n_workers=3,
        kills=None,
        again_s=None,
        loses=None,
        around=None,
        judges=None,
        **overrides,
    ):
        environment = Environment(cache_root=bench.folder / "cache", n_workers=1)
        carried = Carried(environment=environment, n_workers=n_workers, kills=kills or {}, again_s=again_s)
        carried.around = around
        if loses is not None:
            carried.loses = loses
        with monkeypatch.context() as patch:
            patch.setattr(evaluate, "executor_of", lambda on: carried)
            carried.summary = bench.run(model, out=out, judges=judges, **overrides)
        return carried

    return run


async def slowly(request):
    await anyio.sleep(LATENCY_S)
    return Reply(text="Answer: A", usage=Usage(input_tokens=10, output_tokens=1))


def bare(trial):
    """A trial without what takes time."""
    built = msgspec.to_builtins(trial)
    if built["reply"] is not None:
        built["reply"].pop("latency_s", None)
    return built


def test_workers_make_the_same_trials_and_count_the_same(bench, spread, fake_model):
    bench.write(200)
    local = bench.run(fake_model(turn=slowly), out="local", memory=str(bench.folder / "other.sqlite"))
    model = fake_model(turn=slowly)
    carried = spread(model)
    assert [bare(t) for t in bench.trials()] == [bare(t) for t in bench.trials("local")]
    assert len(model.asked) == 200
    assert min(carried.done_by.values()) > 20, carried.done_by  # all of them worked
    for name in ("n_tried", "n_failed", "n_remembered", "input_tokens", "output_tokens", "cost"):
        assert getattr(carried.summary, name) == getattr(local, name), name
    assert model.n_closed == 4  # by the driver and by each worker


def test_what_was_answered_before_is_not_asked_again(bench, spread, fake_model):
    bench.write(40)
    bench.run(fake_model(turn=slowly))
    model = fake_model(turn=slowly)
    assert spread(model).summary.n_answered_before == 40
    carried = spread(model, out="another")
    assert (carried.summary.n_tried, carried.summary.n_remembered, model.asked) == (40, 40, [])


@pytest.mark.parametrize("lost", ["there", "back"])
def test_calls_that_are_lost_cost_nothing(bench, spread, fake_model, lost):
    bench.write(120)
    model = fake_model(turn=slowly)
    carried = spread(model, loses=lambda worker, n: lost if (n + worker) % 3 == 0 else "")
    assert (carried.summary.n_tried, carried.summary.n_failed, len(model.asked)) == (120, 0, 120)
    assert carried.summary.input_tokens == 1200


@pytest.mark.parametrize("again_s", [None, 1.0])
def test_a_worker_that_is_lost_costs_what_it_had_in_flight(bench, spread, fake_model, again_s):
    bench.write(200)
    model = fake_model(turn=slowly)
    carried = spread(model, kills={0: 12, 1: 20}, again_s=again_s)
    assert (carried.summary.n_tried, carried.summary.n_failed) == (200, 0)
    assert len(bench.trials()) == 200
    assert carried.n_begun == (3 if again_s is None else 5)
    assert 200 <= len(model.asked) <= 200 + 2 * 16  # at most what was in flight
    with Memory(bench.folder / "cache" / "replies.sqlite") as memory:
        held = memory._db.execute("SELECT COUNT(*) FROM leases").fetchone()[0]
    assert held == 0


def test_the_same_words_on_two_machines_are_asked_once(bench, spread, fake_model):
    bench.write(64, question="The same?")
    model = fake_model(turn=slowly)
    carried = spread(model, n_workers=4)
    assert (carried.summary.n_tried, len(model.asked)) == (64, 1)


def test_a_slow_worker_does_not_hold_up_the_rest(bench, spread, fake_model):
    bench.write(320)
    number, began_s = ContextVar("number"), {}

    async def turn(request):
        began_s.setdefault(number.get(), []).append(anyio.current_time())
        await anyio.sleep(10 * LATENCY_S if number.get() == 0 else LATENCY_S)
        return Reply(text="Answer: A")

    model = fake_model(turn=turn)
    carried = spread(model, n_workers=4, concurrency=16, around=number.set)
    assert (carried.summary.n_tried, len(model.asked)) == (320, 320)
    # The others alone take 8 s; a third of all would take the slow one 60 s.
    assert max(at for one in began_s.values() for at in one) < 13.0, began_s


def test_one_budget_holds_for_all_workers(bench, spread, fake_model):
    bench.write(400)
    model = fake_model(turn=slowly)
    with pytest.raises(BudgetSpentError, match=r"the limit is 0\.0010"):
        spread(model, n_workers=4, concurrency=8, price_in=1.0, price_out=0.0, max_cost=0.001)
    # 10 tokens at 1 $ per million: 100 questions, and those that were in flight then.
    assert 100 <= len(model.asked) <= 100 + 8 + 8
    assert len(bench.trials()) == len(model.asked)


@pytest.mark.parametrize(
    ("n_workers", "rates"),
    [
        (1, {"requests_per_minute": 600}),
        (4, {"requests_per_minute": 600}),
        (4, {"tokens_per_minute": 6600}),  # 11 for each request
    ],
)
def test_one_rate_holds_for_all_workers(bench, spread, fake_model, n_workers, rates):
    bench.write(200)
    sent_s = []

    async def turn(request):
        sent_s.append(anyio.current_time())
        return await slowly(request)

    carried = spread(fake_model(turn=turn), n_workers=n_workers, concurrency=64, **rates)
    assert carried.summary.n_tried == 200
    # 10 a second; what is in flight before the first reply tells its size goes at once.
    assert 20.0 - 64 / 10 - 1 <= max(sent_s) <= 20.0 * 1.25


def test_an_error_that_ends_a_run_ends_it_and_keeps_what_was_answered(bench, spread, fake_model):
    bench.write(100)

    async def turn(request):
        if request.item_id == "q60":
            raise AccessError("the key was taken back")
        return await slowly(request)

    with pytest.raises(AccessError, match="the key was taken back"):
        spread(fake_model(turn=turn), n_workers=2)
    assert 20 <= len(bench.trials()) < 100
    model = fake_model(turn=slowly)
    assert spread(model).summary.n_tried == 100 - len({t.item_id for t in bench.trials()}) or model.asked
    assert len(bench.trials()) == 100


def test_a_question_that_is_rejected_fails_alone(bench, spread, fake_model):
    bench.write(40)

    async def turn(request):
        if request.item_id == "q7":
            raise RejectedRequestError("too long")
        return await slowly(request)

    assert spread(fake_model(turn=turn)).summary.n_failed == 1
    (failed,) = [t for t in bench.trials() if isinstance(t.score.outcome, Failed)]
    assert failed.item_id == "q7"


def test_a_store_that_cannot_keep_ends_the_run(bench, spread, fake_model, monkeypatch):
    bench.write(40)
    whole = evaluate.RunStore.add

    def full(self, trial):
        if trial.item_id == "q20":
            raise StoreError("the disk is full")
        whole(self, trial)

    monkeypatch.setattr(evaluate.RunStore, "add", full)
    with pytest.raises(StoreError, match="the disk is full"):
        spread(fake_model(turn=slowly), n_workers=1)
    monkeypatch.undo()
    n_stored = len(bench.trials())
    assert n_stored < 40
    model = fake_model(turn=slowly)
    bench.run(model)  # what was acknowledged is not asked again
    assert len(bench.trials()) == 40
    assert len(model.asked) <= 40 - n_stored


def test_judges_are_asked_by_the_workers(bench, spread, fake_model):
    bench.write(20, choices=[], answer="red", answer_kind="text")
    asked = {}
    for out in ("local", "spread"):
        judge = fake_model(identity=f"judge:{out}")
        judged = {"judges": {"scripted:J": judge}, "judge": "rule-first", "out": out}
        if out == "local":
            bench.run(fake_model(turn=slowly), **judged)
        else:
            spread(fake_model(turn=slowly), **judged)
        asked[out] = sorted(request.item_id for request in judge.asked)
    assert asked["spread"] == asked["local"] != []
    scores = [[trial.score.value for trial in bench.trials(out)] for out in ("local", "spread")]
    assert scores[0] == scores[1]


def test_a_machine_that_would_ask_otherwise_is_refused(bench, spread, fake_model, monkeypatch):
    bench.write(4)
    from vidence.engine import session

    whole = session.prepared_again

    def other(plan, facts, **more):
        return whole(plan, msgspec.structs.replace(facts, prompts_digest="another"), **more)

    monkeypatch.setattr(session, "prepared_again", other)
    with pytest.raises(UsageError, match=r"prompts_digest is .* let both see the same files"):
        spread(fake_model())


def test_a_machine_without_a_key_is_named(bench, spread, fake_model, monkeypatch):
    bench.write(4)

    def lacks(*_, **__):
        raise MissingKeyError("the environment variable SOME_KEY is not set")

    monkeypatch.setattr(worker, "opened_again", lacks)
    with pytest.raises(UsageError, match=r"the machine .* cannot begin: .* SOME_KEY is not set"):
        spread(fake_model())


def test_where_it_cannot_be_done_no_folder_is_made(bench, fake_model, monkeypatch):
    bench.write(2)

    def refuse(on):
        raise UsageError("no such place")

    monkeypatch.setattr(evaluate, "executor_of", refuse)
    with pytest.raises(UsageError, match="no such place"):
        bench.run(fake_model())
    assert not (bench.folder / "run").exists()
