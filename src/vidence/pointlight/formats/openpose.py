"""OpenPose: a folder with one JSON for each frame, or one such JSON; 25 or 18 keypoints of the body."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vidence.errors import DataError
from vidence.pointlight.formats.keypoints import (
    BODY_25,
    NOBODY,
    OPENPOSE_18,
    KeypointSettings,
    PersonFrame,
    chosen,
    json_in,
    keypoint_motion,
    number_of,
    on_one_clock,
)
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import UnpackedFile, open_file

BY_COUNT = {len(BODY_25): BODY_25, len(OPENPOSE_18): OPENPOSE_18}
_FLAT, _SOLID = "pose_keypoints_2d", "pose_keypoints_3d"


class Settings(KeypointSettings):
    """Options of the files of OpenPose."""


@dataclass(frozen=True, kw_only=True)
class OpenPose:
    """Reads a folder of ``NAME_000000000012_keypoints.json``, one for each frame, by their numbers.

    Each holds ``people``, and each of them ``pose_keypoints_2d`` (x, y and confidence in pixels) or
    ``pose_keypoints_3d`` (x, y, z and confidence). Points that were not found have the confidence 0. The rate
    is not in the files: ``fps=``.
    """

    settings: Settings
    name: str = "openpose"
    version: int = 1
    suffixes: tuple[str, ...] = (".json",)

    def recognises(self, head: str) -> bool:
        """Whether a text begins as a frame of OpenPose."""
        return head.lstrip()[:1] == "{" and '"people"' in head

    def read(self, path: Path) -> Motion:
        """Read a folder, or a file.

        Raises:
            DataError: a frame that cannot be read, several people and none named, or no frames.
        """
        files = sorted(p for p in path.iterdir() if p.name.endswith(".json")) if path.is_dir() else [path]
        if not files:
            raise DataError(f"{path}: no files *_keypoints.json in this folder")
        whole = UnpackedFile(path=path, label=str(path), name=path.name, data=b"")
        frames, numbers = [], []
        for file in files:
            opened = open_file(file)
            frames.append(self._frame(opened))
            numbers.append(number_of(file.name.removesuffix(".json").removesuffix("_keypoints")))
        placed, notes = on_one_clock(whole, frames, numbers)
        return keypoint_motion(
            whole,
            placed,
            format=self.name,
            settings=self.settings,
            fps=None,
            notes=notes,
        )

    def _frame(self, opened: UnpackedFile) -> PersonFrame:
        whole = json_in(opened)
        people = whole.get("people") if isinstance(whole, Mapping) else None
        if not isinstance(people, list):
            raise DataError(f"{opened.label}: expected an object with 'people', as OpenPose writes")
        person = chosen(opened, people, person=self.settings.person, where="the frame")
        if person is None:
            return NOBODY
        if not isinstance(person, Mapping):
            raise DataError(f"{opened.label}: a person is {type(person).__name__}; expected an object")
        is_flat = not person.get(_SOLID)
        found = person.get(_FLAT) if is_flat else person[_SOLID]
        n_columns = 3 if is_flat else 4
        try:
            values = np.array(found if found is not None else [], float).reshape(-1, n_columns)
        except (TypeError, ValueError) as error:
            raise DataError(f"{opened.label}: the keypoints cannot be read: {error}") from error
        if len(values) not in BY_COUNT:
            raise DataError(f"{opened.label}: {len(values)} keypoints; expected 25 (BODY_25) or 18 (COCO)")
        if is_flat:
            values = np.concatenate([values[:, :2], np.zeros((len(values), 1)), values[:, 2:]], axis=1)
        return PersonFrame(values=values, is_flat=is_flat)


def create(settings: Settings) -> OpenPose:
    """The reader of the format."""
    return OpenPose(settings=settings)
