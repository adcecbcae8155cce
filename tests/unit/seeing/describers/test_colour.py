"""Histograms of colour against shares that are known by hand."""

import numpy as np
import pytest

from vidence.seeing.describers.colour import create

RED, GREEN, BLUE, WHITE, BLACK = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0)
WHOLE = np.array([[0.0, 0.0, 64.0, 128.0]])


def picture(*bands):
    """64 x 128 pixels in bands of one colour each, from top to bottom."""
    rows = [np.full((128 // len(bands), 64, 3), band, np.uint8) for band in bands]
    return np.concatenate(rows)


def look(*bands):
    (vector,) = create().describe(picture(*bands), WHOLE)
    return vector


def test_a_plain_picture_has_one_colour_in_each_of_four_bands():
    vector = look(RED)
    assert vector.dtype == np.float32
    # hue 0, light: place 1 of the 16 colours and 4 greys of a band; of length 1 over four bands: 1/2 each.
    assert np.flatnonzero(vector).tolist() == [1, 21, 41, 61]
    assert vector[1] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("colour", "place"), [(WHITE, 19), (BLACK, 16), ((128, 128, 128), 18), ((90, 0, 0), 0)]
)
def test_pale_colours_are_greys_and_dark_ones_apart(colour, place):
    assert np.flatnonzero(look(colour))[0] == place


def test_the_cosine_is_the_share_of_bands_that_agree():
    coat, other = look(RED, RED, BLUE, BLUE), look(RED, GREEN, BLUE, BLUE)
    assert coat @ coat == pytest.approx(1, abs=1e-6)
    assert coat @ other == pytest.approx(3 / 4, abs=1e-6)
    assert coat @ look(GREEN) == pytest.approx(0, abs=1e-6)


def test_the_middle_of_a_box_counts_more_than_its_sides():
    image = picture(RED)
    image[:, 16:48] = BLUE  # half of the box, in the middle
    (vector,) = create().describe(image, WHOLE)
    assert vector @ look(BLUE) > vector @ look(RED)
