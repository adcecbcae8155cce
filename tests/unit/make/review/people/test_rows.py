"""Rows of people's files: what is read, what is refused with its line, and the same bytes again."""

import os

import pytest

from vidence.errors import DataError
from vidence.make.review.people.rows import (
    KINDS,
    CardCheckRow,
    CountRow,
    FalseCheckRow,
    ShotRow,
    TrackRow,
    append_row,
    columns,
    read_rows,
    remove_row,
    write_rows,
)

CHECK = "abcdefghjkmn"
TRACK = TrackRow(video_id="hall", check=CHECK, track_id="7/2", act="split:120", by="P03", note="two, really")
ONE_OF_EACH = (
    ShotRow(video_id="hall", check=CHECK, act="gradual:10-14", by="P03"),
    TRACK,
    CountRow(
        video_id="hall",
        check=CHECK,
        window="0-120",
        place="entered:left",
        n=5,
        n_low=5,
        n_high=6,
        counter="P03",
        frames=(3, 60),
    ),
    CardCheckRow(video_id="hall", check=CHECK, track_id="7", kind="A", fits="several", leaks="no", by="P03"),
    FalseCheckRow(
        video_id="hall",
        check=CHECK,
        card_id="shot-0001-false",
        told="false",
        occurs="no",
        natural="yes",
        by="P03",
    ),
)
TRACK_HEADER = "video_id,check,track_id,act,by,note\n"


def plain(row):
    import msgspec

    return msgspec.structs.replace(row, where="")


def test_every_kind_has_a_row_here():
    assert tuple(map(type, ONE_OF_EACH)) == KINDS


@pytest.mark.parametrize("row", ONE_OF_EACH, ids=lambda row: row.file)
def test_what_is_written_is_read_again_and_undone_leaves_nothing(tmp_path, row):
    folder = tmp_path / "people"
    path = append_row(folder, row)
    assert path.read_text().splitlines()[0] == ",".join(columns(type(row)))
    (again,) = read_rows(folder, type(row), videos=["hall"])
    assert plain(again) == row
    assert again.where == f"people/{row.file}:2"
    before = path.read_bytes()
    write_rows(folder, type(row), [again])
    assert path.read_bytes() == before
    with pytest.raises(DataError, match="has this row already"):
        append_row(folder, row)
    assert remove_row(folder, row)
    assert not remove_row(folder, row)
    assert list(folder.iterdir()) == []


def test_a_row_goes_behind_what_a_person_wrote_and_their_bytes_stay(tmp_path):
    path = tmp_path / "tracks.csv"
    path.write_bytes(f"by,act,track_id,check,video_id\nP01,ok,3,{CHECK},hall".encode())
    append_row(tmp_path, TrackRow(video_id="hall", check=CHECK, track_id="4", act="phantom", by="P03"))
    assert path.read_text().splitlines()[1:] == [f"P01,ok,3,{CHECK},hall", f"P03,phantom,4,{CHECK},hall"]
    append_row(tmp_path, TRACK)  # with a note, for which there was no column
    rows = read_rows(tmp_path, TrackRow, videos=None)
    assert [row.track_id for row in rows] == ["3", "4", "7/2"]
    assert rows[2].note == "two, really"


