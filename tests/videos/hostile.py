"""Media that are made to do harm, and some that only look like it."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import av


def huge_png(side_px: int) -> bytes:
    """A grey PNG of so many pixels on each side, in some kilobytes."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        )

    packer, row = zlib.compressobj(1), bytes(side_px + 1)
    pixels = b"".join(packer.compress(row) for _ in range(side_px)) + packer.flush()
    head = struct.pack(">IIBBBBB", side_px, side_px, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def video_of_png(path: Path, picture: bytes, *, claimed_px: int) -> Path:
    """A MOV whose one frame is this PNG; its header claims a square of so many pixels."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("png", rate=25)
        stream.width = stream.height = claimed_px
        stream.pix_fmt = "gray"
        packet = av.Packet(picture)
        packet.pts = packet.dts = 0
        packet.stream, packet.is_keyframe = stream, True
        container.mux(packet)
    return path


def _boxes(data: bytes, start: int = 0) -> Iterator[tuple[bytes, bytes]]:
    while start < len(data):
        length, name = struct.unpack_from(">I4s", data, start)
        yield name, data[start : start + length]
        start += length


def _box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(content), name) + content


def with_edits(video: bytes, n_edits: int, *, ticks: int = 40) -> bytes:
    """An MP4 (its index behind the pictures) with so many edits of so many ticks, one frame further each."""
    table = b"".join(struct.pack(">iiI", ticks, 512 * (i % 100), 1 << 16) for i in range(n_edits))
    edits = _box(b"edts", _box(b"elst", struct.pack(">II", 0, n_edits) + table))

    def track(content: bytes) -> bytes:
        return b"".join(edits if name == b"edts" else box for name, box in _boxes(content))

    def index(content: bytes) -> bytes:
        return b"".join(
            _box(name, track(box[8:])) if name == b"trak" else box for name, box in _boxes(content)
        )

    return b"".join(_box(name, index(box[8:])) if name == b"moov" else box for name, box in _boxes(video))


def playlists(video: str, segment: str) -> dict[str, str]:
    """Text files that stand for these files, by name."""
    return {
        "list.m3u8": "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n"
        f"{segment}\n#EXT-X-ENDLIST\n",
        "files.mp4": f"ffconcat version 1.0\nfile {video}\n",
        "stream.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
        "m=video 5000 RTP/AVP 96\n",
        "dash.mpd": '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" '
        'profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet><Representation id="1">'
        f"<BaseURL>{video}</BaseURL></Representation></AdaptationSet></Period></MPD>",
        "player.asx": f'<asx version="3.0"><entry><ref href="{video}"/></entry></asx>',
        "list.pls": f"[playlist]\nFile1={video}\nNumberOfEntries=1\n",
        "say.srt": "1\n00:00:00,000 --> 00:00:02,000\nhello\n",
        "meta.txt": ";FFMETADATA1\ntitle=x\n",
    }


def programs() -> dict[str, bytes]:
    """Files of other formats under the names of images and videos."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as held:
        held.writestr("a.mp4", b"x" * 1000)
    script = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 90 90\n{} loop\n"
    return {
        "eps.jpg": script,
        "eps.png": b"\xc5\xd0\xd3\xc6" + struct.pack("<6IH", 30, len(script), 0, 0, 0, 0, 0xFFFF) + script,
        "pdf.jpg": b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n",
        "svg.png": b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/hostname"/></svg>',
        "zip.mp4": archive.getvalue(),
        "elf.mp4": b"\x7fELF" + bytes(2000),
        "xpm.png": b'/* XPM */\nstatic char *x[] = {"2 2 1 1", "a c #000000", "aa", "aa"};\n',
        "ppm.jpg": b"P6\n99999 99999\n255\n" + bytes(300),
        "psd.jpg": b"8BPS\0\1" + bytes(300),
        "fits.png": b"SIMPLE  =                    T" + b" " * 2850,
    }
