import numpy as np
import pytest

from subjects.standing import motion_of, standing
from vidence.errors import DataError, UsageError
from vidence.pointlight.body import POINTS_13, SETS, body, hip_centres, points_of, steady_mean
from vidence.pointlight.body_maps import best_map, shipped


@pytest.mark.parametrize("naming", shipped(), ids=lambda m: m.name)
def test_every_naming_gives_every_point(naming):
    names = tuple(dict.fromkeys(n for sources in naming.points.values() for n in sources))
    assert set(naming.points) == set(SETS["15"])
    assert best_map(names) is naming
    assert points_of(names) == SETS["15"]
    rng = np.random.default_rng(1)
    positions = rng.normal(size=(4, len(names), 3))
    figure = body(motion_of(positions, names=names, kind="joints"), points="15")
    assert figure.names == SETS["15"]
    for point, sources in naming.points.items():
        if naming.is_markers and point.endswith(("hip", "knee", "ankle")):
            continue
        expected = positions[:, [names.index(s) for s in sources]].mean(axis=1)
        np.testing.assert_allclose(figure.positions_m[:, figure.index(point)], expected, atol=1e-12)


def test_left_is_never_right():
    for naming in shipped():
        for point, sources in naming.points.items():
            other = point.replace("left", "right") if "left" in point else point.replace("right", "left")
            if other != point and not (naming.is_markers and point.endswith("hip")):
                assert set(sources).isdisjoint(naming.points[other]), (naming.name, point)


def test_missing_points_are_reported():
    figure = standing(3)
    lower = body(figure, points="lower")
    np.testing.assert_array_equal(lower.positions_m, figure.positions_m[:, 7:])
    headless = motion_of(figure.positions_m[:, 1:], names=POINTS_13[1:])
    with pytest.raises(DataError, match=r"has no head \(its points: left_shoulder"):
        body(headless)
    partial = body(headless, allow_missing=True)
    assert partial.names == POINTS_13[1:]
    assert partial.source.notes == ("points that are missing: head",)
    with pytest.raises(DataError, match="naming is not known"):
        body(motion_of(np.zeros((2, 1, 3)), names=("blob",)), allow_missing=True)
    with pytest.raises(UsageError, match="'14' is no set of points"):
        body(figure, points="14")


def test_the_mean_of_four_does_not_jump():
    """Four points at 0, 1, 2, 3 whose mean is 1.5; the others alone would have means of 1 or 2."""
    places = np.zeros((6, 4, 3))
    places[..., 0] = np.arange(4)
    places[..., 1] = np.arange(6)[:, None]
    places[2, 3], places[3, 0], places[4] = np.nan, np.nan, np.nan
    mean = steady_mean(places)
    np.testing.assert_allclose(mean[[0, 1, 2, 3, 5], 0], 1.5)
    np.testing.assert_allclose(mean[[0, 1, 2, 3, 5], 1], [0, 1, 2, 3, 5])
    assert np.isnan(mean[4]).all()
    never = places.copy()
    never[:, 3] = np.nan
    np.testing.assert_allclose(steady_mean(never)[0, 0], 1.0)


def test_hip_centres_by_hand():
    """Looking along +z, a pelvis 20 cm wide and deep: 5.79 cm back, 7.09 down, 7.33 from the middle."""
    waist = np.array([[[0.10, 1.0, 0.0], [-0.10, 1.0, 0.0], [0.05, 1.0, -0.2], [-0.05, 1.0, -0.2]]])
    left, right = hip_centres(waist)
    np.testing.assert_allclose(left[0], [0.0733, 1 - 0.0709, -0.0579], atol=1e-12)
    np.testing.assert_allclose(right[0], [-0.0733, 1 - 0.0709, -0.0579], atol=1e-12)
    turn = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    np.testing.assert_allclose(hip_centres(waist @ turn.T)[0], left @ turn.T, atol=1e-12)
    waist[0, 2] = np.nan
    assert np.isnan(hip_centres(waist)[0]).all()
