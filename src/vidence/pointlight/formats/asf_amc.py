"""Joint angles in the Acclaim format AMC, with the skeleton of the subject (ASF)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats._amc import read_amc
from vidence.pointlight.formats._asf import AsfSkeleton, read_asf
from vidence.pointlight.formats._finish import Read, finish, no_rate, no_unit
from vidence.pointlight.formats._options import Settings, existing_file, settings
from vidence.pointlight.kinematics import forward, turns
from vidence.pointlight.motion import Motion
from vidence.pointlight.opening import Opened, bare_name, open_file, siblings
from vidence.pointlight.rates import cmu_subject, settle

Floats = NDArray[np.float64]
# Subjects whose own skeleton is often missing, and the one whose bones fit them well enough.
STAND_INS = {13: 12, 14: 12}


def create(options: Mapping[str, str] | None = None) -> "AsfAmc":
    """The reader.

    Options: ``skeleton`` (the ASF; otherwise it is looked for beside the file), ``units``, ``fps``.
    """
    return AsfAmc(settings=settings("asf-amc", options or {}, {"skeleton": existing_file}))


@dataclass(frozen=True, kw_only=True)
class AsfAmc:
    """Reads ``.amc``. The skeleton is found by the file's name, by its subject, or by the option."""

    settings: Settings
    name: str = "asf-amc"
    version: int = 1
    suffixes: tuple[str, ...] = (".amc",)

    def recognises(self, head: str) -> bool:
        """Whether a text begins as an AMC does."""
        return bool(re.search(r"^:(FULLY-SPECIFIED|DEGREES|RADIANS)\b", head, re.IGNORECASE | re.MULTILINE))

    def read(self, path: Path) -> Motion:
        """Read the angles and put the bones together.

        The points are the far ends of the bones, by the names of the bones, and the root.

        Raises:
            DataError: no skeleton, one that does not fit, or a line that cannot be read.
        """
        opened = open_file(path)
        opened.text()  # an empty file is that before it is one without a skeleton
        skeleton_path, stands_in_for = _find_skeleton(opened, self.settings.path("skeleton"))
        notes = (
            f"no skeleton of {stands_in_for}: {skeleton_path.name} stands in, so that the lengths of the "
            "bones are not the subject's own",
        )
        asf = read_asf(open_file(skeleton_path))
        positions = pose(asf, read_amc(opened, asf))
        is_cmu = asf.metres_per_unit is not None
        rate = settle(None, given=self.settings.fps, name=opened.name, is_cmu=is_cmu)
        if rate is None:
            raise no_rate(opened)
        read = Read(
            format=self.name,
            positions=positions,
            names=asf.skeleton.names,
            kind="joints",
            parents=asf.skeleton.parents,
            bones_of=skeleton_path.name if stands_in_for else "",
        )
        if asf.metres_per_unit is None and self.settings.unit is None:
            raise no_unit(opened, f"its skeleton {asf.label} has the length {asf.length:g}", read)
        metres = asf.metres_per_unit or 1.0
        return finish(
            read,
            opened=opened,
            metres_per_unit=metres,
            given=self.settings.unit,
            rate=rate,
            notes=notes if stands_in_for else (),
        )


def pose(asf: AsfSkeleton, values: Floats) -> Floats:
    """Where every point of a skeleton is, in units of the file, shape (n_frames, n_points, 3).

    The rotation of a bone is written in the axes of the bone: ``C Rz Ry Rx C'``, where C turns them into
    those of the world in rest.

    Args:
        asf: the skeleton.
        values: as from `read_amc`.
    """
    n_frames, n_points = len(values), len(asf.dofs)
    rotations = np.empty((n_frames, n_points, 3, 3))
    root = np.tile(asf.root_position, (n_frames, 1))
    start = 0
    for point, dofs in enumerate(asf.dofs):
        columns = {dof: values[:, start + i] for i, dof in enumerate(dofs)}
        start += len(dofs)
        axes = [d[1] for d in dofs if d.startswith("r")][::-1]
        angles = np.stack([columns["r" + a] for a in axes], axis=1) if axes else np.zeros((n_frames, 0))
        rest = asf.frames[point]
        rotations[:, point] = rest @ turns("".join(axes), angles) @ rest.T
        if point == 0:
            for i, axis in enumerate("xyz"):
                root[:, i] += columns.get("t" + axis, 0.0)
    return forward(asf.skeleton, rotations=rotations, root=root)[0]


def _find_skeleton(opened: Opened, given: Path | None) -> tuple[Path, str]:
    """The ASF for a file, and for whose it stands in; empty where it is the subject's own."""
    if given is not None:
        return given, ""
    there = {bare_name(p.name).lower().removesuffix(".asf"): p for p in siblings(opened, ".asf")}
    stem = opened.name.lower().removesuffix(".amc")
    for wanted in (stem, re.sub(r"[-_ ]?\d+$", "", stem)):
        if wanted in there:
            return there[wanted], ""
    subject = cmu_subject(opened.name)
    by_subject = {int(s): p for s, p in there.items() if s.isdigit()}
    if subject in by_subject:
        return by_subject[subject], ""
    stand_in = STAND_INS.get(subject) if subject is not None else None
    if stand_in in by_subject:
        return by_subject[stand_in], f"subject {subject}"
    listed = ", ".join(sorted(p.name for p in there.values())) or "no .asf at all"
    raise DataError(
        f"{opened.label}: its skeleton is missing; looked beside it for {stem}.asf and for that of its "
        f"subject, and found {listed}. Give skeleton=FILE.asf"
    )
