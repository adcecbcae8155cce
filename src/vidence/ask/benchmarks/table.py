"""Your own questions: JSON lines, a JSON list, CSV or Parquet; or any table with ``map=``.

Each line is an item of the format ``vidence-item/1`` (docs/item-format.md); a mapping assigns the columns of
other layouts to fields. Media paths are relative to the file's folder.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import msgspec
from msgspec import Meta

from vidence import catalog
from vidence.ask import files
from vidence.ask.benchmarks.question_files import QuestionReader, check_split, lettered, locate
from vidence.ask.files import DataFile, FieldError, decoded, ending_of, explained, usable
from vidence.ask.mapping.columns import listed, seconds_of
from vidence.ask.mapping.items import ItemReader
from vidence.ask.mapping.mapping import WAYS, ColumnMap, folder_presets, near_presets, presets, read_map
from vidence.ask.mapping.rows import (
    ALL,
    NOT_ROWS,
    TEXT_ENDINGS,
    find_files,
    levels_of,
    read_rows,
    rows_in,
    tables_in,
)
from vidence.ask.mapping.sheets import Columns, parquet_questions
from vidence.contracts import AskingRules, Benchmark, Loaded
from vidence.errors import DataError, UsageError
from vidence.records import Item, Record
from vidence.text import quoted

_PARQUET = ".parquet"
_LINES = (".jsonl", ".ndjson")
_SUFFIXES = (*_LINES, ".json", ".csv")
REQUIRED = ("item_id", "question")
TEXTS = (*REQUIRED, "answer", "benchmark", "source_id", "answer_kind", "rationale")
LISTS = ("choices", "hints", "knowledge", "steps")
NESTED = ("evidence", "provenance", "tags")
MEDIA = ("media", "video", "media_kind", "start_s", "end_s")
KNOWN = (*TEXTS, *LISTS, *NESTED, *MEDIA)

_DECODER = msgspec.json.Decoder(Item)
# A table of the Hugging Face hub: its columns are fields, of which tags and provenance are JSON texts.
_COLUMNS = Columns(
    names={name: (name,) for name in (*TEXTS, *LISTS, *NESTED, "media")},
    needed=tuple((name,) for name in REQUIRED),
    nested=frozenset(NESTED),
)
_CHOICE = re.compile(r"choice_[a-z]")
_TAG = re.compile(r"tags?[_.](?P<name>.+)")
_MORE = re.compile(rf"{_CHOICE.pattern}|tags?[_.].+")

Row = Mapping[str, str]
Fields = dict[str, object]
_EXPECTED = "a file of questions ending in .jsonl, .json or .csv, or one of these with .gz"
_SAY = (
    f"Say which is which: --map {WAYS} (more in a file: --map FILE.toml), or convert the file once with "
    "`vidence items convert`"
)
_MOST_TOLD = 4  # presets, or tables of a folder
_TRIED = 20  # rows of a file, to see whether a preset reads it


class Settings(Record):
    """Options of ``table``; ``--map`` sets it."""

    map: Annotated[
        str, Meta(description="how a file in another layout is read: a preset, a TOML file, or pairs")
    ] = ""


class Table:
    """The questions of a file in the item format, or in a layout that a mapping describes.

    Args:
        mapping: assigns columns to fields; None: the item format.
    """

    name = "table"
    version = 1
    citation = "none: the user's own questions"
    licence = "the user's own; each item may state one in its provenance"
    terms = "Whatever the owner of the questions and videos allows; each item may state a licence."
    splits: tuple[str, ...] = ("all",)
    protocols: Mapping[str, AskingRules] = MappingProxyType({"default": AskingRules()})

    def __init__(self, mapping: ColumnMap | None = None) -> None:
        self._mapping = mapping

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read the file `data`, or the only such file in the folder `data`.

        Bad lines are left out and listed in `problems` as ``file:line: field: reason``. With a mapping, file
        names determine the splits of a folder.

        Raises:
            DataError: nothing usable, or with `strict` a bad line.
            UsageError: the split does not exist.
        """
        if self._mapping is not None:
            return mapped(data, self._mapping, split=split, strict=strict)
        check_split(self.name, split, self.splits)
        try:
            return in_item_format(_only_table(data), strict=strict)
        except DataError as error:
            if advice := _way_out(data):
                raise DataError(
                    f"{data} is in another layout. {advice}\nAs the item format: {error}"
                ) from error
            raise


