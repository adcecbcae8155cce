"""Studies as operators see them: the list, a page that writes study.toml, and who takes part."""

import re
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Final
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from vidence.errors import UsageError, cause
from vidence.media.whole import write_file
from vidence.report.page import list_fragment, section_fragment
from vidence.studio import studies
from vidence.studio.access import BOTH, EVERY_ROLE, route
from vidence.studio.audit import note
from vidence.studio.pages.answers import as_piece, row_named, tried, whole_number
from vidence.studio.records.studies import ParticipantRow, StudyRow
from vidence.studio.settings import current
from vidence.study.checklist import checklist_table, reported
from vidence.study.problems import problems
from vidence.study.study import STUDY_FILE, presets, read_study

_FOLDER: Final = "studies"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_FIELDS: Final = ("name", "preset", "title", "items", "media", "n", "people")
_MOST_LINKS: Final = 200
_DRAWN: Final = "drawn.json"


def _for_operators(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A view for operators of all projects: studies are of no project."""

    @wraps(view)
    def answer(request: HttpRequest, **named: object) -> HttpResponse:
        if not request.person.leads_all:
            raise PermissionDenied("only operators of all projects run studies")
        return view(request, **named)

    return answer


def listed(request: HttpRequest) -> HttpResponse:
    """The studies of this studio: to operators with their state, to others those to take part in."""
    rows = StudyRow.objects.order_by("-opened_at")
    if not request.person.leads_all:
        return render(request, "study/list.html", {"open": rows.filter(state="open")})
    done, fault = tried(request, lambda: studies.open_study(_folder(request.POST.get("name", ""))), "studies")
    if done is not None:
        return done
    begun = Count("participants", filter=~Q(participants__state__in=("invited", "declined")))
    finished = Count("participants", filter=Q(participants__state="finished"))
    opened = {row.folder for row in rows}
    written = [
        (path.parent.name, path.parent, (path.parent / _DRAWN).exists())
        for path in sorted(_root().glob(f"*/{STUDY_FILE}"))
        if str(path.parent.resolve()) not in opened
    ]
    page = {"rows": rows.annotate(n_begun=begun, n_finished=finished), "written": written, "fault": fault}
    return render(request, "study/list.html", page, status=400 if fault else 200)


def _root() -> Path:
    return current().settings.data / _FOLDER


def _folder(name: str) -> Path:
    """The folder of a study that is written here.

    Raises:
        UsageError: the name cannot be that of a folder.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"the name {name!r:.80}; expected lower-case letters, digits and -, 60 at most")
    return _root() / name


# --------------------------------------------------------------------------- writing study.toml


@_for_operators
def build(request: HttpRequest) -> HttpResponse:
    """The form that writes the study.toml of a preset, and the text to edit."""
    sent = {name: request.POST.get(name, "").strip() for name in _FIELDS}
    sent["name"] = sent["name"] or request.GET.get("name", "")
    source = request.POST.get("source", "").replace("\r\n", "\n")
    fault, left = "", tuple[str, ...]()
    try:
        if request.POST.get("act") == "fill":
            source = _text_of(sent)
        elif request.method == "POST":
            left = _keep(sent["name"], source)
        elif sent["name"]:
            source = (_folder(sent["name"]) / STUDY_FILE).read_text(encoding="utf-8")
    except UsageError as error:
        fault = str(error)
    except OSError as error:
        fault = f"the study {sent['name']!r} cannot be read or written: {cause(error)}"
    page = {
        "sent": sent,
        "source": source,
        "n_lines": source.count("\n") + 2,
        "presets": presets(),
        "fault": fault,
        "left": left,
        "is_kept": request.POST.get("act") == "keep" and not fault,
        "folder": _root() / sent["name"] if not fault else "",
    }
    return render(request, "study/build.html", page, status=400 if fault else 200)


def _text_of(sent: dict[str, str]) -> str:
    """The study.toml that a few fields and a preset make."""
    quoted = {name: '"' + re.sub(r'(["\\])', r"\\\1", value) + '"' for name, value in sent.items()}
    lines = [f"{name} = {quoted[name]}" for name in ("preset", "title", "items", "media") if sent[name]]
    if sent["people"]:
        lines.append(f"n_people = {whole_number(sent['people']) or quoted['people']}")
    if sent["n"]:
        lines += ["", "[draw]", f"n = {whole_number(sent['n']) or quoted['n']}"]
    return "\n".join(lines) + "\n"


