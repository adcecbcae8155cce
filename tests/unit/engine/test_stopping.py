"""Runs that end when their comparison is decided: what is asked, kept, said, and refused."""

import json

import msgspec
import pytest

from vidence.engine.plan import read_plan, write_plan
from vidence.engine.prepare import make_plan
from vidence.errors import RejectedRequestError, UsageError
from vidence.records import Failed, Reply, Usage

N, EACH = 200, 2


@pytest.fixture
def against(bench, fake_model):
    """Questions, two on a source, and a finished run with no right answer."""
    write(bench)
    bench.run(answering(fake_model, "B"), out="weak")
    return str(bench.folder / "weak")


def write(bench, n=N, **changes):
    rows = [
        {
            "item_id": f"q{i}",
            "source_id": f"s{i // EACH}",
            "question": f"Question {i}?",
            "choices": ["x", "y"],
            "answer": "A",
        }
        | changes
        for i in range(n)
    ]
    (bench.folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))


def answering(fake_model, letter="A", *, name="", fails=()):
    """A model that always says this letter; `name` tells one from another, which remembers other replies."""

    async def turn(request):
        if request.item_id in fails:
            raise RejectedRequestError("not this one")
        return Reply(text=f"Answer: {letter}", usage=Usage())

    return fake_model(turn=turn, identity=f"fake:{letter}{name}")


def asked(model):
    return [request.item_id for request in model.asked]


