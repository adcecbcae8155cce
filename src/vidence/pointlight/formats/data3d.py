"""Thirteen points as bare text: three lines for each frame, with the x, the y and the z of every point."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.body import POINTS_13
from vidence.pointlight.formats.finish import Read, Settings, finish, no_rate, settings
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import open_file
from vidence.pointlight.units import Unit, cmu_subject, settle

Floats = NDArray[np.float64]
_NUMBERS = re.compile(r"^\s*(-?\d+(\.\d+)?(e[-+]?\d+)?\s+){12}-?\d+(\.\d+)?(e[-+]?\d+)?\s*$", re.IGNORECASE)
STATURE_M = 1.7


def create(options: Mapping[str, str] | None = None) -> "Data3d":
    """The reader.

    Options: ``fps`` (needed, unless the name is that of a trial of CMU), ``units`` (the format has none;
    without it the body is scaled to stand 1.7 m tall, and a note says so).
    """
    return Data3d(settings=settings("data3d", options or {}))


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
        rows: list[list[float]] = []
        last = 0
        for number, line in enumerate(opened.lines(), start=1):
            words = line.split()
            if not words:
                continue
            if len(words) != len(POINTS_13):
                raise opened.at(
                    number, f"{len(words)} numbers, expected {len(POINTS_13)}, one for each point"
                )
            try:
                rows.append([float(w) for w in words])
            except ValueError as error:
                raise opened.at(number, f"cannot read a number: {error}") from error
            last = number
        if len(rows) % 3:
            raise opened.at(last, f"{len(rows)} lines; three make a frame, so the file is cut off")
        if not rows:
            raise DataError(f"{opened.label}: no frames")
        positions = np.array(rows).reshape(-1, 3, len(POINTS_13)).swapaxes(1, 2)
        is_cmu = cmu_subject(opened.name) is not None
        rate = settle(None, given=self.settings.fps, name=opened.name, is_cmu=is_cmu)
        if rate is None:
            raise no_rate(opened)
        read = Read(format=self.name, positions=positions, names=POINTS_13, kind="body")
        return finish(
            read,
            opened=opened,
            metres_per_unit=1.0,
            given=self.settings.unit or Unit(stature_m=STATURE_M),
            rate=rate,
        )
