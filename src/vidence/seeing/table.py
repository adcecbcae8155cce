"""Tracks as a table, one row for each box."""

import csv
import importlib.util
import io
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.media.cache import write_whole
from vidence.seeing.tracks import TrackedVideo

COLUMNS: Final = (
    "track_id",
    "class",
    "frame_index",
    "time_s",
    "left_px",
    "top_px",
    "right_px",
    "bottom_px",
    "confidence",
    "is_detected",
)


def columns_of(video: TrackedVideo) -> dict[str, list[str] | NDArray[np.generic]]:
    """The columns of the table by name, track after track; frames count from 0."""
    tracks = video.tracks
    nothing = np.zeros(0, np.int64)
    frames = np.concatenate([nothing, *(track.frame_indices for track in tracks)])
    boxes = np.concatenate([np.zeros((0, 4)), *(track.boxes_px for track in tracks)])
    return {
        "track_id": [track.track_id for track in tracks for _ in track.frame_indices],
        "class": [track.class_name for track in tracks for _ in track.frame_indices],
        "frame_index": frames,
        "time_s": video.times_s[frames],
        **{name: boxes[:, place] for place, name in enumerate(COLUMNS[4:8])},
        "confidence": np.concatenate([np.zeros(0), *(track.confidences for track in tracks)]),
        "is_detected": np.concatenate([np.zeros(0, np.bool_), *(track.is_detected for track in tracks)]),
    }


def check_parquet() -> None:
    """Say early that no Parquet file can be written.

    Raises:
        UsageError: pyarrow is not installed.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise UsageError(
            "a table in Parquet needs pyarrow; run: pip install 'vidence[build]', or say --table csv"
        )


def write_parquet(path: Path, video: TrackedVideo) -> None:
    """Write the table as a Parquet file, with its column types.

    Raises:
        UsageError: pyarrow is not installed.
    """
    check_parquet()
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        "track_id": pa.string(),
        "class": pa.string(),
        "is_detected": pa.bool_(),
        "frame_index": pa.int64(),
    }
    arrays = {
        name: pa.array(values, type=types.get(name, pa.float64()))
        for name, values in columns_of(video).items()
    }
    buffer = io.BytesIO()
    pq.write_table(pa.table(arrays), buffer)
    write_whole(path, buffer.getvalue())


def write_csv(path: Path, video: TrackedVideo) -> None:
    """Write the table as CSV; `is_detected` is 1 or 0."""
    columns = columns_of(video)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    plain = [
        values
        if isinstance(values, list)
        else np.round(values.astype(np.float64), 4).tolist()
        if values.dtype.kind == "f"
        else values.astype(np.int64).tolist()
        for values in columns.values()
    ]
    writer.writerows(zip(*plain, strict=True))
    write_whole(path, text.getvalue().encode())
