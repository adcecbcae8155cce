"""What a review comes to: items by state, rates with denominators, agreement, minutes; out of transitions."""

from typing import Final

import numpy as np
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from vidence.make.review.groups import group_table, groups_of
from vidence.make.review.rates import rates_of, rates_tables, rates_words
from vidence.report.page import section_fragment
from vidence.report.sections import Section
from vidence.studio.access import PROJECT, route
from vidence.studio.pages.answers import as_piece
from vidence.studio.records.people import ProjectRow
from vidence.studio.reviewing import reviews_of

LEVEL: Final = 0.95
"""The level of the intervals."""
_SEED: Final = 0
_USUAL = ("author", "reviewer", "week", "tag:task")


def rates(request: HttpRequest, project: str) -> HttpResponse:
    """The rates of a project; shares of fewer than five items are shown to operators only."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    reviews = reviews_of(row)
    rates = rates_of(reviews, rng=np.random.default_rng(_SEED), level=LEVEL)
    by = request.GET.get("by", "author")
    tables = list(rates_tables(rates))
    is_operator = "operator" in request.person.roles_in(project)
    tables.append(group_table(groups_of(reviews, by), by, level=LEVEL, shows_all=is_operator))
    section = Section(title="", paragraphs=tuple(rates_words(rates)), tables=tuple(tables))
    fields = {"project": row, "piece": as_piece(section_fragment(section)), "by": by, "usual": _USUAL}
    return render(request, "review/rates.html", fields)


urls = [route(f"{PROJECT}/rates", rates, name="rates", roles={"operator", "meta", "researcher"})]
