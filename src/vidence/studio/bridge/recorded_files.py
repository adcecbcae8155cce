"""Wordings and events that come from files, recorded: every one passes the rules, or none is taken."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from django.db import transaction

from vidence.errors import UsageError
from vidence.make.pipeline.output import DRAFTS_FILE, ITEMS_FILE
from vidence.make.review.files import PROTOCOL_FILE, read_reviews, refuse_faulty
from vidence.make.review.protocol import Protocol, canonical
from vidence.make.review.revisions import Event, Revision, chained, new_revision
from vidence.make.review.states import ItemState, advance, drafting
from vidence.records import Item
from vidence.studio.audit import note
from vidence.studio.projects import add_items, add_project
from vidence.studio.records.items import ItemRow, MediumRow, RevisionRow, TransitionRow
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.workflow import (
    at_after,
    protocol_of,
    revision_row,
    show,
    to_event,
    to_revision,
    transition_row,
)

IMPORTER: Final = "import"
"""Who puts items in that no person of the studio wrote."""
_BATCH: Final = 500


@dataclass(frozen=True, kw_only=True)
class IntakeResult:
    """What was new, and what was there already."""

    n_new: int = 0
    n_same: int = 0


def take_events(project: ProjectRow, revisions: Iterable[Revision], events: Iterable[Event]) -> IntakeResult:
    """Record wordings and events of a project that were made elsewhere; what is there already is passed over.

    Args:
        project: whose items they are about; items that do not exist are made.
        revisions: the wordings.
        events: in order.

    Raises:
        DataError: one is damaged, does not follow what the person did before, or is refused by the rules.
    """
    with transaction.atomic():
        ProjectRow.objects.select_for_update().get(pk=project.pk)
        taker = _Taker(project, list(revisions))
        for event in events:
            taker.add(event)
        refuse_faulty(taker.faults, what="the events cannot be taken; nothing was")
        return taker.write()


class _Taker:
    """Checks events one by one, and writes them all at once."""

    def __init__(self, project: ProjectRow, revisions: list[Revision]) -> None:
        self._project, self._protocol = project, protocol_of(project)
        self._of_file = {entry.sha256: entry for entry in revisions}
        self.faults = [f"{entry.item_id}: {entry.fault}" for entry in revisions if entry.fault]
        stored = RevisionRow.objects.filter(item__project=project).select_related("item")
        self._known: dict[str, Revision] = {
            entry.sha256: to_revision(entry, entry.item.item_id) for entry in stored
        }
        self._fresh = {name: entry for name, entry in self._of_file.items() if name not in self._known}
        add_items(
            project,
            [entry.item_id for entry in self._fresh.values()],
            kinds={entry.item_id: kind_of(entry.content) for entry in self._fresh.values()},
        )
        self._rows = {value.item_id: value for value in ItemRow.objects.filter(project=project)}
        self._states = {name: _state(row, self._protocol) for name, row in self._rows.items()}
        self._wordings: dict[str, dict[str, Revision]] = {}
        for revision in (*self._known.values(), *self._fresh.values()):
            self._wordings.setdefault(revision.item_id, {})[revision.sha256] = revision
        self._done: set[str] = set()
        self._heads: dict[str, str] = {}
        self._last: TransitionRow | None = None
        for row in TransitionRow.objects.filter(project=project).order_by("number"):
            self._done.add(row.event_id)
            self._heads[row.by] = row.event_id
            self._last = row
        self._new: list[TransitionRow] = []
        self._last_at: dict[str, str] = {}
        self._n_same = 0

    def add(self, event: Event) -> None:
        """Check one event against the state that it meets."""
        if event.event_id in self._done:
            self._n_same += 1
            return
        before = self._states.get(event.item_id)
        fault = event.fault
        if not fault and event.prev_sha256 != self._heads.get(event.by, ""):
            fault = f"what {event.by} did before it is not there, or {event.by} did something else since"
        if not fault and (before is None or event.revision not in self._wordings.get(event.item_id, {})):
            fault = f"the revision {event.revision[:12]!r} that it is about is not there"
        if fault or before is None:
            self.faults.append(f"{event.kind} of {event.item_id} by {event.by}: {fault}")
            return
        after = advance(before, event, revisions=self._wordings[event.item_id], protocol=self._protocol)
        if isinstance(after, str):
            self.faults.append(after)
            return
        self._last = transition_row(self._rows[event.item_id], event, self._last, states=(before, after))
        self._new.append(self._last)
        self._states[event.item_id] = after
        self._heads[event.by] = event.event_id
        self._done.add(event.event_id)
        self._last_at[event.item_id] = event.at

    def write(self) -> IntakeResult:
        """Write what was new, and let each item repeat its state."""
        fresh = [
            revision_row(self._rows[revision.item_id], revision, guideline=None)
            for revision in self._fresh.values()
        ]
        RevisionRow.objects.bulk_create(fresh, batch_size=_BATCH)
        TransitionRow.objects.bulk_create(self._new, batch_size=_BATCH)
        rows = RevisionRow.objects.filter(item__project=self._project)
        called: dict[str, RevisionRow] = {entry.sha256: entry for entry in rows}
        accounts = {value.pseudonym: value for value in UserRow.objects.all()}
        for name in self._last_at:
            row, state = self._rows[name], self._states[name]
            row.current = called.get(state.revision)
            row.author = row.author or accounts.get(state.author)
            show(row, state)
        return IntakeResult(n_new=len(self._new), n_same=self._n_same)


def _state(row: ItemRow, protocol: Protocol) -> ItemState:
    return msgspec.convert(row.standing, ItemState) if row.standing else drafting(row.item_id, protocol)


def kind_of(content: Mapping[str, object]) -> str:
    """What an item is called on pages: with choices ``mcq``, else ``open``."""
    return "mcq" if content.get("choices") else "open"


# --------------------------------------------------------------------------- reviews and questions


def take_review(folder: Path, *, slug: str) -> IntakeResult:
    """Import wordings and events of a folder of `vidence items review`; a missing project is created.

    Raises:
        UsageError: there is no review, or the project has other rules.
        DataError: the files have faults, or events that the rules refuse.
    """
    reviews = read_reviews(folder)
    project = ProjectRow.objects.filter(slug=slug).select_related("protocol").first()
    with transaction.atomic():
        if project is None:
            project = add_project(slug, str(folder / PROTOCOL_FILE))
        if protocol_of(project) != reviews.protocol:
            raise UsageError(f"{folder} was reviewed by another protocol than {slug} has; expected the same")
        taken = take_events(project, reviews.revisions.values(), reviews.events)
        _note(slug, taken)
    return taken


def take_items(project: ProjectRow, questions: Sequence[Item], *, by: str = IMPORTER) -> IntakeResult:
    """Import questions as submitted items, each waiting for its first review.

    What else a file says of a question, such as a state, a role or a reviewer, is no part of an `Item` and so
    cannot come in. A question whose words are those that were submitted already is passed over.

    Raises:
        DataError: a question is there with other words: whoever wrote it revises it in the studio.
    """
    with transaction.atomic():
        ProjectRow.objects.select_for_update().get(pk=project.pk)
        rows = ItemRow.objects.filter(project=project).select_related("current")
        there = {row.item_id: row.current for row in rows if row.current is not None}
        fresh, faults = [], []
        for item in questions:
            content = msgspec.to_builtins(item)
            current_one = there.get(item.item_id)
            if current_one is None:
                fresh.append(content)
            elif canonical(msgspec.json.decode(current_one.content)) != canonical(content):
                faults.append(f"{item.item_id}: it is there with other words; revise it in the studio")
        refuse_faulty(faults, what="the questions cannot be taken; nothing was")
        last = TransitionRow.objects.filter(project=project, by=by).order_by("-number").first()
        at = at_after(last)
        revisions = [
            new_revision(str(entry["item_id"]), entry, parent=None, origin="import", by=by, at=at)
            for entry in fresh
        ]
        events = chained(map(_submitted, revisions), last="" if last is None else last.event_id)
        taken = take_events(project, revisions, events)
        media_of(project, questions)
        done = IntakeResult(n_new=taken.n_new, n_same=len(questions) - taken.n_new)
        _note(project.slug, done)
    return done


def _submitted(revision: Revision) -> Event:
    return Event(
        event_id="",
        item_id=revision.item_id,
        revision=revision.sha256,
        kind="submit",
        role="author",
        by=revision.by,
        at=revision.at,
    )


def is_review(path: Path) -> bool:
    """Whether this is a folder of `vidence items review`."""
    return (path / PROTOCOL_FILE).is_file()


def questions_in(path: Path) -> Path:
    """The file of questions: of a folder the questions of a set that `vidence make` made, or its drafts.

    Raises:
        UsageError: the folder has neither.
    """
    if not path.is_dir():
        return path
    questions = next((path / name for name in (ITEMS_FILE, DRAFTS_FILE) if (path / name).is_file()), None)
    if questions is None:
        raise UsageError(
            f"{path} is no export, review or set (no {PROTOCOL_FILE}, {ITEMS_FILE} or {DRAFTS_FILE})"
        )
    return questions


def refuse_root(project: ProjectRow, root: Path) -> None:
    """Check that the media of questions are below the project's media root; set the root if it has none.

    Raises:
        UsageError: they lie elsewhere.
    """
    asked = str(root.resolve())
    if not project.media_root:
        project.media_root = asked
        project.save(update_fields=["media_root"])
    elif Path(project.media_root) != Path(asked):
        raise UsageError(
            f"the media of {project.slug} lie below {project.media_root}, those of the questions below "
            f"{asked}; expected one folder: begin another project for them"
        )


def media_of(project: ProjectRow, questions: Iterable[Item]) -> int:
    """Enter the media of questions as usable, and tie each item to its own; how many were new."""
    values = {item.item_id: [media for media in item.media if media.path] for item in questions}
    known = {value.path: value for value in MediumRow.objects.filter(project=project)}
    n_before = len(known)
    for item in questions:
        for medium in item.media:
            if medium.path and medium.path not in known:
                known[medium.path] = MediumRow.objects.create(
                    project=project,
                    path=medium.path,
                    kind=medium.kind,
                    url=medium.url or "",
                    source_id=item.source_id[:300],
                    sha256=medium.sha256 or "",
                    state="usable",
                )
    tie = ItemRow.media.through
    ties = [
        tie(itemrow=row, mediumrow=known[path])
        for row in ItemRow.objects.filter(project=project)
        for path in dict.fromkeys(media.path for media in values.get(row.item_id, ()) if media.path)
    ]
    tie.objects.bulk_create(ties, batch_size=_BATCH, ignore_conflicts=True)
    return len(known) - n_before


def _note(slug: str, taken: IntakeResult) -> None:
    if taken.n_new:
        note("imported", about=slug, details={"n_events": taken.n_new})


def events_in(project: ProjectRow) -> tuple[list[Revision], list[Event]]:
    """The wordings and events of a project, in the order in which they were recorded."""
    rows = RevisionRow.objects.filter(item__project=project).select_related("item")
    revisions = [to_revision(row, row.item.item_id) for row in rows]
    revisions.sort(key=lambda revision: (revision.item_id, revision.n, revision.sha256))
    events = TransitionRow.objects.filter(project=project).order_by("number")
    return revisions, [to_event(event) for event in events]
