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
ENVIRONMENT = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
    *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_VERSION"),
)


@dataclass(frozen=True, kw_only=True)
class Hosted:
    """One protocol: the stub that speaks it, the variables that are read, a reply."""

    plugin: str
    stub: Callable[..., OpenAIStub | AnthropicStub | GeminiStub]
    host: str
    key_env: str
    reply: bytes
    options: str = ""
    base_url_env: str = ""

    def create(self, options: str, *, timeout_s: float = 10) -> HttpModel:
        spec = parse_spec(f"{self.plugin}:tiny?timeout_s={timeout_s:g}&{self.options}&{options}")
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
    "chat": Hosted(**OPENAI, reply=completion({"content": "B"})),
    "responses": Hosted(**OPENAI, reply=RESPONSE, options="api=responses"),
    "anthropic": Hosted(
        plugin="anthropic",
        stub=AnthropicStub,
        host=r"api\.anthropic\.com",
        key_env="ANTHROPIC_API_KEY",
        reply=message(text("B")),
        base_url_env="ANTHROPIC_BASE_URL",
    ),
    "gemini": Hosted(
        plugin="gemini",
        stub=GeminiStub,
        host=r"googleapis\.com",
        key_env="GEMINI_API_KEY",
        reply=content({"text": "B"}),
    ),
}


@pytest.fixture(params=PROTOCOLS)
def hosted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Hosted:
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    return PROTOCOLS[request.param]


# ------------------------------------------------------------------------------------- connections


def test_nobody_listening_is_said_with_the_address(hosted: Hosted) -> None:
    with hosted.stub() as server:
        model = hosted.create(f"base_url={server.base_url}")
    with pytest.raises(
        TransientModelError, match=f"no connection to {server.base_url}.*is the server running"
    ):
        ask(model, asking())


def test_a_connection_that_breaks_off_is_worth_another_try(hosted: Hosted) -> None:
    with hosted.stub() as server:
        server.canned.append(Canned(status=200, body=hosted.reply, drop=True))
        with pytest.raises(TransientModelError, match=r"connection to .* broke"):
            ask(hosted.create(f"base_url={server.base_url}"), asking())
        assert server.n_requests == 1


def test_a_server_that_takes_too_long_is_given_up(hosted: Hosted) -> None:
    with hosted.stub(latency_s=5) as server:
        model = hosted.create(f"base_url={server.base_url}", timeout_s=0.2)
        with pytest.raises(TransientModelError, match=r"did not answer within 0\.2 s.*timeout_s=SECONDS"):
            ask(model, asking())


def test_an_address_that_no_machine_can_have_is_no_access(hosted: Hosted) -> None:
    with pytest.raises(AccessError, match=r"\u0378.*correct base_url"):
        ask(hosted.create("base_url=http://\u0378.x"), asking())


def test_another_good_status_is_a_reply(hosted: Hosted) -> None:
    with hosted.stub() as server:
        server.canned.append(Canned(status=201, body=hosted.reply))
        assert ask(hosted.create(f"base_url={server.base_url}"), asking())[0].text == "B"


def test_requests_run_together_and_a_closed_model_can_be_asked_again(hosted: Hosted) -> None:
    async def many(model: HttpModel) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(model.reply, asking())
        await model.close()
        await model.reply(asking())
        await model.close()

    with hosted.stub(latency_s=0.3) as server:
        model = hosted.create(f"base_url={server.base_url}")
        anyio.run(many, model)
        assert ask(model, asking())[0].text == "A"
    assert server.most_in_flight == 6
    assert server.n_requests == 8


def test_an_image_without_bytes_is_a_mistake_of_the_caller(hosted: Hosted) -> None:
    with hosted.stub() as server, pytest.raises(UsageError, match="image d9"):
        ask(hosted.create(f"base_url={server.base_url}"), asking(image_part("d9")))
    assert server.n_requests == 0


@pytest.mark.parametrize("hosted", [n for n, h in PROTOCOLS.items() if h.base_url_env], indirect=True)
def test_the_address_comes_from_the_environment(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    with hosted.stub() as server:
        monkeypatch.setenv(hosted.base_url_env, server.base_url + "/")
        assert ask(hosted.create("max_in_flight=1"), asking())[0].text == "A"


# ---------------------------------------------------------------------------------------- the key


def test_the_provider_itself_needs_a_key(hosted: Hosted) -> None:
    with pytest.raises(AccessError, match=rf"{hosted.host}.*{hosted.key_env} is not set"):
        ask(hosted.create("max_in_flight=1"), asking())


@pytest.mark.parametrize("own", [False, True])
def test_the_key_comes_from_the_environment(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    monkeypatch.setenv("MY_KEY" if own else hosted.key_env, "sk-mine\n")
    option = "&api_key_env=MY_KEY" if own else ""
    with hosted.stub(key="sk-mine") as server:
        assert ask(hosted.create(f"base_url={server.base_url}{option}"), asking())[0].text == "A"


def test_the_key_is_never_shown(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
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


def test_a_key_with_blanks_inside_is_refused(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(hosted.key_env, "sk one two")
    with pytest.raises(UsageError, match=f"{hosted.key_env} holds blanks"):
        hosted.create("base_url=http://localhost:1")
