"""All runs in one table, the page of one run, and what diagnostics found in it."""

import time
from functools import partial
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from vidence.contracts import Diagnostic
from vidence.engine.diagnose import open_diagnostic
from vidence.engine.store import RunStore
from vidence.errors import VidenceError
from vidence.report.diagnosis import load_diagnosed
from vidence.report.fragments import diagnosed_fragment, run_fragment
from vidence.report.results import load_run
from vidence.studio.bridge.places import ViewablePath
from vidence.studio.bridge.run_status import RunStanding, age
from vidence.studio.bridge.runs import content_key
from vidence.studio.settings import current
from vidence.studio.viewer.desk import desk
from vidence.studio.viewer.filters import FATES, MOST_RUNS, fates_of
from vidence.text import visible


def show(request: HttpRequest) -> HttpResponse:
    """All runs, sets and files under the paths."""
    return render(request, "viewer/runs.html", _listed(request))


def lines(request: HttpRequest) -> HttpResponse:
    """The table of runs alone, for those that go on."""
    return render(request, "viewer/run_lines.html", _listed(request))


def _listed(request: HttpRequest) -> dict[str, object]:
    places = desk().places()
    runs = [place for place in places if place.kind == "run"]
    desk().indexer.freshen(runs)
    standings = desk().standings.of(runs, clock=time.monotonic)
    fates = fates_of([run.id for run in runs])
    in_order = sorted(standings, key=lambda one: one.listed.started_at, reverse=True)
    shown = [_line(one, fates[one.place.id]) for one in in_order]
    return {
        "lines": shown,
        "is_live": any(line["is_live"] for line in shown),
        "made": [place for place in places if place.kind == "made"],
        "files": [place for place in places if place.kind == "items"],
        "labels": [place for place in places if place.kind == "labels"],
        "nothing": [place for place in places if place.kind == "nothing"],
        "paths": [visible(str(path)) for path in current().settings.paths],
        "most_runs": MOST_RUNS,
        "ticked": request.GET.getlist("run"),
        "is_runs": True,
    }


def _line(one: RunStanding, fates: dict[str, int]) -> dict[str, object]:
    said = one.listed
    n_rows = sum(fates.values())
    return {
        "standing": one,
        "fates": [(fate, words, fates[fate]) for fate, words in FATES.items() if fate in fates],
        "n_rows": n_rows,
        "n_planned": max(one.head.facts.n_planned if one.head is not None else 0, n_rows),
        "n_done": n_rows if one.is_running else said.n_answered,
        "age": age(_began(one), current().settings.clock()),
        "is_live": one.is_running or not one.is_fresh or desk().indexer.is_reading(one.place),
        "model": visible(said.model or (one.head.plan.model if one.head is not None else "")),
        "benchmark": visible(one.head.plan.benchmark if one.head is not None else ""),
    }


def _began(one: RunStanding) -> str:
    return one.listed.started_at or (one.head.facts.started_at if one.head is not None else "")


def one(request: HttpRequest, run: str) -> HttpResponse:
    """One run: how it stands, and its report."""
    place = desk().place(run)
    if place.kind != "run":
        raise Http404
    desk().indexer.freshen([place])
    (standing,) = desk().standings.of([place], clock=time.monotonic)
    return render(
        request,
        "viewer/run.html",
        {
            "line": _line(standing, fates_of([place.id])[place.id]),
            "place": place,
            "standing": standing,
            "diagnoses": _diagnoses(place),
            **_report(place, standing.name, is_live=standing.is_running),
        },
    )


def report(request: HttpRequest, run: str) -> HttpResponse:
    """The tables and figures of a run alone, which may take a while."""
    place = desk().place(run)
    if place.kind != "run":
        raise Http404
    (standing,) = desk().standings.of([place], clock=time.monotonic)
    said = _report(place, standing.name, is_live=standing.is_running)
    return render(request, "viewer/piece.html", {"place": place, **said})


def _report(place: ViewablePath, name: str, *, is_live: bool) -> dict[str, str]:
    """The tables of a run as HTML; without any yet, that they are being made."""
    if is_live:
        return {"waits": "The tables are made when the run ends."}
    try:
        with RunStore(place.folder) as store:
            key = (content_key(place.folder), *store.line(), len(store.diagnoses()))
        return desk().piece(("run", key), partial(_made, place, name), again=f"/run/{place.id}/report")
    except VidenceError as error:
        return {"problem": visible(str(error))}


def _made(place: ViewablePath, name: str) -> str:
    # Every text in it was escaped by the templates of the report.
    return run_fragment(load_run(place.folder, are_brief=True), title=name)


def _diagnoses(place: ViewablePath) -> list[str]:
    try:
        with RunStore(place.folder) as store:
            return list(store.diagnoses())
    except VidenceError:  # the page says what is wrong with the run
        return []


def diagnosis(request: HttpRequest, run: str, diagnosis: str) -> HttpResponse:
    """Everything that one diagnostic found in a run."""
    place, head = desk().run(run)
    (standing,) = desk().standings.of([place], clock=time.monotonic)
    shown: dict[str, object] = {"place": place, "standing": standing, "name": visible(diagnosis)}
    try:
        with RunStore(head.folder) as store:
            header = store.diagnoses().get(diagnosis)
            key = (content_key(head.folder), store.line()[1])
        if header is None:
            raise Http404
        diagnostic = open_diagnostic(header.diagnostic, header.options)
        make = partial(_diagnosed, head.folder, diagnostic, header.options)
        shown |= desk().piece(("diagnosis", diagnosis, key), make, again=request.get_full_path())
    except VidenceError as error:
        shown["problem"] = visible(str(error))
    return render(request, "viewer/diagnosis.html", shown)


def _diagnosed(folder: Path, diagnostic: Diagnostic, options: dict[str, str]) -> str:
    return diagnosed_fragment(load_diagnosed(diagnostic, folder, options=options))
