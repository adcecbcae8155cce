"""The videos that participants get."""

import av
import pytest

from subjects.with_sound import write
from vidence.errors import MediaError, StoreError
from vidence.records import Item, Media
from vidence.study.study import Phase, Study
from vidence.study.videos import medium_file, write_videos

SECRETS = (b"The Lost Film", b"lot 49", b"Chapter of the fall")


def titled(path, original):
    """A copy of a video whose container says what it is."""
    with av.open(str(original)) as source, av.open(str(path), "w") as made:
        made.metadata["title"] = "The Lost Film"
        made.metadata["comment"] = "lot 49"
        streams = (source.streams.video[0], source.streams.audio[0])
        copies = {stream.index: made.add_stream_from_template(stream) for stream in streams}
        copies[streams[0].index].metadata["title"] = "Chapter of the fall"
        for packet in source.demux(*streams):
            if packet.dts is not None:
                packet.stream = copies[packet.stream.index]
                made.mux(packet)
    return path


def content(path):
    """The decoded pictures with their times, and how much sound there is."""
    with av.open(str(path)) as source:
        pictures = [(float(f.time), f.to_ndarray(format="rgb24").tobytes()) for f in source.decode(video=0)]
    with av.open(str(path)) as source:
        return pictures, sum(frame.samples for frame in source.decode(audio=0))


def asked(name, kind="video"):
    return Item(
        item_id="q", question="?", choices=("a", "b"), answer="A", media=(Media(path=name, kind=kind),)
    )


PLAYS = Study(phases=(Phase(name="all", condition="whole"),))


@pytest.mark.parametrize(("name", "codec", "sound"), [("a.mp4", "mpeg4", "aac"), ("a.mkv", "mpeg4", "aac")])
def test_copies_have_pictures_and_sound_and_no_title(tmp_path, name, codec, sound):
    source = titled(tmp_path / name, write(tmp_path / f"plain-{name}", codec=codec, sound=sound))
    assert any(secret in source.read_bytes() for secret in SECRETS)
    write_videos(tmp_path, PLAYS, [asked(name), asked(name)])
    copy = medium_file(tmp_path, Media(path=name))
    assert copy.parent == tmp_path / "videos"
    assert copy.stem != "a"
    assert not any(secret in copy.read_bytes() for secret in SECRETS)
    assert content(copy) == content(source)
    before = copy.stat().st_mtime_ns
    write_videos(tmp_path, PLAYS, [asked(name)])
    assert copy.stat().st_mtime_ns == before


def test_nothing_is_copied_where_nothing_is_played_and_pictures_stay_what_they_are(tmp_path):
    (tmp_path / "p.jpg").write_bytes(b"a picture")
    write_videos(tmp_path, Study(phases=(Phase(name="all", condition="frames"),)), [asked("gone.mp4")])
    write_videos(tmp_path, PLAYS, [asked("p.jpg", "image")])
    assert not (tmp_path / "videos").exists()
    assert medium_file(tmp_path, Media(path="p.jpg", kind="image")) == tmp_path / "p.jpg"


def test_a_video_that_cannot_be_copied_is_named(tmp_path):
    (tmp_path / "bad.mp4").write_bytes(b"no container")
    with pytest.raises(MediaError, match=r"cannot remove the tags of .*bad\.mp4.*convert it"):
        write_videos(tmp_path, PLAYS, [asked("bad.mp4")])
    assert not list((tmp_path / "videos").glob("*.mp4"))
    (tmp_path / "other").mkdir()
    source = write(tmp_path / "other" / "a.mp4", codec="mpeg4", sound="aac")
    (tmp_path / "other" / "videos").write_text("a file")
    with pytest.raises(StoreError, match="cannot be written"):
        write_videos(source.parent, PLAYS, [asked("a.mp4")])
