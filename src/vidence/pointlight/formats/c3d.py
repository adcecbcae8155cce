"""Markers in the binary format C3D."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vidence.errors import DataError
from vidence.pointlight.formats._c3d_file import MARK, read_c3d
from vidence.pointlight.formats._finish import Read, finish, no_rate
from vidence.pointlight.formats._markers import choose, hide_zeros
from vidence.pointlight.formats._options import Settings, one_of, settings
from vidence.pointlight.motion import Motion
from vidence.pointlight.opening import open_file
from vidence.pointlight.rates import settle
from vidence.pointlight.units import NAMED


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
        return len(head) > 1 and ord(head[1]) == MARK and not head[0].isprintable()

    def read(self, path: Path) -> Motion:
        """Read the markers.

        Raises:
            DataError: no C3D, cut off or damaged, no points, a unit that nobody knows, or several subjects.
        """
        opened = open_file(path)
        file = read_c3d(opened)
        unit = file.unit
        names, places, notes = choose(
            opened,
            file.labels,
            is_all=self.settings.word("points", "markers") == "all",
            subject=self.settings.word("subject", ""),
        )
        shown, hidden_note = hide_zeros(file.positions[:, places])
        rate = settle(file.fps, given=self.settings.fps, name=opened.name, is_cmu=False)
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
