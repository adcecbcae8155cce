"""How much moves in a video: differences of small grey pictures, and optical flow between them."""

from collections.abc import Collection, Sequence
from importlib.util import find_spec
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.installation import adding
from vidence.media.encode import Size
from vidence.media.pixels import resize
from vidence.records import Record
from vidence.seeing.shooting import Shot

VERSION: Final = 1
RATE: Final = 2.0
"""How often a second pictures are compared, at most."""
SIZE: Final = Size(kind="long", pixels=64)
_LUMA: Final = np.array([0.299, 0.587, 0.114])
_PAIR: Final = "no two of its pictures lie beside each other in one shot"

Grey: TypeAlias = NDArray[np.uint8]


class Motion(Record, omit_defaults=True):
    """How much moves; None where it was not measured, and `why` says why not.

    `difference` is the mean absolute difference of two greys, 0 to 255. `flow` is how far a point of the
    picture moves in a second, in hundredths of the longer side: the mean of a pair, the median over pairs.
    """

    difference: float | None = None
    flow: float | None = None
    n_pairs: int = 0
    why: str = ""
    why_no_flow: str = ""


class GreyObserver:
    """Keeps a small grey picture of some frames; an observer of `seeing.watching.watch`."""

    def __init__(self, frame_indices: Collection[int], *, size_px: tuple[int, int]) -> None:
        self._wanted = frozenset(frame_indices)
        self._size_px = SIZE.fit(*size_px)
        self.greys: dict[int, Grey] = {}

    def see(self, frame_index: int, image: NDArray[np.uint8], found: object) -> None:
        """Keep it, if it is wanted."""
        if frame_index in self._wanted:
            small = resize(image, size=self._size_px)
            self.greys[frame_index] = np.rint(small @ _LUMA).astype(np.uint8)


def motion(
    greys: dict[int, Grey],
    looks: Sequence[int],
    *,
    times_s: NDArray[np.float64],
    shots: Sequence[Shot] | None,
) -> Motion:
    """How much moves from one look to the next inside a shot; a cut is no motion.

    Args:
        greys: the pictures of the looks by frame; those of damaged frames are left out.
        looks: the frames that were to be looked at, in order.
        times_s: the times of all frames, shape (n_frames,).
        shots: the shots; None: they are not known, and every pair counts.

    Source: PerceptionComp, section 3.1, wants camera motion and names no measure.
    Departs: the measures are ours.
    """
    pairs = [
        (one, two)
        for one, two in pairwise(looks)
        if one in greys and two in greys and _in_one_shot(one, two, shots)
    ]
    if not pairs:
        return Motion(why=_PAIR, why_no_flow=_PAIR)
    differences = [np.abs(greys[a].astype(np.int16) - greys[b]).mean() for a, b in pairs]
    difference = float(np.mean(differences))
    if find_spec("cv2") is None:
        lacks = f"OpenCV is not installed; add it with: {adding('build')}"
        return Motion(difference=difference, n_pairs=len(pairs), why_no_flow=lacks)
    flows = [_flow(greys[a], greys[b]) / float(times_s[b] - times_s[a]) for a, b in pairs]
    return Motion(difference=difference, flow=float(np.median(flows)), n_pairs=len(pairs))


def _in_one_shot(first: int, second: int, shots: Sequence[Shot] | None) -> bool:
    if shots is None:
        return True
    return any(shot.clear_frame <= first and second <= shot.last_frame for shot in shots)


def _flow(first: Grey, second: Grey) -> float:
    """How far points move from one picture to the next, in hundredths of the longer side."""
    import cv2

    field = cv2.calcOpticalFlowFarneback(first, second, None, 0.5, 4, 11, 5, 5, 1.1, 0)
    moved_px = float(np.hypot(field[..., 0], field[..., 1]).mean())
    return 100 * moved_px / float(max(first.shape))
