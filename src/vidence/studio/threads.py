"""Messages about an item, one thread each: acts of its review with words, and which of them are new."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from django.db import transaction
from django.db.models import F, Q

from vidence.errors import DataError
from vidence.make.review.files import Reviews
from vidence.make.review.revisions import Role
from vidence.make.review.states import Folded, ItemState, allowed_kinds
from vidence.records import Record
from vidence.studio.access import Person
from vidence.studio.accounts import account_of, known_account
from vidence.studio.drafts import Conflict, Saved, close, open_draft, save
from vidence.studio.records.items import ItemRow, RevisionRow, TransitionRow
from vidence.studio.records.people import UserRow
from vidence.studio.records.work import DraftRow, ReadRow
from vidence.studio.reviewing import counted_by, reviews_of_item
from vidence.studio.rules.threads import MOST_SIGNS, messages_told, says_as
from vidence.studio.settings import current
from vidence.studio.workflow import Act, RecordedAct, Refused, Result, act, protocol_of, to_event, to_revision

MESSAGE: Final = "message"
"""The stage of the draft of a message."""
_MOST: Final = 50


class Message(Record):
    """One message: of which revision, by whom, and whether it was not there when the reader read last."""

    number: int
    at: str
    n: int
    kind: str
    role: str
    words: str
    is_mine: bool
    is_new: bool


class Thread(Record):
    """What one person reads of an item. `closed` is why they may say nothing; `last` is its last message."""

    messages: tuple[Message, ...]
    closed: str
    last: int

    @property
    def n_new(self) -> int:
        """How many of them are new."""
        return sum(one.is_new for one in self.messages)


class _Body(Record):
    """What the draft of a message holds."""

    words: str = ""


class MessageDraft(Record):
    """The draft of a message, as it is kept."""

    version: int = 0
    words: str = ""
    at: str = ""


def thread_of(item: ItemRow, person: Person) -> Thread:
    """The messages of an item that a person reads, and whether they may say something."""
    numbers = dict(TransitionRow.objects.filter(item=item).values_list("event_id", "number"))
    return _thread(item, person, reviews_of_item(item), numbers=numbers, read=_read_up_to(item, person))


def _thread(
    item: ItemRow, person: Person, reviews: Reviews, *, numbers: Mapping[str, int], read: int
) -> Thread:
    state = reviews.states[item.item_id]
    roles = person.roles_in(item.project.slug)
    told = messages_told(reviews, state, by=person.name, roles=roles, counted=counted_by(item, person, state))
    found = tuple(
        Message(
            number=numbers[one.event_id],
            at=one.at,
            n=reviews.revisions[one.revision].n if one.revision in reviews.revisions else 0,
            kind=one.kind,
            role=one.role,
            words=one.message,
            is_mine=one.by == person.name,
            is_new=one.by != person.name and numbers[one.event_id] > read,
        )
        for one in told
    )
    closed = ""
    if says_as(reviews, state, by=person.name, roles=roles) is None:
        closed = "Only its author, whoever looks at it, and operators say something about it."
    elif "say" not in allowed_kinds(state, reviews.protocol):
        closed = f"It is {state.state}; messages are for items that somebody works on."
    return Thread(messages=found, closed=closed, last=max((one.number for one in found), default=0))


def _read_up_to(item: ItemRow, person: Person) -> int:
    found = ReadRow.objects.filter(item=item, user__pseudonym=person.name)
    return int(found.values_list("transition__number", flat=True).first() or 0)


def unread(person: Person) -> list[tuple[ItemRow, int]]:
    """The items that a person has to do with and that have new messages for them, with how many.

    Of more than fifty items the fifty that were changed last are looked through.
    """
    rows = ItemRow.objects.filter(pk__in=_with_new_words(person)).select_related(
        "project__protocol", "author"
    )
    items = [one for one in rows.order_by("-changed_at")[:_MOST] if person.is_in(one.project.slug)]
    read = dict(
        ReadRow.objects.filter(item__in=items, user__pseudonym=person.name).values_list(
            "item", "transition__number"
        )
    )
    acts: dict[int, list[TransitionRow]] = {one.pk: [] for one in items}
    for act_row in TransitionRow.objects.filter(item__in=items).order_by("number"):
        acts[act_row.item_id].append(act_row)
    wordings: dict[int, list[RevisionRow]] = {one.pk: [] for one in items}
    for wording in RevisionRow.objects.filter(item__in=items).order_by("n"):
        wordings[wording.item_id].append(wording)
    found = []
    for item in items:
        reviews = _reviews(item, wordings[item.pk], acts[item.pk])
        numbers = {one.event_id: one.number for one in acts[item.pk]}
        if n := _thread(item, person, reviews, numbers=numbers, read=read.get(item.pk, 0)).n_new:
            found.append((item, n))
    return found


def _reviews(item: ItemRow, wordings: Sequence[RevisionRow], acts: Sequence[TransitionRow]) -> Reviews:
    """The review of one item out of rows that were read for many; its state is what it repeats."""
    state = msgspec.convert(item.standing, ItemState)
    return Reviews(
        protocol=protocol_of(item.project),
        revisions={one.sha256: to_revision(one, item.item_id) for one in wordings},
        events=tuple(map(to_event, acts)),
        folded=Folded(states={item.item_id: state}, refused=()),
    )


def _with_new_words(person: Person) -> Sequence[int]:
    """Items in which others said something since this person read; whether they may read it is not asked."""
    involved = TransitionRow.objects.filter(by=person.name).values("item_id")
    mine = Q(item__reads__user__pseudonym=person.name)
    said = TransitionRow.objects.filter(item_id__in=involved, words_at__gt=0)
    said = said.exclude(by=person.name)
    read = said.filter(mine, number__lte=F("item__reads__transition__number")).values("pk")
    return list(said.exclude(pk__in=read).values_list("item_id", flat=True).distinct())


def mark_read(item: ItemRow, person: Person, *, up_to: int) -> None:
    """Keep that a person has read the messages up to a number; it never goes back.

    Args:
        item: of which.
        person: who read.
        up_to: the number of the last message that their page held.
    """
    if not 0 < up_to <= thread_of(item, person).last or up_to <= _read_up_to(item, person):
        return
    last = TransitionRow.objects.filter(item=item, number__lte=up_to).order_by("-number").first()
    if last is not None:
        ReadRow.objects.update_or_create(
            item=item,
            user=account_of(person),
            defaults={"transition": last, "at": current().settings.clock()},
        )


def say(item: ItemRow, person: Person, words: str) -> Result:
    """Say something about an item, as what the person has to do with it; the draft of it is closed."""
    if len(words) > MOST_SIGNS:
        return Refused(reason=f"a message of {len(words):,} signs; {MOST_SIGNS:,} at most")
    role = _role(item, person)
    if role is None:
        return Refused(reason="only its author, whoever looks at it, and operators say something about it")
    with transaction.atomic():
        done = act(item, Act(kind="say", role=role, by=person.name, message=words))
        if isinstance(done, RecordedAct):
            draft = _draft(item, known_account(person))
            if draft is not None:
                close(draft)
    return done


def _role(item: ItemRow, person: Person) -> Role | None:
    reviews = reviews_of_item(item)
    roles = person.roles_in(item.project.slug)
    return says_as(reviews, reviews.states[item.item_id], by=person.name, roles=roles)


def written_by(item: ItemRow, person: Person) -> MessageDraft:
    """The message that a person has begun; looking makes none.

    Raises:
        DataError: what is kept cannot be read.
    """
    row = _draft(item, known_account(person))
    if row is None:
        return MessageDraft()
    return MessageDraft(version=row.version, words=words_in(row.body), at=row.saved_at.isoformat())


def keep(item: ItemRow, person: Person, words: str, *, seen: int, request: str) -> Saved | Conflict:
    """Save a message that is being written.

    Args:
        item: about which.
        person: who writes, who may say something about it.
        words: what is written now.
        seen: the version that it was written on.
        request: a word of the browser for this save.

    Raises:
        UsageError: it is too long.
    """
    draft = open_draft(account_of(person), item, stage=MESSAGE, body=_body(""))
    return save(draft, body=_body(words), seen=seen, request=request)


def _draft(item: ItemRow, user: UserRow | None) -> DraftRow | None:
    found: DraftRow | None = DraftRow.objects.filter(
        user=user, item=item, stage=MESSAGE, is_closed=False
    ).first()
    return found


def _body(words: str) -> str:
    return msgspec.json.encode(_Body(words=words)).decode()


def words_in(body: str) -> str:
    """The words that the draft of a message holds.

    Raises:
        DataError: it is none.
    """
    try:
        return msgspec.json.decode(body, type=_Body).words
    except msgspec.DecodeError as error:
        raise DataError(f"the draft of a message cannot be read ({error})") from error
