"""What people are owed, by `make.review.pay`, out of their acts and of the time that was counted.

Nothing is paid out here. A piece is due once its item is at its end, until then it is pending; time is due.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import msgspec

from vidence.make.review.pay import Entry, ledger, time_amount
from vidence.make.review.states import ENDS
from vidence.studio.records.items import TransitionRow
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.records.work import TimeSpanRow
from vidence.studio.rules.caps import day_of
from vidence.studio.rules.spans import Span, active_s
from vidence.studio.settings import current
from vidence.studio.workflow import protocol_of, to_event


@dataclass(frozen=True, kw_only=True)
class Owed:
    """An entry of one person, and whether it is due."""

    entry: Entry
    is_due: bool


def owed(project: ProjectRow, user: UserRow | None = None) -> list[Owed]:
    """What each person of a team, or one of them, has earned in a project, the newest first.

    Minutes that were stated earn nothing here: time is paid as it was counted, a day rounded once.
    """
    pay = protocol_of(project).pay
    if pay is None or current().settings.mode != "team":
        return []
    users = UserRow.objects.all() if user is None else [user]
    names = {one.pk: one.pseudonym for one in users}
    acts = TransitionRow.objects.filter(project=project, by__in=names.values()).order_by("number")
    found = []
    for row in acts.select_related("item"):
        event = msgspec.structs.replace(to_event(row), minutes=None)
        found += [Owed(entry=one, is_due=row.item.state in ENDS) for one in ledger([event], pay)]
    rows = TimeSpanRow.objects.filter(project=project, user__in=names, is_open=False)
    for (name, day), spans in groupby(
        rows.order_by("user", "start_at"), key=lambda one: (names[one.user_id], day_of(one.start_at)[0])
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
        found.append(Owed(entry=entry, is_due=True))
    return sorted((one for one in found if one.entry.amount), key=lambda one: one.entry.day, reverse=True)


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
