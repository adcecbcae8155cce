"""All of a studio as files, and back: the same bytes from the same studio, whoever asks, however often."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import Model
from django.utils.text import slugify

from vidence.errors import DataError, StoreError, UsageError
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.output import json_file, json_lines
from vidence.make.review.files import (
    EVENTS_FILE,
    PROTOCOL_FILE,
    REVISIONS_FILE,
    read_files,
    refuse_faulty,
)
from vidence.make.review.protocol import canonical, digest
from vidence.make.review.revisions import Event, Revision
from vidence.records import Item, Record
from vidence.studio.audit import note
from vidence.studio.bridge.items import annotations_of, item_of
from vidence.studio.bridge.recorded_files import IntakeResult, chain_of, events_in, take_events
from vidence.studio.bridge.tables import AFTER, FIRST, Shape, Taking, name_of
from vidence.studio.records.items import ItemRow, RevisionRow
from vidence.studio.records.people import GuidelineRow, ProjectRow, UserRow
from vidence.studio.records.work import TimeSpanRow
from vidence.tables.export import csv_text

FORMAT: Final = "vidence-studio/1"
MANIFEST: Final = "manifest.json"
TABLES, PROJECTS = "tables", "projects"
ITEMS_FILE, ANNOTATIONS_FILE = "items.jsonl", "annotations.jsonl"
UNDER: Final = "guidelines-of-revisions"
_OUT: Final = frozenset({"rejected", "withdrawn", "voided"})
_BATCH: Final = 500


class Chain(Record):
    """How many events a project has, and the hash at the end of their chain."""

    n_events: int
    sha256: str


Fresh: TypeAlias = tuple[Model, dict[str, list[Model]]]
"""A new row, and the rows that it has many of."""


class Manifest(Record):
    """What an export holds: the hash of each file by its name, and the end of each project's chain."""

    format: Literal["vidence-studio/1"]
    files: dict[str, str]
    chains: dict[str, Chain]


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written: the number of files, and of lines that an import reads.

    `no_questions` are items whose words are no question of our format: they are in no ``items.jsonl``.
    """

    n_files: int
    n_rows: int
    no_questions: tuple[str, ...]


# --------------------------------------------------------------------------- out


def export_studio(out: Path) -> Exported:
    """Write everything that the database holds of projects into a folder; an earlier export is replaced.

    Raises:
        UsageError: the folder holds something else.
        StoreError: a file cannot be written.
    """
    before = _earlier(out)
    with transaction.atomic():
        out_of = _Out()
        files, chains = out_of.files, out_of.chains
        note("exported", details={"n_files": len(files)})
    manifest = Manifest(
        format=FORMAT,
        files={name: digest(content) for name, content in sorted(files.items())},
        chains=chains,
    )
    try:
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        (out / MANIFEST).unlink(missing_ok=True)
        for name in set(before) - set(files):
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror}") from error
    for name, content in files.items():
        write_file(out / name, content)
    write_file(out / MANIFEST, json_file(manifest))
    n_rows = sum(content.count(b"\n") for name, content in files.items() if _is_read(name))
    return Exported(n_files=len(files) + 1, n_rows=n_rows, no_questions=tuple(out_of.no_questions))


def _earlier(out: Path) -> Sequence[str]:
    """The files of the export that a folder holds."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return ()
    if not out.is_dir() or not (out / MANIFEST).is_file():
        raise UsageError(f"{out} is there, and is no export; expected a new folder, or an export to replace")
    return [name for name in read_manifest(out).files if _is_ours(name)]


def _is_ours(name: str) -> bool:
    """Whether an export could have a file of this name; others are neither read nor removed."""
    parts = name.split("/")
    if len(parts) == 1:
        return name in _PEOPLE_FILES
    if parts[0] == TABLES:
        return len(parts) == 2 and parts[1].removesuffix(".jsonl") in {*_SHAPES, UNDER}
    return (
        len(parts) == 3
        and parts[0] == PROJECTS
        and slugify(parts[1]) == parts[1] != ""
        and (parts[2] in {*_READ, *_VIEWS})
    )


def _is_read(name: str) -> bool:
    return name.startswith(f"{TABLES}/") or name.rpartition("/")[2] in _READ


