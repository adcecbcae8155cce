"""Working times of people, and what they are owed.

Beats of pages are stamped by the server; people file corrections. What is owed is by `make.review.pay`, out
of acts and of the time that was counted. Nothing is paid out here. A piece is due once its item is at its
end, until then it is pending; time is due.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet
from msgspec.structs import replace

from vidence.errors import UsageError
from vidence.make.review.pay import Entry, ledger, time_amount
from vidence.make.review.states import ENDS
from vidence.studio.audit import note
from vidence.studio.records.items import ItemRow, TransitionRow
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.records.work import AssignmentRow, TimeCorrectionRow, TimeSpanRow
from vidence.studio.rules.caps import day_of
from vidence.studio.rules.spans import Span, active_s, beaten, is_over
from vidence.studio.settings import current
from vidence.studio.workflow import protocol_of, to_event

MOST_DAYS: Final = 14
"""Maximum age of corrected times."""
MOST_HOURS: Final = 12
"""Maximum length of a correction."""
LEAST_REASON: Final = 10


def beat(user: UserRow, project: ProjectRow, item: ItemRow | None) -> None:
    """Record a heartbeat of a page, by the server's clock.

    Args:
        user: who.
        project: what the page is about.
        item: the item that it is about; None: the project as a whole.
    """
    now, pulse = current().settings.clock(), current().settings.pulse
    work = work_of(project.pk, None if item is None else item.pk)
    before = _open_span(user)
    if before is not None and beaten(span_of(before), now, work, pulse=pulse).is_told_again:
        return
    with transaction.atomic():
        UserRow.objects.select_for_update().get(pk=user.pk)
        row = _open_span(user)
        step = beaten(None if row is None else span_of(row), now, work, pulse=pulse)
        if row is not None and not step.closed:
            row.end_at, row.n_beats = step.open.end, step.open.n_beats
            row.save(update_fields=["end_at", "n_beats"])
            return
        if row is not None:
            _close(row, step.closed)
        close_stale(now)
        TimeSpanRow.objects.create(
            user=user,
            project=project,
            item=item,
            assignment=_claim(user, item),
            is_open=True,
            **_columns(step.open),
        )


def _open_span(user: UserRow) -> TimeSpanRow | None:
    row: TimeSpanRow | None = TimeSpanRow.objects.filter(user=user, is_open=True).first()
    return row


def _claim(user: UserRow, item: ItemRow | None) -> AssignmentRow | None:
    if item is None:
        return None
    row: AssignmentRow | None = AssignmentRow.objects.filter(user=user, item=item, state="claimed").first()
    return row


def _columns(span: Span) -> dict[str, object]:
    return {
        "kind": span.kind,
        "source": "heartbeat",
        "start_at": span.start,
        "end_at": span.end,
        "n_beats": span.n_beats,
        "is_clock_back": span.is_clock_back,
    }


def _close(row: TimeSpanRow, closed: tuple[Span, ...]) -> None:
    """Close an open span, and add the idle one after it."""
    first, *more = closed
    row.end_at, row.n_beats, row.is_open = first.end, first.n_beats, False
    row.save(update_fields=["end_at", "n_beats", "is_open"])
    for span in more:
        TimeSpanRow.objects.create(user=row.user, project=row.project, item=row.item, **_columns(span))


def close_stale(now: datetime) -> int:
    """Close open spans that no heartbeat can extend; return their number."""
    pulse = current().settings.pulse
    gap = timedelta(seconds=pulse.gap_s)
    late = Q(end_at__lt=now - gap) | Q(end_at__gt=now + gap)
    rows = list(TimeSpanRow.objects.filter(late, is_open=True).select_related("user", "project", "item"))
    for row in rows:
        _close(row, (span_of(row),))
    return len(rows)


def end_work(user: UserRow) -> None:
    """Close the open span of a person who leaves."""
    with transaction.atomic():
        UserRow.objects.select_for_update().get(pk=user.pk)
        row = _open_span(user)
        if row is not None:
            _close(row, (span_of(row),))


def spans_on(user: UserRow, project: ProjectRow, day: datetime) -> QuerySet[TimeSpanRow]:
    """Return a person's spans that started on a day, in order, including an open one."""
    begin, end = day_of(day)
    mine = TimeSpanRow.objects.filter(user=user, project=project, start_at__gte=begin, start_at__lt=end)
    return mine.select_related("item").order_by("start_at", "pk")


def is_running(row: TimeSpanRow) -> bool:
    """Whether a span may still grow."""
    settings = current().settings
    return bool(row.is_open) and not is_over(span_of(row), settings.clock(), pulse=settings.pulse)


def minutes_since(user: UserRow, item: ItemRow, since: datetime | None) -> float | None:
    """Return the minutes of work of a person on an item since a time; None without heartbeats.

    Args:
        user: who.
        item: on what.
        since: after which time; None: all of it.
    """
    rows = TimeSpanRow.objects.filter(user=user, item=item, source="heartbeat")
    if since is not None:
        rows = rows.filter(end_at__gt=since)
    spans = [span_of(row) for row in rows]
    if not spans:
        return None
    cut = [span if since is None else replace(span, start=max(span.start, since)) for span in spans]
    return active_s(cut, given=[]) / 60


