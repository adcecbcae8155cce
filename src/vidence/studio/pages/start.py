"""The first page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from vidence.studio.access import EVERY_ROLE, route
from vidence.studio.records.people import ProjectRow
from vidence.studio.settings import current


def start(request: HttpRequest) -> HttpResponse:
    """What there is to see here; whoever only looks begins with the runs."""
    if current().settings.mode == "view":
        return redirect("runs")
    person = request.person
    projects = [one for one in ProjectRow.objects.order_by("slug") if person.is_in(one.slug)]
    return render(request, "start.html", {"paths": current().settings.paths, "projects": projects})


urls = [route("", start, name="start", roles=EVERY_ROLE)]
