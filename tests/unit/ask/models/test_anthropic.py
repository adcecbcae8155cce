"""`anthropic:` against a server that speaks the API: what is sent, and what is made of its answers."""

import base64
import json
from pathlib import Path

import pytest

from servers.anthropic_stub import FIXED_SAMPLING, AnthropicStub, message, refusal, text
from servers.model_asks import SCHEMA, ask, asking, image_part, maker, shape
from servers.openai_stub import Canned
from vidence.ask.models.http import HttpModel
from vidence.catalog import parse_spec
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError, UsageError
from vidence.records import Reply, TextPart, Usage, VideoPart

create = maker("model", "anthropic")


def model_for(server: AnthropicStub, options: str = "", name: str = "claude") -> HttpModel:
    spec = parse_spec(f"anthropic:{name}?base_url={server.base_url}&timeout_s=10&{options}")
    return create(spec.argument, spec.options)


def test_words_are_sent_and_read():
    with AnthropicStub(answer="B") as server:
        [reply] = ask(model_for(server), asking())
    assert (reply.text, reply.reasoning, reply.finish, reply.model) == ("B", "", "stop", "claude")
    assert reply.usage == Usage(input_tokens=7, output_tokens=1)
    assert reply.latency_s > 0
    [seen] = server.requests
    assert (seen.method, seen.path) == ("POST", "/v1/messages")
    assert "anthropic-version" in seen.headers
    assert seen.body == {
        "model": "claude",
        "max_tokens": 1024,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Which?"}]}],
        "temperature": 0.0,
    }


def test_parts_keep_their_order_and_images_their_bytes():
    parts = (
        TextPart(text="first"),
        image_part("d1"),
        TextPart(text="then"),
        image_part("d2", "image/png"),
        TextPart(text=" \n"),
    )
    images = {"d1": b"\xff\xd8one", "d2": bytes(range(256))}
    with AnthropicStub() as server:
        ask(model_for(server), asking(*parts, images=images, system="Be brief."))
    body = server.requests[0].body
    assert body["system"] == "Be brief."
    content = body["messages"][0]["content"]
    assert [block["type"] for block in content] == ["text", "image", "text", "image"]
    assert [block["text"] for block in content[::2]] == ["first", "then"]
    sources = [block["source"] for block in content[1::2]]
    assert [source["media_type"] for source in sources] == ["image/jpeg", "image/png"]
    assert [base64.b64decode(source["data"], validate=True) for source in sources] == list(images.values())


def test_what_the_api_does_not_take_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    part = VideoPart(path=str(tmp_path / "clip.mp4"), digest="v1")
    with AnthropicStub() as server, pytest.raises(RejectedRequestError, match=r"clip\.mp4.*--layout images"):
        ask(model_for(server), asking(part))
    assert server.n_requests == 0
    with AnthropicStub() as server, pytest.raises(UsageError, match=r"takes no seed \(got 7\)"):
        ask(model_for(server), asking(seed=7))
    with AnthropicStub() as server, pytest.raises(AccessError, match=r"not supported.*thinking=adaptive"):
        ask(model_for(server, "thinking_budget=2000", name=FIXED_SAMPLING), asking(temperature=1.0))
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", SECRET)
    with AnthropicStub() as server:
        ask(model_for(server), asking())
    assert SECRET not in str(server.requests[0].headers)


def test_settings_that_the_api_does_by_itself_are_not_sent():
    with AnthropicStub() as server:
        unset = asking(temperature=None, max_tokens=None)
        ask(model_for(server), unset, asking(temperature=1.0), asking(top_p=0.5))
    assert [s.body.get("temperature") for s in server.requests] == [None, None, 0.0]
    assert [s.body.get("top_p") for s in server.requests] == [None, None, 0.5]
    assert server.requests[0].body["max_tokens"] == 4096


def test_a_model_that_lets_no_temperature_be_chosen_says_what_to_do():
    with AnthropicStub(answer="B") as server:
        model = model_for(server, name=FIXED_SAMPLING)
        with pytest.raises(AccessError, match=r"`temperature` is deprecated.*fixed_sampling=true"):
            ask(model, asking(temperature=0.0))
        assert ask(model, asking(temperature=1.0))[0].text == "B"
        with pytest.raises(AccessError, match=r"`top_p` is deprecated.*fixed_sampling=true"):
            ask(model, asking(temperature=1.0, top_p=0.5))
        fixed = model_for(server, "fixed_sampling=true", name=FIXED_SAMPLING)
        assert ask(fixed, asking(temperature=0.0, top_p=0.5))[0].text == "B"


