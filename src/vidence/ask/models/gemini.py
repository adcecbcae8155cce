"""Google's models through the official SDK: ``gemini:NAME?thinking_budget=2048``.

Frames go in the request, in the order of the prompt; a whole video goes in the request where it is small,
and is uploaded once per run where it is not. The SDK's own retries are off: a run has its own.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import anyio
import msgspec

from vidence import option_readers
from vidence.ask.models import _sdk
from vidence.ask.models._gemini_body import (
    BodyRules,
    image_part,
    own_fields_in,
    settings,
    text_part,
    video_part,
)
from vidence.ask.models._gemini_call import BadAnswer, Caller
from vidence.ask.models._gemini_files import FileRules, Videos
from vidence.ask.models._gemini_reply import content_fault, read_content, says_no_logprobs
from vidence.ask.models._http import Answer, Server, check_address
from vidence.catalog import take_options
from vidence.contracts import Request
from vidence.errors import TransientModelError, UsageError
from vidence.records import ImagePart, Part, Record, Reply, TextPart, VideoPart

if TYPE_CHECKING:
    from google.genai import Client, types

ADDRESS = "https://generativelanguage.googleapis.com"
HOST = "generativelanguage.googleapis.com"
MOST_FPS = 24.0  # the API's limit


class Options(Record, kw_only=True):
    """What can be set behind the ``?`` of the spec.

    `thinking_budget`: tokens of thinking, on top of the plan's `max_tokens`; 0 for none, -1 lets the
    model decide. `thinking_level`: ``minimal``, ``low``, ``medium``, ``high`` or ``xhigh``.
    `video_fps`: frames that the server takes from a whole video, per second. `media_resolution`: ``low``,
    ``medium`` or ``high``. `safety`: the threshold of all safety settings. `inline_mb`: whole videos up to
    this size go in the request. `upload_timeout_s`: the longest wait for an upload, and for the server to
    be done with it; `poll_s`: how often it is asked whether it is. `base_url` defaults to Google.
    `api_version` is the part of the path, by default the SDK's. `api_key_env` names the variable that
    holds the key, by default GEMINI_API_KEY, then GOOGLE_API_KEY. `timeout_s` is the longest wait for one
    whole reply, in seconds. `extra` is a JSON object added to each request.
    """

    thinking_budget: int | None = None
    thinking_level: str = ""
    video_fps: float | None = None
    media_resolution: str = ""
    safety: str = ""
    inline_mb: float = 14.0
    upload_timeout_s: float = 600.0
    poll_s: float = 2.0
    base_url: str = ""
    api_version: str = ""
    api_key_env: str = ""
    timeout_s: float = 600.0
    max_in_flight: int | None = None
    extra: dict[str, object] = msgspec.field(default_factory=dict)


def _budget(text: str) -> int:
    value = int(text)
    if value < -1:
        raise ValueError("expected a number of tokens, 0 for no thinking, or -1 for as many as it takes")
    return value


def _fps(text: str) -> float:
    value = option_readers.positive_number(text)
    if value > MOST_FPS:
        raise ValueError(f"expected a number above 0, up to {MOST_FPS:g}")
    return value


def _version(text: str) -> str:
    if not re.fullmatch(r"v\d+(alpha|beta)?\d*", text):
        raise ValueError("expected for example v1 or v1beta")
    return text


_READERS: Mapping[str, Callable[[str], object]] = {
    "thinking_budget": _budget,
    "thinking_level": option_readers.one_of("minimal", "low", "medium", "high", "xhigh"),
    "video_fps": _fps,
    "media_resolution": option_readers.one_of("low", "medium", "high"),
    "safety": option_readers.one_of(
        "off", "block_none", "block_only_high", "block_medium_and_above", "block_low_and_above"
    ),
    "inline_mb": option_readers.number_from_zero,
    "upload_timeout_s": option_readers.positive_number,
    "poll_s": option_readers.positive_number,
    "base_url": str,
    "api_version": _version,
    "api_key_env": str,
    "timeout_s": option_readers.positive_number,
    "max_in_flight": option_readers.positive_whole,
    "extra": option_readers.json_object,
}


class GeminiModel:
    """One model behind the Gemini API."""

    looks = True
    by_item = False

    def __init__(self, server: Server, rules: BodyRules, options: Options) -> None:
        self.identity = _identity(server, rules, options.api_version)
        self.max_in_flight = options.max_in_flight
        self._server = server
        self._rules = rules
        self._timeout_s = options.timeout_s
        self._caller = Caller(server, api_version=options.api_version)
        file_rules = FileRules(
            inline_mb=options.inline_mb, upload_timeout_s=options.upload_timeout_s, poll_s=options.poll_s
        )
        self._videos = Videos(self._caller, file_rules)
        self._offers_logprobs = True

    async def reply(self, request: Request) -> Reply:
        """Ask once, after uploading videos that are not there yet; see `Model.reply`.

        A model that says that it reports no log-probabilities is asked again without them, and for none
        from then on.

        Raises:
            UsageError: an image is missing.
        """
        return await self._answer(request)

    async def _answer(self, request: Request) -> Reply:
        _sdk.check_key(self._server, host=HOST)
        parts = [await self._part(part, request) for part in request.prompt.parts]
        letters = request.prompt.letters if request.sampling.want_choice_logps else ()
        with_logprobs = bool(letters) and self._offers_logprobs
        self._caller.open()
        start_s = time.perf_counter()
        try:
            answer = await self._generate(parts, request, with_logprobs=with_logprobs)
        except BadAnswer as bad:
            if with_logprobs and says_no_logprobs(bad.answer):
                self._offers_logprobs = False
                return await self._answer(request)
            if bad.answer.status == 200:
                answer = bad.answer
            else:
                raise self._fault(bad, request) from bad
        return read_content(answer, self._server, letters=letters, latency_s=time.perf_counter() - start_s)

    async def _part(self, part: Part, request: Request) -> "types.Part":
        match part:
            case TextPart():
                return text_part(part)
            case ImagePart():
                return image_part(part, request)
            case VideoPart():
                return video_part(part, await self._videos.source(part), self._rules)

    async def _generate(self, parts: "list[types.Part]", request: Request, *, with_logprobs: bool) -> Answer:
        from google.genai import types

        config = settings(request, self._rules, with_logprobs=with_logprobs)
        content = types.Content(role="user", parts=parts)

        async def ask(client: "Client") -> str:
            response = await client.aio.models.generate_content(
                model=self._rules.model, contents=[content], config=config
            )
            return response.sdk_http_response.body or ""

        body = await self._caller.within(self._timeout_s, ask)
        return Answer(status=200, headers={}, body=body.encode())

    def _fault(self, bad: BadAnswer, request: Request) -> Exception:
        videos = [part for part in request.prompt.parts if isinstance(part, VideoPart)]
        error = content_fault(bad.answer, self._server)
        if 400 <= bad.answer.status < 500 and self._videos.forget_lost(bad, videos):
            return TransientModelError(f"{error} (the video is uploaded again at the next try)")
        return error

    async def close(self) -> None:
        """Delete what was uploaded and close the connections; closing twice is fine."""
        with anyio.CancelScope(shield=True):
            await self._videos.delete()
            await self._caller.close()


def _identity(server: Server, rules: BodyRules, api_version: str) -> str:
    changes_the_reply = {
        "base_url": server.address,
        "api_version": api_version,
        "thinking_budget": rules.thinking_budget,
        "thinking_level": rules.thinking_level,
        "video_fps": rules.video_fps,
        "media_resolution": rules.media_resolution,
        "safety": rules.safety,
        "extra": rules.extra,
    }
    return _sdk.spec_text(f"gemini:{rules.model}", changes_the_reply)


def _server(read: Options) -> Server:
    address = check_address(read.base_url or ADDRESS)
    tail = re.search(r"/v\d+(alpha|beta)?\d*$", address)
    if tail:
        raise UsageError(
            f"base_url={address!r} must stop before {tail[0]}; api_version={tail[0][1:]} sets the version"
        )
    key_env = read.api_key_env or "GEMINI_API_KEY"
    if not read.api_key_env and not os.environ.get(key_env) and os.environ.get("GOOGLE_API_KEY"):
        key_env = "GOOGLE_API_KEY"
    key = _sdk.read_key(key_env, example="GEMINI_API_KEY")
    return Server(address=address, ends="before the version, /v1 or /v1beta", key_env=key_env, key=key)


def create(name: str, options: Mapping[str, str]) -> GeminiModel:
    """The model of that name at Google; nothing is sent yet.

    Raises:
        UsageError: no name, the SDK is not installed, or an option is not known or cannot be read.
    """
    if not re.fullmatch(r"[A-Za-z0-9_.:/-]+", name):
        raise UsageError(
            f"gemini: needs the name of a model, for example gemini:gemini-2.5-pro; got {name!r}"
        )
    read = msgspec.convert(take_options(f"gemini:{name}", options, _READERS), Options)
    clash = own_fields_in(read.extra)
    if clash:
        raise UsageError(
            f"gemini:{name}: extra must not set {', '.join(clash)}; the plan or vidence sets them"
        )
    if read.thinking_level and read.thinking_budget is not None:
        raise UsageError(
            f"gemini:{name}: thinking_level={read.thinking_level} and thinking_budget={read.thinking_budget} "
            "exclude each other; give one of them"
        )
    _sdk.need_library("google.genai", owner=f"gemini:{name}", extra="gemini")
    rules = BodyRules(
        model=name,
        thinking_budget=read.thinking_budget,
        thinking_level=read.thinking_level,
        video_fps=read.video_fps,
        media_resolution=read.media_resolution,
        safety=read.safety,
        extra=read.extra,
    )
    return GeminiModel(_server(read), rules, read)
