"""Images and videos as data URLs: made once, and sent as they are.

A clip's frames go out with every question about it. Each is turned into base64 once; a body is the
words between its URLs and the URLs themselves, which are put together only as they are sent, half a
megabyte at a time.
"""

import base64
from collections import OrderedDict
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from vidence.contracts import Request
from vidence.errors import RejectedRequestError, UsageError
from vidence.records import ImagePart, VideoPart

DATA_URL_MEMORY_BYTES = 64 * 2**20
DATA_URL_MEMORY_REQUESTS = 128  # questions about a clip follow one another; its frames may go soon after
_MARK: Final = b"\x00"  # in JSON a string has it as \u0000, so that it cannot stand anywhere else


def _as_json_string(media_type: str, content: bytes) -> bytes:
    start = msgspec.json.encode(f"data:{media_type};base64,")[:-1]
    return b"".join((start, base64.b64encode(content), b'"'))


class DataUrls:
    """Data URLs as JSON strings, ready to be sent.

    Kept is what one of the last `max_requests` requests carried, up to `max_bytes`; so memory does
    not grow with the number of clips.
    """

    def __init__(
        self, max_bytes: int = DATA_URL_MEMORY_BYTES, max_requests: int = DATA_URL_MEMORY_REQUESTS
    ) -> None:
        self.max_bytes = max_bytes
        self.max_requests = max_requests
        self.n_bytes = 0
        self._n_requests = 0
        self._kept: OrderedDict[tuple[str, str], tuple[int, bytes]] = OrderedDict()  # least recent first
        self._reading_video = anyio.Lock()

    def next_request(self) -> None:
        """A request begins: forget what the last `max_requests` did not carry."""
        self._n_requests += 1
        while self._kept and next(iter(self._kept.values()))[0] < self._n_requests - self.max_requests:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        _, (_, oldest) = self._kept.popitem(last=False)
        self.n_bytes -= len(oldest)

    def _find(self, digest: str, media_type: str) -> bytes | None:
        found = self._kept.get((digest, media_type))
        if found is None:
            return None
        self._kept[digest, media_type] = (self._n_requests, found[1])
        self._kept.move_to_end((digest, media_type))
        return found[1]

    def _keep(self, digest: str, media_type: str, url: bytes) -> None:
        self._kept[digest, media_type] = (self._n_requests, url)
        self.n_bytes += len(url)
        while self.n_bytes > self.max_bytes:
            self._forget_oldest()

    def of_image(self, part: ImagePart, request: Request) -> bytes:
        """The URL of one image of the request.

        Raises:
            UsageError: the request does not carry the image that its prompt names.
        """
        url = self._find(part.digest, part.media_type)
        if url is None:
            if part.digest not in request.images:
                raise UsageError(
                    f"the prompt of item {request.item_id!r} names image {part.digest}, whose bytes "
                    "are not in Request.images; whoever makes the request must put them there"
                )
            url = _as_json_string(part.media_type, request.images[part.digest])
            self._keep(part.digest, part.media_type, url)
        return url

    async def of_video(self, part: VideoPart) -> bytes:
        """The URL of a whole file; read in a thread, once for questions that start together.

        Raises:
            RejectedRequestError: the file cannot be read.
        """
        async with self._reading_video:
            url = self._find(part.digest, part.media_type)
            if url is None:
                url = await anyio.to_thread.run_sync(_read_video, part)
                self._keep(part.digest, part.media_type, url)
        return url


def _read_video(part: VideoPart) -> bytes:
    try:
        return _as_json_string(part.media_type, Path(part.path).read_bytes())
    except OSError as error:
        raise RejectedRequestError(f"the video {part.path} cannot be read: {error}") from error


class Pieces:
    """The pieces of one body: JSON with a mark wherever a data URL belongs, then split at the marks.

    URLs must be marked in the order in which they stand in the body.
    """

    def __init__(self) -> None:
        self._urls: list[bytes] = []

    def mark(self, url: bytes) -> msgspec.Raw:
        """What stands for this URL in the body until it is split."""
        self._urls.append(url)
        return msgspec.Raw(_MARK)

    def of(self, body: dict[str, object]) -> tuple[bytes, ...]:
        """The body; the URLs in it are not copied."""
        between = msgspec.json.encode(body).split(_MARK)
        in_turns = chain.from_iterable(zip_longest(between, self._urls, fillvalue=b""))
        return tuple(filter(None, in_turns))
