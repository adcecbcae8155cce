"""Tables of positions: wide and long, parted by commas, semicolons or tabs."""

from pathlib import Path

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import read_motion
from vidence.pointlight.walker import WalkerSpec, walker

TOLD = {"units": "m", "up": "y"}


@pytest.fixture(scope="module")
def figure() -> Motion:
    return walker(WalkerSpec(duration_s=0.5, fps=30))


def written(path: Path, rows: list[list[object]], parted: str = ",") -> Path:
    path.write_text("\n".join(parted.join(str(cell) for cell in row) for row in rows) + "\n")
    return path


@pytest.mark.parametrize(
    ("name", "parted", "mark"), [("a.csv", ",", "_"), ("a.tsv", "\t", " "), ("a.csv", ";", ".")]
)
def test_a_row_for_each_frame(figure: Motion, tmp_path: Path, name: str, parted: str, mark: str):
    heading = ["time_s", *(f"{n}{mark}{a}" for n in figure.names for a in "xyz"), f"head{mark}score"]
    rows = [[f / 30, *places.ravel(), 0.1 if f == 3 else 0.9] for f, places in enumerate(figure.positions_m)]
    made = read_motion(written(tmp_path / name, [heading, *rows], parted), options=TOLD)
    assert (made.fps, made.names, made.source.format) == (30.0, figure.names, "positions-table")
    assert np.argwhere(~made.is_valid).tolist() == [[3, figure.index("head")]]
    np.testing.assert_allclose(made.positions_m[5], figure.positions_m[5])


def test_a_row_for_each_point(figure: Motion, tmp_path: Path):
    rows = [
        [frame + 7, name, *places]
        for frame, each in enumerate(figure.positions_m)
        for name, places in zip(figure.names, each, strict=True)
        if (frame, name) != (2, "head")
    ]
    path = written(tmp_path / "a.csv", [["frame", "joint", "x", "y", "z"], *rows])
    made = read_motion(path, options={**TOLD, "fps": "30"})
    assert made.names == figure.names
    assert np.argwhere(~made.is_valid).tolist() == [[2, figure.index("head")]]
    np.testing.assert_allclose(made.positions_m[5], figure.positions_m[5])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["a,b", "1,2"], "its name tells no format that fits|no columns NAME_x"),
        (["h_x,h_y,h_z", "1,2"], "a.csv:2: 2 cells, expected 3"),
        (["h_x,h_y,h_z", "1,2,high"], "a.csv:2: h_z is 'high'; expected a number"),
        (["h_x,h_y,h_z"], "no rows below the heading"),
        (["t,h_x,h_y,h_z", "0,1,1,1", "0.1,1,1,1", "0.9,1,1,1"], "times do not go on evenly"),
        (["frame,joint,x,y,z", "1,a,1,1,1", "1,a,1,1,1"], "a.csv:3: 'a' is twice in frame 1"),
        (["frame,joint,x,y,z", "1.5,a,1,1,1"], "a.csv:2: the frame is no whole number"),
        (["frame,joint,x,y,z", "1,a,1,1,1", "1000,a,1,1,1"], "frames 1 to 1000 in 2 rows"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, lines: list[str], said: str):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=said):
        read_motion(path, options=TOLD)
