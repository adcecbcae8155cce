"""Read foreign files up to a size limit: a link among them may name an endless device."""

import errno
import io
from pathlib import Path

from vidence.media.gzipped import MOST_BYTES


def read_bounded(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        OSError: it cannot be read, or is larger than `MOST_BYTES`.
    """
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it holds more than {MOST_BYTES / 2**20:g} MB", str(path))
    return content


def text_bounded(path: Path) -> str:
    """Return the text of a UTF-8 file, with universal newlines.

    Raises:
        OSError: it cannot be read, or is larger than `MOST_BYTES`.
        UnicodeDecodeError: it is not UTF-8.
    """
    return io.TextIOWrapper(io.BytesIO(read_bounded(path)), "utf-8").read()
