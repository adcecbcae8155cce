"""The release: checksums, the same bytes, never another one in its place."""

import hashlib
from pathlib import Path

import pytest

from vidence.errors import StoreError, UsageError
from vidence.make.gates.rules import ReleaseRules
from vidence.make.release.writing import with_sums, write_release


def files(**more: str) -> dict[Path, bytes]:
    texts = {
        "items.jsonl": "{}",
        "CITATION.cff": "cff",
        "about/note.txt": "x",
        "data/tasks/ac.json": "[]",
    } | more
    return with_sums({Path(name): text.encode() for name, text in texts.items()})


@pytest.mark.parametrize("change", [{"items.jsonl": "[]"}, {"more.txt": "y"}])
def test_another_release_is_never_written_over(tmp_path, change):
    folder = tmp_path / "set"
    write_release(files(), folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="holds another release"):
        write_release(files(**change), folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_whatever_else_is_in_its_place_is_refused(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "items.jsonl").write_text("mine")
    with pytest.raises(UsageError, match=r"is not empty: it holds items\.jsonl"):
        write_release(files(), tmp_path / "set")
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "set"):
        with pytest.raises(UsageError, match="is a file"):
            write_release(files(), place)
    with pytest.raises(StoreError, match="cannot write the release"):
        write_release({Path("a"): b"", Path("a/b"): b""}, tmp_path / "new")
    (tmp_path / "other").mkdir()
    assert write_release(files(), tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "other", "set"]
    assert (tmp_path / "set" / "items.jsonl").read_text() == "mine"


def test_every_file_has_its_checksum_and_every_change_is_seen(tmp_path):
    folder = tmp_path / "set"
    write_release(files(), folder)
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    (folder / "data" / "videos").mkdir()
    (folder / "data" / "videos" / "v0.mp4").write_bytes(b"a video")  # put there by a user
    assert not write_release(files(), folder)
    (folder / "items.jsonl").write_bytes(b"")
    with pytest.raises(UsageError, match=r"items\.jsonl differs"):
        write_release(files(), folder)
    (folder / "CITATION.cff").unlink()
    with pytest.raises(UsageError, match=r"CITATION\.cff differs"):
        write_release(files(), folder)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"version": "1/0"}, "version is '1/0'"),
        ({"version": ""}, "version is ''"),
        ({"version": "1", "splits": {"train": 0.5}}, "splits are train = 0.5"),
        ({"version": "1", "splits": {"train": 1.5, "test": -0.5}}, "add up to 1"),
        ({"version": "1", "splits": {}}, "splits are none"),
    ],
)
def test_rules_that_make_no_sense_are_refused(rules, said):
    with pytest.raises(UsageError, match=said):
        ReleaseRules(**rules)
