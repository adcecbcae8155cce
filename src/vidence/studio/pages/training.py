"""Guidelines that people read, and trial items that they pass, before they work on a project."""

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from vidence.errors import MediaError, UsageError
from vidence.studio import training
from vidence.studio.access import BOTH, EVERY_ROLE, PROJECT, route
from vidence.studio.accounts import account_of, known_account
from vidence.studio.media import token_of
from vidence.studio.pages.answers import row_named, tried
from vidence.studio.records.items import MediumRow
from vidence.studio.records.people import (
    GuidelineReadRow,
    GuidelineRow,
    ProjectRow,
    QualificationRow,
    TrialRow,
    UserRow,
)
from vidence.studio.workflow import protocol_of

_VERDICTS: Final = "accept\nreturn\nreject"


def guidelines(request: HttpRequest, project: str) -> HttpResponse:
    """The text that people of a project are asked to read, and who has; operators put new versions in."""
    row = get_object_or_404(ProjectRow, slug=project)
    is_operator = "operator" in request.person.roles_in(project)
    done, fault = tried(
        request, lambda: _guideline_act(request, row, is_operator=is_operator), "guidelines", project
    )
    if done is not None:
        return done
    versions = list(GuidelineRow.objects.filter(project=row).order_by("-version"))
    user = known_account(request.person)
    read = (
        GuidelineReadRow.objects.filter(user=user, guideline__project=row)
        .order_by("-guideline__version")
        .first()
    )
    guidelines = {
        "project": row,
        "last": versions[0] if versions else None,
        "versions": _with_changes(versions),
        "read": read,
        "is_operator": is_operator,
        "fault": fault,
        "source": request.POST.get("source", versions[0].source if versions else ""),
    }
    return render(request, "training/guidelines.html", guidelines, status=400 if fault else 200)


def _guideline_act(request: HttpRequest, project: ProjectRow, *, is_operator: bool) -> None:
    if request.POST.get("act") == "read":
        last = training.newest(project)
        if last is None or str(last.version) != request.POST.get("version"):
            raise UsageError("there is a newer version; read it instead")
        training.accept(account_of(request.person), last)
    elif request.POST.get("act") == "add" and is_operator:
        training.add_guideline(project, request.POST.get("source", ""), by=request.person.name)
    else:
        raise UsageError("this action is not available here; only operators add versions")


def _with_changes(versions: list[GuidelineRow]) -> list[tuple[GuidelineRow, int, str]]:
    """Versions, how many people have read each, and what it changed."""
    changes = []
    for entry, before in zip_longest(versions, versions[1:]):
        lines = (
            []
            if before is None
            else difflib.unified_diff(
                before.source.splitlines(),
                entry.source.splitlines(),
                fromfile=f"version {before.version}",
                tofile=f"version {entry.version}",
                lineterm="",
                n=2,
            )
        )
        changes.append((entry, entry.readings.count(), "\n".join(lines)))
    return changes


@dataclass(frozen=True, kw_only=True)
class _TrialItem:
    """A trial item as it is shown: without what is right, before the role is open."""

    trial: TrialRow
    token: str
    kind: str
    said: str


