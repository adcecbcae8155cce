"""Who worked on what and when: beats of pages, stamped by the server, and corrections that people file."""

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet
from msgspec.structs import replace

from vidence.errors import UsageError
from vidence.studio import ledger
from vidence.studio.audit import note
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.records.work import AssignmentRow, TimeCorrectionRow, TimeSpanRow
from vidence.studio.rules.caps import day_of
from vidence.studio.rules.spans import Span, active_s, beaten, is_over
from vidence.studio.settings import current

MOST_DAYS: Final = 14
"""How long ago the time of a correction may be."""
MOST_HOURS: Final = 12
"""How long one correction may be."""
LEAST_REASON: Final = 10


def beat(user: UserRow, project: ProjectRow, item: ItemRow | None) -> None:
    """Count a beat of a page on which somebody works, by the clock of the server.

    Args:
        user: who.
        project: what the page is about.
        item: the item that it is about; None: the project as a whole.
    """
    now, pulse = current().settings.clock(), current().settings.pulse
    work = ledger.work_of(project.pk, None if item is None else item.pk)
    before = _open_span(user)
    if before is not None and beaten(ledger.span_of(before), now, work, pulse=pulse).is_told_again:
        return
    with transaction.atomic():
        UserRow.objects.select_for_update().get(pk=user.pk)
        row = _open_span(user)
        step = beaten(None if row is None else ledger.span_of(row), now, work, pulse=pulse)
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
    found: TimeSpanRow | None = TimeSpanRow.objects.filter(user=user, is_open=True).first()
    return found


def _claim(user: UserRow, item: ItemRow | None) -> AssignmentRow | None:
    if item is None:
        return None
    found: AssignmentRow | None = AssignmentRow.objects.filter(user=user, item=item, state="claimed").first()
    return found


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
    """Close an open span, and keep the idle one behind it."""
    first, *more = closed
    row.end_at, row.n_beats, row.is_open = first.end, first.n_beats, False
    row.save(update_fields=["end_at", "n_beats", "is_open"])
    for one in more:
        TimeSpanRow.objects.create(user=row.user, project=row.project, item=row.item, **_columns(one))


def close_stale(now: datetime) -> int:
    """Close the open spans that no beat can make longer any more; how many there were."""
    pulse = current().settings.pulse
    gap = timedelta(seconds=pulse.gap_s)
    late = Q(end_at__lt=now - gap) | Q(end_at__gt=now + gap)
    rows = list(TimeSpanRow.objects.filter(late, is_open=True).select_related("user", "project", "item"))
    for row in rows:
        _close(row, (ledger.span_of(row),))
    return len(rows)


def end_work(user: UserRow) -> None:
    """Close the open span of somebody who goes."""
    with transaction.atomic():
        UserRow.objects.select_for_update().get(pk=user.pk)
        row = _open_span(user)
        if row is not None:
            _close(row, (ledger.span_of(row),))


def spans_on(user: UserRow, project: ProjectRow, day: datetime) -> QuerySet[TimeSpanRow]:
    """The spans of one person that began on a day, in order; also the one that is open."""
    begin, end = day_of(day)
    mine = TimeSpanRow.objects.filter(user=user, project=project, start_at__gte=begin, start_at__lt=end)
    return mine.select_related("item").order_by("start_at", "pk")


def is_running(row: TimeSpanRow) -> bool:
    """Whether a span may still grow."""
    settings = current().settings
    return bool(row.is_open) and not is_over(ledger.span_of(row), settings.clock(), pulse=settings.pulse)


def minutes_since(user: UserRow, item: ItemRow, since: datetime | None) -> float | None:
    """How many minutes somebody has worked on one item since a time; None where no beat was counted.

    Args:
        user: who.
        item: on what.
        since: after which time; None: all of it.
    """
    rows = TimeSpanRow.objects.filter(user=user, item=item, source="heartbeat")
    if since is not None:
        rows = rows.filter(end_at__gt=since)
    spans = [ledger.span_of(one) for one in rows]
    if not spans:
        return None
    cut = [one if since is None else replace(one, start=max(one.start, since)) for one in spans]
    return active_s(cut, given=[]) / 60


def file_correction(user: UserRow, project: ProjectRow, told: Span, *, reason: str) -> TimeCorrectionRow:
    """File that time was missed (active), or was counted and was none (idle); an operator decides.

    Raises:
        UsageError: the times cannot be, or there is no reason.
    """
    now = current().settings.clock()
    if told.end <= told.start:
        raise UsageError("it ends before it begins; expected an end that is later")
    if told.end > now:
        raise UsageError("it ends in the future; time is corrected once it is over")
    if told.start < now - timedelta(days=MOST_DAYS):
        raise UsageError(f"it began more than {MOST_DAYS} days ago; corrections are filed before that")
    if told.seconds > MOST_HOURS * 3600 or day_of(told.start) != day_of(told.end - timedelta(microseconds=1)):
        raise UsageError(
            f"expected {MOST_HOURS} hours at most, within one day of UTC; file two where it was more"
        )
    if len(reason.strip()) < LEAST_REASON:
        raise UsageError(f"a reason of {len(reason.strip())} signs; expected {LEAST_REASON} or more")
    row: TimeCorrectionRow = TimeCorrectionRow.objects.create(
        user=user,
        project=project,
        kind=told.kind,
        start_at=told.start,
        end_at=told.end,
        reason=reason.strip(),
        filed_at=now,
        state="filed",
    )
    return row


def decide(row: TimeCorrectionRow, *, by: UserRow, is_approved: bool, answer: str = "") -> None:
    """Approve or refuse a correction. What was counted stays; what is approved is a span beside it.

    Raises:
        UsageError: it was decided already, or the person would decide their own.
    """
    with transaction.atomic():
        found = TimeCorrectionRow.objects.select_for_update().get(pk=row.pk)
        if found.state != "filed":
            raise UsageError(f"it was {found.state} already")
        if found.user_id == by.pk and current().settings.mode == "team":
            raise UsageError("nobody decides their own correction; another operator does")
        if is_approved:
            found.span = TimeSpanRow.objects.create(
                user=found.user,
                project=found.project,
                kind=found.kind,
                source="correction",
                start_at=found.start_at,
                end_at=found.end_at,
                reason=found.reason,
                approved_by=by,
            )
        elif not answer.strip():
            raise UsageError("no answer; a correction is refused with a reason")
        found.state = "approved" if is_approved else "refused"
        found.decided_by, found.answer = by, answer.strip()
        found.decided_at = current().settings.clock()
        found.save()
        about = f"{found.project.slug}:{found.public}"
        note(f"correction-{found.state}", by=by.pseudonym, about=about)
