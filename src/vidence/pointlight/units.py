"""How long one unit of a file is; files of motion seldom say.

A user writes a unit as ``m``, ``cm``, ``mm``, ``inch``, ``cmu``, as metres per unit (``0.01``), or as
``stature:1.75``: scale the body until it is that tall.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# CMU: ``length 0.45`` in the ASF; one unit is 1 / 0.45 inch (fitted to the markers of 02_01 within 0.5 %).
CMU_LENGTH = 0.45
CMU_UNIT_M = 0.0254 / CMU_LENGTH
NAMED = {
    "m": 1.0,
    "meter": 1.0,
    "metre": 1.0,
    "meters": 1.0,
    "metres": 1.0,
    "dm": 0.1,
    "cm": 0.01,
    "centimeters": 0.01,
    "mm": 0.001,
    "millimeters": 0.001,
    "millimetres": 0.001,
    "inch": 0.0254,
    "inches": 0.0254,
    "in": 0.0254,
    "foot": 0.3048,
    "ft": 0.3048,
    "cmu": CMU_UNIT_M,
}
# From the ankle to the centre of the head of an adult, as a share of the stature.
# Source: the ankle at 0.039 and the head from 0.870 to 1.000 of the stature in the segment table of
# Drillis and Contini (1966), as printed by Winter, Biomechanics and Motor Control of Human Movement, ch. 4.
ANKLE_TO_HEAD_SHARE = 0.935 - 0.039


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What a user said of the unit: `metres`, or the stature that the body is to have."""

    metres: float | None = None
    stature_m: float | None = None


def unit_option(text: str) -> Unit:
    """Read a unit as a user writes it.

    >>> unit_option("mm").metres
    0.001
    >>> unit_option("stature:1.8").stature_m
    1.8

    Raises:
        ValueError: it is none.
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
        raise ValueError(f"{text!r} is no unit; known are {known}")
    return Unit(stature_m=value) if colon else Unit(metres=value)


def rate_option(text: str) -> float:
    """Read frames per second.

    Raises:
        ValueError: not a number above 0.
    """
    value = float(text)
    if not 0 < value < 100_000:
        raise ValueError("a frame rate is a number above 0, such as 120")
    return value


def metres_for_stature(heads: NDArray[np.float64], ankles: NDArray[np.float64], stature_m: float) -> float:
    """Metres per unit, so that a body is as tall as wanted when it stands straight.

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
