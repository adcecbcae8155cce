"""Anthropic's models: ``anthropic:NAME?thinking_budget=4096``.

Images are sent as base64 blocks in the order of the prompt; whole videos are not supported.
"""

import os
from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from vidence.ask.models.answers import Answer, Server, decode, finish_of, without_reply
from vidence.ask.models.http import (
    Caller,
    Dialect,
    HttpModel,
    HttpSettings,
    bearer,
    check_address,
    check_extra,
    identity_of,
    read_key,
)
from vidence.ask.models.images import Pieces
from vidence.contracts import Request
from vidence.errors import RejectedRequestError, UsageError
from vidence.records import ImagePart, Part, Reply, Sampling, TextPart, VideoPart

ADDRESS = "https://api.anthropic.com"
VERSION = "2026-10-21"  # of the API
DEFAULT_MAX_TOKENS = 4096  # the API wants a number; sent where the plan leaves it to the server
LEAST_BUDGET = 1024  # of thinking, the API's limit
OWN_TEMPERATURE = 1.0  # the API's default; models that let nothing else be chosen refuse other values
LEAST_THINKING_TOP_P = 0.95  # the API's limit
TOOL = "give_reply"
OWN_FIELDS = frozenset(
    {"model", "messages", "system", "stream", "max_tokens", "temperature", "top_p", "thinking"}
) | {"output_config", "tools", "tool_choice"}


class Settings(HttpSettings):
    """Options of ``anthropic:`` models."""

    own_address: ClassVar[str] = ADDRESS
    own_keys: ClassVar[tuple[str, ...]] = ("ANTHROPIC_API_KEY",)

    base_url: Annotated[str, Meta(description="address; else ANTHROPIC_BASE_URL, else Anthropic")] = ""
    api_key_env: Annotated[str, Meta(description="variable that holds the key")] = "ANTHROPIC_API_KEY"
    thinking_budget: Annotated[
        Annotated[int, Meta(ge=LEAST_BUDGET)] | None,
        Meta(description="tokens of thinking, on top of the plan's `max_tokens`"),
    ] = None
    thinking: Annotated[
        Literal["adaptive", "off"] | None,
        Meta(description="adaptive: the model decides, within `max_tokens`; off: it does not think"),
    ] = None
    effort: Annotated[
        Literal["low", "medium", "high", "xhigh", "max"] | None, Meta(description="how much the model works")
    ] = None
    structured: Annotated[
        Literal["format", "tool", "off"], Meta(description="how a reply is held to a schema")
    ] = "format"
    fixed_sampling: Annotated[
        bool, Meta(description="send neither temperature nor top_p, for models that let neither be chosen")
    ] = False

    cache: Annotated[
        bool,
        Meta(
            description="mark frames that several questions of a video begin with for the cache: written "
            "at 1.25 times the price of input, read at a tenth"
        ),
    ] = False

    def __post_init__(self) -> None:
        """Reject contradictory options."""
        owner = f"anthropic:{self.name}"
        check_extra(owner, self.extra, own=OWN_FIELDS)
        if self.thinking and self.thinking_budget is not None:
            raise UsageError(
                f"{owner}: thinking={self.thinking} and thinking_budget={self.thinking_budget} exclude "
                "each other; give one of them"
            )
        if self.thinks and self.structured == "tool":
            raise UsageError(
                f"{owner}: the API cannot force a tool on a model that thinks; use structured=format or "
                "structured=off, or ask without thinking"
            )

    @property
    def thinks(self) -> bool:
        """Whether requests turn thinking on."""
        return self.thinking_budget is not None or self.thinking == "adaptive"


