"""What holds for every hosted protocol: connections, the key, the address."""

from collections.abc import Callable
from dataclasses import dataclass

import anyio
import pytest

from servers.anthropic_stub import AnthropicStub, message, text
from servers.gemini_stub import GeminiStub, content
from servers.model_asks import ask, asking, image_part, maker
from servers.openai_stub import Canned, OpenAIStub, completion
from vidence.ask.models.http import HttpModel
from vidence.catalog import parse_spec
from vidence.errors import AccessError, TransientModelError, UsageError

SECRET = "sk-secret-0123456789"  # noqa: S105 - a made-up key that must not appear anywhere


@dataclass(frozen=True, kw_only=True)
class Hosted:
    """One protocol: the stub that speaks it, the variables that are read, a reply."""

    plugin: str
    stub: Callable[..., OpenAIStub | AnthropicStub | GeminiStub]
    host: str
    key_env: str
    reply: bytes
    answer: str
    options: str = ""
    base_url_env: str = ""

    def create(self, options: str, *, limit: str = "timeout_s=10") -> HttpModel:
        spec = parse_spec(f"{self.plugin}:tiny?{limit}&{self.options}&{options}")
        return maker("model", self.plugin)(spec.argument, spec.options)


RESPONSE = (
    b'{"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", '
    b'"text": "B"}]}]}'
)
OPENAI = {
    "plugin": "openai",
    "stub": OpenAIStub,
    "host": r"api\.openai\.com",
    "key_env": "OPENAI_API_KEY",
    "base_url_env": "OPENAI_BASE_URL",
}
PROTOCOLS = {
    "chat": Hosted(**OPENAI, reply=completion({"content": "B"}), answer="chat completion"),
    "responses": Hosted(**OPENAI, reply=RESPONSE, answer="response", options="api=responses"),
    "anthropic": Hosted(
        plugin="anthropic",
        stub=AnthropicStub,
        host=r"api\.anthropic\.com",
        key_env="ANTHROPIC_API_KEY",
        reply=message(text("B")),
        answer="message",
        base_url_env="ANTHROPIC_BASE_URL",
    ),
    "gemini": Hosted(
        plugin="gemini",
        stub=GeminiStub,
        host=r"googleapis\.com",
        key_env="GEMINI_API_KEY",
        reply=content({"text": "B"}),
        answer="reply",
    ),
}


@pytest.fixture(params=PROTOCOLS)
def hosted(request: pytest.FixtureRequest) -> Hosted:
    return PROTOCOLS[request.param]


def test_what_goes_wrong_on_the_way_is_said_with_the_address(hosted: Hosted) -> None:
    with hosted.stub(latency_s=5) as server:
        slow = hosted.create(f"base_url={server.base_url}", limit="timeout_s=0.2")
        with pytest.raises(TransientModelError, match=r"did not answer within 0\.2 s.*timeout_s=SECONDS"):
            ask(slow, asking())
        model = hosted.create(f"base_url={server.base_url}")
        server.canned.append(Canned(status=200, body=hosted.reply, drop=True))
        with pytest.raises(TransientModelError, match=r"connection to .* broke"):
            ask(model, asking())
    with pytest.raises(TransientModelError, match=f"no connection to {server.base_url}.*is the server runn"):
        ask(model, asking())
    with pytest.raises(AccessError, match=r"\u200b.*correct base_url"):
        ask(hosted.create("base_url=http://\u200b.x"), asking())


@pytest.mark.parametrize("kind", ["html", "empty", "cut", "not UTF-8", "{}", "[1]"])
def test_an_answer_that_is_no_reply_is_worth_another_try(hosted: Hosted, kind: str) -> None:
    body, words = {
        "html": (b"<html>welcome</html>", "not JSON.*welcome.*is .* the address of a"),
        "empty": (b"", "not JSON"),
        "cut": (hosted.reply[:-20], "not JSON"),
        "not UTF-8": (hosted.reply.replace(b'"B"', b'"caf\xe9"'), "not UTF-8"),
        "{}": (b"{}", "without (choices|output|content|candidates)"),
        "[1]": (b"[1]", f"no {hosted.answer}"),
    }[kind]
    with hosted.stub() as server:
        server.canned.append(Canned(status=200, body=body))
        with pytest.raises(TransientModelError, match=f"(?s){words}"):
            ask(hosted.create(f"base_url={server.base_url}"), asking())


