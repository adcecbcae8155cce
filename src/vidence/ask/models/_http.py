"""Post JSON to a server; turn whatever goes wrong into the errors of vidence.

The key is sent and never shown: it is cut out of everything that a server says before that goes
into a message.
"""

import email.utils
import math
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import msgspec

from vidence.errors import (
    AccessError,
    ModelError,
    RejectedRequestError,
    TransientModelError,
    UsageError,
)

if TYPE_CHECKING:
    import httpx2

CONNECT_TIMEOUT_S = 10.0
MAX_QUOTED_CHARACTERS = 500
_SENT_AT_ONCE_BYTES = 2**19  # fewer cost time for each, more are copied whole where the server reads slowly

_OVERLOADED = {429, 503, 529}
_NO_ACCESS = {401, 402, 403, 404, 405}
_NO_ACCESS_CODES = {"insufficient_quota", "invalid_api_key", "model_not_found", "billing_not_active"}
_FILTERED_CODES = {"content_filter", "content_policy_violation"}
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


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


def check_address(text: str) -> str:
    """An address that can be asked, without a slash at its end.

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
    for route in ("/chat/completions", "/responses"):
        if parts.path.rstrip("/").endswith(route):
            raise UsageError(f"base_url={text!r} must stop before {route}")
    return text.rstrip("/")


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
    """Posts to one server over connections that are kept open.

    The connections belong to the event loop of the first call; close it in the same loop. After
    `close` the next call opens new ones.
    """

    def __init__(self, server: Server, *, timeout_s: float) -> None:
        self.server = server
        self.timeout_s = timeout_s
        self._client: httpx2.AsyncClient | None = None
        self._routes: dict[str, httpx2.URL] = {}  # taking an address apart costs a hundredth of a request

    def _route(self, path: str) -> "httpx2.URL":
        import httpx2

        if path not in self._routes:
            self._routes[path] = httpx2.URL(self.server.address + path)
        return self._routes[path]

    def _open(self) -> "httpx2.AsyncClient":
        if self._client is None:
            import httpx2

            headers = {"content-type": "application/json", "user-agent": "vidence"}
            if self.server.key:
                headers["authorization"] = f"Bearer {self.server.key}"
            self._client = httpx2.AsyncClient(
                headers=headers,
                timeout=httpx2.Timeout(None, connect=min(CONNECT_TIMEOUT_S, self.timeout_s)),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
                # A proxy can never reach what "localhost" means here.
                trust_env=self.server.host not in _LOOPBACK,
            )
        return self._client

    async def post(self, path: str, pieces: Sequence[bytes]) -> Answer:
        """Send a body, wait at most `timeout_s` for the whole answer, whatever its status.

        Args:
            path: what comes behind the address.
            pieces: the body in pieces, of which only a few are put together at a time.

        Raises:
            TransientModelError: no connection, a broken one, or no answer in time.
            AccessError: the address cannot be asked at all.
        """
        import httpx2

        address = self.server.address
        length = {"content-length": str(sum(map(len, pieces)))}  # many servers take no body without it
        try:
            with anyio.fail_after(self.timeout_s):
                client, route = self._open(), self._route(path)
                response = await client.post(route, content=_InPieces(pieces), headers=length)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise TransientModelError(
                f"no connection to {address} ({error or type(error).__name__}): nothing seems to be "
                "listening there; is the server running, and is base_url right?"
            ) from error
        except TimeoutError as error:
            raise TransientModelError(
                f"{address} did not answer within {self.timeout_s:g} s; "
                "a longer wait can be allowed with timeout_s=SECONDS"
            ) from error
        except httpx2.HTTPError as error:
            raise TransientModelError(
                f"the connection to {address} broke: {type(error).__name__}: {error}"
            ) from error
        except httpx2.InvalidURL as error:
            raise AccessError(f"{address} cannot be asked: {error}; correct base_url") from error
        return Answer(status=response.status_code, headers=response.headers, body=response.content)

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


# ------------------------------------------------------------------- what a refusing answer means


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


def refusal_in(answer: Answer, server: Server) -> str:
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
