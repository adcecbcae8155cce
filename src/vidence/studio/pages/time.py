"""Time: beats of pages, the spans that they come to, corrections, and what is owed."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import Resolver404, resolve

from vidence.errors import UsageError
from vidence.make.review.pay import money
from vidence.make.review.protocol import Protocol
from vidence.studio import admission, times
from vidence.studio.access import BOTH, EVERY_ROLE, PROJECT, route
from vidence.studio.accounts import account_of, known_account
from vidence.studio.pages.answers import row_named, tried
from vidence.studio.records.boards import MadeSetRow
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow, UserRow
from vidence.studio.records.work import TimeCorrectionRow, TimeSpanRow
from vidence.studio.rules.caps import day_of
from vidence.studio.rules.spans import Kind, Span
from vidence.studio.settings import current
from vidence.studio.training import WORKERS
from vidence.studio.workflow import protocol_of

_DAYS: Final = 7
_ENTRIES: Final = 200


def beat(request: HttpRequest) -> HttpResponse:
    """Record a heartbeat of a project page; the browser sends the page's address only."""
    try:
        kwargs = resolve(request.POST.get("path", "")).kwargs
    except Resolver404:
        return HttpResponse(status=400)
    sets = MadeSetRow.objects.filter(public=kwargs.get("made_set"))
    slug = kwargs.get("project") or sets.values_list("project__slug", flat=True).first()
    if slug is None or not request.person.is_in(slug):
        return HttpResponse(status=204)
    project = ProjectRow.objects.filter(slug=slug).first()
    if project is not None and request.person.roles_in(slug) & {*WORKERS}:
        item = (
            ItemRow.objects.filter(project=project, public=kwargs["item"]).first()
            if "item" in kwargs
            else None
        )
        times.beat(account_of(request.person), project, item)
    return HttpResponse(status=204)


def time_page(request: HttpRequest, project: str) -> HttpResponse:
    """Show the user's working time and earnings of today; operators see all users."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    done, fault = tried(request, lambda: _time_act(request, row), "time", project)
    if done is not None:
        return done
    is_operator = "operator" in request.person.roles_in(project)
    protocol = protocol_of(row)
    fields = {
        "project": row,
        "now": current().settings.clock().astimezone(UTC),
        "fault": fault,
        "filled": request.POST.dict(),
        "least_reason": times.LEAST_REASON,
        **_of_me(request, row, protocol),
        **(_of_all(row) if is_operator else {}),
    }
    return render(request, "time/time.html", fields, status=400 if fault else 200)


def _time_act(request: HttpRequest, project: ProjectRow) -> None:
    result = request.POST
    user = account_of(request.person)
    if result.get("act") == "file":
        kind: Kind = "idle" if result.get("kind") == "idle" else "active"
        span = Span(kind=kind, start=_time_in(result.get("start", "")), end=_time_in(result.get("end", "")))
        times.file_correction(user, project, span, reason=result.get("reason", ""))
    elif result.get("act") in ("approve", "refuse") and "operator" in request.person.roles_in(project.slug):
        named = row_named(TimeCorrectionRow, result.get("correction", ""), project=project)
        times.decide(named, by=user, is_approved=result["act"] == "approve", answer=result.get("answer", ""))
    else:
        raise UsageError("this action is not available here")


def _time_in(words: str) -> datetime:
    try:
        return datetime.fromisoformat(words).replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f"the time {words!r}; expected one in UTC, such as 2026-11-23T09:30") from error


def _of_me(request: HttpRequest, project: ProjectRow, protocol: Protocol) -> dict[str, object]:
    user = known_account(request.person)
    clock = current().settings.clock
    roles = [name for name in WORKERS if name in request.person.roles_in(project.slug)]
    entries = [
        (role, admission.left_today(request.person.name, project, role, clock=clock, protocol=protocol))
        for role in roles
    ]
    fields: dict[str, object] = {
        "caps": [(role, allowance) for role, allowance in entries if allowance is not None],
        "days": [],
    }
    if user is None:
        return fields
    begin = day_of(clock())[0]
    days = []
    for i in range(_DAYS):
        rows = list(times.spans_on(user, project, begin - timedelta(days=i)))
        if i == 0:
            fields["spans"] = [
                (row, _minutes((row.end_at - row.start_at).total_seconds()), times.is_running(row))
                for row in rows
            ]
            fields["today"] = _minutes(times.sum_s(rows))
        days.append((begin - timedelta(days=i), _minutes(times.sum_s(rows)), len(rows)))
    fields["days"] = days
    fields["corrections"] = TimeCorrectionRow.objects.filter(user=user, project=project).order_by(
        "-filed_at"
    )[:20]
    if protocol.pay is not None and current().settings.mode == "team":
        fields |= earnings(times.owed(project, user), protocol.pay.currency)
    return fields


def earnings(entries: Sequence[times.Owed], currency: str) -> dict[str, object]:
    """Entries for a page: the newest of them, and what all come to."""
    sums = {
        word: money(sum(entry.entry.amount for entry in entries if entry.is_due is wanted), currency)
        for word, wanted in (("due", True), ("pending", False))
        if entries
    }
    earnings = [
        (entry.entry, entry.is_due, money(entry.entry.amount, currency)) for entry in entries[:_ENTRIES]
    ]
    return {"entries": earnings, "sums": sums, "n_entries": len(entries)}


def _of_all(project: ProjectRow) -> dict[str, object]:
    begin = day_of(current().settings.clock())[0]
    names = TimeSpanRow.objects.filter(project=project, start_at__gte=begin).values_list("user", flat=True)
    people = UserRow.objects.filter(pk__in=set(names)).order_by("key")
    return {
        "to_decide": TimeCorrectionRow.objects.filter(project=project, state="filed")
        .select_related("user")
        .order_by("filed_at"),
        "all_today": [
            (person, _minutes(times.sum_s(list(times.spans_on(person, project, begin))))) for person in people
        ],
    }


def _minutes(seconds: float) -> str:
    """A length of time for people.

    >>> _minutes(3725), _minutes(59)
    ('1:02:05', '0:00:59')
    """
    whole = round(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"


def ledger_page(request: HttpRequest, project: str) -> HttpResponse:
    """Show earnings per person in a project, and the amounts due."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    pay = protocol_of(row).pay
    currency = "" if pay is None else pay.currency
    by: dict[str, list[times.Owed]] = {}
    for entry in times.owed(row):
        by.setdefault(entry.entry.by, []).append(entry)
    each = [(name, earnings(entries, currency)) for name, entries in sorted(by.items())]
    return render(request, "time/ledger.html", {"project": row, "each": each})


urls = [
    route("beat", beat, name="beat", roles=EVERY_ROLE, to=("POST",)),
    route(
        f"{PROJECT}/time", time_page, name="time", roles={"author", "reviewer", "meta", "operator"}, to=BOTH
    ),
    route(f"{PROJECT}/ledger", ledger_page, name="ledger", roles={"operator"}),
]
