"""Joint angles in the Biovision format BVH, in each of the ways in which it is released."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.pointlight.formats._asf import AsfSkeleton, read_asf
from vidence.pointlight.formats._bvh_file import BvhFile, pose, read_bvh, rigid_parents
from vidence.pointlight.formats._bvh_flavours import FITTED_SCALE, Flavour, is_fitted, recognise
from vidence.pointlight.formats._finish import Read, finish, no_rate, no_unit
from vidence.pointlight.formats._options import Settings, existing_file, one_of, settings
from vidence.pointlight.kinematics import Skeleton
from vidence.pointlight.mending import drop_first, insert_bone, missing_bone, t_pose_frames
from vidence.pointlight.motion import Motion
from vidence.pointlight.opening import Opened, open_file
from vidence.pointlight.rates import cmu_subject, settle

Floats = NDArray[np.float64]


def create(options: Mapping[str, str] | None = None) -> "Bvh":
    """The reader.

    Options: ``units``, ``fps``; ``up`` (``y`` or ``z``); ``t-pose`` (``drop`` or ``keep``); ``bones``
    (``mend`` those that the release has lost, or ``leave``); ``skeleton`` (the ASF of the subject, whose
    bones are then taken).
    """
    more: dict[str, Callable[[str], object]] = {
        "up": one_of("y", "z"),
        "t-pose": one_of("drop", "keep"),
        "bones": one_of("mend", "leave"),
        "skeleton": existing_file,
    }
    return Bvh(settings=settings("bvh", options or {}, more))


@dataclass(frozen=True, kw_only=True)
class Bvh:
    """Reads ``.bvh``. Points are the joints and the ends of chains, ``Head end``."""

    settings: Settings
    name: str = "bvh"
    version: int = 1
    suffixes: tuple[str, ...] = (".bvh",)

    def recognises(self, head: str) -> bool:
        """Whether a text begins as a BVH does."""
        return head.lstrip().upper().startswith("HIERARCHY")

    def read(self, path: Path) -> Motion:
        """Read a file, with its known defects mended and noted.

        Raises:
            DataError: a line that cannot be read, or nothing that tells the unit or the rate.
        """
        opened = open_file(path)
        file = read_bvh(opened)
        flavour = recognise(file.skeleton.names)
        asf_path = self.settings.path("skeleton")
        asf = read_asf(open_file(asf_path)) if asf_path else None
        fitted = flavour.is_cmu and is_fitted(file.skeleton, cmu_subject(opened.name))
        skeleton, notes = self._mended(file.skeleton, flavour, asf)
        path_scale = 1 / FITTED_SCALE if fitted and asf is not None else 1.0
        metres = flavour.metres_per_unit
        if fitted:
            notes = (*notes, _fitted_note(opened, has_bones=asf is not None))
            metres = metres / FITTED_SCALE if metres and asf is None else metres
        claimed = 1 / file.frame_time_s if file.frame_time_s else None
        rate = settle(claimed, given=self.settings.fps, name=opened.name, is_cmu=flavour.is_cmu)
        if rate is None:
            raise no_rate(opened)
        read = Read(
            format=f"bvh ({flavour.name})" if flavour.name else "bvh",
            positions=pose(file, skeleton, path_scale=path_scale),
            names=skeleton.names,
            kind="joints",
            parents=rigid_parents(file),
            up=self.settings.word("up", flavour.up),
            bones_of="subject 1" if fitted else "",
        )
        if metres is None and self.settings.unit is None:
            raise no_unit(
                opened, "a BVH has no unit, and these names of joints are of no known release", read
            )
        motion = finish(
            read,
            opened=opened,
            metres_per_unit=metres or 1.0,
            given=self.settings.unit,
            rate=rate,
            notes=notes,
        )
        return self._without_t_pose(motion, file)

    def _mended(
        self, skeleton: Skeleton, flavour: Flavour, asf: AsfSkeleton | None
    ) -> tuple[Skeleton, tuple[str, ...]]:
        """The skeleton with the bones that its release has lost, or those of the subject's own skeleton."""
        notes: list[str] = []
        unit = flavour.metres_per_unit or 1.0
        for lost in flavour.lost:
            if not missing_bone(skeleton, lost.children):
                continue
            if self.settings.word("bones", "mend") == "leave":
                notes.append(f"the bone {lost.bone} is missing: what hangs on it sits in the wrong place")
                continue
            bone, source = (
                lost.share * skeleton.offsets[skeleton.names.index(lost.like)],
                "like its neighbour",
            )
            if asf is not None and asf.metres_per_unit and lost.bone in asf.skeleton.names:
                bone, source = asf.bone(lost.bone) * asf.metres_per_unit / unit, f"from {asf.label}"
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
        for joint, name in flavour.bones.items():
            skeleton = insert_bone(skeleton, (joint,), asf.bone(name) * asf.metres_per_unit / unit)
        return skeleton, (*notes, f"the bones are those of {asf.label}")

    def _without_t_pose(self, motion: Motion, file: BvhFile) -> Motion:
        angles = [v for c, v in file.columns(0).items() if c.startswith("r")]
        root = np.stack(angles, axis=1) if angles else np.zeros((motion.n_frames, 0))
        n_frames = t_pose_frames(motion.positions_m, root)
        if n_frames == 0:
            return motion
        told = "the first frame is a T-pose put before the recording"
        if n_frames > 1:
            told = f"{told}, and {n_frames - 1} more lead out of it"
        if self.settings.word("t-pose", "drop") == "keep":
            source = msgspec.structs.replace(motion.source, notes=(*motion.source.notes, f"{told}; kept"))
            return replace(motion, source=source)
        return drop_first(motion, n_frames, note=f"{told}; dropped")


def _fitted_note(opened: Opened, *, has_bones: bool) -> str:
    """What there is to say of a file whose body has the bones of another subject."""
    told = f"a file of subject {cmu_subject(opened.name)} with the bones of subject 1, its path stretched"
    done, off_cm = ("the path scaled back", 5) if has_bones else ("all scaled back", 10)
    return f"{told} by {FITTED_SCALE:g}; {done}; its angles fit those bones, so points may be {off_cm} cm off"
