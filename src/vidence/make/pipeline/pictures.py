"""Pictures that cards are written from, stored by content hash."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.errors import MediaError, StoreError, UsageError, cause
from vidence.make.pipeline.material import Crop
from vidence.media.encode import Encoding, Size, encode
from vidence.media.whole import write_whole

PICTURES: Final = "pictures"  # in the folder of a set
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class PictureFolder:
    """Encoded pictures under `root`, named by SHA-256; each is stored once.

    Several processes may write concurrently. `get` is what
    `engine.jobs.Jobs` wants as pictures.
    """

    root: Path

    def put(self, data: bytes) -> str:
        """Store a picture and return its digest.

        Raises:
            StoreError: the folder cannot be written.
        """
        digest = hashlib.sha256(data).hexdigest()
        path = self.path(digest)
        try:
            if not path.is_file() or path.stat().st_size != len(data):
                write_whole(path, data)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be written ({cause(error)}); free some space or choose another folder"
            ) from error
        return digest

    def keep(self, image: NDArray[np.uint8], *, frame_index: int, quality: int, track_id: str = "") -> Crop:
        """Encode part of a frame as JPEG and store it; errors as for `put`."""
        encoded = encode(image, Encoding(size=Size(), quality=quality))
        return Crop(
            track_id=track_id,
            frame_index=frame_index,
            digest=self.put(encoded.data),
            width_px=encoded.width_px,
            height_px=encoded.height_px,
            media_type=encoded.media_type,
        )

    def get(self, digest: str) -> bytes:
        """The bytes of a picture.

        Raises:
            MediaError: it does not exist, or its bytes are not those that were kept.
        """
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise MediaError(
                f"the picture {digest[:12]} is not in {self.root} ({cause(error)}); make the crops again"
            ) from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise MediaError(f"{path} is damaged; delete it and make the crops again")
        return data

    def holds(self, crops: Iterable[Crop]) -> bool:
        """Whether all of these pictures are stored; crops without a digest have none."""
        return all(self.path(crop.digest).is_file() for crop in crops if crop.digest)

    def path(self, digest: str) -> Path:
        """Where a picture is or would be stored.

        Raises:
            UsageError: that is no digest.
        """
        if _DIGEST.fullmatch(digest) is None:
            raise UsageError(f"{digest!r} is no digest of a picture; expected 64 hexadecimal digits")
        return self.root / digest[:2] / digest
