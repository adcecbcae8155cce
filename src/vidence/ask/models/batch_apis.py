"""The batch APIs of OpenAI, Anthropic and Gemini: submit requests, and retrieve answers."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import ClassVar, Final, TypeAlias

import msgspec

from vidence.ask.mapping.columns import value_at
from vidence.ask.models.answers import Answer, decode, fault
from vidence.ask.models.http import Caller, upload_headers, upload_route
from vidence.errors import AccessError, RejectedRequestError, TransientModelError
from vidence.records import Record
from vidence.text import visible

_CALL_S: Final = 300.0
_LARGEST_RESULTS_MB: Final = 1024.0
_SLOWEST_BYTES_S: Final = 250_000  # of an upload that is still waited for
_ID: Final = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)?")
_CLOCKS_S: Final = 120  # by which clocks may differ
_GONE: Final = 404
Piece: TypeAlias = bytes | memoryview


class OpenBatch(Record):
    """A batch as recorded before it is created: its name at the server, and its requests' keys."""

    name: str
    address: str
    keys: tuple[str, ...]
    began_s: float
    id: str = ""
    """The server's id; empty until known."""


@dataclass(frozen=True, kw_only=True)
class BatchState:
    """A batch's state; `results` are the routes of its answers, `why` says how it ended."""

    is_ended: bool
    n_done: int = 0
    results: tuple[str, ...] = ()
    why: str = "ended"


class _Told:
    """A JSON object from a server; missing and mistyped fields read as empty."""

    def __init__(self, value: Mapping[str, object]) -> None:
        self.value = value

    def text(self, path: str) -> str:
        value = value_at(self.value, path)
        return value if isinstance(value, str) else ""

    def count(self, *paths: str) -> int:
        """Return the sum of numbers, which Gemini writes as strings."""
        result = (str(value_at(self.value, path)) for path in paths)
        return sum(int(digits[:18]) for digits in result if digits.isdecimal())

    def all(self, path: str) -> "list[_Told]":
        value = value_at(self.value, path)
        return [_Told(each) for each in value if isinstance(each, dict)] if isinstance(value, list) else []


