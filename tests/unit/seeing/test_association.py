"""Boxes become tracks: association, and the Kalman filter behind it."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.seeing import association as kalman
from vidence.seeing.association import AssociationSettings, associate
from vidence.seeing.tracks import PERSON, Detections


def detections(rows, *, names=None):
    """Rows are frame, left, top, right, bottom, confidence and, if wanted, class id."""
    table = np.array([[*row, 1.0][:7] for row in sorted(rows, key=lambda r: r[0])], float).reshape(-1, 7)
    return Detections(
        frame_indices=table[:, 0].astype(np.int64),
        boxes_px=table[:, 1:5],
        confidences=table[:, 5],
        class_ids=table[:, 6].astype(np.int64),
        class_names=names or {1: PERSON},
    )


def walk(left, *, frames, speed=2.0, confidence=0.9, top=100.0):
    return [(f, left + speed * f, top, left + speed * f + 40, top + 100, confidence) for f in frames]


def tracked(rows, *, vectors=None, n_frames=60, **settings):
    found = detections(rows)
    return associate(found, AssociationSettings(**settings), frame_indices=range(n_frames), vectors=vectors)


def spans(tracks):
    return [(t.track_id, t.first_frame, t.last_frame, len(t.frame_indices)) for t in tracks]


def test_two_people_apart_are_two_tracks():
    assert spans(tracked(walk(0, frames=range(30)) + walk(300, frames=range(5, 20)))) == [
        ("1", 0, 29, 30),
        ("2", 5, 19, 15),
    ]
    assert tracked([]) == tracked(walk(0, frames=range(2))) == ()
    assert spans(tracked(walk(0, frames=range(2)), n_init=2)) == [("1", 0, 1, 2)]
    some = detections(walk(0, frames=range(0, 60, 4)))  # frames may be left out
    sparse = associate(some, AssociationSettings(), frame_indices=range(0, 60, 4))
    assert spans(sparse) == [("1", 0, 56, 15)]
    with pytest.raises(UsageError, match="1 vectors for 3 boxes"):
        tracked(walk(0, frames=range(3)), vectors=np.ones((1, 2), np.float32))


def test_a_person_who_comes_back_before_the_age_is_the_same_one():
    rows = walk(0, frames=[*range(10), *range(20, 40)])
    assert spans(tracked(rows)) == [("1", 0, 39, 30)]
    assert spans(tracked(rows, max_age_s=5 / 30)) == [("1", 0, 9, 10), ("2", 20, 39, 20)]


def test_boxes_of_little_confidence_go_on_with_a_track_and_never_start_one():
    faint = walk(0, frames=range(10, 20), confidence=0.4)
    assert spans(tracked(walk(0, frames=range(10)) + faint)) == [("1", 0, 19, 20)]
    assert tracked(faint) == ()


def test_a_box_that_jumped_is_matched_only_in_the_last_stage():
    """Shifted by 12 of 40 pixels the IoU is 28/52 = 0.54: below 0.7, above 0.3."""
    jumped = [(10, 12 + 20.0, 100, 52 + 20.0, 200, 0.9), *walk(12, frames=range(11, 20))]
    rows = walk(0, frames=range(10)) + jumped
    assert len(tracked(rows)) == 1
    assert spans(tracked(rows, last_iou=1.0)) == [("1", 0, 9, 10), ("2", 10, 19, 10)]


def test_two_people_who_change_places_are_told_apart_by_their_looks():
    """They stand one behind the other and swap sides between two frames: motion alone mixes them up."""
    rows, looks = [], []
    for frame in range(30):
        for person, side in ((0, frame >= 15), (1, frame < 15)):
            left = 100 + (14.0 if side else 0.0)
            rows.append((frame, left, 100, left + 40, 200, 0.9))
            looks.append(person)
    found = detections(rows)
    vectors = np.eye(2, dtype=np.float32)[looks]
    settings = AssociationSettings()
    by_motion = associate(found, settings, frame_indices=range(30))
    by_looks = associate(found, settings, frame_indices=range(30), vectors=vectors)
    assert [np.ptp(t.boxes_px[:, 0]) for t in by_motion] == [0, 0]
    assert [np.ptp(t.boxes_px[:, 0]) for t in by_looks] == [14, 14]


def test_looks_cannot_take_somebody_where_he_cannot_be():
    rows = walk(0, frames=range(10), speed=0) + walk(900, frames=range(10, 20), speed=0)
    vectors = np.tile(np.array([[1.0, 0]], np.float32), (20, 1))
    assert spans(tracked(rows, vectors=vectors)) == [("1", 0, 9, 10), ("2", 10, 19, 10)]


@pytest.mark.parametrize(("others_look", "n_tracks"), [([0.0, 1.0], 2), ([0.995, 0.1], 3)])
def test_clothes_that_nobody_else_wears_need_no_place(others_look, n_tracks):
    """Gone for eight frames and back half a box away, beside somebody dressed otherwise or alike."""
    before, after = walk(0, frames=range(10), speed=0), walk(30, frames=range(18, 30), speed=0)
    other = walk(400, frames=range(30), speed=0)
    rows = sorted([*[(*r, 0) for r in before + after], *[(*r, 1) for r in other]])
    looks = np.array([[1.0, 0.0] if row[-1] == 0 else others_look for row in rows], np.float32)
    looks /= np.linalg.norm(looks, axis=1, keepdims=True)
    found = detections([row[:-1] for row in rows])
    settings = AssociationSettings(last_iou=1.0)
    assert len(associate(found, settings, frame_indices=range(30), vectors=looks)) == n_tracks


def test_classes_are_matched_by_themselves_and_only_those_wanted():
    rows = [(*row, 1.0) for row in walk(0, frames=range(10))] + [(*r, 3.0) for r in walk(5, frames=range(10))]
    found = detections(rows, names={1: PERSON, 3: "car"})
    only = associate(found, AssociationSettings(), frame_indices=range(10))
    both = associate(found, AssociationSettings(classes=()), frame_indices=range(10))
    assert [t.class_name for t in only] == [PERSON]
    assert sorted(t.class_name for t in both) == ["car", PERSON]


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
