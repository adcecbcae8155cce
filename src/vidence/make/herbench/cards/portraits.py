"""Pictures by which people tell everybody in a video apart: a few for each track, long or short."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.make.herbench.cards.crops import CropRules, box_of, cut_box
from vidence.make.pipeline.material import Crop
from vidence.make.pipeline.pictures import PictureFolder
from vidence.media.video import FrameProblem, Video
from vidence.seeing.boxes import areas_px
from vidence.seeing.tracks import Track
from vidence.seeing.visibility import shares_covered

_LEAST_SIDE_PX: Final = 4


def portrait_frames(
    track: Track, *, width_px: int, height_px: int, n: int, others: Sequence[Track] = ()
) -> tuple[int, ...]:
    """Up to `n` frames of a track, spread over its time, in each of which most is seen of the box.

    Detected boxes come before filled in ones; a box outside the frame is never chosen. None where all are.

    Args:
        track: who is shown.
        width_px: of the video.
        height_px: of the video.
        n: how many frames are wanted.
        others: everybody else in the video, who may stand in front or behind.
    """
    inside = np.clip(track.boxes_px, 0, [width_px, height_px, width_px, height_px])
    is_inside = np.minimum(inside[:, 2] - inside[:, 0], inside[:, 3] - inside[:, 1]) >= _LEAST_SIDE_PX
    worth = areas_px(inside) * (1 - shares_covered(track, others)) * np.where(track.is_detected, 1.0, 0.01)
    found: list[int] = []
    for places in np.array_split(np.arange(len(track.frame_indices)), n):
        usable = places[is_inside[places]]
        if len(usable):
            found.append(int(track.frame_indices[usable[np.argmax(worth[usable])]]))
    return tuple(found)


def cut_portraits(
    video: Video,
    wanted: Mapping[str, Sequence[int]],
    tracks: Sequence[Track],
    *,
    pictures: PictureFolder,
    rules: CropRules,
) -> dict[str, tuple[Crop, ...]]:
    """The pictures of these frames by track; frames that are damaged are left out.

    Raises:
        MediaError: the file cannot be opened any more.
        StoreError: the folder cannot be written.
    """
    known = {track.track_id: track for track in tracks}
    by_frame: dict[int, list[str]] = {}
    for name, frames in wanted.items():
        for frame in frames:
            by_frame.setdefault(frame, []).append(name)

    def make(index: int, picture: NDArray[np.uint8]) -> dict[str, Crop]:
        keep = partial(pictures.keep, frame_index=index, quality=rules.quality)
        return {
            name: keep(cut_box(picture, box_of(known[name], index), rules), track_id=name)
            for name in by_frame[index]
        }

    read = video.read(sorted(by_frame), make)
    found: dict[str, tuple[Crop, ...]] = {}
    for name, frames in wanted.items():
        held = [(read[index], name) for index in frames]
        found[name] = tuple(one[name] for one, name in held if not isinstance(one, FrameProblem))
    return found