def create(settings: Settings | None = None) -> Benchmark:
    """Create the benchmark ``table``.

    Raises:
        UsageError: the mapping is invalid.
    """
    return Table(read_map(settings.map) if settings is not None and settings.map else None)


class _Submitted(Item):
    """An item as `vidence items review` accepts it, with author and working time."""

    author: str = ""
    minutes: float | None = None


def _of_text(text: bytes) -> Item:
    """Parse an item, ignoring review fields."""
    if b'"author"' not in text and b'"minutes"' not in text:
        return decoded(text, _DECODER)
    submitted = decoded(text, msgspec.json.Decoder(_Submitted))
    return Item(**{name: getattr(submitted, name) for name in Item.__struct_fields__})


def in_item_format(path: Path, *, strict: bool) -> Loaded:
    """Read the questions of a file in the item format."""
    is_parquet = path.suffix == _PARQUET
    file, rows = parquet_questions(path, _COLUMNS) if is_parquet else (files.read(path), [])
    gathering = QuestionReader(file, strict=strict)
    for line, text in rows:
        with gathering.row(line):
            gathering.keep(lettered(decoded(text, _DECODER)))
    if is_parquet:
        return gathering.loaded(media_root=path.parent)
    if file.ending == ".csv":
        for line, row in files.csv_rows(file, needed=REQUIRED, known=KNOWN, more=_MORE, delimiters=",;\t"):
            with gathering.row(line):
                gathering.keep(lettered(_of_row(usable(row))))
    else:
        for line, text in _objects(file):
            with gathering.row(line):
                gathering.keep(lettered(_of_text(text)))
    return gathering.loaded(media_root=path.parent)


def mapped(data: Path, mapping: ColumnMap, *, split: str, strict: bool) -> Loaded:
    """Read the questions of files in another layout."""
    paths = find_files(data, mapping.files, split=split)
    reader = ItemReader(mapping, folder=paths[0].parent)
    tables = [
        read_rows(path, levels=mapping.levels, only=mapping.used, is_log=mapping.is_log) for path in paths
    ]
    gathering = QuestionReader(
        *(table.file for table in tables), strict=strict, format_hint="see which columns --map names"
    )
    for table in tables:
        for line, row in table.lines:
            inner: list[Mapping[str, object]] = []
            with gathering.row(line, file=table.file):
                inner = reader.inner(usable(row))
            for number, entry in enumerate(inner):
                with gathering.row(f"{line}/{number}" if mapping.each else line, file=table.file):
                    if reader.wants(fields := reader.row(entry)):
                        gathering.keep(lettered(reader.item(fields)))
    loaded = gathering.loaded(media_root=data if data.is_dir() else data.parent)
    parts = (loaded.content_hash, mapping.digest, *(file.content_hash for file in reader.joined))
    return replace(loaded, content_hash=hashlib.sha256(" ".join(parts).encode()).hexdigest())


def _way_out(data: Path) -> str:
    """Describe data in another layout: its columns, presets that fit, and the syntax of mappings."""
    try:
        folder = folder_presets(data) if data.is_dir() else {}
        if items := [name for name, path in folder.items() if _reads(name, path, folder=data)]:
            return f"It is read with {_flags(items, data)}"
        path = next(iter(find_files(data, (), split=ALL)))
        n_levels, row = _first_row(path)
    except (DataError, UsageError):
        return _one_of_tables(data)
    if row is None or "item_id" in row:
        return ""
    if own := _own_of(path):
        return (
            f"It is a file of the benchmark {own}: `vidence run {own} --data {quoted(path)}`, "
            f"`vidence items describe {own} --data {quoted(path)}`"
        )
    near = near_presets(row, name=path.name.removesuffix(".gz"), n_levels=n_levels)
    if fitting := [name for name in near if _reads(name, path, folder=path.parent)]:
        return f"Its columns are {listed(row)}; it is read with {_flags(fitting, path)}"
    return f"Its columns are {listed(row)}. {_SAY}"


