"""A user's own questions: JSON lines, a JSON list, or CSV; plain or gzipped.

One line is one item of the format ``vidence-item/1`` (docs/item-format.md). Paths of media start
from the folder of the file.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from vidence.ask.benchmarks import _csv, _decode, question_files
from vidence.ask.benchmarks._gather import Gathering
from vidence.ask.benchmarks.checks import Fault, lettered
from vidence.ask.benchmarks.question_files import QuestionFile
from vidence.contracts import AskingRules, Benchmark, Loaded
from vidence.errors import DataError
from vidence.records import Item

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv")
_EXPECTED = "a file of questions ending in .jsonl, .json or .csv, or one of these with .gz"


class Table:
    """The questions of one file in the item format."""

    name = "table"
    version = 1
    citation = "none: the user's own questions"
    licence = "the user's own; each item may state one in its provenance"
    terms = "Whatever the owner of the questions and videos allows; each item may state a licence."
    splits: tuple[str, ...] = ("all",)
    protocols: Mapping[str, AskingRules] = MappingProxyType({"default": AskingRules()})

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read the file `data`, or the only such file in the folder `data`.

        Bad lines are left out and listed in `problems` as ``file:line: field: reason``.

        Raises:
            DataError: nothing usable there, or with `strict` a single bad line.
            UsageError: a split other than ``all``.
        """
        question_files.check_split(self.name, split, self.splits)
        file = question_files.read(_only_table(data))
        gathering = Gathering(file, strict=strict)
        for line, found in _rows(file):
            gathering.add(line, lettered(found) if isinstance(found, Item) else found)
        return gathering.loaded(media_root=file.path.parent)


def create() -> Benchmark:
    """The benchmark ``table``."""
    return Table()


def _only_table(data: Path) -> Path:
    if not data.is_dir():
        return question_files.locate(data, (), what=_EXPECTED)
    tables = sorted(path for path in data.iterdir() if _kind(path) in _SUFFIXES and path.is_file())
    if len(tables) != 1:
        names = ", ".join(path.name for path in tables) or "none"
        raise DataError(
            f"the folder {data} holds {len(tables)} such files ({names}); expected the path of {_EXPECTED}"
        )
    return tables[0]


def _kind(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _rows(file: QuestionFile) -> Iterator[tuple[str, Item | Fault]]:
    if _kind(file.path) == ".csv":
        return _csv.rows(file)
    first = file.content.lstrip()[:1]
    if first not in (b"[", b"{") and _kind(file.path) not in _SUFFIXES:
        raise DataError(
            f"{file.path} is neither JSON nor CSV by its name or first letter; expected {_EXPECTED}"
        )
    return ((line, _decode.item(text)) for line, text in question_files.objects(file))
