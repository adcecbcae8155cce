"""`gemini:` against a server that speaks the API: what is sent, and what is made of its answers."""

import json

import anyio
import pytest

from servers.gemini_stub import GeminiStub, blob_bytes, content, refusal
from servers.model_asks import SCHEMA, ask, asking, image_part, maker, shape
from servers.openai_stub import Canned
from vidence.ask.models.http import HttpModel
from vidence.catalog import parse_spec
from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError, UsageError
from vidence.records import Reply, TextPart, Usage

create = maker("model", "gemini")


def model_for(server: GeminiStub, options: str = "") -> HttpModel:
    spec = parse_spec(f"gemini:gemini-2.5-pro?base_url={server.base_url}&timeout_s=10&{options}")
    return create(spec.argument, spec.options)


def test_words_are_sent_and_read():
    with GeminiStub(answer="B") as server:
        [reply] = ask(model_for(server), asking())
    assert (reply.text, reply.reasoning, reply.finish) == ("B", "", "stop")
    assert reply.model == "gemini-2.5-pro-001"
    assert reply.usage == Usage(input_tokens=7, output_tokens=1)
    assert reply.latency_s > 0
    [seen] = server.requests
    assert (seen.method, seen.path) == ("POST", "/v1/models/gemini-2.5-pro:generateContent")
    assert server.asked == [
        {
            "contents": [{"role": "user", "parts": [{"text": "Which?"}]}],
            "generationConfig": {"temperature": 0.0, "maxOutputTokens": 1024},
        }
    ]


def test_parts_keep_their_order_and_images_their_bytes():
    parts = (TextPart(text="first"), image_part("d1"), TextPart(text="then"), image_part("d2", "image/png"))
    images = {"d1": b"\xff\xd8one\xfb\xef", "d2": bytes(range(256))}
    with GeminiStub() as server:
        ask(model_for(server), asking(*parts, images=images, system="Be brief."))
    [body] = server.asked
    assert body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    [content] = body["contents"]
    assert [part.get("text") for part in content["parts"]] == ["first", None, "then", None]
    sent = content["parts"][1::2]
    assert [part["inlineData"]["mimeType"] for part in sent] == ["image/jpeg", "image/png"]
    assert [blob_bytes(part) for part in sent] == list(images.values())


def test_how_the_reply_is_drawn_is_sent_and_what_is_left_to_the_server_is_not():
    drawn = {"temperature": 0.7, "top_p": 0.5, "seed": 7, "max_tokens": 20}
    with GeminiStub() as server:
        ask(model_for(server), asking(**drawn), asking(**drawn, sample=2))
        ask(model_for(server), asking(temperature=None, max_tokens=None))
    first, second, third = server.asked
    assert first["generationConfig"] == {"temperature": 0.7, "topP": 0.5, "seed": 7, "maxOutputTokens": 20}
    assert second["generationConfig"]["seed"] == 9
    assert third.get("generationConfig", {}) == {}


def test_a_budget_of_thinking_comes_on_top_of_the_room_for_the_reply():
    with GeminiStub(answer="one two three", thought="Because.") as server:
        [reply] = ask(model_for(server, "thinking_budget=2048"), asking(max_tokens=2))
    assert (reply.text, reply.reasoning, reply.finish) == ("one two", "Because.", "length")
    assert reply.usage == Usage(input_tokens=7, output_tokens=2 + 11)
    settings = server.asked[0]["generationConfig"]
    assert settings["thinkingConfig"] == {"includeThoughts": True, "thinkingBudget": 2048}
    assert server.asked[0]["generationConfig"]["maxOutputTokens"] == 2050


@pytest.mark.parametrize(
    ("option", "sent"),
    [
        ("thinking_budget=0", {"includeThoughts": False, "thinkingBudget": 0}),
        ("thinking_budget=-1", {"includeThoughts": True, "thinkingBudget": -1}),
        ("thinking_level=low", {"includeThoughts": True, "thinkingLevel": "LOW"}),
    ],
)
def test_other_ways_to_think_leave_the_limit_as_it_is(option: str, sent: dict[str, object]):
    with GeminiStub() as server:
        ask(model_for(server, option), asking(max_tokens=50))
    assert server.asked[0]["generationConfig"]["thinkingConfig"] == sent
    assert server.asked[0]["generationConfig"]["maxOutputTokens"] == 50


