"""`gemini:` against a server that speaks the API: what is sent."""

import json

import anyio
import pytest

from servers.gemini_stub import GeminiStub, blob_bytes
from servers.model_asks import SCHEMA, ask, asking, image_part, maker
from vidence.ask.models.http import HttpModel
from vidence.catalog import parse_spec
from vidence.errors import UsageError
from vidence.records import TextPart, Usage

create = maker("model", "gemini")


def model_for(server: GeminiStub, options: str = "") -> HttpModel:
    spec = parse_spec(f"gemini:gemini-2.5-pro?base_url={server.base_url}&timeout_s=10&{options}")
    return create(spec.argument, spec.options)


# ------------------------------------------------------------------------------------ what is sent


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
    assert server.asked[0]["generationConfig"]["thinkingConfig"] == {
        "includeThoughts": True,
        "thinkingBudget": 2048,
    }
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


def test_a_schema_is_sent_where_the_prompt_has_one():
    with GeminiStub(answer='{"right": true, "points": 2}') as server:
        plain, held = ask(model_for(server), asking(), asking(schema=SCHEMA))
    assert "responseJsonSchema" not in server.asked[0]["generationConfig"]
    assert server.asked[1]["generationConfig"]["responseMimeType"] == "application/json"
    assert server.asked[1]["generationConfig"]["responseJsonSchema"] == SCHEMA
    assert json.loads(held.text) == {"right": True, "points": 2}
    assert plain.finish == held.finish == "stop"


# --------------------------------------------------------------------------- log-probabilities


def test_choice_logps_are_read_where_they_are_reported():
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


def test_requests_in_flight_together_all_learn_that_there_are_none():
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


# ------------------------------------------------------------------------------------- the options


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
        ({"api_version": "../v1"}, "for example v1 or v1beta"),
        (
            {"extra": '{"contents": [], "generationConfig": {"seed": 1}}'},
            r"set contents, generationConfig\.seed",
        ),
        ({"base_url": "http://h/v1beta"}, "must stop before /v1beta; api_version=v1beta"),
    ],
)
def test_bad_options_are_refused(options: dict[str, str], words: str):
    with pytest.raises(UsageError, match=words):
        create("gemini-2.5-pro", options)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("two words", "name of a model"),
        ("gemini?x", "name of a model"),
        ("models/../files", "name of a model"),
    ],
)
def test_a_name_is_needed(name: str, words: str):
    with pytest.raises(UsageError, match=words):
        create(name, {})
