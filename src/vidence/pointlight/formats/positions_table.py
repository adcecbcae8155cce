"""Positions as a table with a heading: CSV or TSV, a row for each frame, or for each point of a frame."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats.format_options import LeastScore, RawPoints, TableSettings, finish
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import UnpackedFile, open_file
from vidence.pointlight.units import unrounded

Floats = NDArray[np.float64]
_AXIS = re.compile(r"^(.+?)[ _.:]([xyzXYZ])$")
_OF_VICON = ["field", "time"]
_SCORE = re.compile(r"^(.+?)[ _.:](?:score|confidence|likelihood|visibility)$", re.IGNORECASE)
_TIMES = ("time_s", "time", "timestamp", "t")
_FRAMES = ("frame", "frame_index", "frame_id")
_POINTS = ("point", "joint", "marker", "name")
_SCORES = ("score", "confidence", "likelihood", "visibility")


class Settings(TableSettings):
    """Options of tables of positions."""

    least_score: LeastScore = 0.3


@dataclass(frozen=True, kw_only=True)
class PositionsTable:
    """Reads ``.csv`` and ``.tsv``, parted by commas, semicolons or tabs.

    Wide: columns ``head_x``, ``head_y``, ``head_z`` for each point (also with a space, dot or colon), perhaps
    ``head_score``. Long: columns ``frame``, ``point`` (or joint, marker, name), ``x``, ``y``, ``z``, perhaps
    ``score``. A column ``time_s`` (or time, timestamp), in seconds, tells the rate. Empty cells and ``nan``
    are points that were not seen.
    """

    settings: Settings
    name: str = "positions-table"
    version: int = 1
    suffixes: tuple[str, ...] = (".csv", ".tsv")

    def recognises(self, head: str) -> bool:
        """Whether a text begins with the heading of such a table."""
        columns = _cells(head.lstrip("\n").split("\n", 1)[0])
        is_ours = [c.lower() for c in columns[:2]] != _OF_VICON
        return is_ours and (_is_long(columns) or bool(_wide(columns)))

    def read(self, path: Path) -> Motion:
        """Read a table.

        Raises:
            DataError: no such heading, a line that does not fit it, or times that do not go on evenly.
        """
        opened = open_file(path)
        columns, numbers, rows = _rows(opened)
        places, names, times = (
            self._long(opened, columns, numbers, rows)
            if _is_long(columns)
            else self._wide(opened, columns, numbers, rows)
        )
        read = RawPoints(
            format=self.name,
            positions=places,
            names=names,
            kind="markers",
            up=self.settings.upwards(opened, said=None),
            unit_problem="a table of positions has no unit",
            fps=_rate(opened, times),
        )
        return finish(read, opened=opened, settings=self.settings)

    def _wide(  # noqa: PLR0917 - what a table is
        self, opened: UnpackedFile, columns: list[str], numbers: list[int], rows: list[list[str]]
    ) -> tuple[Floats, tuple[str, ...], Floats]:
        points = _wide(columns)
        if not points:
            raise opened.at(1, f"no columns NAME_x, NAME_y, NAME_z in {', '.join(columns[:8])}")
        scores = {m[1]: i for i, c in enumerate(columns) if (m := _SCORE.match(c))}
        values = _numbers(opened, columns, numbers, rows)
        places = np.stack([values[:, list(at)] for at in points.values()], axis=1)
        for i, name in enumerate(points):
            if name in scores:
                places[~(values[:, scores[name]] >= self.settings.least_score), i] = np.nan
        return places, tuple(points), _column(columns, values, _TIMES)

    def _long(  # noqa: PLR0917
        self, opened: UnpackedFile, columns: list[str], numbers: list[int], rows: list[list[str]]
    ) -> tuple[Floats, tuple[str, ...], Floats]:
        lower = [c.lower() for c in columns]
        at = next(lower.index(c) for c in _POINTS if c in lower)
        of = [row[at].strip() for row in rows]
        names = tuple(dict.fromkeys(of))
        values = _numbers(
            opened, columns, numbers, [[c if i != at else "" for i, c in enumerate(r)] for r in rows]
        )
        frames = _column(columns, values, _FRAMES)
        if not (np.isfinite(frames) & (frames == np.round(frames))).all():
            bad = int((~(np.isfinite(frames) & (frames == np.round(frames)))).argmax())
            raise opened.at(numbers[bad], "the frame is no whole number")
        first = int(frames.min())
        n_frames = int(frames.max()) - first + 1
        if n_frames > 10 * len(rows):
            raise DataError(f"{opened.label}: frames {first} to {int(frames.max())} in {len(rows)} rows")
        places, times = np.full((n_frames, len(names), 3), np.nan), np.full(n_frames, np.nan)
        xyz = [lower.index(a) for a in "xyz"]
        score = _column(columns, values, _SCORES)
        hidden = (
            ~(score >= self.settings.least_score) if np.isfinite(score).any() else np.zeros(len(rows), bool)
        )
        seen_time = _column(columns, values, _TIMES)
        done: set[tuple[int, str]] = set()
        for row, (frame, name) in enumerate(zip(frames.astype(int) - first, of, strict=True)):
            if (frame, name) in done:
                raise opened.at(
                    numbers[row], f"{name!r} is twice in frame {frame + first}; expected one person"
                )
            done.add((frame, name))
            times[frame] = seen_time[row]
            if not hidden[row]:
                places[frame, names.index(name)] = values[row, xyz]
        return places, names, times


def _cells(line: str) -> list[str]:
    line = line.rstrip("\r\n")
    parted = max("\t;,", key=line.count)
    return _parted(line, parted)


def _parted(line: str, parted: str) -> list[str]:
    return [c.strip().strip('"') for c in line.split(parted)]


def _is_long(columns: Sequence[str]) -> bool:
    lower = {c.lower() for c in columns}
    return {"x", "y", "z"} <= lower and bool(lower & set(_POINTS)) and bool(lower & set(_FRAMES))


def _wide(columns: Sequence[str]) -> dict[str, tuple[int, int, int]]:
    """For each point the places of its three columns."""
    found: dict[str, dict[str, int]] = {}
    for i, column in enumerate(columns):
        if match := _AXIS.match(column):
            found.setdefault(match[1], {})[match[2].lower()] = i
    return {name: (at["x"], at["y"], at["z"]) for name, at in found.items() if set(at) == {"x", "y", "z"}}


def _rows(opened: UnpackedFile) -> tuple[list[str], list[int], list[list[str]]]:
    """The heading, the number of each line below it, and its cells."""
    lines = opened.lines()
    start = next(i for i, line in enumerate(lines) if line.strip())
    columns = _cells(lines[start])
    parted = max("\t;,", key=lines[start].count)
    numbers, rows = [], []
    for number, line in enumerate(lines[start + 1 :], start=start + 2):
        if not line.strip():
            continue
        cells = _parted(line, parted)
        if len(cells) != len(columns):
            raise opened.at(number, f"{len(cells)} cells, expected {len(columns)} as in the heading")
        numbers.append(number)
        rows.append(cells)
    if not rows:
        raise DataError(f"{opened.label}: no rows below the heading")
    return columns, numbers, rows


def _numbers(opened: UnpackedFile, columns: list[str], numbers: list[int], rows: list[list[str]]) -> Floats:  # noqa: PLR0917
    """The cells as numbers, NaN for empty ones and in columns that no position needs."""
    needed = {i for at in _wide(columns).values() for i in at}
    needed |= {i for i, c in enumerate(columns) if c.lower() in {"x", "y", "z", *_TIMES, *_FRAMES, *_SCORES}}
    needed |= {i for i, c in enumerate(columns) if _SCORE.match(c)}
    values = np.full((len(rows), len(columns)), np.nan)
    for r, row in enumerate(rows):
        for i in needed:
            text = row[i].strip()
            try:
                values[r, i] = float(text) if text else np.nan
            except ValueError as error:
                raise opened.at(numbers[r], f"{columns[i]} is {text!r}; expected a number") from error
    return values


def _column(columns: Sequence[str], values: Floats, names: Sequence[str]) -> Floats:
    lower = [c.lower() for c in columns]
    at = next((lower.index(n) for n in names if n in lower), None)
    return values[:, at] if at is not None else np.full(len(values), np.nan)


def _rate(opened: UnpackedFile, times: Floats) -> float | None:
    """Frames per second by the column of times; None where there is none."""
    known = np.flatnonzero(np.isfinite(times))
    if len(known) < 2:
        return None
    steps = np.diff(times[known]) / np.diff(known)
    usual = float(np.median(steps))
    if not usual > 0 or (np.abs(steps - usual) > 0.5 * usual).any():
        raise DataError(
            f"{opened.label}: the times do not go on evenly (steps of {steps.min():g} to {steps.max():g} s); "
            "resample it to one rate, or leave the column of times out and give fps=..."
        )
    return unrounded(float((known[-1] - known[0]) / (times[known[-1]] - times[known[0]])))


def create(settings: Settings) -> PositionsTable:
    """The reader of the format."""
    return PositionsTable(settings=settings)
