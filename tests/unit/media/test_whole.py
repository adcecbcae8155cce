"""Files are seen whole or not at all, by those who may see them, and no link is followed."""

import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vidence.errors import StoreError, UsageError
from vidence.media import whole
from vidence.media.whole import (
    PRIVATE,
    is_running,
    make_private,
    make_private_file,
    own_folder,
    whole_file,
    write_into,
    write_whole,
)


@pytest.fixture(autouse=True)
def _umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def rights(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_gets_its_name_when_it_is_complete(tmp_path):
    path = tmp_path / "a.mp4"
    path.write_bytes(b"old")
    with whole_file(path) as unfinished:
        assert (unfinished.suffix, unfinished.parent) == (".mp4", tmp_path)
        unfinished.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.mp4"]
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_the_old_file_is_there_and_nothing_else(tmp_path, error):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def half():
        with whole_file(path) as unfinished:
            unfinished.write_bytes(b"half")
            raise error

    with pytest.raises(error):
        half()
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("is_durable", [False, True])
def test_a_link_of_the_name_is_replaced_and_not_followed(tmp_path, is_durable):
    victim, path = tmp_path / "victim", tmp_path / "plan.toml"
    victim.write_text("mine")
    path.symlink_to(victim)
    write_whole(path, b"plan", is_durable=is_durable)
    assert (victim.read_text(), path.read_bytes(), path.is_symlink()) == ("mine", b"plan", False)


@pytest.mark.parametrize("is_link", [False, True])
def test_a_pipe_gets_the_content_and_stays_a_pipe(tmp_path, is_link):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = pipe
    if is_link:
        path = tmp_path / "link"
        path.symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(path, b"new")
    assert os.read(reader, 9) == b"new"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert path.is_symlink() is is_link
    assert len(list(tmp_path.iterdir())) == 1 + is_link


def test_a_link_that_waits_for_the_temporary_name_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(whole.os, "urandom", lambda n: b"\0" * n)
    (tmp_path / "victim").write_text("mine")
    (tmp_path / f".plan.{whole._here()}-{os.getpid()}-{'00' * 8}.toml").symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "plan.toml", b"theirs")
    assert (tmp_path / "victim").read_text() == "mine"


def test_rights_are_those_of_the_user_unless_it_is_private(tmp_path):
    write_whole(tmp_path / "shared" / "a", b"")
    write_whole(tmp_path / "cache" / "b" / "c", b"", mode=PRIVATE)
    assert [rights(tmp_path / name) for name in ("shared", "shared/a")] == [0o755, 0o644]
    assert [rights(tmp_path / name) for name in ("cache", "cache/b", "cache/b/c")] == [0o700, 0o700, 0o600]


def test_private_folders_and_files_stay_as_they_are_where_they_are_there(tmp_path):
    (tmp_path / "there").mkdir(mode=0o755)
    (tmp_path / "file").touch(mode=0o644)
    make_private(tmp_path / "there" / "new")
    make_private_file(tmp_path / "file")
    make_private_file(tmp_path / "new")
    found = [rights(tmp_path / name) for name in ("there", "there/new", "file", "new")]
    assert found == [0o755, 0o700, 0o644, 0o600]
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")  # is not followed
    with pytest.raises(OSError, match="symbolic"):
        make_private_file(tmp_path / "link")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["a" * 255, "ä" * 127, "a." + "b" * 250, "\udce4" * 100])
def test_long_and_strange_names_can_be_written(tmp_path, name):
    write_whole(tmp_path / name, b"x")
    assert (tmp_path / name).read_bytes() == b"x"


def test_a_folder_that_goes_away_is_made_again(tmp_path, monkeypatch):
    path, n = tmp_path / "folder" / "a", iter(range(9))
    real = whole.os.open

    def gone(*args, **settings):
        if next(n) == 0:
            path.parent.rmdir()
        return real(*args, **settings)

    monkeypatch.setattr(whole.os, "open", gone)
    write_whole(path, b"x")
    assert path.read_bytes() == b"x"


def test_what_killed_processes_left_is_removed_and_nothing_else(tmp_path):
    here, dead, random = whole._here(), 2**22 + 1, "0" * 16
    folder = tmp_path / "stages" / "boxes"
    folder.mkdir(parents=True)
    left = [f".ab.{here}-{dead}-{random}.json", f".ab.{here}-{dead}-{random}"]
    stays = [
        f".ab.{here}-{os.getpid()}-{random}.json",  # is being written
        f".ab.{'0' * 8}-{dead}-{random}.json",  # by another machine
        f"ab.{here}-{dead}-{random}.json",
        ".gitignore",
        "ab.json",
    ]
    for name in (*left, *stays):
        (folder / name).write_text("x")
    for owner in (dead, os.getpid()):
        half = folder / f".set-1.0.{here}-{owner}-{random}.0"
        (half / "about").mkdir(parents=True)
        (half / "about" / "a.json").write_text("x")
    stays.append(half.name)
    assert whole.remove_leftovers(tmp_path) == (0 if os.name == "nt" else 3)
    assert sorted(path.name for path in folder.iterdir()) == sorted(stays)
    assert whole.remove_leftovers(tmp_path / "nowhere") == 0


