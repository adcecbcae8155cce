"""C3D: binary files of markers."""

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats.format_options import MarkerSettings, RawPoints, choose, finish, hide_zeros
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import UnpackedFile, open_file
from vidence.pointlight.units import NAMED

Floats = NDArray[np.float64]
MARK = 0x50  # the second byte of every C3D
_BLOCK = 512
_INTEL, _DEC, _MIPS = 84, 85, 86  # how numbers are stored
_SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}  # bytes of one value: letters, bytes, integers, floats
_NO_NUMBER = 0xFFFF  # what a header says of frames that it cannot count


@dataclass(frozen=True, kw_only=True)
class C3dFile:
    """The points of a C3D in its own unit.

    `labels` has one name for each point, empty if the file has none; `positions` has the shape (n_frames,
    n_points, 3), NaN if a point was not seen. `fps` is None if the file has no rate above 0.
    """

    labels: tuple[str, ...]
    positions: Floats
    unit: str
    fps: float | None


@dataclass(frozen=True, kw_only=True)
class _Header:
    n_points: int
    n_analog: int
    n_frames: int | None
    scale: float
    data_at: int
    fps: float


@dataclass(frozen=True, kw_only=True)
class _Parameter:
    kind: int
    dims: tuple[int, ...]
    data: bytes


_Parameters = Mapping[tuple[str, str], _Parameter]  # by the names of their group and their own


class _Source:
    """A file and its number format: little-endian, big-endian, or VAX."""

    def __init__(self, opened: UnpackedFile, processor: int) -> None:
        self.opened = opened
        self.is_vax = processor == _DEC
        self.order = ">" if processor == _MIPS else "<"

    def damaged(self, at: int, problem: str) -> DataError:
        return _damaged(self.opened, at, problem)

    def integers(self, data: bytes) -> NDArray[np.int64]:
        return np.frombuffer(data, dtype=f"{self.order}i2").astype(np.int64)

    def floats(self, data: bytes) -> Floats:
        if self.is_vax:  # the halves change places, and the exponent counts from two more
            swapped = np.frombuffer(data, dtype="<u2").reshape(-1, 2)[:, ::-1].tobytes()
            return np.frombuffer(swapped, dtype="<f4").astype(np.float64) / 4
        return np.frombuffer(data, dtype=f"{self.order}f4").astype(np.float64)


def read_c3d(opened: UnpackedFile) -> C3dFile:
    """The points of a C3D.

    Raises:
        DataError: no C3D, cut off, or parts that contradict each other; the message says where.
    """
    data = opened.data
    if not data:
        raise DataError(f"{opened.label}: the file is empty")
    if len(data) < _BLOCK or data[1] != MARK:
        raise DataError(f"{opened.label} is no C3D: its second byte is not 0x50")
    parameters_at = _BLOCK * (data[0] - 1)
    if parameters_at < _BLOCK or parameters_at + 4 > len(data):
        raise _damaged(opened, 0, f"by its header, parameters begin in block {data[0]}")
    processor = data[parameters_at + 3]
    if processor not in (_INTEL, _DEC, _MIPS):
        raise _damaged(opened, parameters_at + 3, f"{processor} is no known order of bytes (84, 85 or 86)")
    source = _Source(opened, processor)
    header = _header(source)
    if header.data_at <= parameters_at:
        raise source.damaged(16, "by its header, points begin before the parameters")
    parameters = _parameters(source, parameters_at + 4, min(header.data_at, len(data)))
    _check(source, header, parameters)
    positions = _positions(source, header, _n_frames(source, header, parameters))
    labels = [label for name in _label_keys(parameters) for label in _words(parameters["POINT", name])]
    unit = parameters.get(("POINT", "UNITS"))
    rate = _number(source, parameters.get(("POINT", "RATE")))
    fps = header.fps if rate is None else rate
    return C3dFile(
        labels=tuple((labels + [""] * header.n_points)[: header.n_points]),
        positions=positions,
        unit=(_words(unit) or [""])[0] if unit else "",
        fps=fps if fps > 0 and math.isfinite(fps) else None,
    )


