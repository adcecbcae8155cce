"""A user's table with one row per picture or clip, or a sheet for people to fill in."""

from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta

from vidence.ask.files import FieldError, usable
from vidence.errors import DataError
from vidence.make.pipeline.material import Dropped
from vidence.make.sources.annotations.annotation_records import (
    AnnotationReader,
    AnnotationRecord,
    Annotations,
    Label,
    LabelSpace,
    unusable,
)
from vidence.make.sources.logs.files import Row, csv_rows
from vidence.records import Media, Record
from vidence.tables.export import csv_text

QUESTION: Final = "question"
WRONG: Final = ("wrong_1", "wrong_2", "wrong_3", "wrong_4")
SHEET: Final = (
    *("record_id", "media", "kind", "start_s", "end_s", "source_id"),
    *(QUESTION, "label", *WRONG, "also_true"),
)


class Settings(Record):
    """The columns of the table; several values in a cell are separated by ``|``."""

    id: Annotated[str, Meta(description="column with the id of a row")] = "record_id"
    media: Annotated[str, Meta(description="column with the path, or several")] = "media"
    kind: Annotated[Literal["image", "video"], Meta(description="type of the media")] = "image"
    start: Annotated[str, Meta(description="column with the start of a clip in seconds")] = "start_s"
    end: Annotated[str, Meta(description="column with its end")] = "end_s"
    caption: Annotated[str, Meta(description="column with a caption")] = "caption"
    label: Annotated[str, Meta(description="column with the label")] = "label"
    also: Annotated[str, Meta(description="column with what is also true")] = "also_true"
    source: Annotated[str, Meta(description="column with the film or place")] = "source_id"
    split: Annotated[str, Meta(description="column with the split")] = "split"
    people: Annotated[str, Meta(description="column with the number of people")] = "n_people"
    fields: Annotated[tuple[str, ...], Meta(description="columns that templates can use")] = ()
    space: Annotated[str, Meta(description="name of the space of all labels in the table")] = "labels"


class CsvTable:
    """A reader of tables; missing columns are empty, except id, media and label.

    With a column ``question``, people write in it (and ``wrong_1`` to ``wrong_4``), and rows without a
    question wait and are passed over. A column ``kind`` says what single rows show.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def read(self, path: Path) -> Annotations:
        """The rows of a table as records.

        Raises:
            DataError: it cannot be read, or no row can be used.
        """
        wanted = self._settings
        needs = [name.casefold() for name in (wanted.id, wanted.media, wanted.label)]
        records: list[AnnotationRecord] = []
        dropped: list[Dropped] = []
        for where, row in csv_rows(path, needs=needs):
            try:
                record = self._record(usable(row))
            except FieldError as fault:
                dropped.append(unusable(where, "malformed", str(fault)))
            else:
                records += [] if record is None else [record]
        if not records:
            why = f"; {dropped[0].what}: {dropped[0].detail}" if dropped else ""
            raise DataError(f"{path} holds no row that is usable and filled in{why}")
        names = sorted({r.label for r in records if r.label and r.space})
        space = LabelSpace(name=wanted.space, labels=tuple(Label(name=name) for name in names))
        return Annotations(records=tuple(records), spaces={space.name: space}, dropped=tuple(dropped))

    def _record(self, row: Row) -> AnnotationRecord | None:
        wanted = self._settings

        def cell(column: str) -> str:
            return row.get(column.casefold(), "").strip()

        if QUESTION in row and not row[QUESTION]:
            return None
        kind = row.get("kind") or wanted.kind
        if kind not in ("image", "video"):
            raise FieldError("kind", f"{kind!r}; expected image or video")
        try:
            start, end = (float(cell(name)) if cell(name) else None for name in (wanted.start, wanted.end))
            n_people = int(cell(wanted.people)) if cell(wanted.people) else None
        except ValueError as error:
            raise FieldError("a number", str(error)) from error
        return AnnotationRecord(
            record_id=cell(wanted.id),
            media=tuple(
                Media(path=name, kind="image" if kind == "image" else "video", start_s=start, end_s=end)
                for name in _several(cell(wanted.media))
            ),
            caption=cell(wanted.caption),
            label=cell(wanted.label),
            space="" if QUESTION in row else wanted.space,
            also_true=_several(cell(wanted.also)),
            n_people=n_people,
            fields={name: cell(name) for name in wanted.fields if cell(name)},
            source_split=cell(wanted.split),
            source_id=cell(wanted.source),
            question=row.get(QUESTION, ""),
            wrong=tuple(row[name] for name in WRONG if row.get(name)),
            truth="people" if QUESTION in row else "",
        )


def _several(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split("|") if part.strip())


def empty_sheet() -> bytes:
    """An empty sheet with the columns for people to fill in."""
    return csv_text([SHEET], is_data=True).encode()


def create(settings: Settings) -> AnnotationReader:
    """The reader of this format."""
    return CsvTable(settings)
