"""Files that makers read and write: records made elsewhere, one a line; files of the set."""

from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

import msgspec

from vidence.errors import DataError, StoreError
from vidence.media.cache import write_whole
from vidence.records import Record

RecordT = TypeVar("RecordT", bound=Record)


def read_lines(
    path: Path, kind: type[RecordT], *, about: str, known: Collection[str], video_id: str
) -> list[RecordT]:
    """The records of a file.

    Args:
        path: the file; blank lines are passed over.
        kind: what a line holds.
        about: the field that says what a record is about, such as ``track_id``.
        known: the values that this field may have.
        video_id: for messages.

    Raises:
        DataError: the file cannot be read, or a line is no such record, or is about something else.
    """
    decoder = msgspec.json.Decoder(kind)
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"the file {path} cannot be read: {error.strerror}") from error
    found: list[RecordT] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = decoder.decode(line)
        except msgspec.DecodeError as error:
            raise DataError(f"{path}:{number}: {error}; expected a {kind.__name__} as JSON") from error
        value = getattr(record, about)
        if value not in known:
            listed = ", ".join(sorted(known)[:10]) or "none"
            raise DataError(
                f"{path}:{number}: {about} is {value!r}, which the video {video_id} does not have; it has "
                f"{listed}"
            )
        found.append(record)
    return found


def write_file(path: Path, content: bytes) -> None:
    """Write a file of the set, whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        write_whole(path, content)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
