"""Models behind an HTTP server: one connection, one key, one set of errors; each protocol is a `Dialect`.

The key is sent and never shown: it is cut out of everything that a server says before that goes
into a message.
"""

import email.utils
import logging
import math
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlsplit

import anyio
import msgspec
from msgspec import Meta

from vidence.ask.models.settings import Count, spec_of
from vidence.contracts import Request
from vidence.errors import (
    AccessError,
    ModelError,
    RejectedRequestError,
    TransientModelError,
    UsageError,
)
from vidence.records import Record, Reply

if TYPE_CHECKING:
    import httpx2

DecodedT = TypeVar("DecodedT")
Finish: TypeAlias = Literal["stop", "length", "refusal", "other"]

CONNECT_TIMEOUT_S = 10.0
MAX_QUOTED_CHARACTERS = 500
_SENT_AT_ONCE_BYTES = 2**19  # fewer cost time for each, more are copied whole where the server reads slowly

_OVERLOADED = {429, 503, 529}
_NO_ACCESS = {401, 402, 403, 404, 405}
_NO_ACCESS_CODES = {"insufficient_quota", "invalid_api_key", "model_not_found", "billing_not_active"}
_FILTERED_CODES = {"content_filter", "content_policy_violation"}
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# How tokenizers that give raw vocabulary entries write a space or a line end.
_BLANKS = " \t\r\n\u0120\u2581\u010a"
_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "tool_use": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
}

_log = logging.getLogger(__name__)


class HttpSettings(Record, kw_only=True):
    """Options of every model behind a server; all but those in `NOT_IN_IDENTITY` can change a reply."""

    positional: ClassVar[str] = "name"

    name: Annotated[str, Meta(description="name of the model at the server")]
    base_url: Annotated[str, Meta(description="address of the server")] = ""
    api_key_env: Annotated[str, Meta(description="environment variable that holds the key")] = ""
    timeout_s: Annotated[float, Meta(gt=0, description="longest wait for a whole reply, in seconds")] = 600.0
    max_in_flight: Annotated[
        Count | None, Meta(description="most requests at once; else the run's limit")
    ] = None
    extra: Annotated[
        dict[str, object], Meta(description="JSON object added to each request; stored with the run")
    ] = msgspec.field(default_factory=dict)


NOT_IN_IDENTITY = frozenset({"name", "api_key_env", "timeout_s", "max_in_flight"})


def identity_of(provider: str, settings: HttpSettings, *, left_out: Collection[str] = ()) -> str:
    """The identity of a model behind a server.

    Args:
        provider: the name before the colon.
        settings: the options in use; `base_url` must be the address.
        left_out: further options that change no reply.
    """
    fields = [f for f in settings.__struct_fields__ if f not in NOT_IN_IDENTITY and f not in left_out]
    fields.sort(key=lambda field: field == "extra")  # which stands last
    return spec_of(f"{provider}:{settings.name}", settings, fields)


# ------------------------------------------------------------------------------------- the server


@dataclass(frozen=True, kw_only=True)
class Server:
    """Where requests go and with which key.

    `key_env` names the environment variable that `key` was read from; `key` is not part of the repr.
    `ends` says where an address of this kind ends, for messages.
    """

    address: str
    ends: str = "often in /v1"
    key_env: str
    key: str = field(repr=False)

    @property
    def host(self) -> str:
        """The name of the machine, in lower case."""
        return urlsplit(self.address).hostname or ""

    def hide_key(self, text: str) -> str:
        """The text without the key."""
        return text.replace(self.key, "[key]") if self.key else text


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back: the status, the headers (lower-case names) and the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300


def check_address(text: str, *, stops_before: Sequence[str] = ("/chat/completions", "/responses")) -> str:
    """An address that can be asked, without a slash at its end.

    Args:
        text: the address.
        stops_before: ends that vidence adds itself, the longest first.

    Raises:
        UsageError: not http(s), no host, or with parts that could hold a secret. The message shows
            the address only where it cannot hold one.
    """
    if "@" in text or "?" in text or "#" in text:
        raise UsageError(
            "base_url must hold no user, password, query or fragment (it is stored with the run); "
            "give the key through the environment variable named by api_key_env"
        )
    bad = f"base_url={text!r} is not an address; expected for example http://localhost:8000/v1"
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise UsageError(f"{bad} ({error})") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or re.search(r"[\s\x00-\x1f\x7f]", text):
        raise UsageError(bad)
    for end in stops_before:
        if parts.path.rstrip("/").endswith(end):
            raise UsageError(f"base_url={text!r} must stop before {end}")
    return text.rstrip("/")


