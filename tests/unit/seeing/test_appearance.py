"""Histograms of colour and texture against sums written out pixel by pixel."""

import colorsys
import math

import numpy as np
import pytest
from PIL import Image

from subjects.tracks import track, walk
from vidence.errors import UsageError
from vidence.media.video import open_video
from vidence.seeing.appearance import (
    AppearanceSettings,
    crop_rows,
    cut_out,
    describe,
    hsv_histogram,
    lbp_histogram,
    mean_appearance,
    rarity,
    read_appearances,
)


def slow_hsv(crop, n_bins):
    """Every pixel by the standard library."""
    counts = np.zeros((n_bins,) * 3)
    for pixel in crop.reshape(-1, 3).tolist():
        scaled = colorsys.rgb_to_hsv(*(level / 255 for level in pixel))
        # Exact multiples of a step are decided by the last bit; a hair above them is what is meant.
        cell = tuple(min(int(value * n_bins + 1e-9), n_bins - 1) for value in scaled)
        counts[cell] += 1
    return counts.ravel() / counts.sum()


def slow_lbp(crop):
    """Every pixel and every point of its circle by sines, cosines and four neighbours."""
    height, width = crop.shape[:2]
    grey = [
        [math.floor((299 * r + 587 * g + 114 * b) / 1000 + 0.5) for r, g, b in row] for row in crop.tolist()
    ]

    def between(y, x):
        top, left = math.floor(y), math.floor(x)
        down, right = y - top, x - left
        total = 0.0
        for dy, wy in ((0, 1 - down), (1, down)):
            for dx, wx in ((0, 1 - right), (1, right)):
                if wy * wx > 1e-12:
                    total += wy * wx * grey[top + dy][left + dx]
        return total

    counts = [0] * 10
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            bits = []
            for point in range(8):
                angle = 2 * math.pi * point / 8
                at = round(y - math.sin(angle), 12), round(x + math.cos(angle), 12)
                bits.append(between(*at) >= grey[y][x] - 1e-9)
            changes = sum(bits[i] != bits[i - 1] for i in range(8))
            counts[sum(bits) if changes <= 2 else 9] += 1
    return np.array(counts) / sum(counts)


@pytest.fixture
def pictures(rng):
    noise = rng.integers(0, 256, (24, 17, 3), np.uint8)
    coarse = np.repeat(np.repeat(rng.integers(0, 256, (6, 5, 3), np.uint8), 4, axis=0), 4, axis=1)
    ramp = np.broadcast_to((np.arange(20) * 12).astype(np.uint8)[:, None, None], (20, 9, 3))
    few = rng.choice(np.array([0, 64, 128, 255], np.uint8), (15, 15, 3))
    return [noise, coarse, ramp, few]


def test_colours_are_counted_as_the_standard_library_sees_them(pictures):
    for picture in pictures:
        for n_bins in (8, 3):
            np.testing.assert_allclose(hsv_histogram(picture, n_bins=n_bins), slow_hsv(picture, n_bins))


@pytest.mark.parametrize(
    ("colour", "steps"),
    [
        ((255, 0, 0), (0, 7, 7)),  # 0 degrees
        ((0, 255, 0), (2, 7, 7)),  # 120 / 45
        ((0, 0, 255), (5, 7, 7)),  # 240 / 45
        ((255, 0, 255), (6, 7, 7)),  # 300 / 45
        ((255, 255, 0), (1, 7, 7)),  # 60 / 45
        ((0, 0, 0), (0, 0, 0)),
        ((255, 255, 255), (0, 0, 7)),
        ((127, 127, 127), (0, 0, 3)),
    ],
)
def test_plain_colours_are_in_one_cell(colour, steps):
    found = hsv_histogram(np.full((4, 4, 3), colour, np.uint8)).reshape(8, 8, 8)
    assert found[steps] == 1.0


def test_patterns_are_those_of_the_circle_written_out(pictures):
    for picture in pictures:
        np.testing.assert_allclose(lbp_histogram(picture), slow_lbp(picture), atol=1e-12)
        both = describe(picture, AppearanceSettings())
        assert both.shape == (522,)
        assert [both[:512].sum(), both[512:].sum()] == pytest.approx([1, 1])
    with pytest.raises(UsageError, match="a crop of 2x9 pixels"):
        lbp_histogram(np.zeros((9, 2, 3), np.uint8))


