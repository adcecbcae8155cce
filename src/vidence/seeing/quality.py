"""Measure tracks against ground truth: MOTA, IDF1, HOTA."""

import importlib.metadata
import importlib.util
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.installation import install_trackers
from vidence.records import Record
from vidence.seeing.boxes import iou
from vidence.seeing.track_files import MotRows
from vidence.weights.checkpoints import library

if TYPE_CHECKING:
    from types import ModuleType

# Classes of MOT16 that look like people: who finds them is neither right nor wrong.
_DISTRACTORS: Final = (2, 7, 8, 12)
_SAME: Final = 0.5
# What the library calls the fields of `Quality`.
_SHARES: Final = {
    **{"mota": "MOTA", "idf1": "IDF1", "hota": "HOTA", "det_a": "DetA", "ass_a": "AssA"},
    **{"motp": "MOTP", "precision": "CLR_Pr", "recall": "CLR_Re"},
}
_COUNTS: Final = {
    **{"n_switches": "IDSW", "n_fragmentations": "Frag", "n_missed": "CLR_FN", "n_false": "CLR_FP"},
    **{"n_mostly_tracked": "MT", "n_mostly_lost": "ML"},
}


class Quality(Record):
    """Tracks against ground truth; shares are 0 to 1 (`mota` may be negative), a match is an IoU of 0.5.

    `mota` = 1 - (missed + false + switches) / true boxes. `idf1` is the F1 score of boxes under the best
    one-to-one pairing of tracks. `hota` is the mean over IoU thresholds 0.05 to 0.95 of the geometric mean
    of detection accuracy (`det_a`) and association accuracy (`ass_a`). `library` computed the numbers.
    """

    mota: float
    idf1: float
    hota: float
    det_a: float
    ass_a: float
    motp: float
    precision: float
    recall: float
    n_switches: int
    n_fragmentations: int
    n_missed: int
    n_false: int
    n_true_boxes: int
    n_true_tracks: int
    n_mostly_tracked: int
    n_mostly_lost: int
    n_frames: int
    library: str


def measure(truth: MotRows, result: MotRows) -> Quality:
    """Compare tracks with ground truth.

    Ground truth with classes (since MOT16) is prepared as the benchmark does: only pedestrians that are to
    be considered count, and boxes of the result on something that looks like a pedestrian and is none
    (a reflection, a person on a vehicle) are taken out first. Without classes, true boxes whose seventh
    column is 0 are left out.

    Raises:
        DataError: a track has two boxes in one frame, or the ground truth is empty.
        UsageError: the library of metrics is not installed.

    Source: Bernardin and Stiefelhagen 2008 (MOTA), Ristani et al. 2016 (IDF1), Luiten et al. 2021 (HOTA),
    as in the library ``trackers``; Milan et al. 2016 (MOT16), section 4 (what is taken out).
    """
    library = _library()
    check_once(truth.part(truth.counts), what="the ground truth")
    check_once(result, what="the result")
    frames = sorted({*truth.frame_indices.tolist(), *result.frame_indices.tolist()})
    true_ids, ids, overlaps = [], [], []
    for frame in range(frames[-1] + 1 if frames else 0):
        there = truth.part(truth.frame_indices == frame)
        rows = result.part(result.frame_indices == frame)
        if truth.has_classes:
            rows = rows.part(~_on_distractor(there, rows))
        there = there.part(there.counts)
        true_ids.append(there.ids)
        ids.append(rows.ids)
        overlaps.append(iou(there.boxes_px[:, None], rows.boxes_px[None]))
    n_true = sum(map(len, true_ids))
    if not n_true:
        raise DataError("the ground truth has no box that counts; expected lines with a 1 in column seven")
    clear = library.compute_clear_metrics(true_ids, ids, overlaps, threshold=_SAME)
    identity = library.compute_identity_metrics(true_ids, ids, overlaps, threshold=_SAME)
    hota = library.compute_hota_metrics(true_ids, ids, overlaps)
    found_by_library = {**identity, **hota, **clear}
    values: dict[str, object] = {
        **{name: float(found_by_library[key]) for name, key in _SHARES.items()},
        **{name: int(found_by_library[key]) for name, key in _COUNTS.items()},
        "n_true_boxes": n_true,
        "n_true_tracks": len(np.unique(np.concatenate(true_ids))),
        "n_frames": len(true_ids),
        "library": f"trackers {importlib.metadata.version('trackers')}",
    }
    return msgspec.convert(values, Quality)


def _on_distractor(there: MotRows, rows: MotRows) -> NDArray[np.bool_]:
    """Which result boxes belong to distractors, which look like pedestrians but are not."""
    optimize = library("scipy.optimize", owner="tracking", extra="build")
    overlaps = iou(there.boxes_px[:, None], rows.boxes_px[None])
    i, j = optimize.linear_sum_assignment(-np.where(overlaps >= _SAME, overlaps, 0.0))
    is_on = np.zeros(len(rows.ids), np.bool_)
    is_on[j] = (overlaps[i, j] >= _SAME) & np.isin(there.class_ids[i], list(_DISTRACTORS))
    return is_on


def check_once(rows: MotRows, *, what: str) -> None:
    """Reject tracks that are twice in one frame.

    Raises:
        DataError: one is; the message names it.
    """
    pairs, counts = np.unique(np.stack([rows.frame_indices, rows.ids]), axis=1, return_counts=True)
    if np.any(counts > 1):
        frame, name = pairs[:, np.argmax(counts > 1)]
        raise DataError(
            f"{what} has the id {name} more than once in frame {frame + 1} (counted from 1); expected "
            "tracks, with an id of its own for every person"
        )


def check_installed() -> None:
    """Check early that the metrics library is installed.

    Raises:
        UsageError: the library is not installed.
    """
    if importlib.util.find_spec("trackers") is None:
        raise UsageError(f"measuring tracks (--gt) needs the library 'trackers'; run: {install_trackers()}")


def _library() -> "ModuleType":
    check_installed()
    import trackers.eval

    module: ModuleType = trackers.eval
    return module