def test_a_budget_of_thinking_comes_on_top_of_the_room_for_the_reply():
    with AnthropicStub(answer="B", thought="Because of the hat.") as server:
        model = model_for(server, "thinking_budget=4096")
        [reply] = ask(model, asking(temperature=1.0, max_tokens=100, top_p=0.95))
    assert (reply.text, reply.reasoning) == ("B", "Because of the hat.")
    body = server.requests[0].body
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 4096}
    assert body["max_tokens"] == 4196
    assert "temperature" not in body
    assert body["top_p"] == 0.95


def test_the_model_may_decide_how_much_it_thinks():
    with AnthropicStub(answer="B", thought="hm") as server:
        model = model_for(server, "thinking=adaptive&effort=low")
        [reply] = ask(model, asking(temperature=None, max_tokens=100))
        ask(model_for(server, "thinking=off"), asking())
    assert reply.reasoning == "hm"
    first, second = (s.body for s in server.requests)
    assert first["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert first["output_config"] == {"effort": "low"}
    assert first["max_tokens"] == 100
    assert second["thinking"] == {"type": "disabled"}
    assert second["temperature"] == 0.0


@pytest.mark.parametrize("options", ["thinking_budget=1024", "thinking=adaptive"])
def test_thinking_is_refused_at_a_temperature_that_the_api_refuses(options: str):
    with AnthropicStub() as server:
        with pytest.raises(UsageError, match=r"cannot think at temperature 0: .*--temperature 1"):
            ask(model_for(server, options), asking())
        fixed = model_for(server, options + "&fixed_sampling=true")
        assert ask(fixed, asking(temperature=0.0, top_p=0.9))[0].text == "A"
        with pytest.raises(UsageError, match=r"cannot think with top_p 0\.9: .*0\.95 to 1"):
            ask(model_for(server, options), asking(temperature=1.0, top_p=0.9))
    assert server.n_requests == 1


def test_a_schema_is_the_format_of_the_output_or_the_form_of_a_forced_tool():
    with AnthropicStub(answer='{"right": true, "points": 2}') as server:
        plain, held = ask(model_for(server, "effort=high"), asking(), asking(schema=SCHEMA))
    assert server.requests[0].body["output_config"] == {"effort": "high"}
    config = server.requests[1].body["output_config"]
    assert config["effort"] == "high"
    assert config["format"]["type"] == "json_schema"
    sent = config["format"]["schema"]
    assert sent["required"] == ["right", "points"]
    assert sent["properties"]["points"]["enum"] == [0, 1, 2]
    assert sent["additionalProperties"] is False
    assert json.loads(held.text) == {"right": True, "points": 2}
    assert plain.finish == held.finish == "stop"
    with AnthropicStub(answer='{"right": true, "points": 2}') as server:
        [reply] = ask(model_for(server, "structured=tool"), asking(schema=SCHEMA))
    body = server.requests[0].body
    [tool] = body["tools"]
    assert tool["input_schema"] == SCHEMA
    assert body["tool_choice"] == {"type": "tool", "name": tool["name"]}
    assert json.loads(reply.text) == {"right": True, "points": 2}
    assert reply.finish == "stop"
    with AnthropicStub() as server:
        ask(model_for(server, 'structured=off&extra={"top_k": 5}'), asking(schema=SCHEMA))
    assert server.requests[0].body.keys() == {"model", "max_tokens", "messages", "temperature", "top_k"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"thinking_budget": "1000"}, "thinking_budget='1000'.*1024 or above"),
        ({"thinking": "much"}, "expected one of adaptive, off"),
        ({"thinking": "off", "thinking_budget": "2000"}, "exclude each other"),
        ({"structured": "tool", "thinking_budget": "2000"}, "cannot force a tool"),
        ({"structured": "tool", "thinking": "adaptive"}, "cannot force a tool"),
        ({"effort": "huge"}, "expected one of high, low, max, medium, xhigh"),
        ({"extra": '{"temperature": 1, "tools": []}'}, "must not set temperature, tools"),
        ({"base_url": "http://h/v1"}, "must stop before /v1"),
        ({"base_url": "http://h/v1/messages"}, "must stop before /v1/messages"),
    ],
)
def test_bad_options_are_refused(options: dict[str, str], words: str):
    with pytest.raises(UsageError, match=words):
        create("claude", options)


SECRET = "sk-secret-0123456789"  # noqa: S105 - a made-up key that must not appear anywhere


def ask_stub(canned: Canned) -> Reply:
    with AnthropicStub() as server:
        server.canned.append(canned)
        reply = ask(model_for(server), asking())[0]
        assert server.n_requests == 1
        return reply


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
            Usage(input_tokens=125, output_tokens=3, cached_tokens=20, cache_write_tokens=100),
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
        (Canned(status=400, body=invalid("No support of the effort parameter.")), AccessError, "effort="),
    ],
)
def test_troubles_that_stay(canned: Canned, kind: type[ModelError], words: str):
    with pytest.raises(kind, match=f"(?s){words}"):
        ask_stub(canned)