def qualification(request: HttpRequest, project: str) -> HttpResponse:
    """Return the qualification trials for a person's roles, with progress."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    protocol = protocol_of(row)
    mine = [name for name in training.WORKERS if name in request.person.roles_in(project)]
    done, fault = tried(request, lambda: _answer(request, row, roles=mine), "qualification", project)
    if done is not None:
        return done
    user = known_account(request.person)
    roles = []
    for role in mine:
        trials = training.trials_of(row, role) if protocol.qualification is not None else []
        mine_here = user and training.Seat(user=user, project=row, protocol=protocol, role=role)
        standing = training.standing(mine_here) if mine_here else None
        roles.append((role, standing, [_asked(row, trial, request) for trial in trials]))
    fields = {"project": row, "roles_of_me": roles, "asks": protocol.qualification, "fault": fault}
    return render(request, "training/qualification.html", fields, status=400 if fault else 200)


def _answer(request: HttpRequest, project: ProjectRow, *, roles: Collection[str]) -> None:
    role = request.POST.get("role", "")
    if role not in roles:
        raise Http404
    user, protocol = account_of(request.person), protocol_of(project)
    seat = training.Seat(user=user, project=project, protocol=protocol, role=role)
    training.answer(seat, {name: str(result) for name, result in request.POST.items()})


def _asked(project: ProjectRow, trial: TrialRow, request: HttpRequest) -> _TrialItem:
    medium = trial.medium
    kind = "" if medium is None else medium.kind
    token, root = "", project.media_root
    if medium is not None:
        try:
            roots = [Path(root)] if root else []
            token = token_of(Path(root) / medium.path, kind=kind, roots=roots, project=project.slug)
        except MediaError:
            kind = "gone"
    return _TrialItem(trial=trial, token=token, kind=kind, said=request.POST.get(str(trial.public), ""))


def trials(request: HttpRequest, project: str) -> HttpResponse:
    """The trial items of a project with what is right, and how people did; for operators."""
    row = get_object_or_404(ProjectRow.objects.select_related("protocol"), slug=project)
    done, fault = tried(request, lambda: _trial_act(request, row), "trials", project)
    if done is not None:
        return done
    trials = {
        "project": row,
        "asks": protocol_of(row).qualification,
        "trials": TrialRow.objects.filter(project=row).order_by("role", "-is_used", "pk"),
        "runs": QualificationRow.objects.filter(project=row)
        .select_related("user", "guideline")
        .order_by("-at")[:100],
        "media": MediumRow.objects.filter(project=row, kind__in=("video", "image", "frames")).order_by(
            "path"
        )[:500],
        "stuck": _stuck(row),
        "workers": training.WORKERS,
        "filled": {"options": _VERDICTS, **request.POST.dict()},
        "fault": fault,
    }
    return render(request, "training/trials.html", trials, status=400 if fault else 200)


def _stuck(project: ProjectRow) -> list[tuple[UserRow, str]]:
    """Who has no try left, and for which role."""
    protocol = protocol_of(project)
    failed = QualificationRow.objects.filter(project=project, is_passed=False, is_set_aside=False)
    pairs = {(entry.user, entry.role) for entry in failed.select_related("user")}
    return [
        (user, role)
        for user, role in sorted(pairs, key=lambda pair: (pair[0].key, pair[1]))
        if training.standing(training.Seat(user=user, project=project, protocol=protocol, role=role)).is_stuck
    ]


def _trial_act(request: HttpRequest, project: ProjectRow) -> None:
    result = request.POST
    if result.get("act") == "again":
        those = QualificationRow.objects.filter(project=project, role=result.get("role", "")).values("user")
        user = row_named(UserRow, result.get("user", ""), pk__in=those)
        seat = training.Seat(user=user, project=project, protocol=protocol_of(project), role=result["role"])
        training.let_try_again(seat, by=request.person.name)
        return
    if result.get("act") == "retire":
        outcome = row_named(TrialRow, result.get("trial", ""), project=project)
        outcome.is_used = not outcome.is_used
        outcome.save(update_fields=["is_used"])
        return
    named = result.get("medium", "")
    medium = row_named(MediumRow, named, project=project) if named else None
    trial = training.Trial(
        role=result.get("role", ""),
        words=result.get("words", ""),
        options=tuple(result.get("options", "").splitlines()),
        right=result.get("right", ""),
        why=result.get("why", ""),
    )
    training.add_trial(project, trial, medium=medium)


urls = [
    route(f"{PROJECT}/guidelines", guidelines, name="guidelines", roles=EVERY_ROLE, to=BOTH),
    route(f"{PROJECT}/qualification", qualification, name="qualification", roles=EVERY_ROLE, to=BOTH),
    route(f"{PROJECT}/trials", trials, name="trials", roles={"operator"}, to=BOTH),
]
