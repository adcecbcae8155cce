"""Write tracks as files: MOTChallenge text, CSV."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, cause
from vidence.media.video import Video
from vidence.media.whole import write_whole
from vidence.seeing.tracks import PERSON, Detections, Rows, Track, TrackedVideo
from vidence.tables.export import csv_text

# What the class numbers of MOT16, MOT17 and MOT20 mean.
MOT_CLASSES: Final = {
    1: PERSON,
    2: "person on vehicle",
    3: "car",
    4: "bicycle",
    5: "motorbike",
    6: "non-motorised vehicle",
    7: "static person",
    8: "distractor",
    9: "occluder",
    10: "occluder on the ground",
    11: "occluder full",
    12: "reflection",
    13: "crowd",
}
_PEDESTRIAN: Final = 1
_TRUTH_COLUMNS: Final = 9
_LEAST_COLUMNS, _MOST_COLUMNS = 6, 10
_UNKNOWN: Final = -1
_TOLERANCE_S: Final = 1.0  # beyond the last frame: what rounding a frame rate adds up to


@dataclass(frozen=True, kw_only=True)
class MotRows(Rows):
    """The lines of a file in order of frames, which count from 0.

    Shapes: `frame_indices`, `ids`, `marks`, `class_ids` (n,), `boxes_px` (n, 4) as left, top, right, bottom.
    `ids` are -1 for detections. `marks` is the seventh column: a confidence, -1 where it is not known, or
    in ground truth 1 for boxes that count and 0 for others. `class_ids` are -1 where the file has none.
    `visibilities` (n,), 0 to 1, are there in ground truth of nine columns.
    """

    frame_indices: NDArray[np.int64]
    ids: NDArray[np.int64]
    boxes_px: NDArray[np.float64]
    marks: NDArray[np.float64]
    class_ids: NDArray[np.int64]
    visibilities: NDArray[np.float64] | None = None

    @property
    def has_classes(self) -> bool:
        """Whether it is ground truth with classes, as since MOT16."""
        return bool(np.any(self.class_ids != _UNKNOWN))

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Which boxes count: those marked so, of ground truth with classes those of pedestrians."""
        counts: NDArray[np.bool_] = self.marks != 0
        return counts & (self.class_ids == _PEDESTRIAN) if self.has_classes else counts


def read_mot(path: Path) -> MotRows:
    """Read a file in MOTChallenge format, separated by commas or blanks.

    Boxes are taken as they are written, also where they leave the frame.

    Raises:
        DataError: it cannot be read, or a line is none of the two forms; the message gives the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({cause(error)}); expected a text file of boxes") from error
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            rows.append(_row(line, f"{path}, line {number}"))
            if len(rows[-1]) != len(rows[0]):
                raise DataError(
                    f"{path}, line {number}: {len(rows[-1])} numbers, where the first line has "
                    f"{len(rows[0])}; expected one box in a line, with the same columns everywhere"
                )
    return _rows(rows)


def _row(line: str, where: str) -> list[float]:
    try:
        values = [float(cell) for cell in re.split(r"\s*,\s*|\s+", line.strip().rstrip(","))]
    except ValueError as error:
        raise DataError(
            f"{where}: {error}; expected frame,id,left,top,width,height,confidence,..."
        ) from error
    if not _LEAST_COLUMNS <= len(values) <= _MOST_COLUMNS:
        raise DataError(
            f"{where}: {len(values)} numbers; expected {_LEAST_COLUMNS} to {_MOST_COLUMNS}: "
            "frame,id,left,top,width,height,confidence,..."
        )
    if not np.all(np.isfinite(values[:6])):
        raise DataError(f"{where}: {values[:6]} are not all finite numbers")
    if values[0] < 1 or values[0] != int(values[0]) or values[1] != int(values[1]):
        raise DataError(
            f"{where}: frame {values[0]:g}, id {values[1]:g}; expected whole numbers, frames from 1"
        )
    if min(values[4:6]) <= 0:
        raise DataError(f"{where}: a box of {values[4]:g} x {values[5]:g} pixels; expected more than 0")
    return values


def _rows(rows: list[list[float]]) -> MotRows:
    table = np.array(rows, np.float64).reshape(len(rows), -1 if rows else _LEAST_COLUMNS)
    table = table[np.argsort(table[:, 0], kind="stable")]
    n, n_columns = table.shape
    return MotRows(
        frame_indices=table[:, 0].astype(np.int64) - 1,
        ids=table[:, 1].astype(np.int64),
        boxes_px=np.hstack([table[:, 2:4], table[:, 2:4] + table[:, 4:6]]),
        marks=table[:, 6] if n_columns > 6 else np.full(n, float(_UNKNOWN)),
        class_ids=table[:, 7].astype(np.int64)
        if n_columns in {_TRUTH_COLUMNS, _TRUTH_COLUMNS - 1}
        else np.full(n, _UNKNOWN, np.int64),
        visibilities=table[:, 8] if n_columns == _TRUTH_COLUMNS else None,
    )


def frames_by_number(
    numbers: NDArray[np.int64], video: Video, *, fps: float, path: Path
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The frame of each row of a file, and whether the row is at the first time for that frame.

    Args:
        numbers: the frames that the rows name, from 0.
        video: the video of the file.
        fps: the rate that the numbers count in; 0 is the video's.
        path: the file.

    Raises:
        DataError: rows are beyond the end of the video.
    """
    if fps:
        return frames_on_screen(numbers / fps, video, path=path)
    if n_beyond := int(np.count_nonzero(numbers >= video.n_frames)):
        raise DataError(
            f"{path} has {n_beyond:,} of {len(numbers):,} boxes beyond the end of {video.probe.path}: "
            f"they go up to frame {numbers.max() + 1}, and it has {video.n_frames}. Is it the right video? "
            "If frame numbers count in another rate, say which: ?fps=30 (the video has "
            f"{video.probe.counted.fps:g})"
        )
    return numbers, np.ones(len(numbers), np.bool_)


