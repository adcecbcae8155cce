"""The rules of a project: edited as TOML, tried on what was done already, kept as versions."""

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from vidence.errors import UsageError
from vidence.make.review.protocol import Protocol
from vidence.studio import rulebooks
from vidence.studio.access import BOTH, PROJECT, route
from vidence.studio.pages.answers import row_named
from vidence.studio.records.people import ProjectRow, ProtocolVersionRow
from vidence.studio.rulebooks import RulesPreview, changes, diff, dry_run, read, versions

_MOST_FAULTS = 20


def protocol(request: HttpRequest, project: str) -> HttpResponse:
    """The rules in use, an editor for the next version, and the versions that are kept."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    told: dict[str, object] = {"fault": ""}
    if request.method == "POST":
        try:
            if _act(request, row):
                return redirect("protocol", project)
            told |= _checked(request, row)
        except UsageError as error:
            told["fault"] = str(error)
    kept = versions(row)
    source = request.POST.get("source", row.protocol.source)
    told |= {
        "project": row,
        "source": source,
        "versions": list(zip(kept, changes([(one.n, one.protocol.source) for one in kept]), strict=False)),
        "n_lines": source.count("\n") + 2,
        "used": next((one.n for one in kept if one.protocol_id == row.protocol_id), 1),
    }
    return render(request, "protocol/protocol.html", told, status=400 if told["fault"] else 200)


def _act(request: HttpRequest, project: ProjectRow) -> bool:
    """Do what a button says; False where it only looks."""
    said, by = request.POST, request.person.name
    act = said.get("act")
    if act == "check":
        return False
    if act == "keep":
        rulebooks.keep(project, said.get("source", ""), by=by)
        return True
    rows = ProtocolVersionRow.objects.select_related("protocol", "project")
    version = row_named(rows, said.get("version", ""), project=project)
    if act == "use":
        rulebooks.use(version, by=by)
    elif act == "remove":
        rulebooks.remove(version, by=by)
    else:
        raise UsageError("nothing that can be done here")
    return True


def _checked(request: HttpRequest, project: ProjectRow) -> dict[str, object]:
    """What a text reads as, what it changes, and what of the work done does not fit it."""
    source = request.POST.get("source", "").replace("\r\n", "\n")
    rules = read(source)
    tried = dry_run(project, rules)
    return {
        **as_read(rules),
        "tried": tried,
        "shown_faults": _shown(tried),
        "changes": diff(project.protocol.source, source, names=("in use", "this text")),
    }


def as_read(rules: Protocol) -> dict[str, object]:
    """What the page says of rules that could be read."""
    return {
        "rules": rules,
        "stages": [(one.role, len(one.checks), len(one.scores), one.looks) for one in rules.stages],
        "pay": None if rules.pay is None else msgspec.to_builtins(rules.pay).items(),
    }


def _shown(tried: RulesPreview) -> tuple[str, ...]:
    more = len(tried.faults) - _MOST_FAULTS
    return (*tried.faults[:_MOST_FAULTS], *([f"and {more} more"] if more > 0 else []))


urls = [
    route(f"{PROJECT}/protocol", protocol, name="protocol", roles={"operator"}, to=BOTH),
]
