"""Hint trials: a second person answers from text and hints, without the video; timed and stored."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, cast

from django.db import transaction

from vidence.studio.access import Person
from vidence.studio.accounts import account_of
from vidence.studio.hint_tries import GUESS, STAGE, SURE, content_of, of_wording
from vidence.studio.records.items import ItemRow, ReviewRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.reviewing import counted_by, minutes_since, reviews_of_item
from vidence.studio.rules.hints import HintedQuestion, asked_of, finding_of, judged, letters_of
from vidence.studio.rules.review_steps import LOOKS, is_blind
from vidence.studio.settings import current
from vidence.studio.workflow import Refused

MOST_SIGNS: Final = 2_000
_OPEN: Final = ("submitted", "in-review", "reviewed", "in-meta")
_MOST: Final = 200
_MAY: Final = frozenset({"author", "reviewer", "meta"})


def asked_now(item: ItemRow) -> HintedQuestion | None:
    """Return what can be tried of the last wording; None if it has no hints."""
    return None if item.current is None else asked_of(content_of(item.current.content))


def mine(item: ItemRow, person: Person) -> ReviewRow | None:
    """Return this person's trial of the last wording."""
    row: ReviewRow | None = ReviewRow.objects.filter(
        revision=item.current, stage=STAGE, reviewer__pseudonym=person.name
    ).first()
    return row


def closed(item: ItemRow, person: Person) -> str:
    """Return why this person may not try an item's hints; empty if they may."""
    if item.state not in _OPEN:
        return f"It is {item.state}; hints are tried between handing in and the end."
    if item.current is None or asked_now(item) is None:
        return "It has no hints."
    roles = person.roles_in(item.project.slug)
    if not roles & _MAY:
        return "You have no role here that writes or reviews."
    reviews = reviews_of_item(item)
    state = reviews.states[item.item_id]
    is_author = item.author is not None and item.author.pseudonym == person.name
    if person.name == state.author or is_author:
        return "You wrote this item; another person must try its hints."
    events = reviews.events_of.get(item.item_id, ())
    has_seen = any(event.by == person.name and event.kind in LOOKS for event in events)
    counted = counted_by(item, person, state)
    blind = is_blind(state, reviews.protocol, by=person.name, roles=roles, counted=counted)
    if person.name in state.claims or has_seen or ("operator" in roles and not blind):
        return "You know its answer, or can read it; a person who cannot must try its hints."
    if any(hint_try.by == person.name for hint_try in of_wording(item, content_of(item.current.content))):
        return "You have already tried these hints."
    return ""


def open_tries(project: ProjectRow, person: Person) -> list[ItemRow]:
    """Return untried items with hints that this person may try, from the 200 oldest."""
    related = ItemRow.objects.filter(
        project=project, state__in=_OPEN, current__content__contains='"hints":["'
    ).select_related("project__protocol", "current", "author")
    rows = related.exclude(writer=person.name).order_by("changed_at", "pk")[:_MOST]
    return [
        row
        for row in rows
        if not of_wording(row, content_of(row.current.content)) and not closed(row, person)
    ]


def answer(item: ItemRow, person: Person, words: str, *, is_sure: bool, opened: datetime) -> Refused | None:
    """Store an answer given from text and hints, with its time; None on success.

    Args:
        item: which one; it is read again.
        person: who answers.
        words: the letter of an option, or a free answer; empty: it cannot be told.
        is_sure: whether the text is enough, rather than being guessed from.
        opened: when the page was given out.
    """
    if len(words) > MOST_SIGNS:
        return Refused(reason=f"an answer of {len(words):,} characters; {MOST_SIGNS:,} at most")
    with transaction.atomic():
        ProjectRow.objects.select_for_update().get(pk=item.project_id)
        row = ItemRow.objects.select_related("project__protocol", "current", "author").get(pk=item.pk)
        if row.current != item.current:
            return Refused(reason="it has been reworded since you saw it")
        if why := closed(row, person):
            return Refused(reason=why)
        content = content_of(row.current.content)
        letters = dict(letters_of(cast("Sequence[str]", content.get("choices") or ())))
        answer = words.strip()
        if letters and answer and answer not in letters:
            return Refused(reason=f"the answer {answer!r:.40}; expected one of {', '.join(letters)}")
        ReviewRow.objects.create(
            item=row,
            revision=row.current,
            stage=STAGE,
            reviewer=account_of(person),
            author=row.author,
            decision=finding_of(content, answer, is_sure=is_sure),
            answer=answer,
            feedback="" if not answer else SURE if is_sure else GUESS,
            seconds=60 * (minutes_since(opened) or 0.0),
            begun_at=opened,
            ended_at=current().settings.clock(),
        )
    return None


def judge(item: ItemRow, person: Person, *, is_same: bool) -> Refused | None:
    """Record the author's own judgement whether a free answer matches the reference; it is final."""
    with transaction.atomic():
        row = ReviewRow.objects.select_for_update().filter(
            revision=item.current, stage=STAGE, reviewer__pseudonym=person.name, decision="to-judge"
        )
        result = row.first()
        if result is None:
            return Refused(reason="you have no answer waiting to be compared with the reference")
        result.decision = judged(is_same=is_same, is_sure=result.feedback == SURE)
        result.save(update_fields=["decision"])
    return None
