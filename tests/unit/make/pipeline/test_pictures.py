"""The folder of pictures."""

import hashlib

import pytest

from vidence.errors import MediaError, StoreError, UsageError
from vidence.make.pipeline.pictures import PictureFolder


def test_what_is_put_can_be_got_by_its_digest(tmp_path):
    folder = PictureFolder(tmp_path)
    digest = folder.put(b"picture")
    assert digest == hashlib.sha256(b"picture").hexdigest()
    assert folder.put(b"picture") == digest
    assert PictureFolder(tmp_path).get(digest) == b"picture"
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [folder.path(digest)]


def test_a_picture_that_is_not_there_or_damaged_is_an_error(tmp_path):
    folder = PictureFolder(tmp_path)
    with pytest.raises(MediaError, match="make the crops again"):
        folder.get("0" * 64)
    digest = folder.put(b"picture")
    folder.path(digest).write_bytes(b"pictuRe")
    with pytest.raises(MediaError, match="damaged"):
        folder.get(digest)
    folder.path(digest).write_bytes(b"pic")
    assert folder.put(b"picture") == digest
    assert folder.get(digest) == b"picture"


@pytest.mark.parametrize("name", ["../../secret", "", "0" * 63, "A" * 64, "/etc/passwd"])
def test_only_digests_name_pictures(tmp_path, name):
    with pytest.raises(UsageError, match="64 hexadecimal"):
        PictureFolder(tmp_path).get(name)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be written"):
        PictureFolder(tmp_path / "file").put(b"picture")
