"""`anthropic:`: what is made of the API's answers."""

import pytest

from servers.anthropic_stub import AnthropicStub, message, refusal, text
from servers.model_asks import ask, asking, maker
from servers.openai_stub import Canned
from vidence.ask.models.http import HttpModel
from vidence.catalog import parse_spec
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError
from vidence.records import Reply, Usage

SECRET = "sk-secret-0123456789"  # noqa: S105 - a made-up key that must not appear anywhere

create = maker("model", "anthropic")


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def model_for(server: AnthropicStub, options: str = "") -> HttpModel:
    spec = parse_spec(f"anthropic:claude?base_url={server.base_url}&timeout_s=10&{options}")
    return create(spec.argument, spec.options)


def ask_stub(canned: Canned) -> Reply:
    with AnthropicStub() as server:
        server.canned.append(canned)
        reply = ask(model_for(server), asking())[0]
        assert server.n_requests == 1
        return reply


# ------------------------------------------------------------------------------------ what is read

THINKING = {"type": "thinking", "thinking": "First.", "signature": "c2ln"}
REFUSED = {"type": "refusal", "category": "bio", "explanation": "This could do harm."}


@pytest.mark.parametrize(
    ("content", "fields", "expected"),
    [
        ([text("B")], {}, Reply(text="B")),
        ([text("B")], {"stop_reason": "stop_sequence"}, Reply(text="B")),
        ([text("B")], {"stop_reason": "max_tokens"}, Reply(text="B", finish="length")),
        ([text("B")], {"stop_reason": "model_context_window_exceeded"}, Reply(text="B", finish="length")),
        ([text("B")], {"stop_reason": "pause_turn"}, Reply(text="B", finish="other")),
        ([text("B")], {"stop_reason": "something new"}, Reply(text="B", finish="other")),
        ([text("B")], {"stop_reason": None}, Reply(text="B", finish="other")),
        ([text("Answer: "), text("B")], {}, Reply(text="Answer: B")),
        ([], {}, Reply(text="")),
        ([THINKING, text("B")], {}, Reply(text="B", reasoning="First.")),
        (
            [THINKING, text("B"), {**THINKING, "thinking": "Then."}],
            {},
            Reply(text="B", reasoning="First.\n\nThen."),
        ),
        ([{**THINKING, "thinking": ""}, text("B")], {}, Reply(text="B")),
        ([{"type": "redacted_thinking", "data": "AAAA"}, text("B")], {}, Reply(text="B")),
        ([THINKING], {"stop_reason": "max_tokens"}, Reply(text="", reasoning="First.", finish="length")),
        ([{"type": "block of next year", "text": "no"}, text("B")], {}, Reply(text="B")),
        ([{"type": "tool_use", "id": "t", "name": "other", "input": {}}], {}, Reply(text="")),
        ([], {"stop_reason": "refusal"}, Reply(text="", finish="refusal")),
        (
            [text("I")],
            {"stop_reason": "refusal", "stop_details": REFUSED},
            Reply(text="I", finish="refusal", refusal="This could do harm."),
        ),
        (
            [],
            {"stop_reason": "refusal", "stop_details": {**REFUSED, "explanation": None}},
            Reply(text="", finish="refusal", refusal="bio"),
        ),
    ],
)
def test_replies_of_every_shape_are_read(content: list, fields: dict[str, object], expected: Reply):
    reply = ask_stub(Canned(status=200, body=message(*content, **fields)))
    assert (reply.text, reply.reasoning, reply.finish, reply.refusal) == (
        expected.text,
        expected.reasoning,
        expected.finish,
        expected.refusal,
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "input_tokens": 5,
                "cache_creation_input_tokens": 100,
                "cache_read_input_tokens": 20,
                "output_tokens": 3,
                "output_tokens_details": {"thinking_tokens": 2},
            },
            Usage(input_tokens=125, output_tokens=3),
        ),
        (
            {"input_tokens": 5, "cache_read_input_tokens": None, "output_tokens": 3},
            Usage(input_tokens=5, output_tokens=3),
        ),
        ({}, Usage()),
        (None, Usage()),
    ],
)
def test_tokens_of_the_cache_are_input(usage: dict[str, object] | None, expected: Usage):
    assert ask_stub(Canned(status=200, body=message(text("B"), usage=usage))).usage == expected


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>welcome</html>", "not JSON.*welcome.*is .* the address of an Anthropic API"),
        (b"", "not JSON"),
        (message(text("caf")).replace(b"caf", b"caf\xe9"), "not UTF-8"),
        (message(text("B"))[:-20], "not JSON"),
        (b"{}", "without content"),
        (b"[1]", "no message"),
        (message(text("B")).replace(b'"B"', b"5"), "no message.*text"),
        (refusal("overloaded_error", "too busy"), "without content.*too busy"),
    ],
)
def test_an_answer_that_is_no_reply_is_worth_another_try(body: bytes, words: str):
    with pytest.raises(TransientModelError, match=f"(?s){words}"):
        ask_stub(Canned(status=200, body=body))


