"""The images of a request: their bytes, and their pixels."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vidence.contracts import Request
from vidence.errors import MediaError, RejectedRequestError, UsageError
from vidence.media.encode import decode_image
from vidence.records import ImagePart


def bytes_of(part: ImagePart, request: Request) -> bytes:
    """The bytes of one image of the request.

    Raises:
        UsageError: the request does not carry the image that its prompt names.
    """
    if part.digest not in request.images:
        raise UsageError(
            f"the prompt of item {request.item_id!r} names image {part.digest}, whose bytes are not in "
            "Request.images; whoever makes the request must put them there"
        )
    return request.images[part.digest]


def pixels_of(part: ImagePart, images: Mapping[str, bytes]) -> NDArray[np.uint8]:
    """One image as RGB, shape (height, width, 3), for models that look at pixels themselves.

    Raises:
        RejectedRequestError: an image that is none, or one whose bytes were not sent.
    """
    if part.digest not in images:
        raise RejectedRequestError(
            f"the bytes of image {part.digest[:12]} were not sent; expected them in the images of the request"
        )
    try:
        return decode_image(images[part.digest])
    except (MediaError, Image.DecompressionBombError) as error:
        raise RejectedRequestError(f"image {part.digest[:12]} cannot be read: {error}") from error
