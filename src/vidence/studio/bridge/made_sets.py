"""Files of questions, and sets in the making, as the viewer reads them; damaged lines are named."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from vidence.catalog import create
from vidence.contracts import Benchmark, Loaded
from vidence.errors import StoreError, cause
from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE, Account
from vidence.make.pipeline.material import Draft, Dropped
from vidence.make.pipeline.output import DRAFTS_FILE, ITEMS_FILE
from vidence.records import Record

LineT = TypeVar("LineT", bound=Record)
_FILES: Final = (ACCOUNT_FILE, DRAFTS_FILE, DROPPED_FILE)
_MOST_KEPT: Final = 4
_MOST_PROBLEMS: Final = 50


@dataclass(frozen=True, kw_only=True)
class Lines(Generic[LineT]):
    """The lines of a file that could be read, and what is wrong with others."""

    lines: tuple[LineT, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MadeSet:
    """A folder that ``vidence make`` wrote; without an `account`, `problems` says why."""

    folder: Path
    account: Account | None
    drafts: Lines[Draft]
    dropped: Lines[Dropped]
    problems: tuple[str, ...] = ()

    @property
    def has_items(self) -> bool:
        """Whether questions were written."""
        return (self.folder / ITEMS_FILE).is_file()

    @property
    def reasons(self) -> Mapping[tuple[str, str], int]:
        """How many things were dropped, by stage and reason."""
        return Counter((line.stage, line.reason) for line in self.dropped.lines)


def _lines(path: Path, kind: type[LineT]) -> Lines[LineT]:
    if not path.is_file():
        return Lines()
    decoder, entries, problems = msgspec.json.Decoder(kind), list[LineT](), list[str]()
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            entries.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            problems.append(f"{path.name}:{number}: {error}")
    if len(problems) > _MOST_PROBLEMS:
        problems = [*problems[:_MOST_PROBLEMS], f"and {len(problems) - _MOST_PROBLEMS:,} more lines"]
    return Lines(lines=tuple(entries), problems=tuple(problems))


def made_set(folder: Path) -> MadeSet:
    """A set in the making; it is read again when one of its files changes.

    Raises:
        StoreError: a file cannot be read.
    """
    try:
        return _made(folder, tuple(map(_state, (folder / name for name in _FILES))))
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {cause(error)}") from error


@lru_cache(maxsize=_MOST_KEPT)
def _made(folder: Path, _: tuple[object, ...]) -> MadeSet:
    account, problems = None, list[str]()
    path = folder / ACCOUNT_FILE
    if path.is_file():
        try:
            account = msgspec.json.decode(path.read_bytes(), type=Account)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            problems.append(f"{path.name} cannot be read: {error}")
    else:
        problems.append(f"{path.name} is missing: the making has not ended, or it failed.")
    return MadeSet(
        folder=folder,
        account=account,
        drafts=_lines(folder / DRAFTS_FILE, Draft),
        dropped=_lines(folder / DROPPED_FILE, Dropped),
        problems=tuple(problems),
    )


def questions_of(path: Path) -> Loaded:
    """A file of questions; it is read again when it changes.

    Raises:
        DataError: nothing in it can be used.
    """
    return _loaded(path, _state(path))


@lru_cache(maxsize=_MOST_KEPT)
def _loaded(path: Path, _: tuple[object, ...]) -> Loaded:
    benchmark: Benchmark = create("benchmark", "table")
    return benchmark.load(path, split=benchmark.splits[0])


def _state(path: Path) -> tuple[object, ...]:
    try:
        stat = os.stat(path)
    except OSError:  # an absent file is a state, too
        return (str(path),)
    return str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino
