"""Questions asked in turn: what was answered decides what comes next, and nothing is asked twice."""

from datetime import UTC, datetime

import pytest

from servers import virtual_time
from vidence.engine import engine as engine_module
from vidence.engine import prepare
from vidence.engine.environment import Environment
from vidence.engine.in_turn import ask_in_turn
from vidence.engine.plan import machine_facts
from vidence.engine.prepare import make_plan
from vidence.errors import BudgetSpentError, UsageError
from vidence.records import Reply

_FACTS = machine_facts()


def asked_in_turn(bench, model, turns, **overrides):
    plan = make_plan("table", data=bench.folder / "questions.jsonl", model="scripted:A", overrides=overrides)

    async def go():
        return await ask_in_turn(
            turns,
            plan,
            bench.folder / "run",
            environment=Environment(cache_root=bench.folder / "cache", n_workers=1),
            now=datetime(2026, 1, 1, tzinfo=UTC),
            on_event=bench.events.append,
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_module, "create", lambda kind, spec: model)
        patch.setattr(prepare, "machine_facts", lambda: _FACTS)
        return virtual_time.run(go)


def two_after_each_other():
    """Asks q1, then q0 if it was right, else q2."""
    first = yield "q1"
    second = yield "q0" if first.score.value == 1.0 else "q2"
    return first.score.value, second.item_id, second.score.value


def test_an_answer_decides_which_question_comes_next(bench, fake_model):
    bench.write(4)
    model = fake_model()
    found, summary = asked_in_turn(bench, model, two_after_each_other())
    assert found == (1.0, "q0", 1.0)
    assert [one.item_id for one in model.asked] == ["q1", "q0"]
    assert (summary.n_planned, summary.n_tried, summary.n_answered_before) == (4, 2, 0)
    assert [trial.item_id for trial in bench.trials()] == ["q0", "q1"]

    async def wrong(request):
        return Reply(text="Answer: B")

    (bench.folder / "run" / "run.sqlite").unlink()
    (bench.folder / "run" / "plan.toml").unlink()
    (bench.folder / "cache" / "replies.sqlite").unlink()
    found, _ = asked_in_turn(bench, fake_model(turn=wrong), two_after_each_other())
    assert found == (0.0, "q2", 0.0)


def test_the_same_turns_go_on_and_ask_nothing_twice(bench, fake_model):
    bench.write(4)

    def stopped():
        yield "q1"
        raise BudgetSpentError("the money is gone")

    with pytest.raises(BudgetSpentError):
        asked_in_turn(bench, fake_model(), stopped())
    model = fake_model()
    found, summary = asked_in_turn(bench, model, two_after_each_other())
    assert found == (1.0, "q0", 1.0)
    assert [one.item_id for one in model.asked] == ["q0"]
    assert (summary.n_tried, summary.n_answered_before) == (1, 1)


def test_the_rest_of_the_plan_can_be_run(bench, fake_model):
    bench.write(4)
    asked_in_turn(bench, fake_model(), two_after_each_other())
    assert bench.run(fake_model()).n_answered_before == 2
    assert len(bench.trials()) == 4


def test_a_question_that_is_not_there_and_repeats_are_refused(bench, fake_model):
    bench.write(2)

    def lost():
        yield "q9"

    with pytest.raises(UsageError, match="no question 'q9' in the plan"):
        asked_in_turn(bench, fake_model(), lost())
    with pytest.raises(UsageError, match="repeats 2"):
        asked_in_turn(bench, fake_model(), lost(), repeats=2)
