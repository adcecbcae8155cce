"""Keypoints of a person over time: names by models, frames on one clock, and the step to a motion."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats.format_options import LeastScore, MotionSettings, RawPoints, finish
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import UnpackedFile

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
_RIGHT_THEN_LEFT = _SIDES[::-1]
_TOES = ("big_toe", "small_toe", "heel")
# Source: the output formats BODY_25 and COCO of the documentation of OpenPose.
BODY_25 = (
    *("nose", "neck"),
    *(f"{side}_{point}" for side in _RIGHT_THEN_LEFT for point in _LIMBS[:3]),
    "pelvis",
    *(f"{side}_{point}" for side in _RIGHT_THEN_LEFT for point in _LIMBS[3:]),
    *(f"{side}_{point}" for point in ("eye", "ear") for side in _RIGHT_THEN_LEFT),
    *(f"{side}_{point}" for side in _SIDES for point in _TOES),
)
OPENPOSE_18 = (*BODY_25[:8], *BODY_25[9:19])
BY_COUNT = {len(names): names for names in (COCO, OPENPOSE_18, BODY_25, BLAZEPOSE)}
_ON_THE_WAY = re.compile(r"(\d+)\D*$")


class KeypointSettings(MotionSettings):
    """Options of files of keypoints."""

    least_score: LeastScore = 0.3
    person: Annotated[
        str,
        Meta(description="of several people the one with this id (idx, track_id), or its place"),
    ] = ""


@dataclass(frozen=True, kw_only=True)
class PersonFrame:
    """What is known of a person in one frame.

    `values` (n_points, 4): x, y, z, score; no points where nobody was seen. `is_metric`: in metres;
    `is_flat`: z is not known.
    """

    values: Floats
    is_metric: bool = False
    is_flat: bool = False


NOBODY = PersonFrame(values=np.zeros((0, 4)))


def json_in(opened: UnpackedFile) -> object:
    """What a file of JSON holds.

    Raises:
        DataError: it is no JSON.
    """
    try:
        whole: object = json.loads(opened.text())
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise opened.at(line, f"no JSON: {getattr(error, 'msg', 'nested too deeply')}") from error
    return whole


def number_of(name: str | float) -> int | None:
    """The number of a frame by the name of its picture.

    >>> number_of("walk_000000000012_keypoints"), number_of("7.jpg"), number_of("x")
    (12, 7, None)
    """
    if isinstance(name, int | float):
        return int(name)
    found = _ON_THE_WAY.search(name)
    return int(found[1]) if found else None


def chosen(opened: UnpackedFile, people: Sequence[object], *, person: str, where: str) -> object | None:
    """The person that is wanted among those of a frame; None where nobody, or the wanted one is not seen.

    Raises:
        DataError: there are several, and none was named.
    """
    if not person:
        if len(people) > 1:
            raise DataError(
                f"{opened.label}: {where} has several people; give person=ID of one, or keep one in a file"
            )
        return people[0] if people else None
    ids = [
        str(p[key])
        for p in people
        if isinstance(p, Mapping)
        for key in [next((k for k in ("idx", "track_id", "person_id") if k in p), "")]
        if key
    ]
    if len(ids) == len(people) and ids:
        return people[ids.index(person)] if person in ids else None
    return people[int(person)] if person.isdigit() and int(person) < len(people) else None


def on_one_clock(
    opened: UnpackedFile, frames: Sequence[PersonFrame], numbers: Sequence[int | None]
) -> tuple[list[PersonFrame], tuple[str, ...]]:
    """All frames from the first to the last by their numbers, nobody where one is missing; and notes.

    Raises:
        DataError: numbers that do not go on, or that are so far apart that they are none of a video.
    """
    known = [n for n in numbers if n is not None]
    if len(known) != len(frames) or len(frames) < 2:
        return list(frames), ()
    steps = np.diff(known)
    if (steps <= 0).any():
        at = int((steps <= 0).argmax())
        raise DataError(f"{opened.label}: after picture {known[at]} comes {known[at + 1]}; sort the pictures")
    step = math.gcd(*steps.tolist())
    n_frames = (known[-1] - known[0]) // step + 1
    if n_frames > 10 * len(frames):
        raise DataError(
            f"{opened.label}: {len(frames)} pictures with numbers from {known[0]} to {known[-1]}; are they "
            "frames of one video?"
        )
    placed = [NOBODY] * n_frames
    for number, seen in zip(known, frames, strict=True):
        placed[(number - known[0]) // step] = seen
    notes = []
    if n_frames > len(frames):
        notes.append(f"{n_frames - len(frames)} pictures without anybody are missing in the file; hidden")
    if step > 1:
        notes.append(f"every picture has a number {step} higher; the rate is that of these pictures")
    return placed, tuple(notes)


def keypoint_motion(
    opened: UnpackedFile,
    frames: Sequence[PersonFrame],
    *,
    format: str,
    settings: KeypointSettings,
    fps: float | None,
    notes: tuple[str, ...] = (),
) -> Motion:
    """The motion of a person: y up, hidden where the score is low.

    Raises:
        DataError: nobody is seen, or frames have other numbers of points.
    """
    counts = {len(seen.values) for seen in frames} - {0}
    if len(counts) != 1:
        told = "nobody is seen in any frame" if not counts else f"frames have {sorted(counts)} points"
        raise DataError(f"{opened.label}: {told}")
    n_points = counts.pop()
    nobody = np.full((n_points, 4), np.nan)
    values = np.stack([seen.values if len(seen.values) else nobody for seen in frames])
    shown = [seen for seen in frames if len(seen.values)]
    is_flat = any(seen.is_flat for seen in shown)
    hidden = ~(values[..., 3] >= settings.least_score)
    flat = (
        "keypoints of a picture have no depth: they are true from the front only, and where the body faces "
        "is not known",
    )
    read = RawPoints(
        format=format,
        positions=np.where(hidden[..., None], np.nan, values[..., :3] * [1.0, -1.0, -1.0]),
        names=BY_COUNT[n_points],
        kind="markers",
        metres_per_unit=1.0 if all(seen.is_metric for seen in shown) else None,
        unit_problem="keypoints are in pixels, or in shares of a picture",
        fps=fps,
        is_flat=is_flat,
        notes=(*(flat if is_flat else ()), *notes),
    )
    return finish(read, opened=opened, settings=settings)
