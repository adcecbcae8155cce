"""What people are owed: entries in a chain, each written with what it is for, by `make.review.pay`.

Nothing is paid out here. An entry is due once what it is for is final: time when it was counted, a piece when
its item is at its end; until then it is pending.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from django.db import transaction
from django.db.models import Sum

from vidence.errors import UsageError
from vidence.make.review.pay import ledger, time_amount
from vidence.make.review.protocol import Pay, Protocol, protocol_of_text
from vidence.make.review.revisions import Event
from vidence.make.review.states import ENDS
from vidence.records import Record
from vidence.studio.audit import note
from vidence.studio.records.chains import link
from vidence.studio.records.items import TransitionRow
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.records.work import AuditEventRow, LedgerRow, TimeSpanRow
from vidence.studio.rules.spans import Span, active_s
from vidence.studio.settings import current

EVENT: Final = "event:"
TIME: Final = "time:"
_BATCH: Final = 500
_SAME_S: Final = 1.0
"""A day whose entries and spans differ by less is settled."""


class Entry(Record):
    """An entry to be written: how much of what, by which rule, and what it is for."""

    kind: str
    amount: int
    currency: str
    rule: str
    quantity: float
    source: str


@dataclass(frozen=True, kw_only=True)
class Owed:
    """An entry as people read it."""

    row: LedgerRow
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
        if abs(minutes - before) * 60 < _SAME_S:
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
    return sum_s(rows)


def sum_s(rows: Iterable[TimeSpanRow]) -> float:
    """How many seconds spans of one day come to: what was counted, with corrections that were approved."""
    by_source: dict[str, list[Span]] = defaultdict(list)
    for one in rows:
        by_source[one.source].append(span_of(one))
    return active_s(by_source["heartbeat"], given=by_source["correction"])


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
    ended = set(_ended(ids))
    return [
        Owed(row=one, is_due=not (one.reverses or one).source.startswith(EVENT) or name in ended)
        for one, name in zip(rows, ids, strict=True)
    ]


def _ended(ids: Sequence[str]) -> Iterator[str]:
    """Those of the acts whose item is at its end; found by their names, which no two acts share."""
    for start in range(0, len(ids), _BATCH):
        acts = TransitionRow.objects.filter(event_id__in=ids[start : start + _BATCH])
        for name, state in acts.values_list("event_id", "item__state"):
            if state in ENDS:
                yield name


def links(project: ProjectRow) -> Iterator[tuple[int, Mapping[str, object], str]]:
    """Every entry of a project with its hash, for `records.chains.first_break`."""
    rows = LedgerRow.objects.filter(project=project).select_related("user", "reverses").order_by("number")
    for row in rows.iterator():
        yield row.number, _content(row), row.chain_sha256


def first_fault(project: ProjectRow) -> str:
    """The first entry that does not follow from what it is for, in words; empty where all do.

    A piece is compared with its act, time with the spans of its day, each by the rates that the project was
    under when the entry was written; what takes an entry back with that entry.
    """
    rows = list(
        LedgerRow.objects.filter(project=project).select_related("user", "reverses").order_by("number")
    )
    found = _Rates(project)
    minutes: dict[tuple[int, str], float] = defaultdict(float)
    last: dict[tuple[int, str], LedgerRow] = {}
    faults: list[tuple[int, str]] = []
    for row in rows:
        if row.kind == "time":
            day = (row.user_id, row.source.removeprefix(TIME).rpartition(":")[0])
            why = _time_fault(row, found.at(row.at), before=minutes[day])
            minutes[day] += row.quantity
            last[day] = row
        elif row.kind == "reversal":
            of = row.reverses
            is_same = of is not None and (row.amount_minor, row.quantity) == (-of.amount_minor, -of.quantity)
            why = "" if is_same else f"it takes back {0 if of is None else of.amount_minor}"
        else:
            why = _piece_fault(row, found.at(row.at))
        if why:
            faults.append((row.number, f"{_entry_words(row)}, and {why}"))
    for day, row in last.items():
        if why := _day_fault(row, day[1], found, minutes=minutes[day]):
            faults.append((row.number, f"{_entry_words(row)}, and {why}"))
    return min(faults)[1] if faults else ""


class _Rates:
    """Under which rates a project was at which time.

    The log of this server tells it. A project that came from another server without that log may have been
    under any version that was used by then.
    """

    def __init__(self, project: ProjectRow) -> None:
        kept = {one.n: one for one in project.versions.select_related("protocol")}
        first = kept[1].protocol if 1 in kept else project.protocol
        used = [(project.created_at, first)]
        told = AuditEventRow.objects.filter(kind="protocol-used", about=project.slug).order_by("number")
        used += [(one.at, kept[n].protocol) for one in told if (n := one.details.get("version")) in kept]
        used_ones = {n for n, one in kept.items() if n > 1 and one.used_at is not None}
        self._is_told = used_ones <= {one.details.get("version") for one in told}
        if not self._is_told:
            used += [(kept[n].used_at, kept[n].protocol) for n in sorted(used_ones)]
        self._used = [(at, protocol_of_text(one.source, name="protocol.toml").pay) for at, one in used]

    def at(self, at: datetime) -> list[Pay | None]:
        """What was paid at a time; of several where the rules were changed at that very moment."""
        before = [pay for since, pay in self._used if since < at]
        if self._is_told:
            before = before[-1:]
        return before + [pay for since, pay in self._used if since == at]

    def always_paid_time(self, since: datetime) -> bool:
        """Whether hours earned something from a time until now."""
        until_now = [pay for at, pay in self._used if at > since]
        return all(pay is not None and pay.per_hour for pay in (*self.at(since), *until_now))


def _piece_fault(row: LedgerRow, rates: Sequence[Pay | None]) -> str:
    made = TransitionRow.objects.filter(
        project=row.project_id, event_id=row.source.removeprefix(EVENT)
    ).first()
    if made is None:
        return "there is no such act"
    event = msgspec.structs.replace(msgspec.json.decode(made.event, type=Event), minutes=None)
    if event.by != row.user.pseudonym:
        return f"the act is one of {event.by}"
    earned = {(one.kind, one.amount, pay.currency) for pay in rates if pay for one in ledger([event], pay)}
    if (row.kind, row.amount_minor, row.currency) in earned and row.quantity == 1:
        return ""
    return f"its act earns {_amounts(earned)}"


def _time_fault(row: LedgerRow, rates: Sequence[Pay | None], *, before: float) -> str:
    earned = {
        (
            "time",
            time_amount(before + row.quantity, pay.per_hour) - time_amount(before, pay.per_hour),
            pay.currency,
        )
        for pay in rates
        if pay
    }
    is_right = ("time", row.amount_minor, row.currency) in earned
    return "" if is_right else f"its {row.quantity:.2f} minutes earn {_amounts(earned)}"


def _day_fault(row: LedgerRow, day: str, rates: _Rates, *, minutes: float) -> str:
    """What is wrong with all the time of a day, whose last entry this is."""
    begin = datetime.fromisoformat(day).replace(tzinfo=UTC)
    if not rates.always_paid_time(begin):
        return ""  # what was worked while hours earned nothing was not entered
    worked = worked_s(row.user, row.project, begin)
    if abs(worked - minutes * 60) < _SAME_S:
        return ""
    return f"the entries of that day hold {minutes:.2f} minutes, its spans {worked / 60:.2f}"


def _entry_words(row: LedgerRow) -> str:
    said = f"{row.amount_minor} {row.currency}"
    return f"entry {row.number} ({row.kind} of {row.user.pseudonym}, {row.source}) says {said}"


def _amounts(earned: Collection[tuple[str, int, str]]) -> str:
    return " or ".join(f"{n} {currency} ({kind})" for kind, n, currency in sorted(earned)) or "nothing"


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
