"""Media at addresses: the same frames as of the file, few bytes, and what is said where a server fails."""

import hashlib
import io
import socket
import subprocess
import sys

import av
import msgspec
import numpy as np
import pytest
from av.video.frame import VideoFrame
from huggingface_hub import constants
from PIL import Image

from servers.hub import TOKEN, Hub
from vidence.errors import MediaError, UsageError
from vidence.media import remote
from vidence.media.address import Address, place
from vidence.media.encode import Encoding, Size
from vidence.media.files import Job, cached_facts, deliver, kept_frames, read_facts
from vidence.media.scan import scan_video
from vidence.media.video import FrameProblem, Video
from videos.special import truncated

CONTAINERS = ("mov", "mkv", "fragmented", "open-gop", "ts", "avi")


@pytest.fixture
def in_small_blocks(monkeypatch):
    """Blocks that are small beside a clip, and an empty memory."""
    monkeypatch.setattr(remote, "BLOCK_BYTES", 4096)
    monkeypatch.setattr(remote, "_MOST_AHEAD", 4)
    monkeypatch.setattr(remote, "_BLOCKS", remote._Blocks(max_bytes=2**18))


def put(objects, path, *, name=None, data=None):
    """Keep a file in the bucket ``lab`` as ``v/NAME``; its name there."""
    key = f"v/{name or path.name}"
    objects.put("lab", key, path.read_bytes() if data is None else data)
    return key


def of_address(found):
    return msgspec.structs.replace(found, path="")


