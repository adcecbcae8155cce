"""The clips that the nearest neighbour is looked for among: a folder in ActPLD's format."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from vidence.ask import files
from vidence.ask.files import FieldError
from vidence.ask.models.pointlight_features import find_dots
from vidence.errors import DataError, MediaError
from vidence.media.encode import Size
from vidence.media.video import FrameProblem, open_video

Floats = NDArray[np.float64]
_NEEDED = ("clip_id", "path", "label", "intention")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """One clip: `digest` is the SHA-256 of its content, `says` what it shows, as choices word it.

    `sources` are the recordings it was cut from and the people who move in it, as far as the table says.
    """

    clip_id: str
    path: Path
    kind: Literal["video", "frames"]
    digest: str
    says: frozenset[str]
    sources: frozenset[str]


def worded(text: str) -> str:
    """A choice or label as it is compared."""
    return " ".join(text.split()).casefold()


def sources_of(row: Mapping[str, str]) -> frozenset[str]:
    """Whom and what a clip shows, by the columns `source_id` and `source` of ``clips.csv``; each part counts.

    >>> sorted(sources_of({"source_id": "subject 18+19", "source": "18_01.bvh + 19_01.bvh"}))
    ['18_01.bvh', '19_01.bvh', 'subject 18', 'subject 19']
    """
    who = row.get("source_id") or ""
    people = who.removeprefix("subject ")
    start = "subject " if people != who else ""
    parts = [start + one.strip() for one in people.split("+")]
    recordings = [one.strip() for one in (row.get("source") or "").split(" + ")]
    return frozenset(one for one in (*parts, *recordings) if one.removeprefix("subject ").strip())


def read_references(folder: Path) -> tuple[tuple[Reference, ...], str]:
    """The clips of a folder with ``clips.csv`` and ``labels.csv``, and the SHA-256 over all of it.

    Raises:
        DataError: a table or clip is not there, or a table lacks a column.
    """
    clips, clip_bytes = _rows(folder / "clips.csv", _NEEDED)
    labels, label_bytes = _rows(folder / "labels.csv", ("target", "name"))
    text_of = {(row["target"], row["name"]): row.get("text") or row["name"] for row in labels}
    whole = hashlib.sha256(clip_bytes + label_bytes)
    references = []
    for row in clips:
        kind = row.get("kind") or "video"
        if kind not in {"video", "frames"}:
            raise DataError(f"{folder / 'clips.csv'}: kind {kind!r}; expected video or frames")
        path = folder / row["path"]
        digest = _digest(path)
        whole.update(digest.encode())
        shown = [text_of.get((target, row[target]), row[target]) for target in ("label", "intention")]
        references.append(
            Reference(
                clip_id=row["clip_id"],
                path=path,
                kind=cast('Literal["video", "frames"]', kind),
                digest=digest,
                says=frozenset(worded(text) for text in shown),
                sources=sources_of(row),
            )
        )
    if not references:
        raise DataError(f"{folder / 'clips.csv'}: no clips; expected at least one line")
    return tuple(references), whole.hexdigest()


def _rows(path: Path, needed: Sequence[str]) -> tuple[list[dict[str, str]], bytes]:
    """The rows of a table by column, and its bytes."""
    if not path.is_file():
        raise DataError(
            f"there is no {path}; pointlight-nn needs a folder with clips.csv and labels.csv "
            "(vidence help benchmarks/actpld)"
        )
    file = files.read(path, what="a table")
    try:
        return [files.usable(row) for _, row in files.csv_rows(file, needed=needed)], file.content
    except FieldError as error:
        raise DataError(f"{path}: {error}") from error


def _digest(path: Path) -> str:
    """The SHA-256 of a file, or of the files of a folder."""
    files = sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    try:
        for file in files:
            digest.update(file.read_bytes())
    except OSError as error:
        raise DataError(f"the clip {path} cannot be read: {error.strerror}") from error
    return digest.hexdigest()


def window(n_total: int, n_frames: int, *, stride: int = 1) -> NDArray[np.int64]:
    """The frames that are looked at: the central window of the selector ``actpld``, shape (n_shown,).

    Source: ActPLD, section 2.4.
    Departs: as the selector of that name; the models' layer cannot import it, a test compares the two.
    """
    if n_total <= n_frames:
        return np.arange(n_total, dtype=np.int64)
    stride = min(stride, (n_total - 1) // max(n_frames - 1, 1))
    span = (n_frames - 1) * stride + 1
    cut = max(0, min(n_total // 10, (n_total - span) // 2))
    start = cut + (n_total - 2 * cut - span) // 2
    return start + stride * np.arange(n_frames, dtype=np.int64)


def dots_of(reference: Reference, n_frames: int, *, stride: int, size: Size) -> tuple[Floats, ...]:
    """The dots in each frame of the central window of a clip.

    Raises:
        MediaError: the clip, or a frame of it, cannot be read.
    """
    video = open_video(reference.path, kind=reference.kind)
    indices = window(video.n_frames, n_frames, stride=stride)
    found = []
    for picture in video.frames([int(i) for i in indices], size=size):
        if isinstance(picture, FrameProblem):
            raise MediaError(picture.message)
        found.append(find_dots(picture))
    return tuple(found)
