"""Anthropic's models through the official SDK: ``anthropic:NAME?thinking_budget=4096``.

Images go as base64 blocks in the order of the prompt; whole videos are not taken. The SDK's own
retries are off: a run has its own.
"""

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import anyio
import msgspec

from vidence import option_readers
from vidence.ask.models import _sdk
from vidence.ask.models._anthropic_body import LEAST_BUDGET, OWN_FIELDS, BodyRules, message_body
from vidence.ask.models._anthropic_reply import message_fault, read_message
from vidence.ask.models._http import CONNECT_TIMEOUT_S, Answer, Server, check_address
from vidence.catalog import take_options
from vidence.contracts import Request
from vidence.errors import UsageError
from vidence.records import Record, Reply

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

ADDRESS = "https://api.anthropic.com"
HOST = "api.anthropic.com"


class Options(Record, kw_only=True):
    """What can be set behind the ``?`` of the spec.

    `thinking_budget`: tokens of thinking, 1024 or more, on top of the plan's `max_tokens`.
    `thinking`: ``adaptive`` (the model decides; counts against `max_tokens`) or ``off``.
    `effort`: ``low``, ``medium``, ``high``, ``xhigh`` or ``max``.
    `structured`: how a reply is held to a schema: ``format``, ``tool`` or ``off``. `fixed_sampling` leaves
    temperature and top_p out, for models that let neither be chosen.
    `base_url` defaults to the environment variable ANTHROPIC_BASE_URL, then to Anthropic. `api_key_env`
    names the variable that holds the key. `timeout_s` is the longest wait for one whole reply, in
    seconds; a run has its own, usually shorter one. `extra` is a JSON object added to each request.
    """

    thinking_budget: int | None = None
    thinking: str = ""
    effort: str = ""
    structured: str = "format"
    fixed_sampling: bool = False
    base_url: str = ""
    api_key_env: str = "ANTHROPIC_API_KEY"
    timeout_s: float = 600.0
    max_in_flight: int | None = None
    extra: dict[str, object] = msgspec.field(default_factory=dict)


def _budget(text: str) -> int:
    value = int(text)
    if value < LEAST_BUDGET:
        raise ValueError(f"expected a number of tokens, {LEAST_BUDGET} or more")
    return value


_READERS: Mapping[str, Callable[[str], object]] = {
    "thinking_budget": _budget,
    "thinking": option_readers.one_of("adaptive", "off"),
    "effort": option_readers.one_of("low", "medium", "high", "xhigh", "max"),
    "structured": option_readers.one_of("format", "tool", "off"),
    "fixed_sampling": option_readers.yes_or_no,
    "base_url": str,
    "api_key_env": str,
    "timeout_s": option_readers.positive_number,
    "max_in_flight": option_readers.positive_whole,
    "extra": option_readers.json_object,
}