class MessagesDialect(Dialect):
    """``POST /v1/messages``.

    The API counts thinking in ``max_tokens``; the thinking budget is added to it, so that
    `Sampling.max_tokens` remains the limit of the reply.
    """

    host: ClassVar[str] = "api.anthropic.com"
    path = "/v1/messages"
    models_path = "/v1/models"
    batches = "anthropic"
    as_url = False
    advice: ClassVar[Mapping[str, str]] = {
        "credit balance": "the account has no credit left",
        "temperature|top_p": "fixed_sampling=true sends neither temperature nor top_p",
        "output_format|output_config.format": "structured=tool or structured=off holds the reply in another "
        "way, or not",
        "effort": "choose another effort=, or omit it",
        "thinking": "choose among thinking_budget=TOKENS, thinking=adaptive and thinking=off",
    }

    _settings: Settings

    @property
    def caches(self) -> bool:
        """See `Dialect.caches`: prompts are cached where marked, at any address."""
        return self._settings.cache

    async def body(
        self, request: Request, pieces: Pieces, *, leave_out: Collection[str]
    ) -> dict[str, object]:
        """See `Dialect.body`."""
        prompt, sampling, settings = request.prompt, request.sampling, self._settings
        # The API refuses blocks of nothing but blanks; leaving them out takes no word away.
        parts = [p for p in prompt.parts if not isinstance(p, TextPart) or p.text.strip()]
        content = [self._content(p, request, pieces) for p in parts]
        if settings.cache and request.shares_frames:
            # Prefixes that are too short for the cache are no error and cost nothing more.
            last = next((block for block in reversed(content) if block["type"] == "image"), {})
            last["cache_control"] = {"type": "ephemeral"}
        max_tokens = DEFAULT_MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens
        return {
            "model": settings.name,
            "max_tokens": max_tokens + (settings.thinking_budget or 0),
            "messages": [{"role": "user", "content": content}],
            "system": prompt.system or None,
            **self._sampled(sampling),
            "thinking": self._thinking(),
            **self._output(prompt.reply_schema),
        }

    def _content(self, part: Part, request: Request, pieces: Pieces) -> dict[str, object]:
        match part:
            case TextPart():
                return {"type": "text", "text": part.text}
            case ImagePart():
                data = pieces.mark(self._media.of_image(part, request))
                return {
                    "type": "image",
                    "source": {"type": "base64", "media_type": part.media_type, "data": data},
                }
            case VideoPart():
                raise RejectedRequestError(
                    f"{request.item_id}: anthropic: takes images, not the video file {part.path}; ask with "
                    "frames (--layout images or --layout montage:4x2)"
                )

    def _sampled(self, sampling: Sampling) -> dict[str, object]:
        """Return temperature and top_p if they differ from the API's defaults."""
        settings, name = self._settings, self._settings.name
        if sampling.seed is not None:
            raise UsageError(f"anthropic:{name} takes no seed (got {sampling.seed}); omit model_seed")
        if settings.fixed_sampling:
            return {}
        temperature, top_p = sampling.temperature, sampling.top_p
        if settings.thinks and temperature not in {None, OWN_TEMPERATURE}:
            raise UsageError(
                f"anthropic:{name} cannot think at temperature {temperature:g}: with thinking the API "
                "samples only at 1; add --temperature 1 or fixed_sampling=true, or ask without thinking"
            )
        if settings.thinks and top_p is not None and top_p < LEAST_THINKING_TOP_P:
            raise UsageError(
                f"anthropic:{name} cannot think with top_p {top_p:g}: with thinking the API takes "
                f"{LEAST_THINKING_TOP_P:g} to 1; omit top_p, or ask without thinking"
            )
        return {"temperature": None if temperature == OWN_TEMPERATURE else temperature, "top_p": top_p}

    def _thinking(self) -> dict[str, object] | None:
        if self._settings.thinking_budget is not None:
            return {"type": "enabled", "budget_tokens": self._settings.thinking_budget}
        if self._settings.thinking == "adaptive":
            return {"type": "adaptive", "display": "summarized"}
        return {"type": "disabled"} if self._settings.thinking == "off" else None

    def _output(self, schema: dict[str, object] | None) -> dict[str, object]:
        """Return the effort and the reply's schema."""
        settings = self._settings
        config: dict[str, object] = {"effort": settings.effort} if settings.effort else {}
        if schema is not None and settings.structured == "format":
            config["format"] = {"type": "json_schema", "schema": output_schema(schema)}
        if schema is None or settings.structured != "tool":
            return {"output_config": config or None}
        tool = {"name": TOOL, "description": "Give the reply in this form.", "input_schema": schema}
        choice = {"type": "tool", "name": TOOL}
        return {"output_config": config or None, "tools": [tool], "tool_choice": choice}

    def read(self, answer: Answer, *, letters: Collection[str]) -> Reply:
        """See `Dialect.read`."""
        body = decode(answer, self._server, kind=_Body, what="message", api="an Anthropic API")
        if body.content is None:
            raise without_reply(answer, self._server, lacks="content")
        finish = finish_of(body.stop_reason)
        details, usage = body.stop_details or _StopDetails(), body.usage or _Usage()
        # Both are input, too; the API counts them apart.
        cached, new = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
        return Reply(
            text="".join(_text(block) for block in body.content),
            reasoning="\n\n".join(b.thinking for b in body.content if b.type == "thinking" and b.thinking),
            finish=finish,
            refusal=(details.explanation or details.category or "") if finish == "refusal" else "",
            model=body.model or "",
            usage=self.usage(
                read=[usage.input_tokens, new, cached],
                wrote=[usage.output_tokens],
                cached=cached,
                cache_write=new,
            ),
        )