def test_version_safety_and_extra_fields_are_sent_where_they_are_chosen():
    with GeminiStub() as server:
        ask(
            model_for(
                server, 'api_version=v1beta&safety=block_only_high&extra={"generationConfig": {"topK": 5}}'
            ),
            asking(),
        )
    [body] = server.asked
    assert server.requests[0].path == "/v1beta/models/gemini-2.5-pro:generateContent"
    assert body["generationConfig"] == {"temperature": 0.0, "maxOutputTokens": 1024, "topK": 5}
    assert {setting["threshold"] for setting in body["safetySettings"]} == {"BLOCK_ONLY_HIGH"}
    assert {setting["category"] for setting in body["safetySettings"]} == {
        "HARM_CATEGORY_HARASSMENT",
        "HARM_CATEGORY_HATE_SPEECH",
        "HARM_CATEGORY_SEXUALLY_EXPLICIT",
        "HARM_CATEGORY_DANGEROUS_CONTENT",
    }


def test_schema_and_choice_logps_are_sent_and_read_where_they_are_wanted():
    with GeminiStub(answer='{"right": true, "points": 2}') as server:
        plain, held = ask(model_for(server), asking(), asking(schema=SCHEMA))
    assert "responseJsonSchema" not in server.asked[0]["generationConfig"]
    assert server.asked[1]["generationConfig"]["responseMimeType"] == "application/json"
    assert server.asked[1]["generationConfig"]["responseJsonSchema"] == SCHEMA
    assert json.loads(held.text) == {"right": True, "points": 2}
    assert plain.finish == held.finish == "stop"
    with GeminiStub(letter_logps={"B": -0.1, " B": -3.0, "A": -2.5, "Z": -3.0}, blank_first=True) as server:
        wanted, unasked = ask(model_for(server), asking(want_choice_logps=True), asking())
    assert wanted.choice_logps == {"B": -0.1, "A": -2.5}
    assert unasked.choice_logps is None
    assert "responseLogprobs" not in server.asked[1]["generationConfig"]
    assert server.asked[0]["generationConfig"]["responseLogprobs"] is True
    assert server.asked[0]["generationConfig"]["logprobs"] == 20


def test_a_model_that_reports_none_is_asked_for_none_from_then_on(caplog: pytest.LogCaptureFixture):
    with GeminiStub(answer="B", letter_logps=None) as server:
        replies = ask(model_for(server), *[asking(want_choice_logps=True)] * 2)
    assert [(r.text, r.choice_logps) for r in replies] == [("B", None)] * 2
    assert ["responseLogprobs" in body["generationConfig"] for body in server.asked] == [True, False, False]
    [told] = [message for message in caplog.messages if "log-probabilities" in message]
    assert "Logprobs is not enabled" in told

    async def together(model: HttpModel) -> list[str]:
        said: list[str] = []

        async def one() -> None:
            said.append((await model.reply(asking(want_choice_logps=True))).text)

        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(one)
        await model.close()
        return said

    with GeminiStub(answer="B", letter_logps=None) as server:
        assert anyio.run(together, model_for(server)) == ["B"] * 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"thinking_budget": "-2"}, "thinking_budget='-2'.*-1 or above"),
        ({"thinking_level": "much"}, "expected one of high, low, medium, minimal, xhigh"),
        ({"thinking_level": "low", "thinking_budget": "20"}, "exclude each other"),
        ({"video_fps": "0"}, "above 0"),
        ({"video_fps": "25"}, "24 or below"),
        ({"media_resolution": "huge"}, "expected one of high, low, medium"),
        ({"safety": "none"}, "expected one of block_low_and_above, block_medium_and_above, block_none"),
        ({"api_version": "../v1"}, "expected v1 or v1beta"),
        ({"extra": '{"contents": [], "generationConfig": {"seed": 1}}'}, r"set contents, generationConfig"),
        ({"base_url": "http://h/v1beta"}, "must stop before /v1beta; api_version=v1beta"),
    ],
)
def test_bad_options_are_refused(options: dict[str, str], words: str):
    with pytest.raises(UsageError, match=words):
        create("gemini-2.5-pro", options)


