"""Any server that speaks the OpenAI chat-completions protocol: ``openai:NAME?base_url=ADDRESS``.

OpenAI itself, vLLM, SGLang, llama.cpp, Ollama, LM Studio and gateways all do. Images go as data
URLs, a whole video as ``video_url``.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from urllib.parse import quote

import msgspec

from vidence.catalog import take_options
from vidence.contracts import Request
from vidence.errors import AccessError, UsageError
from vidence.models import _options
from vidence.models._chat_body import MOST_TOP_LOGPROBS, OWN_FIELDS, BodyRules, DataUrls, chat_body
from vidence.models._chat_reply import read_reply
from vidence.models._http import Caller, Server, check_address, fault
from vidence.records import Record, Reply

OPENAI_ADDRESS = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"


class Options(Record, kw_only=True):
    """What can be set behind the ``?`` of the spec.

    `base_url` defaults to the environment variable OPENAI_BASE_URL, then to OpenAI. `api_key_env`
    names the variable that holds the key. `timeout_s` is the longest wait for one whole reply, in
    seconds; a run has its own, usually shorter one. `extra` is a JSON object added to each request;
    it is stored with the run.
    """

    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    timeout_s: float = 600.0
    max_in_flight: int | None = None
    image_detail: str = ""
    max_tokens_field: str = ""
    top_logprobs: int = MOST_TOP_LOGPROBS
    extra: dict[str, object] = msgspec.field(default_factory=dict)


_READERS: Mapping[str, Callable[[str], object]] = {
    "base_url": str,
    "api_key_env": str,
    "timeout_s": _options.positive_number,
    "max_in_flight": _options.positive_whole,
    "image_detail": _options.one_of("low", "high", "auto"),
    "max_tokens_field": _options.one_of("max_tokens", "max_completion_tokens"),
    "top_logprobs": _options.positive_whole,
    "extra": _options.json_object,
}


class OpenAIModel:
    """One model behind one server."""

    looks = True
    by_item = False

    def __init__(self, server: Server, rules: BodyRules, options: Options) -> None:
        self.identity = _identity(server, rules)
        self.max_in_flight = options.max_in_flight
        self._server = server
        self._rules = rules
        self._caller = Caller(server, timeout_s=options.timeout_s)
        self._urls = DataUrls()

    async def reply(self, request: Request) -> Reply:
        """Ask the server once; see `Model.reply`."""
        if self._server.host == OPENAI_HOST and not self._server.key:
            raise AccessError(
                f"{self._server.address} needs a key and the environment variable "
                f"{self._server.key_env} is not set; set it, name another one with api_key_env=NAME, "
                "or give the address of your own server with base_url=ADDRESS"
            )
        body = await chat_body(request, self._rules, self._urls)
        start_s = time.perf_counter()
        answer = await self._caller.post("/chat/completions", body)
        if not 200 <= answer.status < 300:
            raise fault(answer, self._server)
        return read_reply(
            answer,
            self._server,
            letters=request.prompt.letters if request.sampling.want_choice_logps else (),
            latency_s=time.perf_counter() - start_s,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._caller.close()


def _identity(server: Server, rules: BodyRules) -> str:
    extra = quote(msgspec.json.encode(rules.extra, order="sorted").decode(), safe="{}:,[]")
    changes_the_reply = {
        "base_url": server.address,
        "image_detail": rules.image_detail,
        "max_tokens_field": rules.max_tokens_field,
        "top_logprobs": "" if rules.top_logprobs == MOST_TOP_LOGPROBS else str(rules.top_logprobs),
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


def create(name: str, options: Mapping[str, str]) -> OpenAIModel:
    """The model of that name behind an OpenAI-compatible server; nothing is sent yet.

    Raises:
        UsageError: no name, an option that is not known or cannot be read.
    """
    if not name:
        raise UsageError("openai: needs the name of a model, for example openai:gpt-4.1")
    read = msgspec.convert(take_options(f"openai:{name}", options, _READERS), Options)
    clash = sorted(OWN_FIELDS & read.extra.keys())
    if clash:
        raise UsageError(
            f"openai:{name}: extra must not set {', '.join(clash)}; the plan or vidence sets them"
        )
    server = Server(
        address=check_address(read.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_ADDRESS),
        key_env=read.api_key_env,
        key=_read_key(read.api_key_env),
    )
    default_field = "max_completion_tokens" if server.host == OPENAI_HOST else "max_tokens"
    rules = BodyRules(
        model=name,
        max_tokens_field=read.max_tokens_field or default_field,
        image_detail=read.image_detail,
        top_logprobs=read.top_logprobs,
        extra=read.extra,
    )
    return OpenAIModel(server, rules, read)
