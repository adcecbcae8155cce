"""Jobs: many flows against named models, from outside any event loop."""

import os
import signal
from collections.abc import Sequence

import pytest

from vidence.contracts import Ask, Flow
from vidence.engine import engine as engine_module
from vidence.engine.jobs import Jobs, NamedModel
from vidence.engine.limits import AskLimits
from vidence.errors import BudgetSpentError, MediaError, UnknownNameError, UsageError
from vidence.records import Failed, ImagePart, Prompt, Reply, Sampling, TextPart, Usage


def ask(text: str, *, model: str = "", digest: str = "") -> Ask:
    pictures = (ImagePart(digest=digest, width_px=1, height_px=1),) if digest else ()
    return Ask(prompt=Prompt(parts=(TextPart(text=text), *pictures)), model=model)


def said(*asks: Ask) -> Flow[tuple[str, ...]]:
    replies: Sequence[Reply] = yield asks
    return tuple(reply.text for reply in replies)


class Counting:
    """A model that says what it was asked, counts, and bills ten tokens each way."""

    looks = True
    by_item = False
    max_in_flight: int | None = None

    def __init__(self, identity: str = "counting") -> None:
        self.identity = identity
        self.asked: list[tuple[str, Sampling, dict[str, bytes]]] = []
        self.most_at_once = self.n_now = self.n_closed = 0

    async def reply(self, request):
        import anyio

        self.n_now += 1
        self.most_at_once = max(self.most_at_once, self.n_now)
        try:
            await anyio.sleep(0.01)
            images = dict(request.images)
            self.asked.append((request.prompt.text, request.sampling, images))
            return Reply(text=request.prompt.text.upper(), usage=Usage(input_tokens=10, output_tokens=10))
        finally:
            self.n_now -= 1

    async def close(self):
        self.n_closed += 1


@pytest.fixture
def model(monkeypatch) -> Counting:
    one = Counting()
    monkeypatch.setattr(engine_module, "create", lambda kind, spec: one)
    return one


def sent(tmp_path, **changes) -> Jobs:
    settings = {"models": {"cards": NamedModel(spec="scripted:x")}, "memory": tmp_path / "replies.sqlite"}
    settings |= changes
    return Jobs(settings.pop("models"), **settings)


def test_every_flow_gets_its_own_replies_in_the_order_given(tmp_path, model):
    flows = {f"flow {i}": said(ask(f"a{i}"), ask(f"b{i}")) for i in range(20)}
    with sent(tmp_path) as jobs:
        found = jobs.run(flows, model="cards")
        assert jobs.spent.n_asked == 40
    assert list(found) == [f"flow {i}" for i in range(20)]
    assert found["flow 7"] == ("A7", "B7")
    assert model.n_closed == 1
    assert 1 < model.most_at_once <= 16


def test_a_second_session_asks_nothing_and_reads_no_picture(tmp_path, model):
    def broken(digest: str) -> bytes:
        raise MediaError("gone")

    with sent(tmp_path, pictures=lambda digest: digest.encode()) as jobs:
        jobs.run({"one": said(ask("a", digest="d1"))}, model="cards")
    assert model.asked[0][2] == {"d1": b"d1"}
    with sent(tmp_path, pictures=broken) as jobs:
        assert jobs.run({"one": said(ask("a", digest="d1"))}, model="cards") == {"one": ("A",)}
        assert (jobs.spent.n_asked, jobs.spent.n_remembered) == (0, 1)
    assert len(model.asked) == 1


def test_a_picture_that_is_gone_fails_its_flow_and_no_other(tmp_path, model):
    flows = {"bad": said(ask("a", digest="d1")), "good": said(ask("b"))}
    with sent(tmp_path) as jobs:
        found = jobs.run(flows, model="cards")
    assert found["good"] == ("B",)
    assert isinstance(found["bad"], Failed)
    assert "d1" in found["bad"].message


def test_a_rejected_request_fails_its_flow_unless_the_flow_handles_it(tmp_path):
    models = {"no": NamedModel(spec="scripted:x?fail=400"), "yes": NamedModel(spec="scripted:fine")}

    def careful() -> Flow[str]:
        from vidence.errors import RejectedRequestError

        try:
            yield [ask("a", model="no")]
        except RejectedRequestError:
            (reply,) = yield [ask("a", model="yes")]
            return reply.text
        return "not rejected"

    with sent(tmp_path, models=models) as jobs:
        found = jobs.run({"careful": careful(), "plain": said(ask("b", model="no"))})
    assert found["careful"] == "fine"
    assert isinstance(found["plain"], Failed)
    assert found["plain"].error == "RejectedRequestError"
    assert found["plain"].stage == "model"


