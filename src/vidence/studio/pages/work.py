"""My work: what came back, what is claimed, what waits; claims are made and given back here."""

from typing import Final
from uuid import UUID

from django.db.models import Count, Min, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from vidence.make.review.protocol import ROLES, StageRole
from vidence.make.review.recording import Share
from vidence.studio.access import EVERY_ROLE, ITEM, PROJECT, Person, Rule, route
from vidence.studio.pages.answers import item_named
from vidence.studio.pages.faults import fault
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.records.work import AssignmentRow
from vidence.studio.reviewing import claim, draw_share, expire, release, stages_of, take_next, waiting
from vidence.studio.settings import current
from vidence.studio.workflow import Refused, Result

_SHOWN = 50
_MOST_SEED = 2**31


def work(request: HttpRequest) -> HttpResponse:
    """What this person has to do, and what they may take; a studio that only shows has no such page."""
    return fault(request, 404) if current().settings.mode == "view" else _page(request)


def _page(request: HttpRequest, *, refused: str = "", said: str = "", status: int = 200) -> HttpResponse:
    person = request.person
    projects = [value for value in ProjectRow.objects.order_by("slug") if person.is_in(value.slug)]
    mine = ItemRow.objects.filter(project__in=projects).select_related("project")
    returned = mine.filter(state="returned", writer=person.name).order_by("changed_at")
    claims = AssignmentRow.objects.filter(item__project__in=projects, state="claimed")
    claims = claims.select_related("item__project", "user").order_by("claimed_at")
    led = [project.pk for project in projects if "operator" in person.roles_in(project.slug)]
    others = claims.filter(item__project__in=led).exclude(user__pseudonym=person.name)
    fields = {
        "returned": returned[:_SHOWN],
        "claimed": claims.filter(user__pseudonym=person.name)[:_SHOWN],
        "others": others[:_SHOWN],
        "queues": [queue for project in projects for queue in _queues(project, person)],
        "now": current().settings.clock(),
        "refused": refused,
        "said": said,
    }
    return render(request, "review/work.html", fields, status=status)


def _queues(project: ProjectRow, person: Person) -> list[dict[str, object]]:
    """What waits at each stage of a project: how many items, and since when the oldest."""
    queues = []
    for role in stages_of(person, project):
        rows: QuerySet[ItemRow] = waiting(project, role, person)
        counted = rows.order_by().aggregate(n=Count("pk"), oldest=Min("changed_at"))
        queues.append({"project": project, "role": role, **counted})
    return queues


def next_one(request: HttpRequest, project: str) -> HttpResponse:
    """Claim what should be looked at next, and go there."""
    role = _role(request)
    row = get_object_or_404(ProjectRow, slug=project)
    if role is None:
        return fault(request, 400)
    result = take_next(row, role, person=request.person)
    if isinstance(result, Refused):
        return _page(request, refused=result.reason, status=409)
    return redirect("review", project, result.public)


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
    number = draw_share(row, role, person=request.person, wanted=wanted)
    if isinstance(number, Refused):
        return _page(request, refused=number.reason, status=409)
    return _page(request, said=f"{number:,} items were drawn and claimed for you.")


def _role(request: HttpRequest) -> StageRole | None:
    return next((name for name in ROLES if name == request.POST.get("role")), None)


def claimed(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """Claim one item, and go there."""
    row = item_named(project, item)
    return _after(request, row, claim(row, request.person)) or redirect("review", project, item)


def released(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """Give a claim back."""
    row = item_named(project, item)
    return _after(request, row, release(row, request.person)) or redirect("work")


def expired(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """Release a claim of another person."""
    row = item_named(project, item)
    done = expire(row, request.person, request.POST.get("whose", ""))
    return _after(request, row, done) or redirect("work")


def _after(request: HttpRequest, item: ItemRow, done: Result) -> HttpResponse | None:
    """The page that says why an act was refused; None if it was not."""
    if isinstance(done, Refused):
        return _page(request, refused=f"{item.item_id}: {done.reason}", status=409)
    return None


_LOOKERS: Final[frozenset[Rule]] = frozenset({"reviewer", "meta"})
urls = [
    route("work", work, name="work", roles=EVERY_ROLE),
    route(f"{PROJECT}/next", next_one, name="next", roles=_LOOKERS, to=("POST",)),
    route(f"{PROJECT}/draw", drawn, name="draw", roles=_LOOKERS, to=("POST",)),
    route(f"{ITEM}/claim", claimed, name="claim", roles=_LOOKERS, to=("POST",)),
    route(f"{ITEM}/release", released, name="release", roles=_LOOKERS, to=("POST",)),
    route(f"{ITEM}/expire", expired, name="expire", roles={"operator"}, to=("POST",)),
]
