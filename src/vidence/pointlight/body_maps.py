"""Names of joints and markers: the maps in ``bodies.toml``, and maps of users."""

import difflib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import field

from vidence.errors import UsageError, cause
from vidence.installation import packaged, toml_of
from vidence.records import Record

SIDED = ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")
POINTS = ("head", "neck", "pelvis", *(f"{side}_{joint}" for side in ("left", "right") for joint in SIDED))
# What programs put before the names of joints; it says nothing about them.
_PREFIX = re.compile(r"^(?:.*[:|])?(?:mixamorig\d*_?)?")


class BodyMap(Record, omit_defaults=True):
    """A body map: for each point of the body, the names to average.

    With `is_markers` the names are of markers on the skin; hips, knees and ankles are then computed from them
    (see `markers`), and the hips name the waist: left front, right front, left back, right back.
    """

    name: str = ""
    points: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_markers: bool = False


@cache
def shipped() -> tuple[BodyMap, ...]:
    """The maps of vidence, in order of preference."""
    tables = packaged("vidence.pointlight", "bodies.toml", dict[str, dict[str, object]])
    return tuple(_checked(table, name=name, where=f"bodies.toml: {name}") for name, table in tables.items())


def body_map(text: str) -> BodyMap:
    """A map by its name in vidence, or from a file.

    Raises:
        UsageError: there is none, or the file is no map; the message says what is wrong in it.
    """
    known = {body_map.name: body_map for body_map in shipped()}
    if text in known:
        return known[text]
    if not text.endswith(".toml"):
        near = difflib.get_close_matches(text, known, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"map={text}: expected a file *.toml or one of {', '.join(known)}.{hint}")
    return read_body_map(Path(text))


def read_body_map(path: Path) -> BodyMap:
    """Read a map from a file: a table ``[points]`` from point to names, which are averaged.

    Raises:
        UsageError: it cannot be read, names an unknown point, or one name for both sides.
    """
    try:
        table = toml_of(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {cause(error)}") from error
    except ValueError as error:
        raise UsageError(f"{path}: no TOML: {error}") from error
    return _checked(table, name=path.stem, where=str(path))


def _checked(table: dict[str, object], *, name: str, where: str) -> BodyMap:
    points = table.get("points")
    if isinstance(points, dict):
        table["points"] = {
            p: [n] if isinstance(n, str) else n for p, n in points.items() if n not in ("", [])
        }
    try:
        body_map = msgspec.convert({**table, "name": name}, BodyMap)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}; expected [points] with lists of names") from error
    if unknown := [p for p in body_map.points if p not in POINTS]:
        near = difflib.get_close_matches(unknown[0], POINTS, n=1)
        raise UsageError(
            f"{where}: there is no point {unknown[0]!r}{f'; did you mean {near[0]}?' if near else ''} "
            f"(points: {', '.join(POINTS)})"
        )
    if not body_map.points:
        raise UsageError(f"{where}: [points] names nothing")
    for joint in SIDED:
        shared = set(body_map.points.get(f"left_{joint}", ())) & set(
            body_map.points.get(f"right_{joint}", ())
        )
        if shared and not (body_map.is_markers and joint == "hip"):
            raise UsageError(f"{where}: {min(shared)!r} stands for the left and the right {joint}")
    return body_map


def bare(name: str) -> str:
    """Strip the prefix that programs add to names.

    >>> bare("mixamorig:LeftArm"), bare("Armature|mixamorig_Hips"), bare("Ann:LKNE")
    ('LeftArm', 'Hips', 'LKNE')
    """
    return _PREFIX.sub("", name) or name


def best_map(names: Sequence[str]) -> BodyMap:
    """Return the shipped map that fits most points, head and limbs first; the first of equals."""
    there = set(map(bare, names))

    def fits(body_map: BodyMap) -> tuple[int, int]:
        items = [p for p, sources in body_map.points.items() if set(sources) <= there]
        return len(set(items) - {"neck", "pelvis"}), len(items)

    return max(shipped(), key=fits)
