"""The batch API of OpenAI: many requests at once, answered within a day at half the price.

One pass over the questions writes what is to be asked into files (`Batches.answer`), a wave sends them and
waits (`Batches.wave`), and the next pass finds the answers. No frames are held in memory meanwhile.
"""

import hashlib
import mmap
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Final, TypeAlias, TypeVar
from uuid import uuid4

import anyio
import msgspec

from vidence.ask.models.answers import Answer, decode, fault
from vidence.ask.models.http import Caller
from vidence.errors import AccessError, LaterError, RejectedRequestError, StoreError, TransientModelError
from vidence.media.whole import PRIVATE, make_private, write_whole
from vidence.records import Record
from vidence.text import visible

MOST_ASKS: Final = 50_000
MOST_BYTES: Final = 200_000_000
"""Of one file of requests."""
_LARGEST_RESULTS_MB: Final = 1024.0
_SLOWEST_BYTES_S: Final = 250_000  # of an upload that is still waited for
_GONE: Final = 404
_CALL_S: Final = 300.0
_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
ReadT = TypeVar("ReadT")
Piece: TypeAlias = bytes | memoryview


class OpenBatch(Record):
    """A batch as it is noted before it is made: its name at the server, and the keys of its requests."""

    name: str
    address: str
    keys: tuple[str, ...]
    began_s: float
    id: str = ""
    """What the server calls it; empty until that is known."""


class _File(msgspec.Struct):
    id: str


class _Counts(msgspec.Struct):
    completed: int = 0
    failed: int = 0


class _Reason(msgspec.Struct):
    code: str | None = None
    message: str | None = None


class _Reasons(msgspec.Struct):
    data: list[_Reason] = []


class _Batch(msgspec.Struct):
    id: str
    status: str = ""
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Reasons | None = None
    request_counts: _Counts | None = None
    metadata: dict[str, str] | None = None


class _Batches(msgspec.Struct):
    data: list[_Batch] = []


class _Response(msgspec.Struct):
    status_code: int = 0
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    custom_id: str
    response: _Response | None = None


@dataclass
class _Part:
    """Requests that are to be one batch, in a file without a name."""

    file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    keys: list[str] = field(default_factory=list)
    n_bytes: int = 0

    def add(self, key: str, pieces: Sequence[bytes], n_bytes: int) -> None:
        try:
            self.file.writelines(pieces)
        except OSError as error:
            raise StoreError(f"the requests of a batch cannot be written: {error}; make room") from error
        self.keys.append(key)
        self.n_bytes += n_bytes


