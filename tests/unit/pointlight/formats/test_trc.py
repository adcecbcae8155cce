"""TRC: unit and rate of the heading, markers that were not seen, lines that do not fit."""

from pathlib import Path

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.pointlight.reading import read_motion

NAMES = ("head", "left_wrist")


def trc(rows: list[str], *, units: str = "mm", rate: str = "100.00") -> str:
    return "\n".join(
        [
            "PathFileType\t4\t(X/Y/Z)\ta.trc",
            "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate",
            f"{rate}\t100.00\t{len(rows)}\t2\t{units}\t100.00",
            "Frame#\tTime\t" + "\t\t\t".join(NAMES),
            "\t\tX1\tY1\tZ1\tX2\tY2\tZ2",
            "",
            *rows,
        ]
    )


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "a.trc"
    path.write_text(text)
    return path


def test_positions_in_metres_and_empty_cells_hidden(tmp_path: Path):
    rows = ["1\t0.00\t1000\t1700\t0\t0\t900\t10", "2\t0.01\t1010\t1700\t0\t\t\t"]
    made = read_motion(written(tmp_path, trc(rows)))
    assert (made.fps, made.names, made.source.metres_per_unit) == (100.0, NAMES, 0.001)
    np.testing.assert_allclose(made.positions_m[0], [[1.0, 1.7, 0.0], [0.0, 0.9, 0.01]])
    assert made.is_valid.tolist() == [[True, True], [True, False]]
    up = read_motion(written(tmp_path, trc(rows)), options={"up": "z"})
    np.testing.assert_allclose(up.positions_m[0, 0], [1.7, 0.0, 1.0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PathFileType\t4\n", "a.trc:1: expected 'PathFileType' and four more"),
        (trc([]), "no frames below"),
        (trc(["1\t0\t1\t2\tx\t4\t5\t6"]), "a.trc:7: cannot read a number"),
        (trc(["1\t0\t1\t2\t3\t4\t5\t6\t7"]), "a.trc:7: 9 cells, expected 8"),
        (trc(["1\t0\t1\t2\t3\t4\t5\t6"], units="ells"), "a.trc:3: Units is 'ells'"),
        (trc(["1\t0\t1\t2\t3\t4\t5\t6"], rate="fast"), "a.trc:3: DataRate is 'fast'"),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(tmp_path: Path, text: str, said: str):
    with pytest.raises(DataError, match=said):
        read_motion(written(tmp_path, text))
