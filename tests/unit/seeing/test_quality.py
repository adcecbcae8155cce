"""Measures of tracks, against what can be counted by hand."""

import importlib.util
import math

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.seeing import quality
from vidence.seeing.quality import measure
from vidence.seeing.track_files import MotRows


def rows(lines, *, classes=None, marks=None):
    """Lines are frame, id, left; every box is 10 x 10."""
    frames = np.array([line[0] for line in lines], np.int64)
    left = np.array([line[2] for line in lines], float)
    boxes = np.stack([left, np.zeros_like(left), left + 10, np.full_like(left, 10.0)], axis=1)
    n = len(lines)
    return MotRows(
        frame_indices=frames,
        ids=np.array([line[1] for line in lines], np.int64),
        boxes_px=boxes.reshape(n, 4),
        marks=np.ones(n) if marks is None else np.array(marks, float),
        class_ids=np.full(n, -1) if classes is None else np.array(classes),
    )


@pytest.fixture(autouse=True)
def library():
    pytest.importorskip("trackers", reason="needs the library of trackers")


TRUTH = [(f, 1, 0) for f in range(10)] + [(f, 2, 100) for f in range(10)]


def test_truth_against_itself_is_perfect():
    found = measure(rows(TRUTH), rows(TRUTH))
    assert (found.mota, found.idf1, found.hota) == pytest.approx((1, 1, 1))
    assert (found.n_true_boxes, found.n_true_tracks, found.n_frames) == (20, 2, 10)
    none = measure(rows(TRUTH), rows([]))
    assert (none.mota, none.idf1, none.hota, none.n_missed) == (0, 0, 0, 20)
    uncounted = rows([*TRUTH, (0, 3, 300)], marks=[1] * 20 + [0])
    assert measure(uncounted, rows(TRUTH)).n_missed == 0
    with pytest.raises(DataError, match="no box that counts"):
        measure(rows([]), rows(TRUTH))


def test_a_switch_in_the_middle():
    """One of two people changes id after half of ten frames: 1 switch of 20 boxes, 15 of 20 keep theirs."""
    result = [(f, 1, 0) for f in range(10)] + [(f, 7 if f < 5 else 8, 100) for f in range(10)]
    found = measure(rows(TRUTH), rows(result))
    assert found.n_switches == 1
    assert found.mota == pytest.approx(1 - 1 / 20)
    assert found.idf1 == pytest.approx(15 / 20)
    assert found.hota == pytest.approx(math.sqrt(0.75))


def test_missed_and_false_boxes():
    """4 of 20 missed, 3 false: MOTA = 1 - 7/20; recall 16/20, precision 16/19."""
    result = [*TRUTH[4:], *((f, 9, 500) for f in range(3))]
    found = measure(rows(TRUTH), rows(result))
    assert (found.n_missed, found.n_false) == (4, 3)
    assert found.mota == pytest.approx(1 - 7 / 20)
    assert (found.recall, found.precision) == pytest.approx((16 / 20, 16 / 19))


def test_whoever_finds_a_reflection_is_neither_right_nor_wrong():
    """Class 12 is a reflection, class 3 a car: the box on the car is false, that on the reflection is not."""
    truth = rows([*TRUTH, (0, 3, 300), (0, 4, 400)], classes=[1] * 20 + [12, 3])
    found = measure(truth, rows([*TRUTH, (0, 8, 300), (0, 9, 400)]))
    assert found.n_true_boxes == 20
    assert found.n_false == 1


def test_somebody_twice_in_one_frame_is_refused():
    with pytest.raises(
        DataError, match=r"the result has the id 1 more than once in frame 1 \(counted from 1\)"
    ):
        measure(rows(TRUTH), rows([(0, 1, 0), (0, 1, 50)]))


def test_without_the_library_the_message_says_how_to_get_it(monkeypatch):
    true_find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "trackers" else true_find(name)
    )
    with pytest.raises(UsageError, match=r"pip install .*supervision.* --no-deps 'trackers"):
        quality.check_installed()
