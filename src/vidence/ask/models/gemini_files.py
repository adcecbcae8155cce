"""Whole videos in the Gemini File API: uploaded once, awaited, and deleted at the end."""

import logging
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final, TypeVar

import anyio
import anyio.to_thread
import msgspec
from msgspec import Meta

from vidence.ask.models.answers import Answer, decode
from vidence.ask.models.http import Caller, HttpSettings, upload_headers, upload_route
from vidence.errors import ModelError, RejectedRequestError, TransientModelError, cause
from vidence.records import VideoPart
from vidence.text import visible

ReadT = TypeVar("ReadT")

_log = logging.getLogger(__name__)

DEFAULT_VERSION = "v1"
BYTES_PER_MB = 10**6
PIECE_BYTES = 8 * 2**20  # the protocol wants multiples of 256 KiB
OLD_BEFORE = timedelta(minutes=15)  # a file that expires this soon is uploaded again
MOST_DELETING_S = 20.0
MOST_DELETED_AT_ONCE = 8
OPTION: Final = "upload_timeout_s"


class UploadSettings(HttpSettings):
    """Options for the API's version and for uploads of whole videos."""

    api_version: Annotated[str, Meta(description="version of the API in the path; by default v1")] = ""
    inline_mb: Annotated[float, Meta(ge=0, description="videos up to this go in the request, in MB")] = 14.0
    upload_timeout_s: Annotated[float, Meta(gt=0, description="longest wait for an upload, in s")] = 600.0
    poll_s: Annotated[float, Meta(gt=0, description="seconds between questions whether it is ready")] = 2.0


class _Reason(msgspec.Struct):
    message: str | None = None


class _File(msgspec.Struct, rename="camel"):
    """A file as described by the API."""

    name: str = ""
    uri: str = ""
    state: str = ""
    expiration_time: datetime | None = None
    error: _Reason | None = None

    def is_old(self, now: datetime) -> bool:
        return self.expiration_time is not None and self.expiration_time - now < OLD_BEFORE


class _Sent(msgspec.Struct):
    file: _File