def frames_on_screen(
    times_s: NDArray[np.float64], video: Video, *, path: Path
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The frame shown at each time of a file, and whether it is the first time for that frame.

    Raises:
        DataError: a time is beyond the end of the video.
    """
    at, which = np.unique(times_s, return_inverse=True)
    if len(at) and at[-1] > float(video.times_s[-1]) + _TOLERANCE_S:
        raise DataError(
            f"{path} has boxes at {at[-1]:.2f} s, and the last frame of {video.probe.path} is at "
            f"{video.times_s[-1]:.2f} s; is it the right video, and the right frame rate?"
        )
    frames = np.array([video.index_at(float(time)) for time in at], np.int64)
    is_first = np.diff(frames, prepend=-1) > 0
    return frames[which], is_first[which]


def scale_to(video: Video, size: str) -> NDArray[np.float64]:
    """What takes boxes that were measured in pictures of ``WIDTHxHEIGHT`` to the video; shape (4,)."""
    own_px = np.array([video.probe.width_px, video.probe.height_px], np.float64)
    return np.tile(own_px / np.array(size.split("x"), np.float64) if size else np.ones(2), 2)


def track_numbers(tracks: Iterable[Track]) -> dict[str, int]:
    """A whole number for every track id: the id itself if all are numbers, else 1, 2, 3, ..."""
    ids = [track.track_id for track in tracks]
    if all(name.isdecimal() and str(int(name)) == name and int(name) > 0 for name in ids):
        return {name: int(name) for name in ids}
    return {name: number for number, name in enumerate(ids, start=1)}


def rows_of(tracks: Sequence[Track]) -> MotRows:
    """Tracks as the lines of a result file, with a number per id."""
    numbers = track_numbers(tracks)
    frames = np.concatenate([np.zeros(0, np.int64), *(track.frame_indices for track in tracks)])
    order = np.argsort(frames, kind="stable")
    n_boxes = [len(track.frame_indices) for track in tracks]
    ids = np.repeat(np.array([numbers[track.track_id] for track in tracks], np.int64), n_boxes)
    boxes = np.concatenate([np.zeros((0, 4)), *(track.boxes_px for track in tracks)])
    marks = np.concatenate([np.zeros(0), *(track.confidences for track in tracks)])
    return MotRows(
        frame_indices=frames[order],
        ids=ids[order],
        boxes_px=boxes[order],
        marks=marks[order],
        class_ids=np.full(len(frames), _UNKNOWN, np.int64),
    )


def write_tracks(path: Path, tracks: Iterable[Track]) -> None:
    """Write tracks in the format of results; the last three columns are -1, as nothing is known of them."""
    rows = rows_of(tuple(tracks))
    _write(path, rows.part(np.lexsort([rows.ids, rows.frame_indices])))


def write_detections(path: Path, detections: Detections) -> None:
    """Write boxes in the format of detections; the id is -1, and the class is left out."""
    unknown = np.full(len(detections.frame_indices), _UNKNOWN, np.int64)
    rows = MotRows(
        frame_indices=detections.frame_indices,
        ids=unknown,
        boxes_px=detections.boxes_px,
        marks=detections.confidences,
        class_ids=unknown,
    )
    _write(path, rows)


def _write(path: Path, rows: MotRows) -> None:
    lines = zip(rows.frame_indices, rows.ids, rows.boxes_px, rows.marks, strict=True)
    text = "".join(
        f"{frame + 1},{number},{box[0]:.2f},{box[1]:.2f},{box[2] - box[0]:.2f},{box[3] - box[1]:.2f},"
        f"{confidence:.4f},-1,-1,-1\n"
        for frame, number, box, confidence in lines
    )
    write_whole(path, text.encode())


def columns_of(video: TrackedVideo) -> dict[str, NDArray[np.generic]]:
    """The columns of the table by name, track after track; frames count from 0."""
    tracks = video.tracks
    n_boxes = np.array([len(track.frame_indices) for track in tracks], np.int64)
    nothing = np.zeros(0, np.int64)
    frames = np.concatenate([nothing, *(track.frame_indices for track in tracks)])
    left, top, right, bottom = np.concatenate([np.zeros((0, 4)), *(track.boxes_px for track in tracks)]).T
    return {
        "track_id": np.repeat(np.array([track.track_id for track in tracks], np.str_), n_boxes),
        "class": np.repeat(np.array([track.class_name for track in tracks], np.str_), n_boxes),
        "frame_index": frames,
        "time_s": video.times_s[frames],
        **{"left_px": left, "top_px": top, "right_px": right, "bottom_px": bottom},
        "confidence": np.concatenate([np.zeros(0), *(track.confidences for track in tracks)]),
        "is_detected": np.concatenate([np.zeros(0, np.bool_), *(track.is_detected for track in tracks)]),
    }


def write_csv(path: Path, video: TrackedVideo) -> None:
    """Write the table as CSV; `is_detected` is 1 or 0."""
    columns = columns_of(video)
    plain = [
        [*map(str, np.round(values.astype(np.float64), 4).tolist())]
        if values.dtype.kind == "f"
        else values.tolist()
        for values in (columns | {"is_detected": columns["is_detected"].astype(np.int64)}).values()
    ]
    write_whole(path, csv_text([columns, *zip(*plain, strict=True)]).encode())
