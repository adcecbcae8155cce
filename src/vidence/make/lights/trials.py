"""Read which recordings show which action, from a table of files or of CMU trials."""

import csv
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from vidence.errors import DataError, UsageError, cause
from vidence.make.lights.parts import RecordingPart
from vidence.make.pipeline.material import Dropped
from vidence.pointlight.figures import is_walker
from vidence.pointlight.specs import spec_of
from vidence.records import Record

# What a column may be called, the first name first.
_COLUMNS = {
    "label": ("label",),
    "set": ("set", "kind"),
    "intention": ("intention",),
    "group": ("group", "semantic_group"),
    "file": ("file", "files"),
    "subject": ("subject", "cmu_subject"),
    "trial": ("trial", "cmu_trial"),
    "description": ("description", "cmu_description"),
    "confidence": ("confidence",),
    "clip_id": ("clip_id",),
    "take": ("take",),
    "partner": ("partner",),
    "points": ("points",),
    "yaw_deg": ("yaw_deg",),
    "options": ("options",),
    "condition": ("condition",),
    "settings": ("settings",),
    **{name: (name,) for name in ("units", "fps", "skeleton", "up")},
    **{name: (name,) for name in RecordingPart.__struct_fields__},
}
# Columns that are options of the reader of the file.
_READER = ("units", "fps", "skeleton", "up")
# What two rows about the halves of one trial have in common, as the index of CMU words it.
_HALF = re.compile(r"^(?P<what>.*)\(2 subjects - subject [A-Z]\)$")
_NEEDED = ("label", "set", "intention", "group")
# Where one trial lies in several formats: joints of the recorded skeleton first.
_FORMATS = (".amc", ".c3d", ".bvh")
_SIGNS = re.compile(r"[^\w.]+")
_NAME = re.compile(r"^0*(\d+)_0*(\d+)(?=[._])")


class Trial(Record, omit_defaults=True):
    """One clip to make: who moves (one file, or two of one session), and what it shows.

    `files` are relative to the folder of motions. `line` is that of the table. `subjects` are who moves,
    `partners` who was recorded with them and is not shown, `take` the recording that several files are of.
    `part` is what of the recording is shown, `points` which points (empty: as the clips have them),
    `options` are those of the reader of its files, and `settings` those of the stimulus. `condition` is the
    name of the way in which the motion is shown; clips of one motion are compared over it. Of the clip that
    comes of it all, `window` is kept, in its seconds.
    """

    clip_id: str
    label: str
    set: Literal["single", "social"]
    intention: str
    group: str
    files: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    trial: str = ""
    description: str = ""
    confidence: str = ""
    line: int = 0
    take: str = ""
    partners: tuple[str, ...] = ()
    part: RecordingPart = RecordingPart()
    yaw_deg: float = 0.0
    """Added to the viewing angle."""
    points: str = ""
    options: dict[str, str] = msgspec.field(default_factory=dict)
    condition: str = ""
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    window: tuple[float, float] | None = None

    @property
    def motion(self) -> str:
        """Label, recording and part, shared by a motion's clips in all conditions."""
        source = "+".join(self.files or _numbered(self.subjects, self.trial))
        return "-".join(filter(None, (self.label, source, self.part.name)))


Cells: TypeAlias = Mapping[str, str | int | float]
"""Cells of the row by column."""


@dataclass(frozen=True, kw_only=True)
class ReadMap:
    """The usable rows of a table, and the others.

    `taken` names every row, usable or not.
    """

    taken: tuple[str, ...]
    trials: tuple[Trial, ...]
    dropped: tuple[Dropped, ...]


def read_map(path: Path, more: Mapping[str, Cells] | None = None) -> ReadMap:
    """Read a CSV table in UTF-8.

    Needed are ``label``, ``set`` (or ``kind``: single, social), ``intention``, ``group`` (or
    ``semantic_group``), and who moves: ``file`` (two joined by ``+``), or ``subject`` and ``trial`` as CMU
    numbers them (``18+19``). A file can also be ``walker:ACTION``, the figure that needs no data. What else a
    row can say is in `Trial`.

    Args:
        path: the table.
        more: cells for the rows whose id, label, condition or file a pattern such as ``*.bvh`` fits; they
            fill those that the table leaves empty, later patterns before earlier ones.

    Raises:
        DataError: it cannot be read, a column is missing, or a column is unknown.
        UsageError: a pattern that fits no row, or a column that there is not.
    """
    more = more or {}
    _check_columns(more)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = list(reader.fieldnames or ())
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read as a table: {cause(error)}") from error
    columns = _columns(path, names)
    trials: list[Trial] = []
    dropped: list[Dropped] = []
    taken: list[str] = []
    seen: dict[str, int] = {}
    fitted: set[str] = set()
    for line, row in enumerate(rows, start=2):
        words = {name: (row.get(column) or "").strip() for name, column in columns.items()}
        fitting = [pattern for pattern in more if _fits(pattern, words)]
        fitted.update(fitting)
        trial = _trial(_filled(words, [more[pattern] for pattern in fitting]), line)
        name = f"{path.name}:{line}"
        if isinstance(trial, str):
            taken.append(name)
            dropped.append(Dropped(what=name, stage="rows", reason="bad-row", detail=trial))
            continue
        if trial.clip_id in seen:
            taken.append(name)
            detail = f"{trial.clip_id} stands on line {seen[trial.clip_id]} already"
            dropped.append(Dropped(what=name, stage="rows", reason="same-clip", detail=detail))
            continue
        seen[trial.clip_id] = line
        taken.append(trial.clip_id)
        trials.append(trial)
    if idle := [pattern for pattern in more if pattern not in fitted]:
        raise UsageError(
            f"rows.{idle[0]!r} fits no row of {path}: neither its id, nor its label, condition or file"
        )
    return ReadMap(taken=tuple(taken), trials=tuple(trials), dropped=tuple(dropped))