def test_what_the_spec_says_of_sampling_holds(tmp_path, model):
    models = {"cards": NamedModel(spec="scripted:x?temperature=0.7")}
    with sent(tmp_path, models=models) as jobs:
        wanted = Ask(prompt=ask("a").prompt, sampling=Sampling(temperature=0.1, max_tokens=50))
        jobs.run({"one": said(wanted), "two": said(ask("b"))}, model="cards")
        assert jobs.identity("cards") == 'counting{"temperature":0.7}'
    first, second = (sampling for _, sampling, _ in sorted(model.asked, key=lambda one: one[0]))
    assert (first.temperature, first.max_tokens) == (0.7, 50)
    assert (second.temperature, second.max_tokens) == (0.7, 1024)


def test_an_unknown_model_is_named_with_the_nearest(tmp_path):
    with sent(tmp_path) as jobs, pytest.raises(UnknownNameError, match="Did you mean 'cards'"):
        jobs.run({"one": said(ask("a"))}, model="card")
    with sent(tmp_path) as jobs, pytest.raises(UnknownNameError, match="scenes"):
        jobs.run({"one": said(ask("a", model="scenes"))}, model="cards")


def test_the_limit_of_spending_counts_all_models_together(tmp_path, monkeypatch):
    opened = {"a": Counting("a"), "b": Counting("b")}
    monkeypatch.setattr(engine_module, "create", lambda kind, spec: opened[spec])
    models = {name: NamedModel(spec=name, price_in=1e4, price_out=0.0) for name in opened}  # 0.1 dollars each
    limits = AskLimits(max_cost=0.35, concurrency=1)
    flows = {str(i): said(ask(f"q{i}", model="ab"[i % 2])) for i in range(10)}
    with sent(tmp_path, models=models, limits=limits) as jobs:
        with pytest.raises(BudgetSpentError):
            jobs.run(flows)
        assert jobs.spent.cost == pytest.approx(0.4)
    assert len(opened["a"].asked) + len(opened["b"].asked) == 4


def test_a_limit_without_prices_is_refused(tmp_path):
    with pytest.raises(UsageError, match="price_in"):
        sent(tmp_path, limits=AskLimits(max_cost=1.0))


def test_a_fault_of_a_flow_is_not_hidden(tmp_path, model):
    def broken() -> Flow[str]:
        yield [ask("a")]
        raise ZeroDivisionError("ours")

    with sent(tmp_path) as jobs, pytest.raises(ExceptionGroup) as caught:
        jobs.run({"one": broken()}, model="cards")
    assert caught.value.subgroup(ZeroDivisionError)


class Interrupting(Counting):
    """A model that is asked, and somebody presses Ctrl-C; it would never reply."""

    async def reply(self, request):
        import anyio

        os.kill(os.getpid(), signal.SIGINT)
        await anyio.sleep_forever()


@pytest.fixture
def heeded():
    """SIGINT is heard, also where the tests themselves run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_ctrl_c_gives_up_what_is_in_flight_and_keeps_what_was_answered(tmp_path, monkeypatch):
    opened = {"slow": Interrupting("slow"), "fast": Counting("fast")}
    monkeypatch.setattr(engine_module, "create", lambda kind, spec: opened[spec])
    models = {name: NamedModel(spec=name) for name in opened}
    memory = tmp_path / "replies.sqlite"
    jobs = Jobs(models, memory=memory)

    def interrupted() -> None:
        with jobs:
            jobs.run({"fast": said(ask("a"))}, model="fast")
            jobs.run({"slow": said(ask("a"))}, model="slow")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert jobs.spent.n_asked == 1
    assert (opened["slow"].n_closed, opened["fast"].n_closed) == (1, 1)
    with Jobs(models, memory=memory) as again:
        again.run({"fast": said(ask("a"))}, model="fast")
        assert again.spent.n_remembered == 1


def test_a_spec_that_may_hold_a_key_is_refused_before_anything_is_opened(tmp_path, model):
    with pytest.raises(UsageError, match="api_key_env must be the name") as refused:
        sent(tmp_path, models={"cards": NamedModel(spec="openai:m?api_key_env=sk-canary")})
    assert "canary" not in str(refused.value)


def test_a_model_is_known_by_its_spec_however_it_is_named(tmp_path):
    named = {"plain": "baseline:longest", "priced": NamedModel(spec="scripted:A", price_in=1.0)}
    jobs = Jobs(named, memory=tmp_path / "replies.sqlite")
    assert jobs.spec("plain") == "baseline:longest"
    assert jobs.spec("priced") == "scripted:A"
    assert jobs.spec("nobody") == ""
    assert set(jobs.named) == {"plain", "priced"}
