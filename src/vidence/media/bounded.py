"""Files of others, read up to a size: a link among them may name a device that never ends."""

import errno
import io
from pathlib import Path

from vidence.media.gzipped import MOST_BYTES


def read_bounded(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        OSError: it cannot be read, or holds more than `MOST_BYTES`.
    """
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it holds more than {MOST_BYTES / 2**20:g} MB", str(path))
    return content


def text_bounded(path: Path) -> str:
    """The text of a file in UTF-8, with ends of lines as Python reads them.

    Raises:
        OSError: it cannot be read, or holds more than `MOST_BYTES`.
        UnicodeDecodeError: it is not UTF-8.
    """
    return io.TextIOWrapper(io.BytesIO(read_bounded(path)), "utf-8").read()
