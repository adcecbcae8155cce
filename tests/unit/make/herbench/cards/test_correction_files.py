"""Files in which people correct tracks and shots: what is read, and what is refused with its line."""

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.make.herbench.cards.correction_files import Verdicts, read_shots, read_verdicts

TIMES_S = np.arange(100) / 10.0


def file(folder, *lines, name="tracks.csv"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_verdicts_are_read_with_what_is_still_open(tmp_path):
    path = file(
        tmp_path,
        "video_id,track_id,check,verdict,note",
        "street,1,abc,ok,",
        "street,2,,Switch@20;40,two men",
        "street,3,, merge: 1 ,",
        "street,4,,,not sure",
        "yard,1,,phantom,",
        "street,everybody,,all,",
    )
    read = read_verdicts(path, "street", others={"yard"})
    assert [(one.track_id, one.verdict, one.at_frames, one.into) for one in read.verdicts] == [
        ("1", "ok", (), ""),
        ("2", "switch", (20, 40), ""),
        ("3", "merge", (), "1"),
    ]
    assert (read.n_open, read.all_at, read.verdicts[0].check) == (1, f"{path}:7", "abc")
    assert [one.verdict for one in read_verdicts(path, "yard", others={"street"}).verdicts] == ["phantom"]


def test_semicolons_and_a_byte_order_mark_of_a_spreadsheet_are_understood(tmp_path):
    path = file(tmp_path, "\ufefftrack_id;verdict", "1;drop")
    assert [one.verdict for one in read_verdicts(path, "street").verdicts] == ["drop"]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (
            ["track_id,verdict", "1,perhaps"],
            ":2: verdict: 'perhaps' on the track 1; expected ok, phantom, drop",
        ),
        (["track_id,verdict", ",ok"], ":2: track_id: nothing before the verdict 'ok'"),
        (["track_id,verdict", "1,switch@"], "expected ok, phantom, drop, switch@FRAME or merge:TRACK"),
        (["track_id,verdict", "everybody,yes"], ":2: verdict: 'yes' for everybody; expected all"),
        (["video_id,track_id,verdict", "alley,1,ok"], ":2: video_id: 'alley' found; expected street"),
        (["track_id,verdikt", "1,ok"], ":1: 'verdikt': unknown column; did you mean 'verdict'?"),
        (["track_id,note", "1,ok"], ":1: no column verdict"),
        (["track_id,verdict", "1,ok,more"], ":2: CSV: 3 cells found; expected 2"),
        ([""], "is empty"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path, lines, why):
    with pytest.raises(DataError) as refused:
        read_verdicts(file(tmp_path, *lines), "street")
    assert why in str(refused.value)


def test_in_a_file_of_several_videos_each_line_names_its_own(tmp_path):
    path = file(tmp_path, "video_id,track_id,verdict", ",1,ok")
    with pytest.raises(DataError, match="or on none"):
        read_verdicts(path, "street", others={"yard"})
    assert read_verdicts(path, "street").verdicts
    path = file(tmp_path, "video_id,track_id,verdict", "elsewhere,1,ok")
    assert read_verdicts(path, "street", others=None) == Verdicts()


def test_verdicts_are_known_by_what_they_say_and_not_by_where_they_stand(tmp_path):
    one = read_verdicts(file(tmp_path, "track_id,verdict", "1,ok"), "street")
    other = read_verdicts(file(tmp_path, "track_id,verdict", "", "2,", "1,OK", name="b.csv"), "street")
    assert one.digest == other.digest
    assert one.digest != read_verdicts(file(tmp_path, "track_id,verdict", "1,drop"), "street").digest


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
