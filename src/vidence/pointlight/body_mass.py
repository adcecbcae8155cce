"""Where the weight of a body is."""

import numpy as np
from numpy.typing import NDArray

from vidence.pointlight.motion import Motion

# Mass as a share of the body, and how far from the first point to the second the centre lies.
# Source: the table of segments of Dempster (1955) as printed by Winter, Biomechanics and Motor Control of
# Human Movement, table 4.1: upper arm, forearm with hand, thigh, leg with foot.
_LIMBS = (
    ("shoulder", "elbow", 0.028, 0.436),
    ("elbow", "wrist", 0.022, 0.682),
    ("hip", "knee", 0.100, 0.433),
    ("knee", "ankle", 0.061, 0.606),
)
_HEAD, _TRUNK = 0.081, 0.497


def mass_centre(figure: Motion) -> NDArray[np.float64]:
    """The centre of mass over time, shape (n_frames, 3), metres; NaN where a point is hidden.

    Departs: the trunk is taken to be centred between the middle of the shoulders and that of the hips.

    Args:
        figure: a body of 13 points, as from `vidence.pointlight.body.body`.

    Raises:
        KeyError: a point is missing.
    """

    def at(name: str) -> NDArray[np.float64]:
        return figure.positions_m[:, figure.index(name)]

    corners = [at(f"{side}_{joint}") for side in ("left", "right") for joint in ("shoulder", "hip")]
    centre = _HEAD * at("head") + _TRUNK * sum(corners[1:], corners[0]) / 4
    for side in ("left", "right"):
        for near, far, mass, share in _LIMBS:
            centre = centre + mass * ((1 - share) * at(f"{side}_{near}") + share * at(f"{side}_{far}"))
    total = _HEAD + _TRUNK + 2 * sum(mass for _, _, mass, _ in _LIMBS)
    return np.asarray(centre / total)
