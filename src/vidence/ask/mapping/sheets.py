"""Binary tables: Parquet, Arrow files of saved data sets, Excel workbooks, logs of inspect_ai."""

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from vidence.ask.files import DataFile, json_or_none
from vidence.errors import DataError, UsageError, cause
from vidence.installation import adding

_ROWS = 1024
_SHEET = "xl/worksheets/sheet1.xml"
_STRINGS = "xl/sharedStrings.xml"
_LETTERS = re.compile(r"[A-Z]+")
_ZSTD = 93
_LOCAL_HEADER, _LENGTHS_AT = 30, 26  # bytes of the header before a part; where the lengths of its texts stand
_ATTACHED = "attachment://"
_SAMPLE = ("id", "epoch", "input", "choices", "target", "output", "scores", "metadata")
_MOST_BYTES = 1 << 29  # of one unpacked part: a table of questions is far smaller
# What the library of archives raises on damaged ones; names in them may be no text.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    OSError,
    ValueError,
    KeyError,
    struct.error,
)

Rows = Iterator[tuple[str, dict[str, object]]]


def arrow_rows(path: Path, choose: Callable[[Sequence[str]], Sequence[str]]) -> Iterator[dict[str, object]]:
    """The rows of a Parquet file, or of an Arrow file of a saved data set (``.arrow``).

    Args:
        path: the file.
        choose: picks of the columns that are there those to read; videos in other columns cost nothing.

    Raises:
        DataError: it cannot be read.
        UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise UsageError(f"{path} is a table that is read with pyarrow; run: {adding('parquet')}") from error
    try:
        if path.suffix == ".arrow":
            with pa.OSFile(str(path)) as source:
                table = pa.ipc.open_stream(source).read_all()
            batches = table.select(choose(table.column_names)).to_batches(max_chunksize=_ROWS)
        else:
            parquet = pq.ParquetFile(path)
            batches = parquet.iter_batches(batch_size=_ROWS, columns=list(choose(parquet.schema_arrow.names)))
        for batch in batches:
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        kind = "Arrow" if path.suffix == ".arrow" else "Parquet"
        raise DataError(f"{path} cannot be read as {kind} ({cause(error)}); fetch it again") from error


# --------------------------------------------------------------------------- archives


def _unpacked(file: DataFile, archive: zipfile.ZipFile, name: str) -> bytes:
    """Return one part of an archive.

    Raises:
        DataError: it is damaged or too large.
        UsageError: it is packed with Zstandard, and pyarrow is not installed.
    """
    getinfo = archive.getinfo(name)
    if getinfo.file_size > _MOST_BYTES:
        raise DataError(f"{file.path}: its part {name} is larger than any table of questions")
    try:
        if getinfo.compress_type == _ZSTD:
            return _zstd(file, getinfo)
        return archive.read(name)
    except _DAMAGED as error:
        raise DataError(f"{file.path}: its part {name} is damaged ({error}); copy it again") from error


def _zstd(file: DataFile, result: zipfile.ZipInfo) -> bytes:
    """Decompress a Zstandard part, which zipfile supports from Python 3.14."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise UsageError(
            f"{file.path} is packed with Zstandard, which is unpacked with pyarrow; run: "
            f"{adding('parquet')}, or convert the log: inspect log convert LOG --to json"
        ) from error
    lengths = struct.unpack_from("<HH", file.content, result.header_offset + _LENGTHS_AT)
    start = result.header_offset + _LOCAL_HEADER + sum(lengths)
    packed = pa.BufferReader(file.content[start : start + result.compress_size])
    with pa.CompressedInputStream(packed, "zstd") as stream:
        content: bytes = stream.read(result.file_size + 1)
    if len(content) != result.file_size or zlib.crc32(content) != result.CRC:
        raise zipfile.BadZipFile(f"{len(content)} bytes of {result.file_size}, or others")
    return content


def _archive(file: DataFile, what: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(file.content))
    except _DAMAGED as error:
        raise DataError(f"{file.path} is not {what} ({error}); copy it again") from error


def inspect_rows(file: DataFile) -> Rows:
    """The samples of a log of inspect_ai (``.eval``, or the ``.json`` of the same), each with its place.

    Every row has what the header says under ``eval``.

    Raises:
        DataError: it is no such log, or a part of it is damaged.
    """
    if file.ending != ".eval":
        log = _decoded(file, file.content, "the log")
        samples = log.get("samples")
        if not isinstance(samples, list):
            raise DataError(f"{file.path} holds no samples; expected a log of inspect_ai with its samples")
        header: object = log.get("eval", {})
        yield from ((f"sample {n}", _sample(sample, header)) for n, sample in enumerate(samples, 1))
        return
    with _archive(file, "a log of inspect_ai") as archive:
        names = archive.namelist()
        place = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        if place is None:
            raise DataError(f"{file.path} holds no header.json; expected a log of inspect_ai")
        header = _decoded(file, _unpacked(file, archive, place), place).get("eval", {})
        for name in (name for name in names if name.startswith("samples/") and name.endswith(".json")):
            yield name, _sample(_decoded(file, _unpacked(file, archive, name), name), header)


def _sample(sample: Mapping[str, object], header: object) -> dict[str, object]:
    """Return a log's sample, with separately stored long texts filled in."""
    kept = {name: sample.get(name) for name in _SAMPLE}
    apart = sample.get("attachments")
    if isinstance(apart, Mapping) and apart:
        kept = {name: _attached(value, apart) for name, value in kept.items()}
    return {**kept, "eval": header}


