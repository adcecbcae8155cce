import gzip
import zipfile

import pytest

from subjects.mocap_files import AMC, ASF, BVH, cmu_bvh, write
from vidence.errors import DataError, UsageError
from vidence.pointlight.reading import format_of, open_file, read_motion, read_motions


def test_gzip_and_zip_are_transparent(tmp_path):
    (tmp_path / "a.bvh.gz").write_bytes(gzip.compress(BVH.encode(), mtime=0))
    with zipfile.ZipFile(tmp_path / "one.ZIP", "w") as held:
        held.writestr("folder/a.bvh", BVH)
        held.writestr("__MACOSX/._a.bvh", "hidden")
    for name in ("a.bvh.gz", "one.ZIP", "one.ZIP/folder/a.bvh"):
        opened = open_file(tmp_path / name)
        assert (opened.name, opened.text()) == ("a.bvh", BVH)


def test_an_archive_of_several_needs_a_name_and_holds_the_skeleton_too(tmp_path):
    with zipfile.ZipFile(tmp_path / "walks.zip", "w") as held:
        held.writestr("07.asf", ASF.format(length="0.45"))
        held.writestr("07_01.amc.gz", gzip.compress(AMC.encode()))
    with pytest.raises(DataError, match=r"holds 2 files; name one, for example .*walks\.zip/07\.asf"):
        open_file(tmp_path / "walks.zip")
    with pytest.raises(DataError, match=r"no member 'x\.amc'; it holds 07\.asf"):
        open_file(tmp_path / "walks.zip" / "x.amc")
    assert read_motion(tmp_path / "walks.zip" / "07_01.amc.gz").n_frames == 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"  \n\n", "the file is empty"),
        (b"HIERARCHY\0\0", "not a text file"),
        (gzip.compress(BVH.encode(), mtime=0)[:-20], "cannot be unpacked"),
        (b"\x1f\x8b" + b"x" * 30, "cannot be unpacked"),
    ],
)
def test_what_cannot_be_text(tmp_path, data, words):
    path = tmp_path / "a.bvh"
    path.write_bytes(data)
    with pytest.raises(DataError, match=words):
        read_motion(path)


def test_no_such_file_and_a_damaged_archive(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_motion(tmp_path / "gone.bvh")
    with pytest.raises(DataError, match="cannot be read"):
        read_motion(tmp_path)
    (tmp_path / "bad.zip").write_bytes(b"PK but no more")
    with pytest.raises(DataError, match="damaged zip"):
        read_motion(tmp_path / "bad.zip")


def test_a_wrong_suffix_says_what_the_content_looks_like(tmp_path):
    with pytest.raises(DataError, match=r"walk\.bvh: .* look like asf-amc; say format=asf-amc"):
        read_motion(write(tmp_path, "walk.bvh", AMC))
    with pytest.raises(DataError, match=r"walk\.bvh:1: expected HIERARCHY, found '#!OML:ASF toy'"):
        read_motion(tmp_path / "walk.bvh", format="bvh")
    with pytest.raises(DataError, match=r"walk\.bvh:1: expected HIERARCHY, found 'Dear reader,'"):
        read_motion(write(tmp_path, "walk.bvh", "Dear reader,\n"))
    with pytest.raises(
        DataError, match=r"notes\.txt: .* its first lines tell none; known names end in \.amc"
    ):
        read_motion(write(tmp_path, "notes.txt", "Dear reader,\n"))
    with pytest.raises(DataError, match="look like bvh"):
        format_of(write(tmp_path, "walk.mot", BVH))
    (tmp_path / "02.asf").write_text(":version 1.10\n")
    with pytest.raises(DataError, match=r"02\.asf is a skeleton, not a motion; name the \.amc"):
        read_motion(tmp_path / "02.asf")
    with pytest.raises(UsageError, match=r"'bvh' has no option 'fsp'\. Did you mean 'fps'"):
        read_motion(write(tmp_path, "a.bvh", BVH), options={"fsp": "30"})
    marked = b"\xef\xbb\xbf" + cmu_bvh([[0, 17, 0, 1, 0, 0]] * 9).encode()
    (tmp_path / "30_02.bvh").write_bytes(marked)
    assert read_motion(tmp_path / "30_02.bvh").n_frames == 9


def test_the_rest_of_a_batch_goes_on(tmp_path):
    good = write(tmp_path, "30_01.bvh", cmu_bvh([[0, 17, 0, 1, 0, 0]] * 9))
    bad = write(tmp_path, "30_02.bvh", good.read_text().rsplit("\n", 2)[0] + "\n")
    read = read_motions([bad, tmp_path / "gone.bvh", good])
    assert [path for path, _ in read] == [bad, tmp_path / "gone.bvh", good]
    assert isinstance(read[0][1], DataError)
    assert "30_02.bvh" in str(read[0][1])
    assert "announces 9" in str(read[0][1])
    assert isinstance(read[1][1], DataError)
    assert read[2][1].n_frames == 9
