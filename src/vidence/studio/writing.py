"""An author's work on an item: the draft, automatic checks, and handing it in."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import msgspec
from django.db import transaction

from vidence.errors import DataError
from vidence.make.review.points import last_return, marked_fields, stage_of, untouched
from vidence.make.review.protocol import Protocol, digest, protocol_bytes, protocol_names
from vidence.make.review.revisions import Event
from vidence.records import Record
from vidence.studio.bridge.items import WRITTEN_TAGS, Subject, content_of, item_of, wording_of
from vidence.studio.checking import ItemFacts, MachineChecks, check
from vidence.studio.drafts import AUTHOR, close, open_draft, seen_draft
from vidence.studio.hint_tries import too_strong
from vidence.studio.intake import as_media, films_of, media_rows, pieces_of, shapes_of
from vidence.studio.records.items import ItemRow, MediumRow, ReviewRow
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.records.work import DraftRow
from vidence.studio.rules.faults import FieldRemark
from vidence.studio.rules.forms import FORMS, Form, Kind
from vidence.studio.rules.review_steps import WRONG
from vidence.studio.rules.wording import Wording
from vidence.studio.settings import current
from vidence.studio.workflow import Act, RecordedAct, Refused, act, events_of, protocol_of, to_revision

WRITABLE: Final = ("drafting", "returned")
"""States in which an author may write."""
FORM: Final = "form"


class Returned(Record):
    """Why an item was returned: the message, and by field the failed checks and the notes."""

    message: str
    marks: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Everything that an author needs to write an item."""

    item: ItemRow
    form: Form
    rows: tuple[MediumRow, ...]
    subject: Subject
    told: ItemFacts


def is_writer(item: ItemRow, name: str) -> bool:
    """Whether an author of the project may see this item's form, which shows its full text.

    An item that has a wording is written on by its author alone: whoever made it elsewhere is none of those
    who read it here, some of whom review it later. One without a wording, and without an author, is whose who
    writes first.

    Args:
        item: which one.
        name: the pseudonym of the person.
    """
    if item.author is not None:
        return bool(item.author.pseudonym == name)
    return item.current is None or bool(item.writer == name)


def folder_of(project: ProjectRow) -> Path:
    """Return the folder with the project's files for automatic checks."""
    return current().settings.data / "projects" / str(project.slug)


def form_of_project(project: ProjectRow) -> str:
    """Return the form of a project's protocol if it is built in; else MMVU's."""
    for name in protocol_names():
        if digest(protocol_bytes(name)) == project.protocol.sha256 and name in FORMS:
            return name
    return "mmvu"


def desk_of(item: ItemRow, *, author: str) -> Desk:
    """Return everything needed to write an item.

    Raises:
        MediaError: a folder of pictures of it is gone.
        DataError: its last revision is no question.
    """
    rows = tuple(media_rows(item))
    form = FORMS.get(str(item.strata.get(FORM, "")), FORMS[form_of_project(item.project)])
    kind = cast("Kind", item.kind)
    subject = _subject(item, form, rows)
    facts = ItemFacts(
        form=form,
        kind=kind,
        subject=subject,
        films=films_of(rows),
        media=shapes_of(rows, subject.media, item.project),
        author=author,
        now=current().settings.clock(),
        folder=folder_of(item.project),
        tried=too_strong(item),
    )
    return Desk(item=item, form=form, rows=rows, subject=subject, told=facts)


def _subject(item: ItemRow, form: Form, rows: tuple[MediumRow, ...]) -> Subject:
    """Return what an item is about; imported items keep their media and tags."""
    seed = int.from_bytes(hashlib.sha256(item.public.bytes).digest()[:4], "big")
    tags: dict[str, str] = {}
    media = as_media(rows, item.project)
    benchmark = item.project.slug
    source = rows[0].source_id if rows else ""
    if item.current is not None:
        before = item_of(to_revision(item.current, item.item_id))
        tags = {name: tag for name, tag in before.tags.items() if name not in WRITTEN_TAGS}
        media = media or before.media
        source, benchmark = source or before.source, before.benchmark or benchmark
    return Subject(
        item_id=item.item_id,
        form=form.name,
        seed=seed,
        media=media,
        benchmark=benchmark,
        source=source,
        tags=tags,
    )