_SHAPES: Final[Mapping[str, Shape]] = {one.file: one for one in (*FIRST, *AFTER)}
_READ: Final = (PROTOCOL_FILE, REVISIONS_FILE, EVENTS_FILE)
_VIEWS: Final = (ITEMS_FILE, ANNOTATIONS_FILE, "items.csv")
_PEOPLE_FILES: Final = ("people.csv", "spans.csv")


class _Out:
    """All files of an export, as they are now."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.chains: dict[str, Chain] = {}
        self.no_questions: list[str] = []
        for shape in _SHAPES.values():
            records = sorted((shape.record(row) for row in shape.rows()), key=shape.key_of)
            self.files[f"{TABLES}/{shape.file}.jsonl"] = _lines(records)
        self.files[f"{TABLES}/{UNDER}.jsonl"] = _lines(_under())
        for project in ProjectRow.objects.select_related("protocol").order_by("slug"):
            self._add(project)
        self.files["people.csv"] = _csv(("person", "project", "roles"), _roles())
        self.files["spans.csv"] = _csv(_SPAN_COLUMNS, _spans())

    def _add(self, project: ProjectRow) -> None:
        """The review of a project in the files of `vidence review`, and its questions in those of vidence."""
        revisions, events = events_in(project)
        self.chains[project.slug] = Chain(n_events=len(events), sha256=chain_of(events))
        called = {one.sha256: one for one in revisions}
        rows = ItemRow.objects.filter(project=project, current__isnull=False)
        shown = sorted(rows.select_related("current", "author"), key=lambda one: one.item_id)
        questions: dict[str, Item] = {}
        for one in shown:
            try:
                questions[one.item_id] = item_of(called[one.current.sha256])
            except DataError:
                self.no_questions.append(f"{project.slug}/{one.item_id}")
        last = {one.item_id: called[one.current.sha256] for one in shown}
        asked = [one.item_id for one in shown if one.item_id in questions and one.state not in _OUT]
        noted = [annotations_of(last[name]) for name in asked]
        cells = [_item_cells(one, last[one.item_id].n, questions.get(one.item_id)) for one in shown]
        for name, content in (
            (PROTOCOL_FILE, project.protocol.source.encode()),
            (REVISIONS_FILE, json_lines(revisions)),
            (EVENTS_FILE, json_lines(events)),
            (ITEMS_FILE, json_lines([questions[name] for name in asked])),
            (ANNOTATIONS_FILE, json_lines([one for one in noted if one is not None])),
            ("items.csv", _csv(_ITEM_COLUMNS, cells)),
        ):
            self.files[f"{PROJECTS}/{project.slug}/{name}"] = content


def _lines(records: Iterable[object]) -> bytes:
    return b"".join(canonical(one) + b"\n" for one in records)


def _under() -> Iterator[dict[str, object]]:
    """Which text the author of a wording had been asked to read."""
    rows = RevisionRow.objects.filter(guideline__isnull=False).select_related("guideline__project")
    for row in sorted(rows, key=lambda one: one.sha256):
        yield {"revision": row.sha256, "guideline": name_of(row.guideline)}


_ITEM_COLUMNS: Final = ("item_id", "state", "author", "revision", "question", "choices", "answer")


_SPAN_COLUMNS: Final = ("person", "from", "to", "minutes", "kind", "source", "reason")


def _item_cells(row: ItemRow, n: int, item: Item | None) -> tuple[str | float | None, ...]:
    author = "" if row.author is None else row.author.pseudonym
    told = (row.item_id, row.state, author, n)
    if item is None:
        return (*told, "", "", "")
    listed = "\n".join(f"{letter}. {text}" for letter, text in zip(item.letters, item.choices, strict=True))
    return (*told, item.question, listed, item.answer)


def _roles() -> Iterator[tuple[str, str, str]]:
    for user in UserRow.objects.order_by("pseudonym").prefetch_related("memberships__project"):
        told = [
            ("" if one.project is None else one.project.slug, ", ".join(one.roles))
            for one in user.memberships.all()
        ]
        yield from ((user.pseudonym, *one) for one in sorted(told) or [("", "")])


def _spans() -> Iterator[tuple[str | float | None, ...]]:
    rows = TimeSpanRow.objects.select_related("user")
    for row in sorted(rows, key=lambda one: (one.user.pseudonym, one.start_at, one.source, one.kind)):
        minutes = round((row.end_at - row.start_at).total_seconds() / 60, 2)
        said = (row.start_at.isoformat(), row.end_at.isoformat(), minutes, row.kind, row.source, row.reason)
        yield (row.user.pseudonym, *said)


def _csv(columns: Sequence[str], rows: Iterable[Iterable[str | float | None]]) -> bytes:
    """A table for people: whatever a spreadsheet would run gets an apostrophe in front."""
    return b"\xef\xbb\xbf" + csv_text([columns, *rows]).encode()


# --------------------------------------------------------------------------- in


def is_export(path: Path) -> bool:
    """Whether a folder says that it is an export of a studio."""
    return (path / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """What an export says that it holds.

    Raises:
        DataError: it is none, or one of a later vidence.
    """
    path = folder / MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise DataError(
            f"{path} is none of {FORMAT}: {error}; a later vidence may have written it"
        ) from error


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What an import came to. `n_left` are rows about the rights of people who have an account here."""

    taken: IntakeResult
    n_left: int


