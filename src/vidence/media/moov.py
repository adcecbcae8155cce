"""The frame table of an MP4 or MOV file, read from its index without touching a packet.

Only ordinary files are read this way. Fragments, edits that trim, times that do not start at zero
and files cut short give None; then the packets themselves are asked (`scan.py`).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

_MOST_MOOV_BYTES: Final = 1 << 28
_UPRIGHT: Final = (1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)
_MOST_SAMPLES: Final = 1 << 24  # six days of video; a damaged count must not take all memory
_BOX_BEGINS: Final = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"styp")


@dataclass(frozen=True, kw_only=True)
class MoovTable:
    """Times (ticks of ``1 / timescale`` s) and key marks of all samples, in decoding order.

    `matrix` is the display matrix of the track as libavutil would store it.
    """

    timescale: int
    matrix: bytes
    pts: NDArray[np.int64]
    is_key: NDArray[np.bool_]


class _UnusualError(Exception):
    """This file is better asked packet by packet."""


def read_moov(path: Path, *, track_id: int) -> MoovTable | None:
    """The table of one track; None where the index is not of the ordinary kind."""
    try:
        return _read_track(_moov(path), track_id=track_id, file_size=path.stat().st_size)
    except (_UnusualError, struct.error, ValueError, IndexError):
        return None


def n_beyond_end(path: Path, *, track_id: int) -> int:
    """How many samples of a track the index puts beyond the end of the file: it was cut off there.

    0 where the index cannot be read, and for files of fragments.
    """
    try:
        moov = _moov(path)
        ends = _sample_ends(_child(_track(moov, track_id), b"mdia", b"minf", b"stbl"))
        return int(np.count_nonzero(ends > path.stat().st_size))
    except (_UnusualError, struct.error, ValueError, IndexError):
        return 0


def lacks_moov(path: Path) -> bool:
    """Whether this is an MP4 or MOV whose index was never written (a recording that was cut off)."""
    with path.open("rb") as file:
        names = [name for name, _, _ in _top_boxes(file, path.stat().st_size)]
    return bool(names) and names[0] in _BOX_BEGINS and b"moov" not in names


def _moov(path: Path) -> bytes:
    with path.open("rb") as file:
        boxes = list(_top_boxes(file, path.stat().st_size))
        places = [(start, end) for name, start, end in boxes if name == b"moov"]
        is_fragmented = any(name == b"moof" for name, _, _ in boxes)
        if len(places) != 1 or is_fragmented or places[0][1] - places[0][0] > _MOST_MOOV_BYTES:
            raise _UnusualError
        file.seek(places[0][0])
        return file.read(places[0][1] - places[0][0])


def _top_boxes(file: BinaryIO, size: int) -> Iterator[tuple[bytes, int, int]]:
    """Name, start and end of the content of each box; a box that is cut off ends with the file."""
    position = 0
    while position + 8 <= size:
        file.seek(position)
        length, name = struct.unpack(">I4s", file.read(8))
        head = 8
        if length == 1:
            extended = file.read(8)
            if len(extended) < 8:
                return
            (length,) = struct.unpack(">Q", extended)
            head = 16
        elif length == 0:
            length = size - position
        if length < head:
            return
        yield name, position + head, min(position + length, size)
        position += length


def _children(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = 0
    while position + 8 <= len(data):
        length, name = struct.unpack_from(">I4s", data, position)
        head = 8
        if length == 1:
            (length,) = struct.unpack_from(">Q", data, position + 8)
            head = 16
        if length < head or position + length > len(data):
            raise _UnusualError
        yield name, data[position + head : position + length]
        position += length


def _child(data: bytes, *names: bytes) -> bytes:
    for name in names:
        data = next((content for found, content in _children(data) if found == name), b"")
    return data


def _track(moov: bytes, track_id: int) -> bytes:
    for name, track in _children(moov):
        if name == b"trak":
            header = _child(track, b"tkhd")
            if struct.unpack_from(">I", header, 20 if header[0] else 12)[0] == track_id:
                return track
    raise _UnusualError


def _read_track(moov: bytes, *, track_id: int, file_size: int) -> MoovTable:
    if _child(moov, b"mvex"):
        raise _UnusualError
    track = _track(moov, track_id)
    header = _child(track, b"mdia", b"mdhd")
    (timescale,) = struct.unpack_from(">I", header, 20 if header[0] else 12)
    samples = _child(track, b"mdia", b"minf", b"stbl")
    if b"clap" in _child(samples, b"stsd"):  # frames are cropped for showing
        raise _UnusualError
    ends = _sample_ends(samples)
    if ends.max() > file_size:
        raise _UnusualError
    n_samples = len(ends)
    shown = _composition_times(samples, n_samples)
    movie_header = _child(moov, b"mvhd")
    (movie_timescale,) = struct.unpack_from(">I", movie_header, 20 if movie_header[0] else 12)
    if struct.unpack_from(">9i", movie_header, 48 if movie_header[0] else 36) != _UPRIGHT:
        raise _UnusualError
    track_header = _child(track, b"tkhd")
    matrix = struct.unpack_from(">9i", track_header, 52 if track_header[0] else 40)
    start = _edit_start(_child(track, b"edts", b"elst"), shown, scales=(timescale, movie_timescale))
    is_key = np.ones(n_samples, np.bool_)
    sync = _child(samples, b"stss")
    if sync:
        numbers = np.frombuffer(sync, ">u4", offset=8).astype(np.int64)
        is_key = np.isin(np.arange(1, n_samples + 1), numbers)
    return MoovTable(
        timescale=timescale, matrix=struct.pack("=9i", *matrix), pts=shown - start, is_key=is_key
    )


def _repeated(values: NDArray[np.int64], times: NDArray[np.int64], *, n: int) -> NDArray[np.int64]:
    """Each value so many times; `n` values in all."""
    if times.min(initial=0) < 0 or times.sum() != n:
        raise _UnusualError
    return np.repeat(values, times)


def _composition_times(samples: bytes, n_samples: int) -> NDArray[np.int64]:
    """The presentation time of every sample before edits."""
    durations = np.frombuffer(_child(samples, b"stts"), ">u4", offset=8).reshape(-1, 2).astype(np.int64)
    steps = _repeated(durations[:, 1], durations[:, 0], n=n_samples)
    decoded = np.cumsum(steps) - steps
    offsets = _child(samples, b"ctts")
    if not offsets:
        return decoded
    # Negative shifts are allowed in one version of the box and found in the other.
    counts = np.frombuffer(offsets, ">u4", offset=8).reshape(-1, 2)[:, 0].astype(np.int64)
    shifts = np.frombuffer(offsets, ">i4", offset=8).reshape(-1, 2)[:, 1].astype(np.int64)
    return decoded + _repeated(shifts, counts, n=n_samples)


def _edit_start(edits: bytes, shown: NDArray[np.int64], *, scales: tuple[int, int]) -> int:
    """The media time at which the presentation starts; only an edit that shows all is ordinary."""
    first, last = int(shown.min()), int(shown.max())
    if not edits:
        if first != 0:
            raise _UnusualError
        return 0
    (n_edits,) = struct.unpack_from(">I", edits, 4)
    duration, start, rate = struct.unpack_from(">Qqi" if edits[0] else ">Iii", edits, 8)
    timescale, movie_timescale = scales
    if n_edits != 1 or start != first or rate != 1 << 16:
        raise _UnusualError
    if (last - first) * movie_timescale >= duration * timescale:
        raise _UnusualError
    return int(start)


def _sample_ends(samples: bytes) -> NDArray[np.int64]:
    """Where in the file the bytes of each sample end; shape (n_samples,)."""
    sizes_box = _child(samples, b"stsz")
    same_size, n_samples = struct.unpack_from(">II", sizes_box, 4)
    if not 0 < n_samples <= _MOST_SAMPLES:
        raise _UnusualError
    if same_size:
        sizes = np.full(n_samples, same_size, np.int64)
    else:
        sizes = np.frombuffer(sizes_box, ">u4", n_samples, 12).astype(np.int64)
    wide = _child(samples, b"co64")
    narrow = b"" if wide else _child(samples, b"stco")
    chunks = np.frombuffer(wide or narrow, ">u8" if wide else ">u4", offset=8).astype(np.int64)
    # Rows of stsc say: from this chunk on (counted from 1), so many samples per chunk.
    rows = np.frombuffer(_child(samples, b"stsc"), ">u4", offset=8).reshape(-1, 3).astype(np.int64)
    per_chunk = _repeated(rows[:, 1], np.diff(np.append(rows[:, 0] - 1, len(chunks))), n=len(chunks))
    ends = np.cumsum(sizes)
    first_of_chunk = np.cumsum(per_chunk) - per_chunk
    before_chunk = (ends - sizes)[first_of_chunk]
    return np.asarray(ends + _repeated(chunks - before_chunk, per_chunk, n=n_samples), np.int64)
