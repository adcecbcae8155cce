"""The addresses of media on a real server: ranges, tokens, and many viewers who paused."""

import asyncio
import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np
import pytest
from PIL import Image

from vidence.studio.rules.ranges import MOST_BYTES
from videos.stamped import write

HERE = Path(__file__).parent
N_VIEWERS = 200
KEPT_TAG = "the tag that the server says"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Media:
    """A running server; `cookie` lets in, `tokens` are by name, `files` what lies behind them."""

    address: str
    cookie: str
    tokens: dict[str, str]
    files: dict[str, Path]

    def ask(self, path: str, *, method: str = "GET", **headers: str) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection(self.address, timeout=30)
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in {"Cookie": self.cookie, **said}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        found = Answer(
            status=answer.status,
            headers={name.lower(): value for name, value in answer.getheaders()},
            body=answer.read(),
        )
        connection.close()
        return found

    def file(self, name: str) -> str:
        return f"/media/{self.tokens[name]}/file"


@pytest.fixture(scope="module")
def media(tmp_path_factory) -> Iterator[Media]:
    pytest.importorskip("django")
    folder = tmp_path_factory.mktemp("media")
    film = write(folder / "film.mp4", numbers=range(24))
    large = folder / "large.mp4"
    large.write_bytes(film.read_bytes() + np.random.default_rng(0).bytes(3 * MOST_BYTES))
    Image.new("RGB", (32, 24), "red").save(folder / "picture.png")
    (folder / "plan.toml").write_text("key = 'secret'")
    named = {"film": "video", "large": "video", "picture": "image", "plan": "video"}
    files = {"film": film, "large": large, "picture": folder / "picture.png", "plan": folder / "plan.toml"}
    process = subprocess.Popen(
        [
            sys.executable,
            HERE / "serve_players.py",
            folder / "studio",
            *(f"{name}={kind}={files[name]}" for name, kind in named.items()),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    door = urlsplit(re.findall(r"http\S+", process.stdout.readline())[0])
    outside = Media(address=door.netloc, cookie="", tokens={}, files={})
    cookie = outside.ask(f"{door.path}?{door.query}").headers["set-cookie"].partition(";")[0]
    inside = Media(address=door.netloc, cookie=cookie, tokens={}, files=files)
    yield Media(
        address=door.netloc, cookie=cookie, tokens=json.loads(inside.ask("/tokens").body), files=files
    )
    process.terminate()
    process.wait(timeout=20)
    process.stdout.close()


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ("bytes=0-", slice(0, None)),
        ("bytes=0-1", slice(0, 2)),
        ("bytes=100-199", slice(100, 200)),
        ("bytes=-500", slice(-500, None)),
        ("bytes=0-99999999", slice(0, None)),
    ],
)
def test_a_range_is_answered_with_its_bytes(media, header, part):
    content = media.files["film"].read_bytes()
    answer = media.ask(media.file("film"), Range=header)
    assert (answer.status, answer.body) == (206, content[part])
    first = len(content) - 500 if header == "bytes=-500" else int(header[6:].partition("-")[0])
    last = first + len(answer.body) - 1
    assert answer.headers["content-range"] == f"bytes {first}-{last}/{len(content)}"
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("header", ["bytes=99999999-", "bytes=9-3"])
def test_a_range_without_a_byte_is_refused(media, header):
    answer = media.ask(media.file("film"), Range=header)
    size = media.files["film"].stat().st_size
    assert (answer.status, answer.headers["content-range"], answer.body) == (416, f"bytes */{size}", b"")


@pytest.mark.parametrize(
    "header", ["bytes=a-b", "lines=0-5", "bytes=0-1,5-9", f"bytes={'9' * 5000}-", "bytes=-"]
)
def test_what_is_no_single_range_gets_all(media, header):
    answer = media.ask(media.file("film"), Range=header)
    assert (answer.status, answer.body) == (200, media.files["film"].read_bytes())


def test_a_part_has_at_most_two_mebibytes_and_the_next_one_follows(media):
    content = media.files["large"].read_bytes()
    got = b""
    while len(got) < len(content):
        answer = media.ask(media.file("large"), Range=f"bytes={len(got)}-")
        assert answer.status == 206
        assert 0 < len(answer.body) <= MOST_BYTES
        got += answer.body
    assert got == content


def test_heads_tags_and_editions(media):
    place, content = media.file("film"), media.files["film"].read_bytes()
    head = media.ask(place, method="HEAD")
    assert (head.status, head.body, int(head.headers["content-length"])) == (200, b"", len(content))
    assert head.headers["accept-ranges"] == "bytes"
    tag, changed = head.headers["etag"], head.headers["last-modified"]
    part = media.ask(place, method="HEAD", Range="bytes=0-9")
    assert (part.status, part.headers["content-length"]) == (206, "10")
    assert media.ask(place, Range="bytes=0-9", If_Range=tag).status == 206
    assert media.ask(place, Range="bytes=0-9", If_Range=changed).status == 206
    assert media.ask(place, Range="bytes=0-9", If_Range='"another"').status == 200
    assert media.ask(place, If_None_Match=tag).status == 304
    assert media.ask(place, If_None_Match='"another"').status == 200
    for method in ("POST", "PUT", "DELETE"):
        assert media.ask(place, method=method).status in {403, 405}


