"""Where boxes will be: a Kalman filter with constant velocity, for many boxes at once."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_MEASURED: Final = 4
_STATES: Final = 8
# Standard deviations as parts of the height of the box, and for the ratio of the sides.
_POSITION: Final = 1 / 20
_VELOCITY: Final = 1 / 160
_RATIO: Final = 1e-2
_RATIO_VELOCITY: Final = 1e-5
_RATIO_MEASURED: Final = 1e-1


@dataclass(frozen=True, kw_only=True)
class Belief:
    """What is believed of some boxes.

    Shapes: `means` (n, 8): centre x, centre y, width over height, height, and the change of each in one
    frame; `covariances` (n, 8, 8). Units: pixels.
    """

    means: NDArray[np.float64]
    covariances: NDArray[np.float64]

    @property
    def boxes_px(self) -> NDArray[np.float64]:
        """The boxes that are expected, shape (n, 4): left, top, right, bottom."""
        heights = np.maximum(self.means[:, 3:4], 1.0)
        widths = np.maximum(self.means[:, 2:3] * heights, 1.0)
        halves = np.hstack([widths, heights]) / 2
        return np.hstack([self.means[:, :2] - halves, self.means[:, :2] + halves])

    def part(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> "Belief":
        """Of some of the boxes."""
        return Belief(means=self.means[chosen], covariances=self.covariances[chosen])

    def with_part(self, chosen: NDArray[np.int64], other: "Belief") -> "Belief":
        """With what is now believed of some of them."""
        means, covariances = self.means.copy(), self.covariances.copy()
        means[chosen], covariances[chosen] = other.means, other.covariances
        return Belief(means=means, covariances=covariances)

    def joined(self, other: "Belief") -> "Belief":
        """Of these boxes and, after them, of those."""
        return Belief(
            means=np.concatenate([self.means, other.means]),
            covariances=np.concatenate([self.covariances, other.covariances]),
        )


def nothing() -> Belief:
    """Of no box."""
    return Belief(means=np.zeros((0, _STATES)), covariances=np.zeros((0, _STATES, _STATES)))


def measurements(boxes_px: NDArray[np.float64]) -> NDArray[np.float64]:
    """Boxes (n, 4) as the filter sees them: centre x, centre y, width over height, height."""
    sides = boxes_px[:, 2:] - boxes_px[:, :2]
    centres = boxes_px[:, :2] + sides / 2
    return np.hstack([centres, sides[:, :1] / sides[:, 1:], sides[:, 1:]])


def begin(boxes_px: NDArray[np.float64]) -> Belief:
    """What is believed of boxes that were seen once.

    Source: Wojke et al. 2017 (DeepSORT), section 2.1, with the constants of its released code.
    Departs: no.
    """
    seen = measurements(boxes_px)
    noise = _noise(seen[:, 3], position=2 * _POSITION, velocity=10 * _VELOCITY)
    return Belief(means=np.hstack([seen, np.zeros_like(seen)]), covariances=noise)


def predict(belief: Belief, *, n_frames: int) -> Belief:
    """What is believed some frames later.

    Source: as `begin`.
    Departs: over several frames at once, where frames are left out; the noise of each frame is added.
    """
    step = np.eye(_STATES)
    step[:_MEASURED, _MEASURED:] = n_frames * np.eye(_MEASURED)
    noise = _noise(np.maximum(belief.means[:, 3], 1.0), position=_POSITION, velocity=_VELOCITY)
    return Belief(
        means=belief.means @ step.T,
        covariances=step @ belief.covariances @ step.T + n_frames * noise,
    )


def update(belief: Belief, boxes_px: NDArray[np.float64]) -> Belief:
    """What is believed after each box was seen once more, shape (n, 4).

    Source: as `begin`.
    Departs: no.
    """
    expected, spread = _projected(belief)
    gains = np.linalg.solve(spread, belief.covariances[:, :_MEASURED, :]).transpose(0, 2, 1)
    surprise = measurements(boxes_px) - expected
    means = belief.means + np.einsum("nij,nj->ni", gains, surprise)
    covariances = belief.covariances - gains @ spread @ gains.transpose(0, 2, 1)
    return Belief(means=means, covariances=covariances)


def distances(belief: Belief, boxes_px: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared Mahalanobis distances of boxes (m, 4) from what is expected; shape (n, m).

    Source: Wojke et al. 2017 (DeepSORT), eq. 1.
    Departs: no.
    """
    expected, spread = _projected(belief)
    surprise = measurements(boxes_px)[None] - expected[:, None]
    whitened = np.linalg.solve(spread, surprise.transpose(0, 2, 1))
    squared: NDArray[np.float64] = np.einsum("nmi,nim->nm", surprise, whitened)
    return squared


def _projected(belief: Belief) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What measurement is expected, and its covariance."""
    heights = np.maximum(belief.means[:, 3], 1.0)
    position = _POSITION * heights
    deviations = np.stack([position, position, np.full_like(heights, _RATIO_MEASURED), position], axis=1)
    spread = belief.covariances[:, :_MEASURED, :_MEASURED] + _diagonal(deviations)
    return belief.means[:, :_MEASURED], spread


def _noise(heights: NDArray[np.float64], *, position: float, velocity: float) -> NDArray[np.float64]:
    """Covariances (n, 8, 8) with deviations that grow with the heights (n,)."""
    moves, speeds = position * heights, velocity * heights
    ratio, ratio_speed = np.full_like(heights, _RATIO), np.full_like(heights, _RATIO_VELOCITY)
    return _diagonal(np.stack([moves, moves, ratio, moves, speeds, speeds, ratio_speed, speeds], axis=1))


def _diagonal(deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariances (n, k, k) of independent quantities with these standard deviations (n, k)."""
    squares: NDArray[np.float64] = deviations[:, :, None] ** 2 * np.eye(deviations.shape[1])
    return squares
