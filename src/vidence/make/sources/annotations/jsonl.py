"""``vidence-annotation/1``: JSON Lines with one record each, and lines for label spaces."""

from pathlib import Path
from typing import Final

import msgspec

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
from vidence.make.sources.logs.files import text_of
from vidence.records import Record

MALFORMED: Final = "malformed"


class _Space(Record):
    """A line with the labels of a space."""

    space: str
    labels: tuple[Label | str, ...]


class JsonLines:
    """Reads lines such as ``{"record_id": "a", "media": [{"path": "a.jpg", "kind": "image"}]}``.

    A line ``{"space": "state", "labels": ["on", {"name": "off", "parent": "switch"}]}`` names a label space.
    """

    def read(self, path: Path) -> Annotations:
        """The records of a file.

        Raises:
            DataError: it cannot be read, or holds no record.
        """
        records: list[AnnotationRecord] = []
        spaces: dict[str, LabelSpace] = {}
        dropped: list[Dropped] = []
        for number, line in enumerate(text_of(path).splitlines(), 1):
            if not line.strip():
                continue
            where = f"{path.name}:{number}"
            try:
                entry = _line(line)
            except (msgspec.DecodeError, ValueError) as error:
                dropped.append(unusable(where, MALFORMED, str(error)))
                continue
            if isinstance(entry, AnnotationRecord):
                records.append(entry)
            elif entry.name in spaces:
                dropped.append(unusable(where, MALFORMED, f"a second label space {entry.name!r}; keep one"))
            else:
                spaces[entry.name] = entry
        if not records:
            why = f"; {dropped[0].what}: {dropped[0].detail}" if dropped else ""
            raise DataError(f"{path} holds no record of the format vidence-annotation/1{why}")
        return Annotations(records=tuple(records), spaces=spaces, dropped=tuple(dropped))


def _line(line: str) -> AnnotationRecord | LabelSpace:
    raw = msgspec.json.decode(line)
    if isinstance(raw, dict) and "labels" in raw:
        space = msgspec.convert(raw, _Space)
        labels = tuple(Label(name=label) if isinstance(label, str) else label for label in space.labels)
        return LabelSpace(name=space.space, labels=labels)
    return msgspec.convert(raw, AnnotationRecord)


def create() -> AnnotationReader:
    """The reader of this format."""
    return JsonLines()