class BatchApi(ABC):
    """A batch protocol; calls raise the errors of `Caller.send` and `answers.fault`."""

    most_asks: ClassVar[int]
    most_bytes: ClassVar[int]
    """Most bytes per batch."""
    most_each: ClassVar[int]
    """Most bytes per request."""
    separator: ClassVar[bytes] = b"\n"
    root: ClassVar[str]
    """Route that creates and lists batches."""

    def __init__(self, caller: Caller, *, path: str) -> None:
        """`path` is the route of single requests."""
        self._caller = caller.reading(_LARGEST_RESULTS_MB)
        self._path = path

    @abstractmethod
    def line(self, key: str, body: Sequence[bytes]) -> Sequence[bytes]:
        """Return a request as a line of a batch, under a key of 64 letters and digits."""

    async def upload(self, content: memoryview, name: str) -> str:
        """Upload the requests if the API separates this; return what `create` needs of them."""
        return ""

    @abstractmethod
    async def create(self, source: str, content: memoryview, name: str) -> str:
        """Create a batch, and return its id."""

    @abstractmethod
    async def find(self, batch: OpenBatch, *, known: Collection[str]) -> str:
        """Return the id of a batch that may have been created, or empty. `known` are other batches' ids."""

    async def state(self, batch_id: str) -> BatchState | None:
        """Return the batch's state; None if the server does not know it."""
        answer = await self._call(self._route(batch_id), is_known=False)
        return None if answer.status == _GONE else self._state(answer, batch_id)

    def _route(self, batch_id: str) -> str:
        """Return the route of a batch."""
        return f"{self.root}/{batch_id}"

    @abstractmethod
    def _state(self, answer: Answer, batch_id: str) -> BatchState:
        """Return the state of a batch from the answer about it."""

    @abstractmethod
    def result(self, line: bytes) -> tuple[str, Answer | None]:
        """Return the key in a line of results, and the answer; None if there is none.

        Raises:
            DecodeError, UnicodeDecodeError: the line cannot be decoded.
        """

    async def close(self) -> None:
        """Close the connections."""
        await self._caller.close()

    async def results(self, route: str) -> Sequence[bytes]:
        """Return the lines of a results file."""
        return (await self._call(route)).body.splitlines()

    async def _call(
        self,
        route: str,
        pieces: Sequence[Piece] = (),
        *,
        headers: Mapping[str, str] | None = None,
        is_known: bool = True,
    ) -> Answer:
        """Return an answer of status 2xx, or of 404 if the thing may be unknown to the server."""
        method = "POST" if pieces else "GET"
        with self._caller.within(_CALL_S + sum(map(len, pieces)) / _SLOWEST_BYTES_S):
            answer = await self._caller.send(method, route, pieces, headers=headers)
        if answer.is_success or (answer.status == _GONE and not is_known):
            return answer
        error = fault(answer, self._caller.server)
        if pieces and isinstance(error, RejectedRequestError | AccessError):
            raise AccessError(f"no batch can be made with {route}: {error}; omit --batch") from error
        raise error

    async def _told(self, route: str, pieces: Sequence[Piece] = ()) -> _Told:
        return self._read(await self._call(route, pieces))

    def _read(self, answer: Answer) -> _Told:
        kind = dict[str, object]
        return _Told(decode(answer, self._caller.server, kind=kind, what="batch", api="an API with batches"))

    def _id(self, text: str) -> str:
        """Check that an id is safe in a route."""
        if _ID.fullmatch(text) is None:
            message = visible(text[:80])
            raise TransientModelError(f"{self._caller.server.address} gave {message!r} as an id of a batch")
        return text

    def _said(self, words: str) -> str:
        return visible(self._caller.server.hide_key(words))


# ---------------------------------------------------------------------------------------- OpenAI


class _OpenAIResponse(msgspec.Struct):
    status_code: int = 0
    body: msgspec.Raw = msgspec.Raw(b"null")


class _OpenAIResult(msgspec.Struct):
    custom_id: str
    response: _OpenAIResponse | None = None


class OpenAIBatches(BatchApi):
    """``POST /files`` and ``POST /batches``."""

    most_asks = 50_000
    most_bytes = 200_000_000
    most_each = 50_000_000
    root = "/batches"

    def line(self, key: str, body: Sequence[bytes]) -> Sequence[bytes]:
        """See `BatchApi.line`."""
        head = b'{"custom_id":"%b","method":"POST","url":"/v1%b","body":'
        return [head % (key.encode(), self._path.encode()), *body, b"}"]

    async def upload(self, content: memoryview, name: str) -> str:
        """See `BatchApi.upload`."""
        head = (
            f'--{name}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--{name}\r\n'
            f'content-disposition: form-data; name="file"; filename="{name}.jsonl"\r\n'
            "content-type: application/jsonl\r\n\r\n"
        )
        pieces: list[Piece] = [head.encode(), content, f"\r\n--{name}--\r\n".encode()]
        kind = {"content-type": f"multipart/form-data; boundary={name}"}
        answer = await self._call("/files", pieces, headers=kind)
        return self._id(self._read(answer).text("id"))

    async def create(self, source: str, content: memoryview, name: str) -> str:
        """See `BatchApi.create`."""
        body = {
            "input_file_id": source,
            "endpoint": f"/v1{self._path}",
            "completion_window": "24h",
            "metadata": {"vidence": name},
        }
        return self._id((await self._told(self.root, [msgspec.json.encode(body)])).text("id"))

    async def find(self, batch: OpenBatch, *, known: Collection[str]) -> str:
        """See `BatchApi.find`."""
        there = (await self._told(f"{self.root}?limit=100")).all("data")
        named = (b.text("id") for b in there if b.text("metadata.vidence") == batch.name)
        return next((batch_id for batch_id in named if batch_id not in known), "")

    def _state(self, answer: Answer, batch_id: str) -> BatchState:
        state = self._read(answer)
        files = filter(None, map(state.text, ("output_file_id", "error_file_id")))
        reasons = "; ".join(
            entry.text("message") or entry.text("code") for entry in state.all("errors.data")[:3]
        )
        return BatchState(
            is_ended=state.text("status") in {"completed", "failed", "expired", "cancelled"},
            n_done=state.count("request_counts.completed", "request_counts.failed"),
            results=tuple(f"/files/{self._id(file)}/content" for file in files),
            why=self._said(": ".join(filter(None, (state.text("status"), reasons)))),
        )

    def result(self, line: bytes) -> tuple[str, Answer | None]:
        """See `BatchApi.result`."""
        read = msgspec.json.decode(line, type=_OpenAIResult)
        if read.response is None or not read.response.status_code:
            return read.custom_id, None
        body = bytes(read.response.body)
        return read.custom_id, Answer(status=read.response.status_code, headers={}, body=body)