def read_key(variable: str, *, example: str) -> str:
    """The key in an environment variable, empty where it is not set.

    Raises:
        UsageError: no name of a variable, or a value that can be no key; the message shows neither.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
        raise UsageError(
            f"api_key_env must be the name of an environment variable, for example {example}; what "
            "was given is none (not shown: if it is the key itself, it belongs into the variable)"
        )
    key = os.environ.get(variable, "").strip()
    if not re.fullmatch(r"[\x21-\x7e]*", key):
        raise UsageError(
            f"the environment variable {variable} holds blanks or characters that no key has (not "
            "shown); set it again"
        )
    return key


class _InPieces:
    """A body that is handed over a few pieces at a time; can be read again."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        gathered: list[bytes] = []
        n_bytes = 0
        for piece in self._pieces:
            for start in range(0, len(piece), _SENT_AT_ONCE_BYTES):  # a video is one long piece
                part = piece[start : start + _SENT_AT_ONCE_BYTES]
                if gathered and n_bytes + len(part) > _SENT_AT_ONCE_BYTES:
                    yield b"".join(gathered)
                    gathered, n_bytes = [], 0
                gathered.append(part)
                n_bytes += len(part)
        yield b"".join(gathered)


class Caller:
    """Sends requests to one server over connections that are kept open.

    The connections belong to the event loop of the first call; close it in the same loop. After
    `close` the next call opens new ones.
    """

    def __init__(self, server: Server, *, headers: Mapping[str, str]) -> None:
        """`headers` go with every request and hold the key."""
        self.server = server
        self._headers = headers
        self._client: httpx2.AsyncClient | None = None
        self._routes: dict[str, httpx2.URL] = {}  # taking an address apart costs a hundredth of a request

    def _route(self, path: str) -> "httpx2.URL":
        import httpx2

        if path not in self._routes:
            self._routes[path] = httpx2.URL(self.server.address + path if path[:1] == "/" else path)
        return self._routes[path]

    def _open(self) -> "httpx2.AsyncClient":
        if self._client is None:
            import httpx2

            self._client = httpx2.AsyncClient(
                headers={"user-agent": "vidence", **self._headers},
                timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
                # A proxy can never reach what "localhost" means here.
                trust_env=self.server.host not in _LOOPBACK,
            )
        return self._client

    @contextmanager
    def within(self, timeout_s: float, *, option: str = "timeout_s") -> Iterator[None]:
        """Give up after `timeout_s` seconds; turn what goes wrong with the connection into errors.

        Args:
            timeout_s: the longest time that the block may take.
            option: the option that allows more.

        Raises:
            TransientModelError: no connection, a broken one, or no answer in time.
            AccessError: the address cannot be asked at all.
        """
        import httpx2

        address = self.server.address
        try:
            with anyio.fail_after(timeout_s):
                yield
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise TransientModelError(
                f"no connection to {address} ({error or type(error).__name__}): nothing seems to be "
                "listening there; is the server running, and is base_url right?"
            ) from error
        except TimeoutError as error:
            raise TransientModelError(
                f"{address} did not answer within {timeout_s:g} s; "
                f"a longer wait can be allowed with {option}=SECONDS"
            ) from error
        except httpx2.HTTPError as error:
            said = self.server.hide_key(f"{type(error).__name__}: {error}")
            raise TransientModelError(f"the connection to {address} broke: {said}") from error
        except httpx2.InvalidURL as error:
            raise AccessError(f"{address} cannot be asked: {error}; correct base_url") from error

    async def send(
        self,
        method: str,
        path: str,
        pieces: Sequence[bytes] = (),
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request, to be called inside `within`; the answer is returned whatever its status.

        Args:
            method: of HTTP.
            path: what comes behind the address, or a whole address at the same host.
            pieces: the body in pieces, of which only a few are put together at a time.
            headers: those of this request alone.
        """
        length = {"content-length": str(sum(map(len, pieces)))}  # many servers take no body without it
        client, route = self._open(), self._route(path)
        response = await client.request(
            method,
            route,
            content=_InPieces(pieces) if pieces else None,
            headers={**length, **(headers or {})},
        )
        return Answer(status=response.status_code, headers=response.headers, body=response.content)

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


# -------------------------------------------------------------------------------------- the model


class Dialect(ABC):
    """One protocol: how a request is written, and how its answer is read."""

    host: ClassVar[str]  # of the provider itself, which answers nobody without a key

    @abstractmethod
    async def body(self, request: Request, *, leave_out: Collection[str]) -> tuple[str, Sequence[bytes]]:
        """The path behind the address, and the body in pieces.

        Args:
            request: what to ask.
            leave_out: optional parts that the server does not take, as named by `refused`.

        Raises:
            UsageError: an image is missing, or a setting that the protocol does not have.
            RejectedRequestError: a part that the server does not take, or a video that cannot be read.
        """

    @abstractmethod
    def read(self, answer: Answer, *, letters: Collection[str], latency_s: float) -> Reply:
        """The reply in an answer of status 2xx.

        Args:
            answer: what came back.
            letters: those whose log-probabilities were asked for; empty if none were.
            latency_s: how long it took, in seconds.

        Raises:
            TransientModelError: not UTF-8, not JSON, or no reply in it.
            ModelError: an error dressed as an answer.
        """

    @abstractmethod
    def fault(self, answer: Answer, request: Request) -> ModelError:
        """The error that stands for an answer of another status."""

    def refused(self, answer: Answer, request: Request) -> str:
        """The optional part of the request because of which the server rejects it; empty for none."""
        return ""

    async def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Give back what the server keeps for this model."""


class HttpModel:
    """One model behind one server; it asks once, and again where the server refuses an optional part."""

    looks = True
    by_item = False

    def __init__(self, dialect: Dialect, caller: Caller, settings: HttpSettings, *, identity: str) -> None:
        self.identity = identity
        self.max_in_flight = settings.max_in_flight
        self._dialect = dialect
        self._caller = caller
        self._timeout_s = settings.timeout_s
        self._refused: frozenset[str] = frozenset()

    async def reply(self, request: Request) -> Reply:
        """Ask; see `Model.reply`.

        An optional part that the server refuses (a schema, log-probabilities) is left out from then on.

        Raises:
            UsageError: an image is missing, or a setting that the protocol does not have.
        """
        self._check_key()
        leave_out = self._refused
        while True:
            path, pieces = await self._dialect.body(request, leave_out=leave_out)
            start_s = time.perf_counter()
            with self._caller.within(self._timeout_s):
                answer = await self._caller.send("POST", path, pieces)
            latency_s = time.perf_counter() - start_s
            refused = self._dialect.refused(answer, request)
            if not refused or refused in leave_out:
                break
            self._note(refused, self._dialect.fault(answer, request))
            leave_out |= {refused}
        if answer.is_success:
            letters = request.prompt.letters if request.sampling.want_choice_logps else ()
            return self._dialect.read(answer, letters=letters, latency_s=latency_s)
        if declined := _declined(answer, self._caller.server):
            return Reply(text="", finish="refusal", refusal=declined, latency_s=latency_s)
        raise self._dialect.fault(answer, request)

    def _check_key(self) -> None:
        server = self._caller.server
        if server.host == self._dialect.host and not server.key:
            raise AccessError(
                f"{server.address} needs a key and the environment variable {server.key_env} is not set; "
                "set it, name another one with api_key_env=NAME, or give the address of your own server "
                "with base_url=ADDRESS"
            )

    def _note(self, refused: str, error: ModelError) -> None:
        if refused not in self._refused:  # others that were on their way say it again
            self._refused |= {refused}
            _log.warning("%s refuses %s and is asked without from now on: %s", self.identity, refused, error)

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        with anyio.CancelScope(shield=True):
            await self._dialect.close()
            await self._caller.close()


# ------------------------------------------------------------------------------ what an answer says


def decode(answer: Answer, server: Server, *, kind: type[DecodedT], what: str, api: str) -> DecodedT:
    """The JSON of an answer as `kind`; `what` and `api` name it and its maker in messages.

    Raises:
        TransientModelError: not UTF-8, not JSON, or JSON of another shape.
    """
    hint = f"is {server.address} the address of {api}?"
    try:
        answer.body.decode()
        return msgspec.json.decode(answer.body, type=kind)
    except UnicodeDecodeError as error:
        raise TransientModelError(
            f"{server.address} sent a reply that is not UTF-8 "
            f"(byte {error.start} of {len(answer.body)}); {hint}"
        ) from error
    except msgspec.ValidationError as error:
        raise TransientModelError(f"{server.address} sent JSON that is no {what}: {error}; {hint}") from error
    except msgspec.DecodeError as error:
        start = " ".join(server.hide_key(answer.body[:200].decode(errors="replace")).split())
        raise TransientModelError(
            f"{server.address} sent a reply that is not JSON ({error}): {start!r}; {hint}"
        ) from error


def finish_of(word: str | None) -> Finish:
    """Our word for a server's reason why a reply ended; ``other`` for one that is absent or not known."""
    return _FINISH.get((word or "").lower(), "other")


class Likely(NamedTuple):
    """A token that could stand at a position, and its natural-log probability."""

    token: str
    logp: float | None


class Position(NamedTuple):
    """A token of a reply, and the likeliest ones at its place (None: not reported)."""

    chosen: Likely
    tops: Sequence[Likely] | None


def choice_logps(positions: Iterable[Position], letters: Collection[str]) -> dict[str, float] | None:
    """Log-probabilities of the letters at the first token that is not blank; None if not reported.

    A letter can be written as several tokens (with and without a space before it); the most likely
    one counts.
    """
    first = next((p for p in positions if p.chosen.token.strip(_BLANKS)), None)
    if first is None or first.tops is None or not letters:
        return None
    logps: dict[str, float] = {}
    for token, logp in (*first.tops, first.chosen):
        letter = token.strip(_BLANKS)
        if letter in letters and logp is not None:
            logps[letter] = max(logp, logps.get(letter, logp))
    return logps


class _Error(msgspec.Struct):
    message: str | None = None
    code: str | int | None = None
    type: str | None = None


class _ErrorBody(msgspec.Struct):
    error: _Error | str | None = None
    message: str | None = None
    detail: str | None = None


def _read_error(body: bytes) -> _Error:
    try:
        read = msgspec.json.decode(body, type=_ErrorBody)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Error(message=body.decode(errors="replace"))
    if isinstance(read.error, _Error):
        return read.error
    return _Error(message=read.error or read.message or read.detail or body.decode(errors="replace"))


def retry_after_s(headers: Mapping[str, str], *, now_s: float) -> float | None:
    """The wait that a server asks for, in seconds, or None.

    Args:
        headers: with lower-case names; ``retry-after-ms`` goes before ``retry-after``, which holds
            seconds or a date.
        now_s: the time of day in seconds since 1970, from which a date is counted.
    """
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wait_s = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if math.isfinite(wait_s):
            return max(0.0, wait_s)
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, date.timestamp() - now_s)
    except (ValueError, OverflowError):
        return None


