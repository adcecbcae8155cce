"""Files of questions, and sets in the making, as the viewer reads them; damaged lines are named."""

import os
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, Generic, TypeVar

import msgspec

from vidence.catalog import create
from vidence.contracts import Benchmark, Loaded
from vidence.errors import StoreError
from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE, Account
from vidence.make.pipeline.material import Draft, Dropped
from vidence.make.pipeline.output import DRAFTS_FILE, ITEMS_FILE
from vidence.records import Record

LineT = TypeVar("LineT", bound=Record)
_MOST_FILES: Final = 4
_MOST_PROBLEMS: Final = 50


@dataclass(frozen=True, kw_only=True)
class Lines(Generic[LineT]):
    """The lines of a file that could be read, and what is wrong with others."""

    lines: tuple[LineT, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MadeSet:
    """A folder that ``vidence make`` wrote; without an `account` it is said in `problems` why."""

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
        return Counter((one.stage, one.reason) for one in self.dropped.lines)


def _lines(path: Path, kind: type[LineT]) -> Lines[LineT]:
    if not path.is_file():
        return Lines()
    decoder, found, problems = msgspec.json.Decoder(kind), list[LineT](), list[str]()
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            problems.append(f"{path.name}:{number}: {error}")
    if len(problems) > _MOST_PROBLEMS:
        problems = [*problems[:_MOST_PROBLEMS], f"and {len(problems) - _MOST_PROBLEMS:,} more lines"]
    return Lines(lines=tuple(found), problems=tuple(problems))


def _made(folder: Path) -> MadeSet:
    account, problems = None, list[str]()
    path = folder / ACCOUNT_FILE
    if path.is_file():
        try:
            account = msgspec.json.decode(path.read_bytes(), type=Account)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            problems.append(f"{path.name} cannot be read: {error}")
    else:
        problems.append(f"{path.name} is not there: the making has not ended, or went wrong.")
    return MadeSet(
        folder=folder,
        account=account,
        drafts=_lines(folder / DRAFTS_FILE, Draft),
        dropped=_lines(folder / DROPPED_FILE, Dropped),
        problems=tuple(problems),
    )


def _loaded(path: Path) -> Loaded:
    benchmark: Benchmark = create("benchmark", "table")
    return benchmark.load(path, split=benchmark.splits[0])


class Shelf:
    """Keeps the last sets and files that were read, as long as they do not change."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[tuple[object, ...], MadeSet | Loaded] = OrderedDict()

    def made(self, folder: Path) -> MadeSet:
        """A set in the making.

        Raises:
            StoreError: a file cannot be read.
        """
        names = (ACCOUNT_FILE, DRAFTS_FILE, DROPPED_FILE)
        key = ("made", *(_state(folder / name) for name in names))
        with self._lock:
            found = self._kept.get(key)
        if not isinstance(found, MadeSet):
            try:
                found = _made(folder)
            except OSError as error:
                raise StoreError(f"{folder} cannot be read: {error.strerror}") from error
            self._keep(key, found)
        return found

    def questions(self, path: Path) -> Loaded:
        """A file of questions.

        Raises:
            DataError: nothing in it can be used.
        """
        key = ("questions", _state(path))
        with self._lock:
            found = self._kept.get(key)
        if not isinstance(found, Loaded):
            found = _loaded(path)
            self._keep(key, found)
        return found

    def _keep(self, key: tuple[object, ...], found: MadeSet | Loaded) -> None:
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > _MOST_FILES:
                self._kept.popitem(last=False)


def _state(path: Path) -> tuple[object, ...]:
    try:
        found = os.stat(path)
    except OSError:  # an absent file is a state, too
        return (str(path),)
    return str(path), found.st_size, found.st_mtime_ns, found.st_ino
