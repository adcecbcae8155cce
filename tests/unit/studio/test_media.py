"""Tokens, what lies behind them, and what never does."""

import asyncio
import os
import shutil
import socket
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vidence.errors import MediaError, UsageError
from vidence.media.encode import Encoding, Size
from vidence.media.files import Job, deliver
from vidence.media.video import open_video
from vidence.studio.media import MediaDesk, pieces, with_pieces
from vidence.studio.rules.frames import PackedTable
from vidence.studio.rules.ranges import ByteRange, Whole
from videos.stamped import read_number, write

N = 12


@pytest.fixture(scope="module")
def film(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("films") / "film.mp4", numbers=range(N))


@pytest.fixture
def root(tmp_path, film) -> Path:
    made = tmp_path / "media"
    made.mkdir()
    shutil.copy(film, made / "film.mp4")
    return made


def new_desk(tmp_path, secret: bytes = b"s" * 32) -> MediaDesk:
    return MediaDesk(secret, tmp_path / "cache", frames_max_bytes=1 << 28, copies_max_bytes=1 << 28)


@pytest.fixture
def there(tmp_path):
    made = new_desk(tmp_path)
    yield made
    made.renditions.close()


def opened(there: MediaDesk, path: Path, root: Path, kind: str = "video"):
    return there.known(there.token_of(path, kind=kind, roots=[root]))


def test_only_tokens_that_were_handed_out_stand_for_files(there, root, tmp_path):
    token = there.token_of(root / "film.mp4", kind="video", roots=[root])
    assert there.known(token).path == Path(os.path.realpath(root / "film.mp4"))
    other = new_desk(tmp_path, secret=b"t" * 32)
    theirs = other.token_of(root / "film.mp4", kind="video", roots=[root])
    other.renditions.close()
    assert theirs != token
    assert not set("/+=.") & set(token)
    for word in (theirs, "", "..", str(root / "film.mp4"), token.lower() + "x", token[:-1], "\0"):
        assert there.known(word) is None


@pytest.mark.parametrize("kind", ["video", "image"])
def test_one_file_has_one_token_for_each_kind(there, root, kind):
    tokens = {there.token_of(root / "film.mp4", kind=kind, roots=[root]) for _ in range(3)}
    around = there.token_of(root / "x" / ".." / "film.mp4", kind=kind, roots=[root])
    assert tokens == {around}


def test_nothing_outside_the_folders_of_the_media_gets_a_token(there, root, tmp_path):
    secret = tmp_path / "secret.mp4"
    shutil.copy(root / "film.mp4", secret)
    (root / "link.mp4").symlink_to(secret)
    (root / "folder").symlink_to(tmp_path)
    for path in (
        secret,
        root / ".." / "secret.mp4",
        root / "link.mp4",
        root / "folder" / "secret.mp4",
        Path("/"),
    ):
        with pytest.raises(MediaError, match="outside"):
            there.token_of(path, kind="video", roots=[root])
    with pytest.raises(MediaError, match="outside"):
        there.token_of(root / "film.mp4", kind="video", roots=[])
    with pytest.raises(MediaError, match="not a valid file name"):
        there.token_of(root / "a\0b.mp4", kind="video", roots=[root])


def test_links_are_followed_inside_and_not_out(there, root, tmp_path):
    (root / "link.mp4").symlink_to(root / "film.mp4")
    assert there.file_state(opened(there, root / "link.mp4", root)).size > 0
    known = opened(there, root / "film.mp4", root)
    assert there.file_state(known).media_type == "video/mp4"
    (tmp_path / "secret.mp4").write_bytes((root / "film.mp4").read_bytes())
    (root / "film.mp4").unlink()
    (root / "film.mp4").symlink_to(tmp_path / "secret.mp4")
    with pytest.raises(MediaError, match="leads out"):
        there.file_state(known)
    with pytest.raises(MediaError, match="leads out"):
        asyncio.run(there.table(known))
    with pytest.raises(MediaError, match="leads out"):
        asyncio.run(there.still(known, 0, encoding=Encoding(size=Size())))


def test_what_is_no_medium_is_not_shown_and_a_film_with_a_page_is_a_film(there, root):
    (root / "plan.toml").write_text("[run]\nkey = 'secret'\n")
    (root / "list.m3u8").write_text("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n")
    (root / "list.txt").write_text("ffconcat version 1.0\nfile film.mp4\n")
    for name in ("plan.toml", "list.m3u8", "list.txt", "absent.mp4"):
        for kind in ("video", "image"):
            with pytest.raises(MediaError):
                there.file_state(opened(there, root / name, root, kind))
    with pytest.raises(MediaError, match="folder"):
        there.file_state(opened(there, root, root, "frames"))
    page = b"<html><script>window.pwned=1</script>"
    (root / "film.html").write_bytes((root / "film.mp4").read_bytes() + page)
    assert there.file_state(opened(there, root / "film.html", root)).media_type == "video/mp4"
    (root / "page.mp4").write_bytes(page + (root / "film.mp4").read_bytes())
    with pytest.raises(MediaError):
        there.file_state(opened(there, root / "page.mp4", root))


LISTS = (
    "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://{0}/a.ts\n#EXT-X-ENDLIST\n",
    "ffconcat version 1.0\nfile 'http://{0}/a.mp4'\n",
    "<?xml version='1.0'?><MPD xmlns='urn:mpeg:dash:schema:mpd:2011'><BaseURL>http://{0}/</BaseURL></MPD>",
    "v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 {0}\nt=0 0\nm=video 5004 RTP/AVP 96\n",
    "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{1}\n#EXT-X-ENDLIST\n",
    "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://{1}\n#EXT-X-ENDLIST\n",
    "ffconcat version 1.0\nfile '{1}'\n",
    "ffconcat version 1.0\nfile 'file:{1}'\n",
    "ffconcat version 1.0\nfile 'subfile,,start,0,end,900000,,:{1}'\n",
)


@pytest.mark.parametrize("name", ["list.mp4", "list.m3u8", "list.mpd", "list.sdp", "list.ffconcat"])
def test_a_list_reaches_no_address_and_shows_nothing_of_a_file_it_names(there, root, tmp_path, film, name):
    outside = Path(shutil.copy(film, tmp_path / "outside.mp4"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        host, port = listening.getsockname()
        for text in LISTS:
            (root / name).write_text(text.format(f"{host}:{port}", outside))
            known = opened(there, root / name, root)
            with pytest.raises(MediaError):
                there.file_state(known)
            for ask in (
                there.table,
                lambda known: there.copy_of(known, is_needed=True),
                lambda known: there.still(known, 0, encoding=Encoding(size=Size())),
                lambda known: there.strip(known, n_pictures=3),
            ):
                with pytest.raises(MediaError):
                    asyncio.run(ask(known))
        with pytest.raises(TimeoutError):
            listening.accept()


@pytest.mark.parametrize(("name", "media_type"), [("a.jpg", "image/jpeg"), ("a.png", "image/png")])
def test_an_image_has_its_type(there, root, name, media_type):
    Image.new("RGB", (8, 8)).save(root / name)
    assert there.file_state(opened(there, root / name, root, "image")).media_type == media_type


def test_frames_strips_times_and_tags_are_those_of_the_file(there, root):
    packed = asyncio.run(there.table(opened(there, root / "film.mp4", root)))
    assert times_s(packed) == pytest.approx([i / 30 for i in range(N)], abs=1e-6)
    known = opened(there, root / "film.mp4", root)
    with pytest.raises(MediaError, match="frame 99"):
        asyncio.run(there.still(known, 99, encoding=Encoding(size=Size())))
    found = asyncio.run(there.strip(known, n_pictures=3))
    assert (found.width_px, found.height_px) == (3 * 160, 90)
    with pytest.raises(UsageError, match="1 to 48"):
        asyncio.run(there.strip(known, n_pictures=49))
    before = there.file_state(known)
    assert there.file_state(known) == before
    os.utime(root / "film.mp4", ns=(0, 1))
    assert there.file_state(known).etag != before.etag


def read(state, wanted) -> bytes:
    async def whole() -> bytes:
        return b"".join([piece async for piece in pieces(state, wanted)])

    return asyncio.run(whole())


def test_pieces_are_the_bytes_of_the_file_and_promised_ones_follow_the_head(there, root):
    content = (root / "film.mp4").read_bytes()
    state = there.file_state(opened(there, root / "film.mp4", root))
    start, *bodies = answered(there, state, ByteRange(first=3, last=9, size=len(content)))
    assert start["status"] == 206
    assert b"".join(one["body"] for one in bodies) == content[3:10]
    assert [one["more_body"] for one in bodies] == [True, False]
    (root / "film.mp4").write_bytes((root / "film.mp4").read_bytes() + b"x" * 200_000)
    content = (root / "film.mp4").read_bytes()
    state = there.file_state(opened(there, root / "film.mp4", root))
    assert read(state, Whole(size=len(content))) == content
    assert read(state, ByteRange(first=7, last=70_000, size=len(content))) == content[7:70_001]
    (root / "film.mp4").write_bytes((root / "film.mp4").read_bytes() + b"x" * (1 << 20))
    state = there.file_state(opened(there, root / "film.mp4", root))
    told = answered(there, state, Whole(size=state.size), reader_leaves=True)
    assert [one["type"] for one in told] == ["http.response.start", "http.response.body"]


def test_a_file_is_closed_when_its_reader_goes_away(there, root):
    state = there.file_state(opened(there, root / "film.mp4", root))
    handles = Path("/proc/self/fd")
    if not handles.exists():
        pytest.skip("open files are counted through /proc")

    async def leave() -> tuple[int, int]:
        reader = pieces(state, Whole(size=state.size))
        await anext(reader)
        during = [os.readlink(one) for one in handles.iterdir() if one.is_symlink()].count(str(state.path))
        await reader.aclose()
        after = [os.readlink(one) for one in handles.iterdir() if one.is_symlink()].count(str(state.path))
        return during, after

    assert asyncio.run(leave()) == (1, 0)


@pytest.mark.parametrize(
    "encoding",
    [
        Encoding(size=Size.parse("short:64")),
        Encoding(size=Size(), format="png"),
        Encoding(size=Size(), quality=60),
    ],
)
def test_a_still_is_what_models_are_sent(there, root, tmp_path, encoding):
    known = opened(there, root / "film.mp4", root)
    still = asyncio.run(there.still(known, 7, encoding=encoding))
    sent = deliver(
        Job(
            path=str(root / "film.mp4"),
            kind="video",
            frame_indices=(7,),
            encoding=encoding,
            cache_root=None,
            cache_max_bytes=0,
        )
    )
    assert still.data == sent.frames[7].data
    kept = deliver(
        Job(
            path=str(root / "film.mp4"),
            kind="video",
            frame_indices=(7,),
            encoding=encoding,
            cache_root=str(tmp_path / "cache"),
            cache_max_bytes=1 << 28,
        )
    )
    assert kept.n_from_cache == 1


def times_s(packed: PackedTable) -> list[float]:
    """When each frame of a table is presented, in seconds from the first."""
    steps = np.repeat(packed.runs[::2], packed.runs[1::2])
    return (np.cumsum([0, *steps]) * packed.time_base[0] / packed.time_base[1]).tolist()


def test_an_image_of_a_folder_that_leads_out_is_not_shown(there, root, tmp_path):
    folder = root / "frames"
    folder.mkdir()
    Image.new("RGB", (8, 8), "red").save(folder / "0.png")
    Image.new("RGB", (8, 8), "blue").save(tmp_path / "secret.png")
    (folder / "1.png").symlink_to(tmp_path / "secret.png")
    known = opened(there, folder, root, "frames")
    assert asyncio.run(there.still(known, 0, encoding=Encoding(size=Size()))).width_px == 8
    with pytest.raises(MediaError, match="leads out"):
        asyncio.run(there.still(known, 1, encoding=Encoding(size=Size())))


def test_a_copy_has_the_table_of_its_original(there, tmp_path):
    root = tmp_path / "old"
    root.mkdir()
    write(root / "old.avi", codec="mpeg4", numbers=range(N))
    known = opened(there, root / "old.avi", root)

    async def follow():
        with pytest.raises(MediaError, match="no copy"):
            await there.copy_file(known)
        while (await there.copy_of(known)).state != "ready":
            await asyncio.sleep(0.01)
        return await there.copy_table(known), await there.table(known), await there.copy_file(known)

    copied, packed, state = asyncio.run(follow())
    assert copied.n_frames == packed.n_frames == N
    tick_s = max(one.time_base[0] / one.time_base[1] for one in (copied, packed))
    assert times_s(copied) == pytest.approx(times_s(packed), rel=0, abs=tick_s)
    assert [read_number(frame.data) for frame in open_video(state.path)] == list(range(N))
    assert state.media_type == "video/mp4"


def answered(there: MediaDesk, state, wanted, *, reader_leaves: bool = False) -> list[dict]:
    """What a server is handed for an answer whose bytes were promised."""
    told: list[dict] = []

    async def head_only(scope, _receive, send) -> None:
        there.promise(scope, state, wanted)
        await send({"type": "http.response.start", "status": 206, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def serve() -> None:
        left = asyncio.Event()

        async def receive() -> dict:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict) -> None:
            told.append(message)
            if reader_leaves and message.get("body"):
                left.set()
                await asyncio.sleep(3600)  # nobody reads on

        await with_pieces(head_only)({"type": "http"}, receive, send)

    asyncio.run(serve())
    return told


def test_an_answer_without_a_promise_is_left_alone():
    told = []

    async def plain(_scope, _receive, send) -> None:
        await send({"type": "http.response.body", "body": b"page"})

    async def send(message) -> None:
        told.append(message)

    async def receive() -> dict:
        raise AssertionError("nobody is to be waited for")

    asyncio.run(with_pieces(plain)({"type": "http"}, receive, send))
    assert told == [{"type": "http.response.body", "body": b"page"}]


def test_a_film_that_several_ask_for_at_once_is_read_once(tmp_path, monkeypatch):
    import anyio

    from vidence.media import files

    path = write(tmp_path / "film.mp4", numbers=range(40))
    there = MediaDesk(b"s" * 32, tmp_path / "cache", frames_max_bytes=1 << 30, copies_max_bytes=1 << 30)
    known = there.known(there.token_of(path, kind="video", roots=[tmp_path]))
    opened = []
    monkeypatch.setattr(
        files, "open_video", lambda path, **kind: opened.append(path) or open_video(path, **kind)
    )

    async def all_at_once():
        async with anyio.create_task_group() as group:
            for ask in (there.table, there.copy_of, there.table):
                group.start_soon(ask, known)

    anyio.run(all_at_once)
    assert opened == [path]
