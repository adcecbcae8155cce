"""ByteTrack of the library `trackers`: motion alone, boxes of little confidence matched last.

bytetrack
bytetrack?max_age=60&high=0.5
"""

import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.catalog import take_options
from vidence.errors import UsageError
from vidence.records import Record
from vidence.seeing._settings import share, whole
from vidence.seeing.association import tracks_of
from vidence.seeing.quality import INSTALL
from vidence.seeing.trackers._associating import class_list
from vidence.seeing.tracks import PERSON, Detections, Track


class ByteTrackSettings(Record, kw_only=True):
    """The settings of the library, under our names.

    `start` is the least confidence of a track's first box, `high` parts boxes by confidence, `least_iou`
    is the least overlap of a match, `n_init` the boxes that a track needs, `max_age` the frames it may be
    lost. The values are the library's own; HERBench does not use it.
    """

    start: float = 0.7
    high: float = 0.6
    least_iou: float = 0.1
    n_init: int = 2
    max_age: int = 30
    classes: tuple[str, ...] = (PERSON,)


class ByteTrack:
    """The library's tracker, run once for each class.

    Source: Zhang et al. 2022 (ByteTrack), as in the library ``trackers``.
    Departs: no. The boxes of a track are those that were detected.
    """

    describer = ""

    def __init__(self, settings: ByteTrackSettings) -> None:
        self._settings = settings
        self.classes = settings.classes
        self.identity = f"bytetrack trackers {importlib.metadata.version('trackers')} {settings!r}"

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
        for class_id, name in sorted(detections.class_names.items()):
            if not self._settings.classes or name in self._settings.classes:
                rows = np.flatnonzero(detections.class_ids == class_id)
                found = self._histories(detections, rows, frame_indices=frame_indices)
                histories += [(name, history) for history in found]
        return tracks_of(detections, histories)

    def _histories(
        self, detections: Detections, rows: NDArray[np.int64], *, frame_indices: Sequence[int]
    ) -> list[list[int]]:
        import supervision
        import trackers

        settings = self._settings
        tracker = trackers.ByteTrackTracker(
            lost_track_buffer=settings.max_age,
            track_activation_threshold=settings.start,
            minimum_consecutive_frames=settings.n_init,
            minimum_iou_threshold=settings.least_iou,
            high_conf_det_threshold=settings.high,
        )
        histories: dict[int, list[int]] = {}
        frames = detections.frame_indices[rows]
        for frame in sorted({int(index) for index in frame_indices}):
            first, last = np.searchsorted(frames, [frame, frame + 1])
            here = rows[first:last]
            shown = supervision.Detections(
                xyxy=detections.boxes_px[here].astype(np.float32),
                confidence=detections.confidences[here].astype(np.float32),
                class_id=np.zeros(len(here), np.int64),
                data={"row": here},
            )
            told = tracker.update(shown)
            if len(told):
                for number, row in zip(told.tracker_id.tolist(), told.data["row"].tolist(), strict=True):
                    if number >= 0:
                        histories.setdefault(number, []).append(row)
        return list(histories.values())


def create(argument: str, options: Mapping[str, str]) -> ByteTrack:
    """ByteTrack; there is no argument. Options: the fields of `ByteTrackSettings`.

    Raises:
        UsageError: the library is not installed, an argument is given, or a wrong option.
    """
    if argument:
        raise UsageError(f"bytetrack takes no argument, and got {argument!r}; options follow a ?")
    known: dict[str, Callable[[str], object]] = {
        "start": share,
        "high": share,
        "least_iou": share,
        "n_init": whole(1),
        "max_age": whole(1),
        "classes": class_list,
    }
    settings = msgspec.convert(take_options("bytetrack", options, known), ByteTrackSettings)
    if importlib.util.find_spec("trackers") is None:
        raise UsageError(f"the tracker bytetrack needs the library 'trackers'; run: {INSTALL}")
    return ByteTrack(settings)
