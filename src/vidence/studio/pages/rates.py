"""What a review comes to: items by state, rates with denominators, agreement, minutes; out of transitions."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from vidence.errors import UsageError
from vidence.make.review.groups import group_table, groups_of
from vidence.make.review.rates import rates_of, rates_tables, rates_words
from vidence.records import Record
from vidence.studio.access import PROJECT, route
from vidence.studio.records.people import ProjectRow
from vidence.studio.reviewing import reviews_of
from vidence.tables.table import CellText, Table, shown_columns, shown_rows

LEVEL: Final = 0.95
"""The level of the intervals."""
_SEED: Final = 0
_USUAL = ("author", "reviewer", "week", "tag:task")
_NUMBERS = ("count", "number", "share")


class Grid(Record):
    """A table as a page draws it: headings and cells, each with whether it is one of numbers."""

    title: str
    headings: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[tuple[CellText, bool], ...], ...]
    note: str = ""


def rates(request: HttpRequest, project: str) -> HttpResponse:
    """The rates of a project; shares of fewer than five items are shown to operators only."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    reviews = reviews_of(row)
    found = rates_of(reviews, rng=np.random.default_rng(_SEED), level=LEVEL)
    by = request.GET.get("by", "author")
    refused = ""
    tables = list(rates_tables(found))
    is_operator = "operator" in request.person.roles_in(project)
    try:
        groups = groups_of(reviews, by)
    except UsageError as error:
        refused = str(error)
    else:
        tables.append(group_table(groups, by, level=LEVEL, shows_all=is_operator))
    told = {
        "project": row,
        "sentences": rates_words(found),
        "grids": [grid(one) for one in tables],
        "by": by,
        "usual": _USUAL,
        "refused": refused,
    }
    return render(request, "review/rates.html", told, status=400 if refused else 200)


def grid(table: Table) -> Grid:
    """A table as a page draws it."""
    columns = shown_columns(table)
    are_numbers = [_is_number(i, one.kind) for i, one in enumerate(columns)]
    return Grid(
        title=table.title,
        headings=tuple(zip((one.title for one in columns), are_numbers, strict=True)),
        rows=tuple(tuple(zip(one.cells, are_numbers, strict=True)) for one in shown_rows(table)),
        note=" ".join(filter(None, [table.note, *_notes(table)])),
    )


def _notes(table: Table) -> Sequence[str]:
    return [f"{one.title}: {one.note}." for one in table.columns if one.note]


def _is_number(place: int, kind: str) -> bool:
    return place > 0 and kind in _NUMBERS


urls = [
    route(f"{PROJECT}/rates", rates, name="rates", roles={"operator", "meta", "researcher"}),
]
