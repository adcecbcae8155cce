"""What cannot be read at all is an error that names the file and what is wrong."""

import pickle
from pathlib import Path

import av
import numpy as np
import pytest

from vidence.errors import MediaError, UsageError
from vidence.media.files import read_facts
from vidence.media.video import open_video
from videos.soundtrack import sound
from videos.stamped import cut_off, write


def broken(folder: Path, name: str) -> Path:
    path = folder / name
    match name:
        case "empty.mp4":
            path.write_bytes(b"")
        case "text.mp4" | "text.txt":
            path.write_text("this is not a video\n" * 200)
        case "noise.mp4":
            path.write_bytes(np.random.default_rng(0).bytes(5000))
        case "nomoov.mp4":
            cut_off(write(folder / "index-at-end.mp4", numbers=range(30)), path, share=0.5)
        case "sound.m4a":
            sound(path)
        case "no-frames.mkv":
            sound(path, with_video=True)
        case "folder.mp4":
            path.mkdir()
    return path


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone.mp4", "there is no such file"),
        ("empty.mp4", "is empty (0 bytes)"),
        ("text.mp4", "is text, not a video"),
        ("text.txt", "is text, not a video"),
        ("noise.mp4", "is no video that can be read"),
        ("nomoov.mp4", "its index (moov) is missing"),
        ("sound.m4a", "has no video stream; it holds only audio"),
        ("no-frames.mkv", "holds no frame"),
        ("folder.mp4", "is a folder"),
    ],
)
def test_the_error_says_which_file_and_why(name: str, reason: str, tmp_path: Path) -> None:
    path = broken(tmp_path, name)
    for cache_root in (None, tmp_path / "cache"):
        with pytest.raises(MediaError) as found:
            read_facts(path, kind="video", cache_root=cache_root)
        assert str(found.value).startswith(f"{path}: ")
        assert reason in str(found.value)
        assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)  # noqa: S301 - our own bytes


def test_sound_beside_a_video_is_noticed(plain, tmp_path: Path) -> None:
    path = tmp_path / "both.mkv"
    with av.open(str(plain)) as reader, av.open(str(path), "w") as writer:
        stream = reader.streams.video[0]
        copied = writer.add_stream_from_template(stream)
        audio = writer.add_stream("aac", rate=16000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 16000
        writer.mux(audio.encode(frame))
        writer.mux(audio.encode(None))
        for packet in reader.demux(stream):
            if packet.size:
                packet.stream = copied
                writer.mux(packet)
    video = open_video(path)
    assert video.probe.has_audio
    assert video.n_frames == 120


def test_a_playlist_cannot_reach_the_network(tmp_path: Path) -> None:
    path = tmp_path / "list.m3u8"
    path.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/x.ts\n#EXT-X-ENDLIST\n")
    with pytest.raises(MediaError, match=r"list\.m3u8"):
        open_video(path)


def test_an_unknown_kind_is_refused(plain) -> None:
    with pytest.raises(UsageError, match="'film'; say video, image, frames"):
        read_facts(plain, kind="film", cache_root=None)
    with pytest.raises(UsageError, match="'film'"):
        open_video(plain, kind="film")