def _header(source: _Source) -> _Header:
    data = source.opened.data
    n_points, n_analog, first, last, _ = (int(v) & 0xFFFF for v in source.integers(data[2:12]))
    (start,) = (int(v) & 0xFFFF for v in source.integers(data[16:18]))
    return _Header(
        n_points=n_points,
        n_analog=n_analog,
        n_frames=None if last == _NO_NUMBER or last < first else last - first + 1,
        scale=float(source.floats(data[12:16])[0]),
        data_at=_BLOCK * (start - 1),
        fps=float(source.floats(data[20:24])[0]),
    )


def _parameters(source: _Source, start: int, end: int) -> _Parameters:
    """Parameters by group and name."""
    groups: dict[int, str] = {}
    parameters: list[tuple[int, str, _Parameter]] = []
    for at, number, name, body in _records(source, start, end):
        if number < 0:
            groups[-number] = name
        elif number > 0:
            parameters.append((number, name, _parameter(source, at, body)))
    return {(groups.get(number, ""), name): parameter for number, name, parameter in parameters}


def _records(source: _Source, at: int, end: int) -> Iterator[tuple[int, int, str, bytes]]:
    """The start of each group or parameter, its number, its name, and the bytes that follow."""
    data = source.opened.data
    while at + 2 <= end and data[at] != 0:
        length, number = struct.unpack_from("<bb", data, at)
        after = at + 2 + abs(length)
        if after + 2 > end:
            raise source.damaged(at, "a parameter ends after the last")
        step = int(source.integers(data[after : after + 2])[0])
        if step < 0 or 0 < step < 3 or after + step > end:
            raise source.damaged(after, f"the next parameter would follow after {step} bytes")
        name = data[at + 2 : after].decode("latin-1").strip().upper()
        yield at, number, name, data[after + 2 : after + step if step else end]
        if step == 0:
            return
        at = after + step


def _parameter(source: _Source, at: int, body: bytes) -> _Parameter:
    kind, n_dims = struct.unpack_from("<bB", body) if len(body) >= 2 else (0, 0)
    dims = tuple(body[2 : 2 + n_dims])
    size = _SIZES.get(kind, 0) * math.prod(dims)
    if kind not in _SIZES or len(dims) != n_dims or 2 + n_dims + size > len(body):
        raise source.damaged(at, f"a parameter of type {kind} with {n_dims} dimensions does not fit")
    return _Parameter(kind=kind, dims=dims, data=body[2 + n_dims : 2 + n_dims + size])


def _check(source: _Source, header: _Header, parameters: _Parameters) -> None:
    """Check that header and parameters agree."""
    most = _NO_NUMBER + 1
    used = _number(source, parameters.get(("POINT", "USED")))
    if used is None:
        raise source.damaged(_BLOCK, "it has no parameter POINT:USED")
    if used % most != header.n_points:
        raise source.damaged(2, f"its header has {header.n_points} points, its parameters have {used:g}")
    frames = _number(source, parameters.get(("POINT", "FRAMES")))
    if None not in {frames, header.n_frames} and (frames or 0) % most not in {header.n_frames, _NO_NUMBER}:
        raise source.damaged(6, f"its header has {header.n_frames} frames, its parameters have {frames:g}")
    if header.n_points == 0:
        raise DataError(f"{source.opened.label}: no points, or no frames")
    if not math.isfinite(header.scale) or header.scale == 0:
        raise source.damaged(12, f"its scale is {header.scale:g}")


def _n_frames(source: _Source, header: _Header, parameters: _Parameters) -> int | None:
    """Return the number of frames, which headers cannot count beyond 65535; None if unknown."""
    fields = [parameters.get(("TRIAL", f"ACTUAL_{end}_FIELD")) for end in ("START", "END")]
    if header.n_frames is not None:
        return header.n_frames
    if all(f is not None and f.kind == 2 and len(f.data) >= 4 for f in fields):
        first, last = (
            int(low & 0xFFFF) + (int(high & 0xFFFF) << 16)
            for low, high in (source.integers(f.data[:4]) for f in fields if f is not None)
        )
        return last - first + 1 if last >= first else None
    frames = _number(source, parameters.get(("POINT", "FRAMES")))
    if frames is None or not math.isfinite(frames):
        return None
    return int(frames if frames > 0 else frames % (_NO_NUMBER + 1)) or None