def test_a_process_is_there_until_it_has_ended(monkeypatch):
    assert is_running(os.getpid())
    assert is_running(1)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert not is_running(ended.pid)

    def refused(pid, signal):
        raise PermissionError

    monkeypatch.setattr(os, "kill", refused)  # it is another user's
    assert is_running(4)


MINE = ".vidence-set"


@pytest.mark.parametrize(
    "there", [None, (), (".DS_Store", "lost+found"), (MINE,), (MINE, "half.jsonl", "theirs")]
)
def test_a_new_an_empty_and_an_own_folder_are_written_into(tmp_path, there):
    folder = tmp_path / "above" / "set"
    if there is not None:
        folder.mkdir(parents=True)
        for name in there:
            (folder / name).touch()
    for _ in range(2):
        own_folder(folder, MINE)
    assert {one.name for one in folder.iterdir()} == {MINE, *(there or ())}


@pytest.mark.parametrize("is_link", [False, True])
@pytest.mark.parametrize("name", ["thesis.txt", ".git", ".vidence-other", "half.jsonl"])
def test_a_folder_of_others_is_named_with_what_is_in_it(tmp_path, name, is_link):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / name).write_text("theirs")
    folder = tmp_path / "there"
    if is_link:
        folder = tmp_path / "link"
        folder.symlink_to("there")
    holds = rf"it holds {re.escape(name)}, .*choose a new or empty folder"
    with pytest.raises(UsageError, match=holds + "$"):
        own_folder(folder)
    with pytest.raises(UsageError, match=holds + r", or create an empty file .*/\.vidence-set if"):
        own_folder(folder, MINE)
    assert [(one.name, one.read_text()) for one in folder.iterdir()] == [(name, "theirs")]


@pytest.mark.parametrize("name", ["kept.jsonl", "page.HTML", "a.b.csv"])
def test_no_folder_gets_the_name_of_a_file(tmp_path, name):
    with pytest.raises(
        UsageError, match=rf"{name} is a file name; expected a folder name, as {Path(name).stem}$"
    ):
        own_folder(tmp_path / name, MINE)
    assert not (tmp_path / name).exists()
    (tmp_path / name).mkdir()
    for folder in (tmp_path / name, tmp_path / "set-1.0", tmp_path / ".html"):
        own_folder(folder, MINE)
        assert (folder / MINE).is_file()


def test_the_first_of_several_marks_is_made_and_each_is_known(tmp_path):
    own_folder(tmp_path / "run", "run.sqlite", "plan.toml", mode=0o700)
    assert (rights(tmp_path / "run"), rights(tmp_path / "run" / "run.sqlite")) == (0o700, 0o600)
    (tmp_path / "run" / "run.sqlite").rename(tmp_path / "run" / "plan.toml")
    own_folder(tmp_path / "run", "run.sqlite", "plan.toml")
    assert [one.name for one in (tmp_path / "run").iterdir()] == ["plan.toml"]


def test_beside_files_of_the_user_only_names_that_are_written_count(tmp_path):
    (tmp_path / "study.toml").touch()
    own_folder(tmp_path, MINE, among=("drawn.jsonl",))
    (tmp_path / MINE).unlink()
    (tmp_path / "drawn.jsonl").touch()
    with pytest.raises(UsageError, match=r"it holds drawn\.jsonl, which"):
        own_folder(tmp_path, MINE, among=("drawn.jsonl",))


def test_where_no_folder_can_be_the_message_says_so(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "set"):
        with pytest.raises(UsageError, match="is a file; expected a folder or a new name"):
            own_folder(place, MINE)
    (tmp_path / "nowhere").symlink_to("absent")
    with pytest.raises(StoreError, match=r"cannot make the folder .*: File exists; choose another place"):
        own_folder(tmp_path / "nowhere", MINE)
    with pytest.raises(StoreError, match=r"cannot make the folder .*/file: File exists"):
        write_into(tmp_path, {"file/a.txt": "a"})

    def refused(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(whole.os, "listdir", refused)
    with pytest.raises(StoreError, match=r"cannot list .*: Permission denied; choose another folder"):
        own_folder(tmp_path, MINE)


def test_makers_that_start_at_once_share_a_new_folder(tmp_path):
    def start(number):
        own_folder(tmp_path / "set", MINE)
        write_into(tmp_path / "set", {f"{number}.txt": "x"})

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(start, range(40))) == [None] * 40
    assert len(list((tmp_path / "set").iterdir())) == 41
