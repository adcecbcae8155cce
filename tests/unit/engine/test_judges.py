"""Several judges on stored replies: what is asked, what is withheld, what a line says."""

import re

import anyio
import pytest

from vidence.engine import engine as engine_module
from vidence.engine.environment import Environment
from vidence.engine.judges import JudgesWanted, ask_judges
from vidence.errors import UsageError
from vidence.records import Reply, Usage


@pytest.fixture
def folder(bench, fake_model):
    """A run over three open questions, all answered."""
    bench.write(3, choices=[], answer="a pan", answer_kind="text")

    async def say(request):
        return Reply(text="A frying pan.")

    bench.run(fake_model(turn=say))
    return bench.folder / "run"


COUNTED = Usage(input_tokens=1000, output_tokens=100)


def planted(fake_model, *, points, is_right=None, usage=COUNTED):
    """A judge that gives these points, and calls right what they say unless told otherwise."""

    async def say(request):
        marked = re.search(r'<reply id="(\w+)">', request.prompt.text)[1]
        right = points >= 3 if is_right is None else is_right
        said = f'"extracted answer": "pan", "correctness": {str(right).lower()}, "score": {points}'
        return Reply(text=f'{{"id": "{marked}", {said}}}', usage=usage)

    return fake_model(turn=say)


def ask(folder, models, monkeypatch, *, judges=("humanpcr",), **settings):
    monkeypatch.setattr(engine_module, "create", lambda kind, spec: models[spec])
    wanted = JudgesWanted(models=tuple(models), judges=judges, **settings)
    place = Environment(cache_root=folder.parent / "cache", n_workers=1)
    heard = []

    async def go():
        return await ask_judges(
            {"run": folder}, wanted, judges_of={"run": judges}, environment=place, on_event=heard.append
        )

    return anyio.run(go)


def test_every_model_judges_as_every_protocol(folder, bench, fake_model, monkeypatch):
    models = {"fake:a": planted(fake_model, points=4), "fake:b": planted(fake_model, points=1)}
    models["fake:b"].identity = "fake:b"
    lines = ask(folder, models, monkeypatch, judges=("humanpcr", "humanpcr-printed"))
    assert len(lines) == 3 * 2 * 2
    assert {(one.judge_model, one.judge) for one in lines} == {
        (model, judge) for model in models for judge in ("humanpcr", "humanpcr-printed")
    }
    by = {one.judge_model: one for one in lines}
    assert (by["fake:a"].value, by["fake:a"].points) == (1.0, 4.0)
    assert (by["fake:b"].value, by["fake:b"].points) == (0.0, 1.0)
    # The run itself is as it was.
    assert [trial.score.value for trial in bench.trials()] == [None] * 3


def test_the_same_again_comes_out_of_the_memory(folder, fake_model, monkeypatch):
    ask(folder, {"fake:a": planted(fake_model, points=4)}, monkeypatch)
    again = planted(fake_model, points=4)
    lines = ask(folder, {"fake:a": again}, monkeypatch)
    assert again.asked == []
    assert all(one.is_remembered for one in lines)


def test_points_that_contradict_the_mark_twice_are_no_verdict_and_say_why(folder, fake_model, monkeypatch):
    lines = ask(folder, {"fake:a": planted(fake_model, points=1, is_right=True)}, monkeypatch)
    assert {one.value for one in lines} == {None}
    assert all("contradict each other" in one.verdict.contradiction for one in lines)
    assert {len(one.verdict.said) for one in lines} == {2}


def test_a_letter_that_a_rule_reads_is_withheld_from_the_judge(bench, fake_model, monkeypatch):
    bench.write(2)

    async def say(request):
        return Reply(text="Answer: B")

    bench.run(fake_model(turn=say))

    async def choose(request):
        marked = re.search(r'<reply id="(\w+)">', request.prompt.text)[1]
        return Reply(text=f'{{"id": "{marked}", "reason": "it says so", "choice": "B"}}')

    judge = fake_model(turn=choose)
    lines = ask(bench.folder / "run", {"fake:a": judge}, monkeypatch, judges=("rule-first",))
    assert len(judge.asked) == 2
    assert {one.is_asked for one in lines} == {True}
    left = ask(bench.folder / "run", {"fake:a": judge}, monkeypatch, judges=("humanpcr",))
    assert {(one.is_asked, one.value) for one in left} == {(False, None)}


def test_what_would_ask_nobody_is_refused():
    with pytest.raises(UsageError, match="no judge model"):
        JudgesWanted(models=(), judges=())
    with pytest.raises(UsageError, match="repeats a name"):
        JudgesWanted(models=("a", "a"), judges=())


def test_what_rules_decide_is_not_asked(bench, fake_model, monkeypatch):
    bench.write(1)
    bench.run(fake_model())
    (left,) = ask(bench.folder / "run", {"fake:a": planted(fake_model, points=4)}, monkeypatch)
    assert (left.is_asked, left.is_remembered, left.verdict) == (False, False, None)