# ------------------------------------------------------------------------------------- Anthropic

_STATUS_OF: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


_ENDED: Final = [f"request_counts.{how}" for how in ("succeeded", "errored", "canceled", "expired")]


class _MessageOutcome(msgspec.Struct):
    type: str = ""
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"{}")


class _MessageResult(msgspec.Struct):
    custom_id: str
    result: _MessageOutcome


class MessageBatches(BatchApi):
    """``POST /v1/messages/batches``; the API stores no name, so a batch is found by time and size."""

    most_asks = 100_000
    most_bytes = 255_000_000
    most_each = 32_000_000
    root = "/v1/messages/batches"
    separator = b","

    def line(self, key: str, body: Sequence[bytes]) -> Sequence[bytes]:
        """See `BatchApi.line`."""
        return [b'{"custom_id":"%b","params":' % key.encode(), *body, b"}"]

    async def create(self, source: str, content: memoryview, name: str) -> str:
        """See `BatchApi.create`."""
        pieces: list[Piece] = [b'{"requests":[', content, b"]}"]
        return self._id((await self._told(self.root, pieces)).text("id"))

    async def find(self, batch: OpenBatch, *, known: Collection[str]) -> str:
        """See `BatchApi.find`."""
        there = (await self._told(f"{self.root}?limit=100")).all("data")
        since = datetime.fromtimestamp(batch.began_s - _CLOCKS_S, tz=UTC).isoformat()
        fits = [
            (b.text("created_at"), b.text("id"))
            for b in there
            if b.text("id") not in known
            and b.text("created_at") >= since[:19]
            and b.count("request_counts.processing", *_ENDED) == len(batch.keys)
        ]
        return min(fits, key=itemgetter(0), default=("", ""))[1]

    def _state(self, answer: Answer, batch_id: str) -> BatchState:
        state = self._read(answer)
        return BatchState(
            is_ended=state.text("processing_status") == "ended",
            n_done=state.count(*_ENDED),
            results=(f"{self.root}/{batch_id}/results",),
            why=self._said(state.text("processing_status")),
        )

    def result(self, line: bytes) -> tuple[str, Answer | None]:
        """See `BatchApi.result`."""
        read = msgspec.json.decode(line, type=_MessageResult)
        outcome = read.result
        if outcome.type == "succeeded":
            return read.custom_id, Answer(status=200, headers={}, body=bytes(outcome.message))
        if outcome.type == "errored":
            error = _Told(msgspec.json.decode(outcome.error, type=dict[str, object]))
            status = _STATUS_OF.get(error.text("error.type"), 500)
            return read.custom_id, Answer(status=status, headers={}, body=bytes(outcome.error))
        return read.custom_id, None


# ---------------------------------------------------------------------------------------- Gemini