def _positions(source: _Source, header: _Header, n_frames: int | None) -> Floats:
    """Positions of points (n_frames, n_points, 3); NaN if the fourth value marks a point as unseen."""
    is_float = header.scale < 0
    size = 4 if is_float else 2
    per_frame = 4 * header.n_points + header.n_analog
    if n_frames is None:
        raise source.damaged(6, "neither its header nor its parameters tell how many frames it has")
    wanted = header.data_at + n_frames * per_frame * size
    n_bytes = len(source.opened.data)
    if n_bytes < wanted:
        raise DataError(
            f"{source.opened.label} is cut off: {n_bytes} bytes, but its header announces {n_frames} frames, "
            f"which take {wanted}"
        )
    raw = source.opened.data[header.data_at : wanted]
    values = (source.floats(raw) if is_float else source.integers(raw)).reshape(n_frames, per_frame)
    points = values[:, : 4 * header.n_points].reshape(n_frames, header.n_points, 4).astype(np.float64)
    is_hidden = ~(points[..., 3] >= 0)
    places = points[..., :3] * (1.0 if is_float else header.scale)
    return np.where(is_hidden[..., None], np.nan, places)


def _words(parameter: _Parameter) -> list[str]:
    """Characters as words along the first dimension."""
    if parameter.kind != -1:
        return []
    width = parameter.dims[0] if parameter.dims else 1
    text = parameter.data.decode("latin-1")
    return [text[i : i + width].rstrip("\0 ") for i in range(0, len(text), width)] if width else []


def _label_keys(parameters: _Parameters) -> list[str]:
    """``LABELS``, then ``LABELS2`` and so on, which continue after 255 labels."""
    more = [n for g, n in parameters if g == "POINT" and n.startswith("LABELS") and n[6:].isdigit()]
    first = ["LABELS"] if ("POINT", "LABELS") in parameters else []
    return [*first, *sorted(more, key=lambda n: int(n[6:]))]


def _number(source: _Source, parameter: _Parameter | None) -> float | None:
    """The first number of a parameter; None if it has none."""
    if parameter is None or parameter.kind not in (2, 4) or not parameter.data:
        return None
    is_float = parameter.kind == 4
    return float((source.floats(parameter.data) if is_float else source.integers(parameter.data))[0])


def _damaged(opened: UnpackedFile, at: int, problem: str) -> DataError:
    return DataError(f"{opened.label} is a damaged C3D: at byte {at}, {problem}")


class Settings(MarkerSettings):
    """Options of C3D files."""


@dataclass(frozen=True, kw_only=True)
class C3d:
    """Reads ``.c3d``. Points are chosen by label, never by position."""

    settings: Settings
    name: str = "c3d"
    version: int = 1
    suffixes: tuple[str, ...] = (".c3d",)

    def recognises(self, head: str) -> bool:
        """Whether a file starts like a C3D file."""
        return len(head) > 1 and ord(head[1]) == MARK and not head[0].isprintable()

    def read(self, path: Path) -> Motion:
        """Read the markers.

        Raises:
            DataError: no C3D, cut off or damaged, no points, a unit that nobody knows, or several subjects.
        """
        opened = open_file(path)
        file = read_c3d(opened)
        unit = file.unit
        names, places, notes = choose(opened, file.labels, self.settings)
        values, hidden_note = hide_zeros(file.positions[:, places])
        if unit.lower() not in NAMED and self.settings.unit is None:
            raise DataError(
                f"{opened.label} says that its unit is {unit!r}, which is not known; known are m, dm, cm, "
                "mm, inch, ft. Give units=..."
            )
        read = RawPoints(
            format=self.name,
            positions=values,
            names=names,
            kind="markers",
            up=self.settings.up,
            metres_per_unit=NAMED.get(unit.lower()),
            notes=(*notes, *hidden_note),
            fps=file.fps,
        )
        return finish(read, opened=opened, settings=self.settings)


def create(settings: Settings) -> C3d:
    """The reader of the format."""
    return C3d(settings=settings)