def _keep(name: str, source: str) -> tuple[str, ...]:
    """Write a study.toml that can be read; what else is wrong with the study.

    Raises:
        UsageError: the text cannot be read (with the line), or the study was drawn.
    """
    folder = _folder(name)
    if (folder / _DRAWN).exists():
        raise UsageError(f"{folder} was drawn; write a changed study under another name")
    with tempfile.TemporaryDirectory() as tried_in:
        path = Path(tried_in) / STUDY_FILE
        path.write_text(source, encoding="utf-8")
        try:
            read_study(path)
        except UsageError as error:
            raise UsageError(str(error).replace(str(path), STUDY_FILE)) from error
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_file(folder / STUDY_FILE, source.encode())
    return tuple(problems(read_study(folder)))


# --------------------------------------------------------------------------- who takes part


@_for_operators
def status(request: HttpRequest, study: UUID) -> HttpResponse:
    """Who takes part and how far they are; links are made here, and the study is closed."""
    row = get_object_or_404(StudyRow, public=study)
    done, fault = tried(request, lambda: _act(request, row), "study-status", study)
    if done is not None:
        return done
    people = ParticipantRow.objects.filter(study=row).order_by("slot").select_related("user")
    asked = Count("responses", filter=Q(responses__answered_at__isnull=False))
    problems_of = Count("responses", filter=~Q(responses__problem=""))
    counted = people.annotate(n_answered=asked, n_problems=problems_of)
    base = request.build_absolute_uri("/j/")
    folder = studies.folder_of(row)
    page = {
        "study": row,
        "people": [(entry, _n_trials(entry), f"{base}{entry.key}" if entry.key else "") for entry in counted],
        "many": f"{base}{row.key}?{folder.study.recruit.participant}=" if row.key else "",
        "accounts": request.build_absolute_uri(reverse("study-join-account", args=[row.public])),
        "n_people": folder.study.n_people,
        "folder_name": Path(row.folder).name,
        "fault": fault,
    }
    return render(request, "study/status.html", page, status=400 if fault else 200)


def _n_trials(row: ParticipantRow) -> int:
    return len(studies.Seat(row).trials) if row.state not in ("invited", "declined") else 0


def _act(request: HttpRequest, study: StudyRow) -> None:
    what, by = request.POST.get("act", ""), request.person.name
    if what == "close":
        studies.close_study(study)
        note("study-closed", by=by, about=str(study.public))
        return
    if study.state == "closed":
        raise UsageError(studies.CLOSED)
    if what == "invite":
        n = whole_number(request.POST.get("n", "")) or 0
        if not 1 <= n <= _MOST_LINKS:
            raise UsageError(f"{n} links; expected 1 to {_MOST_LINKS}")
        studies.invite(study, n)
    elif what == "many":
        studies.open_study(Path(study.folder), is_recruited=True)
    else:
        person = row_named(ParticipantRow, request.POST.get("person", ""), study=study)
        if what == "withdraw" and person.state in ("invited", "begun", "finished"):
            studies.withdraw(person)
            note("participant-withdrawn", by=by, about=person.name)
        elif what == "link" and person.state in ("invited", "begun"):
            studies.another_link(person)
        else:
            raise UsageError(f"{person.name} is {person.state}; this is no longer possible")


@_for_operators
def report(request: HttpRequest, study: UUID) -> HttpResponse:
    """The result of a study that was closed: its tables, and the checklist for human baselines."""
    row = get_object_or_404(StudyRow, public=study)
    _, report, entries = reported(Path(row.folder))
    pieces = (*map(section_fragment, report.sections), list_fragment(checklist_table(entries)))
    page = {"study": row, "sentences": report.sentences, "pieces": [as_piece(piece) for piece in pieces]}
    return render(request, "study/report.html", page)


urls = [
    route("studies/", listed, name="studies", roles=EVERY_ROLE, to=BOTH),
    route("studies/new", build, name="new-study", roles={"operator"}, to=BOTH),
    route("studies/<uuid:study>/report", report, name="study-report", roles={"operator"}),
    route("studies/<uuid:study>/", status, name="study-status", roles={"operator"}, to=BOTH),
]
