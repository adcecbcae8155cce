"""Files that makers read and write: cards that people wrote; files of the set."""

from collections.abc import Callable, Sequence
from pathlib import Path

from vidence.errors import DataError, StoreError
from vidence.make.cards.card_files import FromFile, MadeT, read_cards, read_scene_cards
from vidence.make.pipeline.material import Card, SceneCard
from vidence.media.cache import write_whole
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import TrackedVideo


def cards_of_people(path: Path, tracked: TrackedVideo | None, *, video_id: str) -> tuple[Card, ...]:
    """The cards of tracks in a file (`card_files.read_cards`); a line that is wrong is an error.

    Raises:
        DataError: the file cannot be read, a line is no card, or is about a track that the video lacks.
    """
    tracks = [] if tracked is None else [track.track_id for track in tracked.tracks]
    return _of(video_id, lambda: read_cards(path, tracks=tracks, strict=True))


def scenes_of_people(path: Path, shots: Sequence[Shot], *, video_id: str) -> tuple[SceneCard, ...]:
    """The scene cards in a file (`card_files.read_scene_cards`); a line that is wrong is an error.

    Raises:
        DataError: the file cannot be read, a line is no card, is about a shot that the video lacks, or is a
            false card that does not differ from the true one in what it lists.
    """
    return _of(video_id, lambda: read_scene_cards(path, shots=shots, strict=True))


def _of(video_id: str, read: Callable[[], FromFile[MadeT]]) -> tuple[MadeT, ...]:
    try:
        return read().cards
    except DataError as error:
        raise DataError(f"the cards of the video {video_id}: {error}") from error


def write_file(path: Path, content: bytes) -> None:
    """Write a file of the set, whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        write_whole(path, content)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
