"""Read which recordings show which action: a table of files, or of trials of CMU."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vidence.errors import DataError
from vidence.make.pipeline.material import Dropped
from vidence.pointlight.figures import is_walker
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
}
_NEEDED = ("label", "set", "intention", "group")
# Where one trial lies in several formats: joints of the recorded skeleton first.
_FORMATS = (".amc", ".c3d", ".bvh")
_SIGNS = re.compile(r"[^\w.]+")
_NAME = re.compile(r"^0*(\d+)_0*(\d+)(?=[._])")


class Trial(Record, omit_defaults=True):
    """One clip to be made: who moves (one file, or two of one session), and what it shows.

    `files` are relative to the folder of motions. `line` is that of the table.
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


@dataclass(frozen=True, kw_only=True)
class ReadMap:
    """The rows of a table: those that can be used, the others, and what to tell the user.

    `taken` names every row, usable or not.
    """

    taken: tuple[str, ...]
    trials: tuple[Trial, ...]
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]


def read_map(path: Path) -> ReadMap:
    """Read a table in CSV, UTF-8.

    Needed are ``label``, ``set`` (or ``kind``: single, social), ``intention``, ``group`` (or
    ``semantic_group``), and who moves: ``file`` (two joined by ``+``), or ``subject`` and ``trial`` as CMU
    numbers them (``18+19``). A file can also be ``walker:ACTION``, the figure that needs no data.

    Raises:
        DataError: it cannot be read, or a column is missing.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            found = list(reader.fieldnames or ())
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read as a table: {error}") from error
    columns = _columns(path, found)
    trials: list[Trial] = []
    dropped: list[Dropped] = []
    taken: list[str] = []
    seen: dict[str, int] = {}
    for line, row in enumerate(rows, start=2):
        words = {name: (row.get(column) or "").strip() for name, column in columns.items()}
        made = _trial(words, line)
        name = f"{path.name}:{line}"
        if isinstance(made, str):
            taken.append(name)
            dropped.append(Dropped(what=name, stage="rows", reason="bad-row", detail=made))
            continue
        if made.clip_id in seen:
            taken.append(name)
            detail = f"{made.clip_id} stands on line {seen[made.clip_id]} already"
            dropped.append(Dropped(what=name, stage="rows", reason="same-clip", detail=detail))
            continue
        seen[made.clip_id] = line
        taken.append(made.clip_id)
        trials.append(made)
    unused = [c for c in found if c not in columns.values()]
    notes = (f"{path.name}: columns that are not used: {', '.join(unused)}",) if unused else ()
    return ReadMap(taken=tuple(taken), trials=tuple(trials), dropped=tuple(dropped), notes=notes)


def _columns(path: Path, found: Sequence[str]) -> dict[str, str]:
    """What each column of ours is called in this table."""
    columns = {
        name: next(alias for alias in aliases if alias in found)
        for name, aliases in _COLUMNS.items()
        if any(alias in found for alias in aliases)
    }
    missing = [name for name in _NEEDED if name not in columns]
    if missing or not ("file" in columns or {"subject", "trial"} <= set(columns)):
        wanted = ", ".join(missing) or "file, or subject and trial"
        raise DataError(
            f"{path}: the table lacks {wanted}; it has {', '.join(found) or 'no columns'} "
            "(see vidence help making/actpld)"
        )
    return columns


def _trial(words: Mapping[str, str], line: int) -> Trial | str:
    """A row as a trial, or what is wrong with it."""
    empty = [name for name in _NEEDED if not words[name]]
    if empty:
        return f"{', '.join(empty)} is empty"
    kind = words["set"]
    if kind not in {"single", "social"}:
        return f"the set is {kind!r}; expected single or social"
    files = tuple(filter(None, (f.strip() for f in words.get("file", "").split("+"))))
    subjects = tuple(filter(None, (s.strip().lstrip("0") for s in words.get("subject", "").split("+"))))
    trial = words.get("trial", "").lstrip("0")
    if not files and not (subjects and trial):
        return "neither a file, nor a subject and a trial"
    who = files or subjects
    if len(who) != (2 if kind == "social" else 1):
        return f"{len(who)} actors in the set {kind}; expected {2 if kind == 'social' else 1}, joined by +"
    if not files and not all(s.isdigit() for s in (*subjects, trial)):
        return f"subject {words['subject']!r} and trial {words['trial']!r} are no numbers"
    source = "+".join(_short(f) for f in files) or "+".join(
        f"{int(s):02d}_{int(trial):02d}" for s in subjects
    )
    return Trial(
        clip_id=words.get("clip_id") or f"{words['label']}-{source}".replace("/", "_").replace(" ", "_"),
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
    )


def _short(file: str) -> str:
    """The name of a file without its endings; of a walker all that it says, without signs."""
    return _SIGNS.sub("-", file) if is_walker(file) else Path(file).name.split(".")[0]


def motion_files(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """The files that are named as CMU names them (``13_29.amc``), by subject and trial, best format first.

    Raises:
        DataError: no such folder.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder of motions")
    found: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        name = _NAME.match(path.name)
        if name and path.is_file() and _format_rank(path) < len(_FORMATS):
            found.setdefault((name[1], name[2]), []).append(path)
    for paths in found.values():
        paths.sort(key=lambda p: (_format_rank(p), p.as_posix()))
    return found


def _format_rank(path: Path) -> int:
    name = path.name.lower().removesuffix(".gz")
    return next((rank for rank, suffix in enumerate(_FORMATS) if name.endswith(suffix)), len(_FORMATS))


def files_of(
    trial: Trial, folder: Path, known: Mapping[tuple[str, str], Sequence[Path]]
) -> tuple[str, ...] | str:
    """The files of a trial (or walkers, as the map has them), or which one is not there."""
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
            next((p for p in known[subject, trial.trial] if _format_rank(p) == rank), None)
            for subject in trial.subjects
        ]
        if all(same):
            return tuple(str(p) for p in same if p is not None)
    return tuple(map(str, chosen))