def _one_of_tables(data: Path) -> str:
    """Return the columns of a folder's first tables if it contains several; empty otherwise."""
    messages: list[str] = []
    for path in (tables := tables_in(data))[:_MOST_TOLD]:
        with suppress(DataError, UsageError):
            if "item_id" in (row := _first_row(path)[1] or {}):
                return ""
            messages += [f"{path.relative_to(data)} ({listed(row)})"] if row else []
    return (
        f"Name one of its {len(tables):,} tables, such as {'; '.join(messages)}. {_SAY}" if messages else ""
    )


def _reads(preset: str, path: Path, *, folder: Path) -> bool:
    """Whether a preset can read one of a file's first rows; matching columns alone can mislead."""
    mapping = presets()[preset]
    with suppress(DataError, UsageError):
        reader = ItemReader(mapping, folder=folder)
        for _, row in islice(read_rows(path, levels=mapping.levels, is_log=mapping.is_log).lines, _TRIED):
            with suppress(FieldError):
                for entry in reader.inner(usable(row)):
                    if reader.wants(fields := reader.row(entry)):
                        reader.item(fields)
                        return True
    return False


def _own_of(path: Path, layouts: Sequence[str] = ()) -> str:
    """Return the benchmark whose loader reads every line of a file in one split; empty if none does.

    A preset that fits the first line may leave out other kinds of questions. Given presets, return the
    benchmark with one of these layouts that leaves out the fewest lines.
    """
    entries: list[tuple[int, list[int], str]] = []
    for name in catalog.ready("benchmark"):
        benchmark: Benchmark = catalog.create("benchmark", name)
        fitting = [
            place for place, layout in enumerate(layouts) if layout in getattr(benchmark, "layouts", ())
        ]
        is_own = not layouts and name != "table" and not hasattr(benchmark, "layouts")
        for split in benchmark.splits if is_own else benchmark.splits[: len(fitting[:1])]:
            with suppress(DataError, UsageError, OSError):
                n_left_out = len(benchmark.load(path, split=split).problems)
                if layouts or not n_left_out:
                    entries.append((n_left_out, fitting, name))
    return min(entries)[-1] if entries else ""


def _flags(presets: Sequence[str], data: Path) -> str:
    """Return the presets that read a file, and how to run it as the benchmark with that layout."""
    named = _own_of(data, presets)
    way = f"; `vidence run {named} --data {quoted(data)}` asks it as its paper does" if named else ""
    return " or ".join(f"--map {name}" for name in presets[:_MOST_TOLD]) + way


def _first_row(path: Path) -> tuple[int, Mapping[str, object] | None]:
    """Return the number of keys around a file's rows, and its first row; None if it is empty."""
    if ending_of(path) in TEXT_ENDINGS:
        file = files.read(path)
        return levels_of(file) or (0, rows_in(file).first)
    return 0, read_rows(path).first


def _only_table(data: Path) -> Path:
    if not data.is_dir():
        return locate(data, (), what=_EXPECTED)
    paths = (path for path in data.iterdir() if ending_of(path) in _SUFFIXES and path.name not in NOT_ROWS)
    tables = sorted(filter(Path.is_file, paths))
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
    """Return the item of a CSV row.

    Raises:
        FieldError: the row is invalid.
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
    value = _json(name, cell)
    return msgspec.json.decode(files.numbers_as_texts(cell.encode())) if name == "choices" else value


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
        if names := [name for name in ("media_kind", "start_s", "end_s") if name in row]:
            raise FieldError(names[0], "given beside media in JSON; expected it inside the JSON")
        return {"media": paths}
    span: Fields = {"kind": row["media_kind"]} if "media_kind" in row else {}
    for name in ("start_s", "end_s"):
        if name not in row:
            continue
        span[name] = seconds_of(row[name], name)
        if len(paths) != 1:
            reason = f"a span for {len(paths)} media; expected one medium, or spans in a JSON list"
            raise FieldError("start_s", reason)
    return {"media": [{"path": path, **span} for path in paths]}
