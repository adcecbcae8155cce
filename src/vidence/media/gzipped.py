"""Decompress gzip in memory up to a size limit: a few bytes can expand a thousandfold."""

import gzip
import io
import zlib
from typing import Final

from vidence.errors import DataError

GZIP: Final = b"\x1f\x8b"  # how such a file begins
MOST_BYTES: Final = 1 << 29


def unpacked(data: bytes, label: str, *, most_bytes: int = MOST_BYTES) -> bytes:
    """Decompress a gzip file of one or more members.

    Args:
        data: the file.
        label: its name, for messages.
        most_bytes: the size limit.

    Raises:
        DataError: it is damaged, truncated, or too large.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(most_bytes + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{label} cannot be unpacked ({error}); copy or download it again") from error
    if len(content) > most_bytes:
        raise DataError(
            f"{label} unpacks to more than {most_bytes / 2**20:g} MB; if that is intended, "
            "unpack it (gunzip) and give the plain file"
        )
    return content