@pytest.mark.parametrize(
    ("act", "name", "first", "last", "other"),
    [
        ("ok", "ok", -1, -1, ""),
        ("split:12", "split", 12, 12, ""),
        ("join:7/2", "join", -1, -1, "7/2"),
        ("same-as:9", "same-as", -1, -1, "9"),
        ("drop:3-8", "drop", 3, 8, ""),
    ],
)
def test_an_act_is_taken_apart(act, name, first, last, other):
    found = TrackRow(video_id="v", check=CHECK, track_id="1", act=act, by="P").parsed
    assert (found.name, found.first, found.last, found.other) == (name, first, last, other)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (f"yard,{CHECK},3,ok,P03,", "video_id: 'yard' found; the videos of the set are hall"),
        (f"../hall,{CHECK},3,ok,P03,", "video_id: '../hall' is no name of a video"),
        (f"a/b,{CHECK},3,ok,P03,", "video_id: 'a/b' is no name of a video"),
        (f"=1+1,{CHECK},3,ok,P03,", "video_id: '=1\\+1' found"),
        ("hall,4811828e6756,3,ok,P03,", "check: '4811828e6756' found; expected the twelve letters"),
        ("hall,,3,ok,P03,", "check: '' found"),
        (f"hall,{CHECK},../3,ok,=cmd,", "by: '=cmd' found"),
        (f"hall,{CHECK},-3,ok,P03,", "track_id: '-3' found"),
        (f"hall,{CHECK},3,switch@9,P03,", "act: 'switch@9' found; expected ok, phantom"),
        (f"hall,{CHECK},3,drop:9-3,P03,", "act: the last frame 3 is before the first one 9"),
        (f"hall,{CHECK},3,join:3,P03,", "act: 'join:3' names the track 3 itself"),
        (f'hall,{CHECK},3,ok,P03,"=HYPERLINK(1)"', "note: .* a spreadsheet would run this as a formula"),
        (f"hall,{CHECK},3,ok,P03,{'x' * 2001}", "note: expected one line of at most 2,000"),
        (f"hall,{CHECK},3,ok,P03", "CSV: 5 cells found; expected 6"),
    ],
)
def test_every_fault_is_named_with_its_line_and_nothing_of_the_file_is_used(tmp_path, row, why):
    path = tmp_path / "tracks.csv"
    path.write_text(f"{TRACK_HEADER}hall,{CHECK},1,ok,P03,\n{row}\n")
    with pytest.raises(DataError, match=f"^{path}:3: {why}"):
        read_rows(tmp_path, TrackRow, videos=["hall"])


def test_all_faults_are_named_at_once(tmp_path):
    rows = "".join(f"hall,{CHECK},{i},nothing,P03,\n" for i in range(25))
    (tmp_path / "tracks.csv").write_text(TRACK_HEADER + rows)
    with pytest.raises(DataError) as error:
        read_rows(tmp_path, TrackRow, videos=["hall"])
    assert len(str(error.value).splitlines()) == 21
    assert str(error.value).endswith("... and 5 more")


def test_doubled_rows_are_refused(tmp_path):
    row = f"hall,{CHECK},3,ok,P03,"
    (tmp_path / "tracks.csv").write_text(f"{TRACK_HEADER}{row}\n{row}again\n")
    with pytest.raises(DataError, match=r"tracks\.csv:3: row: the same as in line 2"):
        read_rows(tmp_path, TrackRow, videos=["hall"])


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ("9-3,entered:left,3,3,3,P", "window: the last frame 3 is before the first one 9"),
        ("0-9,entered:up,3,3,3,P", "place: 'entered:up' found"),
        ("0-9,entered:left,3,4,5,P", "n: n_low 4, n 3, n_high 5 found"),
        ("0-9,entered:left,three,3,3,P", "n: 'three': "),
        ("0-9,entered:left,1e400,3,3,P", "n: '1e400': "),
    ],
)
def test_counts_that_make_no_sense_are_refused(tmp_path, cells, why):
    header = "video_id,check,window,place,n,n_low,n_high,counter\n"
    (tmp_path / "counts.csv").write_text(f"{header}hall,{CHECK},{cells}\n")
    with pytest.raises(DataError, match=f"counts.csv:2: {why}"):
        read_rows(tmp_path, CountRow, videos=["hall"])


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    with (tmp_path / "tracks.csv").open("wb") as file:
        file.truncate(1_000_000_000)
    with pytest.raises(DataError, match="has 1,000 MB; expected at most 16 MB"):
        read_rows(tmp_path, TrackRow, videos=["hall"])


def test_nothing_outside_of_the_folder_is_opened(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    (tmp_path / "elsewhere.csv").write_text(TRACK_HEADER)
    (folder / "tracks.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(DataError, match="is not a regular file in its folder"):
        read_rows(folder, TrackRow, videos=["hall"])
    os.mkfifo(folder / "shots.csv")
    with pytest.raises(DataError, match="is not a regular file in its folder"):
        read_rows(folder, ShotRow, videos=["hall"])


def test_a_row_that_could_not_be_read_again_is_not_written(tmp_path):
    bad = TrackRow(video_id="hall", check=CHECK, track_id="3", act="ok", by="P03", note="=1+1")
    with pytest.raises(DataError, match="cannot be written: note: "):
        append_row(tmp_path, bad)
    with pytest.raises(DataError, match="cannot be written: note: "):
        write_rows(tmp_path, TrackRow, [bad])
    with pytest.raises(DataError, match="a row appears twice"):
        write_rows(tmp_path, TrackRow, [TRACK, TRACK])
    assert list(tmp_path.iterdir()) == []
