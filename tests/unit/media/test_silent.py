"""Files without their sound."""

import hashlib
import os

import av
import pytest

from subjects.with_sound import write
from vidence.errors import MediaError
from vidence.media.silent import without_sound


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pictures(path):
    with av.open(str(path)) as source:
        frames = source.decode(video=0)
        return [(float(frame.time), frame.to_ndarray(format="rgb24").tobytes()) for frame in frames]


@pytest.mark.parametrize(
    ("name", "codec", "sound"),
    [("a.mp4", "mpeg4", "aac"), ("a.mkv", "mpeg4", "aac"), ("a.webm", "libvpx", "libopus")],
)
def test_the_pictures_stay_and_the_sound_goes(tmp_path, name, codec, sound):
    path = write(tmp_path / name, codec=codec, sound=sound)
    before = path.read_bytes()
    made = without_sound(path, content_hash=digest(path), cache_root=tmp_path / "cache", max_bytes=2**30)
    assert made.is_copy
    assert made.path.parent == tmp_path / "cache" / "silent"
    assert made.path.suffix == path.suffix
    with av.open(str(made.path)) as source:
        assert not source.streams.audio
        assert len(source.streams.video) == 1
    assert pictures(made.path) == pictures(path)
    assert made.digest == digest(made.path) != digest(path)
    assert path.read_bytes() == before
    again = without_sound(path, content_hash=digest(path), cache_root=tmp_path / "cache", max_bytes=2**30)
    elsewhere = without_sound(path, content_hash=digest(path), cache_root=tmp_path / "other", max_bytes=2**30)
    assert again == made
    assert elsewhere.digest == made.digest
    assert {one.name for one in made.path.parent.iterdir()} == {made.path.name, "written"}


def test_copies_are_bounded_and_none_goes_that_may_still_be_sent(tmp_path):
    cache, hour_ns = tmp_path / "cache", 3_600_000_000_000

    def made(number):
        path = tmp_path / f"{number}.mkv"
        if not path.exists():
            write(path, codec="mpeg4", sound="aac", n_frames=number)
        return without_sound(path, content_hash=digest(path), cache_root=cache, max_bytes=0).path

    copies = [made(number) for number in (6, 7, 8)]
    assert all(path.exists() for path in copies)  # all are of the last hour
    newest_ns = copies[2].stat().st_mtime_ns
    for path in copies[:2]:
        os.utime(path, ns=(newest_ns, newest_ns - 2 * hour_ns))
    assert made(7).stat().st_mtime_ns >= newest_ns  # used, so that it stays
    made(9)
    assert [path.exists() for path in copies] == [False, True, True]


def test_a_file_without_sound_is_sent_itself(tmp_path):
    path = write(tmp_path / "a.mp4", codec="mpeg4", sound=None)
    made = without_sound(path, content_hash=digest(path), cache_root=tmp_path / "cache", max_bytes=2**30)
    assert (made.path, made.digest, made.is_copy) == (path, digest(path), False)
    assert not (tmp_path / "cache").exists()
    path.write_bytes(b"no video")
    with pytest.raises(MediaError, match=r"cannot remove the sound of .*a\.mp4: .*--set audio=keep"):
        without_sound(path, content_hash="0" * 64, cache_root=tmp_path, max_bytes=2**30)
