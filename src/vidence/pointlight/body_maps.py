"""Names of joints and markers: the maps in ``bodies``, maps of users, and guesses for names that none has."""

import difflib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import field

from vidence.errors import UsageError
from vidence.records import Record

FOLDER = Path(__file__).parent / "bodies"
SIDED = ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")
POINTS = ("head", "neck", "pelvis", *(f"{side}_{joint}" for side in ("left", "right") for joint in SIDED))
# What programs put before the names of joints; it says nothing about them.
_PREFIX = re.compile(r"^(?:.*[:|])?(?:mixamorig\d*_?)?")
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
# A name is offered for a point where it is at least so alike to one that is known for it.
_ALIKE = 0.72


class BodyMap(Record, omit_defaults=True):
    """One naming: for each point of the body the names whose mean it is.

    With `is_markers` the names are of markers on the skin; hips, knees and ankles are then computed from them
    (see `markers`), and the hips name the waist: left front, right front, left back, right back.
    """

    name: str = ""
    points: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_markers: bool = False


@cache
def shipped() -> tuple[BodyMap, ...]:
    """The maps that come with vidence, those first that are preferred where several fit."""
    first = (
        "points",
        "asf",
        "cmu-motionbuilder",
        "motionbuilder",
        "mixamo",
        "cmu-max",
        "mocapbank",
        "cmu-daz",
        "vicon",
    )
    files = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
    return tuple(read_body_map(files[name]) for name in dict.fromkeys((*first, *files)))


def body_map(text: str) -> BodyMap:
    """A map by the name of one that comes with vidence, or by its file.

    Raises:
        UsageError: there is none, or the file is no map; the message says what is wrong in it.
    """
    known = {one.name: one for one in shipped()}
    if text in known:
        return known[text]
    if not text.endswith(".toml"):
        near = difflib.get_close_matches(text, known, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"map={text}: expected a file *.toml or one of {', '.join(known)}.{hint}")
    return read_body_map(Path(text))