def file_correction(user: UserRow, project: ProjectRow, span: Span, *, reason: str) -> TimeCorrectionRow:
    """File missed (active) or wrongly counted (idle) time; an operator decides.

    Raises:
        UsageError: the times cannot be, or there is no reason.
    """
    now = current().settings.clock()
    if span.end <= span.start:
        raise UsageError("it ends before it begins; expected a later end")
    if span.end > now:
        raise UsageError("it ends in the future; correct time once it is over")
    if span.start < now - timedelta(days=MOST_DAYS):
        raise UsageError(f"it began more than {MOST_DAYS} days ago; file corrections earlier")
    if span.seconds > MOST_HOURS * 3600 or day_of(span.start) != day_of(span.end - timedelta(microseconds=1)):
        raise UsageError(
            f"expected {MOST_HOURS} hours at most, within one day of UTC; file two corrections for more"
        )
    if len(reason.strip()) < LEAST_REASON:
        raise UsageError(f"a reason of {len(reason.strip())} characters; expected {LEAST_REASON} or more")
    row: TimeCorrectionRow = TimeCorrectionRow.objects.create(
        user=user,
        project=project,
        kind=span.kind,
        start_at=span.start,
        end_at=span.end,
        reason=reason.strip(),
        filed_at=now,
        state="filed",
    )
    return row


def decide(row: TimeCorrectionRow, *, by: UserRow, is_approved: bool, answer: str = "") -> None:
    """Approve or refuse a correction. Recorded spans stay; an approved one is added as a span.

    Raises:
        UsageError: it was decided already, or the person would decide their own.
    """
    with transaction.atomic():
        decide = TimeCorrectionRow.objects.select_for_update().get(pk=row.pk)
        if decide.state != "filed":
            raise UsageError(f"it is already {decide.state}")
        if decide.user_id == by.pk and current().settings.mode == "team":
            raise UsageError("operators cannot decide their own corrections; ask another operator")
        if is_approved:
            decide.span = TimeSpanRow.objects.create(
                user=decide.user,
                project=decide.project,
                kind=decide.kind,
                source="correction",
                start_at=decide.start_at,
                end_at=decide.end_at,
                reason=decide.reason,
                approved_by=by,
            )
        elif not answer.strip():
            raise UsageError("no answer; give a reason to refuse a correction")
        decide.state = "approved" if is_approved else "refused"
        decide.decided_by, decide.answer = by, answer.strip()
        decide.decided_at = current().settings.clock()
        decide.save()
        about = f"{decide.project.slug}:{decide.public}"
        note(f"correction-{decide.state}", by=by.pseudonym, about=about)


# --------------------------------------------------------------------------- what is owed


@dataclass(frozen=True, kw_only=True)
class Owed:
    """An amount owed to a person, and whether it is due."""

    entry: Entry
    is_due: bool


def owed(project: ProjectRow, user: UserRow | None = None) -> list[Owed]:
    """Return what team members, or one of them, have earned in a project, newest first.

    Minutes that were stated earn nothing here: time is paid as it was counted, a day rounded once.
    """
    pay = protocol_of(project).pay
    if pay is None or current().settings.mode != "team":
        return []
    users = UserRow.objects.all() if user is None else [user]
    names = {value.pk: value.pseudonym for value in users}
    acts = TransitionRow.objects.filter(project=project, by__in=names.values()).order_by("number")
    entries = []
    for row in acts.select_related("item"):
        event = replace(to_event(row), minutes=None)
        entries += [Owed(entry=element, is_due=row.item.state in ENDS) for element in ledger([event], pay)]
    rows = TimeSpanRow.objects.filter(project=project, user__in=names, is_open=False)
    for (name, day), spans in groupby(
        rows.order_by("user", "start_at"),
        key=lambda element: (names[element.user_id], day_of(element.start_at)[0]),
    ):
        minutes = sum_s(spans) / 60
        entry = Entry(
            event_id="",
            by=name,
            day=f"{day:%Y-%m-%d}",
            kind="time",
            quantity=minutes,
            amount=time_amount(minutes, pay.per_hour),
        )
        entries.append(Owed(entry=entry, is_due=True))
    return sorted(
        (owed for owed in entries if owed.entry.amount), key=lambda owed: owed.entry.day, reverse=True
    )


def sum_s(rows: Iterable[TimeSpanRow]) -> float:
    """Return the seconds of one day's spans, including approved corrections."""
    by_source: dict[str, list[Span]] = defaultdict(list)
    for row in rows:
        by_source[row.source].append(span_of(row))
    return active_s(by_source["heartbeat"], given=by_source["correction"])


def span_of(row: TimeSpanRow) -> Span:
    """Return the record of a span."""
    return Span(
        kind=row.kind,
        start=row.start_at,
        end=row.end_at,
        work="" if row.project_id is None else work_of(row.project_id, row.item_id),
        n_beats=row.n_beats,
        is_clock_back=row.is_clock_back,
    )


def work_of(project: int, item: int | None) -> str:
    """Return what a span is about, as one word."""
    return f"{project}/{item or ''}"
