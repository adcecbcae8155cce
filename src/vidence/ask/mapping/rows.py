"""Foreign files as rows: JSON in any shape, CSV, TSV, Parquet, Arrow, Excel, logs; and folders."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vidence.ask import files
from vidence.ask.files import DataFile, FieldError, ending_of
from vidence.ask.mapping import sheets
from vidence.ask.mapping.columns import Row
from vidence.errors import DataError, UsageError

TEXT_ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
ENDINGS = (*TEXT_ENDINGS, ".parquet", ".arrow", ".xlsx", ".eval")
_EXPECTED = f"a file that ends in {', '.join(ENDINGS)} (text also with .gz), or a folder of them"
_DECODER = msgspec.json.Decoder(dict[str, object])
_SPLIT = re.compile(r"(?:^|[-_.])(train|training|validation|valid|val|dev|test|testing)(?=$|[-_.])")
_SPLITS = {
    "training": "train",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "testing": "test",
}
_SHARD = re.compile(r"-\d{5}(?:-of-\d{5})?$")
NOT_ROWS = frozenset(
    {
        "dataset_info.json",
        "state.json",
        "dataset_dict.json",
        "dataset_infos.json",
        "config.json",
        "croissant.json",
    }
)
"""Files in a data set that are not tables."""
_MOST_DEEP = 4
ALL = "all"

Line = tuple[str, "Row | FieldError"]


@dataclass(frozen=True)
class Table:
    """The rows of a file, parsed again on each iteration and never all held in memory.

    Each row has three columns besides: ``@file`` (the name of the file without its ending), ``@folder`` (the
    name of the folder it lies in) and ``@row`` (its number in the file, from 0).
    """

    file: DataFile
    read: Callable[[], Iterable[Line]]
    columns: tuple[str, ...] = ()
    """All of the file, where only some were read."""

    @property
    def lines(self) -> Iterator[Line]:
        """Yield each row with its place, or the error there."""
        name = self.file.path.name.removesuffix(".gz")
        own: dict[str, object] = {"@file": Path(name).stem, "@folder": self.file.path.parent.name}
        own |= {"@columns": self.columns} if self.columns else {}
        for number, (place, row) in enumerate(self.read()):
            yield place, row if isinstance(row, FieldError) else {**row, **own, "@row": number}

    @property
    def first(self) -> Row | None:
        """Return the first readable row."""
        return next((row for _, row in self.lines if not isinstance(row, FieldError)), None)


def read_rows(
    path: Path,
    *,
    levels: Sequence[str] = (),
    only: frozenset[str] | None = None,
    is_log: bool = False,
    what: str = "questions",
) -> Table:
    """Return all rows of a file.

    Args:
        path: the file.
        levels: names for the keys of objects around the rows of a JSON file, from the outermost; each key
            becomes a value of that column.
        only: columns that are needed; tables in columns leave others out.
        is_log: whether a JSON file is a log of inspect_ai.
        what: what should be in it, for messages.

    Raises:
        DataError: it cannot be read at all.
        UsageError: it needs a library that is not installed.
    """
    ending = ending_of(path)
    if ending in (".parquet", ".arrow"):
        there: list[str] = []

        def wanted(names: Sequence[str]) -> list[str]:
            there[:] = names
            return [name for name in names if only is None or name in only]

        rows = list(sheets.arrow_rows(path, wanted))
        content = b"\n".join(msgspec.json.encode(row, enc_hook=str, order="sorted") for row in rows)
        numbered = [(str(n), row) for n, row in enumerate(rows, 1)]
        return Table(DataFile(path, content), lambda: numbered, columns=tuple(there))
    return rows_in(files.read(path, what=what), levels=levels, is_log=is_log)


def rows_in(file: DataFile, *, levels: Sequence[str] = (), is_log: bool = False) -> Table:
    """Return all rows of an already read file; arguments and errors as for `read_rows`."""
    if file.ending == ".eval" or is_log:
        return Table(file, lambda: sheets.inspect_rows(file))
    if file.ending == ".xlsx":
        return Table(file, lambda: sheets.workbook_rows(file))
    if file.ending in (".csv", ".tsv"):
        delimiters = "\t" if file.ending == ".tsv" else ",;\t"
        return Table(file, lambda: files.csv_rows(file, delimiters=delimiters, is_verbatim=True))
    if levels:
        return Table(file, lambda: _nested(file, levels))
    return Table(file, lambda: _objects(file))


def _objects(file: DataFile) -> Iterator[Line]:
    for place, raw in files.objects(file):
        try:
            yield place, files.decoded(raw, _DECODER)
        except FieldError as error:
            yield place, error


def _nested(file: DataFile, levels: Sequence[str]) -> Iterator[Line]:
    """Yield the rows below the keys of a JSON object."""
    try:
        whole = _DECODER.decode(file.content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(
            f"{file.path} is not one JSON object ({error}); expected one with keys for {' and '.join(levels)}"
        ) from error
    yield from _below(whole, levels, keys={}, place="")


def _below(value: object, levels: Sequence[str], *, keys: Mapping[str, str], place: str) -> Iterator[Line]:
    if levels and isinstance(value, Mapping):
        for key, inner in value.items():
            where = f"{place}/{key}" if place else key
            yield from _below(inner, levels[1:], keys={**keys, levels[0]: key}, place=where)
    elif not levels and isinstance(value, Mapping):
        yield place, {**value, **keys}
    elif not levels and isinstance(value, list):
        for number, row in enumerate(value, 1):
            where = f"{place} (entry {number})"
            is_row = isinstance(row, Mapping)
            yield where, {**row, **keys} if is_row else FieldError("row", "expected a JSON object")
    else:
        expected = f"an object with keys for {levels[0]}" if levels else "rows"
        yield place or "1", FieldError("row", f"{type(value).__name__} found; expected {expected}")


def levels_of(file: DataFile) -> tuple[int, Row] | None:
    """Return how many object keys surround the rows of a JSON file, and its first row.

    None if it is not one object with lists of rows inside.
    """
    if file.ending != ".json" or file.content.lstrip()[:1] != b"{":
        return None
    levels, depth = files.json_or_none(file.content, object), 0
    while isinstance(levels, Mapping) and levels:
        levels, depth = next(iter(levels.values())), depth + 1
    first = levels[0] if isinstance(levels, list) and levels else None
    return (depth, first) if isinstance(first, Mapping) else None


# --------------------------------------------------------------------------- folders


def files_like(folder: Path, patterns: Sequence[str]) -> tuple[str, list[Path]]:
    """Return the first pattern that matches files in a folder, and these files, plain or with ``.gz``."""
    for pattern in patterns:
        if paths := {path for end in ("", ".gz") for path in folder.glob(pattern + end) if path.is_file()}:
            return pattern, sorted(paths)
    return "", []


def find_files(data: Path, patterns: Sequence[str], *, split: str) -> list[Path]:
    """Return the files at a location: the file itself, or a folder's matching files.

    In a folder the first of `patterns` that matches decides; where none does, it is read as data sets of the
    hub are laid out: shards, and splits in the names of files or folders.

    Args:
        data: a file or a folder.
        patterns: names of files as globs, the most likely first.
        split: a split, or ``all`` where there is one only.

    Raises:
        DataError: nothing there, or several tables or splits of which one must be named.
        UsageError: no such split.
    """
    if data.is_file():
        return [data]
    if not data.is_dir():
        raise DataError(f"there is nothing at {data}; expected {_EXPECTED}")
    if matches := files_like(data, patterns)[1]:
        return _of_split(data, matches, split)
    if not (paths := tables_in(data)):
        raise DataError(f"the folder {data} holds no table; expected {_EXPECTED}")
    paths = _of_split(data, paths, split)
    tables = sorted({_SHARD.sub("", str(path.relative_to(data).with_suffix(""))) for path in paths})
    if len(tables) > 1:
        raise DataError(
            f"the folder {data} holds {len(tables)} tables ({', '.join(tables[:20])}); give the path of one"
        )
    return paths


def tables_in(data: Path) -> list[Path]:
    """Return the files with rows in a folder, even of different tables."""
    return sorted(path for path in data.rglob("*") if _is_table(data, path))


def _is_table(data: Path, path: Path) -> bool:
    parts = path.relative_to(data).parts
    if len(parts) > _MOST_DEEP or any(part.startswith((".", "_")) for part in parts):
        return False
    return ending_of(path) in ENDINGS and path.name not in NOT_ROWS and path.is_file()


def split_of(path: Path) -> str:
    """Return the split that a name indicates, innermost first; empty if none.

    >>> split_of(Path("data/val-00000-of-00001.parquet")), split_of(Path("test/data-00000-of-00001.arrow"))
    ('validation', 'test')
    """
    names = [path.name.partition(".")[0], *reversed(path.parts[:-1])]
    text = next((match[1] for name in names if (match := _SPLIT.search(name.lower()))), "")
    return _SPLITS.get(text, text)


def _of_split(data: Path, paths: Sequence[Path], split: str) -> list[Path]:
    splits = {path: split_of(path.relative_to(data)) for path in paths}
    known = sorted(filter(None, set(splits.values())))
    if split == ALL:
        if len(known) > 1:
            raise DataError(f"the folder {data} holds the splits {', '.join(known)}; name one with --split")
        return list(paths)
    wanted = _SPLITS.get(split, split)
    if wanted not in known:
        raise UsageError(
            f"the folder {data} holds no split {split!r}; found: {', '.join(known) or 'no splits'}"
        )
    return [path for path in paths if splits[path] == wanted]