def draft_of(item: ItemRow, user: UserRow) -> DraftRow:
    """Return an author's open draft; a new one starts from the last revision, if any.

    Raises:
        DataError: the last revision is no question.
    """
    based_on = "" if item.current is None else item.current.sha256
    return open_draft(user, item, stage=AUTHOR, body=_begun(item), based_on=based_on)


def shown_draft(item: ItemRow, user: UserRow | None) -> DraftRow:
    """Return an author's draft for display, without creating one.

    Raises:
        DataError: the last revision is no question.
    """
    return seen_draft(user, item, stage=AUTHOR, body=_begun(item))


def _begun(item: ItemRow) -> str:
    """Return the initial content of a new draft."""
    if item.current is None:
        return encoded(Wording())
    return encoded(wording_of(to_revision(item.current, item.item_id).content))


def encoded(written: Wording) -> str:
    """Serialise what was written as a draft's body."""
    return msgspec.json.encode(written).decode()


def decoded(body: str) -> Wording:
    """Parse a draft's body.

    Raises:
        DataError: it is of another version.
    """
    try:
        return msgspec.json.decode(body, type=Wording)
    except msgspec.DecodeError as error:
        raise DataError(f"the draft cannot be read ({error})") from error


def why_returned(item: ItemRow, protocol: Protocol) -> Returned | None:
    """Return the message of the last return; None before the first."""
    event = _last_return(item)
    stage = None if event is None else stage_of(event, protocol)
    if event is None or stage is None:
        return None
    failed = {entry.id: entry for entry in stage.checks if entry.id in event.checks}
    marks = [
        (entry.field, entry.words) for entry in failed.values() if entry.is_failed(event.checks[entry.id])
    ]
    look = ReviewRow.objects.filter(item=item, transition__event_id=event.event_id).first()
    fields = {} if look is None else look.fields
    marks += [(name, f"“{note}”") for name, (verdict, note) in fields.items() if verdict == WRONG and note]
    return Returned(message=event.message, marks=tuple(marks))


def _last_return(item: ItemRow) -> Event | None:
    if item.state != "returned" or item.current is None:
        return None
    return last_return(list(events_of(item)), item.current.sha256)


def hand_in(
    desk: Desk, draft: DraftRow, user: UserRow, *, seen: int
) -> RecordedAct | Refused | MachineChecks:
    """Create a revision from a draft, or return the objections.

    Args:
        desk: the item.
        draft: what was written, saved.
        user: who hands it in.
        seen: the `lock_version` of the item that the person saw.

    Raises:
        MediaError: a medium cannot be read.
    """
    written = decoded(draft.body)
    checked = check(written, desk.told)
    if checked.faults:
        return checked
    pieces = pieces_of(written, desk.subject.media, desk.item.project)
    content = content_of(written, desk.subject, pieces=pieces)
    is_again = desk.item.state == "returned"
    if is_again and (left := _left(desk.item, content)) and not written.changed:
        words = "This was marked but is unchanged: change it, or say below why it stays."
        remarks = tuple(FieldRemark(field=name, level="fault", words=words, by="review") for name in left)
        return MachineChecks(said=(*remarks, *checked.said))
    with transaction.atomic():
        if desk.item.author_id is None:
            ItemRow.objects.filter(pk=desk.item.pk, author=None).update(author=user)
        result = act(
            desk.item,
            Act(
                kind="resubmit" if is_again else "submit",
                role="author",
                by=user.pseudonym,
                content=content,
                origin="author_revise" if is_again else "submit",
                message=written.changed,
                seen=seen,
            ),
        )
        if isinstance(result, RecordedAct):
            close(draft)
        else:
            transaction.set_rollback(True)
    return result


def _left(item: ItemRow, content: dict[str, object]) -> tuple[str, ...]:
    """Return the marked fields that are unchanged."""
    event = _last_return(item)
    stage = None if event is None else stage_of(event, protocol_of(item.project))
    if event is None or stage is None or item.current is None:
        return ()
    before = to_revision(item.current, item.item_id).content
    return untouched(before, content, marked_fields(event, stage))