class Batches:
    """Collects requests, sends them as batches, waits for these, and hands out their answers.

    A batch is noted in `folder` before it is made, so that a process that asks the same after this one was
    killed waits for the same batch.

    Args:
        caller: asks the server.
        path: where single requests go.
        folder: of the notes.
        say: told once in `poll_s` how far a batch is.
        poll_s: between looks at a batch, in seconds.
        clock: the time in seconds.
    """

    def __init__(
        self,
        caller: Caller,
        *,
        path: str,
        folder: Path,
        say: Callable[[str], None],
        poll_s: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._caller = caller.reading(_LARGEST_RESULTS_MB)
        self._path, self._folder = path, folder
        self._say, self._poll_s, self._clock = say, poll_s, clock
        self._parts: list[_Part] = []
        self._collected: set[str] = set()
        self._wanted: dict[str, OpenBatch] = {}
        self._answers: dict[str, Answer] = {}
        self._read: list[OpenBatch] = []
        self._open = self._noted()

    def answer(self, body: Sequence[bytes], *, sample: int) -> Answer:
        """The answer to a request, where a batch has brought it; it is given once.

        Raises:
            LaterError: the next wave brings it.
            RejectedRequestError: it is larger than a batch may be.
            StoreError: it cannot be kept until then.
        """
        digest = hashlib.sha256(f"{self._caller.server.address}{self._path} {sample} ".encode())
        for piece in body:
            digest.update(piece)
        key = digest.hexdigest()
        if (answer := self._answers.pop(key, None)) is not None:
            return answer
        if (batch := self._open.get(key)) is not None:
            self._wanted[batch.name] = batch
        elif key not in self._collected:
            self._collect(key, body)
        raise LaterError

    def _collect(self, key: str, body: Sequence[bytes]) -> None:
        head = f'{{"custom_id":"{key}","method":"POST","url":"/v1{self._path}","body":'
        pieces = (head.encode(), *body, b"}\n")
        n_bytes = sum(map(len, pieces))
        if n_bytes > MOST_BYTES:
            raise RejectedRequestError(
                f"the request has {n_bytes / 1e6:.0f} MB, a batch may have {MOST_BYTES / 1e6:.0f} MB; ask it "
                "without --batch, or with fewer or smaller frames"
            )
        last = self._parts[-1] if self._parts else None
        if last is None or last.n_bytes + n_bytes > MOST_BYTES or len(last.keys) == MOST_ASKS:
            last = _Part()
            self._parts.append(last)
        last.add(key, pieces, n_bytes)
        self._collected.add(key)

    async def wave(self) -> int:
        """Send what was collected, and wait for all batches that were asked for; how many requests these are.

        Raises:
            AccessError: the server refuses a batch, or answers nothing of it.
            StoreError: a batch cannot be noted.
        """
        self.settle()
        parts, wanted = self._parts, list(self._wanted.values())
        self._parts, self._wanted, self._collected = [], {}, set()
        n = sum(len(part.keys) for part in parts) + sum(len(batch.keys) for batch in wanted)
        async with anyio.create_task_group() as tasks:
            for part in parts:
                tasks.start_soon(self._send, part)
            for batch in wanted:
                tasks.start_soon(self._take_up, batch)
        return n

    def settle(self) -> None:
        """A pass has ended, and what it took out of batches is stored: their notes go."""
        for batch in self._read:
            self._forget(batch)
        self._read.clear()
        self._answers.clear()

    async def close(self) -> None:
        """Close the connections; batches that were sent go on at the server, and their notes stay."""
        for part in self._parts:
            part.file.close()
        await self._caller.close()

    def _noted(self) -> dict[str, OpenBatch]:
        """The batches of earlier processes at this server, by the keys of their requests."""
        found: dict[str, OpenBatch] = {}
        try:
            make_private(self._folder)
            for note in sorted(self._folder.glob("*.json")):
                batch = msgspec.json.decode(note.read_bytes(), type=OpenBatch)
                if batch.address == self._caller.server.address:
                    found |= dict.fromkeys(batch.keys, batch)
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(
                f"the notes of open batches in {self._folder} cannot be read: {error}; their requests are "
                "paid for: move them away only to pay again"
            ) from error
        return found

    async def _send(self, part: _Part) -> None:
        batch = OpenBatch(
            name=f"vidence-{uuid4().hex}",
            address=self._caller.server.address,
            keys=tuple(part.keys),
            began_s=self._clock(),
        )
        with part.file:
            part.file.flush()
            with mmap.mmap(part.file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
                file_id = await self._patiently(lambda: self._upload(batch, lines))
        self._note(batch)  # before it is made: what is made and not noted would be paid twice
        try:
            made = await self._made(batch, file_id)
        except AccessError:
            self._forget(batch)
            raise
        batch = msgspec.structs.replace(batch, id=made)
        self._note(batch)
        self._say(f"batch {made} of {len(batch.keys):,} requests is sent")
        await self._take_up(batch)

    async def _made(self, batch: OpenBatch, file_id: str) -> str:
        body = msgspec.json.encode(
            {
                "input_file_id": file_id,
                "endpoint": f"/v1{self._path}",
                "completion_window": "24h",
                "metadata": {"vidence": batch.name},
            }
        )
        while True:
            try:
                return (await self._told(_Batch, "/batches", [body])).id
            except TransientModelError as error:  # it may have been made all the same
                self._say(str(error))
                await anyio.sleep(self._poll_s)
                if found := await self._patiently(lambda: self._found(batch)):
                    return found

    async def _take_up(self, batch: OpenBatch) -> None:
        """Wait for a batch and read its answers; what has none is asked again in the next pass."""
        if not batch.id:
            await anyio.sleep(max(0.0, batch.began_s + self._poll_s - self._clock()))  # until it is listed
            if not (found := await self._patiently(lambda: self._found(batch))):
                self._forget(batch)  # it was never made
                return
            batch = msgspec.structs.replace(batch, id=found)
            self._note(batch)
        told = await self._ended(batch)
        if told is None:
            self._say(
                f"batch {batch.id} is not known at {batch.address} any more; its requests are sent again"
            )
            self._forget(batch)
            return
        n_before = len(self._answers)
        for file_id in filter(None, (told.output_file_id, told.error_file_id)):
            content = await self._patiently(partial(self._call, f"/files/{file_id}/content"))
            for line in content.body.splitlines():
                self._take(line)
        if len(self._answers) == n_before:
            self._forget(batch)
            reasons = told.errors.data if told.errors is not None else []
            why = "; ".join(r.message or r.code or "" for r in reasons[:3]) or "no reason given"
            raise AccessError(
                f"{batch.address} answered nothing of batch {batch.id} ({visible(told.status)}): "
                f"{visible(self._caller.server.hide_key(why))}"
            )
        for key in batch.keys:
            self._open.pop(key, None)
        self._read.append(batch)

    async def _ended(self, batch: OpenBatch) -> _Batch | None:
        """The batch when it has ended; None where the server does not know it."""
        while True:
            told = await self._patiently(lambda: self._look(batch))
            if told is None or told.status in _ENDED:
                return told
            counts = told.request_counts or _Counts()
            done = counts.completed + counts.failed
            self._say(f"batch {batch.id}: {done:,} of {len(batch.keys):,} done ({visible(told.status)})")
            await anyio.sleep(self._poll_s)

    async def _look(self, batch: OpenBatch) -> _Batch | None:
        answer = await self._call(f"/batches/{batch.id}")
        return None if answer.status == _GONE else self._decoded(_Batch, answer)

    def _take(self, text: bytes) -> None:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):  # its request stays without an answer
            line = msgspec.json.decode(text, type=_Line)
            if line.response is not None and line.response.status_code:
                self._answers[line.custom_id] = Answer(
                    status=line.response.status_code, headers={}, body=bytes(line.response.body)
                )

    async def _found(self, batch: OpenBatch) -> str:
        there = (await self._told(_Batches, "/batches?limit=100")).data
        return next((b.id for b in there if (b.metadata or {}).get("vidence") == batch.name), "")

    async def _upload(self, batch: OpenBatch, lines: mmap.mmap) -> str:
        mark = batch.name
        head = (
            f'--{mark}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--{mark}\r\n'
            f'content-disposition: form-data; name="file"; filename="{mark}.jsonl"\r\n'
            "content-type: application/jsonl\r\n\r\n"
        )
        with memoryview(lines) as content:
            pieces: list[bytes | memoryview] = [head.encode(), content, f"\r\n--{mark}--\r\n".encode()]
            return (await self._told(_File, "/files", pieces, boundary=mark)).id

    async def _patiently(self, call: Callable[[], Awaitable[ReadT]]) -> ReadT:
        """What a call gives, tried again for as long as it may pass: giving up would pay twice."""
        while True:
            try:
                return await call()
            except TransientModelError as error:
                self._say(str(error))
                await anyio.sleep(self._poll_s)

    async def _told(
        self, kind: type[ReadT], route: str, pieces: Sequence[Piece] = (), *, boundary: str = ""
    ) -> ReadT:
        return self._decoded(kind, await self._call(route, pieces, boundary=boundary))

    def _decoded(self, kind: type[ReadT], answer: Answer) -> ReadT:
        return decode(answer, self._caller.server, kind=kind, what="batch", api="an API with batches")

    async def _call(self, route: str, pieces: Sequence[Piece] = (), *, boundary: str = "") -> Answer:
        method = "POST" if pieces else "GET"
        headers = {"content-type": f"multipart/form-data; boundary={boundary}"} if boundary else None
        with self._caller.within(_CALL_S + sum(map(len, pieces)) / _SLOWEST_BYTES_S):
            answer = await self._caller.send(method, route, pieces, headers=headers)
        if answer.is_success or (answer.status == _GONE and route.startswith("/batches/")):
            return answer
        error = fault(answer, self._caller.server)
        if method == "POST" and isinstance(error, RejectedRequestError):
            raise AccessError(f"no batch can be made with {route}: {error}; leave --batch out") from error
        raise error

    def _note(self, batch: OpenBatch) -> None:
        note = self._folder / f"{batch.name}.json"
        self._open |= dict.fromkeys(batch.keys, batch)
        try:
            write_whole(note, msgspec.json.encode(batch), mode=PRIVATE, is_durable=True)
        except OSError as error:
            raise StoreError(f"the batch cannot be noted in {note}: {error}") from error

    def _forget(self, batch: OpenBatch) -> None:
        for key in batch.keys:
            self._open.pop(key, None)
        (self._folder / f"{batch.name}.json").unlink(missing_ok=True)
