"""Boxes that move steadily are foreseen; the filter is that of the textbook."""

import numpy as np
import pytest

from vidence.seeing import association as kalman

BOX = np.array([[100.0, 50, 140, 150]])


def plain_step(mean, covariance, height):
    """The same filter for one box, written out with matrices from the textbook."""
    step = np.eye(8)
    step[:4, 4:] = np.eye(4)
    deviations = np.array(
        [height / 20, height / 20, 1e-2, height / 20, height / 160, height / 160, 1e-5, height / 160]
    )
    return step @ mean, step @ covariance @ step.T + np.diag(deviations**2)


def plain_update(mean, covariance, box):
    height = mean[3]
    seen = np.hstack([np.eye(4), np.zeros((4, 4))])
    noise = np.diag(np.array([height / 20, height / 20, 1e-1, height / 20]) ** 2)
    spread = seen @ covariance @ seen.T + noise
    gain = covariance @ seen.T @ np.linalg.inv(spread)
    x0, y0, x1, y1 = box
    z = np.array([(x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / (y1 - y0), y1 - y0])
    return mean + gain @ (z - seen @ mean), (np.eye(8) - gain @ seen) @ covariance


def test_many_boxes_at_once_are_what_the_textbook_says_of_each():
    boxes = np.vstack([BOX, BOX * 1.7 + 30])
    moved = boxes + np.array([4.0, 1, 5, 2])
    belief = kalman.begin(boxes)
    steps = [plain_step(belief.means[i], belief.covariances[i], belief.means[i, 3]) for i in range(2)]
    belief = kalman.update(kalman.predict(belief, n_frames=1), moved)
    for i, foreseen in enumerate(steps):
        mean, covariance = plain_update(*foreseen, moved[i])
        np.testing.assert_allclose(belief.means[i], mean, atol=1e-9)
        np.testing.assert_allclose(belief.covariances[i], covariance, atol=1e-9)


@pytest.mark.parametrize("stride", [1, 3])
def test_a_steady_walk_is_foreseen_whatever_frames_are_left_out(stride):
    belief = kalman.begin(BOX)
    for frame in range(stride, 40, stride):
        belief = kalman.update(
            kalman.predict(belief, n_frames=stride), BOX + frame * np.array([3.0, 1, 3, 1])
        )
    foreseen = kalman.predict(belief, n_frames=5).boxes_px
    last = (39 // stride) * stride
    np.testing.assert_allclose(foreseen, BOX + (last + 5) * np.array([3.0, 1, 3, 1]), atol=1.5)


def test_distances_are_those_of_mahalanobis():
    belief = kalman.predict(kalman.begin(BOX), n_frames=1)
    others = np.vstack([BOX, BOX + 30])
    found = kalman.distances(belief, others)
    spread = belief.covariances[0, :4, :4] + np.diag([25.0, 25, 0.01, 25])
    for i, box in enumerate(others):
        x0, y0, x1, y1 = box
        surprise = (
            np.array([(x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / (y1 - y0), y1 - y0]) - belief.means[0, :4]
        )
        assert found[0, i] == pytest.approx(surprise @ np.linalg.inv(spread) @ surprise)
