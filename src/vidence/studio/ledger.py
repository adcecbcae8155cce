"""What people are owed: entries in a chain, each written with what it is for, by `make.review.pay`.

Nothing is paid out here. An entry is due once what it is for is final: time when it was counted, a piece when
its item is at its end; until then it is pending.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from django.db import transaction
from django.db.models import Sum

from vidence.errors import UsageError
from vidence.make.review.pay import ledger, time_amount
from vidence.make.review.protocol import Pay, Protocol
from vidence.make.review.revisions import Event
from vidence.make.review.states import ENDS
from vidence.records import Record
from vidence.studio.audit import note
from vidence.studio.records.chains import link
from vidence.studio.records.items import TransitionRow
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.records.work import LedgerRow, TimeSpanRow
from vidence.studio.rules.spans import Span, active_s
from vidence.studio.settings import current

EVENT: Final = "event:"
TIME: Final = "time:"


class Entry(Record):
    """An entry to be written: how much of what, by which rule, and what it is for."""

    kind: str
    amount: int
    currency: str
    rule: str
    quantity: float
    source: str


class Owed(Record):
    """An entry as people read it."""

    row: object
    is_due: bool


def of_event(project: ProjectRow, protocol: Protocol, event: Event) -> None:
    """Write what an act earns as a piece; call it in the transaction of the act.

    Minutes that were stated earn nothing here: time is paid as it was counted.
    """
    user = _of_team(event.by)
    if protocol.pay is None or user is None:
        return
    for one in ledger([msgspec.structs.replace(event, minutes=None)], protocol.pay):
        entry = Entry(
            kind=one.kind,
            amount=one.amount,
            currency=protocol.pay.currency,
            rule=f"per-{one.kind}",
            quantity=one.quantity,
            source=f"{EVENT}{event.event_id}",
        )
        if one.amount:
            _append(project, user, entry)


def settle(user: UserRow, project: ProjectRow, *, pay: Pay | None, day: datetime) -> None:
    """Write what is not in the ledger yet of the time of one day; where all is, nothing changes.

    The entries of a day come to what its minutes earn, rounded once, and not span by span.

    Args:
        user: whose time.
        project: where.
        pay: what an hour earns; None: nothing.
        day: its beginning, in UTC.
    """
    if pay is None or not pay.per_hour or _of_team(user.pseudonym) is None:
        return
    with transaction.atomic():
        ProjectRow.objects.select_for_update().get(pk=project.pk)
        source = f"{TIME}{day:%Y-%m-%d}:"
        entered = LedgerRow.objects.filter(project=project, user=user, kind="time", source__startswith=source)
        before = entered.aggregate(n=Sum("quantity"))["n"] or 0.0
        minutes = worked_s(user, project, day) / 60
        if abs(minutes - before) * 60 < 1:
            return
        entry = Entry(
            kind="time",
            amount=time_amount(minutes, pay.per_hour) - time_amount(before, pay.per_hour),
            currency=pay.currency,
            rule="per-hour",
            quantity=minutes - before,
            source=f"{source}{entered.count() + 1}",
        )
        _append(project, user, entry)


def worked_s(user: UserRow, project: ProjectRow, day: datetime) -> float:
    """The seconds that somebody worked on a project on one day, with the corrections that were approved."""
    rows = TimeSpanRow.objects.filter(
        user=user, project=project, is_open=False, start_at__gte=day, start_at__lt=day + timedelta(days=1)
    )
    counted = [span_of(one) for one in rows if one.source == "heartbeat"]
    return active_s(counted, given=[span_of(one) for one in rows if one.source == "correction"])


def span_of(row: TimeSpanRow) -> Span:
    """The record of a span."""
    return Span(
        kind=row.kind,
        start=row.start_at,
        end=row.end_at,
        work="" if row.project_id is None else work_of(row.project_id, row.item_id),
        n_beats=row.n_beats,
        is_clock_back=row.is_clock_back,
    )


def work_of(project: int, item: int | None) -> str:
    """What a span is about, as one word."""
    return f"{project}/{item or ''}"


def reverse(row: LedgerRow, *, by: str, reason: str) -> LedgerRow:
    """Take an entry back by another one; the first stays.

    Raises:
        UsageError: it was taken back already, takes one back itself, or there is no reason.
    """
    if not reason.strip():
        raise UsageError("no reason; an entry is taken back with a reason")
    with transaction.atomic():
        if row.reverses_id is not None or LedgerRow.objects.filter(reverses=row).exists():
            raise UsageError(f"entry {row.number} is taken back already, or takes one back itself")
        entry = Entry(
            kind="reversal",
            amount=-row.amount_minor,
            currency=row.currency,
            rule="reversal",
            quantity=-row.quantity,
            source=f"entry:{row.public}",
        )
        made = _append(row.project, row.user, entry, reverses=row)
        note(
            "entry-reversed",
            by=by,
            about=f"{row.project.slug}:{row.number}",
            details={"reason": reason.strip()},
        )
    return made


def owed(user: UserRow, project: ProjectRow) -> list[Owed]:
    """The entries of one person in one project, the newest first, each with whether it is due."""
    rows = list(
        LedgerRow.objects.filter(user=user, project=project).select_related("reverses").order_by("-number")
    )
    ids = [(one.reverses or one).source.removeprefix(EVENT) for one in rows]
    ended = set(
        TransitionRow.objects.filter(project=project, event_id__in=ids, item__state__in=ENDS).values_list(
            "event_id", flat=True
        )
    )
    return [
        Owed(row=one, is_due=not (one.reverses or one).source.startswith(EVENT) or name in ended)
        for one, name in zip(rows, ids, strict=True)
    ]


def links(project: ProjectRow) -> Iterator[tuple[int, Mapping[str, object], str]]:
    """Every entry of a project with its hash, for `records.chains.first_break`."""
    rows = LedgerRow.objects.filter(project=project).select_related("user", "reverses").order_by("number")
    for row in rows.iterator():
        yield row.number, _content(row), row.chain_sha256


def _of_team(by: str) -> UserRow | None:
    """The account of a pseudonym; who works alone owes nobody."""
    if current().settings.mode != "team":
        return None
    found: UserRow | None = UserRow.objects.filter(pseudonym=by).first()
    return found


def _append(
    project: ProjectRow, user: UserRow, entry: Entry, *, reverses: LedgerRow | None = None
) -> LedgerRow:
    ProjectRow.objects.select_for_update().get(pk=project.pk)
    last = LedgerRow.objects.filter(project=project).order_by("-number").first()
    row = LedgerRow(
        project=project,
        user=user,
        number=1 if last is None else last.number + 1,
        kind=entry.kind,
        amount_minor=entry.amount,
        currency=entry.currency,
        rule=entry.rule,
        quantity=entry.quantity,
        source=entry.source,
        reverses=reverses,
        at=current().settings.clock(),
    )
    row.chain_sha256 = link("" if last is None else last.chain_sha256, _content(row))
    row.save(force_insert=True)
    return row


def _content(row: LedgerRow) -> dict[str, object]:
    return {
        "number": row.number,
        "kind": row.kind,
        "by": row.user.pseudonym,
        "amount": row.amount_minor,
        "currency": row.currency,
        "rule": row.rule,
        "quantity": float(row.quantity),
        "source": row.source,
        "reverses": None if row.reverses is None else row.reverses.number,
        "at": row.at.astimezone(UTC).isoformat(timespec="microseconds"),
    }
