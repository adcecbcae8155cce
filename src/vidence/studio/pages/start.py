"""The first page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from vidence.studio.access import EVERY_ROLE, route
from vidence.studio.settings import current


def start(request: HttpRequest) -> HttpResponse:
    """What there is to see here."""
    return render(request, "start.html", {"paths": current().settings.paths})


urls = [route("", start, name="start", roles=EVERY_ROLE)]
