"""The projects of a studio as files: the same bytes from the same studio, however often."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.db import transaction

from vidence.errors import DataError
from vidence.make.pipeline.output import json_lines
from vidence.make.review.files import EVENTS_FILE, PROTOCOL_FILE, REVISIONS_FILE
from vidence.media.whole import own_folder, write_into
from vidence.records import Item
from vidence.studio.audit import note
from vidence.studio.bridge.items import annotations_of, item_of
from vidence.studio.bridge.recorded_files import events_in
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.records.work import TimeSpanRow
from vidence.tables.export import csv_text

PROJECTS: Final = "projects"
PEOPLE_FILE: Final = "people.csv"
_OUT: Final = frozenset({"rejected", "withdrawn", "voided"})
_ITEM_COLUMNS: Final = ("item_id", "state", "author", "revision", "question", "choices", "answer")
_SPAN_COLUMNS: Final = ("person", "from", "to", "minutes", "kind", "source", "reason")


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written; `no_questions` lists items that cannot be expressed in the question format."""

    n_files: int
    no_questions: tuple[str, ...]


def export_studio(out: Path) -> Exported:
    """Write each project as a folder of `vidence items review` with its questions; people by pseudonym alone.

    Raises:
        UsageError: the folder holds something else.
        StoreError: a file cannot be written.
    """
    own_folder(out, ".vidence-export")
    no_questions: list[str] = []
    with transaction.atomic():
        files = {
            PEOPLE_FILE: _csv(("person", "project", "roles"), _roles()),
            "spans.csv": _csv(_SPAN_COLUMNS, _spans()),
        }
        for project in ProjectRow.objects.select_related("protocol").order_by("slug"):
            files |= _project(project, no_questions)
        note("exported", details={"n_files": len(files)})
    write_into(out, files)
    return Exported(n_files=len(files), no_questions=tuple(no_questions))


def _project(project: ProjectRow, no_questions: list[str]) -> dict[str, bytes]:
    """The review of a project in the files of `vidence items review`, and its questions as items."""
    revisions, events = events_in(project)
    called = {revision.sha256: revision for revision in revisions}
    rows = ItemRow.objects.filter(project=project, current__isnull=False)
    entries = sorted(rows.select_related("current", "author"), key=lambda element: element.item_id)
    questions: dict[str, Item] = {}
    for entry in entries:
        try:
            questions[entry.item_id] = item_of(called[entry.current.sha256])
        except DataError:
            no_questions.append(f"{project.slug}/{entry.item_id}")
    last = {element.item_id: called[element.current.sha256] for element in entries}
    asked = [
        element.item_id for element in entries if element.item_id in questions and element.state not in _OUT
    ]
    noted = [annotations_of(last[name]) for name in asked]
    cells = [
        _item_cells(element, last[element.item_id].n, questions.get(element.item_id)) for element in entries
    ]
    files = {
        PROTOCOL_FILE: project.protocol.source.encode(),
        REVISIONS_FILE: json_lines(revisions),
        EVENTS_FILE: json_lines(events),
        "items.jsonl": json_lines([questions[name] for name in asked]),
        "annotations.jsonl": json_lines([row for row in noted if row is not None]),
        "items.csv": _csv(_ITEM_COLUMNS, cells),
    }
    return {f"{PROJECTS}/{project.slug}/{name}": content for name, content in files.items()}


def _item_cells(row: ItemRow, n: int, item: Item | None) -> tuple[str | float | None, ...]:
    author = "" if row.author is None else row.author.pseudonym
    cells = (row.item_id, row.state, author, n)
    if item is None:
        return (*cells, "", "", "")
    listed = "\n".join(f"{letter}. {text}" for letter, text in zip(item.letters, item.choices, strict=True))
    return (*cells, item.question, listed, item.answer)


def _roles() -> Iterator[tuple[str, str, str]]:
    for user in UserRow.objects.order_by("pseudonym").prefetch_related("memberships__project"):
        roles = [
            ("" if membership.project is None else membership.project.slug, ", ".join(membership.roles))
            for membership in user.memberships.all()
        ]
        yield from ((user.pseudonym, *pair) for pair in sorted(roles) or [("", "")])


def _spans() -> Iterator[tuple[str | float | None, ...]]:
    rows = TimeSpanRow.objects.select_related("user")
    for row in sorted(
        rows, key=lambda entry: (entry.user.pseudonym, entry.start_at, entry.source, entry.kind)
    ):
        minutes = round((row.end_at - row.start_at).total_seconds() / 60, 2)
        spans = (row.start_at.isoformat(), row.end_at.isoformat(), minutes, row.kind, row.source, row.reason)
        yield (row.user.pseudonym, *spans)


def _csv(columns: Iterable[str], rows: Iterable[Iterable[str | float | None]]) -> bytes:
    """A table for people: what a spreadsheet would run gets an apostrophe in front."""
    return b"\xef\xbb\xbf" + csv_text([columns, *rows]).encode()
