"""All runs in one table, the page of one run, and what diagnostics found in it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify

from vidence.engine.diagnose import open_diagnostic
from vidence.engine.store import RunStore
from vidence.errors import VidenceError
from vidence.report.diagnosis import load_diagnosed
from vidence.report.page import Link, diagnosed_fragment, list_fragment, run_fragment
from vidence.report.results import load_run
from vidence.studio.bridge.places import ViewablePath
from vidence.studio.bridge.run_status import RunStanding, age
from vidence.studio.bridge.runs import content_key
from vidence.studio.pages.answers import as_piece
from vidence.studio.settings import current
from vidence.studio.viewer.desk import desk
from vidence.studio.viewer.filters import MOST_RUNS, fate_links, fates_of
from vidence.tables.table import Cell, RowSpec, Table, number, several, share, tabulate, words
from vidence.text import visible


def show(request: HttpRequest) -> HttpResponse:
    """All runs, sets and files under the paths."""
    return render(request, "viewer/runs.html", _listed(request))


def lines(request: HttpRequest) -> HttpResponse:
    """The table of runs alone, for those that go on."""
    return render(request, "viewer/piece.html", _listed(request))


def _listed(request: HttpRequest) -> dict[str, object]:
    places = desk().places()
    runs = [place for place in places if place.kind == "run"]
    desk().indexer.freshen(runs)
    standings = desk().standings.of(runs, clock=time.monotonic)
    fates = fates_of([run.id for run in runs])
    in_order = sorted(standings, key=lambda standing: standing.listed.started_at, reverse=True)
    lines = [_Line(standing=standing, fates=fates[standing.place.id]) for standing in in_order]
    is_export = current().settings.export is not None
    has_boards = current().settings.mode != "view"
    ticked = request.GET.getlist("run")
    readable = [line.standing.place.id for line in lines if line.standing.head is not None]
    piece = list_fragment(
        _table(lines, has_paths=not is_export),
        links={key: some for line in lines for key, some in _links(line)},
        ticks={} if is_export else {key: key in ticked for key in readable},
    )
    return {
        **(
            {"piece": as_piece(piece)} if lines else {"waits": "No runs here yet; make one with vidence run."}
        ),
        "again": reverse("run-lines") if any(line.is_live for line in lines) else "",
        "ticks_of": "#runs",
        "is_unfinished": not all(line.standing.is_fresh for line in lines),
        "made": [place for place in places if place.kind == "made"],
        "files": [place for place in places if place.kind == "items"],
        "labels": [place for place in places if place.kind == "labels"],
        "nothing": [
            place
            for place in places
            if place.kind == "nothing" and not (has_boards and place.path.endswith(".toml"))
        ],
        "paths": [visible(str(path)) for path in current().settings.paths],
        "most_runs": MOST_RUNS,
        "is_runs": True,
    }


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A run in the list, and how many of its rows in the index have each fate."""

    standing: RunStanding
    fates: Mapping[str, int]

    @property
    def n_planned(self) -> int:
        head = self.standing.head
        return max(head.facts.n_planned if head is not None else 0, sum(self.fates.values()))

    @property
    def n_done(self) -> int:
        return sum(self.fates.values()) if self.standing.is_running else self.standing.listed.n_answered

    @property
    def age(self) -> str:
        head, began = self.standing.head, self.standing.listed.started_at
        return age(began or (head.facts.started_at if head is not None else ""), current().settings.clock())

    @property
    def is_live(self) -> bool:
        standing = self.standing
        return standing.is_running or not standing.is_fresh or standing.is_unread

    @property
    def fate_links(self) -> tuple[Link, ...]:
        return fate_links(self.standing.place.id, self.fates)

    def under(self, *, has_path: bool) -> str:
        """Return the second line of an entry: its folder, and its model if that differs from the name."""
        standing = self.standing
        model = standing.listed.model or (standing.head.plan.model if standing.head is not None else "")
        messages = [standing.place.path] if has_path else []
        return "\n".join([*messages, *([model[:80]] if model not in {"", standing.name} else [])])


def _table(lines: Sequence[_Line], *, has_paths: bool) -> Table:
    return tabulate(
        "runs",
        several(len(lines), "run"),
        label="run",
        rows=[
            RowSpec(line.standing.place.id, line.standing.name, line, detail=line.under(has_path=has_paths))
            for line in lines
        ],
        measures=[
            words("benchmark", lambda line: line.standing.head.plan.benchmark if line.standing.head else ""),
            words("status", _status),
            number("done", lambda line: f"{line.n_done} of {line.n_planned}" if line.standing.head else ""),
            share("score", lambda line: _score(line.standing)),
            words("outcomes", lambda line: ", ".join(link.words for link in line.fate_links)),
            number("cost", lambda line: line.standing.cost),
            words("age", lambda line: line.age),
        ],
    )


def _status(line: _Line) -> Cell:
    """Return the status of an entry, with problems and indexing progress."""
    standing = line.standing
    read = f"{standing.n_read} of {standing.n_rows} stored rows read" if standing.is_unread else ""
    return Cell(value=standing.status, detail=standing.listed.problem or read)


def _score(standing: RunStanding) -> Cell:
    """The score, its interval and of how many; of a run that goes on it can be that of the rows before."""
    if not standing.score:
        return Cell(value="")
    n = f"n = {standing.listed.n_scored}" + ("" if standing.is_fresh else ", of the rows before")
    return Cell(value=standing.score, detail=", ".join(filter(None, (standing.interval, n))))


def _links(line: _Line) -> Iterator[tuple[tuple[str, str], Sequence[Link]]]:
    standing = line.standing
    if standing.head is not None:
        yield (
            (standing.place.id, "label"),
            (Link(words=standing.name, address=reverse("run", args=[standing.place.id])),),
        )
    yield (
        (standing.place.id, "status"),
        (Link(words=standing.status, style=f"state {slugify(standing.status)}"),),
    )
    yield (standing.place.id, "outcomes"), line.fate_links


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
            "line": _Line(standing=standing, fates=fates_of([place.id])[place.id]),
            "place": place,
            "standing": standing,
            "reading": [standing] if standing.is_unread else [],
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
    report = _report(place, standing.name, is_live=standing.is_running)
    return render(request, "viewer/piece.html", {"place": place, **report})


def _report(place: ViewablePath, name: str, *, is_live: bool) -> dict[str, str]:
    """The tables of a run as HTML; without any yet, that they are being made."""
    if is_live:
        return {"waits": "The tables are made when the run ends."}
    try:
        with RunStore(place.folder) as store:
            key = (content_key(place.folder), *store.line(), len(store.diagnoses()))
        return desk().piece(
            ("run", key),
            lambda: run_fragment(load_run(place.folder, are_brief=True), title=name),
            again=f"/run/{place.id}/report",
        )
    except VidenceError as error:
        return {"problem": visible(str(error))}


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
    fields: dict[str, object] = {"place": place, "standing": standing, "name": visible(diagnosis)}
    try:
        with RunStore(head.folder) as store:
            header = store.diagnoses().get(diagnosis)
            key = (content_key(head.folder), store.line()[1])
        if header is None:
            raise Http404
        diagnostic = open_diagnostic(header.diagnostic, header.options)
        folder, options = head.folder, header.options
        fields |= desk().piece(
            ("diagnosis", diagnosis, key),
            lambda: diagnosed_fragment(load_diagnosed(diagnostic, folder, options=options)),
            again=request.get_full_path(),
        )
    except VidenceError as error:
        fields["problem"] = visible(str(error))
    return render(request, "viewer/diagnosis.html", fields)
