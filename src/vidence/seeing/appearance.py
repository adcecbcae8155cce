"""Appearance of tracks: histograms of colour and texture, and how rare they are."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.media.pixels import resize
from vidence.media.video import Video
from vidence.records import Record
from vidence.seeing.tracks import Track

N_LBP_BINS: Final = 10
_LEAST_SIDE_PX: Final = 3  # one pixel with its neighbours


class AppearanceSettings(Record):
    """How appearance is measured.

    `n_crops` pictures of each track are looked at, evenly spread over its detected boxes. Crops higher
    than `most_height_px` are shrunk first, so that texture means the same near and far. `hsv_bins` is the
    number of steps of hue, saturation and value.
    """

    n_crops: int = 10
    most_height_px: int = 128
    hsv_bins: int = 8

    def __post_init__(self) -> None:
        if self.n_crops < 1 or self.hsv_bins < 1 or self.most_height_px < _LEAST_SIDE_PX:
            raise UsageError(
                f"appearance with n_crops={self.n_crops}, hsv_bins={self.hsv_bins}, "
                f"most_height_px={self.most_height_px}: expected 1, 1 and {_LEAST_SIDE_PX} or above"
            )


def hsv_histogram(crop: NDArray[np.uint8], *, n_bins: int = 8) -> NDArray[np.float64]:
    """The joint histogram of hue, saturation and value; sums to 1.

    Every scale is cut into `n_bins` equal steps: hue from 0 to 360 degrees, saturation and value from 0 to
    1 (1 is in the last step). Hue is 0 where there is no colour.

    Shapes: `crop` (height, width, 3), RGB; the result (n_bins ** 3,), hue slowest, value fastest.
    """
    pixels = crop.reshape(-1, 3).astype(np.float64)
    red, green, blue = pixels.T
    highest = pixels.max(axis=1)
    spread = highest - pixels.min(axis=1)
    safe = np.where(spread > 0, spread, 1.0)
    hue = np.where(
        highest == red,
        (green - blue) / safe % 6,
        np.where(highest == green, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    saturation = spread / np.maximum(highest, 1.0)
    scaled = np.stack([hue / 6, saturation, highest / 255])
    steps = np.minimum((scaled * n_bins).astype(np.int64), n_bins - 1)
    cell = (steps[0] * n_bins + steps[1]) * n_bins + steps[2]
    return np.bincount(cell, minlength=n_bins**3) / len(pixels)


def lbp_histogram(crop: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The histogram of uniform local binary patterns (8 points, radius 1); sums to 1.

    A pixel's pattern says which of 8 points around it, read between pixels, are at least as bright. A
    pattern with at most two changes around the circle is counted by its number of bright points (0 to 8),
    all others together (9). The outermost pixels have no full circle and are left out.

    Shapes: `crop` (height, width, 3), RGB, at least 3x3; the result (10,).

    Raises:
        UsageError: the crop is smaller.
    """
    if min(crop.shape[:2]) < _LEAST_SIDE_PX:
        raise UsageError(f"a crop of {crop.shape[1]}x{crop.shape[0]} pixels; texture needs at least 3x3")
    red, green, blue = np.moveaxis(crop.astype(np.int64), 2, 0)
    grey = ((299 * red + 587 * green + 114 * blue + 500) // 1000).astype(np.float64)
    rows, columns = grey.shape[0] - 2, grey.shape[1] - 2

    def shifted(down: int, right: int) -> NDArray[np.float64]:
        part: NDArray[np.float64] = grey[1 + down : 1 + down + rows, 1 + right : 1 + right + columns]
        return part

    centre = shifted(0, 0)
    code = np.zeros((rows, columns), np.int64)
    a = np.sqrt(0.5)  # the diagonal points lie this far to the side and up
    for bit, (down, right) in enumerate(
        ((0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1))
    ):
        value = shifted(down, right)
        if down and right:
            sides = shifted(down, 0) + shifted(0, right)
            value = a * a * value + a * (1 - a) * sides + (1 - a) ** 2 * centre
        code |= (value >= centre - 1e-9).astype(np.int64) << bit
    return np.bincount(_uniform_classes()[code].ravel(), minlength=N_LBP_BINS) / code.size


@cache
def _uniform_classes() -> NDArray[np.int64]:
    """The class of each of the 256 patterns."""
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    changes = (bits != np.roll(bits, 1, axis=1)).sum(axis=1)
    return np.where(changes <= 2, bits.sum(axis=1), N_LBP_BINS - 1)


def describe(crop: NDArray[np.uint8], settings: AppearanceSettings) -> NDArray[np.float64]:
    """The appearance of one crop: its HSV histogram, then its LBP histogram; each sums to 1.

    Shapes: `crop` (height, width, 3), RGB; the result (hsv_bins ** 3 + 10,).

    Raises:
        UsageError: the crop is smaller than 3x3 pixels.

    Source: HERBench, section 7.1 (HSV and LBP histograms).
    Departs: bins, pattern and weights are not given: 8x8x8, uniform LBP(8, 1), both with the same weight.
    """
    height, width = crop.shape[:2]
    if height > settings.most_height_px:
        size = (max(round(width * settings.most_height_px / height), _LEAST_SIDE_PX), settings.most_height_px)
        crop = resize(crop, size=size)
    return np.concatenate([hsv_histogram(crop, n_bins=settings.hsv_bins), lbp_histogram(crop)])


def cut_out(image: NDArray[np.uint8], box_px: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The pixels that a box covers at least partly, within the picture; may be empty."""
    height, width = image.shape[:2]
    left, top = np.clip(np.floor(box_px[:2]), 0, (width, height)).astype(int)
    right, bottom = np.clip(np.ceil(box_px[2:]), 0, (width, height)).astype(int)
    return image[top:bottom, left:right]


def crop_rows(track: Track, *, n_crops: int) -> NDArray[np.int64]:
    """Which boxes of a track to use: evenly spaced over the detected ones (over all if none is)."""
    rows = np.flatnonzero(track.is_detected)
    rows = rows if len(rows) else np.arange(len(track.frame_indices))
    n = min(n_crops, len(rows))
    middles = (2 * np.arange(n) + 1) * len(rows) // (2 * n)
    return rows[middles]


def read_appearances(
    video: Video, tracks: Sequence[Track], *, settings: AppearanceSettings | None = None
) -> dict[str, NDArray[np.float64]]:
    """The mean appearance of each track, by its id, from one pass over the video.

    A track of which no crop can be read (damaged frames, boxes under 3x3 pixels) is not in the result.

    Raises:
        MediaError: the video cannot be opened any more.
    """
    settings = settings or AppearanceSettings()
    wanted: dict[int, list[tuple[str, NDArray[np.float64]]]] = defaultdict(list)
    for track in tracks:
        for row in crop_rows(track, n_crops=settings.n_crops):
            wanted[int(track.frame_indices[row])].append((track.track_id, track.boxes_px[row]))

    def look(frame_index: int, image: NDArray[np.uint8]) -> list[tuple[str, NDArray[np.float64]]]:
        crops = [(track_id, cut_out(image, box)) for track_id, box in wanted[frame_index]]
        return [
            (track_id, describe(crop, settings))
            for track_id, crop in crops
            if min(crop.shape[:2]) >= _LEAST_SIDE_PX
        ]

    seen: dict[str, list[NDArray[np.float64]]] = defaultdict(list)
    for _, entries in sorted(video.read(sorted(wanted), look).items()):
        if isinstance(entries, list):
            for track_id, appearance in entries:
                seen[track_id].append(appearance)
    return {track_id: np.mean(vectors, axis=0) for track_id, vectors in seen.items()}


def mean_appearance(appearances: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The average appearance, with equal weight for every track. Shapes: (n_dims,) each.

    Raises:
        UsageError: there is none, or their lengths differ.
    """
    if len({len(appearance) for appearance in appearances}) != 1:
        lengths = sorted({len(appearance) for appearance in appearances})
        raise UsageError(f"appearances of lengths {lengths}: expected at least one, all made alike")
    return np.asarray(np.mean(appearances, axis=0))


def rarity(
    track_ids: Sequence[str],
    appearances: Mapping[str, NDArray[np.float64]],
    *,
    mean: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """The L1 distance of each track's appearance from the average, (n_tracks,).

    `mean` is the average of a corpus; None takes that of the tracks here. A track whose appearance is
    not known has 0.

    Raises:
        UsageError: appearances whose lengths differ.

    Source: HERBench, section 7.1 (appearance exceptionality: L1 distance from the average appearance).
    Departs: "the dataset's average" is the corpus where it is given, otherwise the video.
    """
    known = [track_id for track_id in track_ids if track_id in appearances]
    far = np.zeros(len(track_ids))
    if not known:
        return far
    average = mean_appearance([appearances[track_id] for track_id in known])
    if mean is not None and mean.shape != average.shape:
        raise UsageError(
            f"the corpus mean has {len(mean)} values and the appearances here have {len(average)}; "
            "make both with the same settings"
        )
    average = average if mean is None else mean
    for i, track_id in enumerate(track_ids):
        if track_id in appearances:
            far[i] = np.abs(appearances[track_id] - average).sum()
    return far
