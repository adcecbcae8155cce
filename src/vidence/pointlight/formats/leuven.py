"""Leuven action database: a heading, then one line of coordinates per point."""

import re
from dataclasses import dataclass
from pathlib import Path

from vidence.pointlight.formats.format_options import MotionSettings, RawPoints, finish
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import open_file

_HEADING = re.compile(r"frames\s*=\s*(\d+)\s+markers\s*=\s*(\d+)\s+Hz\s*=\s*([\d.]+)", re.IGNORECASE)
STATURE_M = 1.7
# The sides take turns. That the first is the left one was found from the knees, which bend forwards, in a
# right-handed frame; the heading does not say it.
POINTS = (
    "head",
    *(f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist") for side in ("left", "right")),
    *(f"{side}_{joint}" for joint in ("hip", "knee", "ankle") for side in ("left", "right")),
)


class Settings(MotionSettings):
    """Options of Leuven files; without `units` the body is scaled to a stature of 1.7 m, with a note."""


@dataclass(frozen=True, kw_only=True)
class Leuven:
    """Reads ``.rex``: UTF-16 or plain text, thirteen points, each line ``x z y``.

    Source: Vanrie and Verfaillie (2004), Perception of biological motion: a stimulus set of human point-light
    actions, Behavior Research Methods, Instruments and Computers 36(4).
    """

    settings: Settings
    name: str = "leuven"
    version: int = 1
    suffixes: tuple[str, ...] = (".rex", ".txt")

    def recognises(self, head: str) -> bool:
        """Whether a text starts with such a heading."""
        return bool(_HEADING.match(head.lstrip()))

    def read(self, path: Path) -> Motion:
        """Read a file.

        Raises:
            DataError: no heading, another number of points than thirteen, or lines that do not fit it.
        """
        opened = open_file(path)
        lines = opened.lines()
        match = _HEADING.match(lines[0].strip())
        if not match:
            raise opened.at(1, f"expected 'frames = N markers = 13 Hz = R', found {lines[0].strip()[:60]!r}")
        n_frames, n_points, claimed = int(match[1]), int(match[2]), float(match[3])
        if n_points != len(POINTS):
            raise opened.at(1, f"{n_points} markers; the order of other numbers than 13 is not known")
        if not claimed > 0:
            raise opened.at(1, f"a rate of {claimed:g} Hz; give fps=...")
        numbers, rows = opened.rows(3, first=2, expected="expected x, z and y of one point")
        if len(rows) != n_frames * n_points or not numbers:
            end = numbers[-1] if numbers else 1
            raise opened.at(end, f"{len(rows)} points, but the heading announces {n_frames * n_points}")
        values = rows.reshape(n_frames, n_points, 3)
        read = RawPoints(
            format=self.name,
            positions=values[..., [0, 2, 1]],
            names=POINTS,
            kind="body",
            stature_m=STATURE_M,
            fps=claimed,
        )
        return finish(read, opened=opened, settings=self.settings)


def create(settings: Settings) -> Leuven:
    """The reader of the format."""
    return Leuven(settings=settings)