def _columns(path: Path, names: Sequence[str]) -> dict[str, str]:
    """The name of each of our columns in this table."""
    columns = {
        name: next(alias for alias in aliases if alias in names)
        for name, aliases in _COLUMNS.items()
        if any(alias in names for alias in aliases)
    }
    missing = [name for name in _NEEDED if name not in columns]
    if missing or not ("file" in columns or {"subject", "trial"} <= set(columns)):
        wanted = ", ".join(missing) or "file, or subject and trial"
        raise DataError(
            f"{path}: the table lacks {wanted}; it has {', '.join(names) or 'no columns'} "
            "(see vidence help making/actpld)"
        )
    if strange := [name for name in names if name not in columns.values() or names.count(name) > 1]:
        known = ", ".join(" or ".join(aliases) for aliases in _COLUMNS.values())
        raise DataError(
            f"{path}: columns that are unknown or there twice: {', '.join(map(repr, strange))}; "
            f"known are {known}"
        )
    return columns


def _check_columns(more: Mapping[str, Cells]) -> None:
    known = set(_COLUMNS) - {"clip_id", "label", "set", "file", "subject", "trial"}
    for pattern, cells in more.items():
        for name in cells:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                columns = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
                raise UsageError(
                    f"rows.{pattern!r} has {name}, which is no column that it can fill; {columns}"
                )


def _fits(pattern: str, words: Mapping[str, str]) -> bool:
    """Whether a pattern matches a row's id, label, condition or one of its files."""
    files = _parts(words.get("file", ""))
    by_number = _numbered(_parts(words.get("subject", "")), words.get("trial", ""))
    own = (words.get("clip_id", ""), words["label"], words.get("condition", ""))
    names = (*own, *files, *(Path(f).name for f in files), *by_number)
    return any(fnmatchcase(name, pattern) for name in names if name)


def _filled(words: Mapping[str, str], more: Sequence[Cells]) -> dict[str, str]:
    """A row with missing cells filled in; parts and options each come from a single place."""
    row = dict(words)
    entries = [set(RecordingPart.__struct_fields__)]
    for cells in reversed(more):
        for names in (*entries, *({name} for name in cells if name not in entries[0])):
            if not any(row.get(name) for name in names):
                row.update({name: str(cells[name]) for name in names if name in cells})
    return row


def _parts(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split("+"))))


def _numbered(subjects: Sequence[str], trial: str) -> tuple[str, ...]:
    """File names in CMU's numbering; empty if these are no numbers."""
    if not all(text.isdigit() for text in (*subjects, trial)):
        return ()
    return tuple(f"{int(s):02d}_{int(trial):02d}" for s in subjects)


def _trial(words: Mapping[str, str], line: int) -> Trial | str:
    """A row as a trial, or what is wrong with it."""
    if empty := [name for name in _NEEDED if not words[name]]:
        return f"{', '.join(empty)} is empty"
    kind = words["set"]
    if kind not in {"single", "social"}:
        return f"the set is {kind!r}; expected single or social"
    files = _parts(words.get("file", ""))
    subjects = tuple(s.lstrip("0") if s.isdigit() else s for s in _parts(words.get("subject", "")))
    trial = words.get("trial", "").lstrip("0")
    if not files and not (subjects and trial):
        return "neither a file, nor a subject and a trial"
    n_actors = 2 if kind == "social" else 1
    for who in filter(None, (files, subjects)):
        if len(who) != n_actors:
            return f"{len(who)} actors in the set {kind}; expected {n_actors}, joined by +"
    if not files and not all(s.isdigit() for s in (*subjects, trial)):
        return f"subject {words['subject']!r} and trial {words['trial']!r} are no numbers"
    try:
        part = _part(words)
        yaw_deg = _number(words, "yaw_deg", 0.0)
        options = _options(words)
        settings = _pairs(words, "settings")
        spec_of(settings)
    except UsageError as error:
        return str(error)
    if options and any(map(is_walker, files)):
        return "the built-in figure takes its options in its name, walker:ACTION?key=value"
    source = "+".join(_short(f) for f in files) or "+".join(_numbered(subjects, trial))
    turned, condition = f"yaw{yaw_deg:g}" if yaw_deg else "", words.get("condition", "")
    name = "-".join(filter(None, (words["label"], source, part.name, turned, condition)))
    return Trial(
        clip_id=words.get("clip_id") or name.replace("/", "_").replace(" ", "_"),
        label=words["label"],
        set="social" if kind == "social" else "single",
        intention=words["intention"],
        group=words["group"],
        files=files,
        subjects=subjects,
        trial=trial,
        description=words.get("description", ""),
        confidence=words.get("confidence", ""),
        line=line,
        take=words.get("take") or _take(words.get("description", ""), trial),
        partners=_parts(words.get("partner", "")),
        part=part,
        yaw_deg=yaw_deg,
        points=words.get("points", ""),
        options=options,
        condition=condition,
        settings=settings,
    )


