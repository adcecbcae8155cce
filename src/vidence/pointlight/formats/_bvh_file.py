"""A file in the Biovision format BVH: joints, their channels, and a line of numbers for each frame."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.kinematics import Skeleton, forward, turns
from vidence.pointlight.opening import Opened

Floats = NDArray[np.float64]
_CHANNELS = {
    f"{a}{kind}": (k, a.lower()) for a in "XYZ" for kind, k in (("position", "t"), ("rotation", "r"))
}


@dataclass(frozen=True, kw_only=True)
class BvhFile:
    """What a BVH says, in its own units.

    `channels` gives for each point what its numbers are, such as ``("tx", "rz")``, in order; ends of chains
    have none and are named after their joint, ``Head end``. `values` (n_frames, n_channels), angles in
    degrees. `frame_time_s` is None where the file gives 0.
    """

    skeleton: Skeleton
    channels: tuple[tuple[str, ...], ...]
    values: Floats
    frame_time_s: float | None

    def columns(self, point: int) -> dict[str, Floats]:
        """The numbers of one point over time, by channel."""
        start = sum(len(c) for c in self.channels[:point])
        return {c: self.values[:, start + i] for i, c in enumerate(self.channels[point])}


@dataclass(kw_only=True)
class _Draft:
    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    offsets: list[list[float]] = field(default_factory=list)
    channels: list[tuple[str, ...]] = field(default_factory=list)
    open: list[int] = field(default_factory=list)


def read_bvh(opened: Opened) -> BvhFile:
    """Read a file.

    Raises:
        DataError: no hierarchy, a line that cannot be read, fewer or more frames than the file says.
    """
    lines = opened.lines()
    motion_at = next((i for i, line in enumerate(lines) if line.strip().upper() == "MOTION"), None)
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines[first].strip().upper() != "HIERARCHY":
        raise opened.at(first + 1, f"expected HIERARCHY, found {lines[first].strip()[:60]!r}; this is no BVH")
    if motion_at is None:
        raise opened.at(len(lines), "the file ends before MOTION; it is cut off")
    draft = _Draft()
    for number, line in enumerate(lines[first + 1 : motion_at], start=first + 2):
        try:
            _hierarchy_line(draft, line.split())
        except (ValueError, IndexError) as error:
            raise opened.at(number, f"cannot read {line.strip()[:60]!r}: {error}") from error
    if draft.open or not draft.names:
        raise opened.at(motion_at + 1, f"{len(draft.open)} joints are still open; the hierarchy is damaged")
    skeleton = Skeleton(
        names=tuple(draft.names), parents=tuple(draft.parents), offsets=np.array(draft.offsets)
    )
    channels = tuple(draft.channels)
    values, frame_time = _motion(opened, lines, motion_at=motion_at, n_channels=sum(map(len, channels)))
    return BvhFile(skeleton=skeleton, channels=channels, values=values, frame_time_s=frame_time)


def pose(file: BvhFile, skeleton: Skeleton, *, path_scale: float = 1.0) -> Floats:
    """Where every point is, in units of the file, shape (n_frames, n_points, 3).

    The matrices of a joint are multiplied in the order of its channels. Where a joint has positions among
    its channels, they take the place of its offset.

    Args:
        file: the angles.
        skeleton: that of the file, or a mended one with the same points.
        path_scale: a factor on the path of the root.
    """
    n_frames = len(file.values)
    rotations = np.empty((n_frames, len(skeleton.names), 3, 3))
    moves: dict[int, Floats] = {}
    for point in range(len(skeleton.names)):
        columns = file.columns(point)
        axes = [c[1] for c in columns if c.startswith("r")]
        angles = [np.deg2rad(columns["r" + a]) for a in axes]
        stacked = np.stack(angles, axis=1) if angles else np.zeros((n_frames, 0))
        rotations[:, point] = turns("".join(axes), stacked)
        if any(c.startswith("t") for c in columns):
            rest = skeleton.offsets[point]
            moves[point] = np.stack(
                [columns.get("t" + a, np.full(n_frames, rest[i])) for i, a in enumerate("xyz")], axis=1
            )
    root = moves.pop(0, np.tile(skeleton.offsets[0], (n_frames, 1)))
    return forward(skeleton, rotations=rotations, root=root * path_scale, moves=moves)[0]


def rigid_parents(file: BvhFile) -> tuple[int, ...]:
    """For each point its parent; -1 also where it moves against it, so that no bone is between."""
    parents = list(file.skeleton.parents)
    for point in range(len(parents)):
        columns = file.columns(point)
        if any(np.ptp(v) > 1e-3 for c, v in columns.items() if c.startswith("t")):
            parents[point] = -1
    return tuple(parents)


def _hierarchy_line(draft: _Draft, words: list[str]) -> None:
    if not words:
        return
    key = words[0].upper()
    if key in ("ROOT", "JOINT", "END"):
        _new_point(draft, key, " ".join(words[1:]))
    elif key == "{":
        draft.open.append(len(draft.names) - 1)
    elif key == "}":
        draft.open.pop()
    elif key == "OFFSET":
        values = [float(w) for w in words[1:]]
        if len(values) != 3 or not np.isfinite(values).all():
            raise ValueError("three numbers are expected")
        draft.offsets[draft.open[-1]] = values
    elif key == "CHANNELS":
        draft.channels[draft.open[-1]] = _channel_names(int(words[1]), words[2:])
    else:
        raise ValueError("expected ROOT, JOINT, End Site, OFFSET, CHANNELS or a brace")


def _new_point(draft: _Draft, key: str, name: str) -> None:
    if key == "ROOT" and draft.names:
        raise ValueError("there is a root already; files with several are not supported")
    if key != "ROOT" and not draft.open:
        raise ValueError("it stands outside every joint")
    parent = draft.open[-1] if draft.open else -1
    if key == "END":
        name = f"{draft.names[parent]} end"
    if not name or name in draft.names:
        raise ValueError(f"the name {name!r} is empty or stands there twice")
    draft.names.append(name)
    draft.parents.append(parent)
    draft.offsets.append([0.0, 0.0, 0.0])
    draft.channels.append(())


def _channel_names(announced: int, names: list[str]) -> tuple[str, ...]:
    if announced != len(names):
        raise ValueError(f"it announces {announced} channels and names {len(names)}")
    strange = [n for n in names if n not in _CHANNELS]
    if strange:
        raise ValueError(f"no channel is called {strange[0]!r}; known are {', '.join(_CHANNELS)}")
    return tuple("".join(_CHANNELS[n]) for n in names)


def _motion(
    opened: Opened, lines: list[str], *, motion_at: int, n_channels: int
) -> tuple[Floats, float | None]:
    n_frames, frame_time, data_at = _motion_heading(opened, lines, motion_at)
    rows = [(i + 1, line) for i, line in enumerate(lines[data_at:], start=data_at) if line.strip()]
    values = _numbers(opened, rows, n_channels)
    if len(values) != n_frames:
        what = "the file is cut off" if len(values) < n_frames else "the count is wrong"
        end = rows[-1][0] if rows else len(lines)
        raise opened.at(end, f"{len(values)} frames, but the file announces {n_frames}; {what}")
    if n_frames == 0:
        raise DataError(f"{opened.label}: no frames")
    return values, frame_time or None


def _motion_heading(opened: Opened, lines: list[str], motion_at: int) -> tuple[int, float, int]:
    """How many frames are announced, how long each lasts, and where the numbers begin."""
    n_frames, frame_time = None, None
    for i in range(motion_at + 1, len(lines)):
        head, colon, tail = lines[i].partition(":")
        if not lines[i].strip():
            continue
        if not colon:
            break
        try:
            if head.strip().lower() == "frames":
                n_frames = int(tail)
            elif head.strip().lower() == "frame time":
                frame_time = float(tail)
        except ValueError as error:
            raise opened.at(i + 1, f"cannot read {lines[i].strip()[:60]!r}: {error}") from error
        motion_at = i
    if n_frames is None or frame_time is None:
        raise opened.at(motion_at + 1, "after MOTION, lines 'Frames: N' and 'Frame Time: T' are expected")
    if not 0 <= frame_time < 10:
        raise opened.at(motion_at + 1, f"a frame cannot last {frame_time:g} s")
    return n_frames, frame_time, motion_at + 1


def _numbers(opened: Opened, rows: list[tuple[int, str]], n_channels: int) -> Floats:
    values = np.empty((len(rows), n_channels))
    for place, (number, line) in enumerate(rows):
        words = line.split()
        if len(words) != n_channels:
            raise opened.at(number, f"{len(words)} numbers, but the joints have {n_channels} channels")
        try:
            values[place] = words
        except ValueError as error:
            raise opened.at(number, f"cannot read a number: {error}") from error
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        raise opened.at(rows[int(bad.argmax())][0], "a number of this frame is not finite")
    return values
