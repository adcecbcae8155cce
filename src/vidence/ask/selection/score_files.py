"""Scores that were computed elsewhere: a file says for each question, or each video, how well frames match.

Formats, by the ending of the name; docs/guides/frames.md describes them for users:

- ``.jsonl``: one object a line, ``{"item_id": "q1", "scores": [..], "frames": [..]}``. Instead of
  ``item_id`` it may have ``video_id``; instead of ``frames`` a ``stride``; without either the scores are
  those of the selector's own candidates.
- ``.json``: a list of such objects, or an object from ids to such objects (without the id) or to lists
  of scores.
- ``.npz``: an array of scores under each id, and where wanted its frames under ``frames:ID``.

``frames`` are frame indices in the video, in the order of presentation, from 0. Scores of a question go
before those of its video.
"""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.ask.selection.uniform import Positions
from vidence.errors import DataError, cause
from vidence.media.clip import Clip
from vidence.records import Item

# Beyond it the range of some scores would not be a number.
_LARGEST = 1e300
_KEYS = {"item_id", "video_id", "scores", "frames", "stride"}
_ENDINGS = (".jsonl", ".json", ".npz")


@dataclass(frozen=True, kw_only=True)
class CandidateScores:
    """Candidates with scores: positions or frame indices, ascending, and scores, both shape (n,)."""

    frames: NDArray[np.int64]
    scores: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """The scores of one id; `frames` is None if they are those of the selector's candidates."""

    scores: NDArray[np.float64]
    frames: NDArray[np.int64] | None


def checked_scores(scores: object, *, where: str, n_expected: int | None) -> NDArray[np.float64]:
    """Scores as an array, shape (n,).

    Args:
        scores: what was given.
        where: what they are the scores of, for messages.
        n_expected: how many there must be; None if any number will do.

    Raises:
        DataError: not a list of numbers, not finite, or not as many as expected.
    """
    try:
        array = np.asarray(scores)
        if array.dtype.kind not in "fiu" or array.ndim != 1:
            raise ValueError(f"values of type {array.dtype} in {array.ndim} dimensions")
    except ValueError as error:
        raise DataError(f"{where}: scores are not a list of numbers ({error}); write plain numbers") from None
    array = array.astype(np.float64)
    if n_expected is not None and len(array) != n_expected:
        raise DataError(
            f"{where}: {len(array)} scores for {n_expected} candidates; expected one for each. Compute them "
            "for the same candidates, or give the 'frames' that they belong to"
        )
    bad = np.flatnonzero(~(np.abs(array) <= _LARGEST))
    if len(bad):
        raise DataError(
            f"{where}: score {bad[0]} of {len(array)} is {array[bad[0]]}; expected finite numbers. "
            "Compute it again, or omit the frame"
        )
    return array


def _checked_frames(frames: object, *, where: str, n_scores: int) -> NDArray[np.int64]:
    array = np.asarray(frames)
    if array.dtype.kind not in "iu" or array.ndim != 1 or len(array) != n_scores:
        raise DataError(
            f"{where}: {n_scores} scores and 'frames' of type {array.dtype} and shape {array.shape}; "
            "expected one whole number for each score"
        )
    if n_scores and (array[0] < 0 or (np.diff(array.astype(np.int64)) <= 0).any()):
        raise DataError(
            f"{where}: 'frames' must count from 0 and ascend, each once; sort them with their scores"
        )
    return array.astype(np.int64)


def _entry(content: Mapping[str, object], where: str) -> _Entry:
    unknown = content.keys() - _KEYS
    if unknown or "scores" not in content or {"frames", "stride"} <= content.keys():
        raise DataError(
            f"{where}: fields {', '.join(sorted(content)) or 'none'}; expected 'scores' and one or none of "
            "'frames' and 'stride'"
        )
    scores = checked_scores(content["scores"], where=where, n_expected=None)
    if not len(scores):
        raise DataError(f"{where}: no scores; omit the entry, or give a score for each frame")
    if "frames" in content:
        return _Entry(
            scores=scores, frames=_checked_frames(content["frames"], where=where, n_scores=len(scores))
        )
    stride = content.get("stride")
    if stride is None:
        return _Entry(scores=scores, frames=None)
    if type(stride) is not int or stride < 1:
        raise DataError(f"{where}: stride {stride!r}; expected a whole number above 0")
    return _Entry(scores=scores, frames=np.arange(len(scores), dtype=np.int64) * stride)


def _loaded(text: str, where: str) -> object:
    try:
        value: object = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"{where} is not JSON: {error}") from error
    return value