def _take(description: str, trial: str) -> str:
    """The recording of both halves of a CMU trial, according to its index."""
    half = _HALF.match(description.strip())
    return f"trial {trial}, {half['what'].strip()}" if half and trial else ""


def _part(words: Mapping[str, str]) -> RecordingPart:
    given = {name: words[name] for name in RecordingPart.__struct_fields__ if words.get(name)}
    try:
        return msgspec.convert(given, RecordingPart, strict=False)
    except msgspec.ValidationError as error:
        part = ", ".join(f"{name} {text!r}" for name, text in given.items())
        raise UsageError(f"{part} cannot be read: {error}") from error


def _number(words: Mapping[str, str], name: str, otherwise: float) -> float:
    text = words.get(name, "")
    try:
        value = float(text) if text else otherwise
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise UsageError(f"{name} is {text!r}; expected a number")
    return value


def _options(words: Mapping[str, str]) -> dict[str, str]:
    """Return reader options from own columns and a key=value column."""
    own = {name: words[name] for name in _READER if words.get(name)}
    more = _pairs(words, "options")
    if twice := [key for key in own if key in more]:
        raise UsageError(f"the option {twice[0]} is given twice")
    return own | more


def _pairs(words: Mapping[str, str], column: str) -> dict[str, str]:
    """The ``key=value`` pairs of a cell, separated by ``;``."""
    pairs: dict[str, str] = {}
    for text in filter(None, (part.strip() for part in words.get(column, "").split(";"))):
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals and value):
            raise UsageError(f"{column} hold {text!r}; expected key=value, separated by ;")
        if key in pairs:
            raise UsageError(f"{key} is given twice in {column}")
        pairs[key] = value
    return pairs


def _short(file: str) -> str:
    """A file name without its endings, or a walker's options without punctuation."""
    return _SIGNS.sub("-", file) if is_walker(file) else Path(file).name.split(".")[0]


def motion_files(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """Files named in CMU's way (``13_29.amc``), by subject and trial, best format first.

    Raises:
        DataError: no such folder.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder of motions")
    files: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        name = _NAME.match(path.name)
        if name and path.is_file() and _format_rank(path) < len(_FORMATS):
            files.setdefault((name[1], name[2]), []).append(path)
    for paths in files.values():
        paths.sort(key=lambda p: (_format_rank(p), p.as_posix()))
    return files


def _format_rank(path: Path) -> int:
    name = path.name.lower().removesuffix(".gz")
    return next((rank for rank, suffix in enumerate(_FORMATS) if name.endswith(suffix)), len(_FORMATS))


def files_of(
    trial: Trial, folder: Path, known: Mapping[tuple[str, str], Sequence[Path]]
) -> tuple[str, ...] | str:
    """The files of a trial (or walkers, as the map has them), or which one is missing."""
    if trial.files:
        paths = tuple(f if is_walker(f) else str(folder / f) for f in trial.files)
        absent = [p for p in paths if not is_walker(p) and not Path(p).exists() and ".zip/" not in p]
        return f"{absent[0]} is not there" if absent else paths
    chosen: list[Path] = []
    for subject in trial.subjects:
        options = known.get((subject, trial.trial), ())
        if not options:
            return f"no file of subject {subject}, trial {trial.trial} in {folder}"
        chosen.append(options[0])
    # Partners are read from one format where both are there in it, so that they share a space.
    for rank in range(len(_FORMATS)):
        same = [
            next((p for p in known[s, trial.trial] if _format_rank(p) == rank), None) for s in trial.subjects
        ]
        if all(same):
            return tuple(str(p) for p in same if p is not None)
    return tuple(map(str, chosen))


def with_paths(options: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Reader options with the files they name, found in the folder of motions.

    >>> with_paths({"units": "cm"}, Path("mocap"))
    {'units': 'cm'}
    """
    values = dict(options)
    for name in ("skeleton", "map"):
        if name in values and (folder / values[name]).is_file():
            values[name] = str(folder / values[name])
    return values
