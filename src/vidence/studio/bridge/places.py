"""Find runs, made datasets and question files below the paths given to the viewer."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, TypeAlias

from vidence.engine.store import PLAN_NAME, RUN_FILE
from vidence.errors import cause
from vidence.explain.errors.packet import KEY_FILE, PACKET_FILE
from vidence.make.pipeline.ledger import ACCOUNT_FILE
from vidence.make.pipeline.output import DRAFTS_FILE
from vidence.records import Record
from vidence.report.run_list import run_folders

Kind: TypeAlias = Literal["run", "made", "items", "labels", "nothing"]
_ENDINGS: Final = (".jsonl", ".ndjson", ".json", ".csv", ".parquet", ".gz")
_RUN_FILES: Final = (PLAN_NAME, RUN_FILE)
_PACKET_FILES: Final = (KEY_FILE, PACKET_FILE)
_MADE_FILES: Final = (ACCOUNT_FILE, DRAFTS_FILE)


class ViewablePath(Record):
    """One thing that can be looked at; of ``nothing`` `problem` says why it cannot."""

    id: str
    """Short, and the same as long as the path is."""
    path: str
    kind: Kind
    problem: str = ""

    @property
    def folder(self) -> Path:
        """The path."""
        return Path(self.path)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.folder.name or self.path


def place_id(path: Path) -> str:
    """Return a short identifier of a path for use in URLs; it does not reveal the path."""
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:16]


def find_places(paths: Sequence[Path]) -> tuple[ViewablePath, ...]:
    """Everything under the paths, each thing once; what is nothing of ours is named with the reason.

    Args:
        paths: run folders, folders of them, sets that ``vidence make`` made, files of questions.
    """
    places: dict[str, ViewablePath] = {}
    for path in paths:
        for place in _under(path):
            places.setdefault(place.id, place)
    return tuple(places.values())


def _under(path: Path) -> Iterator[ViewablePath]:
    if not path.exists():
        yield _nothing(path, "there is nothing with this name")
    elif path.is_file():
        is_readable = path.suffix.lower() in _ENDINGS
        why = f"is no file of questions; expected one that ends with {', '.join(_ENDINGS)}"
        if path.suffix == ".toml":
            why = "is a configuration; `vidence studio open` shows the boards of the set it makes"
        yield _place(path, "items") if is_readable else _nothing(path, why)
    elif (kind := _kind(path)) != "nothing":
        yield _place(path, kind)
    else:
        yield from _inside(path)


def _inside(folder: Path) -> Iterator[ViewablePath]:
    """What the folders in a folder are; links and hidden ones are passed over."""
    try:
        folders = [inner for inner in _folders(folder) if inner.name[0] != "."]
    except OSError as error:
        yield _nothing(folder, f"cannot be listed: {cause(error)}")
        return
    if not folders:
        yield _nothing(folder, "holds no folder; `vidence run` makes runs, `vidence make` sets of questions")
    for inner in folders:
        kind = _kind(inner)
        if kind != "nothing":
            yield _place(inner, kind)
            continue
        deeper = [_place(run, "run") for run in run_folders(inner)]
        places = list[ViewablePath]()
        with suppress(OSError):  # then `_nothing` says what is missing in it
            places = [_place(path, "made") for path in _folders(inner) if _kind(path) == "made"]
        yield from deeper
        yield from places
        if not deeper and not places:
            yield _nothing(
                inner, f"is no run ({' or '.join(_RUN_FILES)} is missing) and no set that was made"
            )


def _folders(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return sorted(Path(e.path) for e in entries if e.is_dir(follow_symlinks=False))


def _kind(folder: Path) -> Kind:
    if any((folder / name).is_file() for name in _RUN_FILES):
        return "run"
    if all((folder / name).is_file() for name in _PACKET_FILES):
        return "labels"
    return "made" if any((folder / name).is_file() for name in _MADE_FILES) else "nothing"


def _place(path: Path, kind: Kind) -> ViewablePath:
    return ViewablePath(id=place_id(path), path=str(path), kind=kind)


def _nothing(path: Path, problem: str) -> ViewablePath:
    return ViewablePath(id=place_id(path), path=str(path), kind="nothing", problem=problem)
