"""Releasing what was accepted, and what there is to do with a release."""

import shlex
from http import HTTPStatus
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from vidence.errors import DataError
from vidence.studio.access import BOTH, PROJECT, route
from vidence.studio.pages.answers import tried
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.releasing import FIRST_VERSION, Wish, accounts_of, cautions_of, release, releases_of

_MOST_WORDS = 300


def show(request: HttpRequest, project: str) -> HttpResponse:
    """The form, the releases that are there, and the commands that ask and show one."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    said = {
        name: request.POST.get(name, "").strip()[:_MOST_WORDS] for name in ("version", "title", "without")
    }
    wish = Wish(
        version=said["version"] or FIRST_VERSION,
        title=said["title"],
        without_licence=tuple(filter(None, (one.strip() for one in said["without"].split(",")))),
    )
    done, wrong = tried(request, lambda: release(row, wish, by=request.person.name), "releases", project)
    if done is not None:
        return done
    items = ItemRow.objects.filter(project=row)
    try:
        cautions = cautions_of(accounts_of(row))
    except DataError as error:
        cautions, wrong = (), wrong or str(error)
    told = {
        "project": row,
        "n_accepted": items.filter(state="accepted").count(),
        "n_items": items.count(),
        "releases": [(one.name, _commands(row, one)) for one in releases_of(row)],
        "said": said if wrong else {"version": FIRST_VERSION, "title": row.title, "without": ""},
        "wrong": wrong,
        "cautions": cautions,
    }
    status = HTTPStatus.BAD_REQUEST if wrong else HTTPStatus.OK
    return render(request, "release/release.html", told, status=status)


def _commands(project: ProjectRow, folder: Path) -> list[str]:
    """How to ask a model about a release, and how to look at what it said."""
    run = f"runs/{folder.name}"
    media = ["--media", project.media_root] if project.media_root else []
    asked = ["vidence", "run", "table", "--data", str(folder), *media, "--model", "SPEC", "--out", run]
    return [shlex.join(asked), shlex.join(["vidence", "view", run])]


urls = [
    route(f"{PROJECT}/releases/", show, name="releases", roles={"operator"}, to=BOTH),
]
