"""List the trials of a run, with those of up to two other runs, by filter."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from vidence.report.page import Link, list_fragment
from vidence.studio.bridge.runs import LONGEST, SEARCHED
from vidence.studio.pages.answers import as_piece
from vidence.studio.records.index import IndexRunRow, IndexTrialRow
from vidence.studio.viewer.desk import desk
from vidence.studio.viewer.filters import (
    FATES,
    FLIPS,
    PAGE,
    SORTS,
    Filter,
    beside,
    fates_of,
    label_words,
    read_filter,
    tags_of,
    trials,
)
from vidence.tables.table import Cell, RowSpec, count, filled, number, tabulate, words
from vidence.text import visible


def show(request: HttpRequest) -> HttpResponse:
    """One page of the list."""
    asked = read_filter(request.GET)
    places = [desk().place(run) for run in asked.runs]
    if any(place.kind != "run" for place in places):
        raise Http404
    desk().indexer.freshen(places)
    standings = desk().standings.of(places, clock=time.monotonic)
    reading = [standing for standing in standings if standing.is_unread]
    if not all(standing.is_running for standing in reading):
        return render(request, "viewer/reading.html", {"standings": standings, "reading": reading})
    page = Paginator(trials(asked), PAGE).get_page(asked.page)
    labels, fates = desk().labels(), fates_of(asked.runs[:1])[asked.runs[0]]
    runs = {run.place: run for run in IndexRunRow.objects.filter(place__in=asked.runs)}
    return render(
        request,
        "viewer/items.html",
        {
            "asked": asked,
            "standings": standings,
            "piece": as_piece(_listed(asked, page, names=[standing.name for standing in standings])),
            "page": page,
            "query": asked.query(page=1),
            "fates": [(fate, words, fates[fate]) for fate, words in FATES.items() if fate in fates],
            "tags": _tags(asked),
            "said": asked.said,
            "labels": [
                (label, label_words(label), n, label == asked.label)
                for label, n in labels.kinds(asked.runs[0]).items()
            ],
            "sorts": SORTS,
            "flips": FLIPS if len(places) > 1 else {},
            "problems": [
                *(visible(run.problem) for run in runs.values() if run.problem),
                *map(visible, labels.problems),
            ],
            "has_unread": bool(reading),
            "is_compared": all(run.compared_seq >= run.last_seq for run in runs.values()),
        },
    )


def _tags(asked: Filter) -> list[tuple[str, list[tuple[str, str, int, bool]]]]:
    """Each tag with its values: as the address has it, as it is shown, how many, whether it is chosen."""
    return [
        (
            visible(name),
            [(f"{name}={value}", visible(value), n, (name, value) in asked.tags) for value, n in values],
        )
        for name, values in tags_of(asked.runs[0]).items()
    ]


def _listed(asked: Filter, page: Page, *, names: Sequence[str]) -> str:
    """Each trial with what the other runs made of the same question, and where it leads."""
    trials_here = list(page)
    others, narrow = beside(asked, trials_here), asked.query(page=1)
    marks = {
        row.pk: (row, *(others.get((place, row.item_id, row.repeat)) for place in asked.runs[1:]))
        for row in trials_here
    }
    table = tabulate(
        "questions",
        "Questions, with the outcome in each run",
        label="question",
        rows=[RowSpec(str(row.pk), row.item_id, row, detail=_under(row)) for row in trials_here],
        measures=[
            *(words(f"run:{k}", partial(_mark, marks, k), name) for k, name in enumerate(names)),
            words("right", lambda row: row.gold[:40]),
            count("tokens", lambda row: row.tokens),
            number("latency", lambda row: "" if row.latency_s is None else f"{row.latency_s:.2f} s"),
            number("margin", lambda row: row.margin),
        ],
        notes=[
            "Tokens, latency and margin are those of the first run. The search covers questions, "
            f"choices, and the first {SEARCHED:,} letters of each reply and its reasoning."
        ],
    )
    links: dict[tuple[str, str], Sequence[Link]] = {}
    for i, row in enumerate(trials_here, (page.number - 1) * PAGE):
        address = f"/item?{narrow}&{urlencode({'item': row.item_id, 'repeat': row.repeat, 'n': i})}"
        links[str(row.pk), "label"] = (Link(words=row.item_id, address=address),)
        for k, other in enumerate(marks[row.pk]):
            fate, text = _made(other)
            links[str(row.pk), f"run:{k}"] = (Link(words=text, style=f"fate {fate}"),)
    return list_fragment(filled(table), links)


def _under(row: IndexTrialRow) -> str:
    """What stands below the name of a question: which repeat, its words, and what is wrong with it."""
    repeat = f"repeat {row.repeat}" if row.repeat else ""
    question = row.question + "…" * (len(row.question) == LONGEST)
    return "\n".join(filter(None, (repeat, question, row.problem)))


def _mark(marks: Mapping[int, Sequence[IndexTrialRow | None]], k: int, row: IndexTrialRow) -> Cell:
    other = marks[row.pk][k]
    return Cell(value=_made(other)[1], detail="" if other is None else other.read[:40])


def _made(other: IndexTrialRow | None) -> tuple[str, str]:
    """What a run made of a question: the key and the words."""
    fate = "missing" if other is None else other.fate
    return fate, "not asked" if other is None else FATES.get(fate, fate)
