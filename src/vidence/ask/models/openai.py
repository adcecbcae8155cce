"""Servers that speak OpenAI's chat-completions protocol: ``openai:NAME?base_url=ADDRESS``.

OpenAI itself, vLLM, SGLang, llama.cpp, Ollama, LM Studio and gateways. Images are sent as data URLs, whole
videos as ``video_url``. With ``api=responses`` the Responses API is used instead.
"""

import logging
import os
from collections.abc import Collection
from typing import get_args

import msgspec

from vidence.ask.models.answers import Answer, Finish, Server, choice_logps, decode, finish_of, without_reply
from vidence.ask.models.chat import API, OPENAI_HOST, ChatDialect, Effort, InputDetails, Settings, Token
from vidence.ask.models.http import (
    Caller,
    HttpModel,
    bearer,
    check_address,
    check_extra,
    identity_of,
    read_key,
)
from vidence.ask.models.images import MARKED, Pieces
from vidence.contracts import Request
from vidence.errors import RejectedRequestError, TransientModelError, UsageError
from vidence.records import ImagePart, Part, Reply, TextPart, VideoPart

_NOT_FINISHED = {"queued", "in_progress", "cancelled"}
_MAY_PASS = {"server_error", "rate_limit_exceeded"}
_POLICY = {
    "bio_policy",
    "content_filter",
    "content_policy_violation",
    "image_content_policy_violation",
    "misalignment_policy_violation",
}

_log = logging.getLogger(__name__)


class ResponsesDialect(ChatDialect):
    """``POST /responses``: own bodies and replies; sampling, schemas and errors are those of chat."""

    own_fields = frozenset({"model", "input", "instructions", "stream", "temperature", "top_p"}) | {
        "max_output_tokens",
        "top_logprobs",
        "include",
        "reasoning",
        "background",
    }
    path = "/responses"
    schema_field = "text"
    _said_no_seed = False

    async def body(
        self, request: Request, pieces: Pieces, *, leave_out: Collection[str]
    ) -> dict[str, object]:
        """See `Dialect.body`."""
        prompt, sampling, settings = request.prompt, request.sampling, self._settings
        if sampling.seed is not None and not self._said_no_seed:
            self._said_no_seed = True
            _log.warning("openai:%s: the Responses API has no seed; it is left out", settings.name)
        content = [self._input(part, request, pieces) for part in prompt.parts]
        schema = self._schema(request, leave_out)
        reasoning = {"effort": settings.reasoning_effort, "summary": settings.reasoning_summary}
        body = {
            "model": settings.name,
            "input": [{"role": "user", "content": content}],
            "store": False,
            "instructions": prompt.system or None,
            **self._sampled(sampling),
            "max_output_tokens": sampling.max_tokens,
            "reasoning": {name: value for name, value in reasoning.items() if value} or None,
            "text": schema and {"format": {"type": "json_schema", **schema}},
        }
        if sampling.want_choice_logps and prompt.choices:
            body |= {"include": ["message.output_text.logprobs"], "top_logprobs": settings.top_logprobs}
        return body

    def image_form(self) -> object:
        """See `Dialect.image_form`; the detail level is required by some servers."""
        return {"type": "input_image", "image_url": MARKED, "detail": self._settings.image_detail or "auto"}

    def _input(self, part: Part, request: Request, pieces: Pieces) -> object:
        match part:
            case TextPart():
                return {"type": "input_text", "text": part.text}
            case ImagePart():
                return pieces.mark(self._media.of_image(part, request))
            case VideoPart():
                raise RejectedRequestError(
                    f"{request.item_id}: the Responses API takes no video file ({part.path}); ask with "
                    "frames, or with api=chat where the server takes video_url"
                )

    def read(self, answer: Answer, *, letters: Collection[str]) -> Reply:
        """See `Dialect.read`. Output tokens include reasoning tokens.

        Raises:
            TransientModelError: also an unfinished response, or one with a transient failure.
            RejectedRequestError: a permanent failure, such as an unreadable image.
        """
        body = decode(answer, self._server, kind=_Body, what="response", api=API)
        declined = self._declined(body.error) if body.status == "failed" else ""
        if body.status in _NOT_FINISHED:
            raise TransientModelError(
                f"{self._server.address} sent a response that is not finished: {body.status}"
            )
        if body.output is None and not declined:
            raise without_reply(answer, self._server, lacks="output")
        outputs = body.output or []
        pieces = [piece for output in outputs if output.type == "message" for piece in output.content or []]
        refusal = declined or "".join(p.refusal or "" for p in pieces)
        parts = [p for p in pieces if p.type in {"output_text", "text"}]
        usage = body.usage or _Usage()
        details = usage.input_tokens_details or InputDetails()
        return Reply(
            text="".join(p.text or "" for p in parts),
            reasoning="\n\n".join(filter(None, (_reasoning(o) for o in outputs if o.type == "reasoning"))),
            finish="refusal" if refusal else _finish(body),
            refusal=refusal,
            model=body.model or "",
            usage=self.usage(
                read=[usage.input_tokens],
                wrote=[usage.output_tokens],
                cached=details.cached_tokens,
                cache_write=details.cache_write_tokens,
            ),
            choice_logps=choice_logps((t.position for p in parts for t in p.logprobs or []), letters),
        )

    def _declined(self, error: "_Error | str | None") -> str:
        """Return the server's message if it declined the response; other failures are raised."""
        code, message = (error.code, error.message) if isinstance(error, _Error) else (None, error)
        words = self._server.hide_key(message or "(no message)")
        if code in _POLICY:
            return words
        result = f"{self._server.address} failed: {words} (code {code})"
        if code is None or code in _MAY_PASS:
            raise TransientModelError(result, is_overload=code == "rate_limit_exceeded")
        raise RejectedRequestError(result)


