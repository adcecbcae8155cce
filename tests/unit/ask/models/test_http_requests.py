"""Our requests beside those of the providers' own SDKs, which write the protocols down in code."""

import base64
from pathlib import Path

import anyio
import pytest

from servers.anthropic_stub import AnthropicStub
from servers.gemini_stub import GeminiStub, blob_bytes, camel
from servers.model_asks import SCHEMA, ask, asking, image_part, maker
from servers.openai_stub import Body, Seen
from vidence.ask.models.anthropic import output_schema
from vidence.records import TextPart, VideoPart

KEY = "sk-mine"
IMAGE = b"\xff\xd8one\xfb\xef"
PARTS = (TextPart(text="Which?"), image_part("d"))
SHOWN = {"images": {"d": IMAGE}, "system": "Be brief."}
SHAPES = [
    SCHEMA,
    {"type": "object"},
    {"type": "integer", "minimum": 1, "maximum": 4, "description": "A number"},
    {"type": "number", "enum": [0, 0.5, 1]},
    {"type": "string", "const": "yes"},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "regex"},
    {"type": "array", "items": {"type": "string", "maxLength": 3}, "minItems": 1, "maxItems": 5},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2},
    {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "Reason"},
    {"oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "boolean"}]},
    {"$ref": "#/$defs/x", "$defs": {"x": {"type": "object", "properties": {}}}, "description": "left out"},
    {
        "type": "object",
        "properties": {"inner": {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]}},
        "required": ["inner"],
        "minProperties": 1,
        "additionalProperties": True,
    },
]


@pytest.mark.parametrize("schema", SHAPES)
def test_a_schema_is_put_as_the_sdk_of_anthropic_puts_it(schema: dict[str, object]):
    sdk = pytest.importorskip("anthropic", reason="anthropic is not installed (group 'test')")
    assert output_schema(schema) == sdk.transform_schema(schema)


def test_a_message_is_asked_for_as_the_sdk_of_anthropic_does(monkeypatch: pytest.MonkeyPatch):
    sdk = pytest.importorskip("anthropic", reason="anthropic is not installed (group 'test')")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    image = {"type": "base64", "media_type": "image/jpeg", "data": base64.b64encode(IMAGE).decode()}

    content = [{"type": "text", "text": "Which?"}, {"type": "image", "source": image}]

    async def theirs(address: str) -> None:
        async with sdk.AsyncAnthropic(api_key=KEY, base_url=address, max_retries=0) as client:
            await client.messages.create(
                model="claude",
                max_tokens=2148,
                system="Be brief.",
                messages=[{"role": "user", "content": content}],
                thinking={"type": "enabled", "budget_tokens": 2048},
                output_config={"effort": "low"},
            )

    with AnthropicStub(key=KEY) as server:
        options = {"base_url": server.base_url, "thinking_budget": "2048", "effort": "low"}
        model = maker("model", "anthropic")("claude", options)
        ask(model, asking(*PARTS, **SHOWN, temperature=1.0, max_tokens=100))
        anyio.run(theirs, server.base_url)
        ours, official = server.requests
    assert (ours.method, ours.path, ours.body) == (official.method, official.path, official.body)
    for name in ("authorization", "anthropic-version", "content-type"):
        assert ours.headers[name] == official.headers[name]


def with_plain_bytes(body: Body) -> Body:
    """The body with the bytes of images in place of their base64, of which there are two alphabets."""
    told = camel(body)
    for part in told["contents"][0]["parts"]:
        if "inlineData" in part:
            part["inlineData"]["data"] = blob_bytes(part)
    return told


# Google's package takes aiohttp where that is installed, in ways that aiohttp warns of.
aiohttp_may_warn = pytest.mark.filterwarnings(
    "ignore:Inheritance class AiohttpClientSession", "ignore:Sending a large body directly:ResourceWarning"
)


@aiohttp_may_warn
def test_content_is_asked_for_as_the_sdk_of_google_does(monkeypatch: pytest.MonkeyPatch):
    genai = pytest.importorskip("google.genai", reason="google-genai is not installed (group 'test')")
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    types = genai.types
    drawn = {"temperature": 0.5, "top_p": 0.9, "seed": 7}
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        **drawn,
        max_output_tokens=2148,
        response_mime_type="application/json",
        response_json_schema=SCHEMA,
        thinking_config=types.ThinkingConfig(thinking_budget=2048, include_thoughts=True),
        response_logprobs=True,
        logprobs=20,
        media_resolution="MEDIA_RESOLUTION_LOW",
    )
    blob = types.Blob(data=IMAGE, mime_type="image/jpeg")
    parts = [types.Part(text="Which?"), types.Part(inline_data=blob)]

    async def theirs(address: str) -> None:
        http = types.HttpOptions(base_url=address)
        client = genai.Client(enterprise=False, api_key=KEY, http_options=http)
        content = types.Content(role="user", parts=parts)
        await client.aio.models.generate_content(model="tiny", contents=[content], config=config)
        await client.aio.aclose()

    with GeminiStub(key=KEY, letter_logps={"A": -0.1}, answer="{}") as server:
        options = {"base_url": server.base_url, "thinking_budget": "2048", "media_resolution": "low"}
        asked = asking(*PARTS, **SHOWN, **drawn, schema=SCHEMA, max_tokens=100, want_choice_logps=True)
        ask(maker("model", "gemini")("tiny", options), asked)
        anyio.run(theirs, server.base_url)
        ours, official = server.requests
    assert (ours.method, ours.path) == (official.method, official.path)
    assert with_plain_bytes(ours.body) == with_plain_bytes(official.body)
    assert ours.headers["x-goog-api-key"] == official.headers["x-goog-api-key"]


def uploading(seen: Seen) -> tuple[str, str, list[str | None], int]:
    headers = [seen.headers.get(f"x-goog-upload-{name}") for name in ("command", "offset")]
    return seen.method, seen.path, headers, len(seen.raw)


@aiohttp_may_warn
def test_a_video_is_uploaded_as_the_sdk_of_google_does(tmp_path: Path):
    genai = pytest.importorskip("google.genai", reason="google-genai is not installed (group 'test')")
    path = tmp_path / "clip.mp4"
    path.write_bytes(bytes(range(256)) * 40_000)  # more than one piece

    async def theirs(address: str) -> None:
        http = genai.types.HttpOptions(base_url=address)
        client = genai.Client(enterprise=False, api_key=KEY, http_options=http)
        config = genai.types.UploadFileConfig(mime_type="video/mp4", display_name="digest")
        with path.open("rb") as file:
            sent = await client.aio.files.upload(file=file, config=config)
        await client.aio.files.get(name=sent.name)
        await client.aio.files.delete(name=sent.name)
        await client.aio.aclose()

    with GeminiStub(processing=1) as server:
        model = maker("model", "gemini")("tiny", {"base_url": server.base_url, "inline_mb": "0"})
        ask(model, asking(VideoPart(path=str(path), digest="digest")))
        ours = [s for s in server.requests if "generateContent" not in s.path]
        server.requests.clear()
        server.files.clear()
        anyio.run(theirs, server.base_url)
        official = list(server.requests)
    assert [s.method for s in ours] == ["POST", "POST", "POST", "GET", "DELETE"]
    assert [s.method for s in ours] == [s.method for s in official]
    assert camel(ours[0].body) == camel(official[0].body)
    for name in ("protocol", "command", "header-content-length", "header-content-type"):
        assert ours[0].headers[f"x-goog-upload-{name}"] == official[0].headers[f"x-goog-upload-{name}"]
    assert [uploading(s) for s in ours[1:]] == [uploading(s) for s in official[1:]]
