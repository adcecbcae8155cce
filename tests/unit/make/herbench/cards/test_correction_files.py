"""Files in which people correct tracks and shots: what is read, and what is refused with its line."""

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.make.herbench.cards.correction_files import read_shots

TIMES_S = np.arange(100) / 10.0


def file(folder, *lines, name="tracks.csv"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_shots_are_read_by_frames_or_by_times_or_both(tmp_path):
    path = file(
        tmp_path,
        "video_id,first_frame,last_frame,clear_frame,start_s,end_s",
        "street,50,99,55,5.0,10.0",
        "street,,,,0,3.0",
    )
    shots = read_shots(path, "street", times_s=TIMES_S)
    assert [(one.shot_id, one.first_frame, one.last_frame, one.n_mixed) for one in shots] == [
        ("shot-0001", 0, 29, 0),
        ("shot-0002", 50, 99, 5),
    ]
    assert read_shots(path, "yard", times_s=TIMES_S, others={"street"}) is None


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["0,49,,,", "40,99,,,"], ":3: first_frame: the shot has frames 40 to 99, and that of"),
        (["30,20,,,"], ":2: last_frame: 20 is before the first frame 30"),
        (["0,100,,,"], ":2: last_frame: '100' found; expected a frame from 0 to 99"),
        (["0,50,60,,"], ":2: clear_frame: 60 found; expected 0 to 50"),
        (["0,,,,"], ":2: last_frame: neither last_frame nor end_s is there"),
        (["0,50,,0,7.0"], ":2: end_s: 7.0 s is at frame 69, but last_frame is 50 (5.100 s)"),
        (["0,,,,12 s"], ":2: end_s: '12 s' found; expected seconds from"),
        (["0,,,,120"], ":2: end_s: '120' found; expected seconds from"),
    ],
)
def test_shots_that_make_no_sense_are_named(tmp_path, lines, why):
    path = file(tmp_path, "first_frame,last_frame,clear_frame,start_s,end_s", *lines)
    with pytest.raises(DataError) as refused:
        read_shots(path, "street", times_s=TIMES_S)
    assert why in str(refused.value)
