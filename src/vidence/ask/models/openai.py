"""Any server that speaks the OpenAI chat-completions protocol: ``openai:NAME?base_url=ADDRESS``.

OpenAI itself, vLLM, SGLang, llama.cpp, Ollama, LM Studio and gateways all do. Images go as data
URLs, a whole video as ``video_url``. With ``api=responses`` the Responses API is spoken instead.
"""

import logging
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from urllib.parse import quote

import msgspec

from vidence import option_readers
from vidence.ask.models._chat_body import MOST_TOP_LOGPROBS, OWN_FIELDS, BodyRules, chat_body
from vidence.ask.models._chat_reply import read_reply
from vidence.ask.models._data_urls import DataUrls
from vidence.ask.models._http import Answer, Caller, Server, check_address, fault, refusal_in
from vidence.ask.models._responses_body import RESPONSES_OWN_FIELDS, responses_body
from vidence.ask.models._responses_reply import read_response
from vidence.catalog import take_options
from vidence.contracts import Request
from vidence.errors import AccessError, RejectedRequestError, UsageError
from vidence.records import Record, Reply

OPENAI_ADDRESS = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

_log = logging.getLogger(__name__)
_SCHEMA_WORDS = re.compile(
    r"response_format|json_schema|text\.format|guided|structured|grammar", re.IGNORECASE
)
_UNSUPPORTED = re.compile(r"[Uu]nsupported (?:value|parameter): '(\w+)'")
_ADVICE = {
    "temperature": "fixed_sampling=yes sends neither temperature nor top_p",
    "top_p": "fixed_sampling=yes sends neither temperature nor top_p",
    "max_tokens": "give max_tokens_field=max_completion_tokens",
}


class Options(Record, kw_only=True):
    """What can be set behind the ``?`` of the spec.

    `base_url` defaults to the environment variable OPENAI_BASE_URL, then to OpenAI. `api_key_env`
    names the variable that holds the key. `timeout_s` is the longest wait for one whole reply, in
    seconds; a run has its own, usually shorter one. `api` is the protocol. `reasoning_effort` is one of
    `EFFORTS`; `thinking_budget` a number of tokens, 0 for no thinking, for servers of open models;
    `reasoning_summary` asks the Responses API for a summary of the reasoning. `fixed_sampling` leaves
    temperature and top_p out, for models that refuse them. `structured` says what is done with a
    prompt's `reply_schema`: ``auto`` sends it until the server refuses it, ``on`` sends it always,
    ``off`` never. `extra` is a JSON object added to each request; it is stored with the run.
    """

    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    timeout_s: float = 600.0
    max_in_flight: int | None = None
    api: Literal["chat", "responses"] = "chat"
    image_detail: str = ""
    max_tokens_field: str = ""
    top_logprobs: int = MOST_TOP_LOGPROBS
    reasoning_effort: str = ""
    reasoning_summary: str = ""
    thinking_budget: int | None = None
    fixed_sampling: bool = False
    structured: Literal["auto", "on", "off"] = "auto"
    extra: dict[str, object] = msgspec.field(default_factory=dict)


_READERS: Mapping[str, Callable[[str], object]] = {
    "base_url": str,
    "api_key_env": str,
    "timeout_s": option_readers.positive_number,
    "max_in_flight": option_readers.positive_whole,
    "image_detail": option_readers.one_of("low", "high", "auto"),
    "max_tokens_field": option_readers.one_of("max_tokens", "max_completion_tokens"),
    "api": option_readers.one_of("chat", "responses"),
    "top_logprobs": option_readers.positive_whole,
    "reasoning_effort": option_readers.one_of(*EFFORTS),
    "reasoning_summary": option_readers.one_of("auto", "concise", "detailed"),
    "thinking_budget": option_readers.whole_from_zero,
    "fixed_sampling": option_readers.yes_or_no,
    "structured": option_readers.one_of("auto", "on", "off"),
    "extra": option_readers.json_object,
}


class _WriteBody(Protocol):
    def __call__(
        self, request: Request, rules: BodyRules, urls: DataUrls, *, with_schema: bool
    ) -> Awaitable[Sequence[bytes]]: ...