# ---------------------------------------------------------------------------------- what is raised


@pytest.mark.parametrize(
    ("canned", "wait_s", "is_overload"),
    [
        (Canned(status=429, headers={"retry-after": "2"}), 2.0, True),
        (Canned(status=429, headers={"retry-after-ms": "250"}), 0.25, True),
        (Canned(status=429, headers={"retry-after": "soon"}), None, True),
        (Canned(status=529, body=refusal("overloaded_error", "Overloaded")), None, True),
        (Canned(status=503), None, True),
        (Canned(status=500, body=refusal("api_error", "Internal server error")), None, False),
        (Canned(status=500, headers={"x-should-retry": "true"}), None, False),
        (Canned(status=502, body=b"<html>\xff Bad gateway</html>"), None, False),
        (Canned(status=408), None, False),
        (Canned(status=409), None, False),
    ],
)
def test_troubles_that_pass_are_not_retried_by_the_model(
    canned: Canned, wait_s: float | None, *, is_overload: bool
):
    with AnthropicStub() as server:
        server.canned.append(canned)
        with pytest.raises(TransientModelError, match=str(canned.status)) as caught:
            ask(model_for(server), asking())
    assert server.n_requests == 1
    assert caught.value.retry_after_s == wait_s
    assert caught.value.is_overload is is_overload


def invalid(words: str) -> bytes:
    return refusal("invalid_request_error", words)


@pytest.mark.parametrize(
    ("canned", "kind", "words"),
    [
        (Canned(status=401), AccessError, "401.*ANTHROPIC_API_KEY is not set"),
        (Canned(status=402), AccessError, "402"),
        (Canned(status=403, body=refusal("permission_error", "not yours")), AccessError, "403: not yours"),
        (
            Canned(status=404, body=refusal("not_found_error", "model: claude")),
            AccessError,
            "404: model: claude.*name right.*before /v1",
        ),
        (Canned(status=307, headers={"location": "/v2"}), AccessError, "address moved"),
        (
            Canned(status=400, body=invalid("too many images: 101 > 100")),
            RejectedRequestError,
            "too many images",
        ),
        (Canned(status=400, body=invalid("prompt is too long")), RejectedRequestError, "too long"),
        (
            Canned(status=413, body=refusal("request_too_large", "Request exceeds the maximum size")),
            RejectedRequestError,
            "413: Request exceeds",
        ),
        (Canned(status=422, body=b"\xff\xfe"), RejectedRequestError, "422"),
        (Canned(status=400, body=invalid("Your credit balance is too low")), AccessError, "no credit left"),
        (
            Canned(status=400, body=invalid("output_config.format is not supported for this model")),
            AccessError,
            "structured=tool",
        ),
        (
            Canned(status=400, body=invalid("This model does not support the effort parameter.")),
            AccessError,
            "effort=",
        ),
    ],
)
def test_troubles_that_stay(canned: Canned, kind: type[ModelError], words: str):
    with pytest.raises(kind, match=f"(?s){words}"):
        ask_stub(canned)


def test_models_of_every_age_can_be_asked():
    with AnthropicStub(answer="B") as server:
        for name in ("claude-sonnet-4-5", "claude-opus-4-6"):
            model = create(name, {"base_url": server.base_url, "thinking_budget": "1024"})
            assert ask(model, asking(temperature=1.0))[0].text == "B"


def test_a_long_reply_may_be_asked_for():
    with AnthropicStub(answer="B") as server:
        assert ask(model_for(server), asking(max_tokens=64_000))[0].text == "B"


# ---------------------------------------------------------------------------------------- the key


def test_other_credentials_on_the_machine_are_not_sent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", SECRET)
    with AnthropicStub() as server:
        ask(model_for(server), asking())
    assert SECRET not in str(server.requests[0].headers)