class AnthropicModel:
    """One model behind Anthropic's Messages API.

    The connections belong to the event loop of the first request; close it in the same loop. After
    `close` the next request opens new ones.
    """

    looks = True
    by_item = False

    def __init__(self, server: Server, rules: BodyRules, options: Options) -> None:
        self.identity = _identity(server, rules)
        self.max_in_flight = options.max_in_flight
        self._server = server
        self._rules = rules
        self._timeout_s = options.timeout_s
        self._connections: httpx2.AsyncClient | None = None
        self._client: AsyncAnthropic | None = None

    async def reply(self, request: Request) -> Reply:
        """Ask once; see `Model.reply`.

        Raises:
            UsageError: the sampling has a setting that the API does not have, or an image is missing.
        """
        _sdk.check_key(self._server, host=HOST)
        body = message_body(request, self._rules)
        client = self._open()
        start_s = time.perf_counter()
        answer = await self._post(client, body)
        if not 200 <= answer.status < 300:
            raise message_fault(answer, self._server)
        return read_message(answer, self._server, latency_s=time.perf_counter() - start_s)

    async def _post(self, client: "AsyncAnthropic", body: dict[str, object]) -> Answer:
        import anthropic
        import httpx2

        try:
            with anyio.fail_after(self._timeout_s):
                # Not messages.create(), which has no temperature and warns of models by their name.
                response = await client.post("/v1/messages", body=body, cast_to=httpx2.Response)
        except anthropic.APIStatusError as error:
            response = error.response
        except anthropic.APIConnectionError as error:
            raise _sdk.connection_fault(error.__cause__ or error, self._server) from error
        except TimeoutError as error:
            raise _sdk.too_slow(self._server, timeout_s=self._timeout_s) from error
        return Answer(status=response.status_code, headers=response.headers, body=response.content)

    def _open(self) -> "AsyncAnthropic":
        if self._client is None:
            import anthropic
            import httpx2

            self._connections = _sdk.open_connections(self._server)
            self._client = anthropic.AsyncAnthropic(
                api_key=self._server.key or _sdk.NO_KEY,
                base_url=self._server.address,
                max_retries=0,
                timeout=httpx2.Timeout(self._timeout_s, connect=min(CONNECT_TIMEOUT_S, self._timeout_s)),
                http_client=self._connections,
                open_telemetry=False,
            )
        return self._client

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        connections, self._connections, self._client = self._connections, None, None
        if connections is not None:
            await connections.aclose()


def _identity(server: Server, rules: BodyRules) -> str:
    changes_the_reply = {
        "base_url": server.address,
        "thinking_budget": rules.thinking_budget,
        "thinking": rules.thinking,
        "effort": rules.effort,
        "structured": "" if rules.structured == "format" else rules.structured,
        "fixed_sampling": "yes" if rules.fixed_sampling else "",
        "extra": rules.extra,
    }
    return _sdk.spec_text(f"anthropic:{rules.model}", changes_the_reply)


def _check(name: str, read: Options) -> None:
    """Refuse options that exclude each other."""
    clash = sorted(OWN_FIELDS & read.extra.keys())
    if clash:
        raise UsageError(
            f"anthropic:{name}: extra must not set {', '.join(clash)}; the plan or vidence sets them"
        )
    if read.thinking and read.thinking_budget is not None:
        raise UsageError(
            f"anthropic:{name}: thinking={read.thinking} and thinking_budget={read.thinking_budget} exclude "
            "each other; give one of them"
        )
    thinks = read.thinking == "adaptive" or read.thinking_budget is not None
    if thinks and read.structured == "tool":
        raise UsageError(
            f"anthropic:{name}: the API forces no tool on a model that thinks; take structured=format or "
            "structured=off, or ask without thinking"
        )


def create(name: str, options: Mapping[str, str]) -> AnthropicModel:
    """The model of that name at Anthropic; nothing is sent yet.

    Raises:
        UsageError: no name, the SDK is not installed, or an option is not known or cannot be read.
    """
    if not name:
        raise UsageError("anthropic: needs the name of a model, for example anthropic:claude-sonnet-4-5")
    read = msgspec.convert(take_options(f"anthropic:{name}", options, _READERS), Options)
    _check(name, read)
    _sdk.need_library("anthropic", owner=f"anthropic:{name}", extra="anthropic")
    address = check_address(read.base_url or os.environ.get("ANTHROPIC_BASE_URL") or ADDRESS)
    for tail in ("/v1/messages", "/v1"):
        if address.endswith(tail):
            raise UsageError(f"base_url={address!r} must stop before {tail}")
    server = Server(
        address=address,
        ends="before /v1",
        key_env=read.api_key_env,
        key=_sdk.read_key(read.api_key_env, example="ANTHROPIC_API_KEY"),
    )
    rules = BodyRules(
        model=name,
        thinking=read.thinking,
        thinking_budget=read.thinking_budget,
        effort=read.effort,
        structured=read.structured,
        fixed_sampling=read.fixed_sampling,
        extra=read.extra,
    )
    return AnthropicModel(server, rules, read)
