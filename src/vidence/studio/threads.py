"""Messages about an item, one thread each: acts of its review with words, and which of them are new."""

from collections.abc import Sequence
from typing import Final

import msgspec
from django.db import transaction
from django.db.models import F, Q

from vidence.errors import DataError
from vidence.make.review.revisions import Role
from vidence.make.review.states import allowed_kinds
from vidence.records import Record
from vidence.studio.access import Person
from vidence.studio.accounts import account_of, known_account
from vidence.studio.drafts import Conflict, Saved, close, open_draft, save
from vidence.studio.looking import counted_by, reviews_of_item
from vidence.studio.records.items import ItemRow, TransitionRow
from vidence.studio.records.people import UserRow
from vidence.studio.records.work import DraftRow, ReadRow
from vidence.studio.rules.threads import MOST_SIGNS, messages_told, says_as
from vidence.studio.settings import current
from vidence.studio.workflow import Act, Done, Refused, Result, act

MESSAGE: Final = "message"
"""The stage of the draft of a message."""
_WITH_WORDS: Final = '"message":"'
"""What only the record of an act with words holds."""
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


class Written(Record):
    """The draft of a message, as it is kept."""

    version: int = 0
    words: str = ""
    at: str = ""


def thread_of(item: ItemRow, person: Person) -> Thread:
    """The messages of an item that a person reads, and whether they may say something."""
    reviews = reviews_of_item(item)
    state = reviews.states[item.item_id]
    roles = person.roles_in(item.project.slug)
    told = messages_told(reviews, state, by=person.name, roles=roles, counted=counted_by(item, person, state))
    read = _read_up_to(item, person)
    numbers = dict(TransitionRow.objects.filter(item=item).values_list("event_id", "number"))
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
    items = ItemRow.objects.filter(pk__in=_with_new_words(person)).select_related("project", "author")
    found = []
    for item in items.order_by("-changed_at")[:_MOST]:
        if person.is_in(item.project.slug) and (n := thread_of(item, person).n_new):
            found.append((item, n))
    return found


def _with_new_words(person: Person) -> Sequence[int]:
    """Items in which others said something since this person read; whether they may read it is not asked."""
    involved = TransitionRow.objects.filter(by=person.name).values("item_id")
    mine = Q(item__reads__user__pseudonym=person.name)
    said = TransitionRow.objects.filter(item_id__in=involved, event__contains=_WITH_WORDS)
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
        if isinstance(done, Done):
            draft = _draft(item, known_account(person))
            if draft is not None:
                close(draft)
    return done


def _role(item: ItemRow, person: Person) -> Role | None:
    reviews = reviews_of_item(item)
    roles = person.roles_in(item.project.slug)
    return says_as(reviews, reviews.states[item.item_id], by=person.name, roles=roles)


def written_by(item: ItemRow, person: Person) -> Written:
    """The message that a person has begun; looking makes none.

    Raises:
        DataError: what is kept cannot be read.
    """
    row = _draft(item, known_account(person))
    if row is None:
        return Written()
    return Written(version=row.version, words=words_in(row.body), at=row.saved_at.isoformat())


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