@pytest.mark.parametrize(
    ("name", "words"),
    [("two words", "name of a model"), ("gemini?x", "name of a model"), ("m/../files", "name of a model")],
)
def test_a_name_is_needed(name: str, words: str):
    with pytest.raises(UsageError, match=words):
        create(name, {})


SECRET = "AIza-secret-0123456789"  # noqa: S105 - a made-up key that must not appear anywhere


def ask_stub(canned: Canned, request: Request | None = None) -> Reply:
    with GeminiStub() as server:
        server.canned.append(canned)
        reply = ask(model_for(server), request or asking())[0]
        assert server.n_requests == 1
        return reply


B = {"text": "B"}
THOUGHT = {"text": "First. ", "thought": True}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (content(B), Reply(text="B")),
        (content({"text": "Answer: "}, B), Reply(text="Answer: B")),
        (content(THOUGHT, {"text": "Then.", "thought": True}, B), Reply(text="B", reasoning="First. Then.")),
        (content(THOUGHT, finishReason="MAX_TOKENS"), Reply(text="", reasoning="First. ", finish="length")),
        (content(B, finishReason="MAX_TOKENS"), Reply(text="B", finish="length")),
        (content(finishReason="STOP"), Reply(text="")),
        (content(content={}, finishReason="MAX_TOKENS"), Reply(text="", finish="length")),
        (content(content=None), Reply(text="")),
        (content(B, finishReason="OTHER"), Reply(text="B", finish="other")),
        (content(B, finishReason="LANGUAGE"), Reply(text="B", finish="other")),
        (content(B, finishReason="A_WORD_OF_NEXT_YEAR"), Reply(text="B", finish="other")),
        (content(B, finishReason=None), Reply(text="B", finish="other")),
        (content({"executableCode": {"code": "1"}}, B), Reply(text="B")),
        (
            content(B, finishReason="SAFETY", finishMessage="Not that."),
            Reply(text="B", finish="refusal", refusal="the reply was stopped: SAFETY (Not that.)"),
        ),
        (
            b'{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}',
            Reply(text="", finish="refusal", refusal="the prompt was blocked: PROHIBITED_CONTENT"),
        ),
        (
            b'{"candidates": [], "promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "m"}}',
            Reply(text="", finish="refusal", refusal="the prompt was blocked: OTHER (m)"),
        ),
    ],
)
def test_replies_of_every_shape_are_read(body: bytes, expected: Reply):
    reply = ask_stub(Canned(status=200, body=body))
    assert shape(reply) == shape(expected)


@pytest.mark.parametrize("reason", ["RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"])
def test_what_was_stopped_is_a_refusal(reason: str):
    reply = ask_stub(Canned(status=200, body=content(finishReason=reason)))
    assert (reply.finish, reply.refusal) == ("refusal", f"the reply was stopped: {reason}")


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (b'{"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}', (9, 32)),
        (b'{"promptTokenCount": 9, "thoughtsTokenCount": 30}', (9, 30)),
        (b'{"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}', (9, 2)),
        (b'{"promptTokenCount": 9}', (9, None)),
        (b"{}", (None, None)),
        (b"null", (None, None)),
    ],
)
def test_thoughts_are_output(counts: bytes, expected: tuple[int | None, int | None]):
    body = content(B)[:-1] + b', "usageMetadata": ' + counts + b"}"
    n_input, n_output = expected
    usage = Usage(input_tokens=n_input, output_tokens=n_output)
    assert ask_stub(Canned(status=200, body=body)).usage == usage


