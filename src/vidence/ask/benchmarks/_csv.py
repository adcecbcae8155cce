"""Read questions from a CSV file: one row is one item, one column one field."""

import csv
import difflib
import io
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from vidence.ask.benchmarks._decode import explained
from vidence.ask.benchmarks.checks import Fault
from vidence.ask.benchmarks.question_files import QuestionFile
from vidence.errors import DataError
from vidence.records import Item

REQUIRED = ("item_id", "question", "answer")
TEXTS = (*REQUIRED, "benchmark", "answer_kind", "rationale")
LISTS = ("choices", "hints", "knowledge")
NESTED = ("evidence", "provenance", "tags")
MEDIA = ("media", "video", "media_kind", "start_s", "end_s")
KNOWN = (*TEXTS, *LISTS, *NESTED, *MEDIA, "choice_a", "tag_NAME")

_CHOICE = re.compile(r"choice_[a-z]")
_TAG = re.compile(r"tags?[_.](?P<name>.+)")
_NOT_UTF_8 = re.compile("[\udc80-\udcff]")

Row = Mapping[str, str]
Fields = dict[str, object]


def rows(file: QuestionFile) -> Iterator[tuple[str, Item | Fault]]:
    """The item of each row, or what is wrong with the row, with the line on which the row starts.

    Raises:
        DataError: the header names a column that is not known, or twice, or not the required ones.
    """
    text = file.content.decode("utf-8", errors="surrogateescape")
    header_line = text.partition("\n")[0]
    delimiter = max(",;\t", key=header_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield str(line), Fault("CSV", f"{error}; expected quotes in pairs, doubled inside a quoted cell")
            continue
        if header is None:
            header = [cell.strip() for cell in cells]
            _check_header(header, f"{file.path}:{line}")
        elif any(cell.strip() for cell in cells):
            yield str(line), _read(header, cells)


def _check_header(header: Sequence[str], where: str) -> None:
    for column in header:
        if header.count(column) > 1:
            raise DataError(f"{where}: the column {column!r} is there twice; expected each column once")
        if column not in (*TEXTS, *LISTS, *NESTED, *MEDIA) and not (
            _CHOICE.fullmatch(column) or _TAG.fullmatch(column)
        ):
            near = difflib.get_close_matches(column, KNOWN, n=1)
            hint = f" did you mean {near[0]!r}?" if near else ""
            raise DataError(f"{where}: {column!r}: unknown column;{hint} known: {', '.join(KNOWN)}")
    if absent := [name for name in REQUIRED if name not in header]:
        raise DataError(
            f"{where}: no column {' and '.join(absent)}; expected a first line that names the columns, "
            f"with at least {', '.join(REQUIRED)}"
        )


def _read(header: Sequence[str], cells: Sequence[str]) -> Item | Fault:
    if len(cells) != len(header):
        return Fault("CSV", f"{len(cells)} cells found; expected {len(header)}, one for each column")
    row = {name: cell.strip() for name, cell in zip(header, cells, strict=True) if cell.strip()}
    for name, cell in row.items():
        if _NOT_UTF_8.search(cell):
            return Fault(name, "not UTF-8; save the file as UTF-8")
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
        return _json(name, cell)
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
