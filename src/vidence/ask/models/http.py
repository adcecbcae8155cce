"""Models behind HTTP servers: connections, keys, timeouts; each protocol is a `Dialect`."""

import logging
import os
import re
import ssl
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol, TypeVar
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import anyio.to_thread
import msgspec
from msgspec import Meta

from vidence.ask.models.answers import Answer, Server, believed, declined, decode, fault
from vidence.ask.models.images import MARKED, EncodedMedia, Pieces
from vidence.ask.models.keys import check_no_key, note_key
from vidence.ask.models.settings import Count, spec_of
from vidence.contracts import Request
from vidence.errors import (
    AccessError,
    MissingKeyError,
    ModelError,
    RejectedRequestError,
    TransientModelError,
    UsageError,
)
from vidence.records import Record, Reply, Usage
from vidence.text import visible

if TYPE_CHECKING:
    import aiohttp
    import yarl

BYTES_PER_MB = 10**6
_LIST_S, _MOST_LISTED, _LONGEST = 10.0, 10, 100  # of the models that a server lists
_LARGE_BYTES = 2**20  # of a body that takes one of a few places, and is read outside the event loop
_MOST_LARGE = 8  # bodies above that, read at the same time from one server; others wait in its buffers
# What a TLS handshake says where no later try can succeed.
_NO_TLS = {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION"}

_log = logging.getLogger(__name__)


class HttpSettings(Record):
    """Options of every model behind a server; all except those in `NOT_IN_IDENTITY` can change replies."""

    positional: ClassVar[str] = "name"
    own_address: ClassVar[str] = ""
    """The provider's own address; with a key of `own_keys` it needs no permission by the user."""
    own_keys: ClassVar[tuple[str, ...]] = ()

    name: Annotated[str, Meta(description="name of the model at the server")]
    base_url: Annotated[str, Meta(description="address of the server")] = ""
    api_key_env: Annotated[str, Meta(description="environment variable that holds the key")] = ""
    timeout_s: Annotated[float, Meta(gt=0, description="longest wait for a whole reply, in seconds")] = 600.0
    max_in_flight: Annotated[
        Count | None, Meta(description="most requests at once; else the run's limit")
    ] = None
    max_answer_mb: Annotated[
        float, Meta(gt=0, description="longest answer that is read, unpacked, in MB")
    ] = 32.0
    extra: Annotated[
        dict[str, object], Meta(description="JSON object added to each request; stored with the run")
    ] = msgspec.field(default_factory=dict)


NOT_IN_IDENTITY = frozenset({"name", "api_key_env", "timeout_s", "max_in_flight", "max_answer_mb"})


def check_extra(owner: str, given: Collection[str], *, own: Collection[str]) -> None:
    """Reject fields of `extra` that the plan or vidence sets.

    Raises:
        UsageError: there is such a field.
    """
    if clash := sorted(set(own).intersection(given)):
        raise UsageError(f"{owner}: extra must not set {', '.join(clash)}; the plan or vidence sets them")


def identity_of(provider: str, settings: HttpSettings, *, left_out: Collection[str] = ()) -> str:
    """Return the identity of a model behind a server.

    Args:
        provider: the name before the colon.
        settings: the options in use, with `base_url` filled in.
        left_out: further options that do not change replies.
    """
    fields = [f for f in settings.__struct_fields__ if f not in NOT_IN_IDENTITY and f not in left_out]
    fields.sort(key=lambda field: field == "extra")  # which stands last
    return spec_of(f"{provider}:{settings.name}", settings, fields)


# ------------------------------------------------------------------------------------- the server


def check_address(text: str, *, stops_before: Sequence[str] = ("/chat/completions", "/responses")) -> str:
    """Return a valid address without a trailing slash.

    Args:
        text: the address.
        stops_before: path suffixes that vidence adds itself, the longest first.

    Raises:
        UsageError: not http(s), no host, or with parts that could contain a secret. The message shows the
            address only if it cannot contain one.
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
    """Return the key in an environment variable, empty if it is not set.

    Raises:
        UsageError: not a variable name, or not a possible key; the message shows neither.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
        raise UsageError(
            f"api_key_env must be the name of an environment variable, for example {example}; the given "
            "text is not (not shown: the key itself belongs in the variable)"
        )
    key = os.environ.get(variable, "").strip()
    if not re.fullmatch(r"[\x21-\x7e]*", key):
        raise UsageError(
            f"the environment variable {variable} holds spaces or characters that no key has (not "
            "shown); set it again"
        )
    note_key(key)
    return key


def bearer(key: str) -> dict[str, str]:
    """Return the authorization header for a key; empty without one."""
    return {"authorization": f"Bearer {key}"} if key else {}


class Caller:
    """Sends requests to one server over persistent connections.

    The connections belong to the event loop of the first call; close it in the same loop. After `close`, the
    next call opens new ones.
    """

    def __init__(self, server: Server, *, headers: Mapping[str, str], max_answer_mb: float = 32.0) -> None:
        """`headers` go with every request and contain the key; longer answers are not read completely."""
        self.server = server
        self._most_bytes = int(max_answer_mb * BYTES_PER_MB)
        self._large = anyio.CapacityLimiter(_MOST_LARGE)
        self._headers = {"user-agent": "vidence", "content-type": "application/json", **headers}
        self._session: aiohttp.ClientSession | None = None
        self._given = headers
        self._routes: dict[str, yarl.URL] = {}  # taking an address apart costs a fiftieth of a request

    def reading(self, max_answer_mb: float) -> "Caller":
        """Return a caller of the same server with another answer limit."""
        return Caller(self.server, headers=self._given, max_answer_mb=max_answer_mb)

    def _route(self, path: str) -> "yarl.URL":
        import yarl

        if path not in self._routes:
            is_ours = path[:1] == "/"  # the server gave the others, and wants them as they are
            try:
                self._routes[path] = yarl.URL(self.server.address * is_ours + path, encoded=not is_ours)
            except ValueError as error:
                address = self.server.address
                raise AccessError(f"{address} cannot be asked: {error}; correct base_url") from error
        return self._routes[path]

    @contextmanager
    def within(self, timeout_s: float, *, option: str = "timeout_s") -> Iterator[None]:
        """Apply a timeout, and convert connection failures to errors of vidence.

        Args:
            timeout_s: time limit of the block.
            option: the option that raises it.

        Raises:
            TransientModelError: no connection, a broken one, or no answer in time.
            AccessError: the TLS certificate is not trusted.
        """
        import aiohttp

        address = self.server.address
        try:
            with anyio.fail_after(timeout_s):
                yield
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise _without_connection(address, error) from error
        except TimeoutError as error:
            raise TransientModelError(
                f"{address} did not answer within {timeout_s:g} s; "
                f"a longer wait can be allowed with {option}=SECONDS"
            ) from error
        except aiohttp.ClientError as error:
            message = self.server.hide_key(f"{type(error).__name__}: {error}")
            raise TransientModelError(
                f"the connection to {address} broke: {message}",
                is_unreachable=isinstance(error, aiohttp.ClientConnectionError),
            ) from error

    async def send(
        self,
        method: str,
        path: str,
        pieces: Sequence[bytes | memoryview] = (),
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request inside `within`; the answer is returned whatever its status.

        The answer is decompressed while it arrives, up to `max_answer_mb`.

        Args:
            method: the HTTP method.
            path: the path after the address, or a complete URL at the same host.
            pieces: the body in pieces, of which only a few are joined at a time.
            headers: of this request only.

        Raises:
            RejectedRequestError: a longer answer, or one that is compressed repeatedly.
            TransientModelError: data arrived before the request was sent.
            AccessError: the address cannot be contacted at all.
        """
        from vidence.ask.models.connection import Body, opened

        if self._session is None:
            self._session = opened(self.server, self._headers)
        sent = Body(pieces)
        async with self._session.request(
            method, self._route(path), data=sent if pieces else None, headers=headers, allow_redirects=False
        ) as response:
            if not sent.is_sent and response.ok:
                if response.connection is not None and response.connection.transport is not None:
                    response.connection.transport.abort()  # closing it would wait until all is sent
                raise TransientModelError(
                    f"{self.server.address} answered before the request was sent; the answer was thrown "
                    "away, and the connection is not used again"
                )
            body = await self._body(response)
        return Answer(status=response.status, headers=response.headers, body=body)

    async def _body(self, response: "aiohttp.ClientResponse") -> bytes:
        """Return the decompressed body; large ones are limited in number."""
        # What is packed twice can take hours to unpack into nothing, and no server packs twice.
        if "," in ",".join(response.headers.getall("content-encoding", ())):
            raise RejectedRequestError(f"{self.server.address} sent an answer that is packed several times")
        body = bytearray()  # a server can send single bytes, each of which would be an object of a list
        await self._read(response, body, until=_LARGE_BYTES)
        if len(body) > _LARGE_BYTES:
            async with self._large:
                await self._read(response, body, until=self._most_bytes)
        if len(body) > self._most_bytes:
            raise RejectedRequestError(
                f"{self.server.address} sent an answer of more than {self._most_bytes / BYTES_PER_MB:g} MB, "
                "which was not read to its end; max_answer_mb=MB allows a longer one"
            )
        return bytes(body)

    @staticmethod
    async def _read(response: "aiohttp.ClientResponse", body: bytearray, *, until: int) -> None:
        """Read to the end, or until the limit is exceeded."""
        while len(body) <= until and (piece := await response.content.readany()):
            body += piece

    async def close(self) -> None:
        """Close the connections; may be called twice."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await anyio.lowlevel.checkpoint()  # the turn in which the system closes them


def _without_connection(address: str, error: Exception) -> ModelError:
    """Return the error for a connection that could not be made."""
    cause: BaseException | None = (
        error.__cause__
    )  # of aiohttp's own, some of which are SSL errors without a reason
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return AccessError(
            f"the TLS certificate of {address} is not trusted ({cause.verify_message}); is it the right "
            "server? SSL_CERT_FILE names the certificates of a private authority"
        )
    if isinstance(cause, ssl.SSLError) and cause.reason in _NO_TLS:
        return AccessError(
            f"the TLS handshake with {address} failed ({cause.reason}); should base_url begin with http://?"
        )
    return TransientModelError(
        f"no connection to {address} ({error or type(error).__name__}): nothing seems to be "
        "listening there; is the server running, and is base_url right?",
        is_unreachable=True,
    )


def upload_headers(n_bytes: int, media_type: str) -> dict[str, str]:
    """Return the headers that start a resumable upload."""
    return {
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": str(n_bytes),
        "x-goog-upload-header-content-type": media_type,
    }


def upload_route(begun: Answer, address: str) -> str:
    """Return the route for an upload's bytes; empty if the answer has none.

    The server's own host name differs from that of a gateway in front of it.
    """
    entry, ours = urlsplit(begun.headers.get("x-goog-upload-url", "")), urlsplit(address)
    return entry._replace(scheme=ours.scheme, netloc=ours.netloc).geturl() if entry.path else ""


# -------------------------------------------------------------------------------------- the model


class Dialect(ABC):
    """A protocol: how to write requests and read answers."""

    host: ClassVar[str]  # of the provider itself, which answers nobody without a key
    path: str  # behind the address
    models_path: ClassVar[str] = ""  # of the list of models, where the server has one
    batches: ClassVar[str] = ""  # the name of its protocol in `models.batch_apis`
    as_url: ClassVar[bool] = True  # whether images are data URLs
    # What a 400 or 422 says of a setting that every request has, a pattern, and what helps against it.
    advice: ClassVar[Mapping[str, str]] = {}
    advised: ClassVar[type[ModelError]] = AccessError

    def __init__(self, server: Server, settings: HttpSettings) -> None:
        self._server = server
        self._settings = settings
        self._media = EncodedMedia(as_url=self.as_url, form=self.image_form())
        self._doubted = False

    def image_form(self) -> object:
        """Return the JSON for an image in a list, with `MARKED` for its string."""
        return MARKED

    @property
    def caches(self) -> bool:
        """Whether the server caches prompt prefixes; known for providers."""
        return self._server.host == self.host

    @abstractmethod
    async def body(
        self, request: Request, pieces: Pieces, *, leave_out: Collection[str]
    ) -> dict[str, object]:
        """Return the body without `extra`; text and images keep the prompt's order, None is not sent.

        Args:
            request: the request.
            pieces: collects the encoded media.
            leave_out: optional parts that the server does not accept, as named by `refused`.

        Raises:
            UsageError: an image is missing, or the protocol lacks a setting.
            RejectedRequestError: a part that the server does not accept, or an unreadable video.
        """

    @abstractmethod
    def read(self, answer: Answer, *, letters: Collection[str]) -> Reply:
        """Return the reply in an answer of status 2xx.

        Args:
            answer: the answer.
            letters: those whose log-probabilities were requested; empty if none were.

        Raises:
            TransientModelError: not UTF-8, not JSON, or no reply in it.
            ModelError: an error in the form of an answer.
        """

    async def written(self, request: Request, *, leave_out: Collection[str]) -> Sequence[bytes]:
        """Return the body in pieces; see `body`."""
        self._media.next_request()
        pieces = Pieces()
        body = await self.body(request, pieces, leave_out=leave_out)
        return pieces.of(self.with_extra({name: value for name, value in body.items() if value is not None}))

    def with_extra(self, body: dict[str, object]) -> dict[str, object]:
        """Add the fields of `extra` to the body."""
        return body | self._settings.extra

    def usage(
        self,
        *,
        read: Sequence[object],
        wrote: Sequence[object],
        cached: object = None,
        cache_write: object = None,
    ) -> Usage:
        """Return a reply's tokens; `read` and `wrote` are sums of counts.

        An impossible count makes the sum unknown, with one warning.
        """
        counted = [believed(counts) for counts in (read, wrote, [cached], [cache_write])]
        if not self._doubted and "absurd" in counted:
            self._doubted = True
            entries = [n for n in (*read, *wrote, cached, cache_write) if n is not None]
            _log.warning(
                "%s says that a reply took %s tokens; such counts are treated as unknown",
                self._server.address,
                visible(self._server.hide_key(f"{entries}")[:200]),
            )
        n_in, n_out, n_cached, n_new = (None if n == "absurd" else n for n in counted)
        return Usage(input_tokens=n_in, output_tokens=n_out, cached_tokens=n_cached, cache_write_tokens=n_new)

    def fault(self, answer: Answer, request: Request) -> ModelError:
        """Return the error for an answer of another status."""
        return self._fault(answer)

    def _fault(self, answer: Answer) -> ModelError:
        error = fault(answer, self._server)
        if isinstance(error, RejectedRequestError) and answer.status in {400, 422}:
            message = str(error).lower()
            advice = next((helps for words, helps in self.advice.items() if re.search(words, message)), None)
            return self.advised(f"{error} ({advice})") if advice else error
        return error

    def refused(self, answer: Answer, request: Request) -> str:
        """Return the optional part that the server rejects; empty if none."""
        return ""

    async def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Release what the server stores for this model."""


class Batched(Protocol):
    """Answers in place of single requests: `models.batches`."""

    def answer(self, body: Sequence[bytes], *, sample: int) -> Answer:
        """Return a request's answer, or raise `LaterError`."""

    async def close(self) -> None:
        """Close the connections."""


BatchedT = TypeVar("BatchedT", bound=Batched)


class _Listed(msgspec.Struct):
    data: list[dict[str, object]] = []


class HttpModel:
    """A model behind a server; a request is sent again if the server rejects an optional part."""

    looks = True
    by_item = False

    def __init__(self, dialect: Dialect, caller: Caller, settings: HttpSettings, *, identity: str) -> None:
        check_no_key(identity.partition("?")[0], settings.extra)
        self.identity, self._name = identity, settings.name
        self.max_in_flight = settings.max_in_flight
        self.caches = dialect.caches
        self._dialect = dialect
        self._caller = caller
        self._timeout_s = settings.timeout_s
        self._refused: frozenset[str] = frozenset()
        self._batches: Batched | None = None

    @property
    def batch_protocol(self) -> str:
        """Return the name of its batch API in `models.batch_apis`; empty if unsupported."""
        return self._dialect.batches

    def ask_in_batches(self, opened: "Callable[[Caller, str], BatchedT]") -> "BatchedT":
        """Use the batch API from now on; `opened` creates its client from a caller and the path."""
        self.caches = False  # no question of a batch waits for another
        self._batches = batched_t = opened(self._caller, self._dialect.path)
        return batched_t

    async def reply(self, request: Request) -> Reply:
        """Return the reply; see `Model.reply`.

        An optional part that the server rejects (a schema, log-probabilities) is left out from then on.

        Raises:
            UsageError: an image is missing, or the protocol lacks a setting.
        """
        server = self._caller.server
        if server.host == self._dialect.host and not server.key:
            raise MissingKeyError(
                f"{server.address} needs a key and the environment variable {server.key_env} is not set; "
                "set it, name another one with api_key_env=NAME, or give the address of your own server "
                "with base_url=ADDRESS"
            )
        leave_out = self._refused
        while True:
            pieces = await self._dialect.written(request, leave_out=leave_out)
            start_s = time.perf_counter()
            if self._batches is not None:
                answer = self._batches.answer(pieces, sample=request.sample)
            else:
                with self._caller.within(self._timeout_s):
                    answer = await self._caller.send("POST", self._dialect.path, pieces)
            latency_s = time.perf_counter() - start_s
            refused = self._dialect.refused(answer, request)
            if not refused or refused in leave_out:
                break
            self._note(refused, self._dialect.fault(answer, request))
            leave_out |= {refused}
        if answer.is_success:
            letters = request.prompt.letters if request.sampling.want_choice_logps else ()
            read = partial(self._dialect.read, answer, letters=letters)
            reply = await anyio.to_thread.run_sync(read) if len(answer.body) > _LARGE_BYTES else read()
            return msgspec.structs.replace(reply, latency_s=latency_s)
        if message := declined(answer, server):
            return Reply(text="", finish="refusal", refusal=message, latency_s=latency_s)
        error = self._dialect.fault(answer, request)
        if isinstance(error, AccessError) and answer.status in {400, 404} and self._dialect.models_path:
            raise AccessError(f"{error}{await self._served()}")
        raise error

    async def _served(self) -> str:
        """Return the models that the server lists, closest names first, for an error message."""
        server = self._caller.server
        try:
            with self._caller.within(_LIST_S):
                answer = await self._caller.send("GET", self._dialect.models_path)
            listed = decode(answer, server, kind=_Listed, what="list of models", api="the models")
        except ModelError:  # it says nothing, as many do whose address is wrong
            return ""
        names = [str(row.get("id"))[:_LONGEST] for row in listed.data[:1000]]
        near = get_close_matches(self._name, names, _MOST_LISTED, 0)
        return f"; it serves {visible(server.hide_key(', '.join(near)))}" if near else ""

    def _note(self, refused: str, error: ModelError) -> None:
        if refused not in self._refused:  # others that were on their way say it again
            self._refused |= {refused}
            message = visible(str(error))
            _log.warning(
                "%s refuses %s and is asked without from now on: %s", self.identity, refused, message
            )

    async def close(self) -> None:
        """Close the connections; may be called twice."""
        with anyio.CancelScope(shield=True):
            if self._batches is not None:
                await self._batches.close()
            await self._dialect.close()
            await self._caller.close()
