"""Archives: what is needed comes out, nothing else, and nothing elsewhere."""

import io
import os
import tarfile
import zipfile

import pytest

from vidence.ask.fetching.archives import FREE_BYTES, is_archive, is_inside, matched, unpack
from vidence.errors import DataError

EVIL = ("../out.mp4", "/out.mp4", "a/../../out.mp4", "C:out.mp4", "..\\out.mp4", "a//out.mp4", "./../out.mp4")


def packed(tmp_path, ending, members, links=()):
    path = tmp_path / f"WildTrack{ending}"
    if ending == ".zip":
        with zipfile.ZipFile(path, "w") as file:
            for name, data in members.items():
                file.writestr(name, data)
            for name, target in links:
                info = zipfile.ZipInfo(name)
                info.external_attr = 0o120777 << 16
                file.writestr(info, target)
        return path
    with tarfile.open(path, "w:gz" if ending != ".tar" else "w") as file:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
        for name, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            file.addfile(info)
    return path


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if not p.is_dir()}


@pytest.mark.parametrize("ending", [".zip", ".tar", ".tar.gz", ".tgz"])
@pytest.mark.parametrize("inner", ["", "WildTrack/", "videos/WildTrack/", "./"])
def test_only_what_is_needed_comes_out_whatever_folders_the_archive_has(tmp_path, ending, inner) -> None:
    path = packed(tmp_path, ending, {f"{inner}1.mp4": b"one", f"{inner}2.mp4": b"two", "readme": b"r"})
    into = tmp_path / "into"
    found = unpack(
        [path],
        f"data/videos/{path.name}",
        into,
        free_bytes=FREE_BYTES,
        needed=["videos/WildTrack/2.mp4", "x/9.mp4"],
    )
    assert found.paths == ("videos/WildTrack/2.mp4",)
    assert files(into) == {"videos/WildTrack/2.mp4": b"two"}


@pytest.mark.parametrize("ending", [".zip", ".tar"])
def test_names_that_leave_the_folder_and_links_are_refused(tmp_path, ending) -> None:
    members = dict.fromkeys(EVIL, b"evil") | {"fine.mp4": b"fine"}
    path = packed(tmp_path, ending, members, links=[("out.mp4", "/etc/passwd")])
    into = tmp_path / "into"
    found = unpack([path], path.name, into, free_bytes=FREE_BYTES, needed=["out.mp4", "fine.mp4"])
    assert files(into) == {"fine.mp4": b"fine"}
    assert len(found.refused) == len(EVIL) + 1
    assert not (tmp_path / "out.mp4").exists()


def test_a_link_that_stands_where_a_file_is_written_is_not_followed(tmp_path) -> None:
    path = packed(tmp_path, ".zip", {"1.mp4": b"new"})
    into, victim = tmp_path / "into", tmp_path / "victim"
    into.mkdir()
    victim.write_bytes(b"old")
    os.symlink(victim, into / "1.mp4")
    os.symlink(victim, into / ".1.mp4.part")
    unpack([path], path.name, into, free_bytes=FREE_BYTES, needed=["1.mp4"])
    assert victim.read_bytes() == b"old"
    assert (into / "1.mp4").read_bytes() == b"new"


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_an_archive_that_inflates_is_stopped(tmp_path, ending) -> None:
    if ending == ".zip":
        path = tmp_path / "b.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("1.mp4", bytes(10_000_000))
    else:
        path = packed(tmp_path, ending, {"1.mp4": bytes(10_000_000)})
    with pytest.raises(DataError, match="holds more than 4 times its size"):
        unpack([path], path.name, tmp_path / "into", free_bytes=1_000, needed=["1.mp4"])
    assert files(tmp_path / "into") == {}