def test_asking_ends_with_what_is_in_flight_when_it_is_decided(bench, fake_model, against):
    model = answering(fake_model)
    summary = bench.run(model, until="clear", against=against, concurrency=3)
    ended = read_plan(bench.folder / "run")[1].ended
    assert ended == summary.ended
    assert ended.decided == "better"
    assert ended.difference.low >= 0
    assert ended.n_asked == EACH * ended.n_decisive == ended.difference.n <= len(asked(model))
    assert len(bench.trials()) == len(asked(model)) == N - ended.n_left <= ended.n_asked + 3 < N / 2
    # Of the questions in flight the sentence says only that they were asked.
    assert str(ended).startswith(f"decided after {ended.n_asked} of {N} questions ({ended.n_decisive} of ")
    assert f"{ended.n_left} questions not asked" in str(ended)
    # Sources come one after the other, in an order that the seed gives; of another seed it is another one.
    sources = [int(name[1:]) // EACH for name in asked(model)]
    assert sources == sorted(sources, key=sources.index)
    assert sources != sorted(sources)
    other = answering(fake_model, name="other")
    bench.run(other, out="other", until="clear", against=against, seed=1, concurrency=3)
    assert asked(other) != asked(model)
    # The order of other runs is that of the questions.
    plain = answering(fake_model, name="plain")
    bench.run(plain, out="plain", concurrency=1)
    assert asked(plain) == [f"q{i}" for i in range(N)]


def test_a_decided_run_is_not_gone_on_with_also_without_the_other_run(bench, fake_model, against):
    settings = {"until": "clear", "against": against}
    first = bench.run(answering(fake_model), **settings)
    (bench.folder / "weak").rename(bench.folder / "gone")
    again = answering(fake_model)
    summary = bench.run(again, **settings)
    assert (asked(again), summary.ended, summary.n_tried) == ([], first.ended, 0)


def test_a_run_that_was_killed_before_it_said_so_decides_the_same_from_what_is_stored(
    bench, fake_model, against
):
    settings = {"until": "clear", "against": against}
    first = bench.run(answering(fake_model), **settings)
    plan, facts = read_plan(bench.folder / "run")
    write_plan(bench.folder / "run", plan, msgspec.structs.replace(facts, ended=None))
    assert read_plan(bench.folder / "run")[1].ended is None
    again = answering(fake_model)
    assert bench.run(again, **settings).ended == first.ended
    assert asked(again) == []


def test_a_run_that_is_never_decided_asks_all_and_says_so(bench, fake_model, against):
    model = answering(fake_model, "B")
    ended = bench.run(model, until="clear", against=against).ended
    assert not ended.n_decisive
    assert str(ended).startswith(
        f"not decided after {N} of {N} questions ({N // EACH} of {N // EACH} sources)"
    )


@pytest.mark.parametrize(("letter", "decided"), [("B", "equivalent"), ("A", "better")])
def test_equivalence_ends_within_the_margin_and_where_it_is_out_of_reach(
    bench, fake_model, against, letter, decided
):
    model = answering(fake_model, letter)
    ended = bench.run(model, out="other", until="equivalent", margin=20, against=against, seed=3).ended
    assert (ended.decided, ended.margin) == (decided, 0.2)
    assert ended.n_left > 0
    low, high = ended.difference.low, ended.difference.high
    assert (low >= -0.2 and high <= 0.2) if decided == "equivalent" else low >= 0.2


def test_failed_trials_count_as_wrong_and_as_right_and_both_must_decide(bench, fake_model, against):
    # Of all questions every second fails: right they are clearly better, wrong they are, too, later.
    fails = {f"q{i}" for i in range(0, N, 2)}
    plain = bench.run(answering(fake_model, name="plain"), out="plain", until="clear", against=against)
    some = bench.run(answering(fake_model, fails=fails), until="clear", against=against)
    assert some.ended.n_decisive
    assert some.ended.n_decisive > plain.ended.n_decisive
    # Where the rest is wrong, failed ones could still be right: all are asked, and failed ones once more.
    model = answering(fake_model, "C", fails=fails)
    never = bench.run(model, out="never", until="clear", against=against, seed=1)
    assert not never.ended.n_decisive
    again = answering(fake_model, "A")
    again.identity = model.identity
    assert bench.run(again, out="never", until="clear", against=against, seed=1).ended.n_decisive
    assert set(asked(again)) < fails
    assert any(isinstance(trial.score.outcome, Failed) for trial in bench.trials("never"))


def test_all_repeats_of_a_question_count_as_their_mean(bench, fake_model, against):
    ended = bench.run(answering(fake_model), until="clear", against=against, repeats=3, temperature=1.0).ended
    assert ended.decided == "better"
    assert ended.n_left > 0


def test_what_cannot_be_decided_while_asking_is_refused_before_anything_is_written(
    bench, fake_model, against
):
    def refused(says, **settings):
        with pytest.raises(UsageError, match=says):
            bench.run(
                answering(fake_model), out="refused", **({"until": "clear", "against": against} | settings)
            )
        assert not (bench.folder / "refused").exists()

    bench.run(answering(fake_model), out="part", limit=3)
    refused(
        "has no score for 197 of the 200 questions .q3, q4, .* and 192 more.",
        against=str(bench.folder / "part"),
    )
    write(bench, n=4)
    refused("was asked about")
    write(bench, answer_kind="text", choices=[])
    bench.run(answering(fake_model), out="open")
    refused("of 200 questions 200 wait for a judge", against=str(bench.folder / "open"))
    reader = {"extract_with": "scripted:A", "against": str(bench.folder / "open")}
    refused("of 200 questions 200 wait for a judge", **reader)
    write(bench, answer="")
    refused("the answers of 200 are hidden")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"until": "clear"}, "until is .clear., against is '' and margin is None; expected --until clear"),
        ({"against": "x"}, "until is '', against is .*x' and margin is None; expected"),
        ({"until": "equivalent", "against": "x"}, "against is .*x' and margin is None; expected"),
        (
            {"until": "clear", "against": "x", "margin": 2.0},
            "until is .clear., .* and margin is 2.0; expected",
        ),
        ({"margin": 2.0}, "until is '', against is '' and margin is 2.0; expected"),
        ({"until": "equivalent", "against": "x", "margin": 0.0}, "a margin of 0 points"),
        ({"until": "now", "against": "x"}, "until is .now.*; expected --until clear .*--until equivalent"),
    ],
)
def test_settings_that_make_no_rule_are_refused(bench, settings, says):
    write(bench)
    with pytest.raises(UsageError, match=says):
        make_plan("table", data=bench.folder / "questions.jsonl", model="scripted:A", overrides=settings)


def test_macro_means_decide_where_both_plans_ask_for_them(bench, fake_model):
    write(bench, tags={"task": "one"})
    bench.run(answering(fake_model, "B"), out="weak", headline="macro:task")
    settings = {"until": "clear", "against": str(bench.folder / "weak")}
    assert bench.run(answering(fake_model), headline="macro:task", **settings).ended.n_decisive
