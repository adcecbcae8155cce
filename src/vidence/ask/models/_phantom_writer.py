"""``phantom:writer``: writes the cards of the figures of a drawn street from their pictures."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from vidence.ask.phantom.looks import look_of
from vidence.contracts import Request
from vidence.errors import MediaError, RejectedRequestError
from vidence.media.encode import decode_image
from vidence.records import ImagePart, Reply

NAME: Final = "writer"
VERSION: Final = 1
_PATH = (
    "They cross the frame on a straight line. No stop is made on the way. "
    "Others pass close by without any contact."
)
_IS_PATH = re.compile(r"card_path", re.IGNORECASE)
_NOTHING = "There is nobody to be seen."


class CardWriter:
    """Says what a figure looks like by the colour of its coat, and that it walks straight on."""

    looks = True
    by_item = False
    max_in_flight: int | None = None

    def __init__(self) -> None:
        self.identity = f"phantom:{NAME} v{VERSION}"

    async def reply(self, request: Request) -> Reply:
        """The words of the look in the pictures; for a card of paths the words of a straight way.

        Raises:
            RejectedRequestError: an image that is none, or one whose bytes were not sent.
        """
        parts = [part for part in request.prompt.parts if isinstance(part, ImagePart)]
        pictures = await anyio.to_thread.run_sync(_decoded, parts, request.images)
        text = _NOTHING
        if pictures:
            is_path = _IS_PATH.search(request.prompt.template) is not None
            text = _PATH if is_path else look_of(pictures).words
        words = re.findall(r"\s*\S+", text)
        limit = request.sampling.max_tokens
        is_cut = limit is not None and limit < len(words)
        return Reply(
            text="".join(words[:limit]) if is_cut else text,
            finish="length" if is_cut else "stop",
            model=f"phantom:{NAME}",
        )

    async def close(self) -> None:
        """Nothing to let go of."""


def _decoded(parts: Sequence[ImagePart], images: Mapping[str, bytes]) -> list[NDArray[np.uint8]]:
    found = []
    for part in parts:
        if part.digest not in images:
            raise RejectedRequestError(f"the bytes of image {part.digest[:12]} were not sent")
        try:
            found.append(decode_image(images[part.digest]))
        except MediaError as error:
            raise RejectedRequestError(f"image {part.digest[:12]} cannot be read: {error}") from error
    return found
