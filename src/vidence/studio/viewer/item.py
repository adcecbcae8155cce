"""One question: its media on a timeline, and what up to three runs or repeats made of it, side by side."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from vidence.engine.store import RunStore
from vidence.errors import VidenceError
from vidence.report.page import question_fragment
from vidence.report.results import Run
from vidence.studio.bridge.places import ViewablePath
from vidence.studio.bridge.question_view import RunAnswer, labelled, tell
from vidence.studio.bridge.run_status import RunStanding
from vidence.studio.pages.answers import as_piece
from vidence.studio.records.index import IndexTrialRow
from vidence.studio.settings import current
from vidence.studio.viewer.desk import desk
from vidence.studio.viewer.filters import MOST_RUNS, Filter, read_filter, trials
from vidence.studio.viewer.question_page import media_of
from vidence.text import visible

_PARTS: Final = ("reply", "reasoning")
_AT_ONCE: Final = 12
"""Links to other runs that stand open; more are folded."""


def show(request: HttpRequest) -> HttpResponse:
    """The question, its media, and all replies."""
    asked = read_filter(request.GET)
    item_id, repeats = request.GET.get("item", ""), _repeats(request)
    heads = [desk().run(run)[1] for run in asked.runs]
    # All that were asked this are named at once: a run is called the same whatever is beside it.
    places = [*(desk().place(run) for run in asked.runs), *_others(asked, item_id)]
    standings = desk().standings.of(places, clock=time.monotonic)
    names = [standing.name for standing in standings[: len(heads)]]
    others = sorted(standings[len(heads) :], key=lambda standing: standing.listed.started_at, reverse=True)
    elsewhere = _elsewhere(request, asked, others)
    labels = desk().labels()
    item, answers = None, list[RunAnswer]()
    for place, head, name in zip(asked.runs, heads, names, strict=True):
        for repeat in repeats[: max(1, MOST_RUNS // len(heads))]:
            result, answer = tell(head, item_id, repeat, place=place, name=name)
            item = item or result
            given = labelled(labels.of(place, item_id))
            answers.append(
                replace(
                    answer, labels=given, piece=as_piece(answer.piece), readings=as_piece(answer.readings)
                )
            )
    if item is None and all(run_answer.fate == "missing" for run_answer in answers):
        raise Http404
    fields = {
        "asked": asked,
        "item_id": visible(item_id),
        "told": answers,
        "repeats": _other_repeats(request, heads, repeats),
        "back": asked.query(),
        "elsewhere": elsewhere[:_AT_ONCE],
        "more": elsewhere[_AT_ONCE:],
        **_neighbours(request, asked),
    }
    if item is not None:
        roots = [head.facts.media_root for head in heads]
        fields |= {
            "question": as_piece(question_fragment(item)),
            "media": media_of(item, roots=roots, told=answers),
        }
    return render(request, "viewer/item.html", fields)


def _repeats(request: HttpRequest) -> list[int]:
    repeats = [entry for entry in request.GET.getlist("repeat") if entry.isdecimal() and len(entry) < 6]
    return [int(entry) for entry in dict.fromkeys(repeats)][:MOST_RUNS] or [0]


def _other_repeats(
    request: HttpRequest, heads: Sequence[Run], repeats: Sequence[int]
) -> list[tuple[int, bool, str]]:
    """Return each repeat: whether it is shown, and the URL that shows it as well."""
    n = max(head.plan.repeats for head in heads)
    if n < 2:
        return []
    other_repeats = []
    for repeat in range(n):
        query = request.GET.copy()
        kept = [number for number in repeats if number != repeat] if repeat in repeats else [*repeats, repeat]
        query.setlist("repeat", [str(number) for number in sorted(kept)[:MOST_RUNS]] or ["0"])
        other_repeats.append((repeat, repeat in repeats, f"/item?{query.urlencode()}"))
    return other_repeats


def _others(asked: Filter, item_id: str) -> list[ViewablePath]:
    """The other runs that were asked this question; none on pages that are exported."""
    if current().settings.export is not None:
        return []
    others = {
        place.id: place for place in desk().places() if place.kind == "run" and place.id not in asked.runs
    }
    rows = IndexTrialRow.objects.filter(place__in=others, item_id=item_id, repeat=0)
    asked_it = set(rows.values_list("place", flat=True))
    return [other for other in others.values() if other.id in asked_it]


def _elsewhere(request: HttpRequest, asked: Filter, others: Sequence[RunStanding]) -> list[tuple[str, str]]:
    """Return the other runs with the URL that adds each; empty if no more fit."""
    if len(asked.runs) >= MOST_RUNS:
        return []
    entries = []
    for other in others:
        query = request.GET.copy()
        query.setlist("run", [*asked.runs, other.place.id])
        query.pop("n", None)  # the list beside which it stood had other runs
        entries.append((other.name, f"/item?{query.urlencode()}"))
    return entries


def _neighbours(request: HttpRequest, asked: Filter) -> dict[str, str]:
    """The addresses of the trial before and after this one in the list that led here."""
    neighbours = request.GET.get("n", "")
    if not neighbours.isdecimal() or len(neighbours) > 9:
        return {"before": "", "after": ""}
    n, rows = int(neighbours), trials(asked)
    around = list(rows[max(0, n - 1) : n + 2])
    previous = around[0] if n and around else None
    following = around[n - max(0, n - 1) + 1 :]
    return {
        "before": "" if previous is None else _address(asked, previous, n - 1),
        "after": _address(asked, following[0], n + 1) if following else "",
    }


def _address(asked: Filter, row: IndexTrialRow, n: int) -> str:
    return f"/item?{asked.query()}&{urlencode({'item': row.item_id, 'repeat': row.repeat, 'n': n})}"


def text(request: HttpRequest) -> HttpResponse:
    """A whole reply, or its reasoning, as a file of plain text."""
    part, repeats = request.GET.get("part", ""), _repeats(request)
    _, head = desk().run(request.GET.get("run", ""))
    if part not in _PARTS:
        raise Http404
    try:
        with RunStore(head.folder) as store:
            stored = store.trial(request.GET.get("item", ""), repeats[0])
    except VidenceError as error:
        raise Http404 from error
    if stored is None or stored.trial is None or stored.trial.reply is None:
        raise Http404
    reply = stored.trial.reply
    text = reply.text if part == "reply" else reply.reasoning
    answer = HttpResponse(text.encode("utf-8", "backslashreplace"), content_type="text/plain; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="{part}.txt"'
    return answer