def _named(content: object, where: str) -> tuple[str, _Entry]:
    """Return the id and entry of an object in a list or line."""
    names = [content.get(key) for key in ("item_id", "video_id")] if isinstance(content, dict) else []
    ids = [name for name in names if name is not None]
    if not isinstance(content, dict) or len(ids) != 1 or not isinstance(ids[0], str):
        raise DataError(
            f"{where}: expected an object with an 'item_id' or a 'video_id' in words, and 'scores'"
        )
    return ids[0], _entry(content, f"{where} ({ids[0]!r})")


def _from_json(content: object, where: str) -> Iterator[tuple[str, _Entry]]:
    if isinstance(content, list):
        for i, entry in enumerate(content):
            yield _named(entry, f"{where}, entry {i}")
    elif isinstance(content, dict):
        for name, value in content.items():
            body = value if isinstance(value, dict) else {"scores": value}
            yield name, _entry(body, f"{where} ({name!r})")
    else:
        raise DataError(f"{where}: expected a list or an object, as described under 'scores from a file'")


def _from_npz(data: bytes, where: str) -> Iterator[tuple[str, _Entry]]:
    try:
        with np.load(BytesIO(data), allow_pickle=False) as arrays:
            content = dict(arrays.items())
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, TypeError, AttributeError) as error:
        raise DataError(f"{where} is not a file of numpy arrays: {cause(error)}") from error
    frames = {name.removeprefix("frames:") for name in content if name.startswith("frames:")}
    if lonely := sorted(frames - content.keys()):
        raise DataError(f"{where} has 'frames:{lonely[0]}' and no scores under {lonely[0]!r}; add them")
    for name in (n for n in content if not n.startswith("frames:")):
        body = {"scores": content[name]} | ({"frames": content[f"frames:{name}"]} if name in frames else {})
        yield name, _entry(body, f"{where} ({name!r})")


def _entries(path: Path, data: bytes) -> Iterator[tuple[str, _Entry]]:
    if path.suffix == ".npz":
        yield from _from_npz(data, str(path))
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error}") from error
    if path.suffix == ".json":
        yield from _from_json(_loaded(text, str(path)), str(path))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            yield _named(_loaded(line, where), where)


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """The scores in a file; `digest` is the SHA-256 of its bytes."""

    path: Path
    digest: str
    entries: Mapping[str, _Entry]

    def of(self, clip: Clip, item: Item, candidates: Callable[[Clip], Positions]) -> CandidateScores:
        """Return a question's candidates, as positions in `clip`, and their scores.

        Args:
            clip: the frames.
            item: the question.
            candidates: gives those of the selector, for scores that name no frames.

        Raises:
            DataError: no scores for this question nor its video, not as many as candidates, frames
                that the video does not have, or frames for a question about several media.
        """
        name = item.item_id if item.item_id in self.entries else item.video_id
        entry = self.entries.get(name)
        if entry is None:
            raise DataError(
                f"{self.path} has no scores for item {item.item_id!r} nor for its video {item.video_id!r}; "
                f"it has {len(self.entries)} entries, the first for {next(iter(self.entries))!r}. Add them, "
                "or omit the item"
            )
        where = f"{self.path} ({name!r}), item {item.item_id!r}"
        if entry.frames is None:
            own = candidates(clip)
            return CandidateScores(
                frames=own, scores=checked_scores(entry.scores, where=where, n_expected=len(own))
            )
        if len(np.unique(clip.media_indices)) > 1:
            raise DataError(
                f"{where}: frames, and a question about several media; expected one, since the file does not "
                "say which of them the frames are in"
            )
        absent = np.flatnonzero(~np.isin(entry.frames, clip.frame_indices))
        if len(absent):
            raise DataError(
                f"{where}: frame {entry.frames[absent[0]]} is scored, but the item's frames are "
                f"{clip.frame_indices[0]} to {clip.frame_indices[-1]}; give scores for the same span of it"
            )
        positions = np.searchsorted(clip.frame_indices, entry.frames).astype(np.int64)
        return CandidateScores(frames=positions, scores=entry.scores)


def read_scores(path: Path) -> ScoreTable:
    """Read a file of scores, checking every entry.

    Raises:
        DataError: no such file, another format, or an entry that cannot be used; the message names it.
    """
    if path.suffix not in _ENDINGS:
        raise DataError(f"{path}: scores are read from files that end in {', '.join(_ENDINGS)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"the scores in {path} cannot be read: {cause(error)}") from error
    entries: dict[str, _Entry] = {}
    for name, entry in _entries(path, data):
        if name in entries:
            raise DataError(f"{path} has scores for {name!r} twice; leave one of them")
        entries[name] = entry
    if not entries:
        raise DataError(f"{path} has no scores; see 'scores from a file' in the guide on choosing frames")
    return ScoreTable(path=path, digest=hashlib.sha256(data).hexdigest(), entries=entries)