class _ReadReply(Protocol):
    def __call__(
        self, answer: Answer, server: Server, *, letters: tuple[str, ...], latency_s: float
    ) -> Reply: ...


@dataclass(frozen=True, kw_only=True)
class _Dialect:
    """One of the two protocols. `schema_field` is where it has the schema of the reply."""

    path: str
    write: _WriteBody
    read: _ReadReply
    own_fields: frozenset[str]
    schema_field: str


_DIALECTS = {
    "chat": _Dialect(
        path="/chat/completions",
        write=chat_body,
        read=read_reply,
        own_fields=OWN_FIELDS,
        schema_field="response_format",
    ),
    "responses": _Dialect(
        path="/responses",
        write=responses_body,
        read=read_response,
        own_fields=RESPONSES_OWN_FIELDS,
        schema_field="text",
    ),
}


class OpenAIModel:
    """One model behind one server."""

    looks = True
    by_item = False

    def __init__(self, server: Server, rules: BodyRules, options: Options) -> None:
        self.identity = _identity(server, rules, options)
        self.max_in_flight = options.max_in_flight
        self._server = server
        self._rules = rules
        self._structured = options.structured
        self._has_no_seed = options.api == "responses"
        self._dialect = _DIALECTS[options.api]
        self._caller = Caller(server, timeout_s=options.timeout_s)
        self._urls = DataUrls()

    async def reply(self, request: Request) -> Reply:
        """Ask the server once, or twice where it refuses the schema of the reply; see `Model.reply`."""
        if self._server.host == OPENAI_HOST and not self._server.key:
            raise AccessError(
                f"{self._server.address} needs a key and the environment variable "
                f"{self._server.key_env} is not set; set it, name another one with api_key_env=NAME, "
                "or give the address of your own server with base_url=ADDRESS"
            )
        if self._has_no_seed and request.sampling.seed is not None:
            self._has_no_seed = False
            _log.warning("%s: the Responses API has no seed; it is left out", self.identity)
        start_s = time.perf_counter()
        answer = await self._ask(request)
        latency_s = time.perf_counter() - start_s
        if declined := refusal_in(answer, self._server):
            return Reply(text="", finish="refusal", refusal=declined, latency_s=latency_s)
        if not 200 <= answer.status < 300:
            raise _advised(fault(answer, self._server))
        letters = request.prompt.letters if request.sampling.want_choice_logps else ()
        return self._dialect.read(answer, self._server, letters=letters, latency_s=latency_s)

    async def _ask(self, request: Request) -> Answer:
        with_schema = self._structured != "off" and request.prompt.reply_schema is not None
        answer = await self._post(request, with_schema=with_schema)
        if not (with_schema and self._structured != "on" and _refuses_schema(answer)):
            return answer
        if self._structured == "auto":  # others that were on their way say it again
            self._structured = "off"
            _log.warning(
                "%s does not take the schema of a reply and is asked without it from now on: %s",
                self.identity,
                fault(answer, self._server),
            )
        return await self._post(request, with_schema=False)

    async def _post(self, request: Request, *, with_schema: bool) -> Answer:
        body = await self._dialect.write(request, self._rules, self._urls, with_schema=with_schema)
        return await self._caller.post(self._dialect.path, body)

    async def close(self) -> None:
        """Close the connections."""
        await self._caller.close()


def _refuses_schema(answer: Answer) -> bool:
    """Whether a server rejects a request because of the schema of the reply."""
    return answer.status in {400, 422} and bool(_SCHEMA_WORDS.search(answer.body.decode(errors="replace")))


def _advised(error: Exception) -> Exception:
    """The error, with the option that helps against a setting that the model does not take."""
    named = _UNSUPPORTED.search(str(error))
    if not isinstance(error, RejectedRequestError) or named is None or named[1] not in _ADVICE:
        return error
    return RejectedRequestError(f"{error} ({_ADVICE[named[1]]})")


