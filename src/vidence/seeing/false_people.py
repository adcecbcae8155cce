"""How often a detector sees people on frames that people or another detector call empty."""

from collections.abc import Mapping

import numpy as np

from vidence.seeing.tracks import PERSON, Detections
from vidence.statistics.intervals import mean_interval
from vidence.tables.table import has_interval, interval_text, percent, several


def peopled(detections: Detections) -> set[int]:
    """Return the frames with a box of a person."""
    ids = [i for i, name in detections.class_names.items() if name == PERSON]
    return set(detections.frame_indices[np.isin(detections.class_ids, ids)].tolist())


def false_people(detector: str, empty: Mapping[str, tuple[int, int]], *, judge: str) -> str:
    """Return a sentence with the share of empty frames on which a detector sees people.

    Args:
        detector: its name.
        empty: for each video the number of empty frames with a box of a person, and of all empty frames.
        judge: what calls them empty.

    >>> false_people("hog", {"a": (1, 8), "b": (3, 8)}, judge="people")
    'false people of hog in 25.0 % (0.8 to 93.3) of 16 frames of 2 videos that are empty by people'
    """
    videos = [name for name, (_, n) in empty.items() for _ in range(n)]
    if not videos:
        return f"false people of {detector}: not measured, no frame is empty by {judge}"
    values = [float(i < n_wrong) for n_wrong, n in empty.values() for i in range(n)]
    share = mean_interval(values, clusters=videos)
    ends = interval_text(share) if has_interval(share) else "no interval from one video"
    counted = f"{several(len(videos), 'frame')} of {several(len(set(videos)), 'video')}"
    rate = f"{percent(share.value)} % ({ends})"
    return f"false people of {detector} in {rate} of {counted} that are empty by {judge}"
