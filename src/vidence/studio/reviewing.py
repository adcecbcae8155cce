"""Reviews of items: claim, start, decide, release; every act goes through `workflow.act`."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

import msgspec
from django.db import transaction
from django.db.models import Q, QuerySet

from vidence.make.review.files import Reviews
from vidence.make.review.points import field_verdicts, marked_fields
from vidence.make.review.protocol import ROLES, Protocol, Stage, StageRole
from vidence.make.review.recording import Recorder, Share, draw
from vidence.make.review.revisions import Event, Kind, Origin
from vidence.make.review.states import Folded, ItemState, fold, may_look, stage_role
from vidence.make.review.translations import in_language
from vidence.records import Record
from vidence.studio import admission
from vidence.studio.access import Person
from vidence.studio.accounts import account_of
from vidence.studio.records.items import ItemRow, ReviewRow, RevisionRow, TransitionRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.records.work import AssignmentRow
from vidence.studio.rules.review_steps import (
    RIGHT,
    WRONG,
    FieldLine,
    FilledForm,
    Step,
    conditions_of,
    counts_of,
    given_fault,
    lines_of,
    message_of,
    shown_at,
    step_of,
    why_not,
)
from vidence.studio.settings import current
from vidence.studio.workflow import (
    Act,
    RecordedAct,
    Refused,
    Result,
    act,
    events_of,
    now_words,
    protocol_of,
    revisions_of,
    standing,
    to_event,
    to_revision,
)

_WAITING: Final[Mapping[StageRole, str]] = {"reviewer": "submitted", "meta": "reviewed"}
_LOOKING: Final[Mapping[StageRole, str]] = {"reviewer": "in-review", "meta": "in-meta"}
_MOST_TRIED: Final = 200
NOT_CLAIMED: Final = "you have not claimed it, or your claim has ended; your text stays on this page"


class ItemView(Record):
    """A person's review of an item: its state, and what the person may see now."""

    state: ItemState
    stage: Stage
    step: Step
    protocol: Protocol
    content: dict[str, object]
    lines: tuple[FieldLine, ...]
    counted: dict[str, str]


# --------------------------------------------------------------------------- what there is


def reviews_of_item(item: ItemRow) -> Reviews:
    """Return the review of one item: its wordings and acts, in order."""
    protocol = protocol_of(item.project)
    state = standing(item, protocol)
    return Reviews(
        protocol=protocol,
        revisions=revisions_of(item),
        events=tuple(events_of(item)),
        folded=Folded(states={item.item_id: state}, refused=()),
    )


def reviews_of(project: ProjectRow) -> Reviews:
    """Return the review of all items of a project, from their transitions."""
    protocol = protocol_of(project)
    rows = RevisionRow.objects.filter(item__project=project).select_related("item").order_by("item_id", "n")
    revisions = {row.sha256: to_revision(row, row.item.item_id) for row in rows.iterator()}
    acts = TransitionRow.objects.filter(project=project).order_by("number")
    events = tuple(to_event(entry) for entry in acts.iterator())
    return Reviews(
        protocol=protocol, revisions=revisions, events=events, folded=fold(revisions, events, protocol)
    )


def look_of(item: ItemRow, person: Person, reviews: Reviews) -> ItemView:
    """Return what a person may see of an item now, and what comes next."""
    state = reviews.states[item.item_id]
    stage = reviews.protocol.stages[state.stage]
    counted = counted_by(item, person, state)
    step = step_of(state, person.name, stage, counted=counted)
    if stage.role not in person.roles_in(item.project.slug):
        step = "closed"
    content = dict(shown_at(reviews, state, by=person.name, step=step))
    return ItemView(
        state=state,
        stage=stage,
        step=step,
        protocol=reviews.protocol,
        content=content,
        lines=lines_of(content, stage),
        counted=counted,
    )


