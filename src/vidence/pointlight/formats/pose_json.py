"""Keypoints of one person over time as JSON, as estimators of pose write them: COCO's 17, BlazePose's 33."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats.finish import MotionSettings, Read, finish
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import Opened, open_file

Floats = NDArray[np.float64]
_SIDES = ("left", "right")
_LIMBS = ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")
COCO = (
    "nose",
    *(f"{side}_{point}" for point in ("eye", "ear", *_LIMBS) for side in _SIDES),
)
BLAZEPOSE = (
    "nose",
    *(f"{side}_eye{part}" for side in _SIDES for part in ("_inner", "", "_outer")),
    *("left_ear", "right_ear"),
    *("mouth_left", "mouth_right"),
    *(
        f"{side}_{point}"
        for point in ("shoulder", "elbow", "wrist", "pinky", "index", "thumb")
        for side in _SIDES
    ),
    *(f"{side}_{point}" for point in ("hip", "knee", "ankle", "heel", "foot_index") for side in _SIDES),
)
BY_COUNT = {len(COCO): COCO, len(BLAZEPOSE): BLAZEPOSE}
# Keys that hold the points of a frame; the first is in metres.
_WORLD = "pose_world_landmarks"
_KEYS = (_WORLD, "world_landmarks", "keypoints_3d", "pose_landmarks", "landmarks", "keypoints")
_METRES = {_WORLD, "world_landmarks"}


class Settings(MotionSettings):
    """Options of files of keypoints."""

    least_score: Annotated[
        float, Meta(ge=0, le=1, description="points with a lower score or visibility are hidden")
    ] = 0.3


@dataclass(frozen=True, kw_only=True)
class PoseJson:
    """Reads ``.json``: a list of frames, or an object with ``frames`` and perhaps ``fps``.

    A frame is a list of points, or an object with one under ``keypoints``, ``landmarks`` or
    ``pose_world_landmarks``. Points are objects with x, y, z and visibility (or score), lists of x, y and a
    score (or x, y, z and a score), or one list of three numbers for each point, as COCO has them. Images have
    y down and, as BlazePose, less z nearer to the camera; both are turned over, so that left stays left. An
    empty frame is one in which nobody was seen.
    """

    settings: Settings
    name: str = "pose-json"
    version: int = 1
    suffixes: tuple[str, ...] = (".json",)

    def recognises(self, head: str) -> bool:
        """Whether a text begins as JSON with points of a pose."""
        return head.lstrip()[:1] in {"{", "["} and any(f'"{key}"' in head for key in _KEYS)

    def read(self, path: Path) -> Motion:
        """Read a file.

        Raises:
            DataError: no JSON, no frames, other numbers of points than 17 or 33, or several people.
        """
        opened = open_file(path)
        try:
            whole = json.loads(opened.text())
        except (json.JSONDecodeError, RecursionError) as error:
            line = getattr(error, "lineno", 1)
            raise opened.at(line, f"no JSON: {getattr(error, 'msg', 'nested too deeply')}") from error
        fps = whole.get("fps") if isinstance(whole, Mapping) else None
        frames = whole.get("frames", whole.get("annotations")) if isinstance(whole, Mapping) else whole
        if not isinstance(frames, Sequence) or isinstance(frames, str) or not frames:
            raise DataError(f"{opened.label}: expected a list of frames, or an object with 'frames'")
        if fps is not None and not (isinstance(fps, int | float) and 0 < fps < 1e5):
            raise DataError(f"{opened.label}: fps is {fps!r}; expected a number above 0")
        found = [_frame(opened, number, frame) for number, frame in enumerate(frames)]
        _one_person(opened, frames)
        values, is_metric, is_flat = _together(opened, found)
        hidden = ~(values[..., 3] >= self.settings.least_score)
        places = np.where(hidden[..., None], np.nan, values[..., :3] * [1.0, -1.0, -1.0])
        notes = (
            ("keypoints of a picture have no depth: they are true from the front only",) if is_flat else ()
        )
        read = Read(
            format=self.name,
            positions=places,
            names=BY_COUNT[values.shape[1]],
            kind="markers",
            metres_per_unit=1.0 if is_metric else None,
            unit_problem="keypoints are in pixels, or in shares of a picture",
            fps=fps,
            notes=notes,
        )
        return finish(read, opened=opened, settings=self.settings)


def _frame(opened: Opened, number: int, frame: object) -> tuple[Floats, bool, bool]:
    """The points of a frame (n_points, 4: x, y, z, score), whether they are metres, and whether flat."""
    key = ""
    if isinstance(frame, Mapping):
        key = next((k for k in _KEYS if k in frame), "")
        if not key:
            raise DataError(f"{opened.label}: frame {number} has none of {', '.join(_KEYS)}")
        frame = frame[key]
    if frame is None or frame == []:
        return np.zeros((0, 4)), key in _METRES, False
    try:
        points = [_point(p) if isinstance(p, Mapping) else p for p in frame]  # type: ignore[attr-defined]
        values = np.array(points, float)
    except (TypeError, ValueError, KeyError) as error:
        raise DataError(f"{opened.label}: the points of frame {number} cannot be read: {error}") from error
    if values.ndim == 1 and len(values) % 3 == 0:
        values = values.reshape(-1, 3)  # as COCO: x, y and a score after each other
    if values.ndim != 2 or values.shape[1] not in (2, 3, 4) or len(values) not in BY_COUNT:
        raise DataError(
            f"{opened.label}: frame {number} has points of the shape {values.shape}; expected 17 "
            "(COCO) or 33 (BlazePose) with x, y and a score, or x, y, z and a score"
        )
    is_flat = values.shape[1] < 4
    if is_flat:
        score = values[:, 2:] if values.shape[1] == 3 else np.ones((len(values), 1))
        values = np.concatenate([values[:, :2], np.zeros((len(values), 1)), score], axis=1)
    return values, key in _METRES, is_flat


def _point(point: Mapping[str, float]) -> list[float]:
    score = point.get("visibility", point.get("score", 1.0))
    return [point["x"], point["y"], *([point["z"]] if "z" in point else []), score]


def _one_person(opened: Opened, frames: Sequence[object]) -> None:
    """See that no picture is there twice, as it is where several people were found."""
    pictures = [f["image_id"] for f in frames if isinstance(f, Mapping) and "image_id" in f]
    twice = next((p for n, p in enumerate(pictures) if n and pictures[n - 1] == p), None)
    if twice is not None:
        raise DataError(f"{opened.label}: picture {twice!r} has several people; keep one in a file")


def _together(opened: Opened, found: Sequence[tuple[Floats, bool, bool]]) -> tuple[Floats, bool, bool]:
    """All frames, shape (n_frames, n_points, 4); score NaN where nobody was seen."""
    counts = {len(values) for values, _, _ in found} - {0}
    if len(counts) != 1:
        told = "nobody is seen in any frame" if not counts else f"frames have {sorted(counts)} points"
        raise DataError(f"{opened.label}: {told}")
    n_points = counts.pop()
    nobody = np.full((n_points, 4), np.nan)
    whole = np.stack([values if len(values) else nobody for values, _, _ in found])
    seen = [one for one in found if len(one[0])]
    return whole, all(is_metric for _, is_metric, _ in seen), any(is_flat for _, _, is_flat in seen)


def create(settings: Settings) -> PoseJson:
    """The reader of the format."""
    return PoseJson(settings=settings)
