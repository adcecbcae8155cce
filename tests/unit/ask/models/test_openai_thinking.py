"""`openai:` with reasoning, structured replies and settings that some models refuse."""

import json
import logging

import anyio
import pytest

from servers.openai_asks import ask, ask_stub, create, model_for, text_request
from servers.openai_stub import Canned, OpenAIStub
from vidence.contracts import Request
from vidence.errors import AccessError, RejectedRequestError, UsageError
from vidence.records import Prompt, Reply, Sampling, TextPart

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer"}},
    "required": ["score"],
    "additionalProperties": False,
}


def schema_request(item_id: str = "q1") -> Request:
    prompt = Prompt(parts=(TextPart(text="Mark this."),), reply_schema=SCHEMA)
    return Request(item_id=item_id, prompt=prompt, sampling=Sampling())


def error(message: str, **fields: object) -> bytes:
    return json.dumps({"error": {"message": message, **fields}}).encode()


def sent_with(options: str) -> dict[str, object]:
    with OpenAIStub() as server:
        ask(model_for(server, options), text_request())
    return server.requests[0].body


def test_effort_is_sent_with_its_limit_and_fixed_sampling_sends_less():
    body = sent_with("reasoning_effort=low")
    assert body["reasoning_effort"] == "low"
    assert body["max_completion_tokens"] == 1024
    assert "max_tokens" not in body
    assert "chat_template_kwargs" not in body
    assert sent_with("reasoning_effort=low&max_tokens_field=max_tokens")["max_tokens"] == 1024
    with OpenAIStub() as server:
        ask(model_for(server, "fixed_sampling=true"), text_request(temperature=0.3, top_p=0.5, seed=1))
    assert server.requests[0].body.keys() == {"model", "messages", "max_tokens", "seed"}


@pytest.mark.parametrize(
    ("budget", "expected"),
    [("512", {"enable_thinking": True, "thinking_budget": 512}), ("0", {"enable_thinking": False})],
)
def test_a_budget_goes_to_the_chat_template(budget: str, expected: dict[str, object]):
    body = sent_with(f"thinking_budget={budget}")
    assert body["chat_template_kwargs"] == expected
    assert body["max_tokens"] == 1024
    assert "reasoning_effort" not in body


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("Unsupported value: 'temperature' does not support 0.0 with this model.", "fixed_sampling=true"),
        ("Unsupported parameter: 'max_tokens' is not supported with this model.", "max_completion_tokens"),
        ("Unsupported parameter: 'seed'", "'seed'$"),
    ],
)
def test_a_setting_that_the_model_refuses_comes_with_advice(message: str, advice: str):
    with pytest.raises(RejectedRequestError, match=f"{advice}"):
        ask_stub(Canned(status=400, body=error(message)))


@pytest.mark.parametrize("fields", [{"code": "content_filter"}, {"type": "content_policy_violation"}])
def test_a_prompt_that_the_filter_stops_is_a_refusal(fields: dict[str, object]):
    body = error("The response was filtered.", **fields)
    reply = ask_stub(Canned(status=400, body=body))
    assert (reply.text, reply.finish) == ("", "refusal")
    assert reply.refusal == "The response was filtered."
    with pytest.raises(AccessError, match="filtered"):
        ask_stub(Canned(status=403, body=body))


def test_the_schema_is_sent_strictly_and_only_with_prompts_that_have_one():
    with OpenAIStub(answer='{"score": 3}') as server:
        replies = ask(model_for(server), schema_request(), text_request())
    assert replies[0].text == '{"score": 3}'
    assert server.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
    }
    assert "response_format" not in server.requests[1].body


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_server_without_structured_output_is_asked_without_from_then_on(api, caplog):
    with OpenAIStub(answer="3", takes_schemas=False) as server:
        replies = ask(model_for(server, f"api={api}"), *(schema_request(f"q{n}") for n in range(3)))
    assert [r.text for r in replies] == ["3", "3", "3"]
    with_schema = [bool({"response_format", "text"} & s.body.keys()) for s in server.requests]
    assert with_schema == [True, False, False, False]
    told = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert len(told) == 1
    assert "json_schema is not supported" in told[0].getMessage()


