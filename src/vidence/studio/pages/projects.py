"""A project, and what was done with each of its items."""

from uuid import UUID

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from vidence.studio.access import EVERY_ROLE, route
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow

_PAGE = 100


def project_page(request: HttpRequest, project: str) -> HttpResponse:
    """How many items are in which state, and the first of them."""
    row = get_object_or_404(ProjectRow, slug=project)
    items = ItemRow.objects.filter(project=row)
    counts = items.values("state").annotate(n=Count("pk")).order_by("state")
    told = {"project": row, "counts": counts, "items": items.order_by("item_id")[:_PAGE]}
    return render(request, "project.html", told)


def item_page(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """What was done with one item, without what it says: that depends on whose turn it is."""
    row = get_object_or_404(ItemRow.objects.select_related("project"), project__slug=project, public=item)
    return render(request, "item.html", {"item": row, "transitions": row.transitions.order_by("number")})


urls = [
    route("projects/<slug:project>/", project_page, name="project", roles=EVERY_ROLE),
    route("projects/<slug:project>/items/<uuid:item>/", item_page, name="item", roles=EVERY_ROLE),
]
