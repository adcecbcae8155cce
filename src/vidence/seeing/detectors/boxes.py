"""Boxes that were found elsewhere, from a file; no frame is looked at.

boxes:det.txt                             MOTChallenge: detections, results or ground truth
boxes:boxes.csv                           a table with a header: frame, left, top, right, bottom, ...
boxes:results.json?images=instances.json  COCO: results, and the file that names their images
boxes:det.txt?size=768x576&fps=7          measured in another size of the video, at another frame rate
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.catalog import take_options
from vidence.errors import DataError, UsageError
from vidence.media.video import Video
from vidence.records import Record
from vidence.seeing._settings import number, share, size_px, whole, word
from vidence.seeing.boxfiles import read_boxes
from vidence.seeing.suppression import clip
from vidence.seeing.tracks import Detections

_VERSION: Final = 1
_UNKNOWN: Final = -1
_NOWHERE: Final = -1
_TOLERANCE_S: Final = 1.0  # beyond the last frame: what rounding a frame rate adds up to


class BoxesSettings(Record, kw_only=True):
    """How a file of boxes is read.

    `confidence` is the least that a box must have, `most` how many boxes of a frame are kept, the best.
    `size` is the width and height in pixels that the boxes were measured in (None: the video's own, or what
    the file says); `fps` the frame rate of the video that frame numbers count in (0: the frames of the
    file are those of the video). `images` is the COCO file that names the images of a results file.
    """

    confidence: float = 0.3
    most: int = 300
    size: tuple[int, int] | None = None
    fps: float = 0.0
    images: str = ""
    scores: str = "share"


class Boxes:
    """The boxes of a file. They are cut to the frame; those that lie outside it are left out.

    Where no confidence is known (-1 everywhere in MOT files) it counts as 1.

    Source: HERBench, section 7.1 (the least confidence, the most boxes of a frame).
    Departs: the boxes come from elsewhere.
    """

    looks = False

    def __init__(self, path: Path, settings: BoxesSettings) -> None:
        self._settings = settings
        self._path = path
        self._rows = read_boxes(path, images=Path(settings.images) if settings.images else None)
        self.identity = f"boxes/{_VERSION} {self._rows.content_hash} {settings!r}"

    def detect(self, video: Video, frame_indices: Sequence[int]) -> Detections:
        """The boxes in these frames.

        Raises:
            DataError: the file has boxes in frames that the video does not have.
        """
        frames = self._frames(video)
        boxes = self._rows.boxes_px * self._scale(video)
        width, height = video.probe.width_px, video.probe.height_px
        boxes, covers = clip(boxes, width_px=width, height_px=height)
        confidences = self._confidences()
        keep = covers & (confidences >= self._settings.confidence) & np.isin(frames, list(frame_indices))
        best = np.lexsort([-confidences, frames])
        order = best[keep[best]]
        order = order[_rank(frames[order]) < self._settings.most]
        return Detections(
            frame_indices=frames[order],
            boxes_px=boxes[order],
            confidences=confidences[order],
            class_ids=self._rows.class_ids[order],
            class_names={
                int(i): self._rows.class_names[int(i)] for i in np.unique(self._rows.class_ids[order])
            },
        )

    def _frames(self, video: Video) -> NDArray[np.int64]:
        """The frame of the video for every row."""
        rows, fps = self._rows, self._settings.fps
        if rows.times_s is not None:
            times = rows.times_s
        elif fps:
            times = rows.frame_indices / fps
        else:
            last = int(rows.frame_indices.max(initial=-1))
            if last >= video.n_frames:
                raise DataError(
                    f"{self._path} has boxes in {last + 1} frames, and {video.probe.path} has "
                    f"{video.n_frames}; is it the right video? If it was made at another frame rate, say "
                    f"which: boxes:{self._path}?fps=30"
                )
            return rows.frame_indices
        if len(times) and times.max() > float(video.times_s[-1]) + _TOLERANCE_S:
            raise DataError(
                f"{self._path} has boxes at {times.max():.2f} s, and the last frame of {video.probe.path} is "
                f"at {video.times_s[-1]:.2f} s; is it the right video, and the right frame rate?"
            )
        frames = np.array([video.index_at(float(t)) for t in times], np.int64)
        # Several frames of the file may fall on one of the video: the first of them is taken.
        first: dict[int, float] = {}
        for frame, time in zip(frames.tolist(), times.tolist(), strict=True):
            first[frame] = min(time, first.get(frame, time))
        taken = np.array([first[int(frame)] for frame in frames])
        return np.where(times == taken, frames, _NOWHERE)

    def _confidences(self) -> NDArray[np.float64]:
        """The confidences, 0 to 1; 1 where the file knows none."""
        given = self._rows.confidences
        if np.all(given == _UNKNOWN):
            return np.ones(len(given))
        if self._settings.scores == "logistic":
            return 1 / (1 + np.exp(-given))
        if given.min() < 0 or given.max() > 1:
            raise DataError(
                f"{self._path} has confidences from {given.min():g} to {given.max():g}; expected 0 to 1, or "
                f"-1 everywhere. For the margins of a classifier say boxes:{self._path}?scores=logistic"
            )
        return given

    def _scale(self, video: Video) -> NDArray[np.float64]:
        """What boxes are multiplied with; (4,), or (n, 4) where the file gives the size of each image."""
        shown = np.array([video.probe.width_px, video.probe.height_px], np.float64)
        if self._settings.size is not None:
            return np.tile(shown / np.array(self._settings.size), 2)
        if self._rows.sizes_px is not None:
            return np.tile(shown / self._rows.sizes_px, (1, 2))
        return np.ones(4)


def _rank(frames: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many entries of the same frame stand before each; `frames` are sorted."""
    return np.arange(len(frames)) - np.searchsorted(frames, frames)


def create(argument: str, options: Mapping[str, str]) -> Boxes:
    """The boxes in the file `argument`.

    Options: ``confidence``, ``most``, ``size``, ``fps``, ``images``, ``scores`` (see `BoxesSettings`).

    Raises:
        UsageError: no file is named, or a wrong option.
        DataError: the file is not there, or cannot be read as boxes.
    """
    known: dict[str, Callable[[str], object]] = {
        "confidence": share,
        "most": whole(1),
        "size": size_px,
        "fps": number(0.001),
        "images": str,
        "scores": word("share", "logistic"),
    }
    settings = msgspec.convert(take_options("boxes", options, known), BoxesSettings)
    if not argument:
        raise UsageError("which file of boxes? say boxes:FILE, for example boxes:det.txt")
    return Boxes(Path(argument), settings)
