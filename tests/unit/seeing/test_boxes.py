"""Edge bands and regions."""

import numpy as np
import pytest

from vidence.seeing.boxes import edges_at, named_regions


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (500, 299, ("top",)),
        (500, 300, ()),
        (500, 850, ()),
        (500, 851, ("bottom",)),
        (149, 500, ("left",)),
        (150, 500, ()),
        (850, 500, ()),
        (851, 500, ("right",)),
        (100, 100, ("top", "left")),
        (900, 100, ("top", "right")),
        (100, 900, ("bottom", "left")),
        (900, 900, ("bottom", "right")),
        (500, 500, ()),
    ],
)
def test_the_bands_of_the_paper_on_both_sides_of_their_limits(x, y, expected):
    assert edges_at(np.array([x, y], float), width_px=1000, height_px=1000) == expected


def test_bands_are_shares_of_each_side():
    assert edges_at(np.array([95.0, 100.0]), width_px=640, height_px=360) == ("top", "left")
    assert edges_at(np.array([97.0, 109.0]), width_px=640, height_px=360) == ()


@pytest.mark.parametrize(
    "parts",
    [
        ("left-half", "right-half"),
        ("top-half", "bottom-half"),
        ("top-left", "top-right", "bottom-left", "bottom-right"),
        ("left-third", "centre-third", "right-third"),
        ("top-third", "middle-third", "bottom-third"),
    ],
)
def test_named_regions_cover_the_frame_once(parts):
    regions = named_regions(600, 300)
    pixels = np.zeros((300, 600), int)
    for part in parts:
        left, top, right, bottom = regions[part].box_px.round().astype(int)
        pixels[top:bottom, left:right] += 1
    assert (pixels == 1).all()
    assert regions["bottom-right"].box_px.tolist() == [300, 150, 600, 300]
    assert regions["right-third"].box_px.tolist() == [400, 0, 600, 300]