def test_requests_that_are_refused_together_are_told_of_once(caplog: pytest.LogCaptureFixture):
    replies: list[Reply] = []

    async def together(server: OpenAIStub) -> None:
        model = model_for(server)

        async def one(n: int) -> None:
            replies.append(await model.reply(schema_request(f"q{n}")))

        async with anyio.create_task_group() as group:
            for n in range(4):
                group.start_soon(one, n)
        await model.close()

    with OpenAIStub(answer="3") as server:
        server.canned_for = lambda seen: (
            Canned(status=400, body=error("guided decoding is off"), delay_s=0.2)
            if "response_format" in seen.body
            else None
        )
        anyio.run(together, server)
    assert [r.text for r in replies] == ["3"] * 4
    assert server.n_requests == 8
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "canned",
    [
        Canned(status=400, body=error("Invalid schema for response_format 'reply'")),
        Canned(status=400, body=error("Invalid parameter", param="text.format.schema")),
        Canned(status=400, body=error("Failed to parse grammar")),
        Canned(status=422, body=b'{"detail": [{"loc": ["body", "response_format"], "msg": "extra"}]}'),
    ],
)
def test_the_many_ways_of_refusing_a_schema(canned: Canned):
    assert ask_stub(canned, schema_request()).text == "A"


@pytest.mark.parametrize(
    ("options", "canned"),
    [
        ("structured=on", Canned(status=400, body=error("response_format is not supported"))),
        ("structured=auto", Canned(status=400, body=error("too many images"))),
        ("structured=off", Canned(status=400, body=error("response_format is not supported"))),
    ],
)
def test_other_rejections_and_insisting_are_errors(options: str, canned: Canned):
    with OpenAIStub() as server:
        server.canned.append(canned)
        with pytest.raises(RejectedRequestError):
            ask(model_for(server, options), schema_request())
    assert server.n_requests == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reasoning_effort": "huge"}, "expected one of high, low, max, medium, minimal, none"),
        ({"thinking_budget": "-1"}, "0 or above"),
        ({"api": "completions"}, "expected one of chat, responses"),
        ({"structured": "yes"}, "expected one of auto, off, on"),
        ({"reasoning_summary": "auto"}, "reasoning_summary needs api=responses"),
        ({"api": "responses", "thinking_budget": "5"}, "knows neither thinking_budget"),
        ({"api": "responses", "max_tokens_field": "max_tokens"}, "nor max_tokens_field"),
        ({"api": "responses", "extra": '{"input": 1, "stream": true}'}, "must not set input, stream"),
        ({"reasoning_effort": "low", "extra": '{"reasoning_effort": "high"}'}, "set reasoning_effort"),
        ({"thinking_budget": "0", "extra": '{"chat_template_kwargs": {}}'}, "set chat_template_kwargs"),
        ({"structured": "on", "extra": '{"response_format": {}}'}, "must not set response_format"),
        ({"base_url": "http://h/v1/responses"}, "stop before /responses"),
        ({"base_url": "https://api.openai.com/v1", "thinking_budget": "5"}, "use reasoning_effort"),
    ],
)
def test_options_that_exclude_each_other_are_refused(options: dict[str, str], words: str):
    with pytest.raises(UsageError, match=words):
        create("tiny", {"base_url": "http://h/v1", **options})


def test_what_changes_the_reply_is_part_of_the_identity():
    def identity(**options: str) -> str:
        return create("tiny", {"base_url": "http://h/v1", **options}).identity

    assert identity() == "openai:tiny?base_url=http://h/v1&max_tokens_field=max_tokens"
    assert identity(structured="auto", api="chat", fixed_sampling="false") == identity()
    changed = [
        {"api": "responses"}, {"api": "responses", "reasoning_summary": "auto"},
        {"reasoning_effort": "low"}, {"thinking_budget": "0"}, {"thinking_budget": "9"},
        {"fixed_sampling": "true"}, {"structured": "off"}, {"structured": "on"}, {"image_detail": "low"},
        {"top_logprobs": "5"},
    ]  # fmt: skip
    assert len({identity(), *(identity(**options) for options in changed)}) == len(changed) + 1
