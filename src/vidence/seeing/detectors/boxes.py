"""Boxes from a file (MOTChallenge, CSV); no frame is decoded.

boxes:det.txt                             MOTChallenge: detections, results or ground truth
boxes:boxes.csv                           a table with a header: frame, left, top, right, bottom, ...
boxes:det.txt?size=768x576&fps=7          measured in another size of the video, at another frame rate
"""

import csv
import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.catalog import FilePath
from vidence.errors import DataError, UsageError, cause
from vidence.media.video import Video
from vidence.records import Record
from vidence.seeing.boxes import clip
from vidence.seeing.track_files import MOT_CLASSES, frames_by_number, frames_on_screen, read_mot, scale_to
from vidence.seeing.tracks import PERSON, Detections

_PERSON_ID: Final = 1
_CORNERS: Final = ("left", "top", "right", "bottom")
_SIDES: Final = ("left", "top", "width", "height")
_COLUMNS: Final = {"frame", "time_s", *_CORNERS, *_SIDES, "confidence", "class"}


@dataclass(frozen=True, kw_only=True)
class BoxRows:
    """The boxes of a file, as they are written.

    Shapes: `frame_indices` (from 0), `confidences` (-1: not known), `class_ids` (n,), `boxes_px` (n, 4) as
    left, top, right, bottom. `times_s` (n,) is there where the file gives times and no frames. `content_hash`
    is the SHA-256.
    """

    frame_indices: NDArray[np.int64]
    boxes_px: NDArray[np.float64]
    confidences: NDArray[np.float64]
    class_ids: NDArray[np.int64]
    class_names: dict[int, str]
    content_hash: str
    times_s: NDArray[np.float64] | None = None


