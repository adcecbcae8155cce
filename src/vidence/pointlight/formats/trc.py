"""TRC: tables of markers as OpenSim and Motion Analysis write them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.formats.format_options import MarkerSettings, RawPoints, finish
from vidence.pointlight.formats.marker_labels import choose
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import UnpackedFile, open_file
from vidence.pointlight.units import read_unit

Floats = NDArray[np.float64]
_HEADING = re.compile(r"\s*PathFileType\b")


class Settings(MarkerSettings):
    """Options of TRC files."""

    up: Annotated[Literal["y", "z"], Meta(description="axis that points up; OpenSim's is y")] = "y"


@dataclass(frozen=True, kw_only=True)
class Trc:
    """Reads ``.trc``: five lines of heading, then frame, time and x, y, z of each marker, parted by tabs.

    Empty cells are markers that were not seen. The unit and the rate are in the third line.
    """

    settings: Settings
    name: str = "trc"
    version: int = 1
    suffixes: tuple[str, ...] = (".trc",)

    def recognises(self, head: str) -> bool:
        """Whether a text begins with the heading of a TRC."""
        return bool(_HEADING.match(head))

    def read(self, path: Path) -> Motion:
        """Read a file.

        Raises:
            DataError: another heading, no known unit, or a line that does not fit it.
        """
        opened = open_file(path)
        lines = opened.lines()
        if len(lines) < 5 or not _HEADING.match(lines[0]):
            raise opened.at(1, "expected 'PathFileType' and four more lines of heading")
        said = dict(zip(lines[1].split(), lines[2].split(), strict=False))
        labels = [c.strip() for c in lines[3].split("\t")[2:]]
        labels = [c for c in labels if c]
        if not labels or len(set(labels)) != len(labels):
            raise opened.at(4, f"{len(labels)} names of markers, {len(set(labels))} of them different")
        positions = _rows(opened, lines[5:], n_points=len(labels))
        names, places, notes = choose(opened, labels, self.settings)
        read = RawPoints(
            format=self.name,
            positions=positions[:, places],
            names=names,
            kind="markers",
            up=self.settings.up,
            metres_per_unit=_metres(opened, said.get("Units", "")),
            unit_problem="the heading has no Units",
            fps=_number(opened, said.get("DataRate", "")),
            notes=notes,
        )
        return finish(read, opened=opened, settings=self.settings)


def _rows(opened: UnpackedFile, lines: list[str], *, n_points: int) -> Floats:
    """Positions (n_frames, n_points, 3) from the lines after the heading, the first of which is the sixth."""
    rows: list[list[float]] = []
    for number, line in enumerate(lines, start=6):
        if not line.strip():
            continue
        cells = line.rstrip("\r\n").split("\t")
        cells += [""] * (2 + 3 * n_points - len(cells))
        if any(c.strip() for c in cells[2 + 3 * n_points :]):
            raise opened.at(number, f"{len(cells)} cells, expected {2 + 3 * n_points}")
        try:
            row = [float(c) if c.strip() else np.nan for c in cells[2 : 2 + 3 * n_points]]
        except ValueError as error:
            raise opened.at(number, f"cannot read a number: {error}") from error
        rows.append(row)
    if not rows:
        raise DataError(f"{opened.label}: no frames below the heading")
    return np.array(rows).reshape(-1, n_points, 3)


def _metres(opened: UnpackedFile, unit: str) -> float | None:
    try:
        return read_unit(unit).metres if unit else None
    except UsageError as error:
        raise opened.at(
            3, f"Units is {unit!r}; expected m, cm, mm or inch (units=... says another)"
        ) from error


def _number(opened: UnpackedFile, text: str) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        value = -1.0
    if value is not None and not 0 < value < 1e5:
        raise opened.at(3, f"DataRate is {text!r}; expected a number above 0 (fps=... says another)")
    return value


def create(settings: Settings) -> Trc:
    """The reader of the format."""
    return Trc(settings=settings)
