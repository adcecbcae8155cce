"""A project: begun in the browser, its items by state, and what was done with each of them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from vidence.errors import UnknownNameError, UsageError
from vidence.make.review.protocol import Protocol, load_protocol, protocol_bytes, protocol_names
from vidence.studio.access import BOTH, EVERY_ROLE, ITEM, PROJECT, SIGNED_IN, Person, route
from vidence.studio.drafts import AUTHOR
from vidence.studio.hint_trials import closed
from vidence.studio.history import history_of, question_for
from vidence.studio.intake import media_rows, shown_media
from vidence.studio.leaderboard import board_here
from vidence.studio.pages.answers import item_named, whole_number
from vidence.studio.projects import RuleText, add_project, folder_below, languages_in, read_rules
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.records.work import DraftRow
from vidence.studio.settings import current
from vidence.studio.writing import WRITABLE, decoded, is_writer

_PAGE: Final = 25
_ORDERS: Final[Mapping[str, tuple[str, str]]] = {
    "item": ("Item", "item_id"),
    "author": ("Author", "author__pseudonym"),
    "state": ("State", "state"),
    "changed": ("Changed", "changed_at"),
}
"""What the items of a project are sorted by: the heading of its column, and the field."""
_ASKED: Final = ("state", "words", "sort")
_TEXT: Final = "text"
"""What the choice of a protocol says where the text below it counts."""
_FIELDS: Final = ("act", "title", "slug", "languages", "media", "protocol")


def begin(request: HttpRequest) -> HttpResponse:
    """The form that begins a project, and what its rules read as before it does."""
    if not request.person.leads_all:
        raise PermissionDenied("only operators of all projects create projects")
    fields = {name: request.POST.get(name, "").strip() for name in _FIELDS}
    source = request.POST.get("source", "").replace("\r\n", "\n")
    wrong, checked = "", {}
    if request.method == "POST":
        try:
            rules = _rules(fields["protocol"], source)
            if fields["act"] != "check":
                return _begun(request, fields, source)
            if fields["protocol"] != _TEXT:
                source = protocol_bytes(fields["protocol"]).decode()
            checked = as_read(rules)
        except (UnknownNameError, UsageError) as error:
            wrong = str(error)
    entries = {
        "presets": [(name, load_protocol(name).title) for name in protocol_names()],
        "roots": current().settings.media_roots,
        "said": fields,
        "source": source,
        "n_lines": source.count("\n") + 2,
        "wrong": wrong,
        **checked,
    }
    return render(request, "project-new.html", entries, status=400 if wrong else 200)


def _rules(preset: str, source: str) -> Protocol:
    """The rules that a form names: of a preset, or those of its text.

    Raises:
        UnknownNameError: there is no such preset.
        UsageError: the text cannot be read, or preset and text say different things.
    """
    if preset == _TEXT:
        return read_rules(source)
    if preset not in protocol_names():  # a name that ends in .toml would be a file of the server
        raise UnknownNameError("protocol", preset, protocol_names())
    ours = {"", *(protocol_bytes(name).decode().strip() for name in protocol_names())}
    if source.strip() not in ours:
        raise UsageError(
            f"the text differs from the preset {preset}; choose “the text below”, or clear the text"
        )
    return load_protocol(preset)


def as_read(rules: Protocol) -> dict[str, object]:
    """What the page says of rules that could be read."""
    return {
        "rules": rules,
        "stages": [(stage.role, len(stage.checks), len(stage.scores), stage.looks) for stage in rules.stages],
        "pay": None if rules.pay is None else msgspec.to_builtins(rules.pay).items(),
    }


def _begun(request: HttpRequest, values: Mapping[str, str], source: str) -> HttpResponse:
    """Begin the project, and go there.

    Raises:
        UsageError: a name, a language or a folder cannot be.
    """
    add_project(
        values["slug"],
        RuleText(source=source) if values["protocol"] == _TEXT else values["protocol"],
        title=values["title"],
        media_root=folder_below(values["media"], current().settings.media_roots),
        languages=languages_in(values["languages"]),
        by=request.person.name,
    )
    return HttpResponseRedirect(reverse("project", args=[values["slug"]]))


def project_page(request: HttpRequest, project: str) -> HttpResponse:
    """How many items are in which state, and a page of them: all, those in one state, or by their names."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    items = ItemRow.objects.filter(project=row)
    counts = list(items.values("state").annotate(n=Count("pk")).order_by("state"))
    context = {
        "project": row,
        "counts": counts,
        "n_all": sum(state["n"] for state in counts),
        **_listed(request, items, [state["state"] for state in counts]),
    }
    return render(request, "project.html", context)