def counted_by(item: ItemRow, person: Person, state: ItemState) -> dict[str, str]:
    """Return this person's counts of the last wording at this stage."""
    stage = protocol_of(item.project).stages[state.stage]
    wanted = [check.id for check in counts_of(stage)]
    if not wanted:
        return {}
    mine = ReviewRow.objects.filter(
        revision__sha256=state.revision, stage=stage.role, reviewer__pseudonym=person.name
    ).first()
    return {} if mine is None else {name: check for name, check in mine.checks.items() if name in wanted}


def waiting(project: ProjectRow, role: StageRole, person: Person) -> QuerySet:
    """Return the items waiting at a stage that this person did not write, oldest first."""
    looks = protocol_of(project).stages[ROLES.index(role)].looks
    room = Q(state=_WAITING[role]) | Q(state=_LOOKING[role], is_disputed=True)
    if looks > 1:
        room |= Q(state=_LOOKING[role])
    exclude = ItemRow.objects.filter(room, project=project).exclude(writer=person.name)
    return exclude.order_by("changed_at", "pk")


def stages_of(person: Person, project: ProjectRow) -> tuple[StageRole, ...]:
    """Return a project's stages at which this person may review."""
    mine = person.roles_in(project.slug)
    return tuple(stage.role for stage in protocol_of(project).stages if stage.role in mine)


# --------------------------------------------------------------------------- claims


def claim_fault(item: ItemRow, person: Person, look: ItemView) -> str:
    """Return why this person may not claim an item; empty if they may."""
    role = stage_role(look.state, look.protocol)
    if role not in person.roles_in(item.project.slug):
        return f"it is waiting for the role {role!r}, which you do not have here"
    return may_look(look.state, person.name, look.protocol)


def claim(item: ItemRow, person: Person) -> Result:
    """Claim an item for review; only one of several concurrent claims succeeds."""
    protocol = protocol_of(item.project)
    with transaction.atomic():
        role = stage_role(standing(item, protocol), protocol)
        if role not in person.roles_in(item.project.slug):
            return Refused(reason=f"it is waiting for the role {role!r}, which you do not have here")
        done = act(item, Act(kind="claim", role=role, by=person.name))
        if isinstance(done, RecordedAct):
            now = current().settings.clock()
            days = protocol.claim_days
            AssignmentRow.objects.create(
                item=item,
                stage=role,
                user=account_of(person),
                state="claimed",
                claimed_at=now,
                due_at=now + timedelta(days=days) if days else None,
            )
    return done


def take_next(project: ProjectRow, role: StageRole, *, person: Person) -> ItemRow | Refused:
    """Claim the next item for this person: reviewed before, disputed, then oldest."""
    if role not in stages_of(person, project):
        return Refused(reason=f"you do not have the role {role!r} here")
    if fault := admission.refusal(person.name, project, protocol_of(project), role=role):
        return Refused(reason=fault)
    result = waiting(project, role, person)
    known = AssignmentRow.objects.filter(
        user=account_of(person), stage=role, state="submitted", item__project=project
    )
    before = set(known.values_list("item_id", flat=True))
    candidates = list(result[:_MOST_TRIED])
    candidates.sort(key=lambda entry: (entry.pk not in before, not entry.is_disputed))
    for item in candidates:
        if may_look(msgspec.convert(item.standing, ItemState), person.name, protocol_of(project)):
            continue
        if isinstance(claim(item, person), RecordedAct):
            return item
    return Refused(reason="there is nothing here for you to review")


def release(item: ItemRow, person: Person) -> Result:
    """Release a claim."""
    return _end_claim(
        item, Act(kind="release", role=_role(item), by=person.name), whose=person.name, state="released"
    )


def expire(item: ItemRow, person: Person, whose: str) -> Result:
    """Release the claim of another person, as an operator; their draft stays theirs."""
    result = Act(kind="expire", role="operator", by=person.name, whose=whose)
    return _end_claim(item, result, whose=whose, state="expired")