def _attached(value: object, apart: Mapping[str, object]) -> object:
    if isinstance(value, str) and value.startswith(_ATTACHED):
        return apart.get(value.removeprefix(_ATTACHED), value)
    if isinstance(value, list):
        return [_attached(entry, apart) for entry in value]
    if isinstance(value, Mapping):
        return {name: _attached(entry, apart) for name, entry in value.items()}
    return value


def _decoded(file: DataFile, content: bytes, what: str) -> dict[str, object]:
    if (fields := json_or_none(content, dict[str, object])) is not None:
        return fields
    try:  # Python's writer gives NaN for scores that are none, which JSON does not have
        values = json.loads(content)
    except (ValueError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{file.path}: {what} is not readable as JSON ({error})") from error
    if not isinstance(values, dict):
        raise DataError(f"{file.path}: {what} is not a JSON object")
    return values


# --------------------------------------------------------------------------- workbooks


def workbook_rows(file: DataFile) -> Rows:
    """The rows of the first sheet of an Excel workbook (``.xlsx``), with their line; the first names columns.

    Raises:
        DataError: it is no such workbook.
    """
    with _archive(file, "an Excel workbook") as archive:
        names = set(archive.namelist())
        if _SHEET not in names:
            raise DataError(f"{file.path} holds no {_SHEET}; expected an Excel workbook with one sheet")
        shared: list[str] = []
        if _STRINGS in names:
            shared = [_words(element) for element in _parsed(file, _unpacked(file, archive, _STRINGS))]
        sheet = _parsed(file, _unpacked(file, archive, _SHEET))
    header: dict[str, str] = {}
    for place, row in enumerate(sheet.iterfind(".//{*}row"), 1):
        try:
            cells = {_column(cell): _cell(cell, shared) for cell in row if cell.get("r")}
        except (IndexError, ValueError) as error:
            raise DataError(
                f"{file.path}: row {place} cannot be read ({error}); copy the file again"
            ) from error
        if not header:
            header = {letters: str(name) for letters, name in cells.items() if name not in (None, "")}
            continue
        yield (row.get("r", str(place)), {name: cells.get(letters) for letters, name in header.items()})


def _parsed(file: DataFile, content: bytes) -> ElementTree.Element:
    if b"<!DOCTYPE" in content[:1024]:  # entities are not part of the format
        raise DataError(f"{file.path} declares a document type; no Excel workbook does")
    try:
        return ElementTree.fromstring(content)  # noqa: S314 - without a document type there are no entities
    except ElementTree.ParseError as error:
        raise DataError(f"{file.path} cannot be read as a workbook ({error}); copy it again") from error


def _words(element: ElementTree.Element) -> str:
    """Return all text of an element except phonetic readings, in order."""
    aloud = set(element.iterfind(".//{*}rPh//{*}t"))
    return "".join(part.text or "" for part in element.iterfind(".//{*}t") if part not in aloud)


def _column(cell: ElementTree.Element) -> str:
    match = _LETTERS.match(cell.get("r", ""))
    if match is None:
        raise ValueError(f"a cell at {cell.get('r')!r}")
    return match[0]


def _cell(cell: ElementTree.Element, shared: list[str]) -> object:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return next(map(_words, cell.iterfind("{*}is")), "")
    value = cell.findtext("{*}v", "")
    readers: Mapping[str, Callable[[str], object]] = {
        "s": lambda text: shared[int(text)],
        "b": lambda text: text == "1",
        "n": lambda text: float(text) if "." in text or "e" in text.lower() else int(text),
    }
    return readers.get(kind, str)(value) if value else None


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Possible column names for each field.

    `names` are the names that each field's column may have, the most likely first. One field of each group in
    `needed` must be there. Fields in `nested` may be JSON texts.
    """

    names: Mapping[str, Sequence[str]]
    needed: Sequence[Sequence[str]]
    nested: frozenset[str] = frozenset()

    def found(self, columns: Sequence[str], path: Path) -> dict[str, str]:
        """Return the column of each field that is present.

        Raises:
            DataError: a needed one is not; all columns that are there, and the names that are expected.
        """
        pairs = {
            field: next((name for name in names if name in columns), None)
            for field, names in self.names.items()
        }
        if absent := [group for group in self.needed if not any(pairs[field] for field in group)]:
            wanted = "; ".join(" or ".join(name for f in group for name in self.names[f]) for group in absent)
            raise DataError(
                f"{path}: these columns were found: {', '.join(columns)}; these are needed, too: {wanted}"
            )
        return {field: name for field, name in pairs.items() if name is not None}


def parquet_questions(path: Path, columns: Columns) -> tuple[DataFile, list[tuple[str, bytes]]]:
    """Return the questions of a Parquet table, numbered from 1, in the form of a JSON file.

    Other columns are never read, so that videos in the table cost nothing.

    Returns:
        The file, whose content are the rows that were read, and the rows as JSON objects.

    Raises:
        DataError: it cannot be read, or lacks a needed column.
        UsageError: pyarrow is not installed.
    """
    questions: dict[str, str] = {}

    def choose(names: Sequence[str]) -> Sequence[str]:
        questions.update(columns.found(names, path))
        return list(dict.fromkeys(questions.values()))

    rows: list[tuple[str, bytes]] = []
    for values in arrow_rows(path, choose):
        row = {field: values[name] for field, name in questions.items() if values[name] is not None}
        row |= {f: _nested(text) for f in columns.nested if isinstance(text := row.get(f), str)}
        rows.append((str(len(rows) + 1), json.dumps(row, default=str, sort_keys=True).encode()))
    if not rows:
        raise DataError(f"{path} holds no row; expected questions")
    return DataFile(path, b"\n".join(text for _, text in rows)), rows


def _nested(text: str) -> object:
    """Return a text's JSON value, or the text if it is not JSON."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