def test_many_hostile_ranges_leave_nothing_open(media, rng):
    before = json.loads(media.ask("/threads").body)

    def header(i: int) -> str:
        a, b = (int(one) for one in rng.integers(-5, 200_000, 2))
        kinds = (
            f"bytes={a}-{b}",
            f"bytes={a}-",
            f"bytes=-{b}",
            f"bytes={a}-{b},{b}-{a}",
            "bytes=" + "0-," * 500,
        )
        return kinds[i % len(kinds)]

    headers = [header(i) for i in range(2_000)]

    def all_of(some: list[str]) -> set[int]:
        connection = http.client.HTTPConnection(media.address, timeout=60)
        statuses = set()
        for one in some:
            connection.request(
                "HEAD" if len(one) % 2 else "GET",
                media.file("picture"),
                headers={"Cookie": media.cookie, "Range": one},
            )
            answer = connection.getresponse()
            answer.read()
            statuses.add(answer.status)
        connection.close()
        return statuses

    with ThreadPoolExecutor(4) as four:
        found = set().union(*four.map(all_of, (headers[i::4] for i in range(4))))
    assert found <= {200, 206, 416}
    assert json.loads(media.ask("/threads").body)["kb"] < before["kb"] + 10_000
    after = json.loads(media.ask("/threads").body)
    assert after["open"] <= before["open"] + 8
    assert after["threads"] <= before["threads"] + 8


@pytest.mark.parametrize(
    "token",
    [
        "..",
        "%2e%2e",
        "%252e%252e",
        "..%2f..",
        "..\\..",
        "%00",
        "/etc/passwd",
        "\uff0e\uff0e",
        "TOKEN",
        "nothing",
        "TOKEN/../TOKEN",
    ],
)
@pytest.mark.parametrize("rest", ["file", "frames.json", "still/0.jpg", "copy.json", "copy/file"])
def test_only_tokens_lead_to_files(media, token, rest):
    said = token.replace("TOKEN", media.tokens["film"].swapcase())
    answer = media.ask(f"/media/{quote(said, safe='%/.')}/{rest}")
    assert answer.status == 404
    assert b"passwd" not in answer.body


def test_a_token_without_the_door_is_worth_nothing(media):
    outside = Media(address=media.address, cookie="", tokens=media.tokens, files=media.files)
    assert outside.ask(media.file("film")).status in {302, 403}


def test_what_is_no_video_is_not_shown(media):
    for rest in ("file", "frames.json", "still/0.jpg", "copy.json"):
        answer = media.ask(f"/media/{media.tokens['plan']}/{rest}")
        assert answer.status == 404
        assert b"secret" not in answer.body


def test_stills_strips_and_tables(media):
    base = f"/media/{media.tokens['film']}"
    still = media.ask(f"{base}/still/7.jpg?size=short:48&quality=80")
    assert (still.status, still.headers["content-type"]) == (200, "image/jpeg")
    assert (
        media.ask(f"{base}/still/7.jpg?size=short:48&quality=80", If_None_Match=still.headers["etag"]).status
        == 304
    )
    assert media.ask(f"{base}/still/7.jpg?format=png").headers["content-type"] == "image/png"
    assert media.ask(f"{base}/strip.jpg?n=4").status == 200
    for wrong in (
        "still/7.jpg?size=huge",
        "still/7.jpg?quality=-1",
        "still/7.jpg?format=svg",
        "strip.jpg?n=9999",
    ):
        assert media.ask(f"{base}/{wrong}").status == 400
    for absent in ("still/99.jpg", "still/-1.jpg", "still/99999999999999999999.jpg", "copy/file"):
        assert media.ask(f"{base}/{absent}").status == 404
    table = json.loads(media.ask(f"{base}/frames.json").body)
    assert (table["kind"], table["plays"], table["table"]["n_frames"]) == ("video", True, 24)
    packed = media.ask(f"{base}/frames.json", Accept_Encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    picture = json.loads(media.ask(f"/media/{media.tokens['picture']}/frames.json").body)
    assert (picture["kind"], picture["table"]["n_frames"]) == ("image", 1)
    assert media.ask(media.file("picture")).headers["content-type"] == "image/png"


def test_viewers_who_paused_keep_nobody_waiting(media):
    """They read the first bytes of a large file and stop; pages and other parts are answered meanwhile."""
    host, port = media.address.split(":")
    request = f"GET {media.file('large')} HTTP/1.1\r\nHost: {media.address}\r\nCookie: {media.cookie}\r\n\r\n"

    async def watch() -> tuple[list[bytes], list[Answer], dict[str, int]]:
        async def pause() -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
            reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 12)
            writer.write(request.encode())
            return reader, writer, await reader.readline()

        paused = []
        for _ in range(N_VIEWERS // 20):
            paused += await asyncio.gather(*(pause() for _ in range(20)))
        answers = [await asyncio.to_thread(media.ask, "/") for _ in range(5)]
        answers.append(await asyncio.to_thread(media.ask, media.file("large"), Range="bytes=5-9"))
        answers.append(await asyncio.to_thread(media.ask, f"/media/{media.tokens['film']}/still/3.jpg"))
        during = json.loads((await asyncio.to_thread(media.ask, "/threads")).body)
        for _, writer, _ in paused:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for _, writer, _ in paused), return_exceptions=True)
        return [status for _, _, status in paused], answers, during

    before = json.loads(media.ask("/threads").body)
    with ThreadPoolExecutor(1) as apart:  # in this thread the loop of the browser's tests may run
        statuses, answers, during = apart.submit(asyncio.run, watch()).result()
    assert statuses == [b"HTTP/1.1 200 OK\r\n"] * N_VIEWERS
    assert {one.status for one in answers} == {200, 206}
    assert during["threads"] <= before["threads"] + 24  # reads run in a bounded number of threads
    for _ in range(200):  # the server closes what the viewers left, in its own time
        after = json.loads(media.ask("/threads").body)
        if after["open"] <= before["open"] + 8:
            break
    assert after["open"] <= before["open"] + 8
    assert after["threads"] <= before["threads"] + 24