def test_a_plain_crop_has_only_full_circles_and_a_peak_only_an_empty_one():
    assert lbp_histogram(np.full((9, 9, 3), 77, np.uint8)).tolist() == [0] * 8 + [1, 0]
    peak = np.zeros((3, 3, 3), np.uint8)
    peak[1, 1] = 200
    # The diagonal points lie 0.29 inside the peak and are darker, too: no bright point.
    assert lbp_histogram(peak).tolist() == [1] + [0] * 9


def test_high_crops_are_shrunk_first():
    rng = np.random.default_rng(3)
    small = rng.integers(0, 256, (40, 20, 3), np.uint8)
    large = np.repeat(np.repeat(small, 4, axis=0), 4, axis=1)
    settings = AppearanceSettings(most_height_px=40)
    # Averaging whole blocks of equal pixels gives back the small picture up to the rounding of the scaler.
    assert np.abs(describe(large, settings) - describe(small, settings)).sum() < 0.6
    assert (
        np.abs(describe(large, AppearanceSettings(most_height_px=160)) - describe(small, settings)).sum()
        > 0.9
    )
    assert describe(large[:, :2], settings).shape == (522,)


@pytest.mark.parametrize(
    ("box", "shape"),
    [
        ((2.0, 1.0, 5.0, 4.0), (3, 3)),
        ((2.5, 1.5, 5.5, 4.5), (4, 4)),
        ((-9, -9, 2, 2), (2, 2)),
        ((8, 8, 99, 99), (2, 2)),
        ((20, 20, 30, 30), (0, 0)),
    ],
)
def test_a_crop_is_what_the_box_covers_of_the_picture(box, shape):
    assert cut_out(np.zeros((10, 10, 3), np.uint8), np.array(box)).shape[:2] == shape


def test_crops_are_spread_over_the_boxes_that_a_detector_saw():
    seen = track("a", [(0, 0, 9, 9)] * 10, detected=[i % 2 == 0 for i in range(10)])
    assert crop_rows(seen, n_crops=10).tolist() == [0, 2, 4, 6, 8]
    assert crop_rows(walk("b", [(5, 5)] * 100), n_crops=4).tolist() == [12, 37, 62, 87]
    unseen = track("c", [(0, 0, 9, 9)] * 3, detected=[False] * 3)
    assert crop_rows(unseen, n_crops=1).tolist() == [1]


@pytest.fixture
def folder(tmp_path):
    """Three pictures 40x30: red on the left, blue on the right; the last one is damaged."""
    image = np.zeros((30, 40, 3), np.uint8)
    image[:, :20], image[:, 20:] = (255, 0, 0), (0, 0, 255)
    for name in ("0.png", "1.png"):
        Image.fromarray(image).save(tmp_path / name)
    whole = (tmp_path / "1.png").read_bytes()
    (tmp_path / "2.png").write_bytes(whole[: len(whole) // 2])
    return open_video(tmp_path, kind="frames")


def test_a_video_is_read_once_for_all_tracks_and_damage_is_left_out(folder):
    tracks = [
        track("red", [(2, 2, 18, 28)] * 3),
        track("both", [(2, 2, 18, 28), (22, 2, 38, 28)]),
        track("thin", [(2, 2, 3, 28)]),
        track("damaged", [(2, 2, 18, 28)], first=2),
    ]
    found = read_appearances(folder, tracks)
    assert set(found) == {"red", "both"}
    red, blue = (0 * 8 + 7) * 8 + 7, (5 * 8 + 7) * 8 + 7
    assert found["red"][red] == pytest.approx(1)
    assert (found["both"][red], found["both"][blue]) == (pytest.approx(0.5), pytest.approx(0.5))
    assert found["red"][512 + 8] == pytest.approx(1)


def test_the_mean_counts_every_track_the_same():
    assert mean_appearance([np.array([1.0, 0]), np.array([0, 1.0])]).tolist() == [0.5, 0.5]
    with pytest.raises(UsageError, match="at least one"):
        mean_appearance([])
    assert rarity(["a", "b"], {}).tolist() == [0, 0]
    for field in ("n_crops", "hsv_bins", "most_height_px"):
        with pytest.raises(UsageError, match=field):
            AppearanceSettings(**{field: 0})
