"""Biovision BVH: joint angles and skeleton, in its released variants."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.installation import packaged
from vidence.pointlight.formats.asf_amc import AsfSkeleton, read_asf
from vidence.pointlight.formats.format_options import RawPoints, SkeletonSettings, finish
from vidence.pointlight.kinematics import Skeleton, forward, insert_bone, missing_bone, t_pose_frames, turns
from vidence.pointlight.motion import Motion, drop_first, noted
from vidence.pointlight.reading import UnpackedFile, open_file
from vidence.pointlight.units import cmu_subject
from vidence.records import Record

Floats = NDArray[np.float64]
# A joint without channels takes a line of the file, and a place in every frame.
_MOST_POINTS = 1_000
_MOST_PLACES = 50_000_000
_CHANNELS = {
    f"{a}{kind}": (k, a.lower()) for a in "XYZ" for kind, k in (("position", "t"), ("rotation", "r"))
}


@dataclass(frozen=True, kw_only=True)
class BvhFile:
    """The contents of a BVH file, in its own units.

    `channels` gives for each point what its numbers are, such as ``("tx", "rz")``, in order; ends of chains
    have none and are named after their joint, ``Head end``. `values` (n_frames, n_channels), angles in
    degrees. `frame_time_s` is None if the file gives 0.
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


def read_bvh(opened: UnpackedFile) -> BvhFile:
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
    """The position of every point, in units of the file, shape (n_frames, n_points, 3).

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
    """The parent of each point; -1 also where it moves against its parent, so that no bone joins them."""
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
    if len(draft.names) == _MOST_POINTS:
        raise ValueError(f"more than {_MOST_POINTS:,} joints; a body has some dozen")
    if not name or name in draft.names:
        raise ValueError(f"the name {name!r} is empty or appears twice")
    draft.names.append(name)
    draft.parents.append(parent)
    draft.offsets.append([0.0, 0.0, 0.0])
    draft.channels.append(())


def _channel_names(announced: int, names: list[str]) -> tuple[str, ...]:
    if announced != len(names):
        raise ValueError(f"it announces {announced} channels but names {len(names)}")
    if strange := [n for n in names if n not in _CHANNELS]:
        raise ValueError(f"no channel is called {strange[0]!r}; known are {', '.join(_CHANNELS)}")
    return tuple("".join(_CHANNELS[n]) for n in names)


def _motion(
    opened: UnpackedFile, lines: list[str], *, motion_at: int, n_channels: int
) -> tuple[Floats, float | None]:
    n_frames, frame_time, data_at = _motion_heading(opened, lines, motion_at)
    expected = f"but the joints have {n_channels} channels"
    numbers, values = opened.rows(n_channels, first=data_at + 1, expected=expected, is_finite=True)
    if len(values) != n_frames:
        what = "the file is cut off" if len(values) < n_frames else "the count is wrong"
        end = numbers[-1] if numbers else len(lines)
        raise opened.at(end, f"{len(values)} frames, but the file announces {n_frames}; {what}")
    if n_frames == 0:
        raise DataError(f"{opened.label}: no frames")
    return values, frame_time or None


def _motion_heading(opened: UnpackedFile, lines: list[str], motion_at: int) -> tuple[int, float, int]:
    """The stated number of frames and frame time, and the first line of numbers."""
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


class LostBone(Record):
    """A bone missing from a release, so that `children` start at its start instead of its end.

    `bone` is its name in the skeletons of CMU. Without such a skeleton it is taken to be `share` times as
    long as the bone that leads to the point `like`, in the same direction.
    """

    bone: str
    children: tuple[str, ...]
    like: str
    share: float


class Flavour(Record):
    """One release, recognised by names of joints.

    `metres_per_unit` is None if it is not known. `up` is the axis that points up. `lost` are bones that
    are missing. `bones` names for joints the bone in the skeletons of CMU that leads to them, where the pose
    in rest is the same as there.
    """

    name: str
    signs: frozenset[str]
    metres_per_unit: float | None = None
    is_cmu: bool = False
    up: str = "y"
    lost: tuple[LostBone, ...] = ()
    bones: dict[str, str] = msgspec.field(default_factory=dict)


OTHER = Flavour(name="", signs=frozenset())

# A release whose bodies all have the bones of CMU's subject 1, with the path scaled to fit them. The factor
# was measured on 02_01 against its AMC (1.0631 on all three axes).
FITTED_HIP = (1.36306, -1.79463, 0.83929)
FITTED_SUBJECT = 1
FITTED_SCALE = 1.063


@cache
def flavours() -> tuple[Flavour, ...]:
    """The releases of ``bvh.toml``."""
    return packaged("vidence.pointlight.formats", "bvh.toml", dict[str, tuple[Flavour, ...]])["flavours"]


def recognise(names: tuple[str, ...]) -> Flavour:
    """Return the release that the joint names indicate; `OTHER` if unknown."""
    there = set(names)
    return next((f for f in flavours() if f.signs <= there), OTHER)


def is_fitted(skeleton: Skeleton, subject: int | None) -> bool:
    """Return whether a file of another subject has the bones of CMU's subject 1."""
    if subject in (None, FITTED_SUBJECT) or "LeftUpLeg" not in skeleton.names:
        return False
    return bool(np.allclose(skeleton.offsets[skeleton.names.index("LeftUpLeg")], FITTED_HIP, atol=1e-5))


