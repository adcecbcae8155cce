"""The numbers of an AMC: one block of lines for each frame, one line for each bone that moves."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats._asf import AsfSkeleton
from vidence.pointlight.opening import Opened

Floats = NDArray[np.float64]


@dataclass(kw_only=True)
class _Frame:
    """The lines of one frame, each with its number in the file; `line` is that of the frame's own number."""

    number: int
    line: int
    lines: list[tuple[int, list[str]]] = field(default_factory=list)


def read_amc(opened: Opened, asf: AsfSkeleton) -> Floats:
    """The numbers of every frame: angles in radians, lengths in units of the file.

    Returns:
        Shape (n_frames, n_dofs), in the order of the bones of the skeleton.

    Raises:
        DataError: a bone that the skeleton lacks, too few or too many numbers, a frame that is cut off,
            frames out of order.
    """
    starts = np.cumsum([0, *(len(d) for d in asf.dofs)])
    places = {
        name: slice(int(starts[i]), int(starts[i + 1]))
        for i, name in enumerate(asf.skeleton.names)
        if asf.dofs[i]
    }
    rows: list[Floats] = []
    last: _Frame | None = None
    is_degrees = asf.is_degrees
    for block in _frames(opened):
        if isinstance(block, bool):
            is_degrees = block
            continue
        if last is not None and block.number != last.number + 1:
            raise opened.at(
                block.line, f"frame {block.number} follows frame {last.number}; frames are missing"
            )
        row = _usual_row(block, places)
        rows.append(row if row is not None else _row(opened, block, asf=asf, places=places))
        last = block
    if not rows:
        raise DataError(
            f"{opened.label}: no frames; an AMC has the number of each frame on a line of its own"
        )
    values = np.array(rows)
    is_angle = np.array([d.startswith("r") for dofs in asf.dofs for d in dofs])
    return np.where(is_angle & is_degrees, np.deg2rad(values), values)


def _frames(opened: Opened) -> Iterator[_Frame | bool]:
    """The frames in the order of the file; a bool says that angles are degrees from here on."""
    frame: _Frame | None = None
    for number, line in enumerate(opened.lines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0].startswith(":"):
            if words[0].upper() in (":DEGREES", ":RADIANS"):
                yield words[0].upper() == ":DEGREES"
        elif len(words) == 1 and words[0].isdigit():
            if frame is not None:
                yield frame
            frame = _Frame(number=int(words[0]), line=number)
        elif frame is None:
            raise opened.at(number, f"expected the number of a frame, found {line.strip()[:60]!r}")
        else:
            frame.lines.append((number, words))
    if frame is not None:
        yield frame


def _usual_row(frame: _Frame, places: dict[str, slice]) -> Floats | None:
    """The numbers of a frame that is as it should be; None for any other.

    `_row` gives the same for such a frame, and says what is wrong with others; this is ten times faster.
    """
    said = {words[0]: words for _, words in frame.lines}
    if len(said) != len(frame.lines) or said.keys() != places.keys():
        return None
    if any(len(said[name]) - 1 != place.stop - place.start for name, place in places.items()):
        return None
    try:
        row = np.array([float(w) for name in places for w in said[name][1:]])
    except ValueError:
        return None
    return row if np.isfinite(row).all() else None


def _row(opened: Opened, frame: _Frame, *, asf: AsfSkeleton, places: dict[str, slice]) -> Floats:
    row = np.full(sum(len(d) for d in asf.dofs), np.nan)
    for number, words in frame.lines:
        place = places.get(words[0])
        if place is None:
            raise opened.at(
                number,
                f"{words[0][:40]!r} is no bone that moves in the skeleton {asf.label}; is it the right one?",
            )
        wanted = place.stop - place.start
        if len(words) - 1 != wanted:
            dofs = " ".join(asf.dofs[asf.skeleton.names.index(words[0])])
            raise opened.at(
                number, f"{words[0]} has {len(words) - 1} numbers, the skeleton wants {wanted} ({dofs})"
            )
        if not np.isnan(row[place.start]):
            raise opened.at(number, f"{words[0]} stands twice in frame {frame.number}")
        try:
            row[place] = [float(w) for w in words[1:]]
        except ValueError as error:
            raise opened.at(number, f"cannot read the numbers of {words[0]}: {error}") from error
        if not np.isfinite(row[place]).all():
            raise opened.at(number, f"a number of {words[0]} is not finite")
    absent = [name for name, place in places.items() if np.isnan(row[place.start])]
    if absent:
        end = frame.lines[-1][0] if frame.lines else frame.line
        raise opened.at(
            end,
            f"frame {frame.number} ends without {', '.join(absent[:4])}"
            f"{' and others' if len(absent) > 4 else ''}; the file is cut off or made for another skeleton",
        )
    return row