def _listed(request: HttpRequest, items: "QuerySet[ItemRow]", states: Collection[str]) -> dict[str, object]:
    """A page of the items; a state that no item has, or a page that does not exist, shows what is nearest.

    Who wrote an item is for operators alone, and so is the order by authors.
    """
    person, asked = request.person, {name: request.GET.get(name, "").strip() for name in _ASKED}
    is_operator = "operator" in person.roles_in(request.resolver_match.kwargs["project"])
    orders = {key: order for key, order in _ORDERS.items() if is_operator or key != "author"}
    if asked["state"] not in states:
        asked["state"] = ""
    if asked["sort"].removeprefix("-") not in orders:
        asked["sort"] = ""
    chosen = items.filter(state=asked["state"]) if asked["state"] else items
    if asked["words"]:
        chosen = chosen.filter(item_id__icontains=asked["words"])
    order = asked["sort"] or "item"
    field = orders[order.removeprefix("-")][1]
    rows = chosen.select_related("project__protocol", "author", "current").prefetch_related("media")
    page = Paginator(
        rows.order_by(f"-{field}" if order.startswith("-") else field, "item_id"), _PAGE
    ).get_page(whole_number(request.GET.get("page", "")) or 1)
    questions = _questions(list(page), person)
    return {
        **asked,
        "page": page,
        "lines": [(item, questions.get(item.pk, ""), _token(item)) for item in page],
        "query": _query(asked),
        "headings": [
            (title, _query(asked | {"sort": f"-{key}" if order == key else key}), _direction(order, key))
            for key, (title, _) in orders.items()
        ],
        "is_operator": is_operator,
    }


def _query(asked: Mapping[str, str]) -> str:
    return urlencode({name: value for name, value in asked.items() if value})


def _direction(order: str, key: str) -> str:
    """How a column is sorted, as ``aria-sort`` says it; empty if it is not."""
    return {key: "ascending", f"-{key}": "descending"}.get(order, "")


def _questions(items: Sequence[ItemRow], person: Person) -> dict[int, str]:
    """The questions of items by their keys, as far as a person may read them, own drafts among them."""
    written = DraftRow.objects.filter(
        item__in=[item.pk for item in items if item.current is None],
        user__pseudonym=person.name,
        stage=AUTHOR,
        is_closed=False,
    )
    drafts = {draft.item_id: decoded(draft.body).question for draft in written}
    return drafts | {item.pk: question_for(item, person) for item in items if item.current is not None}


def _token(item: ItemRow) -> str:
    """The token of the first medium of an item; empty if no medium can be read."""
    media = shown_media(media_rows(item)[:1], item.project)
    return media[0].token if media else ""


def item_page(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """What was done with one item; what it says only as far as the reader may know it."""
    row = item_named(project, item)
    roles = request.person.roles_in(project)
    fields = {
        "item": row,
        "history": history_of(row, request.person),
        "may_try": not closed(row, request.person),
        "is_operator": "operator" in roles,
        "may_write": "author" in roles and row.state in WRITABLE and is_writer(row, request.person.name),
    }
    return render(request, "item.html", fields)


def start(request: HttpRequest) -> HttpResponse:
    """The first page: the projects of the user, or the runs where only those are shown."""
    if current().settings.mode == "view":
        return redirect("runs")
    person = request.person
    rows = ProjectRow.objects.order_by("slug").annotate(
        n_items=Count("items"),
        n_accepted=Count("items", filter=Q(items__state="accepted")),
        changed_at=Max("items__changed_at"),
    )
    projects = [value for value in rows if person.is_in(value.slug)]
    fields = {"projects": projects, "has_board": board_here() is not None}
    return render(request, "start.html", fields)


urls = [
    route("", start, name="start", roles=SIGNED_IN),
    route("new-project", begin, name="new-project", roles={"operator"}, to=BOTH),
    route(f"{PROJECT}/", project_page, name="project", roles=EVERY_ROLE),
    route(f"{ITEM}/", item_page, name="item", roles=EVERY_ROLE),
]