def import_studio(folder: Path) -> Imported:
    """Take an export in, all of it or nothing; a second time nothing is new.

    What is there already stays as it is. Accounts come in without a password, and people who have an account
    here keep exactly the roles that they were given here.

    Raises:
        DataError: files are damaged or absent, or rows are refused; the first twenty faults are named.
    """
    manifest = read_manifest(folder)
    files = _whole(folder, manifest)
    taken = IntakeResult()
    with transaction.atomic():
        taking = Taking(people=frozenset(UserRow.objects.values_list("pseudonym", flat=True)))
        for shape in FIRST:
            taken += _take(shape, files, taking, folder=folder)
        _chains_as_said(folder, manifest)
        under = _read_under(files, taking, folder=folder)
        for slug in sorted(manifest.chains):
            where = folder / PROJECTS / slug
            project = ProjectRow.objects.select_related("protocol").filter(slug=slug).first()
            if (
                project is None
                or project.protocol.source.encode() != files[f"{PROJECTS}/{slug}/{PROTOCOL_FILE}"]
            ):
                raise DataError(f"{where / PROTOCOL_FILE} is not what {TABLES}/projects.jsonl says of {slug}")
            taken += take_events(project, *_review(where), guidelines=under)
        taking.named.clear()
        for shape in AFTER:
            taken += _take(shape, files, taking, folder=folder)
        if taken.n_new:
            note("imported", details={"n_new": taken.n_new, "files_sha256": digest(canonical(manifest))})
    return Imported(taken=taken, n_left=taking.n_left)


def _whole(folder: Path, manifest: Manifest) -> dict[str, bytes]:
    """The files that are read, each as its hash says; no name leads out of the folder."""
    wanted = {f"{TABLES}/{name}.jsonl" for name in (*_SHAPES, UNDER)}
    wanted |= {f"{PROJECTS}/{slug}/{name}" for slug in manifest.chains for name in _READ}
    files: dict[str, bytes] = {}
    faults: list[str] = []
    for name in sorted(wanted):
        path = folder / name
        if not _is_ours(name):
            faults.append(f"{MANIFEST}: {name!r} is no name of a project")
        elif name not in manifest.files:
            faults.append(f"{path}: {MANIFEST} does not name it")
        elif path.resolve() != folder.resolve() / name or not path.is_file():
            faults.append(f"{path} is not there")
        elif digest(content := path.read_bytes()) != manifest.files[name]:
            faults.append(f"{path} was changed since it was written, or is not whole")
        else:
            files[name] = content
    refuse_faulty(faults, what=f"{folder} cannot be taken in; nothing was")
    return files


def _review(where: Path) -> tuple[list[Revision], list[Event]]:
    return read_files([where / REVISIONS_FILE, where / EVENTS_FILE])


