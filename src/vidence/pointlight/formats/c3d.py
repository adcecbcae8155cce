"""Markers in the binary format C3D, read with ezc3d."""

import struct
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.formats._finish import Read, finish, no_rate
from vidence.pointlight.formats._markers import choose, hide_zeros
from vidence.pointlight.formats._options import Settings, one_of, settings
from vidence.pointlight.motion import Motion
from vidence.pointlight.opening import Opened, open_file
from vidence.pointlight.rates import settle
from vidence.pointlight.units import NAMED

Floats = NDArray[np.float64]
_C3D_MARK = 0x50  # the second byte of every C3D
_INTEL = 84  # little-endian numbers


def create(options: Mapping[str, str] | None = None) -> "C3d":
    """The reader.

    Options: ``units``, ``fps``; ``up`` (``z`` or ``y``); ``points`` (``markers``: the known markers of the
    body where there are any; ``all``); ``subject`` (the part of the labels before the colon).
    """
    more: dict[str, Callable[[str], object]] = {
        "up": one_of("z", "y"),
        "points": one_of("markers", "all"),
        "subject": str,
    }
    return C3d(settings=settings("c3d", options or {}, more))


@dataclass(frozen=True, kw_only=True)
class C3d:
    """Reads ``.c3d``. Points are chosen by their labels, never by their place."""

    settings: Settings
    name: str = "c3d"
    version: int = 1
    suffixes: tuple[str, ...] = (".c3d",)

    def recognises(self, head: str) -> bool:
        """Whether a file begins as a C3D does."""
        return len(head) > 1 and ord(head[1]) == _C3D_MARK and not head[0].isprintable()

    def read(self, path: Path) -> Motion:
        """Read the markers.

        Raises:
            UsageError: the library is not installed.
            DataError: no C3D, no points, a unit that nobody knows, or several subjects.
        """
        opened = open_file(path)
        if not opened.data:
            raise DataError(f"{opened.label}: the file is empty")
        if len(opened.data) < 512 or opened.data[1] != _C3D_MARK:
            raise DataError(f"{opened.label} is no C3D: its second byte is not 0x50")
        _check_size(opened)
        labels, positions, unit, claimed = _read(opened)
        names, places, notes = choose(
            opened,
            labels,
            is_all=self.settings.word("points", "markers") == "all",
            subject=self.settings.word("subject", ""),
        )
        shown, hidden_note = hide_zeros(positions[:, places])
        rate = settle(claimed, given=self.settings.fps, name=opened.name, is_cmu=False)
        if rate is None:
            raise no_rate(opened)
        if unit.lower() not in NAMED and self.settings.unit is None:
            raise DataError(
                f"{opened.label} says that its unit is {unit!r}, which is not known; known are m, dm, cm, "
                "mm, inch, ft. Give units=..."
            )
        read = Read(
            format=self.name,
            positions=shown,
            names=names,
            kind="markers",
            up=self.settings.word("up", "z"),
        )
        return finish(
            read,
            opened=opened,
            metres_per_unit=NAMED.get(unit.lower(), 1.0),
            given=self.settings.unit,
            rate=rate,
            notes=(*notes, *hidden_note),
        )


def _check_size(opened: Opened) -> None:
    """The library reads a file that was cut off as a shorter one; the header tells how long it must be."""
    n_points, n_analog, first, last, _, scale, start = struct.unpack_from("<HHHHHfH", opened.data, 2)
    parameters_at = 512 * (opened.data[0] - 1)
    is_intel = len(opened.data) > parameters_at + 3 and opened.data[parameters_at + 3] == _INTEL
    if not is_intel or last >= 0xFFFF or last < first:
        return  # other byte orders, and long files, whose header cannot say it
    n_frames = last - first + 1
    wanted = 512 * (start - 1) + n_frames * (4 * n_points + n_analog) * (4 if scale < 0 else 2)
    if len(opened.data) < wanted:
        raise DataError(
            f"{opened.label} is cut off: {len(opened.data)} bytes, but its header announces {n_frames} "
            f"frames, which take {wanted}"
        )


def _read(opened: Opened) -> tuple[list[str], Floats, str, float | None]:
    """Labels, positions (n_frames, n_points, 3), the unit and the rate that a file claims."""
    try:
        import ezc3d
    except ImportError as error:
        raise UsageError("reading C3D needs ezc3d; install it with: pip install 'vidence[build]'") from error
    with tempfile.TemporaryDirectory(prefix="vidence-c3d-") as folder:
        plain = Path(folder) / "motion.c3d"  # the library reads plain files, by their name
        plain.write_bytes(opened.data)
        try:
            held = ezc3d.c3d(str(plain))
        except (OSError, RuntimeError, ValueError, IndexError, KeyError) as error:
            raise DataError(f"{opened.label} is a damaged C3D: {error}") from error
    point = held["parameters"]["POINT"]
    values = np.asarray(held["data"]["points"], dtype=np.float64)
    labels = [str(x) for key in _label_keys(point) for x in point[key]["value"]]
    positions = np.moveaxis(values[:3], 0, 2).swapaxes(0, 1)
    if positions.shape[0] == 0 or positions.shape[1] == 0:
        raise DataError(f"{opened.label}: no points, or no frames")
    unit = str((point["UNITS"]["value"] or [""])[0]).strip() if "UNITS" in point else ""
    rates = point["RATE"]["value"] if "RATE" in point else []
    claimed = float(rates[0]) if len(rates) and rates[0] > 0 else None
    return labels[: positions.shape[1]], np.ascontiguousarray(positions), unit, claimed


def _label_keys(point: Mapping[str, object]) -> list[str]:
    """``LABELS``, and ``LABELS2`` and so on, which go on after 255 labels."""
    return ["LABELS", *sorted((k for k in point if k.startswith("LABELS") and k[6:].isdigit()), key=len)]
