"""Dots as numbers: the same places as in the pictures, in pixels, metres and degrees."""

import csv
from pathlib import Path

import msgspec
import numpy as np
import pytest
from scipy.io import loadmat

from vidence.errors import UsageError
from vidence.pointlight.dots import Dots, dots_of, michelson, write_dots
from vidence.pointlight.drawing import frames
from vidence.pointlight.figures import staged
from vidence.pointlight.specs import degrees, spec_of
from vidence.pointlight.stimulus import Stimulus, make_stimulus

SCREEN = {"screen_px_per_cm": "40", "screen_distance_cm": "57"}


def shown(**settings: str) -> Stimulus:
    given = {"width_px": "128", "height_px": "96", "dot_radius_px": "2", "dropout": "0.1"} | settings
    return make_stimulus(staged(["walker:walk?duration_s=0.5"]), spec_of(given))


def test_places_are_those_of_the_pictures():
    made = shown(n_noise="3", yaw_deg="60")
    told = dots_of(made)
    assert [dot.joint for dot in told.dots] == [*made.names[:13], "", "", ""]
    assert [dot.figure for dot in told.dots] == [0] * 13 + [-1] * 3
    for number, picture in enumerate(frames(made)):
        frame = told.frames[number]
        for dot, is_seen in enumerate(frame.visible):
            if is_seen:
                x, y = 64 + frame.x_px[dot], 48 - frame.y_px[dot]
                assert picture[int(y), int(x)].min() > 200
            else:
                assert frame.x_px[dot] is frame.y_px[dot] is frame.z_m[dot] is None
    assert sum(not ok for frame in told.frames for ok in frame.visible) > 0


def test_depth_counts_towards_the_viewer_and_noise_of_no_body_has_none():
    made = shown(yaw_deg="0", dropout="0", noise="random", n_noise="2")
    nose_forward = shown(yaw_deg="90", dropout="0")
    left, right = (made.names.index(f"{side}_shoulder") for side in ("left", "right"))
    # Turned by 90 degrees one shoulder is a shoulder's width nearer than the other, seen from the front none.
    apart = nose_forward.depths_m[:, left] - nose_forward.depths_m[:, right]
    assert np.abs(apart).min() > 0.3
    assert np.abs(made.depths_m[:, left] - made.depths_m[:, right]).max() < 0.1
    assert np.isnan(made.depths_m[:, 13:]).all()


@pytest.mark.parametrize("is_screen", [False, True])
def test_the_kinds_of_file_say_the_same(tmp_path: Path, is_screen: bool):
    made = shown(n_noise="2", **(SCREEN if is_screen else {}))
    for kind in ("json", "csv", "npz", "mat"):
        write_dots(made, tmp_path / f"dots.{kind}")
    told = msgspec.json.decode((tmp_path / "dots.json").read_bytes(), type=Dots)
    with (tmp_path / "dots.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    arrays = np.load(tmp_path / "dots.npz", allow_pickle=False)
    n_dots = len(told.dots)
    assert len(rows) == len(told.frames) * n_dots == arrays["x_px"].size
    for row in rows:
        frame, dot = int(row["frame"]), int(row["dot"])
        kept = told.frames[frame]
        assert row["joint"] == told.dots[dot].joint == arrays["joint"][dot]
        assert bool(int(row["visible"])) == kept.visible[dot] == arrays["visible"][frame, dot]
        for name in ("x_px", "y_px", "z_m"):
            value = getattr(kept, name)[dot]
            assert row[name] == ("" if value is None else f"{value:.4f}")
            assert np.isnan(arrays[name][frame, dot]) if value is None else arrays[name][frame, dot] == value
        assert ("x_deg" in row) == is_screen
    assert np.isfinite(arrays["px_per_deg"]) == is_screen == (told.px_per_deg is not None)
    octave = loadmat(tmp_path / "dots.mat")
    assert {name for name in octave if not name.startswith("__")} == set(arrays.files)
    assert [str(cell[0]) if len(cell) else "" for cell in octave["joint"][:, 0]] == arrays["joint"].tolist()
    for name in set(arrays.files) - {"joint"}:
        np.testing.assert_array_equal(octave[name].squeeze(), arrays[name].squeeze())


def test_sizes_in_degrees_are_those_of_the_screen():
    made = shown(deg_per_m="0.5", dot_radius_deg="0.05", dropout="0", **SCREEN)
    metre = np.array([made.px_per_m / 2])
    assert 2 * degrees(metre, made.spec)[0] == pytest.approx(0.5, rel=1e-4)
    assert degrees(made.radii_px[:1, :1], made.spec)[0, 0] == pytest.approx(0.05, rel=1e-4)
    assert made.spec.px_per_deg == pytest.approx(2 * 57 * np.tan(np.pi / 360) * 40)
    with pytest.raises(UsageError, match="give one"):
        shown(deg_per_m="1", px_per_m="20", **SCREEN)
    with pytest.raises(UsageError, match="need screen"):
        degrees(metre, shown().spec)


def test_contrast_is_that_of_luminances():
    assert michelson(shown()) == 1.0
    assert michelson(shown(background="128", contrast="0")) == 0.0
    half = michelson(shown(background="128", contrast="0.5", gamma="2.2"))
    low = (128 / 255) ** 2.2
    dot = low + 0.5 * (1 - low)
    assert half == pytest.approx((dot - low) / (dot + low), abs=0.005)


def test_another_ending_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match=r"\.npz, \.csv, \.json, \.mat"):
        write_dots(shown(), tmp_path / "dots.xls")