@pytest.mark.parametrize(
    ("sent", "kept"),
    [(rb'"B\ud800"', "B\ufffd"), (rb'"\udc00B"', "\ufffdB"), (rb'"B", "odd": [NaN, -Infinity]', "B")],
)
def test_a_reply_that_json_does_not_allow_is_kept(
    hosted: Hosted, sent: bytes, kept: str, caplog: pytest.LogCaptureFixture
) -> None:
    with hosted.stub() as server:
        server.canned += [Canned(status=200, body=hosted.reply.replace(b'"B"', sent))] * 2
        model = hosted.create(f"base_url={server.base_url}")
        assert [ask(model, asking())[0].text for _ in range(2)] == [kept, kept]
        assert server.n_requests == 2
    assert len([one for one in caplog.messages if "the reply is kept without it" in one]) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("timeout_s=0", "timeout_s='0'.*above 0"),
        ("max_in_flight=two", "max_in_flight='two'"),
        ("max_in_flight=0", "max_in_flight='0'.*1 or above"),
        ("extra=[1]", "expected a JSON object"),
        ("base_url=localhost:8000", "is not an address"),
    ],
)
def test_bad_options_are_refused(hosted: Hosted, options: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        hosted.create(options, limit="")
    with pytest.raises(UsageError, match="needs its name after a colon"):
        maker("model", hosted.plugin)("", {})


def test_what_changes_no_reply_is_not_in_the_identity(hosted: Hosted) -> None:
    def identity(options: str) -> str:
        return hosted.create(f"base_url=http://h{options}", limit="").identity

    assert identity("&timeout_s=3") == identity("&max_in_flight=2") == identity("/")
    assert identity('&extra={"a": 1, "b": 2}') == identity('&extra={"b": 2, "a": 1}') != identity("")
    assert identity("2") != identity("")


def test_requests_run_together_and_a_closed_model_can_be_asked_again(hosted: Hosted) -> None:
    async def many(model: HttpModel) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(model.reply, asking())
        await model.reply(asking())
        assert server.n_connections == 6
        await model.close()
        await model.reply(asking())
        await model.close()

    with hosted.stub(latency_s=0.3) as server:
        model = hosted.create(f"base_url={server.base_url}")
        anyio.run(many, model)
        assert ask(model, asking())[0].text == "A"
    assert server.most_in_flight == 6
    assert server.n_requests == 9


@pytest.mark.parametrize("hosted", [n for n, h in PROTOCOLS.items() if h.base_url_env], indirect=True)
def test_the_address_comes_from_the_environment(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    with hosted.stub() as server:
        monkeypatch.setenv(hosted.base_url_env, server.base_url + "/")
        assert ask(hosted.create("max_in_flight=1"), asking())[0].text == "A"


def test_the_provider_itself_needs_a_key_and_none_with_blanks(hosted, monkeypatch):
    with pytest.raises(AccessError, match=rf"{hosted.host}.*{hosted.key_env} is not set"):
        ask(hosted.create("max_in_flight=1"), asking())
    monkeypatch.setenv(hosted.key_env, "sk one two")
    with pytest.raises(UsageError, match=f"{hosted.key_env} holds spaces"):
        hosted.create("base_url=http://localhost:1")
    monkeypatch.delenv(hosted.key_env)
    with hosted.stub() as server, pytest.raises(UsageError, match="image d9"):
        ask(hosted.create(f"base_url={server.base_url}"), asking(image_part("d9")))
    assert server.n_requests == 0


@pytest.mark.parametrize("own", [False, True])
def test_the_key_comes_from_the_environment(hosted, monkeypatch, own):
    monkeypatch.setenv("MY_KEY" if own else hosted.key_env, "sk-mine\n")
    option = "&api_key_env=MY_KEY" if own else ""
    with hosted.stub(key="sk-mine") as server:
        assert ask(hosted.create(f"base_url={server.base_url}{option}"), asking())[0].text == "A"


def test_the_key_is_never_shown(hosted, monkeypatch, caplog):
    monkeypatch.setenv(hosted.key_env, SECRET)
    caplog.set_level("DEBUG")
    with hosted.stub(key="another") as server:
        model = hosted.create(f"base_url={server.base_url}")
        with pytest.raises(AccessError, match=rf"\[key\].*{hosted.key_env}") as caught:
            ask(model, asking())
        server.canned.append(Canned(status=200, body=f"debug page: {SECRET}".encode()))
        with pytest.raises(TransientModelError) as second:
            ask(model, asking())
    said = [str(caught.value), str(second.value)]
    shown = [*said, model.identity, repr(model), repr(vars(model)), caplog.text]
    assert not [words for words in shown if SECRET in words]


@pytest.mark.parametrize(
    "options",
    [
        f"api_key_env={SECRET}",
        f"api_key={SECRET}",
        f"base_url=http://me:{SECRET}@localhost:1",
        f"base_url=http://localhost:1%3Fkey={SECRET}",
    ],
)
def test_a_key_in_the_wrong_place_is_refused_without_showing_it(hosted: Hosted, options: str) -> None:
    with pytest.raises(UsageError) as caught:
        hosted.create(options)
    assert SECRET not in str(caught.value)
