"""Where a browser begins in a studio that was opened for one act, and the button that ends it."""

import signal
from pathlib import Path
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from vidence.errors import UsageError
from vidence.make.review.audit import PROTOCOL
from vidence.studio.access import SIGNED_IN, route
from vidence.studio.bridge.board_sets import board_set, offered
from vidence.studio.bridge.questions import drawn_of
from vidence.studio.pages import questions
from vidence.studio.pages.boards import open_set
from vidence.studio.projects import add_project
from vidence.studio.records.boards import MadeSetRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.settings import current
from vidence.studio.verdicts import BOARDS

PROJECT: Final = "set"
"""The project of the one set of such a studio."""


def first_page() -> str:
    """Return the start URL; open the board's dataset or import the drawn questions first.

    Raises:
        UsageError: the studio was told of no such set or board.
        DataError: what is kept of the set cannot be used.
    """
    settings = current().settings
    if not settings.first:
        return "/"
    video_id, _, board = settings.first.rpartition("/")
    sets = offered(settings.paths)
    if not sets or board not in (*BOARDS, "review"):
        raise UsageError(f"{settings.first}: there is no such board or no made set; make the set first")
    films = str(board_set(settings.paths, sets[0].folder).media_roots[0])
    known = ProjectRow.objects.filter(slug=PROJECT).first()
    row = open_set(sets[0], known or add_project(PROJECT, PROTOCOL, media_root=films))
    if board != "review":
        return reverse(f"board-{board}", args=(row.public, video_id))
    questions.take_in(row, drawn_of(Path(row.folder)))
    return reverse("work")


def done(request: HttpRequest) -> HttpResponse:
    """Close a single-task studio; write the verdicts on drawn questions into their review.

    Raises:
        Http404: it was opened for more.
        DataError: the review says something else.
    """
    if not (first := current().settings.first):
        raise Http404
    if first.endswith("/review"):
        value = MadeSetRow.objects.get(project__slug=PROJECT)
        questions.write_said(value, drawn_of(Path(value.folder)), by=request.person.name)
    signal.raise_signal(signal.SIGTERM)  # the server ends when this is answered
    return HttpResponse(
        "Done. The command in the terminal continues; you can close this page.", content_type="text/plain"
    )


urls = [route("done", done, name="done", roles=SIGNED_IN, to=("POST",))]
