"""Copies of study videos for participants: without metadata, under random names."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from vidence.errors import StoreError, UsageError, cause
from vidence.media.files import located
from vidence.media.silent import write_untitled
from vidence.records import Item, Media
from vidence.study.study import Study

_PLAYED = ("whole", "once")


def write_videos(folder: Path, study: Study, items: Sequence[Item]) -> None:
    """Write ``videos/HASH.mp4`` for each video that a phase plays; those that are there stay.

    Args:
        folder: that of the study, from which the media of its items are named.
        study: its settings.
        items: all that were drawn.

    Raises:
        MediaError: a video whose container cannot be written again; the message says what to do.
        StoreError: a copy cannot be written.
    """
    if not any(phase.condition in _PLAYED for phase in study.phases):
        return
    for medium in {medium: None for item in items for medium in item.media if medium.kind == "video"}:
        place = medium_file(folder, medium)
        if not place.exists():
            try:
                write_untitled(_original(folder, medium), place)
            except OSError as error:
                raise StoreError(f"{place} cannot be written: {cause(error)}") from error


def medium_file(folder: Path, medium: Media) -> Path:
    """Return the file that participants receive: the copy of a video, otherwise the file itself."""
    original = _original(folder, medium)
    if medium.kind != "video":
        return original
    name = hashlib.sha256(str(medium.path).encode()).hexdigest()[:16]
    return folder / "videos" / f"{name}{original.suffix.lower()}"


def _original(folder: Path, medium: Media) -> Path:
    place = located(folder, medium)
    if not isinstance(place, Path):
        raise UsageError("media at URLs cannot be shown to people; download them and use the files")
    return place