class Files:
    """The uploaded videos of a run. A file that several questions need at once is uploaded once."""

    def __init__(
        self, caller: Caller, settings: UploadSettings, *, fault: Callable[[Answer], ModelError]
    ) -> None:
        """`fault` converts an unsuccessful answer to an error."""
        self._caller = caller
        self._settings = settings
        self._version = settings.api_version or DEFAULT_VERSION
        self._fault = fault
        self._locks: dict[str, anyio.Lock] = {}
        self._uploaded: dict[str, _File] = {}
        self._unusable: dict[str, str] = {}
        self._names: list[str] = []

    async def is_sent_inline(self, part: VideoPart) -> bool:
        """Whether a video is small enough for the request.

        Raises:
            RejectedRequestError: the file cannot be read.
        """
        try:
            return (
                await anyio.to_thread.run_sync(Path(part.path).stat)
            ).st_size <= self._settings.inline_mb * BYTES_PER_MB
        except OSError as error:
            raise RejectedRequestError(f"the video {part.path} cannot be read: {cause(error)}") from error

    async def uri(self, part: VideoPart) -> str:
        """Return the URI of the uploaded file.

        Raises:
            RejectedRequestError: the file cannot be read, or the server cannot process it.
            TransientModelError, AccessError: as for any request.
        """
        async with self._locks.setdefault(part.digest, anyio.Lock()):
            if part.digest in self._unusable:
                raise RejectedRequestError(self._unusable[part.digest])
            file = self._uploaded.get(part.digest)
            if file is None or file.is_old(datetime.now(UTC)):
                # Kept before it is ready: the request after one that was given up does not upload again.
                file = self._uploaded[part.digest] = await self._upload(part)
            if file.state != "ACTIVE":
                file = self._uploaded[part.digest] = await self._ready(file, part)
            return file.uri

    async def _upload(self, part: VideoPart) -> _File:
        """Upload a file by the resumable protocol: request a URL, then send the bytes there."""
        try:
            with self._caller.within(self._settings.upload_timeout_s, option=OPTION):
                answer = await self._send_pieces(part)
        except OSError as error:
            raise RejectedRequestError(f"the video {part.path} cannot be read: {cause(error)}") from error
        if answer.headers.get("x-goog-upload-status") != "final":
            raise self._odd(part, "the upload is not finalized")
        sent = self._read(answer, _Sent).file
        if not sent.name or not sent.uri:
            raise self._odd(part, "a file without name or uri")
        self._names.append(sent.name)
        return sent

    def _read(self, answer: Answer, kind: type[ReadT]) -> ReadT:
        api = "an API with the File API of Gemini"
        return decode(answer, self._caller.server, kind=kind, what="uploaded file", api=api)

    def _odd(self, part: VideoPart, what: str) -> TransientModelError:
        address = self._caller.server.address
        return TransientModelError(
            f"{address} did not take the upload of {part.path} as the File API does: {what}"
        )

    async def _send_pieces(self, part: VideoPart) -> Answer:
        # Not the name of the file: it may say whose video it is.
        about = {"displayName": part.digest[:16], "mimeType": part.media_type}
        n_bytes = (await anyio.to_thread.run_sync(Path(part.path).stat)).st_size
        start = upload_headers(n_bytes, part.media_type)
        body = msgspec.json.encode({"file": {**about, "sizeBytes": n_bytes}})
        route = f"/upload/{self._version}/files"
        async with await anyio.open_file(part.path, "rb") as file:
            answer = self._good(await self._caller.send("POST", route, [body], headers=start))
            if not (route := upload_route(answer, self._caller.server.address)):
                raise self._odd(part, "no address for the upload was returned")
            offset = 0
            while True:
                piece = await file.read(PIECE_BYTES)
                is_last = offset + len(piece) >= n_bytes
                headers = {
                    "content-type": "application/octet-stream",
                    "x-goog-upload-command": "upload, finalize" if is_last else "upload",
                    "x-goog-upload-offset": str(offset),
                }
                answer = self._good(await self._caller.send("POST", route, [piece], headers=headers))
                offset += len(piece)
                if is_last or answer.headers.get("x-goog-upload-status") != "active":
                    return answer

    def _good(self, answer: Answer) -> Answer:
        if not answer.is_success:
            raise self._fault(answer)
        return answer

    async def _ready(self, sent: _File, part: VideoPart) -> _File:
        with self._caller.within(self._settings.upload_timeout_s, option=OPTION):
            file = await self._state(sent, part)
            while file.state not in {"ACTIVE", "FAILED"}:
                await anyio.sleep(self._settings.poll_s)
                file = await self._state(sent, part)
        if file.state == "ACTIVE":
            return file
        why = file.error.message if file.error is not None and file.error.message else "no reason given"
        self._unusable[part.digest] = f"the server could not process the video {part.path}: {why}"
        raise RejectedRequestError(self._unusable[part.digest])

    async def _state(self, sent: _File, part: VideoPart) -> _File:
        answer = await self._caller.send("GET", f"/{self._version}/{sent.name}")
        if not answer.is_success:
            error = self._fault(answer)
            if answer.status in {403, 404}:  # the key did for the upload, so it is the file that is lost
                del self._uploaded[part.digest]
                error = TransientModelError(f"{error} (the video is uploaded again at the next try)")
            raise error
        file = self._read(answer, _File)
        if file.state == "ACTIVE" and not (file.name and file.uri):
            raise self._odd(part, f"{sent.name} is ready, and is a file without name or uri")
        return file

    def forget_lost(self, answer: Answer, parts: Collection[VideoPart]) -> bool:
        """Whether an answer says that an uploaded file is gone; it is then uploaded again."""
        message = answer.body.decode(errors="replace")
        gone = [
            p.digest
            for p in parts
            if p.digest in self._uploaded and self._uploaded[p.digest].name.removeprefix("files/") in message
        ]
        for digest in gone:
            self._uploaded.pop(digest, None)
        return bool(gone)

    async def delete(self) -> None:
        """Delete uploaded files; failures are logged, since the server deletes files after two days."""
        names, self._names = self._names, []
        self._uploaded.clear()
        self._unusable.clear()
        self._locks.clear()
        at_once = anyio.CapacityLimiter(MOST_DELETED_AT_ONCE)

        async def drop(name: str) -> None:
            async with at_once:
                try:
                    with self._caller.within(MOST_DELETING_S):
                        self._good(await self._caller.send("DELETE", f"/{self._version}/{name}"))
                except ModelError as error:
                    words = "%s was not deleted (%s); the server drops it after two days"
                    _log.warning(words, visible(name), visible(str(error)))

        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(drop, name)
