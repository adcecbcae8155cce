"""OpenAI's chat-completions protocol, which most servers of open models also speak."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import Meta

from vidence.ask.models.answers import Answer, Likely, choice_logps, decode, finish_of, first, without_reply
from vidence.ask.models.http import Dialect, HttpSettings
from vidence.ask.models.images import MARKED, Pieces
from vidence.contracts import Request
from vidence.errors import RejectedRequestError, TransientModelError
from vidence.records import ImagePart, Part, Reply, Sampling, TextPart, VideoPart

OPENAI_HOST = "api.openai.com"
MOST_TOP_LOGPROBS = 20  # the protocol's limit
SCHEMA_NAME = "reply"
SCHEMA = "the schema of a reply"  # the optional part of a request that many servers refuse
API = "an OpenAI-compatible API"

_SCHEMA_WORDS = re.compile(
    r"response_format|json_schema|text\.format|guided|structured|grammar", re.IGNORECASE
)
_UNSUPPORTED = "unsupported (?:value|parameter): "

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class Settings(HttpSettings):
    """Options of ``openai:`` models, in either protocol."""

    own_address: ClassVar[str] = f"https://{OPENAI_HOST}"
    own_keys: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)

    base_url: Annotated[str, Meta(description="address; else the variable OPENAI_BASE_URL, else OpenAI")] = ""
    api_key_env: Annotated[str, Meta(description="variable that holds the key")] = "OPENAI_API_KEY"
    api: Annotated[Literal["chat", "responses"], Meta(description="which of the two protocols")] = "chat"
    image_detail: Annotated[Literal["low", "high", "auto"] | None, Meta(description="of images")] = None
    max_tokens_field: Annotated[
        Literal["max_tokens", "max_completion_tokens"] | None,
        Meta(description="name of the limit; else the second for OpenAI and with reasoning_effort"),
    ] = None
    top_logprobs: Annotated[int, Meta(ge=1, description="log-probabilities asked for")] = MOST_TOP_LOGPROBS
    reasoning_effort: Annotated[Effort | None, Meta(description="how much a reasoning model thinks")] = None
    reasoning_summary: Annotated[
        Literal["auto", "concise", "detailed"] | None,
        Meta(description="summary of the reasoning, from the Responses API"),
    ] = None
    thinking_budget: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="tokens of thinking, for servers of open models; 0 for no thinking"),
    ] = None
    fixed_sampling: Annotated[
        bool, Meta(description="send neither temperature nor top_p, for models that refuse them")
    ] = False
    structured: Annotated[
        Literal["auto", "on", "off"],
        Meta(description="send the schema of a reply: until the server refuses it, always, never"),
    ] = "auto"


class ChatDialect(Dialect):
    """``POST /chat/completions``."""

    host = OPENAI_HOST
    path = "/chat/completions"
    models_path = "/models"
    batches = "openai"
    own_fields: ClassVar[frozenset[str]] = frozenset(
        {"model", "messages", "stream", "n", "temperature", "top_p", "max_tokens", "max_completion_tokens"}
    ) | {"seed", "logprobs", "top_logprobs"}
    schema_field: ClassVar[str] = "response_format"
    advised = RejectedRequestError
    advice: ClassVar[Mapping[str, str]] = {
        f"{_UNSUPPORTED}'(temperature|top_p)'": "fixed_sampling=true sends neither temperature nor top_p",
        f"{_UNSUPPORTED}'max_tokens'": "give max_tokens_field=max_completion_tokens",
    }

    _settings: Settings

    def image_form(self) -> object:
        """See `Dialect.image_form`."""
        detail = self._settings.image_detail
        return {"type": "image_url", "image_url": {"url": MARKED, **({"detail": detail} if detail else {})}}

    async def body(
        self, request: Request, pieces: Pieces, *, leave_out: Collection[str]
    ) -> dict[str, object]:
        """See `Dialect.body`."""
        prompt, sampling, settings = request.prompt, request.sampling, self._settings
        content: object
        if len(prompt.parts) == 1 and isinstance(prompt.parts[0], TextPart):
            content = prompt.parts[0].text  # read by servers that know nothing of parts, too
        else:
            content = [await self._content(part, request, pieces) for part in prompt.parts]
        messages: list[dict[str, object]] = [{"role": "user", "content": content}]
        if prompt.system:
            messages.insert(0, {"role": "system", "content": prompt.system})
        schema, budget = self._schema(request, leave_out), settings.thinking_budget
        thinking = {"enable_thinking": bool(budget), **({"thinking_budget": budget} if budget else {})}
        body = {
            "model": settings.name,
            "messages": messages,
            **self._sampled(sampling),
            settings.max_tokens_field or "max_tokens": sampling.max_tokens,
            # The same seed for every sample would give the same reply several times.
            "seed": None if sampling.seed is None else sampling.seed + request.sample,
            "reasoning_effort": settings.reasoning_effort,
            "chat_template_kwargs": None if budget is None else thinking,
            "response_format": schema and {"type": "json_schema", "json_schema": schema},
        }
        if sampling.want_choice_logps and prompt.choices:
            body |= {"logprobs": True, "top_logprobs": settings.top_logprobs}
        return body

    async def _content(self, part: Part, request: Request, pieces: Pieces) -> object:
        match part:
            case TextPart():
                return {"type": "text", "text": part.text}
            case ImagePart():
                return pieces.mark(self._media.of_image(part, request))
            case VideoPart():
                url = pieces.mark(await self._media.of_video(part))
                return {"type": "video_url", "video_url": {"url": url}}

    def _sampled(self, sampling: Sampling) -> dict[str, object]:
        """Return the settings that have the same name in both protocols."""
        if self._settings.fixed_sampling:
            return {}
        return {"temperature": sampling.temperature, "top_p": sampling.top_p}

    def _schema(self, request: Request, leave_out: Collection[str]) -> dict[str, object] | None:
        """Return the reply's schema; None if none is sent."""
        schema = request.prompt.reply_schema
        if schema is None or self._settings.structured == "off" or SCHEMA in leave_out:
            return None
        return {"name": SCHEMA_NAME, "schema": schema, "strict": True}

    def refused(self, answer: Answer, request: Request) -> str:
        """See `Dialect.refused`; the schema of a reply may be left out."""
        is_optional = self._settings.structured == "auto" and request.prompt.reply_schema is not None
        if not is_optional or answer.status not in {400, 422}:
            return ""
        return SCHEMA if _SCHEMA_WORDS.search(answer.body.decode(errors="replace")) else ""

    def read(self, answer: Answer, *, letters: Collection[str]) -> Reply:
        """See `Dialect.read`."""
        body = decode(answer, self._server, kind=_Body, what="chat completion", api=API)
        if not body.choices:
            raise without_reply(answer, self._server, lacks="choices")
        choice = first(body.choices)
        if choice.finish_reason == "error":
            raise TransientModelError(
                f"{self._server.address} broke off its reply with finish_reason 'error'"
            )
        text, refusal = _texts(choice.message)
        usage = body.usage or _Usage()
        details = usage.prompt_tokens_details or InputDetails()
        tokens = (choice.logprobs.content if choice.logprobs else None) or []
        return Reply(
            text=text,
            reasoning=choice.message.reasoning_content or choice.message.reasoning or "",
            finish="refusal" if refusal else finish_of(choice.finish_reason),
            refusal=refusal,
            model=body.model or "",
            usage=self.usage(
                read=[usage.prompt_tokens],
                wrote=[usage.completion_tokens],
                cached=details.cached_tokens,
                cache_write=details.cache_write_tokens,
            ),
            choice_logps=choice_logps((t.position for t in tokens), letters),
        )


