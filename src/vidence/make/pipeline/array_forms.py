"""How detections and tracks are written, so that stages can keep them: NumPy's own format, no pickles."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.make.pipeline.material import Dropped
from vidence.records import Record
from vidence.seeing.tracks import Detections, ShotFrames, Track, TrackedVideo

Arrays = dict[str, NDArray[np.generic]]
_FACTS = "facts"


def packed(arrays: Mapping[str, NDArray[np.generic]], facts: Record) -> bytes:
    """Arrays and a record as one file."""
    buffer = io.BytesIO()
    text = np.frombuffer(msgspec.json.encode(facts), np.uint8)
    with zipfile.ZipFile(buffer, "w") as file:
        for name, array in {**arrays, _FACTS: text}.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # with a fixed date: the same arrays, the same bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            with file.open(entry, "w") as out:
                np.lib.format.write_array(out, array, allow_pickle=False)
    return buffer.getvalue()


def unpacked(data: bytes) -> tuple[Arrays, bytes]:
    """The arrays and the text of the record.

    Raises:
        ValueError: this is no such file.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays: Arrays = {name: file[name] for name in file.files}
        return arrays, arrays.pop(_FACTS).tobytes()
    except (zipfile.BadZipFile, KeyError, EOFError, OSError) as error:
        raise ValueError(f"no arrays: {error}") from error


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What was found in a video; `vectors` of the boxes where a tracker wants them, shape (n, n_dims).

    `finds_parts` says that the detector takes limbs for people now and then.
    """

    detections: Detections
    vectors: NDArray[np.float32] | None = None
    problems: tuple[str, ...] = ()
    finds_parts: bool = False


class _SeenFacts(Record, kw_only=True):
    class_names: dict[int, str]
    has_vectors: bool
    problems: tuple[str, ...]
    finds_parts: bool


class SeenForm:
    """`Seen` as a file."""

    suffix = ".npz"

    def encode(self, value: Seen) -> bytes:
        """The file."""
        found = value.detections
        arrays: Arrays = {
            "frame_indices": found.frame_indices,
            "boxes_px": found.boxes_px,
            "confidences": found.confidences,
            "class_ids": found.class_ids,
        }
        if value.vectors is not None:
            arrays["vectors"] = value.vectors
        facts = _SeenFacts(
            class_names=dict(found.class_names),
            has_vectors=value.vectors is not None,
            problems=value.problems,
            finds_parts=value.finds_parts,
        )
        return packed(arrays, facts)

    def decode(self, data: bytes) -> Seen:
        """What was found; ValueError for another file."""
        arrays, text = unpacked(data)
        facts = msgspec.json.decode(text, type=_SeenFacts)
        try:
            detections = Detections(
                frame_indices=arrays["frame_indices"].astype(np.int64, copy=False),
                boxes_px=arrays["boxes_px"].astype(np.float64, copy=False),
                confidences=arrays["confidences"].astype(np.float64, copy=False),
                class_ids=arrays["class_ids"].astype(np.int64, copy=False),
                class_names=facts.class_names,
            )
            vectors = arrays["vectors"].astype(np.float32, copy=False) if facts.has_vectors else None
        except KeyError as error:
            raise ValueError(f"the array {error} is missing") from error
        return Seen(
            detections=detections,
            vectors=vectors,
            problems=facts.problems,
            finds_parts=facts.finds_parts,
        )


@dataclass(frozen=True, kw_only=True)
class Followed:
    """The tracks of one video after refining, those chosen (best first), and what became of the rest.

    `raw_ids` are the tracks before refining, `scores` the rank of each refined track.
    """

    video: TrackedVideo
    chosen: tuple[str, ...]
    raw_ids: tuple[str, ...]
    dropped: tuple[Dropped, ...] = ()
    scores: Mapping[str, float]


class _TrackFacts(Record, kw_only=True):
    track_id: str
    class_name: str
    n: int


class _FollowedFacts(Record, kw_only=True):
    width_px: int
    height_px: int
    tracks: tuple[_TrackFacts, ...]
    chosen: tuple[str, ...]
    raw_ids: tuple[str, ...]
    dropped: tuple[Dropped, ...]
    scores: dict[str, float]
    n_others: int
    shots: tuple[ShotFrames, ...]
    seen_well: tuple[str, ...]


class FollowedForm:
    """`Followed` as a file."""

    suffix = ".npz"

    def encode(self, value: Followed) -> bytes:
        """The file; detections are not part of it."""
        tracks = (*value.video.tracks, *value.video.others)
        arrays: Arrays = {
            "times_s": value.video.times_s,
            "frame_indices": _joined([t.frame_indices for t in tracks], np.zeros(0, np.int64)),
            "boxes_px": _joined([t.boxes_px for t in tracks], np.zeros((0, 4))),
            "confidences": _joined([t.confidences for t in tracks], np.zeros(0)),
            "is_detected": _joined([t.is_detected for t in tracks], np.zeros(0, np.bool_)),
            "looks": np.array(list(value.video.looks.values()), np.float32),
        }
        facts = _FollowedFacts(
            width_px=value.video.width_px,
            height_px=value.video.height_px,
            tracks=tuple(
                _TrackFacts(track_id=t.track_id, class_name=t.class_name, n=len(t.frame_indices))
                for t in tracks
            ),
            chosen=value.chosen,
            raw_ids=value.raw_ids,
            dropped=value.dropped,
            scores=dict(value.scores),
            n_others=len(value.video.others),
            shots=value.video.shots,
            seen_well=tuple(value.video.looks),
        )
        return packed(arrays, facts)

    def decode(self, data: bytes) -> Followed:
        """The tracks; ValueError for another file."""
        arrays, text = unpacked(data)
        facts = msgspec.json.decode(text, type=_FollowedFacts)
        ends = np.cumsum([0, *(t.n for t in facts.tracks)])
        try:
            tracks = tuple(
                Track(
                    track_id=one.track_id,
                    class_name=one.class_name,
                    frame_indices=arrays["frame_indices"][first:last].astype(np.int64, copy=False),
                    boxes_px=arrays["boxes_px"][first:last].astype(np.float64, copy=False),
                    confidences=arrays["confidences"][first:last].astype(np.float64, copy=False),
                    is_detected=arrays["is_detected"][first:last].astype(np.bool_, copy=False),
                )
                for one, first, last in zip(facts.tracks, ends[:-1], ends[1:], strict=True)
            )
            times_s = arrays["times_s"].astype(np.float64, copy=False)
            looks = dict(zip(facts.seen_well, arrays["looks"].astype(np.float32, copy=False), strict=True))
        except KeyError as error:
            raise ValueError(f"the array {error} is missing") from error
        n_tracks = len(tracks) - facts.n_others
        video = TrackedVideo(
            width_px=facts.width_px,
            height_px=facts.height_px,
            times_s=times_s,
            tracks=tracks[:n_tracks],
            others=tracks[n_tracks:],
            shots=facts.shots,
            looks=looks,
        )
        return Followed(
            video=video,
            chosen=facts.chosen,
            raw_ids=facts.raw_ids,
            dropped=facts.dropped,
            scores=facts.scores,
        )


def _joined(parts: Sequence[NDArray[np.generic]], nothing: NDArray[np.generic]) -> NDArray[np.generic]:
    return np.concatenate([nothing, *parts])
