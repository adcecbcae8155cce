"""A project: begun in the browser, its items by state, and what was done with each of them."""

from collections.abc import Collection, Mapping
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from vidence.errors import UnknownNameError, UsageError
from vidence.make.review.protocol import Protocol, load_protocol, protocol_bytes, protocol_names
from vidence.studio.access import BOTH, EVERY_ROLE, ITEM, PROJECT, SIGNED_IN, route
from vidence.studio.hint_trials import closed
from vidence.studio.history import history_of
from vidence.studio.leaderboard import board_here
from vidence.studio.pages.answers import item_named, whole_number
from vidence.studio.projects import RuleText, add_project, folder_below, languages_in, read_rules
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.settings import current
from vidence.studio.writing import WRITABLE, is_writer

_PAGE: Final = 100
_TEXT: Final = "text"
"""What the choice of a protocol says where the text below it counts."""
_FIELDS: Final = ("act", "title", "slug", "languages", "media", "protocol")


def begin(request: HttpRequest) -> HttpResponse:
    """The form that begins a project, and what its rules read as before it does."""
    if not request.person.leads_all:
        raise PermissionDenied("operators of all projects begin projects")
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
            f"the text differs from the preset {preset}; choose “the text below”, or empty the text"
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
    fields = {
        "project": row,
        "counts": counts,
        "roles_here": request.person.roles_in(project),
        **_listed(request, items, [entry["state"] for entry in counts]),
    }
    return render(request, "project.html", fields)


def _listed(request: HttpRequest, items: "QuerySet[ItemRow]", states: Collection[str]) -> dict[str, object]:
    """A page of the items; a state that no item has, or a page that is not there, shows what is nearest."""
    state = request.GET.get("state", "")
    words = request.GET.get("words", "").strip()
    chosen = items.filter(state=state) if state in states else items
    if words:
        chosen = chosen.filter(item_id__icontains=words)
    rows = chosen.order_by("item_id").only("public", "item_id", "state")
    return {
        "page": Paginator(rows, _PAGE).get_page(whole_number(request.GET.get("page", "")) or 1),
        "query": urlencode({name: result for name, result in (("state", state), ("words", words)) if result}),
        "chosen": state if state in states else "",
        "words": words,
    }


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
    projects = [value for value in ProjectRow.objects.order_by("slug") if person.is_in(value.slug)]
    fields = {"paths": current().settings.paths, "projects": projects, "has_board": board_here() is not None}
    return render(request, "start.html", fields)


urls = [
    route("", start, name="start", roles=SIGNED_IN),
    route("new-project", begin, name="new-project", roles={"operator"}, to=BOTH),
    route(f"{PROJECT}/", project_page, name="project", roles=EVERY_ROLE),
    route(f"{ITEM}/", item_page, name="item", roles=EVERY_ROLE),
]
