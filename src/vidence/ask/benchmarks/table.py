"""A user's own questions: JSON lines, a JSON list, or CSV; plain or gzipped.

One line is one item of the format ``vidence-item/1`` (docs/item-format.md). Paths of media start
from the folder of the file.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from vidence.ask import files
from vidence.ask.benchmarks.question_files import Gathering, check_split, lettered, locate
from vidence.ask.files import DataFile, FieldError, decoded, ending_of, explained, usable
from vidence.contracts import AskingRules, Benchmark, Loaded
from vidence.errors import DataError
from vidence.records import Item

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv")
REQUIRED = ("item_id", "question", "answer")
TEXTS = (*REQUIRED, "benchmark", "source_id", "answer_kind", "rationale")
LISTS = ("choices", "hints", "knowledge")
NESTED = ("evidence", "provenance", "tags")
MEDIA = ("media", "video", "media_kind", "start_s", "end_s")
KNOWN = (*TEXTS, *LISTS, *NESTED, *MEDIA)

_DECODER = msgspec.json.Decoder(Item)
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
        check_split(self.name, split, self.splits)
        file = files.read(_only_table(data))
        gathering = Gathering(file, strict=strict)
        if file.ending == ".csv":
            for line, row in files.csv_rows(
                file, needed=REQUIRED, known=KNOWN, more=_MORE, delimiters=",;\t"
            ):
                with gathering.row(line):
                    gathering.keep(lettered(_of_row(usable(row))))
        else:
            for line, text in _objects(file):
                with gathering.row(line):
                    gathering.keep(lettered(decoded(text, _DECODER)))
        return gathering.loaded(media_root=file.path.parent)


def create() -> Benchmark:
    """The benchmark ``table``."""
    return Table()


def _only_table(data: Path) -> Path:
    if not data.is_dir():
        return locate(data, (), what=_EXPECTED)
    tables = sorted(path for path in data.iterdir() if ending_of(path) in _SUFFIXES and path.is_file())
    if len(tables) != 1:
        names = ", ".join(path.name for path in tables) or "none"
        raise DataError(
            f"the folder {data} holds {len(tables)} such files ({names}); expected the path of {_EXPECTED}"
        )
    return tables[0]


def _objects(file: DataFile) -> Iterator[tuple[str, bytes]]:
    if file.content.lstrip()[:1] not in (b"[", b"{") and file.ending not in _SUFFIXES:
        raise DataError(
            f"{file.path} is neither JSON nor CSV by its name or first letter; expected {_EXPECTED}"
        )
    return files.objects(file)


# --------------------------------------------------------------------------- rows of a CSV file


def _of_row(cells: Row) -> Item:
    """The item of one row of a CSV file.

    Raises:
        FieldError: what is wrong with it.
    """
    row = {name: cell for name, cell in cells.items() if cell}
    fields: Fields = {name: row.get(name, "") for name in TEXTS if name in row or name in REQUIRED}
    fields |= {name: _parts(name, row[name]) for name in LISTS if name in row}
    fields |= {name: _json(name, row[name]) for name in NESTED if name in row}
    try:
        return msgspec.convert(fields | _choices(row) | _tags(row) | _media(row), Item)
    except msgspec.ValidationError as error:
        raise explained(error) from error


def _json(name: str, cell: str) -> object:
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FieldError(name, f"{error}; a cell that starts with [ or {{ is read as JSON") from error


def _parts(name: str, cell: str) -> object:
    if not cell.startswith("["):
        return [part.strip() for part in cell.split("|")]
    found = _json(name, cell)
    return msgspec.json.decode(files.numbers_as_texts(cell.encode())) if name == "choices" else found


def _choices(row: Row) -> Fields:
    named = sorted(name for name in row if _CHOICE.fullmatch(name))
    if named and "choices" in row:
        raise FieldError("choices", f"given beside {named[0]}; expected one of the two ways")
    for place, name in enumerate(named):
        if name != (expected := f"choice_{chr(ord('a') + place)}"):
            raise FieldError(expected, f"empty, and {named[-1]} is not; expected choices without a gap")
    return {"choices": [row[name] for name in named]} if named else {}


def _tags(row: Row) -> Fields:
    tags = {match["name"]: cell for name, cell in row.items() if (match := _TAG.fullmatch(name))}
    if tags and "tags" in row:
        raise FieldError("tags", "given beside columns for single tags; expected one of the two ways")
    return {"tags": tags} if tags else {}


def _media(row: Row) -> Fields:
    if "media" in row and "video" in row:
        raise FieldError("video", "given beside media; expected one of the two")
    cell = row.get("media", row.get("video", ""))
    paths = _parts("media", cell) if cell else []
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        if beside := [name for name in ("media_kind", "start_s", "end_s") if name in row]:
            raise FieldError(beside[0], "given beside media in JSON; expected it inside the JSON")
        return {"media": paths}
    span: Fields = {"kind": row["media_kind"]} if "media_kind" in row else {}
    for name in ("start_s", "end_s"):
        if name not in row:
            continue
        try:
            span[name] = float(row[name])
        except ValueError as error:
            reason = f"{row[name]!r} found; expected seconds, for example 12.5"
            raise FieldError(name, reason) from error
        if len(paths) != 1:
            reason = f"a span for {len(paths)} media; expected one medium, or spans in a JSON list"
            raise FieldError("start_s", reason)
    return {"media": [{"path": path, **span} for path in paths]}
