"""Compare two or more runs: the sentences of ``vidence compare``, flips, unreadable replies."""

import time
from collections.abc import Mapping, Sequence
from functools import partial

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from msgspec.structs import replace

from vidence.engine.store import RunStore
from vidence.errors import VidenceError
from vidence.report.comparison import compare_runs
from vidence.report.comparison_tables import section
from vidence.report.page import Link, list_fragment, section_fragment
from vidence.report.pairing import pair
from vidence.report.results import load_run
from vidence.studio.bridge.places import ViewablePath
from vidence.studio.bridge.run_status import RunStanding
from vidence.studio.bridge.runs import content_key
from vidence.studio.pages.answers import as_piece
from vidence.studio.viewer.desk import desk
from vidence.studio.viewer.filters import FLIPS, Filter, fate_links, fates_of, trials
from vidence.tables.table import Cell, RowSpec, share, tabulate, words
from vidence.text import visible


def show(request: HttpRequest) -> HttpResponse:
    """The runs that were ticked; one alone has its own page."""
    places = _asked(request)
    if not places:
        return redirect("runs")
    if len(places) == 1:
        return HttpResponseRedirect(reverse("run", args=[places[0].id]))
    desk().indexer.freshen(places)
    standings = desk().standings.of(places, clock=time.monotonic)
    fates = fates_of([place.id for place in places])
    names = {standing.place.id: standing.name for standing in standings}
    return render(
        request,
        "viewer/compare.html",
        {
            "standings": as_piece(_outcomes(standings, fates)),
            "reading": [standing for standing in standings if standing.is_unread],
            "flips": _flips(places, names),
            **_piece(request, places),
        },
    )


def report(request: HttpRequest) -> HttpResponse:
    """The comparison alone, which may take a while."""
    return render(request, "viewer/piece.html", _piece(request, _asked(request)))


def _asked(request: HttpRequest) -> list[ViewablePath]:
    places = [desk().place(run) for run in dict.fromkeys(request.GET.getlist("run"))]
    return [place for place in places if place.kind == "run"]


def _outcomes(standings: Sequence[RunStanding], fates: Mapping[str, Mapping[str, int]]) -> str:
    """Outcomes of the trials of each run, as a list."""
    counts = {entry.place.id: fate_links(entry.place.id, fates[entry.place.id]) for entry in standings}
    table = tabulate(
        "outcomes",
        "Outcomes of the trials of each run",
        label="run",
        rows=[RowSpec(entry.place.id, entry.name, entry) for entry in standings],
        measures=[
            share("score", lambda entry: Cell(value=entry.score, detail=entry.interval)),
            words("outcomes", lambda entry: ", ".join(link.words for link in counts[entry.place.id])),
        ],
    )
    links = {(place, "outcomes"): some for place, some in counts.items()}
    for standing in standings:
        address = reverse("run", args=[standing.place.id])
        links[standing.place.id, "label"] = (Link(words=standing.name, address=address),)
    return list_fragment(table, links)


def _flips(places: Sequence[ViewablePath], names: dict[str, str]) -> list[dict[str, object]]:
    """For the first run and each other: how many trials are scored differently, with the list of them."""
    first, entries = places[0], list[dict[str, object]]()
    for other in places[1:]:
        asked = Filter(runs=(first.id, other.id))
        entries.append(
            {
                "first": names[first.id],
                "second": names[other.id],
                "kinds": [
                    (words, trials(replace(asked, flip=kind)).count(), asked.query(flip=kind))
                    for kind, words in FLIPS.items()
                ],
            }
        )
    return entries


def _piece(request: HttpRequest, places: Sequence[ViewablePath]) -> dict[str, object]:
    """Render the comparison as HTML, or a note that it is being computed."""
    is_shared = request.GET.get("shared") == "1"
    query = "&".join([*(f"run={place.id}" for place in places), *(["shared=1"] if is_shared else [])])
    fields: dict[str, object] = {"query": query, "is_shared": is_shared}
    try:
        key = tuple((content_key(place.folder), _last(place)) for place in places)
        make = partial(_made, places, is_shared=is_shared)
        piece = desk().piece(("compare", is_shared, key), make, again=f"/compare/report?{query}")
    except VidenceError as error:
        return fields | {"problem": visible(str(error))}
    return fields | piece


def _last(place: ViewablePath) -> int:
    with RunStore(place.folder) as store:
        return store.line()[1]


def _made(places: Sequence[ViewablePath], *, is_shared: bool) -> str:
    # Every text in it was escaped by the templates of the report.
    paired = pair([load_run(place.folder, are_brief=True) for place in places], shared=is_shared)
    return section_fragment(section(compare_runs(paired)))
