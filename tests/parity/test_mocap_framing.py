"""Real files on the belt: feet that stand stay, the camera never shakes, and a metre is one size."""

import numpy as np
import pytest

from conftest import IS_THOROUGH, need
from subjects.found_files import mocap_files
from vidence.errors import DataError
from vidence.pointlight.body import body
from vidence.pointlight.framing import belt, heading_deg, planted_feet
from vidence.pointlight.motion import resampled
from vidence.pointlight.reading import read_motion
from vidence.pointlight.specs import StimulusSpec, View
from vidence.pointlight.stimulus import make_stimulus

HEADINGS = ("02_01.amc.gz", "02_01.c3d", "13_29.amc.gz", "13_31.amc.gz")


@pytest.fixture(scope="module")
def bodies(data_dir):
    """Bodies of 13 points, and those of known heading, at 60 frames per second."""
    folder = need(data_dir / "mocap")
    made = {}
    for n, path in enumerate(mocap_files(data_dir, wanted=HEADINGS)):
        if not IS_THOROUGH and n % 4 and path.name not in HEADINGS:
            continue
        options = {"units": "stature:1.75"} if path.parent.name == "animated_drawings_bvh" else {}
        if path.parent.name == "cmu_expmap":
            options = {"skeleton": str(folder / "cmu_asfamc/02.asf")}
        if path.name in {"zeros.amc", "walker_data3d.txt"}:
            continue
        try:
            figure = body(read_motion(path, options=options))
        except DataError:
            continue  # a part of a body; `test_mocap_files` says which
        made[path.name] = resampled(figure, 60.0) if figure.fps > 60 else figure
    assert len(made) > 8
    return made


def ankles(figure):
    found = np.stack([figure.positions_m[:, figure.index(f"{s}_ankle")] for s in ("left", "right")], axis=1)
    frames = np.arange(len(found))
    for side in range(2):
        seen = np.isfinite(found[:, side]).all(axis=1)
        for axis in range(3):
            found[:, side, axis] = np.interp(frames, frames[seen], found[seen, side, axis])
    return found


def test_while_both_feet_stand_the_belt_does_not_move_them(bodies):
    for name, figure in bodies.items():
        path, feet = belt(figure), planted_feet(ankles(figure), figure.fps)
        stands, size = feet.all(axis=1), round(0.6 * figure.fps)
        for start in range(len(path) - size):
            if stands[start : start + size].all():
                assert np.ptp(path[start : start + size], axis=0).max() < 0.01, (name, start)


def test_the_camera_never_shakes(bodies):
    """Between two frames of 1/60 s its speed never changes by more than 0.35 m/s."""
    for name, figure in bodies.items():
        changes = np.linalg.norm(np.diff(belt(figure), n=2, axis=0), axis=1) * figure.fps
        assert changes.max() < 0.35 * 60 / min(figure.fps, 60), name


def test_the_scale_is_the_same_from_all_sides(bodies):
    for name, figure in bodies.items():
        whole = [
            make_stimulus([figure], StimulusSpec(heading="viewer", view=View(yaw_deg=yaw), framing="follow"))
            for yaw in (0.0, 45.0, 90.0)
        ]
        assert len({round(one.px_per_m, 9) for one in whole}) == 1, name
        heights = [one.centres_px[..., 1] for one in whole]
        assert np.allclose(heights[0], heights[1], equal_nan=True), name


def test_recordings_whose_heading_is_known(bodies):
    """Measured apart, at mid clip: 02_01 walks to the viewer; 13_29 exercises in front of the viewer."""
    for name in HEADINGS:
        assert heading_deg([bodies[name]]) == pytest.approx(0.0, abs=10), name
