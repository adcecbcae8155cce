"""Text tables of markers: one line per frame, columns ``label:X label:Y label:Z``."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats.format_options import MarkerSettings, RawPoints, choose, finish
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import UnpackedFile, open_file
from vidence.pointlight.units import unrounded

Floats = NDArray[np.float64]
HIDDEN = -9999.99
METRES = 0.001
_COLUMN = re.compile(r"^(.*):([XYZ])$")


class Settings(MarkerSettings):
    """Options of tables of markers."""


@dataclass(frozen=True, kw_only=True)
class MarkerTable:
    """Reads tables from Vicon and ACCAD: millimetres, z up, -9999.99 for hidden markers."""

    settings: Settings
    name: str = "marker-table"
    version: int = 1
    suffixes: tuple[str, ...] = (".txt", ".tsv")

    def recognises(self, head: str) -> bool:
        """Whether a text starts with the heading of such a table."""
        return bool(re.match(r"\s*Field\s+Time\s+\S", head))

    def read(self, path: Path) -> Motion:
        """Read a table.

        Raises:
            DataError: no such heading, a line with too few or too many numbers, or times out of order.
        """
        opened = open_file(path)
        labels = _labels(opened, opened.lines()[0])
        n_columns = 2 + 3 * len(labels)
        expected = f"the heading announces {n_columns}"
        numbers, values = opened.rows(n_columns, first=2, expected=expected)
        if not numbers:
            raise DataError(f"{opened.label}: no frames below the heading")
        fps = _rate(opened, values[:, 1], numbers)
        positions = values[:, 2:].reshape(len(values), len(labels), 3)
        hidden = np.asarray((positions <= HIDDEN).any(axis=2))
        positions = np.where(hidden[..., None], np.nan, positions)
        names, places, notes = choose(opened, labels, self.settings)
        read = RawPoints(
            format=self.name,
            positions=positions[:, places],
            names=names,
            kind="markers",
            up=self.settings.up,
            metres_per_unit=METRES,
            notes=notes,
            fps=fps,
        )
        return finish(read, opened=opened, settings=self.settings)


def _labels(opened: UnpackedFile, heading: str) -> list[str]:
    columns = heading.rstrip("\r\n").rstrip("\t").split("\t")
    if len(columns) < 5 or [c.strip().lower() for c in columns[:2]] != ["field", "time"]:
        raise opened.at(1, f"expected the heading 'Field Time label:X ...', found {heading.strip()[:60]!r}")
    labels = []
    for start in range(2, len(columns), 3):
        matches = [_COLUMN.match(c.strip()) for c in columns[start : start + 3]]
        bases = {m[1] for m in matches if m}
        axes = "".join(m[2] for m in matches if m)
        if len(bases) != 1 or axes != "XYZ":
            raise opened.at(1, f"columns {start + 1} to {start + 3} are not X, Y, Z of one marker")
        labels.append(bases.pop())
    return labels


def _rate(opened: UnpackedFile, times: Floats, numbers: list[int]) -> float | None:
    """Return frames per second from a column of rounded times."""
    if len(times) < 2:
        return None
    steps = np.diff(times)
    if (steps <= 0).any():
        raise opened.at(numbers[int((steps <= 0).argmax()) + 1], "the time does not go on")
    claimed = (len(times) - 1) / float(times[-1] - times[0])
    if (abs(steps - 1 / claimed) > 0.5 / claimed).any():
        late = int((abs(steps - 1 / claimed) > 0.5 / claimed).argmax()) + 1
        raise opened.at(numbers[late], f"the time jumps by {steps[late - 1]:g} s; frames are missing")
    return unrounded(claimed)


def create(settings: Settings) -> MarkerTable:
    """The reader of the format."""
    return MarkerTable(settings=settings)
