"""Select and render the frames of a track that are shown to card writers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Final

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.engine.config_file import Count
from vidence.errors import UsageError
from vidence.make.pipeline.material import Crop, Dropped
from vidence.make.pipeline.pictures import PictureFolder
from vidence.media.encode import Size
from vidence.media.pixels import resize
from vidence.media.video import FrameProblem, Video
from vidence.records import Record, by_key
from vidence.seeing.boxes import areas_px
from vidence.seeing.tracks import PAPER_FPS, Track, frames_in
from vidence.seeing.visibility import shares_covered

STAGE: Final = "crops"
_COVERED: Final = "covered-by-others"
_LEAST_SIDE_PX: Final = 4
_BOX_COLOUR: Final = (255, 230, 0)
_BOX_EDGE: Final = (0, 0, 0)


class CropRules(Record, omit_defaults=True):
    """How crops are chosen and made.

    The first and the last `end_share` of a track are for its appearance, `n_each_end` crops from either; what
    lies between them, without `gap_s` seconds on both sides, is for its path, `n_path` crops. A crop has
    `margin` of its box around it; its shorter side is brought to at least `least_px`, its longer to at most
    `most_px`. The whole frames around a path are brought to `frame_px` on their longer side. A box of which
    somebody else's box has more than `most_covered` is not shown: nobody could say who of the two is meant.
    """

    end_share: Annotated[float, Meta(gt=0, lt=0.5)] = 0.2
    gap_s: Annotated[float, Meta(ge=0)] = 1.0
    n_each_end: Count = 3
    n_path: Count = 5
    margin: Annotated[float, Meta(ge=0)] = 0.1
    least_px: Count = 160
    most_px: Count = 640
    frame_px: Count = 768
    most_covered: Annotated[float, Meta(ge=0, le=1)] = 0.5
    quality: int = 90

    def __post_init__(self) -> None:
        if self.least_px > self.most_px:
            raise UsageError(
                f"least_px is {self.least_px}, most_px {self.most_px}; expected the first no larger"
            )


@dataclass(frozen=True, kw_only=True)
class CropPlan:
    """The frames of one track that its cards are written from, ascending."""

    track: Track
    appearance: tuple[int, ...]
    path: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class TrackPictures:
    """The pictures shown to a card writer, in time order.

    `appearance` are crops from both ends of the track. `path` are crops from its middle, `frames` the same
    frames whole, with the box drawn in.
    """

    track_id: str
    appearance: tuple[Crop, ...]
    path: tuple[Crop, ...]
    frames: tuple[Crop, ...]


def plan_crops(
    track: Track,
    *,
    width_px: int,
    height_px: int,
    rules: CropRules,
    others: Sequence[Track] = (),
    fps: float = PAPER_FPS,
) -> CropPlan | Dropped:
    """Choose the frames of a track.

    Appearance: from each of equal parts of either end the box of which most is seen. Path: from each of equal
    parts of the middle the box nearest to the part's centre. Boxes that were filled in are chosen only where
    a whole end, or too much of the middle, has no others; they may show a place that somebody has left. A box
    outside the frame is never chosen, nor one that somebody else covers.

    Args:
        track: who is shown.
        width_px: of the video.
        height_px: of the video.
        rules: how frames are chosen.
        others: everybody else in the video, who may stand in front or behind.
        fps: frames per second of the video.

    Source: HERBench, section 7.2: 10-11 crops, the first and last 20 % for A-cards, the middle 60 % for
        B-cards, at least 30 frames between them.
    Departs: the gap is a second, 30 frames of the paper's films. The two spans of the paper touch, so that
        the gap is taken out of the middle; a track that leaves fewer than five frames there is dropped. The
        paper says nothing of people who cover each other.
    """
    boxes = _inside(track.boxes_px, width_px=width_px, height_px=height_px)
    covered = shares_covered(track, others)
    is_inside = np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]) >= _LEAST_SIDE_PX
    is_clear = covered <= rules.most_covered
    seen = is_inside & is_clear
    frames = track.frame_indices
    length = track.last_frame - track.first_frame + 1
    first_end = track.first_frame + rules.end_share * length
    last_start = track.first_frame + (1 - rules.end_share) * length
    gap = frames_in(rules.gap_s, fps)
    start, stop = first_end + gap, last_start - gap
    in_middle = (frames >= start) & (frames < stop)
    n_middle, n_clear = (int(np.count_nonzero(in_middle & some)) for some in (is_inside, seen))
    if n_middle < rules.n_path:
        return _unfit(
            track,
            "too-short-for-cards",
            f"{length} frames leave {n_middle} boxes for the path, at least {rules.n_path} are needed "
            f"behind gaps of {gap} frames (gap_s = {rules.gap_s:g})",
        )
    if n_clear < rules.n_path:
        return _unfit(track, _COVERED, f"{n_clear} of {n_middle} boxes of the middle show only this person")
    visible = areas_px(boxes) * (1 - covered)
    appearance: list[int] = []
    for low, high in ((track.first_frame, first_end), (last_start, track.last_frame + 1)):
        at_end = is_inside & (frames >= low) & (frames < high)
        if at_end.any() and not (at_end & is_clear).any():
            return _unfit(
                track, _COVERED, f"all boxes in frames {low:.0f} to {high - 1:.0f} show another person"
            )
        best = _detected(track, at_end & is_clear, least=1)
        for part in _parts(low, high, rules.n_each_end):
            inside = np.flatnonzero(best & (frames >= part[0]) & (frames < part[1]))
            appearance += [int(frames[i]) for i in inside[np.argsort(-visible[inside], kind="stable")][:1]]
    if not appearance:
        return _unfit(track, "box-outside", "no box at either end is in the frame")
    usable = _detected(track, seen & in_middle, least=rules.n_path)
    path = _path_frames(track, usable, parts=_parts(start, stop, rules.n_path))
    return CropPlan(track=track, appearance=tuple(sorted(set(appearance))), path=path)


def _detected(track: Track, usable: NDArray[np.bool_], *, least: int) -> NDArray[np.bool_]:
    """Return which usable boxes were detected; all if those are too few."""
    detected = usable & track.is_detected
    return detected if np.count_nonzero(detected) >= least else usable


def _path_frames(
    track: Track, usable: NDArray[np.bool_], *, parts: Sequence[tuple[float, float]]
) -> tuple[int, ...]:
    """One frame for each part of the middle, ascending; another one where a part has none."""
    frames = track.frame_indices
    path: list[int] = []
    for low, high in parts:
        inside = np.flatnonzero(usable & ~np.isin(frames, path))
        centre = (low + high - 1) / 2
        order = sorted(
            inside,
            key=lambda i: (not low <= frames[i] < high, not track.is_detected[i], abs(frames[i] - centre)),
        )
        path.append(int(frames[order[0]]))
    return tuple(sorted(path))


def _unfit(track: Track, reason: str, detail: str) -> Dropped:
    return Dropped(what=track.track_id, stage=STAGE, reason=reason, detail=detail)


def cut_crops(
    video: Video, plans: Sequence[CropPlan], *, pictures: PictureFolder, rules: CropRules
) -> tuple[dict[str, TrackPictures], tuple[Dropped, ...]]:
    """Make the pictures of all tracks of a video; its frames are read once.

    Returns:
        By track, and what was dropped: a track of which half of the frames for either card are damaged.

    Raises:
        MediaError: the file cannot be opened any more.
        StoreError: the folder cannot be written.
    """
    wanted = by_key((frame, plan) for plan in plans for frame in {*plan.appearance, *plan.path})

    def make(index: int, image: NDArray[np.uint8]) -> dict[tuple[str, str], Crop]:
        values: dict[tuple[str, str], Crop] = {}
        for plan in wanted[index]:
            box, name = box_of(plan.track, index), plan.track.track_id
            keep = partial(pictures.keep, frame_index=index, quality=rules.quality, track_id=name)
            values[name, "crop"] = keep(cut_box(image, box, rules))
            if index in plan.path:
                values[name, "frame"] = keep(_boxed(image, box, rules))
        return values

    read = video.read(sorted(wanted), make)
    crops: dict[str, TrackPictures] = {}
    dropped: list[Dropped] = []
    for plan in plans:
        track_pictures = _of_track(plan, read)
        halves = (
            len(track_pictures.appearance) * 2 > len(plan.appearance),
            len(track_pictures.path) * 2 > len(plan.path),
        )
        if all(halves):
            crops[plan.track.track_id] = track_pictures
        else:
            own = [read[index] for index in (*plan.appearance, *plan.path)]
            lost = next(row.message for row in own if isinstance(row, FrameProblem))
            dropped.append(
                Dropped(what=plan.track.track_id, stage=STAGE, reason="frames-unreadable", detail=lost)
            )
    return crops, tuple(dropped)


def _of_track(
    plan: CropPlan, read: Mapping[int, Mapping[tuple[str, str], Crop] | FrameProblem]
) -> TrackPictures:
    key = plan.track.track_id

    def of(frames: Sequence[int], kind: str) -> tuple[Crop, ...]:
        held = [read[index] for index in frames]
        return tuple(row[key, kind] for row in held if not isinstance(row, FrameProblem))

    return TrackPictures(
        track_id=key,
        appearance=of(plan.appearance, "crop"),
        path=of(plan.path, "crop"),
        frames=of(plan.path, "frame"),
    )


def _parts(low: float, high: float, n: int) -> list[tuple[float, float]]:
    edges = np.linspace(low, high, n + 1)
    return [(float(a), float(b)) for a, b in pairwise(edges)]


def _inside(boxes_px: NDArray[np.float64], *, width_px: int, height_px: int) -> NDArray[np.float64]:
    """The parts of boxes that are in the frame, shape (n, 4)."""
    return np.clip(boxes_px, 0, [width_px, height_px, width_px, height_px])


def box_of(track: Track, frame_index: int) -> NDArray[np.float64]:
    """The box of a track in one of its frames, shape (4,)."""
    box: NDArray[np.float64] = track.boxes_px[np.searchsorted(track.frame_indices, frame_index)]
    return box


def cut_box(image: NDArray[np.uint8], box: NDArray[np.float64], rules: CropRules) -> NDArray[np.uint8]:
    """The crop of a box with its margin, at its final size."""
    from PIL import Image

    height, width, _ = image.shape
    around = rules.margin * np.array([box[2] - box[0], box[3] - box[1]])
    wide = _inside(box + np.concatenate([-around, around]), width_px=width, height_px=height)
    left, top = (int(x) for x in np.floor(wide[:2]))
    right, bottom = (int(x) for x in np.ceil(wide[2:]))
    cut = np.ascontiguousarray(image[top:bottom, left:right])
    height, width, _ = cut.shape
    if min(height, width) >= rules.least_px:
        return resize(cut, size=Size(kind="long", pixels=rules.most_px).fit(width, height))
    # Models see next to nothing in pictures of few pixels; enlarging shows no more, but shows it larger.
    factor = min(rules.least_px / min(height, width), rules.most_px / max(height, width))
    size = (max(round(width * factor), 1), max(round(height * factor), 1))
    return np.asarray(Image.fromarray(cut).resize(size, Image.Resampling.BICUBIC), np.uint8)


def _boxed(image: NDArray[np.uint8], box: NDArray[np.float64], rules: CropRules) -> NDArray[np.uint8]:
    """The whole frame, smaller, with the box drawn around the person."""
    from PIL import Image, ImageDraw

    height, width, _ = image.shape
    size = Size(kind="long", pixels=rules.frame_px).fit(width, height)
    picture = Image.fromarray(resize(image, size=size))
    left, top, right, bottom = (float(x) for x in box * (size[0] / width))
    pen = ImageDraw.Draw(picture)
    for grow, colour in ((3, _BOX_EDGE), (2, _BOX_COLOUR), (1, _BOX_COLOUR)):
        pen.rectangle((left - grow, top - grow, right + grow, bottom + grow), outline=colour)
    return np.asarray(picture, np.uint8)
