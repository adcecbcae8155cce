"""SORT of the library `trackers`: by position only.

sort
sort?max_age_s=2&start=0.5
"""

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.installation import install_trackers
from vidence.records import Record
from vidence.seeing.association import by_class, named_classes, tracks_of
from vidence.seeing.tracks import PERSON, Detections, Track, frames_in


class Settings(Record):
    """The settings of the library, under our names. The values are its own; HERBench does not use it."""

    start: Annotated[float, Meta(ge=0, le=1, description="minimum confidence of a track's first box")] = 0.25
    least_iou: Annotated[float, Meta(ge=0, le=1, description="minimum IoU of a match")] = 0.3
    n_init: Annotated[int, Meta(ge=1, description="boxes that a valid track needs")] = 3
    max_age_s: Annotated[float, Meta(gt=0, description="seconds for which a track may be lost")] = 1.0
    classes: Annotated[tuple[str, ...], Meta(description="names of the classes to track, or all")] = (PERSON,)


class Sort:
    """The library's tracker, run once for each class.

    Source: Bewley et al. 2016 (SORT), as in the library ``trackers``.
    Departs: no. The boxes of a track are those that were detected.
    """

    describer = ""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.classes = named_classes(settings.classes)
        self.identity = f"sort trackers {importlib.metadata.version('trackers')} {settings!r}"

    def track(
        self,
        detections: Detections,
        *,
        frame_indices: Sequence[int],
        fps: float,
        vectors: NDArray[np.float32] | None = None,
    ) -> tuple[Track, ...]:
        """The tracks, in the order of their first box."""
        histories: list[tuple[str, list[int]]] = []
        for name, frames in by_class(detections, self.classes, frame_indices=frame_indices):
            histories += [(name, history) for history in self._histories(detections, frames, fps=fps)]
        return tracks_of(detections, histories)

    def _histories(
        self, detections: Detections, frames: Sequence[tuple[int, NDArray[np.int64]]], *, fps: float
    ) -> list[list[int]]:
        import supervision
        import trackers

        settings = self._settings
        stride = min(np.diff([frame for frame, _ in frames]), default=1)  # it counts the frames it is shown
        lost = max(1, frames_in(settings.max_age_s, fps / stride))
        tracker = trackers.SORTTracker(
            lost_track_buffer=lost,
            track_activation_threshold=settings.start,
            minimum_consecutive_frames=settings.n_init,
            minimum_iou_threshold=settings.least_iou,
        )
        histories: dict[int, list[int]] = {}
        for _, here in frames:
            result = supervision.Detections(
                xyxy=detections.boxes_px[here].astype(np.float32),
                confidence=detections.confidences[here].astype(np.float32),
                class_id=np.zeros(len(here), np.int64),
                data={"row": here},
            )
            outcome = tracker.update(result)
            if len(outcome):
                for number, row in zip(
                    outcome.tracker_id.tolist(), outcome.data["row"].tolist(), strict=True
                ):
                    if number >= 0:
                        histories.setdefault(number, []).append(row)
        return list(histories.values())


def create(settings: Settings) -> Sort:
    """SORT.

    Raises:
        UsageError: the library is not installed.
    """
    if importlib.util.find_spec("trackers") is None:
        raise UsageError(f"the tracker sort needs the library 'trackers'; run: {install_trackers()}")
    return Sort(settings)