@pytest.mark.parametrize(
    "result",
    [
        None,
        {},
        {"chosenCandidates": [], "topCandidates": []},
        {"chosenCandidates": [{"token": " "}], "topCandidates": [{"candidates": []}]},
        {"chosenCandidates": [{"token": "B", "logProbability": -0.1}]},
    ],
)
def test_log_probabilities_that_are_not_there_are_none(result: object):
    body = content(B, logprobsResult=result)
    assert ask_stub(Canned(status=200, body=body), asking(want_choice_logps=True)).choice_logps is None


def test_letters_without_a_log_probability_are_left_out():
    top = [{"token": "A"}, {"token": " B", "logProbability": -0.5}, {"token": "b", "logProbability": -0.1}]
    result = {
        "chosenCandidates": [{"token": "C", "logProbability": -2.0}],
        "topCandidates": [{"candidates": top}],
    }
    canned = Canned(status=200, body=content(B, logprobsResult=result))
    reply = ask_stub(canned, asking(want_choice_logps=True))
    assert reply.choice_logps == {"B": -0.5, "C": -2.0}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"candidates": []}', "without candidates"),
        (b'{"promptFeedback": {}}', "without candidates"),
        (content({"text": 5}), "no reply.*text"),
        (refusal(503, "UNAVAILABLE", "too busy"), "answered 503: too busy"),
        (b'{"error": {"message": "m"}}', "without candidates.*: m"),
    ],
)
def test_an_answer_that_is_no_reply_is_worth_another_try(body: bytes, words: str):
    with pytest.raises(TransientModelError, match=f"(?s){words}"):
        ask_stub(Canned(status=200, body=body))


WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
QUOTA = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "PerMinute"}]}


@pytest.mark.parametrize(
    ("canned", "wait_s"),
    [
        (Canned(status=429, headers={"retry-after": "2"}), 2.0),
        (Canned(status=429, body=refusal(429, "RESOURCE_EXHAUSTED", "slow", QUOTA, WAIT)), 34.5),
        (Canned(status=429, headers={"retry-after": "2"}, body=refusal(429, "R", "slow", WAIT)), 2.0),
        (Canned(status=429, body=refusal(429, "R", "slow", {"retryDelay": "soon"})), None),
        (Canned(status=429, body=b"[]"), None),
    ],
)
def test_a_wait_may_stand_in_the_details(canned: Canned, wait_s: float | None):
    with pytest.raises(TransientModelError, match="429") as caught:
        ask_stub(canned)
    assert caught.value.retry_after_s == wait_s


def invalid(words: str, *details: dict[str, object], status: str = "INVALID_ARGUMENT") -> bytes:
    return refusal(400, status, words, *details)


@pytest.mark.parametrize(
    ("canned", "kind", "words"),
    [
        (Canned(status=401), AccessError, "401.*GEMINI_API_KEY is not set"),
        (
            Canned(status=404, body=refusal(404, "NOT_FOUND", "models/gemini-2.5-pro is not found")),
            AccessError,
            "models/gemini-2.5-pro is not found.*name right.*before the version",
        ),
        (
            Canned(status=400, body=invalid("API key not valid.", {"reason": "API_KEY_INVALID"})),
            AccessError,
            "not valid.*GEMINI_API_KEY",
        ),
        (
            Canned(
                status=400,
                body=invalid("User location is not supported for the API use.", status="FAILED_PRECONDITION"),
            ),
            AccessError,
            "not offered where",
        ),
        (Canned(status=400, body=invalid("Thinking level is not supported")), AccessError, "thinking_level="),
        (Canned(status=400, body=invalid("Logprobs is not enabled")), RejectedRequestError, "Logprobs"),
    ],
)
def test_troubles_that_stay(canned: Canned, kind: type[ModelError], words: str):
    with pytest.raises(kind, match=f"(?s){words}"):
        ask_stub(canned)


def test_a_variable_of_google_is_read_too_and_ours_goes_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-mine")
    with GeminiStub(key="AIza-mine") as server:
        assert ask(model_for(server), asking())[0].text == "A"
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-mine")
    monkeypatch.setenv("GOOGLE_API_KEY", SECRET)
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    with GeminiStub(key="AIza-mine") as server:
        assert ask(model_for(server), asking())[0].text == "A"