def _access_advice(server: Server, status: int) -> str:
    if status == 404:
        return f"is the model's name right, and does base_url end where the API begins ({server.ends})?"
    if 300 <= status < 400:
        return "the address moved; give the new one as base_url"
    if not server.key:
        return f"no key was sent: the environment variable {server.key_env} is not set"
    return f"the key was read from the environment variable {server.key_env}; is it the right one?"


def _words(error: _Error, server: Server) -> str:
    words = " ".join(server.hide_key(error.message or "").split()) or "(no message)"
    return words if len(words) <= MAX_QUOTED_CHARACTERS else words[:MAX_QUOTED_CHARACTERS] + "…"


def _declined(answer: Answer, server: Server) -> str:
    """What a server says whose content filter declines a prompt; empty for every other answer."""
    if answer.status != 400:
        return ""
    error = _read_error(answer.body)
    is_filtered = not _FILTERED_CODES.isdisjoint({error.code, error.type})
    return _words(error, server) if is_filtered else ""


def fault(answer: Answer, server: Server) -> ModelError:
    """The error that stands for an answer that is not a reply."""
    error = _read_error(answer.body)
    said = f"{server.address} answered {answer.status}: {_words(error, server)}"
    status = answer.status
    if status in _NO_ACCESS or status < 400 or not _NO_ACCESS_CODES.isdisjoint({error.code, error.type}):
        return AccessError(f"{said} ({_access_advice(server, status)})")
    if status in {408, 409, 425, 429} or status >= 500:
        return TransientModelError(
            said,
            retry_after_s=retry_after_s(answer.headers, now_s=time.time()),
            is_overload=status in _OVERLOADED,
            is_server_error=status >= 500,
        )
    return RejectedRequestError(said)


def without_reply(answer: Answer, server: Server, *, lacks: str) -> ModelError:
    """The error that stands for status 200 without a reply; some gateways put the true status in the body."""
    code = _read_error(answer.body).code
    if isinstance(code, int) and 400 <= code < 600:
        return fault(Answer(status=code, headers=answer.headers, body=answer.body), server)
    said = fault(Answer(status=502, headers=answer.headers, body=answer.body), server)
    return TransientModelError(f"a reply without {lacks}: {said}")