_HTTP_OF_GRPC: Final = {3: 400, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}


class _GeminiResult(msgspec.Struct):
    key: str
    response: msgspec.Raw = msgspec.Raw(b"")
    error: dict[str, object] | None = None


class GeminiBatches(BatchApi):
    """``POST /v1beta/models/NAME:batchGenerateContent``, with requests in the File API."""

    most_asks = 50_000
    most_bytes = 500_000_000  # of the 2 GB that the API takes, so that an upload ends in time
    most_each = 20_000_000
    root = "/v1beta/batches"

    def line(self, key: str, body: Sequence[bytes]) -> Sequence[bytes]:
        """See `BatchApi.line`."""
        return [b'{"key":"%b","request":' % key.encode(), *body, b"}"]

    async def upload(self, content: memoryview, name: str) -> str:
        """See `BatchApi.upload`; a resumable upload in one piece."""
        kind, address = "application/jsonl", self._caller.server.address
        body = msgspec.json.encode({"file": {"displayName": name, "mimeType": kind}})
        headers = upload_headers(len(content), kind)
        begun = await self._call("/upload/v1beta/files", [body], headers=headers)
        if not (route := upload_route(begun, address)):
            raise TransientModelError(f"{address} gave no address for the upload of a batch")
        headers = {
            "content-type": "application/octet-stream",
            "x-goog-upload-command": "upload, finalize",
            "x-goog-upload-offset": "0",
        }
        answer = await self._call(route, [content], headers=headers)
        return self._id(self._read(answer).text("file.name"))

    async def create(self, source: str, content: memoryview, name: str) -> str:
        """See `BatchApi.create`."""
        body = {"batch": {"displayName": name, "inputConfig": {"fileName": source}}}
        model = self._path.rpartition(":")[0].partition("/models/")[2]
        route = f"/v1beta/models/{model}:batchGenerateContent"
        return self._id((await self._told(route, [msgspec.json.encode(body)])).text("name"))

    async def find(self, batch: OpenBatch, *, known: Collection[str]) -> str:
        """See `BatchApi.find`."""
        there = (await self._told(f"{self.root}?pageSize=100")).all("operations")
        named = (o.text("name") for o in there if o.text("metadata.displayName") == batch.name)
        return next((batch_id for batch_id in named if batch_id not in known), "")

    def _route(self, batch_id: str) -> str:
        return f"/v1beta/{batch_id}"

    def _state(self, answer: Answer, batch_id: str) -> BatchState:
        result = self._read(answer)
        state = result.text("metadata.state").rpartition("_STATE_")[2].lower()
        file = result.text("response.responsesFile") or result.text("metadata.output.responsesFile")
        counts = (f"metadata.batchStats.{how}RequestCount" for how in ("successful", "failed"))
        return BatchState(
            is_ended=result.value.get("done") is True
            or state in {"succeeded", "failed", "cancelled", "expired"},
            n_done=result.count(*counts),
            results=(f"/download/v1beta/{self._id(file)}:download?alt=media",) if file else (),
            why=self._said(": ".join(filter(None, (state, result.text("error.message"))))),
        )

    def result(self, line: bytes) -> tuple[str, Answer | None]:
        """See `BatchApi.result`."""
        read = msgspec.json.decode(line, type=_GeminiResult)
        if bytes(read.response):
            return read.key, Answer(status=200, headers={}, body=bytes(read.response))
        if read.error is None:
            return read.key, None
        error = _Told(read.error)
        status = _HTTP_OF_GRPC.get(code := error.count("code"), code if code >= 400 else 500)
        body = msgspec.json.encode({"error": {"code": status, "message": error.text("message")}})
        return read.key, Answer(status=status, headers={}, body=body)


APIS: Final[Mapping[str, type[BatchApi]]] = {
    "openai": OpenAIBatches,
    "anthropic": MessageBatches,
    "gemini": GeminiBatches,
}
"""Batch APIs by provider."""
