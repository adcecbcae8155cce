"""Google's models: ``gemini:NAME?thinking_budget=2048``.

Frames are sent in the request, in the order of the prompt; a small whole video is sent in the request, a
large one is uploaded once per run.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from vidence.ask.files import json_or_none
from vidence.ask.models.answers import (
    Answer,
    Finish,
    Likely,
    Server,
    choice_logps,
    decode,
    first,
    without_reply,
)
from vidence.ask.models.gemini_files import DEFAULT_VERSION, Files, UploadSettings
from vidence.ask.models.http import (
    Caller,
    Dialect,
    HttpModel,
    check_address,
    check_extra,
    identity_of,
    read_key,
)
from vidence.ask.models.images import Pieces
from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError, UsageError
from vidence.records import ImagePart, Part, Reply, TextPart, VideoPart

ADDRESS = "https://generativelanguage.googleapis.com"
MOST_LOGPROBS = 20  # the API's limit
LOGPROBS = "log-probabilities"  # the optional part of a request that many models refuse
# The categories whose threshold can be set.
HARMS = (
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
)
_OWN_SETTINGS = (
    *("temperature", "topP", "maxOutputTokens", "seed", "responseMimeType", "responseJsonSchema"),
    *("thinkingConfig", "responseLogprobs", "logprobs", "mediaResolution", "candidateCount"),
)
_OWN_FIELDS = {"contents", "systemInstruction", "safetySettings"} | {
    f"generationConfig.{field}" for field in _OWN_SETTINGS
}
_NAME = re.compile(r"[A-Za-z0-9_.:/-]+")
_VERSION = re.compile(r"v\d+(alpha|beta)?\d*")

_STOPPED = (
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "ESCALATION",
)
_FINISH: dict[str, Finish] = {"STOP": "stop", "MAX_TOKENS": "length"}
_FINISH.update((word, "refusal") for word in _STOPPED)
# Reasons of a 400 that every request of the run would get.
_OF_THE_KEY = {"API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED", "SERVICE_DISABLED"}


class Settings(UploadSettings):
    """Options of ``gemini:`` models."""

    own_address: ClassVar[str] = ADDRESS
    own_keys: ClassVar[tuple[str, ...]] = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

    base_url: Annotated[str, Meta(description="address of the server, without the version; else Google")] = ""
    api_key_env: Annotated[str, Meta(description="variable of the key; else GEMINI_, GOOGLE_API_KEY")] = ""
    thinking_budget: Annotated[
        Annotated[int, Meta(ge=-1)] | None,
        Meta(
            description="tokens of thinking, on top of the plan's `max_tokens`; 0 for none, -1 for as many "
            "as the model takes"
        ),
    ] = None
    thinking_level: Annotated[
        Literal["minimal", "low", "medium", "high", "xhigh"] | None,
        Meta(description="how much the model thinks"),
    ] = None
    video_fps: Annotated[
        Annotated[float, Meta(gt=0, le=24)] | None,
        Meta(description="frames that the server takes from a whole video, per second"),
    ] = None
    media_resolution: Annotated[
        Literal["low", "medium", "high"] | None, Meta(description="resolution in which media are read")
    ] = None
    safety: Annotated[
        Literal["off", "block_none", "block_only_high", "block_medium_and_above", "block_low_and_above"]
        | None,
        Meta(description="threshold of all safety settings"),
    ] = None

    def __post_init__(self) -> None:
        """Reject invalid names and versions, and contradictory options."""
        if not _NAME.fullmatch(self.name) or ".." in self.name:
            raise UsageError(
                f"gemini: needs the name of a model, for example gemini:gemini-2.5-pro; got {self.name!r}"
            )
        owner = f"gemini:{self.name}"
        if self.api_version and not _VERSION.fullmatch(self.api_version):
            raise UsageError(
                f"{owner}: api_version={self.api_version!r} is not a version; expected v1 or v1beta"
            )
        generation = self.extra.get("generationConfig")
        inner = [f"generationConfig.{f}" for f in generation] if isinstance(generation, dict) else []
        check_extra(owner, [*self.extra, *inner], own=_OWN_FIELDS)
        if self.thinking_level and self.thinking_budget is not None:
            raise UsageError(
                f"{owner}: thinking_level={self.thinking_level} and thinking_budget={self.thinking_budget} "
                "exclude each other; give one of them"
            )


class GeminiDialect(Dialect):
    """``POST /v1/models/NAME:generateContent``, and the File API for long videos."""

    host: ClassVar[str] = "generativelanguage.googleapis.com"
    batches = "gemini"
    as_url = False
    advice: ClassVar[Mapping[str, str]] = {
        "location is not supported": "the API is not offered where this machine is",
        "thinking[ _]level": "choose another thinking_level=, or thinking_budget=",
        "thinking budget": "choose another thinking_budget=, or thinking_level=",
        "thinking is not|thinking_config": "omit thinking_budget= and thinking_level=",
    }

    _settings: Settings

    def __init__(self, caller: Caller, settings: Settings) -> None:
        super().__init__(caller.server, settings)
        folder = "" if settings.name.startswith(("models/", "tunedModels/")) else "models/"
        self.path = f"/{settings.api_version or DEFAULT_VERSION}/{folder}{settings.name}:generateContent"
        self._files = Files(caller, settings, fault=self._fault)

    async def body(
        self, request: Request, pieces: Pieces, *, leave_out: Collection[str]
    ) -> dict[str, object]:
        """See `Dialect.body`; long videos are uploaded."""
        prompt, settings = request.prompt, self._settings
        parts = [await self._part(part, request, pieces) for part in prompt.parts]
        safety = [{"category": harm, "threshold": (settings.safety or "").upper()} for harm in HARMS]
        system = {"role": "user", "parts": [{"text": prompt.system}]}
        return {
            "contents": [{"role": "user", "parts": parts}],
            "systemInstruction": system if prompt.system else None,
            "generationConfig": self._generation(request, leave_out) or None,
            "safetySettings": safety if settings.safety else None,
        }

    def with_extra(self, body: dict[str, object]) -> dict[str, object]:
        """See `Dialect.with_extra`; objects that both have are merged."""
        return _merged(body, self._settings.extra)

    async def _part(self, part: Part, request: Request, pieces: Pieces) -> dict[str, object]:
        match part:
            case TextPart():
                return {"text": part.text}
            case ImagePart():
                data = pieces.mark(self._media.of_image(part, request))
                return {"inlineData": {"mimeType": part.media_type, "data": data}}
            case VideoPart():
                fps = self._settings.video_fps
                metadata = {} if fps is None else {"videoMetadata": {"fps": fps}}
                if await self._files.is_sent_inline(part):
                    data = pieces.mark(await self._media.of_video(part))
                    return {"inlineData": {"mimeType": part.media_type, "data": data}, **metadata}
                uri = await self._files.uri(part)
                return {"fileData": {"fileUri": uri, "mimeType": part.media_type}, **metadata}

    def _generation(self, request: Request, leave_out: Collection[str]) -> dict[str, object]:
        """Return the settings of a request; those left to the server are absent."""
        settings, sampling, schema = self._settings, request.sampling, request.prompt.reply_schema
        fields: dict[str, object | None] = {
            "temperature": sampling.temperature,
            "topP": sampling.top_p,
            # The API counts thinking against the limit; a budget is added so that the reply keeps its room.
            "maxOutputTokens": sampling.max_tokens
            and sampling.max_tokens + max(0, settings.thinking_budget or 0),
            # The same seed for every sample would give the same reply several times.
            "seed": None if sampling.seed is None else sampling.seed + request.sample,
            "responseMimeType": None if schema is None else "application/json",
            "responseJsonSchema": schema,
            "thinkingConfig": self._thinking(),
            "mediaResolution": settings.media_resolution
            and f"MEDIA_RESOLUTION_{settings.media_resolution.upper()}",
        }
        if _wants_logprobs(request) and LOGPROBS not in leave_out:
            fields |= {"responseLogprobs": True, "logprobs": MOST_LOGPROBS}
        return {name: value for name, value in fields.items() if value is not None}

    def _thinking(self) -> dict[str, object] | None:
        level, budget = self._settings.thinking_level, self._settings.thinking_budget
        if level:
            return {"includeThoughts": True, "thinkingLevel": level.upper()}
        return None if budget is None else {"includeThoughts": budget != 0, "thinkingBudget": budget}

    def refused(self, answer: Answer, request: Request) -> str:
        """Whether this model reports no log-probabilities; see `Dialect.refused`."""
        says_so = answer.status == 400 and b"logprobs" in answer.body.lower()
        return LOGPROBS if says_so and _wants_logprobs(request) else ""

    def fault(self, answer: Answer, request: Request) -> ModelError:
        """See `Dialect.fault`; if the server lost an uploaded video, it is uploaded again."""
        error = self._fault(answer)
        videos = [part for part in request.prompt.parts if isinstance(part, VideoPart)]
        if 400 <= answer.status < 500 and self._files.forget_lost(answer, videos):
            return TransientModelError(f"{error} (the video is uploaded again at the next try)")
        return error

    def _fault(self, answer: Answer) -> ModelError:
        details = _details(answer)
        error = super()._fault(_with_wait(answer, details))
        if isinstance(error, RejectedRequestError) and not _OF_THE_KEY.isdisjoint(d.reason for d in details):
            return AccessError(
                f"{error} (the key was read from the environment variable {self._server.key_env})"
            )
        return error

    def read(self, answer: Answer, *, letters: Collection[str]) -> Reply:
        """See `Dialect.read`; a prompt or a reply that was blocked is a refusal."""
        body = decode(answer, self._server, kind=_Body, what="reply", api="a Gemini API")
        feedback, usage = body.prompt_feedback or _Feedback(), body.usage_metadata or _Usage()
        if not body.candidates and not feedback.block_reason:
            raise without_reply(answer, self._server, lacks="candidates")
        candidate = first(body.candidates) if body.candidates else _Candidate()
        parts = (candidate.content.parts if candidate.content else None) or []
        finish: Finish = _FINISH.get(candidate.finish_reason or "", "other") if body.candidates else "refusal"
        refusal = ""
        if not body.candidates:
            refusal = _because(
                f"the prompt was blocked: {feedback.block_reason}", feedback.block_reason_message
            )
        elif finish == "refusal":
            refusal = _because(f"the reply was stopped: {candidate.finish_reason}", candidate.finish_message)
        return Reply(
            text="".join(p.text or "" for p in parts if not p.thought),
            reasoning="".join(p.text or "" for p in parts if p.thought),
            finish=finish,
            refusal=refusal,
            model=body.model_version or "",
            usage=self.usage(
                read=[usage.prompt_token_count],
                wrote=[usage.candidates_token_count, usage.thoughts_token_count],  # billed alike
                cached=usage.cached_content_token_count,
            ),
            choice_logps=choice_logps(_positions(candidate.logprobs_result), letters),
        )

    async def close(self) -> None:
        """Delete uploaded files."""
        await self._files.delete()


def _wants_logprobs(request: Request) -> bool:
    return request.sampling.want_choice_logps and bool(request.prompt.letters)


def _merged(body: dict[str, object], extra: dict[str, object]) -> dict[str, object]:
    """Merge `extra` into the body; objects in both are merged."""
    merged = dict(body)
    for key, value in extra.items():
        ours = merged.get(key)
        merged[key] = _merged(ours, value) if isinstance(ours, dict) and isinstance(value, dict) else value
    return merged


# --------------------------------------------------------------------------------- what is sent back


class _Part(msgspec.Struct):
    text: str | None = None
    thought: bool | None = None


class _Content(msgspec.Struct):
    parts: list[_Part] | None = None


class _Likely(msgspec.Struct, rename="camel"):
    token: str = ""
    log_probability: float | None = None


class _Tops(msgspec.Struct):
    candidates: list[_Likely] | None = None


class _Logprobs(msgspec.Struct, rename="camel"):
    chosen_candidates: list[_Likely] | None = None
    top_candidates: list[_Tops] | None = None


class _Candidate(msgspec.Struct, rename="camel"):
    index: object = None
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None
    logprobs_result: _Logprobs | None = None


class _Feedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None
    block_reason_message: str | None = None


class _Usage(msgspec.Struct, rename="camel"):
    prompt_token_count: object = None
    candidates_token_count: object = None
    thoughts_token_count: object = None
    cached_content_token_count: object = None


class _Body(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Usage | None = None
    model_version: str | None = None


class _Detail(msgspec.Struct, rename="camel"):
    reason: str | None = None
    retry_delay: str | None = None


class _Error(msgspec.Struct):
    details: list[_Detail] | None = None


class _ErrorBody(msgspec.Struct):
    error: _Error | None = None


def _details(answer: Answer) -> Sequence[_Detail]:
    read = json_or_none(answer.body, _ErrorBody)
    return (read.error.details or ()) if read and read.error else ()


def _with_wait(answer: Answer, details: Sequence[_Detail]) -> Answer:
    """Add a ``retry-after`` header if the API asks for a wait only in the body."""
    waits = [re.fullmatch(r"(\d+(?:\.\d+)?)s", d.retry_delay or "") for d in details]
    wait = next((match[1] for match in waits if match), None)
    if wait is None or "retry-after" in answer.headers or "retry-after-ms" in answer.headers:
        return answer
    return Answer(status=answer.status, headers={**answer.headers, "retry-after": wait}, body=answer.body)


def _positions(logprobs: _Logprobs | None) -> Iterator[tuple[str, Sequence[Likely]]]:
    if logprobs is None:
        return
    for token, tops in zip_longest(logprobs.chosen_candidates or (), logprobs.top_candidates or ()):
        if token is not None:
            near = [(t.token, t.log_probability) for t in (*(tops.candidates or ()), token)] if tops else []
            yield token.token, near


def _because(what: str, message: str | None) -> str:
    return f"{what} ({message})" if message else what


def create(settings: Settings) -> HttpModel:
    """Create the Google model of that name; nothing is sent yet.

    Raises:
        UsageError: an address or a key that can be none.
    """
    address = check_address(settings.base_url or ADDRESS)
    if tail := re.search(rf"/{_VERSION.pattern}$", address):
        raise UsageError(
            f"base_url={address!r} must stop before {tail[0]}; api_version={tail[0][1:]} sets the version"
        )
    key_env = settings.api_key_env or "GEMINI_API_KEY"
    if not settings.api_key_env and not os.environ.get(key_env) and os.environ.get("GOOGLE_API_KEY"):
        key_env = "GOOGLE_API_KEY"
    key = read_key(key_env, example="GEMINI_API_KEY")
    server = Server(address=address, ends="before the version, /v1 or /v1beta", key_env=key_env, key=key)
    used = msgspec.structs.replace(settings, base_url=address)
    headers = {"x-goog-api-key": key} if key else {}
    caller = Caller(server, headers=headers, max_answer_mb=settings.max_answer_mb)
    identity = identity_of("gemini", used, left_out={"inline_mb", "upload_timeout_s", "poll_s"})
    return HttpModel(GeminiDialect(caller, used), caller, used, identity=identity)
