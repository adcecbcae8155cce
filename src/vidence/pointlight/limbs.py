"""Which points of a body are joined by a limb."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError

_SIDES = ("left", "right")
# Both ends of each limb; the trunk is drawn from each shoulder to the hip below it.
LIMBS: tuple[tuple[str, str], ...] = (
    *(
        (f"{side}_{upper}", f"{side}_{lower}")
        for side in _SIDES
        for upper, lower in (
            ("shoulder", "elbow"),
            ("elbow", "wrist"),
            ("hip", "knee"),
            ("knee", "ankle"),
            ("shoulder", "hip"),
        )
    ),
    ("left_shoulder", "right_shoulder"),
    ("left_hip", "right_hip"),
)


def limbs_of(names: Sequence[str]) -> NDArray[np.int64]:
    """The limbs between points of these names, as pairs of their places, shape (n_limbs, 2).

    Raises:
        UsageError: no two of the points are joined by a limb (markers, for one).
    """
    place = {name: i for i, name in enumerate(names)}
    pairs = [(place[a], place[b]) for a, b in LIMBS if a in place and b in place]
    if not pairs:
        raise UsageError(
            f"no two of the points {', '.join(list(names)[:8])} are joined by a limb; take the points of a "
            "body, not markers"
        )
    return np.array(pairs, np.int64)
