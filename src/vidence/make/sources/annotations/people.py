"""A sheet that people fill in for tasks that no source annotates: question, right choice, wrong ones."""

from pathlib import Path
from typing import Final

from vidence.errors import DataError
from vidence.make.pipeline.material import Dropped
from vidence.make.sources.annotations.annotation_records import (
    AnnotationReader,
    AnnotationRecord,
    Annotations,
    unusable,
)
from vidence.make.sources.logs.files import Fault, Row, csv_rows
from vidence.records import Media
from vidence.tables.export import csv_text

WRONG: Final = ("wrong_1", "wrong_2", "wrong_3", "wrong_4")
COLUMNS: Final = (
    *("record_id", "media", "kind", "start_s", "end_s", "source_id"),
    *("question", "right", *WRONG, "also_true"),
)
_NEEDS: Final = ("record_id", "media", "question", "right")


class PeoplesSheet:
    """Reads a sheet of questions that people wrote; rows without a question wait and are passed over."""

    name = "people"
    version = 1

    def read(self, path: Path) -> Annotations:
        """The filled rows of a sheet.

        Raises:
            DataError: it cannot be read, or nobody has filled in a row.
        """
        records: list[AnnotationRecord] = []
        dropped: list[Dropped] = []
        for where, row in csv_rows(path, needs=_NEEDS):
            found = row if isinstance(row, Fault) else _record(row)
            if isinstance(found, Fault):
                dropped.append(unusable(where, "malformed", f"{found.field}: {found.reason}"))
            elif found is not None:
                records.append(found)
        if not records:
            raise DataError(
                f"{path}: no row has a question yet; fill the sheet in, or leave out the task that reads it"
            )
        return Annotations(records=tuple(records), dropped=tuple(dropped))


def _record(row: Row) -> AnnotationRecord | Fault | None:
    if not row["question"]:
        return None
    kind = row.get("kind") or "image"
    if kind not in ("image", "video"):
        return Fault(field="kind", reason=f"{kind!r}; expected image or video")
    try:
        start, end = (float(row[name]) if row.get(name) else None for name in ("start_s", "end_s"))
    except ValueError as error:
        return Fault(field="start_s and end_s", reason=str(error))
    media = tuple(one.strip() for one in row["media"].split("|") if one.strip())
    return AnnotationRecord(
        record_id=row["record_id"],
        media=tuple(
            Media(path=one, kind="image" if kind == "image" else "video", start_s=start, end_s=end)
            for one in media
        ),
        label=row["right"],
        question=row["question"],
        wrong=tuple(row[name] for name in WRONG if row.get(name)),
        also_true=tuple(one.strip() for one in row.get("also_true", "").split("|") if one.strip()),
        source_id=row.get("source_id", ""),
        truth="people",
    )


def empty_sheet() -> bytes:
    """The sheet with its columns and no row."""
    return csv_text([COLUMNS], is_data=True).encode()


def create() -> AnnotationReader:
    """The reader of this format."""
    return PeoplesSheet()