def _chains_as_said(folder: Path, manifest: Manifest) -> None:
    faults = []
    for slug, said in manifest.chains.items():
        _, events = _review(folder / PROJECTS / slug)
        if (len(events), chain_of(events)) != (said.n_events, said.sha256):
            faults.append(
                f"{folder / PROJECTS / slug / EVENTS_FILE}: rows were taken out, or put in elsewhere"
            )
    refuse_faulty(faults, what=f"{folder} cannot be taken in; nothing was")


def _read_under(files: Mapping[str, bytes], taking: Taking, *, folder: Path) -> dict[str, GuidelineRow]:
    found: dict[str, GuidelineRow] = {}
    faults = []
    name = f"{TABLES}/{UNDER}.jsonl"
    for place, record in _records(files[name], folder / name):
        if isinstance(record, str) or set(record) != {"revision", "guideline"}:
            faults.append(f"{place}: {record if isinstance(record, str) else 'expected revision, guideline'}")
            continue
        try:
            found[str(record["revision"])] = taking.find(GuidelineRow, record["guideline"])
        except ValueError as error:
            faults.append(f"{place}: {error}")
    refuse_faulty(faults, what=f"{folder} cannot be taken in; nothing was")
    return found


def _records(content: bytes, path: Path) -> Iterator[tuple[str, dict[str, object] | str]]:
    """Each line of a table with its place, or what is wrong with it."""
    for line, raw in enumerate(content.splitlines(), 1):
        try:
            yield f"{path}:{line}", msgspec.json.decode(raw, type=dict[str, object])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            yield f"{path}:{line}", f"no row: {error}"


def _take(shape: Shape, files: Mapping[str, bytes], taking: Taking, *, folder: Path) -> IntakeResult:
    """Take the rows of one table in."""
    name = f"{TABLES}/{shape.file}.jsonl"
    there = {shape.key_of(one): one for one in map(shape.record, shape.rows())}
    fresh: list[Fresh] = []
    faults: list[str] = []
    n_same = 0
    for place, record in _records(files[name], folder / name):
        try:
            found = _row(shape, record, there=there, taking=taking)
        except ValueError as error:
            faults.append(f"{place}: {error}")
            continue
        if found is None:
            n_same += 1
        else:
            fresh.append(found)
    refuse_faulty(faults, what=f"{folder} cannot be taken in; nothing was")
    _save(shape, fresh, where=folder / name)
    if fresh:
        taking.forget(shape.model)
    return IntakeResult(n_new=len(fresh), n_same=n_same)


def _row(
    shape: Shape,
    record: dict[str, object] | str,
    *,
    there: dict[tuple[str, ...], dict[str, object]],
    taking: Taking,
) -> Fresh | None:
    """The new row of a record; None where it is there, or may not come in.

    Raises:
        ValueError: it cannot be taken.
    """
    if isinstance(record, str):
        raise ValueError(record)
    if absent := [name for name in shape.key if name not in record]:
        raise ValueError(f"no {absent[0]!r}")
    key = shape.key_of(record)
    if (known := there.get(key)) is not None:
        if shape.is_fixed and known != record:
            raise ValueError(f"{' '.join(filter(None, key))} is there already, and says something else")
        return None
    there[key] = record
    if not shape.is_taken(record, taking):
        taking.n_left += 1
        return None
    values, many = shape.values(record, taking)
    _refuse_source(shape, record)
    row = shape.model(**values)
    if shape.is_of_itself:
        row.save(force_insert=True)
        taking.forget(shape.model)
        return row, {}
    return row, many


def _refuse_source(shape: Shape, record: Mapping[str, object]) -> None:
    """See that a text is the one that its hash says."""
    if {"source", "sha256"} <= set(shape.columns) and digest(str(record["source"]).encode()) != record[
        "sha256"
    ]:
        raise ValueError("the text is not what its hash says")


def _save(shape: Shape, fresh: Sequence[Fresh], *, where: Path) -> None:
    if shape.is_of_itself:
        return
    try:
        with transaction.atomic():
            shape.model.objects.bulk_create([row for row, _ in fresh], batch_size=_BATCH)
            for row, many in fresh:
                for name, mine in many.items():
                    getattr(row, name).set(mine)
    except IntegrityError as error:
        raise DataError(f"{where} breaks a rule of the database: {error}; nothing was taken in") from error
