"""Units of length and frame rates of motion files, which are often missing or wrong."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError

# CMU: ``length 0.45`` in the ASF; one unit is 1 / 0.45 inch (fitted to the markers of 02_01 within 0.5 %).
CMU_LENGTH = 0.45
CMU_UNIT_M = 0.0254 / CMU_LENGTH
NAMED = {
    **dict.fromkeys(("m", "meter", "metre", "meters", "metres"), 1.0),
    "dm": 0.1,
    **dict.fromkeys(("cm", "centimeters"), 0.01),
    **dict.fromkeys(("mm", "millimeters", "millimetres"), 0.001),
    **dict.fromkeys(("inch", "inches", "in"), 0.0254),
    **dict.fromkeys(("foot", "ft"), 0.3048),
    "cmu": CMU_UNIT_M,
}
# From the ankle to the centre of the head of an adult, as a share of the stature.
# Source: the ankle at 0.039 and the head from 0.870 to 1.000 of the stature in the segment table of
# Drillis and Contini (1966), as printed by Winter, Biomechanics and Motor Control of Human Movement, ch. 4.
ANKLE_TO_HEAD_SHARE = 0.935 - 0.039


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A unit given by the user: `metres`, or the body's stature."""

    metres: float | None = None
    stature_m: float | None = None


def read_unit(text: str) -> Unit:
    """Read a unit as a user writes it.

    >>> read_unit("mm").metres
    0.001
    >>> read_unit("stature:1.8").stature_m
    1.8

    Raises:
        UsageError: it is none.
    """
    word = text.strip().lower()
    if word in NAMED:
        return Unit(metres=NAMED[word])
    head, colon, tail = word.partition(":")
    try:
        value = float(tail if colon else word)
    except ValueError:
        value = float("nan")
    if not value > 0 or not np.isfinite(value) or (colon and head != "stature"):
        known = "m, cm, mm, inch, ft, cmu, metres per unit such as 0.01, or stature:1.75"
        raise UsageError(f"units={text!r} is no unit; known are {known}")
    return Unit(stature_m=value) if colon else Unit(metres=value)


def metres_for_stature(heads: NDArray[np.float64], ankles: NDArray[np.float64], stature_m: float) -> float:
    """Metres per unit that give a straight-standing body the wanted stature.

    The 95th percentile over the frames of the distance from the ankles to the head counts as standing.

    Args:
        heads: the centre of the head, shape (n_frames, 3).
        ankles: the middle of both ankles, shape (n_frames, 3).
        stature_m: from the sole to the crown, in metres.

    Raises:
        ValueError: the head lies at the ankles, or was never seen.
    """
    distances = np.linalg.norm(heads - ankles, axis=1)
    tall = float(np.percentile(distances[np.isfinite(distances)], 95)) if np.isfinite(distances).any() else 0
    if not tall > 0:
        raise ValueError("no frame shows the head above the ankles")
    return stature_m * ANKLE_TO_HEAD_SHARE / tall


CMU_FPS = 120.0
_MEASURED = "feet at 0.99 Hz, the beat of salsa, at 60; 1.98 Hz at 120 is impossible"
_FALLING = "at 120 the centre of mass falls with 46 m/s2 in the backflip 87_03; with 12 at 60"
_LISTED = "flagged as 60 Hz in a list of trials of a perception laboratory (UCLA)"


# Subjects of the CMU library whose files have 60 and not its usual 120 frames per second, how that is known,
# and how surely.
SUBJECTS_FPS = 60.0
SUBJECTS: dict[int, str] = {
    **dict.fromkeys((60, 61), f"{_MEASURED} (measured)"),
    87: f"{_FALLING} (measured)",
    **dict.fromkeys((74, 75, 77, 79, 80, 88), f"{_LISTED} (listed)"),
}
_TRIAL = re.compile(r"^(\d{1,3})_[A-Za-z]*\d+")


@dataclass(frozen=True, kw_only=True)
class Rate:
    """The frame rate claimed by the file (None if absent), the rate used, and why they differ."""

    claimed: float | None
    fps: float
    note: str = ""


def cmu_subject(name: str) -> int | None:
    """The subject number of a CMU file, from its name.

    >>> cmu_subject("60_01.bvh"), cmu_subject("walk.bvh")
    (60, None)
    """
    match = _TRIAL.match(name)
    return int(match[1]) if match else None


def unrounded(fps: float) -> float:
    """Return the whole rate from which a rounded rate was computed; the rate itself if none is near.

    >>> unrounded(1 / 0.0083333), unrounded(29.97), unrounded(12.5)
    (120.0, 30.0, 12.5)
    """
    near = round(fps)
    return float(near) if abs(fps - near) < 0.005 * near else fps


def settle(claimed: float | None, *, given: float | None, name: str, is_cmu: bool) -> Rate | None:
    """Choose the frame rate: the user's, the subject table's, the file's, or the library's, in this order.

    Args:
        claimed: what the file says; None if it says nothing.
        given: what the user says.
        name: the name of the file, which tells the subject.
        is_cmu: whether the file is known to be of the CMU library; others never look into its table.

    Returns:
        None if nobody says anything.
    """
    if given is not None:
        differs = claimed is not None and abs(given - claimed) > 0.01 * claimed
        return Rate(claimed=claimed, fps=given, note="as the user says, not as the file" if differs else "")
    subject = cmu_subject(name)
    known = SUBJECTS.get(subject) if is_cmu and subject is not None else None
    if known is not None and (claimed is None or abs(claimed - SUBJECTS_FPS) > 0.01 * SUBJECTS_FPS):
        message = f"the file claims {claimed:g}" if claimed is not None else "the file says nothing"
        note = f"{message}; subject {subject} was recorded at {SUBJECTS_FPS:g}: {known}"
        return Rate(claimed=claimed, fps=SUBJECTS_FPS, note=note)
    if claimed is not None:
        return Rate(claimed=claimed, fps=unrounded(claimed))
    if is_cmu:
        return Rate(
            claimed=None, fps=CMU_FPS, note="the file says nothing; 120 is the usual rate of the CMU library"
        )
    return None