def _identity(server: Server, rules: BodyRules, options: Options) -> str:
    extra = quote(msgspec.json.encode(rules.extra, order="sorted").decode(), safe="{}:,[]")
    budget = "" if rules.thinking_budget is None else str(rules.thinking_budget)
    changes_the_reply = {
        "base_url": server.address,
        "api": "" if options.api == "chat" else options.api,
        "image_detail": rules.image_detail,
        "max_tokens_field": rules.max_tokens_field,
        "top_logprobs": "" if rules.top_logprobs == MOST_TOP_LOGPROBS else str(rules.top_logprobs),
        "reasoning_effort": rules.reasoning_effort,
        "reasoning_summary": rules.reasoning_summary,
        "thinking_budget": budget,
        "fixed_sampling": "yes" if rules.fixed_sampling else "",
        "structured": "" if options.structured == "auto" else options.structured,
        "extra": extra if rules.extra else "",
    }
    return f"openai:{rules.model}?" + "&".join(f"{k}={v}" for k, v in changes_the_reply.items() if v)


def _read_key(variable: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
        raise UsageError(
            "api_key_env must be the name of an environment variable, for example OPENAI_API_KEY; what "
            "was given is none (not shown: if it is the key itself, it belongs into the variable)"
        )
    key = os.environ.get(variable, "").strip()
    if not re.fullmatch(r"[\x21-\x7e]*", key):
        raise UsageError(
            f"the environment variable {variable} holds blanks or characters that no key has (not "
            "shown); set it again"
        )
    return key


def _check(name: str, options: Options, server: Server) -> None:
    """See that the options go together.

    Raises:
        UsageError: they do not.
    """
    sent_by_us = _DIALECTS[options.api].own_fields | {
        field
        for field, is_set in (
            ("reasoning_effort", options.reasoning_effort and options.api == "chat"),
            ("chat_template_kwargs", options.thinking_budget is not None),
            (_DIALECTS[options.api].schema_field, options.structured == "on"),
        )
        if is_set
    }
    clash = sorted(sent_by_us & options.extra.keys())
    if clash:
        raise UsageError(
            f"openai:{name}: extra must not set {', '.join(clash)}; the plan or vidence sets them"
        )
    if options.api == "chat" and options.reasoning_summary:
        raise UsageError(f"openai:{name}: reasoning_summary needs api=responses")
    if options.api == "responses" and (options.max_tokens_field or options.thinking_budget is not None):
        raise UsageError(
            f"openai:{name}: the Responses API knows neither thinking_budget nor max_tokens_field; "
            "use reasoning_effort, or api=chat"
        )
    if options.thinking_budget is not None and server.host == OPENAI_HOST:
        raise UsageError(
            f"openai:{name}: OpenAI takes no thinking_budget; use reasoning_effort ({', '.join(EFFORTS)})"
        )


def _max_tokens_field(options: Options, server: Server) -> str:
    if options.api == "responses":
        return "max_output_tokens"
    reasons = server.host == OPENAI_HOST or options.reasoning_effort  # such models refuse the older name
    return options.max_tokens_field or ("max_completion_tokens" if reasons else "max_tokens")


def create(name: str, options: Mapping[str, str]) -> OpenAIModel:
    """The model of that name behind an OpenAI-compatible server; nothing is sent yet.

    Raises:
        UsageError: no name, an option that is not known or cannot be read, or options that exclude
            each other.
    """
    if not name:
        raise UsageError("openai: needs the name of a model, for example openai:gpt-4.1")
    read = msgspec.convert(take_options(f"openai:{name}", options, _READERS), Options)
    server = Server(
        address=check_address(read.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_ADDRESS),
        key_env=read.api_key_env,
        key=_read_key(read.api_key_env),
    )
    _check(name, read, server)
    rules = BodyRules(
        model=name,
        max_tokens_field=_max_tokens_field(read, server),
        image_detail=read.image_detail,
        top_logprobs=read.top_logprobs,
        reasoning_effort=read.reasoning_effort,
        reasoning_summary=read.reasoning_summary,
        thinking_budget=read.thinking_budget,
        fixed_sampling=read.fixed_sampling,
        extra=read.extra,
    )
    return OpenAIModel(server, rules, read)