# ------------------------------------------------------------------------------------- the schema

_TAKEN = {"type", "enum", "const", "$ref", "$defs", "description", "title", "properties", "required"}
_NESTED = {"items", "anyOf", "oneOf", "allOf"}
_FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}


def output_schema(schema: Mapping[str, object]) -> dict[str, object]:
    r"""Convert a JSON Schema to the subset that the API accepts; the rest moves to the description.

    Source: ``transform_schema`` of Anthropic's Python SDK 2.12.
    Departs: a schema without ``type`` stays without one, where the SDK raises an error.

    >>> output_schema({"type": "integer", "minimum": 1, "description": "A number"})
    {'type': 'integer', 'description': 'A number\n\n{minimum: 1}'}
    """
    kept = {k: v for k, v in schema.items() if "$ref" not in schema or k in {"$ref", "$defs"}}
    fields = {("anyOf" if k == "oneOf" else k): _inner(k, v) for k, v in kept.items() if _is_taken(k, v)}
    rest = {k: v for k, v in kept.items() if not _is_taken(k, v) and k != "additionalProperties"}
    if fields.get("type") == "object":
        fields = {"properties": {}, **fields, "additionalProperties": False}
    if fields.keys() & {"enum", "const"}:
        fields.pop("type", None)
    if rest:
        output_schema = "{" + ", ".join(f"{key}: {value}" for key, value in rest.items()) + "}"
        fields["description"] = (
            f"{fields['description']}\n\n{output_schema}" if "description" in fields else output_schema
        )
    return fields


def _is_taken(key: str, value: object) -> bool:
    return (
        key in _TAKEN | _NESTED
        or (key == "format" and value in _FORMATS)
        or (key == "minItems" and value in {0, 1})
    )


def _inner(key: str, value: object) -> object:
    """Convert a keyword's value, including schemas in it."""
    if key in {"properties", "$defs"} and isinstance(value, dict):
        return {name: output_schema(entry) for name, entry in value.items()}
    if key == "items" and isinstance(value, dict):
        return output_schema(value)
    if key in {"anyOf", "oneOf", "allOf"} and isinstance(value, list):
        return [output_schema(entry) for entry in value]
    return value


# --------------------------------------------------------------------------------- what is sent back


class _Block(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: dict[str, object] | None = None


class _StopDetails(msgspec.Struct):
    category: str | None = None
    explanation: str | None = None


class _Usage(msgspec.Struct):
    input_tokens: object = None
    output_tokens: object = None
    cache_creation_input_tokens: object = None
    cache_read_input_tokens: object = None


class _Body(msgspec.Struct):
    content: list[_Block] | None = None
    model: str | None = None
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None
    usage: _Usage | None = None


def _text(block: _Block) -> str:
    if block.type == "text":
        return block.text or ""
    if block.type == "tool_use" and block.name == TOOL and block.input is not None:
        return msgspec.json.encode(block.input).decode()
    return ""


def create(settings: Settings) -> HttpModel:
    """Create the Anthropic model of that name; nothing is sent yet.

    Raises:
        UsageError: an address or a key that can be none.
    """
    address = settings.base_url or os.environ.get("ANTHROPIC_BASE_URL") or ADDRESS
    server = Server(
        address=check_address(address, stops_before=("/v1/messages", "/v1")),
        ends="before /v1",
        key_env=settings.api_key_env,
        key=read_key(settings.api_key_env, example="ANTHROPIC_API_KEY"),
    )
    used = msgspec.structs.replace(settings, base_url=server.address)
    caller = Caller(
        server,
        headers={"anthropic-version": VERSION, **bearer(server.key)},
        max_answer_mb=settings.max_answer_mb,
    )
    return HttpModel(
        MessagesDialect(server, used),
        caller,
        used,
        identity=identity_of("anthropic", used, left_out={"cache"}),
    )
