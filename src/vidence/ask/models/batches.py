"""Requests sent in batches: answered within a day, at half the price.

One pass over the questions writes requests to files (`Batches.answer`), a wave sends them and waits
(`Batches.wave`), and the next pass reads the answers. No frames are held in memory meanwhile.
"""

import hashlib
import mmap
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TypeVar
from uuid import uuid4

import anyio
import msgspec

from vidence.ask.models.answers import Answer
from vidence.ask.models.batch_apis import BatchApi, BatchState, OpenBatch
from vidence.errors import AccessError, LaterError, RejectedRequestError, StoreError, TransientModelError
from vidence.media.whole import PRIVATE, make_private, write_whole

MOST_TRIES = 3
"""Most batches that a request without a final answer is put into."""
ReadT = TypeVar("ReadT")


@dataclass
class _Part:
    """Requests that will form one batch, in an unnamed file."""

    file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    keys: list[str] = field(default_factory=list)
    n_bytes: int = 0

    def add(self, key: str, pieces: Sequence[bytes], n_bytes: int) -> None:
        try:
            self.file.writelines(pieces)
        except OSError as error:
            raise StoreError(f"cannot write the requests of a batch: {error.strerror}; make room") from error
        self.keys.append(key)
        self.n_bytes += n_bytes


class Batches:
    """Collects requests, sends them as batches, waits, and returns their answers.

    A batch is recorded in `folder` before it is created, so that a process that asks the same after this one
    was killed waits for the same batch.

    Args:
        api: the protocol.
        server: its address and path, which distinguish servers and models.
        folder: for the records.
        say: called with the progress of a batch every `poll_s`.
        poll_s: seconds between checks of a batch.
        clock: the time in seconds.
    """

    def __init__(
        self,
        api: BatchApi,
        *,
        server: str,
        folder: Path,
        say: Callable[[str], None],
        poll_s: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._api, self._server, self._folder = api, server, folder
        self._say, self._poll_s, self._clock = say, poll_s, clock
        self._parts: list[_Part] = []
        self._collected: set[str] = set()
        self._n_sent = Counter[str]()
        self._wanted: dict[str, OpenBatch] = {}
        self._answers: dict[str, Answer] = {}
        self._read: list[OpenBatch] = []
        self._foreign: set[str] = set()
        self._open = self._noted()

    def answer(self, body: Sequence[bytes], *, sample: int) -> Answer:
        """Return a request's answer if a batch has delivered it; each answer is returned once.

        Raises:
            LaterError: the next wave delivers it.
            RejectedRequestError: it exceeds the size limit, or had no answer in `MOST_TRIES` batches.
            StoreError: it cannot be stored until then.
        """
        digest = hashlib.sha256(f"{self._server} {sample} ".encode())
        for piece in body:
            digest.update(piece)
        key = digest.hexdigest()
        if (answer := self._answers.pop(key, None)) is not None:
            return answer
        if (batch := self._open.get(key)) is not None:
            self._wanted[batch.name] = batch
        elif key not in self._collected:
            if self._n_sent[key] == MOST_TRIES:
                raise RejectedRequestError(f"the request had no answer in {MOST_TRIES} batches")
            self._collect(key, body)
        raise LaterError

    def _collect(self, key: str, body: Sequence[bytes]) -> None:
        api, line = self._api, self._api.line(key, body)
        n_bytes = sum(map(len, line)) + 1
        if n_bytes > api.most_each:
            raise RejectedRequestError(
                f"the request has {n_bytes / 1e6:.1f} MB, in a batch it may have {api.most_each / 1e6:g} MB; "
                "ask it without --batch, or with fewer or smaller frames"
            )
        last = self._parts[-1] if self._parts else None
        if last is None or last.n_bytes + n_bytes > api.most_bytes or len(last.keys) == api.most_asks:
            last = _Part()
            self._parts.append(last)
        self._n_sent[key] += 1
        last.add(key, [*([api.separator] if last.keys else ()), *line], n_bytes)
        self._collected.add(key)

    async def wave(self) -> int:
        """Send the collected requests, and wait for all batches; return the number of requests.

        Raises:
            AccessError: the server rejects a batch, or answers none of it.
            StoreError: a batch cannot be recorded.
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
        """Delete the records of batches whose answers this pass has stored."""
        for batch in self._read:
            self._forget(batch)
        self._read.clear()
        self._answers.clear()

    async def close(self) -> None:
        """Close the connections; sent batches continue at the server, and their records stay."""
        for part in self._parts:
            part.file.close()
        await self._api.close()

    def _noted(self) -> dict[str, OpenBatch]:
        """Return earlier processes' batches at this server, by request key."""
        values: dict[str, OpenBatch] = {}
        try:
            make_private(self._folder)
            for note in sorted(self._folder.glob("*.json")):
                batch = msgspec.json.decode(note.read_bytes(), type=OpenBatch)
                if batch.address == self._server:
                    values |= dict.fromkeys(batch.keys, batch)
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(
                f"the notes of open batches in {self._folder} cannot be read: {error}; their requests are "
                "paid for: move them away only to pay again"
            ) from error
        return values

    async def _send(self, part: _Part) -> None:
        batch = OpenBatch(
            name=f"vidence-{uuid4().hex}", address=self._server, keys=tuple(part.keys), began_s=self._clock()
        )
        with part.file:
            part.file.flush()
            # Closed with the last reference: a request that is broken off holds parts of it for a while.
            content = memoryview(mmap.mmap(part.file.fileno(), 0, access=mmap.ACCESS_READ))
        source = await self._patiently(lambda: self._api.upload(content, batch.name))
        self._note(batch)  # before it is made: what is made and not noted would be paid twice
        try:
            text = await self._made(batch, source, content)
        except AccessError:
            self._forget(batch)
            raise
        batch = msgspec.structs.replace(batch, id=text)
        self._note(batch)
        self._say(f"batch {text} of {len(batch.keys):,} requests is sent")
        await self._take_up(batch)

    async def _made(self, batch: OpenBatch, source: str, content: memoryview) -> str:
        while True:
            try:
                return await self._api.create(source, content, batch.name)
            except TransientModelError as error:  # it may have been made all the same
                self._say(str(error))
                await anyio.sleep(self._poll_s)
                if text := await self._found(batch):
                    return text

    async def _found(self, batch: OpenBatch) -> str:
        known = {open_batch.id for open_batch in self._open.values()} | self._foreign
        return await self._patiently(lambda: self._api.find(batch, known=known))

    async def _take_up(self, batch: OpenBatch) -> None:
        """Wait for a batch and read its answers; unanswered requests are sent again in the next pass."""
        if not batch.id:
            await anyio.sleep(max(0.0, batch.began_s + self._poll_s - self._clock()))  # until it is listed
            if not (text := await self._found(batch)):
                self._forget(batch)  # it was never made
                return
            batch = msgspec.structs.replace(batch, id=text)
            self._note(batch)
        state = await self._ended(batch)
        if state is None:
            self._say(f"the server no longer knows batch {batch.id}; its requests are sent again")
            self._forget(batch)
            return
        keys, answers = set[str](), dict[str, Answer]()
        for route in state.results:
            for line in await self._patiently(partial(self._api.results, route)):
                with suppress(msgspec.DecodeError, UnicodeDecodeError):  # it stays without an answer
                    key, answer = self._api.result(line)
                    keys.add(key)
                    if answer is not None:
                        answers[key] = answer
        if keys and keys.isdisjoint(batch.keys):  # taken for ours by its time and size
            self._say(f"batch {batch.id} holds requests of another run; looking for ours again")
            self._foreign.add(batch.id)
            await self._take_up(msgspec.structs.replace(batch, id=""))
            return
        if answers.keys().isdisjoint(batch.keys):
            self._forget(batch)
            raise AccessError(f"no request of batch {batch.id} was answered at {batch.address}: {state.why}")
        self._answers |= answers
        for key in batch.keys:
            self._open.pop(key, None)
        self._read.append(batch)

    async def _ended(self, batch: OpenBatch) -> BatchState | None:
        """Return the batch once it has ended; None if the server does not know it."""
        while True:
            state = await self._patiently(lambda: self._api.state(batch.id))
            if state is None or state.is_ended:
                return state
            self._say(f"batch {batch.id}: {state.n_done:,} of {len(batch.keys):,} done ({state.why})")
            await anyio.sleep(self._poll_s)

    async def _patiently(self, call: Callable[[], Awaitable[ReadT]]) -> ReadT:
        """Return a call's result, retrying transient errors: giving up would pay twice."""
        while True:
            try:
                return await call()
            except TransientModelError as error:
                self._say(str(error))
                await anyio.sleep(self._poll_s)

    def _note(self, batch: OpenBatch) -> None:
        note = self._folder / f"{batch.name}.json"
        self._open |= dict.fromkeys(batch.keys, batch)
        try:
            write_whole(note, msgspec.json.encode(batch), mode=PRIVATE, is_durable=True)
        except OSError as error:
            raise StoreError(f"the batch cannot be noted in {note}: {error.strerror}") from error

    def _forget(self, batch: OpenBatch) -> None:
        for key in batch.keys:
            self._open.pop(key, None)
        (self._folder / f"{batch.name}.json").unlink(missing_ok=True)
