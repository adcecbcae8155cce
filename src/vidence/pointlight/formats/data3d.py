"""data3d: thirteen points as bare text, three lines (x, y, z) per frame."""

import re
from dataclasses import dataclass
from pathlib import Path

from vidence.pointlight.body import POINTS_13
from vidence.pointlight.formats.format_options import MotionSettings, RawPoints, finish
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import open_file
from vidence.pointlight.units import cmu_subject

_NUMBERS = re.compile(r"^\s*(-?\d+(\.\d+)?(e[-+]?\d+)?\s+){12}-?\d+(\.\d+)?(e[-+]?\d+)?\s*$", re.IGNORECASE)
STATURE_M = 1.7


class Settings(MotionSettings):
    """Options of data3d files; without `units` the body is scaled to a stature of 1.7 m, with a note."""


@dataclass(frozen=True, kw_only=True)
class Data3d:
    """Reads ``.data3d.txt``: y up, the points in the order of `POINTS_13`."""

    settings: Settings
    name: str = "data3d"
    version: int = 1
    suffixes: tuple[str, ...] = (".data3d.txt", ".data3d", ".txt")

    def recognises(self, head: str) -> bool:
        """Whether a text begins with three lines of thirteen numbers."""
        lines = head.splitlines()[:3]
        return len(lines) == 3 and all(_NUMBERS.match(line) for line in lines)

    def read(self, path: Path) -> Motion:
        """Read a file.

        Raises:
            DataError: a line that has not thirteen numbers, frames that are not complete, or no rate.
        """
        opened = open_file(path)
        expected = f"expected {len(POINTS_13)}, one for each point"
        numbers, rows = opened.rows(len(POINTS_13), expected=expected)
        if len(rows) % 3:
            raise opened.at(numbers[-1], f"{len(rows)} lines; three make a frame, so the file is cut off")
        positions = rows.reshape(-1, 3, len(POINTS_13)).swapaxes(1, 2)
        read = RawPoints(
            format=self.name,
            positions=positions,
            names=POINTS_13,
            kind="body",
            stature_m=STATURE_M,
            is_cmu=cmu_subject(opened.name) is not None,
        )
        return finish(read, opened=opened, settings=self.settings)


def create(settings: Settings) -> Data3d:
    """The reader of the format."""
    return Data3d(settings=settings)
