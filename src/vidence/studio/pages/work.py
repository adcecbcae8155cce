"""My work: what came back, what is claimed, what waits; claims are made and given back here."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from vidence.make.review.protocol import ROLES, StageRole
from vidence.make.review.recording import Share
from vidence.records import Record
from vidence.studio.access import EVERY_ROLE, Person, Rule, route
from vidence.studio.holding import held_at, held_by
from vidence.studio.looking import (
    claim,
    draw_share,
    expire,
    release,
    stages_of,
    take_next,
    waiting,
)
from vidence.studio.pages.faults import fault
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.records.work import AssignmentRow
from vidence.studio.settings import current
from vidence.studio.workflow import Refused, Result

_SHOWN = 50
_MOST_SEED = 2**31


class Queue(Record):
    """What waits at one stage of a project: how many, and for how many hours the oldest."""

    project: str
    title: str
    role: StageRole
    n: int
    oldest_h: float | None
    tags: tuple[str, ...] = ()


def work(request: HttpRequest) -> HttpResponse:
    """What this person has to do, and what they may take; a studio that only shows has no such page."""
    return fault(request, 404) if current().settings.mode == "view" else _page(request)


def _page(request: HttpRequest, *, refused: str = "", said: str = "", status: int = 200) -> HttpResponse:
    person = request.person
    projects = [one for one in ProjectRow.objects.order_by("slug") if person.is_in(one.slug)]
    mine = ItemRow.objects.filter(project__in=projects).select_related("project")
    returned = mine.filter(state="returned", standing__author=person.name).order_by("changed_at")
    claims = AssignmentRow.objects.filter(item__project__in=projects, state="claimed")
    claims = claims.select_related("item__project", "user").order_by("claimed_at")
    led = [one.pk for one in projects if "operator" in person.roles_in(one.slug)]
    others = claims.filter(item__project__in=led).exclude(user__pseudonym=person.name)
    told = {
        "returned": returned[:_SHOWN],
        "claimed": claims.filter(user__pseudonym=person.name)[:_SHOWN],
        "others": others[:_SHOWN],
        "queues": [one for project in projects for one in _queues(project, person)],
        "now": current().settings.clock(),
        "held": held_by(person),
        "refused": refused,
        "said": said,
    }
    return render(request, "review/work.html", told, status=status)


def _queues(project: ProjectRow, person: Person) -> list[Queue]:
    now = current().settings.clock()
    found = []
    for role in stages_of(person, project):
        rows: QuerySet[ItemRow] = waiting(project, role, person)
        oldest = rows.first()
        found.append(
            Queue(
                project=project.slug,
                title=project.title,
                role=role,
                n=rows.count(),
                oldest_h=None if oldest is None else (now - oldest.changed_at).total_seconds() / 3600,
            )
        )
    return found


def next_one(request: HttpRequest, project: str) -> HttpResponse:
    """Claim what should be looked at next, and go there."""
    role = _role(request)
    row = get_object_or_404(ProjectRow, slug=project)
    if role is None:
        return fault(request, 400)
    found = take_next(row, role, person=request.person)
    if isinstance(found, Refused):
        return _page(request, refused=found.reason, status=409)
    return HttpResponseRedirect(reverse("review", args=[project, found.public]))


def drawn(request: HttpRequest, project: str) -> HttpResponse:
    """Claim a stratified share of what waits."""
    row = get_object_or_404(ProjectRow, slug=project)
    role, share, seed = _role(request), request.POST.get("share", ""), request.POST.get("seed", "0")
    try:
        wanted = Share(share=float(share) / 100, tag=request.POST.get("tag", "").strip(), seed=int(seed))
    except ValueError:
        return _page(request, refused=f"{share!r} % with the seed {seed!r}; expected numbers", status=400)
    if role is None or not 0 < wanted.share <= 1 or not 0 <= wanted.seed < _MOST_SEED:
        return _page(request, refused=f"{share} %; expected more than 0 and at most 100", status=400)
    found = draw_share(row, role, person=request.person, wanted=wanted)
    if isinstance(found, Refused):
        return _page(request, refused=found.reason, status=409)
    return _page(request, said=f"{found:,} items were drawn and are claimed for you.")


def _role(request: HttpRequest) -> StageRole | None:
    return next((one for one in ROLES if one == request.POST.get("role")), None)


def _on_item(work_on: Callable[[HttpRequest, ItemRow], Result], after: str) -> Callable[..., HttpResponse]:
    def answer(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
        row = get_object_or_404(
            ItemRow.objects.select_related("project", "author", "current"), project__slug=project, public=item
        )
        done = work_on(request, row)
        if isinstance(done, Refused):
            return _page(request, refused=f"{row.item_id}: {done.reason}", status=409)
        return HttpResponseRedirect(reverse(after, args=[project, item] if after == "review" else []))

    return answer


def _released(request: HttpRequest, item: ItemRow) -> Result:
    if held_at(item, request.person) is not None:
        return Refused(reason="you have decided it; undo that first, if you want to give it back")
    return release(item, request.person)


def _expired(request: HttpRequest, item: ItemRow) -> Result:
    return expire(item, request.person, request.POST.get("whose", ""))


_ITEM = "projects/<slug:project>/items/<uuid:item>"
_LOOKERS: Final[frozenset[Rule]] = frozenset({"reviewer", "meta"})
urls = [
    route("work", work, name="work", roles=EVERY_ROLE),
    route("projects/<slug:project>/next", next_one, name="next", roles=_LOOKERS, to=("POST",)),
    route("projects/<slug:project>/draw", drawn, name="draw", roles=_LOOKERS, to=("POST",)),
    route(
        f"{_ITEM}/claim",
        _on_item(lambda request, item: claim(item, request.person), "review"),
        name="claim",
        roles=_LOOKERS,
        to=("POST",),
    ),
    route(
        f"{_ITEM}/release",
        _on_item(_released, "work"),
        name="release",
        roles=_LOOKERS,
        to=("POST",),
    ),
    route(f"{_ITEM}/expire", _on_item(_expired, "work"), name="expire", roles={"operator"}, to=("POST",)),
]