def _end_claim(item: ItemRow, result: Act, *, whose: str, state: str) -> Result:
    with transaction.atomic():
        done = act(item, result)
        if isinstance(done, RecordedAct):
            _close_claim(item, whose, state)
    return done


def _close_claim(item: ItemRow, whose: str, state: str) -> None:
    claimed = AssignmentRow.objects.filter(item=item, user__pseudonym=whose, state="claimed")
    claimed.update(state=state, ended_at=current().settings.clock())


def _role(item: ItemRow) -> StageRole:
    """Return the role of the stage that an item is at."""
    protocol = protocol_of(item.project)
    return protocol.stages[standing(item, protocol).stage].role


def draw_share(project: ProjectRow, role: StageRole, *, person: Person, wanted: Share) -> int | Refused:
    """Claim a stratified share of the waiting items, drawn as by `vidence items review`; return the number.

    Args:
        project: of which.
        role: the stage.
        person: who looks.
        wanted: how much, by which tag, in which order.
    """
    if role not in stages_of(person, project):
        return Refused(reason=f"you do not have the role {role!r} here")
    with transaction.atomic():
        reviews = reviews_of(ProjectRow.objects.select_for_update().get(pk=project.pk))
        recorder = Recorder(reviews, by=person.name, role=role, at=now_words())
        n_drawn = draw(reviews, recorder, by=person.name, role=role, wanted=wanted)
        names = [event.item_id for event in recorder.events]
        for item in ItemRow.objects.filter(project=project, item_id__in=names).order_by("pk"):
            done = claim(item, person)
            if isinstance(done, Refused):
                transaction.set_rollback(True)
                return done
    return n_drawn


# --------------------------------------------------------------------------- a look


def solve(item: ItemRow, person: Person, answer: str, *, minutes: float | None) -> Result:
    """Store the person's own answer; the key is shown afterwards, and the answer cannot change."""
    result = Act(kind="solve", role=_role(item), by=person.name, answer=answer.strip(), minutes=minutes)
    with transaction.atomic():
        done = act(item, result)
        if isinstance(done, RecordedAct):
            review = _review(item, person, result.role)
            review.answer = result.answer
            review.save(update_fields=["answer"])
    return done


def count(item: ItemRow, person: Person, values: Mapping[str, str]) -> str:
    """Store the person's own counts; others' counts are shown afterwards, and these cannot change.

    Returns:
        Why they are not kept; empty if they are.
    """
    with transaction.atomic():
        item = ItemRow.objects.select_for_update().select_related("project").get(pk=item.pk)
        state = standing(item, protocol_of(item.project))
        stage = protocol_of(item.project).stages[state.stage]
        if person.name not in state.claims:
            return NOT_CLAIMED
        wanted = counts_of(stage)
        answers = {check.id: values.get(f"check:{check.id}", "").strip() for check in wanted}
        if fault := next(filter(None, (check.fault(answers[check.id]) for check in wanted)), ""):
            return fault
        review = _review(item, person, stage.role)
        review.checks = answers | review.checks
        review.save(update_fields=["checks"])
    return ""


def say(item: ItemRow, person: Person, words: str) -> Result:
    """Add a message about an item."""
    return act(item, Act(kind="say", role=_role(item), by=person.name, message=words))


def edit(
    item: ItemRow, person: Person, content: dict[str, object], *, language: str = "", seen: int | None = None
) -> Result:
    """Reword an item; counts given for the previous wording apply to this one.

    Args:
        item: which one.
        person: who looks at it.
        content: the new wording.
        language: where it is a translation, its language.
        seen: the `lock_version` that the person saw.
    """
    stage = protocol_of(item.project).stages[standing(item, protocol_of(item.project)).stage]
    own: Origin = next((edit for edit in stage.edits if edit != "translate"), "translate")
    result = Act(
        kind="edit",
        role=stage.role,
        by=person.name,
        content=in_language(content, language) if language else content,
        origin="translate" if language else own,
        seen=seen,
    )
    with transaction.atomic():
        before = ReviewRow.objects.filter(
            item=item, revision=item.current, stage=stage.role, reviewer__pseudonym=person.name
        ).first()
        done = act(item, result)
        if isinstance(done, RecordedAct) and before is not None:
            review = _review(item, person, stage.role)
            review.answer, review.begun_at, review.checks = before.answer, before.begun_at, before.checks
            review.save(update_fields=["answer", "begun_at", "checks"])
    return done