@pytest.mark.usefixtures("in_small_blocks")
@pytest.mark.parametrize("name", CONTAINERS)
def test_frames_are_those_of_the_file(name, clip, objects):
    path = clip(name).path
    ours, theirs = Video(path), Video(f"{objects.url}/lab/{put(objects, path)}")
    assert of_address(theirs.probe) == of_address(ours.probe)
    assert np.array_equal(theirs.times_s, ours.times_s)
    assert (theirs.scan.table is None) == (ours.scan.table is None)
    if ours.scan.table is not None:
        assert np.array_equal(theirs.scan.table.packet_pts, ours.scan.table.packet_pts)
        assert np.array_equal(theirs.scan.table.is_key, ours.scan.table.is_key)
    indices = [*range(0, len(ours), 9), len(ours) - 1]
    for one, other in zip(ours.frames(indices), theirs.frames(indices, threads=2), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.usefixtures("in_small_blocks")
@pytest.mark.parametrize("suffix", ["mp4", "ts"])
def test_a_truncated_object_is_what_a_truncated_file_is(suffix, tmp_path, objects):
    path = truncated(tmp_path, suffix)
    address = place(f"{objects.url}/lab/{put(objects, path)}")
    ours, theirs = Video(path), Video(str(address))
    assert of_address(theirs.probe) == of_address(ours.probe)
    assert np.array_equal(theirs.frames([5])[0], ours.frames([5])[0])


@pytest.mark.usefixtures("in_small_blocks")
def test_an_index_at_the_end_that_is_not_there_is_named(tmp_path, clip, objects):
    data = clip("mov").path.read_bytes()
    path = tmp_path / "half.mov"
    path.write_bytes(data[: len(data) // 2])
    for of in (path, Address(f"{objects.url}/lab/{put(objects, path)}")):
        with pytest.raises(MediaError, match=r"half.mov: its index \(moov\) is missing"):
            scan_video(of)


@pytest.fixture(scope="session")
def long_clip(clip_folder):
    """600 noisy frames in 60 groups; the index stands at the end."""
    path = clip_folder / "long.mp4"
    rng = np.random.default_rng(0)
    with av.open(str(path), "w") as made:
        stream = made.add_stream("libx264", rate=25, options={"preset": "ultrafast", "g": "10", "crf": "20"})
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for _ in range(600):
            picture = rng.integers(0, 256, (64, 96, 3), np.uint8)
            made.mux(stream.encode(VideoFrame.from_ndarray(picture, format="rgb24")))
        made.mux(stream.encode(None))
    return path


@pytest.mark.usefixtures("in_small_blocks")
def test_of_an_mp4_the_index_the_first_pictures_and_the_groups_wanted_are_fetched(long_clip, objects):
    name = f"lab/{put(objects, long_clip)}"
    size = len(objects.objects[name].data)
    video = Video(f"{objects.url}/{name}")
    assert len(video) == 600
    assert objects.sent[name] < 0.08 * size  # the index is 1 %, and 20 pictures tell the rate
    remote._BLOCKS._kept.clear()
    objects.sent.clear()
    wanted = [5, 305, 595]  # in 3 groups of 60
    ours = Video(long_clip)
    assert all(map(np.array_equal, video.frames(wanted), ours.frames(wanted)))
    assert 0.02 * size < objects.sent[name] < 0.15 * size
    assert all(asked for method, _, asked in objects.requests if method == "GET")


def test_where_a_file_is_read_from_end_to_end_requests_grow(monkeypatch, objects):
    monkeypatch.setattr(remote, "BLOCK_BYTES", 100)
    monkeypatch.setattr(remote, "_MOST_AHEAD", 8)
    data = np.random.default_rng(0).bytes(5_000)
    objects.put("lab", "noise", data)
    with remote.opened(Address(f"{objects.url}/lab/noise")) as file:
        assert b"".join(iter(lambda: file.read(50), b"")) == data
    assert [end for *_, end in objects.requests if end][:4] == [
        *("bytes=0-99", "bytes=100-299", "bytes=300-699", "bytes=700-1499")
    ]
    assert objects.sent["lab/noise"] == len(data)


def test_a_file_is_read_as_any_other(objects):
    data = bytes(range(256)) * 4
    objects.put("lab", "x", data)
    with remote.opened(Address(f"{objects.url}/lab/x")) as file:
        assert (file.readable(), file.seekable(), file.writable()) == (True, True, False)
        assert file.seek(-4, io.SEEK_END) == 1020
        assert file.read() == data[-4:]
        assert file.seek(10) == file.tell() == 10
        assert file.seek(5, io.SEEK_CUR) == 15
        assert file.read(3) == data[15:18]
        assert file.seek(5_000) == 5_000
        assert file.read(3) == b""
        file.hollow = ((20, 30), (40, 50))
        file.seek(18)
        assert file.read(30) == data[18:20] + bytes(10) + data[30:40] + bytes(8)
        file.seek(22)
        assert file.read(4) == bytes(4)


def test_what_is_there_is_told_from_what_is_not(objects, folder):
    objects.put("lab", "v/a.mp4", b"12345")
    found = remote.look(Address(f"{folder}/v/a.mp4"))
    assert (found.size_bytes, found.is_folder, found.sha256) == (5, False, "")
    assert objects.objects["lab/v/a.mp4"].etag in found.version
    assert remote.look(Address(f"{folder}/v/none.mp4")) is None
    objects.put("lab", "v/a.mp4", b"54321")
    assert remote.look(Address(f"{folder}/v/a.mp4")).version != found.version


def test_a_folder_of_a_store_is_listed_where_many_are_wanted(objects):
    pytest.importorskip("s3fs", reason="s3:// needs s3fs: pip install 'vidence[remote]'")
    objects.page = 10
    for number in range(30):
        objects.put("lab", f"v/{number}.mp4", b"x")
    objects.put("lab", "v/deeper/a.mp4", b"x")
    wanted = [Address(f"s3://lab/v/{number}.mp4") for number in range(5, 40)]
    found = remote.look_at_all([*wanted, Address("s3://lab/v/deeper/a.mp4")])
    assert [address for address, one in found.items() if one is None] == wanted[25:]
    assert sum(name == "lab" for _, name, _ in objects.requests) == 3  # pages; nothing else was listed
    assert len(objects.requests) == 4
    assert remote.listing(Address("s3://lab/none")) is None


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("cut", r"could not be read in 4 tries .*check that its server is up"),
        ("short", r"could not be read in 4 tries \(OSError: got \d+ of the \d+ bytes"),
        (500, r"could not be read in 4 tries .*500"),
    ],
)
def test_a_server_that_goes_on_failing_is_named_after_some_tries(fault, said, clip, objects):
    key = put(objects, clip("mkv").path)
    objects.faults[f"lab/{key}"] = [fault] * 50
    with pytest.raises(MediaError, match=said) as caught:
        Video(f"{objects.url}/lab/{key}")
    assert f"lab/{key}" in str(caught.value)
    assert len(objects.faults[f"lab/{key}"]) == 46


@pytest.mark.usefixtures("in_small_blocks")
def test_a_server_that_fails_between_the_frames_damages_none(long_clip, objects):
    name = f"lab/{put(objects, long_clip)}"
    video = Video(f"{objects.url}/{name}")
    remote._BLOCKS._kept.clear()
    objects.requests.clear()
    assert not any(isinstance(one, FrameProblem) for one in video.frames([5, 205, 405, 595]))
    n_needed = sum(method == "GET" for method, *_ in objects.requests)
    assert n_needed > 5
    for n_good in (0, n_needed // 2, n_needed - 1):
        remote._BLOCKS._kept.clear()
        objects.faults[name] = [*[0] * n_good, *[500] * 50]
        with pytest.raises(MediaError, match=r"4 tries"):
            video.frames([5, 205, 405, 595])
        assert len(objects.faults[name]) == 46, n_good


@pytest.mark.parametrize(
    ("status", "said"), [(403, "refuses access .403.; check that the keys"), (401, "refuses access")]
)
def test_no_right_is_said_at_once(status, said, objects, folder):
    objects.put("lab", "v/a.mp4", b"x")
    objects.always["lab/v/a.mp4"] = status
    with pytest.raises(MediaError, match=said):
        remote.look(Address(f"{folder}/v/a.mp4"))
    assert len(objects.requests) <= 2


def test_a_file_that_cannot_be_a_video_is_named(objects, folder):
    objects.put("lab", "empty.mp4", b"")
    objects.put("lab", "text.mp4", b"<html>not found</html>" * 50)
    for name, said in (("empty", r"is empty \(0 bytes\)"), ("text", "is text"), ("none", "no such file")):
        with pytest.raises(MediaError, match=rf"/lab/{name}.mp4: .*{said}"):
            scan_video(Address(f"{folder}/{name}.mp4"))


def test_a_web_server_must_serve_ranges_and_say_sizes(monkeypatch, clip, objects):
    monkeypatch.setattr(remote, "BLOCK_BYTES", 4096)
    objects.has_ranges = False
    key = put(objects, clip("h264").path)
    with pytest.raises(MediaError, match=r"cannot be read in parts \(.*download the file"):
        Video(f"{objects.url}/lab/{key}")
    with pytest.raises(MediaError, match="does not state its size"):
        remote._found(Address("https://h.example/a.mp4"), {"type": "file", "size": None})


def test_a_server_that_is_down_is_not_a_file_that_is_missing(objects):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(MediaError, match=r"in 4 tries \(.*[Cc]onnect"):
        remote.look(Address(f"http://127.0.0.1:{port}/a.mp4"))
    assert not objects.requests


def test_a_store_without_keys_says_what_to_do(monkeypatch, objects):
    pytest.importorskip("s3fs", reason="s3:// needs s3fs: pip install 'vidence[remote]'")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(MediaError, match=r"no credentials were found .*public .*fetching\.md"):
        remote.look(Address("s3://lab/a.mp4"))


@pytest.mark.parametrize(("scheme", "module"), [("s3", "s3fs"), ("gs", "gcsfs"), ("https", "aiohttp")])
def test_a_driver_that_is_absent_is_named_with_its_command(scheme, module):
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from vidence.errors import UsageError\nfrom vidence.media import remote\n"
        "from vidence.media.address import Address\n"
        f"try: remote.look(Address('{scheme}://lab/a.mp4'))\n"
        "except UsageError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"{scheme}:// needs a driver that is not installed" in done.stdout
    assert "pip install" in done.stdout
    assert (module if scheme == "gs" else "remote") in done.stdout or module in done.stdout


def test_facts_hold_while_the_object_is_the_same(clip, objects, folder, tmp_path):
    key = put(objects, clip("h264").path)
    address = place(f"{folder}/{key}")
    before = read_facts(address, kind="video", cache_root=tmp_path)
    assert before.content_hash.startswith("said-")
    assert not before.is_of_bytes
    n_sent = objects.sent[f"lab/{key}"]
    again = cached_facts(address, kind="video", cache_root=tmp_path)
    assert (again.content_hash, again.probe) == (before.content_hash, before.probe)
    assert objects.sent[f"lab/{key}"] == n_sent
    put(objects, clip("vfr").path, name=clip("h264").path.name)
    assert cached_facts(address, kind="video", cache_root=tmp_path) is None
    after = read_facts(address, kind="video", cache_root=tmp_path)
    assert after.content_hash != before.content_hash
    assert len(after.times_s) == 64


def test_frames_are_kept_and_an_object_that_changed_is_seen(clip, objects, folder, tmp_path):
    key = put(objects, clip("h264").path)
    facts = read_facts(place(f"{folder}/{key}"), kind="video", cache_root=tmp_path)
    job = Job(
        path=f"{folder}/{key}",
        kind="video",
        frame_indices=(3, 99),
        encoding=Encoding(size=Size()),
        cache_root=str(tmp_path),
        cache_max_bytes=2**30,
        content_hash=facts.content_hash,
    )
    first, ours = (
        deliver(job),
        deliver(msgspec.structs.replace(job, path=str(clip("h264").path), content_hash="")),
    )
    assert {i: one.digest for i, one in first.frames.items()} == {
        i: one.digest for i, one in ours.frames.items()
    }
    assert (first.n_decoded, deliver(job).n_from_cache) == (2, 2)
    objects.requests.clear()
    kept = kept_frames(msgspec.structs.replace(job, frame_indices=(3, 99, 100)))
    assert list(kept.frames) == [3, 99]
    assert "frame 100 is not in the cache" in kept.problems[100]
    assert not objects.requests  # nobody was asked
    put(objects, clip("vfr").path, name=clip("h264").path.name)
    with pytest.raises(MediaError, match="changed since its frames were selected"):
        deliver(job)


def _image(value):
    out = io.BytesIO()
    Image.new("RGB", (16, 12), (value, 0, 0)).save(out, "PNG")
    return out.getvalue()


def test_images_and_folders_of_images_are_read(objects, folder):
    for number in (1, 2, 10):
        objects.put("lab", f"frames/{number}.png", _image(number))
    objects.put("lab", "frames/notes.txt", b"x")
    image = Video(f"{folder}/frames/10.png", kind="image")
    assert image[0].data[0, 0, 0] == 10
    if folder.startswith("http"):
        with pytest.raises(MediaError, match="web servers do not list folders"):
            Video(f"{folder}/frames", kind="frames")
        return
    video = Video(f"{folder}/frames", kind="frames")
    assert [frame.data[0, 0, 0] for frame in video] == [1, 2, 10]
    with pytest.raises(MediaError, match="is a folder"):
        Video(f"{folder}/frames")
    with pytest.raises(MediaError, match="no such folder"):
        Video(f"{folder}/none", kind="frames")


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nonexistent")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(remote, "_PAUSES_OF_STORES_S", (0.0,))
    with Hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.mark.usefixtures("in_small_blocks")
def test_videos_are_read_from_a_data_set_of_the_hub(clip, hub):
    data = clip("h264").path.read_bytes()
    commit = hub.add("lab/videos", {"v/a.mp4": data, "v/b.mp4": b"x" * 2_000, "README.md": b"x"})
    ours = Video(clip("h264").path)
    for folder in ("hf://datasets/lab/videos/v", f"hf://datasets/lab/videos@{commit}/v"):
        facts = read_facts(place(f"{folder}/a.mp4"), kind="video", cache_root=None)
        assert (facts.content_hash, facts.is_of_bytes) == (hashlib.sha256(data).hexdigest(), True)
        theirs = Video(f"{folder}/a.mp4")
        assert np.array_equal(theirs.frames([77])[0], ours.frames([77])[0])
    assert remote.look(Address("hf://datasets/lab/videos/v/none.mp4")) is None
    assert remote.look(Address("hf://datasets/lab/videos/v")).is_folder
    assert sorted(remote.listing(Address("hf://datasets/lab/videos/v"))) == ["a.mp4", "b.mp4"]
    ranges = [asked for method, path, asked in hub.requests if "/resolve/" in path and method == "GET"]
    assert ranges
    assert all(ranges)


def test_a_gated_data_set_and_one_that_is_not_there_are_refused(hub):
    hub.add("lab/gated", {"a.mp4": b"x" * 2_000}, gated="manual")
    with pytest.raises(MediaError, match=r"hf://datasets/lab/none/a.mp4: its server refuses access \(401\)"):
        remote.look(Address("hf://datasets/lab/none/a.mp4"))
    with pytest.raises(MediaError, match=r"refuses access \(401\)") as caught:
        Video("hf://datasets/lab/gated/a.mp4")
    assert TOKEN not in str(caught.value)
    assert isinstance(caught.value, MediaError)
    assert not isinstance(caught.value, UsageError)