def read_body_map(path: Path) -> BodyMap:
    """A map from a file: a table ``[points]``, each with a name or several whose mean it is.

    Raises:
        UsageError: it cannot be read, names an unknown point, or one name for both sides.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: no TOML: {error}") from error
    points = table.get("points")
    if isinstance(points, dict):
        table["points"] = {
            p: [n] if isinstance(n, str) else n for p, n in points.items() if n not in ("", [])
        }
    try:
        made = msgspec.convert({**table, "name": path.stem}, BodyMap)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}; expected [points] with lists of names") from error
    unknown = [p for p in made.points if p not in POINTS]
    if unknown:
        near = difflib.get_close_matches(unknown[0], POINTS, n=1)
        raise UsageError(
            f"{path}: there is no point {unknown[0]!r}{f'; did you mean {near[0]}?' if near else ''} "
            f"(points: {', '.join(POINTS)})"
        )
    if not made.points:
        raise UsageError(f"{path}: [points] names nothing; fill it in as the template says")
    for joint in SIDED:
        shared = set(made.points.get(f"left_{joint}", ())) & set(made.points.get(f"right_{joint}", ()))
        if shared and not (made.is_markers and joint == "hip"):
            raise UsageError(f"{path}: {min(shared)!r} stands for the left and the right {joint}")
    return made


def bare(name: str) -> str:
    """A name without what programs put before it.

    >>> bare("mixamorig:LeftArm"), bare("Armature|mixamorig_Hips"), bare("Ann:LKNE")
    ('LeftArm', 'Hips', 'LKNE')
    """
    return _PREFIX.sub("", name) or name


def best_map(names: Sequence[str]) -> BodyMap:
    """The map that comes with vidence and fits most points, head and limbs first; of several, the first."""
    there = set(map(bare, names))

    def fits(one: BodyMap) -> tuple[int, int]:
        found = [p for p, sources in one.points.items() if set(sources) <= there]
        return len(set(found) - {"neck", "pelvis"}), len(found)

    return max(shipped(), key=fits)


def guesses(names: Sequence[str]) -> Mapping[str, str]:
    """For points of the body the name that looks most like one that is known for it; sides are never mixed.

    >>> guesses(("Pelvis_M", "L_UpperArm", "R_UpperArm"))["left_shoulder"]
    'L_UpperArm'
    """
    found: dict[str, str] = {}
    left = {name: _normal(name[len(_shared(names)) :]) for name in dict.fromkeys(names)}
    scored = []
    for point in POINTS:
        side = {"l": "left", "r": "right"}.get(point[0]) if "_" in point else None
        known = {_normal(n)[1] for m in shipped() for n in m.points.get(point, ()) if not m.is_markers}
        known |= {point.split("_")[-1]}
        for name, (own, words) in left.items():
            if own == side:
                alike = max(difflib.SequenceMatcher(None, words, one).ratio() for one in known)
                scored.append((alike, -POINTS.index(point), point, name))
    for alike, _, point, name in sorted(scored, reverse=True):
        if alike >= _ALIKE and point not in found and name not in found.values():
            found[point] = name
    return found


def _shared(names: Sequence[str]) -> str:
    """What all names begin with, up to its last sign that is no letter or digit."""
    if len(set(names)) < 2:
        return ""
    first, last = min(names), max(names)
    n_alike = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return re.sub(r"[A-Za-z0-9]*$", "", first[:n_alike])


def nearest(names: Sequence[str]) -> BodyMap:
    """The map whose names look most like these: by what fits, then by what is guessed."""
    exact = best_map(names)
    if set(map(bare, names)) & {n for sources in exact.points.values() for n in sources}:
        return exact
    start = _shared(names)
    there = {_normal(n[len(start) :]) for n in guesses(names).values()}
    return max(shipped(), key=lambda m: len(there & {_normal(n) for s in m.points.values() for n in s}))


def _normal(name: str) -> tuple[str | None, str]:
    """The side that a name says, and its other words in small letters."""
    words = [w.lower() for w in _WORDS.findall(bare(name))]
    sides = {"l": "left", "left": "left", "r": "right", "right": "right"}
    side = next((sides[w] for w in words if w in sides), None)
    rest = [w for w in words if w not in sides and not w.isdigit()]
    if side is None and rest and rest[0][:1] in "lr" and rest[0][1:] in _STEMS:
        side, rest[0] = sides[rest[0][0]], rest[0][1:]
    return side, "".join(rest)


_STEMS = {
    "shldr",
    "forearm",
    "hand",
    "thigh",
    "shin",
    "foot",
    "hip",
    "knee",
    "ankle",
    "shoulder",
    "elbow",
    "wrist",
}


def template(names: Sequence[str], *, file: str) -> str:
    """A map to fill in for the names of a file, as TOML: what is guessed, and what there is."""
    near, found = nearest(names), guesses(names)
    there = {bare(n): n for n in names}
    known = {
        p: [there[s] for s in sources] for p, sources in near.points.items() if set(sources) <= set(there)
    }
    lines = [
        f"# Points of the body for {file}. Look at each guess, fill in what is empty (a list is the mean of",
        f"# several), and take the file with --option map=FILE.toml. Nearest known map: {near.name}.",
        "# Markers on the skin: is_markers = true, and for both hips the waist: left and right in front,",
        "# then left and right at the back.",
        "is_markers = false",
        "",
        "[points]",
    ]
    for point in POINTS:
        chosen = known.get(point) or ([found[point]] if point in found else [])
        told = "" if point in known else "  # guessed" if chosen else "  # not found"
        lines.append(f"{point} = {json.dumps(chosen, ensure_ascii=False)}{told}")
    lines += ["", "# Names in the file:", *(f"#   {name}" for name in names)]
    return "\n".join(lines) + "\n"
