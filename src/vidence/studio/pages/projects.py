"""A project, and what was done with each of its items."""

from uuid import UUID

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from vidence.studio.access import EVERY_ROLE, route
from vidence.studio.history import history_of
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.trying import closed
from vidence.studio.writing import WRITABLE, is_writer

_PAGE = 100


def project_page(request: HttpRequest, project: str) -> HttpResponse:
    """How many items are in which state, and the first of them."""
    row = get_object_or_404(ProjectRow, slug=project)
    items = ItemRow.objects.filter(project=row)
    counts = items.values("state").annotate(n=Count("pk")).order_by("state")
    told = {
        "project": row,
        "counts": counts,
        "items": items.order_by("item_id")[:_PAGE],
        "roles_here": request.person.roles_in(project),
    }
    return render(request, "project.html", told)


def item_page(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """What was done with one item; what it says only as far as the reader may know it."""
    rows = ItemRow.objects.select_related("project", "author", "current")
    row = get_object_or_404(rows, project__slug=project, public=item)
    roles = request.person.roles_in(project)
    told = {
        "item": row,
        "history": history_of(row, request.person),
        "may_try": not closed(row, request.person),
        "is_operator": "operator" in roles,
        "may_write": "author" in roles and row.state in WRITABLE and is_writer(row, request.person.name),
    }
    return render(request, "item.html", told)


urls = [
    route("projects/<slug:project>/", project_page, name="project", roles=EVERY_ROLE),
    route("projects/<slug:project>/items/<uuid:item>/", item_page, name="item", roles=EVERY_ROLE),
]
