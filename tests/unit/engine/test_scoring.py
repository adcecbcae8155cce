"""Judges in a run: who is asked what, panels, failures, spending, and judging afterwards."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from vidence import catalog
from vidence.contracts import Ask, Flow, Request, Together
from vidence.engine import session
from vidence.engine.plan import read_plan
from vidence.engine.scoring import JudgeModel, JudgePool
from vidence.errors import AccessError, BudgetSpentError, RejectedRequestError, StoreError, UsageError
from vidence.records import Answered, Failed, Item, Prompt, Reply, Sampling, Score, TextPart, Usage, Verdict

OPEN = {"choices": [], "answer": "a red car", "answer_kind": "text"}


@dataclass
class PlainJudge:
    """Asks whether the reply is right; leaves choices that were read to the rules."""

    prompts_dir: object = None
    name: str = "plain-judge"
    version: int = 3
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.0, max_tokens=7))
    scale: float = 4.0

    @property
    def prompts_digest(self) -> str:
        return f"digest of {self.prompts_dir}"

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        if item.answer_kind == "choice" and isinstance(ruled.outcome, Answered):
            return ruled
        (said,) = yield (Prompt(parts=(TextPart(text=f"{item.item_id}: {reply.text}?"),)),)
        value = {"right": 1.0, "wrong": 0.0}.get(said.text)
        verdict = Verdict(judge_model="", value=value, points=4 * value if value is not None else None)
        outcome = Failed(stage="scoring", error="JudgeError", message=said.text)
        return Score(
            outcome=Answered(answer="a car") if value is not None else outcome,
            value=value or 0.0,
            scorer=self.name,
            scorer_version=self.version,
            points=verdict.points,
            verdicts=(verdict,),
        )


@pytest.fixture(autouse=True)
def plain_judge(monkeypatch):
    def create(kind: str, spec: object, **given: object) -> object:
        return PlainJudge(*given.values()) if kind == "judge" else catalog.create(kind, spec, **given)

    monkeypatch.setattr(session, "create", create)


@pytest.fixture
def saying(fake_model) -> Callable[..., object]:
    """A model that says one thing to everybody, or does what it is given."""

    def make(text: str, identity: str = "judge:1", error: Exception | None = None):
        async def turn(request: Request) -> Reply:
            if error is not None:
                raise error
            return Reply(text=text, usage=Usage(input_tokens=100, output_tokens=10))

        return fake_model(identity=identity, turn=turn)

    return make


def test_free_answers_are_marked_by_the_judge_which_signs(bench, saying):
    bench.write(3, **OPEN)
    judge = saying("right")
    summary = bench.run(saying("some vehicle", "answers:1"), judges={"scripted:j": judge})
    assert (summary.n_tried, summary.n_judge_errors, summary.n_failed) == (3, 0, 0)
    assert (summary.judge_input_tokens, summary.judge_output_tokens) == (300, 30)
    assert (summary.input_tokens, summary.output_tokens) == (300, 30)
    assert {r.prompt.text for r in judge.asked} == {f"q{i}: some vehicle?" for i in range(3)}
    assert all(r.sampling == PlainJudge().sampling and r.images == {} for r in judge.asked)
    for trial in bench.trials():
        (verdict,) = trial.score.verdicts
        assert (verdict.judge_model, verdict.temperature, verdict.value) == ("judge:1", 0.0, 1.0)
        assert (trial.score.value, trial.score.points, trial.score.scorer) == (1.0, 4.0, "plain-judge")
    assert judge.n_closed == 1


def test_a_run_with_its_judge_asks_until_a_comparison_of_open_answers_is_decided(bench, saying):
    media = [{"path": f"v{i}.png", "kind": "image"} for i in range(60)]
    bench.write(60, media=media, **OPEN)
    for one in media:
        (bench.folder / one["path"]).write_bytes(b"")
    bench.run(saying("a bus", "weak:1"), judges={"scripted:j": saying("wrong")}, out="weak", selector="none")
    until = {"until": "clear", "against": str(bench.folder / "weak"), "selector": "none"}
    ended = bench.run(saying("a car", "strong:1"), judges={"scripted:k": saying("right")}, **until).ended
    assert ended.decided == "better"
    assert ended.n_left > 0


def test_what_the_rules_decide_is_not_asked(bench, fake_model, saying):
    bench.write(2)
    judge = saying("wrong")
    bench.run(fake_model(), judges={"scripted:j": judge})
    assert judge.asked == []
    assert [t.score.value for t in bench.trials()] == [1.0, 1.0]
    assert all(t.score.verdicts == () and t.score.scorer == "robust" for t in bench.trials())


def test_the_spec_of_a_judge_says_how_verdicts_are_drawn(bench, saying, monkeypatch):
    bench.write(1, **OPEN)
    judge = saying("right")
    spec = "scripted:j?temperature=0.7&max_tokens=99&delay_s=0"
    seen: list[str] = []
    monkeypatch.setattr(session, "parse_spec", lambda text: seen.append(text) or catalog.parse_spec(text))
    bench.run(saying("a car", "answers:1"), judges={"scripted:j?delay_s=0": judge}, judge_models=(spec,))
    assert judge.asked[0].sampling == Sampling(temperature=0.7, max_tokens=99)
    assert bench.trials()[0].score.verdicts[0].temperature == 0.7
    assert spec in seen


def test_a_panel_decides_by_majority_and_keeps_every_verdict(bench, saying):
    bench.write(1, **OPEN)
    judges = {
        "scripted:a": saying("right", "judge:a"),
        "scripted:b": saying("wrong", "judge:b"),
        "scripted:c": saying("right", "judge:c"),
    }
    bench.run(saying("a car", "answers:1"), judges=judges)
    (trial,) = bench.trials()
    assert trial.score.value == 1.0
    assert [(v.judge_model, v.value) for v in trial.score.verdicts] == [
        ("judge:a", 1.0),
        ("judge:b", 0.0),
        ("judge:c", 1.0),
    ]
    assert trial.score.points == pytest.approx(8 / 3)


def test_no_verdict_is_a_failure_that_is_counted_and_asked_again(bench, saying):
    bench.write(2, **OPEN)
    model = saying("a car", "answers:1")
    first = bench.run(model, judges={"scripted:j": saying("hm")})
    assert (first.n_judge_errors, first.n_failed) == (2, 2)
    for trial in bench.trials():
        assert isinstance(trial.score.outcome, Failed)
        assert trial.score.value == 0.0
        assert trial.reply is not None
        assert trial.score.verdicts[0].value is None
    n_asked = len(model.asked)
    second = bench.run(model, judges={"scripted:j": saying("never asked: the memory has its reply")})
    assert second.n_judge_errors == 2
    assert len(model.asked) == n_asked  # the answers came out of the memory


def test_a_judge_that_gives_no_reply_loses_no_answer(bench, saying):
    bench.write(2, **OPEN)
    model = saying("a car", "answers:1")
    silent = saying("", error=RejectedRequestError("too long"))
    summary = bench.run(model, judges={"scripted:j": silent})
    assert summary.n_judge_errors == 2
    for trial in bench.trials():
        assert trial.reply.text == "a car"
        assert "got no reply: too long" in trial.score.verdicts[0].error
    assert bench.run(model, judges={"scripted:j": saying("right")}).n_failed == 0
    assert [t.score.value for t in bench.trials()] == [1.0, 1.0]


def test_a_judge_without_access_ends_the_run_and_says_so(bench, saying):
    bench.write(2, **OPEN)
    barred = {name: saying("", error=AccessError("wrong key")) for name in ("scripted:a", "scripted:b")}
    with pytest.raises(AccessError, match="wrong key"):
        bench.run(saying("a car", "answers:1"), judges=barred)
    assert bench.trials() == []


def test_judges_count_towards_the_limit_of_spending(bench, saying):
    bench.write(40, **OPEN)
    prices = {"price_in": 1.0, "judge_price_in": 9.0, "max_cost": 0.004, "concurrency": 1}
    with pytest.raises(BudgetSpentError):
        bench.run(saying("a car", "answers:1"), judges={"scripted:j": saying("right")}, **prices)
    # 100 tokens in for the answer and 100 for the verdict cost 0.001 dollars together.
    assert 3 <= len(bench.trials()) <= 5


def test_a_run_is_judged_afterwards_without_asking_the_model(bench, saying):
    bench.write(3, **OPEN)
    model = saying("a car", "answers:1")
    bench.run(model, memory=str(bench.folder / "other.sqlite"))
    judge = saying("right")
    summary = bench.judge({"scripted:j": judge}, judge="plain-judge")
    assert summary.n_tried == 3
    assert len(judge.asked) == 3
    assert len(model.asked) == 3
    assert [t.score.value for t in bench.trials()] == [1.0, 1.0, 1.0]
    plan, facts = read_plan(bench.folder / "run")
    assert plan.judge_models == ("scripted:j",)
    assert facts.judge_identities == ("judge:1",)
    assert facts.judge_version == 3
    again = bench.judge({"scripted:j": judge}, judge="plain-judge")
    assert (again.n_tried, again.n_answered_before) == (0, 3)
    assert len(judge.asked) == 3


def test_a_second_judge_replaces_the_first_and_a_run_goes_on_with_it(bench, saying):
    bench.write(2, **OPEN)
    model = saying("a car", "answers:1")
    bench.run(model, judges={"scripted:j": saying("right")})
    bench.judge({"scripted:k": saying("wrong", "judge:2")}, judge="plain-judge")
    assert [t.score.value for t in bench.trials()] == [0.0, 0.0]
    assert {t.score.verdicts[0].judge_model for t in bench.trials()} == {"judge:2"}
    resumed = bench.run(model, judges={"scripted:k": saying("wrong", "judge:2")}, judge="plain-judge")
    assert resumed.n_tried == 0


def test_another_judge_in_the_same_command_is_refused(bench, saying):
    bench.write(2, **OPEN)
    model = saying("a car", "answers:1")
    bench.run(model, judges={"scripted:j": saying("right")})
    with pytest.raises(StoreError, match="holds another run"):
        bench.run(model, judges={"scripted:k": saying("right")})
    with pytest.raises(StoreError, match="judge model is a different one"):
        bench.run(model, judges={"scripted:j": saying("right", "judge:new")})


def test_choices_and_failures_are_judged_afterwards_as_in_a_run(bench, saying, fake_model):
    bench.write(2)

    async def turn(request: Request) -> Reply:
        if request.item_id == "q0":
            raise RejectedRequestError("no")
        return Reply(text="I cannot say")

    bench.run(fake_model(turn=turn))
    judge = saying("right")
    assert bench.judge({"scripted:j": judge}).n_tried == 1
    assert [r.item_id for r in judge.asked] == ["q1"]
    failed, judged = bench.trials()
    assert isinstance(failed.score.outcome, Failed)
    assert judged.score.value == 1.0


def test_judging_needs_a_judge_model(bench, saying):
    bench.write(1, **OPEN)
    bench.run(saying("a car", "answers:1"))
    with pytest.raises(UsageError, match="no judge model is named"):
        bench.judge({})


def test_spending_ends_the_judging_and_keeps_what_was_judged(bench, saying):
    bench.write(20, **OPEN)
    bench.run(saying("a car", "answers:1"))
    with pytest.raises(BudgetSpentError):
        bench.judge({"scripted:j": saying("right")}, judge_price_in=10.0, max_cost=0.003, concurrency=1)
    assert sum(t.score.value is not None for t in bench.trials()) == 3


def test_verdicts_are_those_of_a_pool_where_judge_version_and_models_are() -> None:
    pool = JudgePool(
        judge=PlainJudge(),
        models=[
            JudgeModel(name=f"judge {i}", identity=identity, sampling=Sampling())
            for i, identity in enumerate(("a:1", "b:2"))
        ],
    )
    given = tuple(Verdict(judge_model=identity, value=1.0) for identity in ("a:1", "b:2"))

    def score(scorer="plain-judge", version=3, verdicts=given, **more):
        return Score(
            outcome=Answered(answer="x"),
            value=1.0,
            scorer=scorer,
            scorer_version=version,
            verdicts=verdicts,
            **more,
        )

    assert pool.has_asked(score())
    assert pool.has_judged(score())
    for other in (
        score(scorer="another"),
        score(version=2),
        score(verdicts=given[:1]),
        score(verdicts=given[::-1]),
        score(verdicts=()),
    ):
        assert not pool.has_asked(other)
        assert not pool.has_judged(other)
    assert pool.has_asked_in_vain(score(verdicts=(), unanswered=given))
    assert not pool.has_asked_in_vain(score())


class TwoAsks(PlainJudge):
    """Asks once in its own way, and once as its model judges."""

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        words = Prompt(parts=(TextPart(text="?"),))
        yield [Ask(prompt=words, sampling=Sampling(temperature=0.5)), Ask(prompt=words), words]
        return ruled


def test_what_an_ask_says_of_its_sampling_holds_and_else_that_of_the_model() -> None:
    model = JudgeModel(name="judge 0", identity="a:1", sampling=Sampling(temperature=0.0))
    pool = JudgePool(judge=TwoAsks(), models=[model])
    item = Item(item_id="q", question="?", answer="x", answer_kind="text")
    ruled = Score(outcome=Answered(answer="x"), value=None, scorer="needs-judge", scorer_version=1)
    wanted = next(pool.score(item, Reply(text="x"), ruled=ruled))
    if isinstance(wanted, Together):
        wanted = next(wanted.flows[0])
    assert [one.model for one in wanted] == ["judge 0"] * 3
    assert [one.sampling.temperature for one in wanted] == [0.5, 0.0, 0.0]
