"""Whole videos for the Gemini API: small ones in the request, others uploaded once and deleted at the end."""

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from vidence.ask.models._gemini_call import BadAnswer, Caller
from vidence.ask.models._gemini_reply import content_fault
from vidence.errors import ModelError, RejectedRequestError, TransientModelError
from vidence.records import Record, VideoPart

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import File

_log = logging.getLogger(__name__)

BYTES_PER_MB = 10**6
OLD_BEFORE = timedelta(minutes=15)  # a file that expires this soon is uploaded again
MOST_DELETING_S = 20.0
MOST_DELETED_AT_ONCE = 8
OPTION = "upload_timeout_s"


class FileRules(Record, kw_only=True):
    """How videos get to the server: `inline_mb` in MB of 10^6 bytes, the others in seconds."""

    inline_mb: float
    upload_timeout_s: float
    poll_s: float


@dataclass(frozen=True, kw_only=True)
class _Uploaded:
    name: str
    uri: str
    state: str
    expires_at: datetime | None

    def is_old(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at - now < OLD_BEFORE


class Videos:
    """Where the videos of one run are. A file that several questions need at once is uploaded once."""

    def __init__(self, caller: Caller, rules: FileRules) -> None:
        self._caller = caller
        self._rules = rules
        self._locks: dict[str, anyio.Lock] = {}
        self._uploaded: dict[str, _Uploaded] = {}
        self._unusable: dict[str, str] = {}
        self._names: list[str] = []

    async def source(self, part: VideoPart) -> bytes | str:
        """The bytes of a small video, the address of the uploaded file of any other.

        Raises:
            RejectedRequestError: the file cannot be read, or the server cannot make use of it.
            TransientModelError, AccessError: as any request.
        """
        path = Path(part.path)
        try:
            n_bytes = (await anyio.to_thread.run_sync(path.stat)).st_size
            if n_bytes <= self._rules.inline_mb * BYTES_PER_MB:
                return await anyio.to_thread.run_sync(path.read_bytes)
        except OSError as error:
            raise RejectedRequestError(f"the video {part.path} cannot be read: {error}") from error
        async with self._locks.setdefault(part.digest, anyio.Lock()):
            return await self._address(part)

    async def _address(self, part: VideoPart) -> str:
        if part.digest in self._unusable:
            raise RejectedRequestError(self._unusable[part.digest])
        found = self._uploaded.get(part.digest)
        if found is None or found.is_old(datetime.now(UTC)):
            # Kept before it is ready: who takes over from a request that was given up does not upload again.
            found = self._uploaded[part.digest] = await self._upload(part)
        if found.state != "ACTIVE":
            found = self._uploaded[part.digest] = await self._ready(found, part)
        return found.uri

    async def _upload(self, part: VideoPart) -> _Uploaded:
        from google.genai import types

        config = types.UploadFileConfig(mime_type=part.media_type, display_name=part.digest[:16])

        async def send(client: "Client") -> "File":
            # Not by its path, whose last part would be sent along: it may say whose video it is.
            async with await anyio.open_file(part.path, "rb") as file:
                return await client.aio.files.upload(file=file.wrapped, config=config)

        address = self._caller.server.address
        try:
            sent = self._read(await self._caller.within(self._rules.upload_timeout_s, send, option=OPTION))
        except BadAnswer as bad:
            raise content_fault(bad.answer, self._caller.server) from bad
        except OSError as error:
            raise RejectedRequestError(f"the video {part.path} cannot be read: {error}") from error
        except (KeyError, ValueError) as error:
            raise TransientModelError(
                f"{address} did not take the upload of {part.path} as the File API does: "
                f"{type(error).__name__}: {error}"
            ) from error
        self._names.append(sent.name)
        return sent

    async def _ready(self, sent: _Uploaded, part: VideoPart) -> _Uploaded:
        async def ask(client: "Client") -> "File":
            file: File = await client.aio.files.get(name=sent.name)
            while _state(file) not in {"ACTIVE", "FAILED"}:
                await anyio.sleep(self._rules.poll_s)
                file = await client.aio.files.get(name=sent.name)
            return file

        try:
            file = await self._caller.within(self._rules.upload_timeout_s, ask, option=OPTION)
            if _state(file) == "ACTIVE":
                return self._read(file)
        except BadAnswer as bad:
            error = content_fault(bad.answer, self._caller.server)
            if bad.answer.status in {403, 404}:  # the key did for the upload, so it is the file that is lost
                del self._uploaded[part.digest]
                error = TransientModelError(f"{error} (the video is uploaded again at the next try)")
            raise error from bad
        except ValueError as error:
            raise TransientModelError(
                f"{self._caller.server.address} says of {sent.name} what the File API does not: {error}"
            ) from error
        why = file.error.message if file.error is not None and file.error.message else "no reason given"
        self._unusable[part.digest] = f"the server could not process the video {part.path}: {why}"
        raise RejectedRequestError(self._unusable[part.digest])

    def _read(self, file: "File") -> _Uploaded:
        if not file.name or not file.uri:
            raise ValueError(f"a file without name or uri: {file}")
        return _Uploaded(name=file.name, uri=file.uri, state=_state(file), expires_at=file.expiration_time)

    def forget_lost(self, bad: BadAnswer, parts: list[VideoPart]) -> bool:
        """Whether an answer says that an uploaded file is gone; it is then uploaded again."""
        said = bad.answer.body.decode(errors="replace")
        gone = [
            p.digest
            for p in parts
            if p.digest in self._uploaded and self._uploaded[p.digest].name.removeprefix("files/") in said
        ]
        for digest in gone:
            self._uploaded.pop(digest, None)
        return bool(gone)

    async def delete(self) -> None:
        """Delete what was uploaded; what cannot be deleted is logged, the server drops it after two days."""
        names, self._names = self._names, []
        self._uploaded.clear()
        self._unusable.clear()
        self._locks.clear()
        at_once = anyio.CapacityLimiter(MOST_DELETED_AT_ONCE)

        async def drop(name: str) -> None:
            async def delete(client: "Client") -> None:
                await client.aio.files.delete(name=name)

            async with at_once:
                try:
                    await self._caller.within(MOST_DELETING_S, delete)
                except (BadAnswer, ModelError, ValueError) as error:
                    _log.warning("%s was not deleted (%s); the server drops it after two days", name, error)

        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(drop, name)


def _state(file: "File") -> str:
    return file.state.value if file.state is not None else ""