def test_small_archives_share_one_bound(tmp_path) -> None:
    free_bytes = 1_000_000
    for n in range(2):
        path = packed(tmp_path, ".tar.gz", {f"{n}.mp4": bytes(900_000)})
        if n:
            with pytest.raises(DataError, match="with those before it"):
                unpack([path], path.name, tmp_path / "into", free_bytes=free_bytes)
        else:
            free_bytes = unpack([path], path.name, tmp_path / "into", free_bytes=free_bytes).free_bytes
    assert files(tmp_path / "into") == {"0.mp4": bytes(900_000)}
    assert 100_000 <= free_bytes < 110_000


@pytest.mark.parametrize("ending", [".zip", ".tar", ".tgz", ".parquet"])
@pytest.mark.parametrize("share", [0, 0.5])
def test_a_damaged_archive_is_said(tmp_path, ending, share) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
        path = tmp_path / "p.parquet"
        path.write_bytes(b"PAR1....")
    else:
        path = packed(tmp_path, ending, {"1.mp4": os.urandom(100_000)})
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)] or b"none")
    with pytest.raises(DataError, match=r"cannot be unpacked|1\.mp4"):
        unpack([path], path.name, tmp_path / "into", free_bytes=FREE_BYTES, needed=["1.mp4"])
    assert files(tmp_path / "into") == {}


def test_videos_in_a_parquet_table_come_out_by_their_paths(tmp_path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows = [{"bytes": b"%d" % k, "path": f"{k}.mp4"} for k in range(40)]
    rows.append({"bytes": b"e", "path": "../e.mp4"})
    path = tmp_path / "train.parquet"
    pq.write_table(pa.table({"id": list(range(41)), "video": rows}), path, row_group_size=7)
    found = unpack(
        [path],
        "data/train.parquet",
        tmp_path / "into",
        free_bytes=FREE_BYTES,
        needed=["3.mp4", "39.mp4", "e.mp4"],
    )
    assert files(tmp_path / "into") == {"3.mp4": b"3", "39.mp4": b"39"}
    assert found.refused == ("../e.mp4",)


def test_a_name_that_fits_two_places_equally_well_is_left_out() -> None:
    assert matched(["a/1.mp4", "b/1.mp4"], ["c/1.mp4"]) == {}
    assert matched(["a/1.mp4", "b/1.mp4"], ["c/a/1.mp4"]) == {"c/a/1.mp4": "a/1.mp4"}
    assert [is_archive(name) for name in ("a.ZIP", "a.tar.gz", "a.mp4", "a.7z")] == [True, True, False, False]
    assert not is_inside("")
    assert not is_inside("a\0b")


def test_all_of_an_archive_comes_out_where_it_lies(tmp_path) -> None:
    path = packed(tmp_path, ".zip", {"clips/1.mp4": b"1", "2.mp4": b"2", "../3.mp4": b"3"})
    found = unpack([path], "video/part_1.zip", tmp_path / "into", free_bytes=FREE_BYTES)
    assert files(tmp_path / "into") == {"video/clips/1.mp4": b"1", "video/2.mp4": b"2"}
    assert found.refused == ("../3.mp4",)


@pytest.mark.parametrize("ending", [".zip", ".tar"])
def test_an_archive_that_was_cut_into_pieces_is_read_as_if_it_were_whole(tmp_path, ending) -> None:
    whole = packed(tmp_path, ending, {f"v/{n}.mp4": bytes([n]) * 5_000 for n in range(20)}).read_bytes()
    pieces = [tmp_path / f"videos{ending}.part.{letter}" for letter in "abcd"]
    size = len(whole) // 4 + 1
    for place, piece in enumerate(pieces):
        piece.write_bytes(whole[place * size : (place + 1) * size])
    wanted = ["v/0.mp4", "v/9.mp4", "v/19.mp4"]
    found = unpack(pieces, f"videos{ending}", tmp_path / "into", free_bytes=FREE_BYTES, needed=wanted)
    assert sorted(found.paths) == sorted(wanted)
    assert files(tmp_path / "into")["v/19.mp4"] == bytes([19]) * 5_000
    with pytest.raises(DataError, match="cannot be unpacked"):
        unpack(pieces[:3], f"videos{ending}", tmp_path / "other", free_bytes=FREE_BYTES)
