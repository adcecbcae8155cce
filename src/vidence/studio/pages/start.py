"""The first page."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from vidence.studio.access import EVERY_ROLE, route
from vidence.studio.settings import current


def start(request: HttpRequest) -> HttpResponse:
    """What there is to see here; whoever only looks begins with the runs."""
    if current().settings.mode == "view":
        return HttpResponseRedirect(reverse("runs"))
    return render(request, "start.html", {"paths": current().settings.paths})


urls = [route("", start, name="start", roles=EVERY_ROLE)]
