"""Recorded replies: ``replay:FILE?id=COLUMN&text=COLUMN``.

FILE is JSON lines, a JSON list, CSV, TSV, Parquet or an Excel sheet. A column may be a path
(``doc.question_id``), or text with columns in braces (``{video}_{qid}``). Frames are not used.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from msgspec import Meta

from vidence.ask.files import DataFile, FieldError
from vidence.ask.mapping.columns import Row, getter
from vidence.ask.mapping.rows import Table, read_rows, rows_in
from vidence.ask.models.answers import finish_of
from vidence.ask.models.local import InstantModel
from vidence.catalog import FilePath
from vidence.contracts import Request
from vidence.errors import DataError, RejectedRequestError, UsageError
from vidence.records import Record, Reply


class Settings(Record):
    """Options of ``replay:`` models: the columns; an empty name reads nothing.

    `asked` is a declaration, not a column; only reports use it.
    """

    positional: ClassVar[str] = "file"

    file: Annotated[FilePath, Meta(description="the recorded replies")]
    id: Annotated[str, Meta(description="column of the item's id; in every row")] = "item_id"
    text: Annotated[str, Meta(description="column of the reply; in every row")] = "text"
    sample: Annotated[str, Meta(description="column that counts a question's replies from 0")] = "sample"
    reasoning: Annotated[str, Meta(description="column of the model's reasoning")] = "reasoning"
    refusal: Annotated[str, Meta(description="column of the words in which it declined")] = "refusal"
    finish: Annotated[str, Meta(description="column of why the reply ended")] = "finish"
    asked: Annotated[str, Meta(description="how the replies were asked, in words, for reports")] = ""

    def __post_init__(self) -> None:
        """Reject files without ids or replies."""
        if not self.id or not self.text:
            raise UsageError("replay: id= and text= must each name a field")


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A recorded reply, its place in the file, and its model."""

    place: str
    item_id: str
    sample: int
    reply: Reply


def rows(file: DataFile) -> Iterator[tuple[str, Row]]:
    """The rows of a file, each with its place (``FILE, line 3``).

    Raises:
        DataError: not UTF-8, not JSON, not CSV, or a row that is not an object.
    """
    yield from _places(rows_in(file))


def _places(table: Table) -> Iterator[tuple[str, Row]]:
    for line, row in table.lines:
        place = f"{table.file.path}, line {line}"
        if isinstance(row, FieldError):
            raise DataError(
                f"{place}: {row}; expected one JSON object per line, a JSON list of objects, or CSV in a "
                "file that ends in .csv"
            ) from row
        yield place, row


# ------------------------------------------------------------------------------- one row, one reply


def _words(place: str, row: Row, *, column: str, option: str) -> str:
    value = getter(column)(row) if column else None
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(
            f"{place}, field {column!r}: expected text or null, found {value!r}; name another field "
            f"with {option}=FIELD"
        )
    return value


def _sample(place: str, row: Row, column: str) -> int:
    value = getter(column)(row) if column else None
    value = 0 if value is None and column not in row else value
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(f"{place}, field {column!r}: expected a whole number from 0, found {value!r}")
    return value


def recorded(place: str, row: Row, columns: Settings) -> Recorded:
    """Return the reply in a row.

    Raises:
        DataError: a field is missing or of another type; the message names file, line and field.
    """
    for column, option in ((columns.id, "id"), (columns.text, "text")):
        if column not in row and getter(column)(row) is None:
            text = ", ".join(repr(name) for name in row if not name.startswith("@"))
            raise DataError(
                f"{place}: no field {column!r}; found {text}. "
                f"Name the right one with {option}=FIELD (replay:FILE?{option}=FIELD)"
            )
    item_id = getter(columns.id)(row)
    if isinstance(item_id, bool) or not isinstance(item_id, str | int) or item_id == "":
        raise DataError(
            f"{place}, field {columns.id!r}: expected the id of an item (text or a whole number), "
            f"found {item_id!r}"
        )
    refusal = _words(place, row, column=columns.refusal, option="refusal")
    finish = _words(place, row, column=columns.finish, option="finish")
    reply = Reply(
        text=_words(place, row, column=columns.text, option="text"),
        reasoning=_words(place, row, column=columns.reasoning, option="reasoning"),
        refusal=refusal,
        finish="refusal" if refusal else finish_of(finish or "stop"),
    )
    return Recorded(
        place=place, item_id=str(item_id), sample=_sample(place, row, columns.sample), reply=reply
    )


# -------------------------------------------------------------------------------------- the model


class ReplayModel(InstantModel):
    """Replies to each item as recorded in a file."""

    def __init__(self, replies: Mapping[str, Mapping[int, Reply]], *, identity: str, source: str) -> None:
        self.identity = identity
        self._replies = replies
        self._source = source

    def recorded_ids(self) -> frozenset[str]:
        """Return the ids of the items with a recorded reply."""
        return frozenset(self._replies)

    async def reply(self, request: Request) -> Reply:
        """The recorded reply to this item and sample.

        Raises:
            RejectedRequestError: none is recorded.
        """
        samples = self._replies.get(request.item_id)
        if samples is None:
            raise RejectedRequestError(
                f"no recorded reply for item {request.item_id!r} in {self._source}; --recorded-only asks "
                "only what has one"
            )
        if request.sample not in samples:
            known = ", ".join(map(str, sorted(samples)))
            raise RejectedRequestError(
                f"no recorded reply for item {request.item_id!r}, sample {request.sample} in "
                f"{self._source}; recorded samples: {known}"
            )
        return samples[request.sample]


def _replies(table: Table, columns: Settings) -> dict[str, dict[int, Reply]]:
    replies: dict[str, dict[int, Reply]] = {}
    for place, row in _places(table):
        entry = recorded(place, row, columns)
        if replies.setdefault(entry.item_id, {}).setdefault(entry.sample, entry.reply) != entry.reply:
            every = (recorded(place, row, columns) for place, row in _places(table))
            first = next(
                other for other in every if (other.item_id, other.sample) == (entry.item_id, entry.sample)
            )
            raise DataError(
                f"{place}: a second, different reply for item {entry.item_id!r} (the first is at "
                f"{first.place}); keep one, or tell them apart by a field that counts from 0, named "
                "with sample=FIELD"
            )
    if not replies:
        raise DataError(f"{table.file.path} holds no reply; expected at least one row")
    return replies


def create(settings: Settings) -> ReplayModel:
    """Create the model that replays a file, which is read once, now.

    Raises:
        DataError: the file cannot be read, or has an invalid row.
    """
    table = read_rows(Path(settings.file).expanduser(), what="recorded replies")
    file = table.file
    columns = [f for f in settings.__struct_fields__ if f not in ("file", "asked")]
    named = "&".join(f"{f}={getattr(settings, f)}" for f in columns)
    identity = f"replay:{file.content_hash}?{named}"
    return ReplayModel(_replies(table, settings), identity=identity, source=str(file.path))
