"""A disk cache of frames' features and scores, so that an embedder sees a video once."""

import hashlib
import io
import logging
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.contracts import ComparingEmbedder, Embedder
from vidence.errors import UsageError
from vidence.media.cache import BoundedFolder, mark_used
from vidence.media.whole import PRIVATE, write_whole

_log = logging.getLogger(__name__)

Indices: TypeAlias = Sequence[int] | NDArray[np.int64]

_MANY_PARTS: Final = 16
_MOST_LOOKS: Final = 4
_NAME_LENGTH: Final = 32
_FEATURES: Final = "features"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_NAME_LENGTH]


class ScoreCache:
    """What one embedder found in frames, under ``root/scores``; the least recently used goes first.

    Features are kept by `features_identity`, scores of pairs by `identity` and text; both by how frames were
    scaled and compressed (`frames_key`), by the video's content and by frame.

    What is put at once is one file, named after the digest of its bytes, so that a damaged one is
    never read; many small ones are put together. Many processes may share a folder. All
    embedders together keep at most `max_bytes`; what others write while one process makes room may exceed
    that until the next time. With 0 nothing is kept. A folder that cannot be written costs one warning.

    Args:
        root: the folder of the user's cache.
        embedder: whose numbers they are.
        frames_key: what the pixels of a frame depend on besides the video, such as `Encoding.key`.
        max_bytes: the bound.
    """

    def __init__(self, root: Path, embedder: Embedder, *, frames_key: str, max_bytes: int) -> None:
        self._files = BoundedFolder(root / "scores", pattern="*/*/*/*.npz", max_bytes=max_bytes)
        seen = embedder.features_identity if isinstance(embedder, ComparingEmbedder) else embedder.identity
        self._features_key = _hash(f"{seen}\n{frames_key}")
        self._scores_key = _hash(f"{embedder.identity}\n{frames_key}")

    def get_features(
        self, content_hash: str, frame_indices: Indices
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return which of these frames have cached features, in the order given, and the features.

        Shapes: (n_found,), (n_found, n_dims); (0, 0) where nothing is found.
        """
        return self._get(self._folder_of_features(content_hash), frame_indices, n_axes=2)

    def put_features(self, content_hash: str, frame_indices: Indices, features: NDArray[np.float32]) -> None:
        """Store features, shape (n_frames, n_dims). Never raises for a full disk.

        Raises:
            UsageError: not one row for each frame.
        """
        self._put(self._folder_of_features(content_hash), frame_indices, features, n_axes=2)

    def get_scores(
        self, content_hash: str, frame_indices: Indices, text: str
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return which of these frames have a cached score with that text, and the scores.

        Shapes: (n_found,), (n_found,).
        """
        return self._get(self._folder_of_scores(content_hash, text), frame_indices, n_axes=1)

    def put_scores(
        self, content_hash: str, frame_indices: Indices, text: str, *, scores: NDArray[np.float32]
    ) -> None:
        """Store scores, shape (n_frames,). Never raises for a full disk.

        Raises:
            UsageError: not one score for each frame.
        """
        self._put(self._folder_of_scores(content_hash, text), frame_indices, scores, n_axes=1)

    def trim(self) -> None:
        """Delete old entries; see `BoundedFolder.trim`.

        Raises:
            OSError: the folder cannot be written.
        """
        self._files.trim()

    def _folder_of_features(self, content_hash: str) -> Path:
        return self._files.folder / self._features_key / content_hash / _FEATURES

    def _folder_of_scores(self, content_hash: str, text: str) -> Path:
        return self._files.folder / self._scores_key / content_hash / _hash(text)

    def _get(
        self, folder: Path, frame_indices: Indices, *, n_axes: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        wanted = np.asarray(frame_indices, np.int64)
        nothing = np.empty(0, np.int64), np.empty((0,) * n_axes, np.float32)
        parts = _read_parts(folder, n_axes=n_axes) if self._files.max_bytes > 0 else {}
        if not parts:
            return nothing
        kept, values = _together(list(parts.values()))
        places = np.minimum(np.searchsorted(kept, wanted), len(kept) - 1)
        is_there = kept[places] == wanted
        for path in parts:
            mark_used(path)
        return wanted[is_there], values[places[is_there]]

    def _put(self, folder: Path, frame_indices: Indices, values: NDArray[np.float32], *, n_axes: int) -> None:
        indices = np.asarray(frame_indices, np.int64)
        if values.ndim != n_axes or len(values) != len(indices):
            raise UsageError(
                f"{len(indices)} frames cannot have values of shape {values.shape}; "
                f"expected {len(indices)} rows and {n_axes} axes"
            )
        if not self._files.can_write or len(indices) == 0:
            return
        try:
            # Its size is known here: another process may have put the file together with others by now.
            _, n_bytes = _write_part(folder, indices, values)
            _tidy(folder, n_axes=n_axes)
            self._files.note(n_bytes)
        except OSError as error:
            self._files.give_up(error)


_Part: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float32]]


def _together(parts: Sequence[_Part]) -> _Part:
    """Merge parts by increasing frame index; the first counts for repeated frames."""
    indices, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    kept, first = np.unique(indices, return_index=True)
    return kept, values[first]


def _write_part(folder: Path, indices: NDArray[np.int64], values: NDArray[np.float32]) -> tuple[Path, int]:
    """Write one file; return its path and size."""
    buffer = io.BytesIO()
    np.savez(buffer, indices=indices, values=values.astype(np.float32, copy=False))
    data = buffer.getvalue()
    path = folder / f"{hashlib.sha256(data).hexdigest()[:_NAME_LENGTH]}.npz"
    write_whole(path, data, mode=PRIVATE)
    return path, len(data)


def _read_parts(folder: Path, *, n_axes: int) -> dict[Path, _Part]:
    """Read a folder's files that are intact and consistent."""
    parts: dict[Path, _Part] = {}
    # Another process may have put files together between listing and reading: then look again.
    for _ in range(_MOST_LOOKS):
        paths = sorted(folder.glob("*.npz"))
        read = {path: _read_part(path, n_axes=n_axes) for path in paths if path not in parts}
        parts |= {path: part for path, part in read.items() if part is not None}
        if all(path.exists() for path in paths):
            break
    shapes = [part[1].shape[1:] for part in parts.values()]
    return {path: part for path, part in parts.items() if part[1].shape[1:] == shapes[0]}


def _read_part(path: Path, *, n_axes: int) -> _Part | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data).hexdigest()[:_NAME_LENGTH] != path.stem:
        _log.debug("%s is damaged; its frames are scored again", path)
        return None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            indices, values = stored["indices"], stored["values"]
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        _log.debug("%s cannot be read (%s); its frames are scored again", path, error)
        return None
    if indices.ndim != 1 or values.ndim != n_axes or len(indices) != len(values):
        _log.debug("%s has another form (%s, %s)", path, indices.shape, values.shape)
        return None
    return indices, values


def _tidy(folder: Path, *, n_axes: int) -> None:
    """Merge a folder's files if there are many.

    The new file is there before the old ones go, and only files that are in it go, so that nothing is lost to
    another process that writes or tidies meanwhile.
    """
    if sum(1 for _ in folder.glob("*.npz")) <= _MANY_PARTS:
        return
    parts = _read_parts(folder, n_axes=n_axes)
    if not parts:
        return
    whole, _ = _write_part(folder, *_together(list(parts.values())))
    for path in parts.keys() - {whole}:
        path.unlink(missing_ok=True)
