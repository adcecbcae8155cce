"""`anthropic:`: what is made of the API's answers."""

import pytest

from servers.anthropic_stub import AnthropicStub, message, refusal, text
from servers.model_asks import ask, asking, maker, shape
from servers.openai_stub import Canned
from vidence.ask.models.http import HttpModel
from vidence.catalog import parse_spec
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError
from vidence.records import Reply, Usage

SECRET = "sk-secret-0123456789"  # noqa: S105 - a made-up key that must not appear anywhere

create = maker("model", "anthropic")


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
    assert shape(reply) == shape(expected)


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
        (message(text("B")).replace(b'"B"', b"5"), "no message.*text"),
        (refusal("overloaded_error", "too busy"), "without content.*too busy"),
    ],
)
def test_an_answer_that_is_no_reply_is_worth_another_try(body: bytes, words: str):
    with pytest.raises(TransientModelError, match=f"(?s){words}"):
        ask_stub(Canned(status=200, body=body))


# ---------------------------------------------------------------------------------- what is raised


def invalid(words: str) -> bytes:
    return refusal("invalid_request_error", words)


@pytest.mark.parametrize(
    ("canned", "kind", "words"),
    [
        (Canned(status=401), AccessError, "401.*ANTHROPIC_API_KEY is not set"),
        (
            Canned(status=404, body=refusal("not_found_error", "model: claude")),
            AccessError,
            "404: model: claude.*name right.*before /v1",
        ),
        (Canned(status=400, body=invalid("prompt is too long")), RejectedRequestError, "too long"),
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


# ---------------------------------------------------------------------------------------- the key


def test_other_credentials_on_the_machine_are_not_sent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", SECRET)
    with AnthropicStub() as server:
        ask(model_for(server), asking())
    assert SECRET not in str(server.requests[0].headers)
