"""The trials of a run, beside those of up to two others, as far as a filter keeps them."""

import time
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from vidence.studio.bridge.runs import LONGEST
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
from vidence.text import visible


def show(request: HttpRequest) -> HttpResponse:
    """One page of the list."""
    asked = read_filter(request.GET)
    places = [desk().place(run) for run in asked.runs]
    if any(place.kind != "run" for place in places):
        raise Http404
    desk().indexer.freshen(places)
    standings = desk().standings.of(places, clock=time.monotonic)
    page = Paginator(trials(asked), PAGE).get_page(asked.page)
    labels = desk().labels()
    runs = {run.place: run for run in IndexRunRow.objects.filter(place__in=asked.runs)}
    return render(
        request,
        "viewer/items.html",
        {
            "asked": asked,
            "standings": standings,
            "rows": _lines(asked, page, names=[one.name for one in standings]),
            "page": page,
            "query": asked.query(page=1),
            "fates": _fates(asked),
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
            "reading": [p.name for p in places if desk().indexer.is_reading(p)],
            "is_compared": all(run.compared_seq >= run.last_seq for run in runs.values()),
        },
    )


def _fates(asked: Filter) -> list[tuple[str, str, int]]:
    counts = fates_of(asked.runs[:1])[asked.runs[0]]
    return [(fate, words, counts[fate]) for fate, words in FATES.items() if fate in counts]


def _tags(asked: Filter) -> list[tuple[str, list[tuple[str, str, int, bool]]]]:
    """Each tag with its values: as the address has it, as it is shown, how many, whether it is chosen."""
    return [
        (
            visible(name),
            [(f"{name}={value}", visible(value), n, (name, value) in asked.tags) for value, n in values],
        )
        for name, values in tags_of(asked.runs[0]).items()
    ]


def _lines(asked: Filter, page: Page, *, names: list[str]) -> list[dict[str, object]]:
    """Each trial with what the other runs made of the same question, and where it leads."""
    rows = list(page)
    others = beside(asked, rows)
    narrow = asked.query(page=1)
    lines = []
    for i, row in enumerate(rows, (page.number - 1) * PAGE):
        beside_it = [others.get((place, row.item_id, row.repeat)) for place in asked.runs[1:]]
        said = {"item": row.item_id, "repeat": row.repeat, "n": i}
        lines.append(
            {
                "row": row,
                "gold": visible(row.gold),
                "problem": visible(row.problem),
                "item_id": visible(row.item_id),
                "question": visible(row.question) + "…" * (len(row.question) == LONGEST),
                "marks": [
                    _mark(one) | {"run": name} for one, name in zip((row, *beside_it), names, strict=True)
                ],
                "link": f"/item?{narrow}&{urlencode(said)}",
            }
        )
    return lines


def _mark(row: IndexTrialRow | None) -> dict[str, str]:
    if row is None:
        return {"fate": "missing", "words": "not asked", "read": ""}
    return {"fate": row.fate, "words": FATES.get(row.fate, row.fate), "read": visible(row.read)[:40]}