class Settings(SkeletonSettings):
    """Options of BVH files; `skeleton` replaces the bones with those of an ASF."""

    up: Annotated[
        Literal["y", "z"] | None, Meta(description="axis that points up, if the release does not state it")
    ] = None
    bones: Annotated[
        Literal["mend", "leave"], Meta(description="bones that the release lost: mend or leave them")
    ] = "mend"
    t_pose: Annotated[
        Literal["drop", "keep"], Meta(description="a T-pose put before the recording: drop it, or keep it")
    ] = "drop"


@dataclass(frozen=True, kw_only=True)
class Bvh:
    """Reads ``.bvh``. Points are the joints and the ends of chains, such as ``Head end``."""

    settings: Settings
    name: str = "bvh"
    version: int = 1
    suffixes: tuple[str, ...] = (".bvh",)

    def recognises(self, head: str) -> bool:
        """Whether a text starts like a BVH file."""
        return head.lstrip().upper().startswith("HIERARCHY")

    def read(self, path: Path) -> Motion:
        """Read a file, correcting and noting known defects.

        Raises:
            DataError: a line that cannot be read, or nothing that tells the unit or the rate.
        """
        opened = open_file(path)
        file = read_bvh(opened)
        n_places = len(file.skeleton.names) * len(file.values)
        if n_places > _MOST_PLACES:
            raise DataError(
                f"{opened.label}: {len(file.skeleton.names)} joints in {len(file.values)} frames are "
                f"{n_places:,} places; expected at most {_MOST_PLACES:,}: split the recording"
            )
        flavour = recognise(file.skeleton.names)
        asf = read_asf(open_file(Path(self.settings.skeleton))) if self.settings.skeleton else None
        fitted = flavour.is_cmu and is_fitted(file.skeleton, cmu_subject(opened.name))
        skeleton, notes = self._mended(file.skeleton, flavour, asf)
        path_scale = 1 / FITTED_SCALE if fitted and asf is not None else 1.0
        metres = flavour.metres_per_unit
        if fitted:
            notes = (*notes, _fitted_note(opened, has_bones=asf is not None))
            metres = metres / FITTED_SCALE if metres and asf is None else metres
        read = RawPoints(
            format=f"bvh ({flavour.name})" if flavour.name else "bvh",
            positions=pose(file, skeleton, path_scale=path_scale),
            names=skeleton.names,
            kind="joints",
            parents=rigid_parents(file),
            up=self.settings.up or flavour.up,
            bones_of="subject 1" if fitted else "",
            metres_per_unit=metres,
            unit_problem="a BVH has no unit, and these names of joints are of no known release",
            notes=notes,
            fps=1 / file.frame_time_s if file.frame_time_s else None,
            is_cmu=flavour.is_cmu,
        )
        motion = finish(read, opened=opened, settings=self.settings)
        return self._without_t_pose(motion, file)

    def _mended(
        self, skeleton: Skeleton, flavour: Flavour, asf: AsfSkeleton | None
    ) -> tuple[Skeleton, tuple[str, ...]]:
        """Return the skeleton with lost bones restored, or with those of the subject's own skeleton."""
        notes: list[str] = []
        unit = flavour.metres_per_unit or 1.0
        for lost in flavour.lost:
            if not missing_bone(skeleton, lost.children):
                continue
            like = self._like(lost, skeleton, asf, unit=unit)
            if isinstance(like, str):
                notes.append(f"{like}: what hangs on it sits in the wrong place")
                continue
            bone, source = like
            skeleton = insert_bone(skeleton, lost.children, bone)
            length = float(np.linalg.norm(bone)) * unit
            notes.append(f"the bone {lost.bone} was missing; {length:.3f} m put in, {source}")
        if asf is None or not asf.metres_per_unit:
            return skeleton, tuple(notes)
        if not flavour.bones:
            raise UsageError(
                f"skeleton={asf.label}: the joints of a BVH {flavour.name or 'of no known release'} cannot "
                "be given the bones of an ASF; leave the option out"
            )
        if lacking := sorted({*flavour.bones} - {*skeleton.names}):
            raise DataError(
                f"the skeleton of this BVH has no joint {', '.join(lacking)}; leave skeleton= out"
            )
        if lacking := sorted({*flavour.bones.values()} - {*asf.skeleton.names}):
            raise DataError(f"{asf.label} has no bone {', '.join(lacking)}; leave skeleton= out")
        for joint, name in flavour.bones.items():
            skeleton = insert_bone(skeleton, (joint,), asf.bone(name) * asf.metres_per_unit / unit)
        return skeleton, (*notes, f"the bones are those of {asf.label}")

    def _like(
        self, lost: LostBone, skeleton: Skeleton, asf: AsfSkeleton | None, *, unit: float
    ) -> tuple[Floats, str] | str:
        """Return the bone that replaces a lost one with its source, or a note why there is no replacement."""
        if self.settings.bones == "leave":
            return f"the bone {lost.bone} is missing"
        if asf is not None and asf.metres_per_unit and lost.bone in asf.skeleton.names:
            return asf.bone(lost.bone) * asf.metres_per_unit / unit, f"from {asf.label}"
        if lost.like not in skeleton.names:
            return f"the bone {lost.bone} is missing, and so is {lost.like}, which it would be like"
        return lost.share * skeleton.offsets[skeleton.names.index(lost.like)], "like its neighbour"

    def _without_t_pose(self, motion: Motion, file: BvhFile) -> Motion:
        angles = [v for c, v in file.columns(0).items() if c.startswith("r")]
        root = np.stack(angles, axis=1) if angles else np.zeros((motion.n_frames, 0))
        n_frames = t_pose_frames(motion.positions_m, root)
        if n_frames == 0:
            return motion
        pose = "the first frame is a T-pose put before the recording"
        if n_frames > 1:
            pose = f"{pose}, and {n_frames - 1} more lead out of it"
        if self.settings.t_pose == "keep":
            return noted(motion, f"{pose}; kept")
        return drop_first(motion, n_frames, note=f"{pose}; dropped")


def _fitted_note(opened: UnpackedFile, *, has_bones: bool) -> str:
    """Return the note for a file with the bones of another subject."""
    note = f"a file of subject {cmu_subject(opened.name)} with the bones of subject 1, its path stretched"
    done, off_cm = ("the path scaled back", 5) if has_bones else ("all scaled back", 10)
    return f"{note} by {FITTED_SCALE:g}; {done}; its angles fit those bones, so points may be {off_cm} cm off"


def create(settings: Settings) -> Bvh:
    """The reader of the format."""
    return Bvh(settings=settings)