# --------------------------------------------------------------------------------- what is sent back


class _ContentPart(msgspec.Struct):
    """One part of a content that comes as a list."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Message(msgspec.Struct):
    content: str | list[_ContentPart] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Likely(msgspec.Struct):
    token: str
    logprob: float | None = None


class Token(msgspec.Struct):
    """A token of a reply, with its most likely alternatives; the same in both protocols."""

    token: str
    logprob: float | None = None
    top_logprobs: list[_Likely] | None = None

    @property
    def position(self) -> tuple[str, Sequence[Likely]]:
        """Return the token for `choice_logps`."""
        tops = [(t.token, t.logprob) for t in self.top_logprobs or ()]
        return self.token, [*tops, (self.token, self.logprob)] if tops else ()


class _Logprobs(msgspec.Struct):
    content: list[Token] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    index: object = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class InputDetails(msgspec.Struct):
    """Input tokens that OpenAI read from, and wrote to, its cache; the same in both protocols."""

    cached_tokens: object = None
    cache_write_tokens: object = None


class _Usage(msgspec.Struct):
    prompt_tokens: object = None
    prompt_tokens_details: InputDetails | None = None
    completion_tokens: object = None


class _Body(msgspec.Struct):
    choices: list[_Choice] | None = None
    model: str | None = None
    usage: _Usage | None = None


def _texts(message: _Message) -> tuple[str, str]:
    """Return the text and the refusal."""
    pieces = message.content if isinstance(message.content, list) else []
    text = message.content if isinstance(message.content, str) else ""
    text += "".join(p.text or "" for p in pieces if p.type in {"text", "output_text", ""})
    return text, message.refusal or "".join(p.refusal or "" for p in pieces)
