"""Keypoints of a person over time as JSON: COCO's 17, BlazePose's 33; MMPose, AlphaPose, MediaPipe."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats.keypoints import (
    BLAZEPOSE,
    COCO,
    NOBODY,
    KeypointSettings,
    PersonFrame,
    chosen,
    json_in,
    keypoint_motion,
    number_of,
    on_one_clock,
)
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import UnpackedFile, open_file

Floats = NDArray[np.float64]
BY_COUNT = {len(COCO): COCO, len(BLAZEPOSE): BLAZEPOSE}
# Keys that hold the points of a frame; the first two are in metres.
_WORLD = "pose_world_landmarks"
_KEYS = (_WORLD, "world_landmarks", "keypoints_3d", "pose_landmarks", "landmarks", "keypoints")
_METRES = {_WORLD, "world_landmarks"}
# BlazePose gives these as shares of the picture's width and height.
_SHARES = {"pose_landmarks"}
_FRAMES = ("frames", "annotations", "instance_info")


class Settings(KeypointSettings):
    """Options of files of keypoints."""

    aspect: Annotated[
        Annotated[float, Meta(gt=0, lt=100)] | None,
        Meta(description="width over height of the picture, for landmarks that are shares of it"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PoseJson:
    """Reads ``.json``: a list of frames, or an object with ``frames`` (``instance_info``) and ``fps``.

    A frame is a list of points, or an object with one under ``keypoints``, ``landmarks``,
    ``pose_landmarks`` or ``pose_world_landmarks``; or one with ``instances``, as MMPose writes, or several
    objects with one ``image_id``, as AlphaPose. Points are objects with x, y, z and visibility (or score),
    lists of x, y and a score (or x, y, z and a score), lists of x, y beside ``keypoint_scores``, or one list
    of three numbers for each point, as COCO has them. Images have y down and, as BlazePose, less z nearer to
    the camera; both are turned over, so that left stays left. An empty frame, and one whose number is
    missing, is one in which nobody was seen.
    """

    settings: Settings
    name: str = "pose-json"
    version: int = 2
    suffixes: tuple[str, ...] = (".json",)

    def recognises(self, head: str) -> bool:
        """Whether a text begins as JSON with points of a pose."""
        return head.lstrip()[:1] in {"{", "["} and any(
            f'"{key}"' in head for key in (*_KEYS, "instance_info")
        )

    def read(self, path: Path) -> Motion:
        """Read a file.

        Raises:
            DataError: no JSON, no frames, other numbers of points than 17 or 33, or several people.
        """
        opened = open_file(path)
        whole = json_in(opened)
        fps = whole.get("fps") if isinstance(whole, Mapping) else None
        frames = whole
        if isinstance(whole, Mapping):
            frames = next((whole[key] for key in _FRAMES if key in whole), None)
        if not isinstance(frames, Sequence) or isinstance(frames, str) or not frames:
            raise DataError(f"{opened.label}: expected a list of frames, or an object with 'frames'")
        if fps is not None and not (isinstance(fps, int | float) and 0 < fps < 1e5):
            raise DataError(f"{opened.label}: fps is {fps!r}; expected a number above 0")
        aspect = self.settings.aspect or _aspect(whole)
        seen, numbers = [], []
        for index, (number, people) in enumerate(_by_frame(opened, frames)):
            where = f"frame {index}" if number is None else f"picture {number!r}"
            person = chosen(opened, people, person=self.settings.person, where=where)
            seen.append(NOBODY if person is None else _person(opened, index, person, aspect=aspect))
            numbers.append(None if number is None else number_of(number))
        placed, notes = on_one_clock(opened, seen, numbers)
        return keypoint_motion(opened, placed, format=self.name, settings=self.settings, fps=fps, notes=notes)


def _aspect(whole: object) -> float | None:
    """Width over height, where the file says both."""
    if not isinstance(whole, Mapping):
        return None
    size: list[object] = [
        next((whole[k] for k in (f"{side}_px", side) if k in whole), None) for side in ("width", "height")
    ]
    known = [float(s) for s in size if isinstance(s, int | float) and s > 0]
    return known[0] / known[1] if len(known) == 2 else None


def _by_frame(
    opened: UnpackedFile, frames: Sequence[object]
) -> list[tuple[str | float | None, list[object]]]:
    """For each picture its name or number, None where it has none, and the people in it."""
    found: list[tuple[str | float | None, list[object]]] = []
    for index, frame in enumerate(frames):
        number: str | float | None = None
        people: list[object] = [frame] if frame else []
        if isinstance(frame, Mapping):
            number = next((frame[k] for k in ("image_id", "frame_id") if k in frame), None)
            people = _people(opened, index, frame)
        if number is not None and found and found[-1][0] == number:
            found[-1][1].extend(people)
        else:
            found.append((number, people))
    return found


def _people(opened: UnpackedFile, index: int, frame: Mapping[str, object]) -> list[object]:
    """The people of a frame that is an object."""
    if isinstance(instances := frame.get("instances"), list):
        return list(instances)
    key = next((k for k in _KEYS if k in frame), "")
    if not key:
        raise DataError(f"{opened.label}: frame {index} has none of {', '.join(_KEYS)}")
    points = frame[key]
    match points:
        case [[Mapping() | list(), *_], *_] as people:
            return [{key: one} for one in people]
    return [frame] if points or "image_id" in frame else []


def _person(opened: UnpackedFile, number: int, person: object, *, aspect: float | None) -> PersonFrame:
    """The points of a person in a frame."""
    key, points, scores = "", person, None
    if isinstance(person, Mapping):
        key = next((k for k in _KEYS if k in person), "")
        if not key:
            raise DataError(f"{opened.label}: frame {number} has none of {', '.join(_KEYS)}")
        points, scores = person[key], person.get("keypoint_scores")
    if points is None or points == []:
        return NOBODY
    values = _values(opened, number, points, scores=scores)
    is_flat = values.shape[1] < 4
    if is_flat:
        score = values[:, 2:] if values.shape[1] == 3 else np.ones((len(values), 1))
        values = np.concatenate([values[:, :2], np.zeros((len(values), 1)), score], axis=1)
    if key in _SHARES:
        if aspect is None:
            raise DataError(
                f"{opened.label}: pose_landmarks are shares of the width and of the height of a picture "
                "whose size is not said; give aspect=1.7778 (its width over its height), or both in the file"
            )
        values = values * [aspect, 1.0, aspect, 1.0]
    return PersonFrame(values=values, is_metric=key in _METRES, is_flat=is_flat)


def _values(opened: UnpackedFile, number: int, points: object, *, scores: object) -> Floats:
    """The points (n_points, 2 to 4) as they are written."""
    if not isinstance(points, Iterable):
        raise DataError(f"{opened.label}: the points of frame {number} are {points!r}; expected a list")
    try:
        rows = [_point(p) if isinstance(p, Mapping) else p for p in points]
        values = np.array(rows, float)
        if scores is not None and values.ndim == 2:
            values = np.column_stack([values, np.array(scores, float)])
    except (TypeError, ValueError, KeyError) as error:
        raise DataError(f"{opened.label}: the points of frame {number} cannot be read: {error}") from error
    if values.ndim == 1 and len(values) % 3 == 0:
        values = values.reshape(-1, 3)  # as COCO: x, y and a score after each other
    if values.ndim != 2 or values.shape[1] not in (2, 3, 4) or len(values) not in BY_COUNT:
        raise DataError(
            f"{opened.label}: frame {number} has points of the shape {values.shape}; expected 17 "
            "(COCO) or 33 (BlazePose) with x, y and a score, or x, y, z and a score"
        )
    return values


def _point(point: Mapping[str, float]) -> list[float]:
    score = point.get("visibility", point.get("score", 1.0))
    return [point["x"], point["y"], *([point["z"]] if "z" in point else []), score]


def create(settings: Settings) -> PoseJson:
    """The reader of the format."""
    return PoseJson(settings=settings)
