"""A user's own questions: JSON lines, a JSON list, or CSV; plain or gzipped.

One line is one item of the format ``vidence-item/1`` (docs/item-format.md). Paths of media start
from the folder of the file.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from vidence.ask.benchmarks import question_files
from vidence.ask.benchmarks.question_files import Fault, Gathering, QuestionFile, explained, lettered
from vidence.contracts import AskingRules, Benchmark, Loaded
from vidence.errors import DataError
from vidence.records import Item

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv")
REQUIRED = ("item_id", "question", "answer")
TEXTS = (*REQUIRED, "benchmark", "answer_kind", "rationale")
LISTS = ("choices", "hints", "knowledge")
NESTED = ("evidence", "provenance", "tags")
MEDIA = ("media", "video", "media_kind", "start_s", "end_s")
KNOWN = (*TEXTS, *LISTS, *NESTED, *MEDIA)

_CHOICE = re.compile(r"choice_[a-z]")
_TAG = re.compile(r"tags?[_.](?P<name>.+)")
_MORE = re.compile(rf"{_CHOICE.pattern}|tags?[_.].+")

Row = Mapping[str, str]
Fields = dict[str, object]
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
        rows = question_files.csv_rows(file, needed=REQUIRED, known=KNOWN, more=_MORE, delimiters=",;\t")
        return ((line, row if isinstance(row, Fault) else _of_row(row)) for line, row in rows)
    first = file.content.lstrip()[:1]
    if first not in (b"[", b"{") and _kind(file.path) not in _SUFFIXES:
        raise DataError(
            f"{file.path} is neither JSON nor CSV by its name or first letter; expected {_EXPECTED}"
        )
    return ((line, question_files.item(text)) for line, text in question_files.objects(file))


# --------------------------------------------------------------------------- rows of a CSV file


def _of_row(cells: Row) -> Item | Fault:
    """The item of one row of a CSV file, or what is wrong with it."""
    row = {name: cell for name, cell in cells.items() if cell}
    fields: Fields = {name: row[name] for name in TEXTS if name in row}
    for name in REQUIRED:
        fields.setdefault(name, "")
    for part in (_lists, _nested, _choices, _tags, _media):
        read = part(row)
        if isinstance(read, Fault):
            return read
        fields.update(read)
    try:
        return msgspec.convert(fields, Item)
    except msgspec.ValidationError as error:
        return explained(error)


def _json(name: str, cell: str) -> object:
    try:
        return msgspec.json.decode(cell)
    except msgspec.DecodeError as error:
        return Fault(name, f"{error}; a cell that starts with [ or {{ is read as JSON")


def _parts(name: str, cell: str) -> object:
    if cell.startswith("["):
        found = _json(name, cell)
        is_texts = name != "choices" or isinstance(found, Fault)
        return found if is_texts else msgspec.json.decode(question_files.numbers_as_texts(cell.encode()))
    return [part.strip() for part in cell.split("|")]


def _lists(row: Row) -> Fields | Fault:
    return _all_good({name: _parts(name, row[name]) for name in LISTS if name in row})


def _nested(row: Row) -> Fields | Fault:
    return _all_good({name: _json(name, row[name]) for name in NESTED if name in row})


def _all_good(fields: Fields) -> Fields | Fault:
    return next((value for value in fields.values() if isinstance(value, Fault)), fields)


def _choices(row: Row) -> Fields | Fault:
    named = sorted(name for name in row if _CHOICE.fullmatch(name))
    if not named:
        return {}
    if "choices" in row:
        return Fault("choices", f"given beside {named[0]}; expected one of the two ways")
    expected = [f"choice_{chr(ord('a') + i)}" for i in range(len(named))]
    if named != expected:
        empty = next(name for name in expected if name not in named)
        return Fault(empty, f"empty, and {named[-1]} is not; expected choices without a gap")
    return {"choices": [row[name] for name in named]}


def _tags(row: Row) -> Fields | Fault:
    tags = {match["name"]: cell for name, cell in row.items() if (match := _TAG.fullmatch(name))}
    if tags and "tags" in row:
        return Fault("tags", "given beside columns for single tags; expected one of the two ways")
    return {"tags": tags} if tags else {}


def _media(row: Row) -> Fields | Fault:
    if "media" in row and "video" in row:
        return Fault("video", "given beside media; expected one of the two")
    cell = row.get("media", row.get("video", ""))
    paths = _parts("media", cell) if cell else []
    if isinstance(paths, Fault):
        return paths
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        return _whole_media(row, paths)
    span: Fields = {"kind": row["media_kind"]} if "media_kind" in row else {}
    for name in ("start_s", "end_s"):
        if name in row:
            try:
                span[name] = float(row[name])
            except ValueError:
                return Fault(name, f"{row[name]!r} found; expected seconds, for example 12.5")
    if ("start_s" in span or "end_s" in span) and len(paths) != 1:
        return Fault(
            "start_s", f"a span for {len(paths)} media; expected one medium, or spans in a JSON list"
        )
    return {"media": [{"path": path, **span} for path in paths]}


def _whole_media(row: Row, media: object) -> Fields | Fault:
    beside = [name for name in ("media_kind", "start_s", "end_s") if name in row]
    if beside:
        return Fault(beside[0], "given beside media in JSON; expected it inside the JSON")
    return {"media": media}