def read_boxes(path: Path) -> BoxRows:
    """Read a file of boxes; its first line determines the format.

    Raises:
        DataError: it does not exist, or is none of the formats; the message says what is wrong where.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"the file of boxes {path} cannot be read ({cause(error)})") from error
    digest = hashlib.sha256(data).hexdigest()
    first = data.lstrip(b"\xef\xbb\xbf \r\n\t").split(b"\n", 1)[0].decode("utf-8", "replace")
    if re.search(r"[A-Za-z_]{3}", first):
        return _read_table(path, data, content_hash=digest)
    rows = read_mot(path)
    counts = rows.marks != 0 if rows.has_classes else np.ones(len(rows.ids), np.bool_)
    rows = rows.part(counts)
    class_ids = np.where(rows.class_ids < 0, _PERSON_ID, rows.class_ids)
    return BoxRows(
        frame_indices=rows.frame_indices,
        boxes_px=rows.boxes_px,
        confidences=rows.marks,
        class_ids=class_ids,
        class_names={int(i): MOT_CLASSES.get(int(i), f"class {i}") for i in np.unique(class_ids)},
        content_hash=digest,
    )


def _read_table(path: Path, data: bytes, *, content_hash: str) -> BoxRows:
    """A table with a header; frames count from 0."""
    try:
        reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig")))
        rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read as a table: {error}") from error
    header = set(reader.fieldnames or ()).union(*rows)
    corners = _CORNERS if "right" in header else _SIDES
    when = "frame" if "frame" in header else "time_s"
    if not {*corners, when} <= header or header - _COLUMNS:
        raise DataError(
            f"{path} has the columns {', '.join(map(str, header))}; expected frame (from 0) or time_s, then "
            "left, top, right, bottom or left, top, width, height, and if known confidence and class"
        )
    names = sorted({(row.get("class") or PERSON) for row in rows})
    ids = {name: number for number, name in enumerate([PERSON, *(n for n in names if n != PERSON)], start=1)}
    table = np.zeros((len(rows), 6))
    for i, row in enumerate(rows):
        cells = [row[when], *(row[name] for name in corners), row.get("confidence") or "-1"]
        try:
            table[i] = [float(cell) for cell in cells]
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{path}, line {i + 2}: {error}; expected numbers in {when}, {corners}"
            ) from error
    boxes = table[:, 1:5]
    if corners is _SIDES:
        boxes = np.hstack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])
    if not np.all(np.isfinite(table)) or np.any(table[:, 0] < 0) or np.any(boxes[:, 2:] <= boxes[:, :2]):
        bad = ~np.isfinite(table).all(axis=1) | (table[:, 0] < 0) | (boxes[:, 2:] <= boxes[:, :2]).any(axis=1)
        raise DataError(
            f"{path}, line {int(np.flatnonzero(bad)[0]) + 2}: expected finite numbers, a frame or time of 0 "
            "or above, and a box that is wider and higher than 0"
        )
    return BoxRows(
        frame_indices=table[:, 0].astype(np.int64) if when == "frame" else np.zeros(len(rows), np.int64),
        times_s=table[:, 0] if when == "time_s" else None,
        boxes_px=boxes,
        confidences=table[:, 5],
        class_ids=np.array([ids[row.get("class") or PERSON] for row in rows], np.int64),
        class_names={number: name for name, number in ids.items()},
        content_hash=content_hash,
    )


_VERSION: Final = 1
_UNKNOWN: Final = -1
_NOWHERE: Final = -1


class Settings(Record):
    """Options of a file of boxes."""

    positional: ClassVar[str] = "path"
    path: Annotated[FilePath, Meta(description="file of boxes: MOTChallenge, or CSV with a header")]
    confidence: Annotated[float, Meta(ge=0, le=1, description="minimum confidence of a box")] = 0.3
    most: Annotated[int, Meta(ge=1, description="boxes to keep per frame, best first")] = 300
    size: Annotated[
        str,
        Meta(description="WIDTHxHEIGHT in pixels that boxes were measured in (empty: those of the video)"),
    ] = ""
    fps: Annotated[
        float, Meta(ge=0, description="frame rate of the video that frame numbers count in (0: this video's)")
    ] = 0.0
    scores: Annotated[
        Literal["share", "logistic", "none"],
        Meta(description="confidences are shares, margins of a classifier, or do not count: all are certain"),
    ] = "share"

    def __post_init__(self) -> None:
        if self.size and not re.fullmatch(r"[1-9]\d*x[1-9]\d*", self.size):
            raise UsageError(f"size={self.size!r}: expected WIDTHxHEIGHT in pixels, such as 768x576")


class Boxes:
    """The boxes of a file, clipped to the frame; those outside it are dropped.

    Where no confidence is known (-1 everywhere in MOT files) it counts as 1.

    Source: HERBench, section 7.1 (the least confidence, the most boxes of a frame).
    Departs: the boxes come from elsewhere.
    """

    finds_parts = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._path = Path(settings.path)
        self._rows = read_boxes(self._path)
        apart_from_file = msgspec.structs.replace(settings, path="")
        self.identity = f"boxes/{_VERSION} {self._rows.content_hash} {apart_from_file!r}"

    def detect(self, video: Video, frame_indices: Sequence[int]) -> Detections:
        """The boxes in these frames.

        Raises:
            DataError: the file has boxes in frames that the video does not have.
        """
        frames = self._frames(video)
        boxes = self._rows.boxes_px * scale_to(video, self._settings.size)
        width, height = video.probe.width_px, video.probe.height_px
        boxes, covers = clip(boxes, width_px=width, height_px=height)
        confidences = self._confidences()
        keep = covers & (confidences >= self._settings.confidence) & np.isin(frames, list(frame_indices))
        best = np.lexsort([-confidences, frames])
        order = best[keep[best]]
        order = order[_rank(frames[order]) < self._settings.most]
        return Detections(
            frame_indices=frames[order],
            boxes_px=boxes[order],
            confidences=confidences[order],
            class_ids=self._rows.class_ids[order],
            class_names={
                int(i): self._rows.class_names[int(i)] for i in np.unique(self._rows.class_ids[order])
            },
        )

    def _frames(self, video: Video) -> NDArray[np.int64]:
        """Return the video frame of every row."""
        rows, path = self._rows, self._path
        if rows.times_s is not None:
            frames, is_first = frames_on_screen(rows.times_s, video, path=path)
        else:
            fps = self._settings.fps
            frames, is_first = frames_by_number(rows.frame_indices, video, fps=fps, path=path)
        return np.where(is_first, frames, _NOWHERE)

    def _confidences(self) -> NDArray[np.float64]:
        """Return confidences, 0 to 1; 1 if the file has none."""
        given = self._rows.confidences
        if np.all(given == _UNKNOWN) or self._settings.scores == "none":
            return np.ones(len(given))
        if self._settings.scores == "logistic":
            return 1 / (1 + np.exp(-given))
        if given.min() < 0 or given.max() > 1:
            raise DataError(
                f"{self._path} has confidences from {given.min():g} to {given.max():g}; expected 0 to 1, or "
                f"-1 everywhere. For the margins of a classifier say boxes:{self._path}?scores=logistic"
            )
        return given


def _rank(frames: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many earlier entries belong to the same frame; `frames` are sorted."""
    return np.arange(len(frames)) - np.searchsorted(frames, frames)


def create(settings: Settings) -> Boxes:
    """The boxes in a file."""
    return Boxes(settings)
