"""Images and videos of a request: bytes, pixels, and base64 sent without copying.

A clip's frames are sent with every question about it. Each is base64-encoded once; a body consists of the
text between media and the media, joined only while sending, half a megabyte at a time.
"""

import base64
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vidence.contracts import Request
from vidence.errors import MediaError, RejectedRequestError, UsageError, cause
from vidence.media.encode import decode_image
from vidence.records import ImagePart, VideoPart

MEMORY_BYTES = 64 * 2**20
MEMORY_REQUESTS = 128  # questions about a clip follow one another; its frames may go soon after
_MARK: Final = b"\x00"  # in JSON a string has it as \u0000, so that it cannot stand anywhere else
MARKED: Final = msgspec.Raw(_MARK)


def bytes_of(part: ImagePart, request: Request) -> bytes:
    """Return the bytes of an image of the request.

    Raises:
        UsageError: the request lacks an image that its prompt names.
    """
    if part.digest not in request.images:
        raise UsageError(
            f"the prompt of item {request.item_id!r} names image {part.digest}, whose bytes are not in "
            "Request.images; expected the bytes of every image of the prompt"
        )
    return request.images[part.digest]


def pixels_of(part: ImagePart, images: Mapping[str, bytes]) -> NDArray[np.uint8]:
    """Decode an image to RGB, shape (height, width, 3), for models that process pixels themselves.

    Raises:
        RejectedRequestError: not an image, or its bytes were not sent.
    """
    if part.digest not in images:
        raise RejectedRequestError(
            f"the bytes of image {part.digest[:12]} were not sent; expected them in the images of the request"
        )
    try:
        return decode_image(images[part.digest])
    except (MediaError, Image.DecompressionBombError) as error:
        raise RejectedRequestError(f"image {part.digest[:12]} cannot be read: {error}") from error


@dataclass(kw_only=True, eq=False)
class EncodedMedia:
    """Images and videos as JSON strings ready to send: data URLs, or bare base64.

    If a protocol lists images in a `form` of its own, with `MARKED` in place of the string, an image is
    stored as that form with a comma. The cache holds what the last `max_requests` requests contained, up to
    `max_bytes`; memory does not grow with the number of clips.
    """

    as_url: bool = True
    form: object = field(default_factory=lambda: MARKED)
    max_bytes: int = MEMORY_BYTES
    max_requests: int = MEMORY_REQUESTS
    n_bytes: int = field(default=0, init=False)
    _n_requests: int = field(default=0, init=False)
    # The least recent first.
    _kept: OrderedDict[tuple[str, str], tuple[int, bytes]] = field(default_factory=OrderedDict, init=False)
    _reading_video: anyio.Lock = field(default_factory=anyio.Lock, init=False)

    def __post_init__(self) -> None:
        before, behind = msgspec.json.encode(self.form).split(_MARK)
        self._around = (before, behind + b"," if behind else b"")

    def next_request(self) -> None:
        """Start a request: drop what the last `max_requests` did not contain."""
        self._n_requests += 1
        while self._kept and next(iter(self._kept.values()))[0] < self._n_requests - self.max_requests:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        _, (_, oldest) = self._kept.popitem(last=False)
        self.n_bytes -= len(oldest)

    def _encode(self, media_type: str, content: bytes, around: tuple[bytes, bytes] = (b"", b"")) -> bytes:
        start = msgspec.json.encode(f"data:{media_type};base64,")[:-1] if self.as_url else b'"'
        return b"".join((around[0], start, base64.b64encode(content), b'"', around[1]))

    def _find(self, digest: str, media_type: str) -> bytes | None:
        values = self._kept.get((digest, media_type))
        if values is None:
            return None
        self._kept[digest, media_type] = (self._n_requests, values[1])
        self._kept.move_to_end((digest, media_type))
        return values[1]

    def _keep(self, digest: str, media_type: str, text: bytes) -> None:
        self._kept[digest, media_type] = (self._n_requests, text)
        self.n_bytes += len(text)
        while self.n_bytes > self.max_bytes:
            self._forget_oldest()

    def of_image(self, part: ImagePart, request: Request) -> bytes:
        """Return an image of the request.

        Raises:
            UsageError: the request lacks an image that its prompt names.
        """
        text = self._find(part.digest, part.media_type)
        if text is None:
            text = self._encode(part.media_type, bytes_of(part, request), self._around)
            self._keep(part.digest, part.media_type, text)
        return text

    async def of_video(self, part: VideoPart) -> bytes:
        """Return a whole file; read in a thread, once for concurrent questions.

        Raises:
            RejectedRequestError: the file cannot be read.
        """
        async with self._reading_video:
            text = self._find(part.digest, part.media_type)
            if text is None:
                text = await anyio.to_thread.run_sync(self._read_video, part)
                self._keep(part.digest, part.media_type, text)
        return text

    def _read_video(self, part: VideoPart) -> bytes:
        try:
            return self._encode(part.media_type, Path(part.path).read_bytes())
        except OSError as error:
            raise RejectedRequestError(f"the video {part.path} cannot be read: {cause(error)}") from error


class Pieces:
    """The pieces of a body: JSON with a mark per image and video, then split at the marks.

    Mark media in the order in which they appear in the body.
    """

    def __init__(self) -> None:
        self._encoded: list[bytes] = []

    def mark(self, text: bytes) -> msgspec.Raw:
        """Return the placeholder for this text until the body is split."""
        self._encoded.append(text)
        return MARKED

    def of(self, body: dict[str, object]) -> tuple[bytes, ...]:
        """Return the body; encoded media are not copied."""
        first, *between = msgspec.json.encode(body).split(_MARK)
        pieces = [first]
        for text, behind in zip(self._encoded, between, strict=True):
            if not text.endswith(b","):
                pieces += (text, behind)
            elif behind.startswith(b","):
                pieces += (text, behind[1:])
            else:  # the last of a list
                pieces += (text[:-1], behind)
        return tuple(filter(None, pieces))