# --------------------------------------------------------------------------------- what is sent back


class _OutputPart(msgspec.Struct):
    """A part of an output item: text, a refusal, or reasoning."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None
    logprobs: list[Token] | None = None


class _Output(msgspec.Struct):
    type: str = ""
    content: list[_OutputPart] | None = None
    summary: list[_OutputPart] | None = None


class _Incomplete(msgspec.Struct):
    reason: str | None = None


class _Usage(msgspec.Struct):
    input_tokens: object = None
    input_tokens_details: InputDetails | None = None
    output_tokens: object = None


class _Error(msgspec.Struct):
    code: int | str | None = None
    message: str | None = None


class _Body(msgspec.Struct):
    status: str | None = None
    output: list[_Output] | None = None
    model: str | None = None
    usage: _Usage | None = None
    error: _Error | str | None = None
    incomplete_details: _Incomplete | None = None


def _finish(body: _Body) -> Finish:
    if body.status == "incomplete":
        reason = body.incomplete_details.reason if body.incomplete_details else None
        return "length" if reason == "max_output_tokens" else finish_of(reason)
    return "stop" if body.status == "completed" else "other"


def _reasoning(output: _Output) -> str:
    """Return the reasoning summary, or the reasoning itself if there is no summary."""
    return "\n\n".join(p.text for p in output.summary or output.content or [] if p.text)


OPENAI_ADDRESS = "https://api.openai.com/v1"


def _check(settings: Settings, dialect: type[ChatDialect], server: Server) -> None:
    """Check that the options are compatible.

    Raises:
        UsageError: they are not.
    """
    owner = f"openai:{settings.name}"
    is_chat = settings.api == "chat"
    own = dialect.own_fields | {
        field
        for field, is_set in (
            ("reasoning_effort", settings.reasoning_effort and is_chat),
            ("chat_template_kwargs", settings.thinking_budget is not None),
            (dialect.schema_field, settings.structured == "on"),
        )
        if is_set
    }
    check_extra(owner, settings.extra, own=own)
    if is_chat and settings.reasoning_summary:
        raise UsageError(f"{owner}: reasoning_summary needs api=responses")
    if not is_chat and (settings.max_tokens_field or settings.thinking_budget is not None):
        raise UsageError(
            f"{owner}: the Responses API knows neither thinking_budget nor max_tokens_field; "
            "use reasoning_effort, or api=chat"
        )
    if settings.thinking_budget is not None and server.host == OPENAI_HOST:
        efforts = ", ".join(get_args(Effort))
        raise UsageError(f"{owner}: OpenAI takes no thinking_budget; use reasoning_effort ({efforts})")


def _max_tokens_field(settings: Settings, server: Server) -> str:
    if settings.api == "responses":
        return "max_output_tokens"
    reasons = server.host == OPENAI_HOST or settings.reasoning_effort  # such models refuse the older name
    return settings.max_tokens_field or ("max_completion_tokens" if reasons else "max_tokens")


def create(settings: Settings) -> HttpModel:
    """Create the model of that name behind an OpenAI-compatible server; nothing is sent yet.

    Raises:
        UsageError: options that exclude each other, an address or a key that can be none.
    """
    server = Server(
        address=check_address(settings.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_ADDRESS),
        key_env=settings.api_key_env,
        key=read_key(settings.api_key_env, example="OPENAI_API_KEY"),
    )
    kind = ResponsesDialect if settings.api == "responses" else ChatDialect
    _check(settings, kind, server)
    used = msgspec.structs.replace(
        settings, base_url=server.address, max_tokens_field=_max_tokens_field(settings, server)
    )
    identity = identity_of("openai", used)
    caller = Caller(server, headers=bearer(server.key), max_answer_mb=settings.max_answer_mb)
    return HttpModel(kind(server, used), caller, settings, identity=identity)