def decide(
    item: ItemRow, person: Person, kind: Kind, *, given: FilledForm, minutes: float | None, seen: int | None
) -> Result:
    """Accept, return or reject an item, storing verdicts on its fields and answers to its checks.

    Witnesses are recorded before the decision; where that is refused, neither is recorded.

    Args:
        item: which one.
        person: who looks at it.
        kind: what is decided.
        given: what was filled in; counts that were given before stand.
        minutes: how long it took.
        seen: the `lock_version` that the person saw.
    """
    with transaction.atomic():
        look = look_of(item, person, reviews_of_item(item))
        if look.step == "closed":
            return Refused(reason=NOT_CLAIMED)
        if fault := why_not(kind, look.state, look.protocol, step=look.step):
            return Refused(reason=fault)
        is_disputed = look.state.is_disputed
        if fault := given_fault(kind, given, look.lines, is_disputed=is_disputed):
            return Refused(reason=fault)
        if look.stage.witnesses and (words := given.witnesses):
            checks = conditions_of(words)
            witness = Act(kind="witness", role=look.stage.role, by=person.name, message=words, checks=checks)
            if isinstance(done := act(item, msgspec.structs.replace(witness, seen=seen)), Refused):
                return done
            seen = item.lock_version
        result = Act(
            kind=kind,
            role=look.stage.role,
            by=person.name,
            checks={**given.checks, **look.counted},
            scores=given.scores,
            message=message_of(given),
            minutes=minutes,
            seen=seen,
        )
        done = act(item, result)
        if isinstance(done, RecordedAct):
            _keep(item, person, result, given=given, number=done.number, stage=look.stage)
            _close_claim(item, person.name, "submitted")
        else:
            transaction.set_rollback(True)
    return done


def _keep(
    item: ItemRow, person: Person, result: Act, *, given: FilledForm, number: int, stage: Stage
) -> None:
    review = _review(item, person, result.role)
    review.transition = TransitionRow.objects.get(project=item.project_id, number=number)
    event = to_event(review.transition)
    marked = marked_fields(event, stage)
    fields = {
        name: WRONG if name in marked else RIGHT for name in field_verdicts(event, stage)
    } | given.fields
    review.decision, review.feedback = result.kind, result.message
    review.seconds = None if result.minutes is None else result.minutes * 60
    review.ended_at = current().settings.clock()
    review.checks = review.checks | result.checks
    review.fields = {name: [verdict, given.notes.get(name, "")] for name, verdict in fields.items()}
    review.save()


def _review(item: ItemRow, person: Person, role: str) -> ReviewRow:
    row, _ = ReviewRow.objects.get_or_create(
        revision=item.current,
        stage=role,
        reviewer=account_of(person),
        defaults={"item": item, "author": item.author, "begun_at": current().settings.clock()},
    )
    return row


def minutes_since(begun: datetime | None) -> float | None:
    """Return the minutes since a page was served; never negative, even if the clock was set back."""
    if begun is None:
        return None
    return max(0.0, (current().settings.clock() - begun).total_seconds() / 60)


def decided_by(events: Iterable[Event], name: str) -> Event | None:
    """Return a person's last decision on an item."""
    mine = [event for event in events if event.by == name and event.kind in ("accept", "return", "reject")]
    return mine[-1] if mine else None
