"""What cannot be read at all is an error that names the file and what is wrong."""

import pickle
import re
import wave

import av
import numpy as np
import pytest
from PIL import Image

from vidence.errors import MediaError, UsageError
from vidence.media.files import read_facts
from vidence.media.video import open_video
from videos.hostile import huge_png, playlists, video_of_png, with_edits
from videos.soundtrack import sound
from videos.stamped import copy, cut_off, write


def broken(folder, name):
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
        ("noise.mp4", "is not a readable video"),
        ("nomoov.mp4", "its index (moov) is missing"),
        ("sound.m4a", "has no video stream; it holds only audio"),
        ("no-frames.mkv", "holds no frame"),
        ("folder.mp4", "is a folder"),
    ],
)
def test_the_error_says_which_file_and_why(name, reason, tmp_path):
    path = broken(tmp_path, name)
    for cache_root in (None, tmp_path / "cache"):
        with pytest.raises(MediaError) as found:
            read_facts(path, kind="video", cache_root=cache_root)
        assert str(found.value).startswith(f"{path}: ")
        assert reason in str(found.value)
        assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)  # noqa: S301 - our own bytes


def test_sound_beside_a_video_is_noticed(plain, tmp_path):
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


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("list.m3u8", "is an HLS playlist, which names other files"),
        ("files.mp4", r"is a list of files \(ffconcat\), which names other files"),
        ("stream.sdp", r"is a description of a stream \(SDP\)"),
        ("dash.mpd", "is text, not a video"),
        ("say.srt", "is text, not a video"),
        ("a-%03d.png", "is an image .*; an image has the kind 'image'"),
        ("a-001.png", r"is an image \(png\), not a video; an image has the kind 'image'"),
        ("tone.wav", r"its format \(wav\) is not supported; expected one of mov, matroska, .*convert it"),
    ],
)
def test_a_format_that_is_not_opened_is_named(name, reason, plain, tmp_path):
    """A playlist was read through: its hash was not that of what was decoded."""
    copy(plain, tmp_path / "a.ts")
    (tmp_path / "a.mp4").write_bytes(plain.read_bytes())
    for picture in ("a-001.png", "a-%03d.png"):
        Image.new("RGB", (64, 48)).save(tmp_path / picture)
    with wave.open(str(tmp_path / "tone.wav"), "wb") as tone:
        tone.setparams((1, 2, 8000, 0, "NONE", ""))
        tone.writeframes(bytes(8000))
    for listed, text in playlists("a.mp4", "a.ts").items():
        (tmp_path / listed).write_text(text)
    for _ in range(2):  # libavformat does not repeat what it has just said
        with pytest.raises(MediaError, match=f"{re.escape(name)}: {reason}"):
            open_video(tmp_path / name)
    assert av.logging.get_level() is None


def test_the_file_that_is_named_has_no_part_in_another_format(plain, tmp_path):
    path = tmp_path / "film.jpg"
    path.write_bytes(plain.read_bytes())
    assert open_video(path).n_frames == 120


@pytest.mark.parametrize("claimed_px", [16, 14_000])
def test_a_picture_that_is_too_large_is_not_decoded(claimed_px, tmp_path):
    path = video_of_png(tmp_path / "huge.mov", huge_png(14_000), claimed_px=claimed_px)
    with pytest.raises(MediaError, match=r"too large \(14000x14000\); expected at most 178,956,970 pixels"):
        open_video(path)


def test_edits_have_a_bound(tmp_path):
    path = write(tmp_path / "a.mp4", numbers=range(8))
    whole = path.read_bytes()
    path.write_bytes(with_edits(whole, 1_001))
    with pytest.raises(MediaError, match=r"a\.mp4: 1,001 edits, more than 1,000"):
        open_video(path)
    path.write_bytes(with_edits(whole, 3, ticks=500))
    assert open_video(path).n_frames > 0
    # The index with a length of 64 bits, and behind boxes that are none.
    start = whole.index(b"moov") - 4
    index = with_edits(whole, 1_001)[start:]
    long = (1).to_bytes(4, "big") + b"moov" + (len(index) + 8).to_bytes(8, "big") + index[8:]
    path.write_bytes(whole[:start] + long)
    with pytest.raises(MediaError, match="1,001 edits"):
        open_video(path)


def test_a_codec_that_nobody_decodes_is_an_error(plain, tmp_path):
    path = tmp_path / "a.mp4"
    path.write_bytes(plain.read_bytes().replace(b"avc1", b"zzzz"))
    with pytest.raises(MediaError, match=r"a\.mp4: no decoder for its video stream"):
        open_video(path)


@pytest.mark.parametrize("kind", ["video", "image", "frames"])
@pytest.mark.parametrize("name", ["a" * 300, "a\0b", "/dev/null", "a.mp4/b"])
def test_a_name_that_no_file_can_have_is_an_error(kind, name, tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"x")
    with pytest.raises(MediaError):
        read_facts(tmp_path / name, kind=kind, cache_root=tmp_path / "cache")


def test_an_unknown_kind_is_refused(plain):
    with pytest.raises(UsageError, match="'film'; expected one of video, image, frames"):
        read_facts(plain, kind="film", cache_root=None)
    with pytest.raises(UsageError, match="'film'"):
        open_video(plain, kind="film")
