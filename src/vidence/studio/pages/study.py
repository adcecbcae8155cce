"""The pages that participants of studies see: consent, the trial page, waiting, the end; and their media."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from typing import Final, cast
from uuid import UUID

import msgspec
from asgiref.sync import sync_to_async
from django.core.exceptions import PermissionDenied
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from vidence.errors import MediaError, UsageError, VidenceError
from vidence.studio import studies
from vidence.studio.access import ANYONE, BOTH, EVERY_ROLE, route
from vidence.studio.accounts import account_of
from vidence.studio.drafts import Conflict, Saved, new_request
from vidence.studio.media import MediumFile, desk
from vidence.studio.pages.answers import as_json, is_script, saved_as_json, version_in, whole_number
from vidence.studio.pages.media import media_urls, ranged
from vidence.studio.records.studies import ParticipantRow, ResponseRow, StudyRow
from vidence.studio.rules.study_forms import FormContext, entered, fields_of, told_answers
from vidence.studio.settings import current
from vidence.studio.studies import CLOSED, Invitation, Seat, Written
from vidence.studio.study_media import (
    ONCE_SLACK,
    Source,
    TrialFile,
    begin_view,
    end_view,
    file_named,
    files_of,
    may_view,
    was_viewed,
)
from vidence.study.progress import Begin, Calibration, Debrief, Review, Trial, Waiting
from vidence.tables.table import several

STUDY: Final = "s/<uuid:study>"
"""Where all pages of a participant are: short, and it says nothing."""
_PAGE_BYTES: Final = 1 << 16
_COOKIE_S: Final = 90 * 24 * 3600
_MOST_PX: Final = 2000
_TYPES: Final = {".json": "application/json", ".png": "image/png"}
_PART_OVER: Final = "The time for the previous part is over. What you had filled in by then counts."
_TRIAL_OVER: Final = "The time for the previous trial is over. What you had filled in by then counts."
_ENDED: Final = ("Thank you", "You have finished your part in this study.")
_STOPPED: Final = (
    "The study cannot continue, because its files on the server were changed. What you sent before is kept. "
    "Tell those who invited you."
)
_CARD_CM: Final = {"long": 8.56, "short": 5.398}
"""The sides of a bank card (ISO/IEC 7810, ID-1)."""
_CONSENT: Final = (
    "You are asked to take part in a study. What you fill in is kept under a pseudonym, with the times at "
    "which you sent it."
)


# --------------------------------------------------------------------------- who asks


def _cookie(study: UUID) -> str:
    return f"{current().cookie}_{study.hex[:12]}"


def _participant(request: HttpRequest, study: UUID) -> ParticipantRow | None:
    """The participant that a browser is, by its cookie."""
    word = request.COOKIES.get(_cookie(study), "")
    rows = ParticipantRow.objects.select_related("study")
    digest = studies.digest_of(word)
    row: ParticipantRow | None = rows.filter(study__public=study, browser=digest).first() if word else None
    return row


def padded(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Fill the pages of a view up to a whole number of blocks, so that their sizes say nothing of trials."""

    @wraps(view)
    def answer(request: HttpRequest, **named: object) -> HttpResponse:
        answered = view(request, **named)
        if answered.headers["Content-Type"].startswith("text/html"):
            answered.content += b" " * (-len(answered.content) % _PAGE_BYTES)
        return answered

    return answer


def _say(request: HttpRequest, study: StudyRow, *texts: str, **more: object) -> HttpResponse:
    """A page with a heading and words, and perhaps a button."""
    heading, words = texts
    status = cast("int", more.pop("status", HTTPStatus.OK))
    page = {"title": study.title, "study": study, "heading": heading, "words": words, **more}
    return render(request, "study/say.html", page, status=status)


def _refused(request: HttpRequest, study: StudyRow, words: str) -> HttpResponse:
    if is_script(request):
        return as_json({"words": words}, HTTPStatus.CONFLICT)
    return _say(request, study, "Not possible", words, status=HTTPStatus.CONFLICT)


def _fault(request: HttpRequest, study: StudyRow, error: VidenceError) -> HttpResponse:
    """The reason of a refusal; where the folder of the study cannot be used, it names files of the server."""
    try:
        studies.folder_of(study)
    except VidenceError:
        return _refused(request, study, _STOPPED)
    return _refused(request, study, str(error))


# --------------------------------------------------------------------------- ways in


def short(request: HttpRequest, key: str) -> HttpResponse:
    """The link as it is given out: to the page of its study, with what a recruiter has added."""
    person = ParticipantRow.objects.filter(key=key).select_related("study").first()
    study = person.study if person else get_object_or_404(StudyRow, key=key)
    return redirect(f"{reverse('study-join', args=[study.public, key])}?{request.GET.urlencode()}")


@padded
def join(request: HttpRequest, study: UUID, key: str = "") -> HttpResponse:
    """What a link leads to: the consent, and what becomes of it; without a key, for accounts."""
    row = get_object_or_404(StudyRow, public=study)
    try:
        invitation = _invitation(request, row, key)
        if isinstance(invitation, HttpResponse):
            return invitation
        return (
            _entered(request, invitation) if request.method == "POST" else _consent_page(request, invitation)
        )
    except VidenceError as error:
        return _fault(request, row, error)


def _invitation(request: HttpRequest, study: StudyRow, key: str) -> Invitation | HttpResponse:
    if key:
        invitation = studies.invitation_of(study, key, request.GET.dict())
        if invitation is None:
            raise Http404
        return invitation
    if request.person is None:
        return redirect(f"{reverse('sign-in')}?next={request.path}")
    if EVERY_ROLE.isdisjoint(request.person.roles_in(None)):
        raise PermissionDenied("studies are for people who work on projects")
    return studies.invitation_of_account(study, account_of(request.person))


def _is_here(request: HttpRequest, invitation: Invitation) -> bool:
    """Whether a request comes from the browser in which the participant of its link takes part."""
    here = _participant(request, invitation.study.public)
    return here is not None and invitation.participant is not None and here.pk == invitation.participant.pk


def _finished(request: HttpRequest, row: ParticipantRow) -> HttpResponse:
    """The end, with what a recruiter wants to hear of it; also after the study was closed."""
    recruit = studies.folder_of(row.study).study.recruit
    code = {"code": recruit.completion_code, "address": recruit.completion_url}
    words = "Your answers are kept. You can close this page."
    return _say(request, row.study, "Thank you", words, **(code if row.recruited == "recruiter" else {}))


def _consent_page(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    study, row = invitation.study, invitation.participant
    if _is_here(request, invitation):
        return redirect("study-next", study.public)
    if row is not None and row.state == "finished" and invitation.recruited != "link":
        return _finished(request, row)
    if study.state == "closed":
        return _say(request, study, "The study is closed", CLOSED)
    if row is not None and row.browser and invitation.recruited == "link":
        raise UsageError(studies.USED)
    if row is not None and row.state in ("declined", "withdrawn", "finished"):
        return _say(request, study, *_ENDED)
    if row is not None and row.state == "begun":
        words = "You have begun this study before. You go on where you stopped; the clocks kept running."
        return _say(request, study, "Welcome back", words, act="agree", button="Go on in this browser")
    folder = studies.folder_of(study)
    page = {
        "title": study.title,
        "study": study,
        "consent": folder.text(folder.study.consent) or _CONSENT,
        "instructions": folder.study.instructions,
        "word": new_request(),
    }
    return render(request, "study/consent.html", page)


def _entered(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    agrees = request.POST.get("act") == "agree"
    if agrees and _is_here(request, invitation):
        return redirect("study-next", invitation.study.public)
    word = studies.enter(invitation, agrees=agrees, word=request.POST.get("word", ""))
    if not agrees:
        words = "You are not taking part. Nothing about you is kept. You can close this page."
        return _say(request, invitation.study, "Thank you", words)
    answer = redirect("study-next", invitation.study.public)
    answer.set_cookie(
        _cookie(invitation.study.public),
        word,
        max_age=_COOKIE_S,
        path=reverse("study-next", args=[invitation.study.public]),
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return answer


# --------------------------------------------------------------------------- what comes next


def _by_participant(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A view of a participant: 409 with the reason for others, and for what is refused."""

    @padded
    @wraps(view)
    def answer(request: HttpRequest, study: UUID, **named: object) -> HttpResponse:
        row = _participant(request, study)
        if row is None:
            words = "This browser is not part of this study. Open the link that you were given."
            return _refused(request, get_object_or_404(StudyRow, public=study), words)
        try:
            return view(request, row, **named)
        except VidenceError as error:
            return _fault(request, row.study, error)

    return answer


@_by_participant
def next_page(request: HttpRequest, row: ParticipantRow) -> HttpResponse:
    """Lead a participant to what comes next, and do what its page asks for."""
    if request.method == "POST":
        width = whole_number(request.POST.get("width_px", ""))
        side_cm = _CARD_CM.get(request.POST.get("side", "long"))
        px_per_cm = width / side_cm if width and side_cm and width <= _MOST_PX else None
        part = whole_number(request.POST.get("part", ""))
        studies.act(row, request.POST.get("act", ""), px_per_cm=px_per_cm, part=part)
        return redirect("study-next", row.study.public)
    if row.state == "finished":
        return _finished(request, row)
    if row.study.state == "closed":
        return _say(request, row.study, "The study is closed", CLOSED)
    seat = Seat(row)
    step = seat.step()
    if isinstance(step, Trial):
        return redirect("study-trial", row.study.public, step.planned.place)
    return _page_of(request, seat, step)


def _page_of(request: HttpRequest, seat: Seat, step: object) -> HttpResponse:
    study, own = seat.row.study, seat.folder.study
    inside: dict[str, object] = {"is_inside": True, "notice": _PART_OVER if seat.ran_out() else ""}
    match step:
        case Calibration():
            page = {"title": study.title, "study": study, **inside}
            return render(request, "study/calibration.html", page)
        case Begin():
            limit = f" You have {in_words(step.phase.limit_s)}." if step.phase.limit_s else ""
            n = f"{several(step.n_trials, 'trial')}."
            parts = (own.instructions, step.phase.aids and f"Aids: {step.phase.aids}", f"{n}{limit}")
            more = {"act": "begin", "button": "Begin", "part": own.phases.index(step.phase)}
            heading = step.phase.title or "The study begins"
            return _say(request, study, heading, "\n\n".join(filter(None, parts)), **more, **inside)
        case Review():
            left = "" if step.seconds_left is None else f" You have {in_words(step.seconds_left)} left."
            words = f"All trials of this part are answered. Go back to any of them, or end this part.{left}"
            more = {"act": "end-part", "button": "End this part", "part": own.phases.index(step.phase)}
            heading = step.phase.title or "All answered"
            places = [(place, n, False, True) for n, place in enumerate(step.places, 1)]
            return _say(request, study, heading, words, places=places, **more, **inside)
        case Waiting():
            left_s = (step.until - seat.now).total_seconds()
            until = f"{step.until:%Y-%m-%d %H:%M}"
            words = "The next part is not open yet. This page continues by itself when it opens."
            return _say(request, study, "Please wait", words, until=until, left_s=left_s, **inside)
        case Debrief():
            words = seat.folder.text(own.debrief) or "This was the last trial. Thank you."
            return _say(request, study, "The end", words, act="finish", button="Finish", **inside)
        case _:
            return _say(request, study, *_ENDED)


def in_words(seconds: float) -> str:
    """A time as people say it.

    >>> in_words(12_600), in_words(45)
    ('3 h 30 min', '45 s')
    """
    minutes, s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "", f"{s} s" if s else "")
    return " ".join(filter(None, parts)) or "0 s"


@_by_participant
def leave(request: HttpRequest, row: ParticipantRow) -> HttpResponse:
    """Withdraw, after asking once."""
    if request.method != "POST":
        words = (
            "If you leave, what you wrote is removed, and who you are is forgotten. Only counts are kept: "
            "how many trials were answered, and how long they took. This cannot be undone."
        )
        more = {"act": "leave", "button": "Leave the study and remove what I wrote"}
        return _say(request, row.study, "Leave the study?", words, **more)
    studies.withdraw(row)
    words = "What you wrote is removed. Thank you."
    return _say(request, row.study, "You have left the study", words, forgets=row.public)


# --------------------------------------------------------------------------- the trial page


@_by_participant
def trial(request: HttpRequest, row: ParticipantRow, at: int) -> HttpResponse:
    """The page of a trial; a post saves it, freezes a field of it, or hands it in."""
    if request.method != "POST":
        return _trial_page(request, row, at)
    action, place = request.POST.get("action", "save"), at
    if action == "play":
        studies.happened(row, "played", place=place)
        return as_json({})
    if action == "late-frames":
        n = whole_number(request.POST.get("n", "")) or 0
        studies.happened(row, "late-frames", place=place, n=n, words=request.POST.get("note", "")[:1000])
        return as_json({})
    if action == "problem":
        words = request.POST.get("problem", "").strip()[:1000]
        studies.happened(row, "problem", place=place, words=words or "not said")
        return redirect("study-trial", row.study.public, place)
    return _written(request, row, place)


def _written(request: HttpRequest, row: ParticipantRow, place: int) -> HttpResponse:
    planned = studies.planned_at(row, place)
    if planned is None:
        raise Http404
    study, action = studies.folder_of(row.study).study, request.POST.get("action", "save")
    barrier = request.POST.get("freezes", "") if action == "submit" else ""
    try:
        sent = Written(
            act="freeze" if barrier else "submit" if action == "submit" else "save",
            place=place,
            values=entered(study, planned, request.POST.dict()),
            seen=version_in(request),
            request=request.POST.get("request", ""),
            field=barrier,
        )
        outcome = studies.write(row, sent)
    except UsageError as error:
        if is_script(request):
            return as_json({"words": str(error)}, HTTPStatus.BAD_REQUEST)
        return _trial_page(request, row, place, fault=str(error))
    if is_script(request):
        return saved_as_json(outcome)
    if isinstance(outcome, Conflict) and not outcome.is_closed:
        words = (
            "Another version was saved meanwhile, in another tab. What you wrote here is shown but not saved "
            "yet: if you send it, it replaces the other version."
        )
        return _trial_page(request, row, place, fault=words)
    if isinstance(outcome, Saved) and sent.act == "freeze":
        return redirect("study-trial", row.study.public, place)
    if planned.kind == "practice" and study.practice.tells:
        return redirect("study-told", row.study.public, place)
    return redirect("study-next", row.study.public)


def _trial_page(request: HttpRequest, row: ParticipantRow, place: int, *, fault: str = "") -> HttpResponse:
    seen = studies.show(row, place)
    if seen is None:
        return redirect("study-next", row.study.public)
    seat, step, kept = seen
    planned, study = step.planned, seat.folder.study
    phase = study.phase(planned.phase)
    content, files = seat.folder.shown(planned), tuple(files_of(seat, planned))
    item = seat.folder.items[planned.item_id]
    choices = content.choices or item.with_order(planned.choice_order).choices
    values = msgspec.json.decode(kept.draft, type=dict[str, str])
    if not values and kept.answered_at is None:
        values = dict(step.kept)
    if fault:
        values |= entered(study, planned, request.POST.dict())
    context = FormContext(study=study, choices=choices, kinds=seat.folder.taxonomy)
    fields = tuple(fields_of(step, values, context))
    titles = {field.name: f"“{field.title}”" for field in fields}
    named = re.sub(r"(?:^|(?<=; ))[\w-]+(?=: )", lambda name: titles.get(name[0], name[0]), fault)
    barrier = next((field.name for field in fields if field.freezes), "")
    is_practice = planned.kind == "practice"
    page = {
        "title": row.study.title,
        "study": row.study,
        "is_inside": True,
        "fault": named,
        "heading": "Practice" if is_practice else phase.title or "Your task",
        "is_practice": is_practice,
        "notice": _TRIAL_OVER if not is_practice and seat.ran_out(step) else "",
        "n": step.place_in_phase + 1,
        "n_all": step.n_in_phase,
        "left_s": step.seconds_left,
        "left_words": in_words(step.seconds_left or 0),
        "aids": phase.aids,
        "media": list(_media(seat, files, kept)),
        "pictures": [
            (f"{reverse('study-next', args=[row.study.public])}picture/{file.token}", file.time_s)
            for file in files
            if file.source in ("picture", "reply")
        ],
        "parts": content.parts,
        "fields": fields,
        "version": kept.version,
        "request_word": new_request(),
        "draft_name": f"{row.public}.{place}.{len(step.frozen)}",
        "is_answered": kept.answered_at is not None,
        "freezes": barrier,
        "places": _places(seat, step),
        "most_plays": phase.most_plays,
        "n_plays": kept.n_plays,
        "canvas_px": round(study.canvas_cm * seat.row.px_per_cm) if seat.row.px_per_cm else "",
    }
    status = HTTPStatus.BAD_REQUEST if fault else HTTPStatus.OK
    return render(request, "study/trial.html", page, status=status)


def _places(seat: Seat, step: Trial) -> list[tuple[int, int, bool, bool]]:
    """Return the trials of a phase that can be changed: place, number, is current, is answered."""
    if not step.may_leave:
        return []
    own = seat.course.of_phase(seat.folder.study.phase(step.planned.phase))
    answered = {place for place, kept in seat.rows.items() if kept.answered_at is not None}
    here = step.planned.place
    return [(trial.place, n, trial.place == here, trial.place in answered) for n, trial in enumerate(own, 1)]


@dataclass(frozen=True, kw_only=True)
class TrialMedium:
    """A medium as the template draws it: `lanes` and `at` mark the part of a video that is asked about."""

    kind: str
    address: str
    lanes: str = "[]"
    is_over: bool = False


def _media(seat: Seat, files: tuple[TrialFile, ...], kept: ResponseRow) -> Iterator[TrialMedium]:
    base = reverse("study-next", args=[seat.row.study.public])
    for file in files:
        if file.source == "once":
            is_over = was_viewed(kept, file)
            yield TrialMedium(kind="once", address=f"{base}view/{file.token}", is_over=is_over)
        elif file.source == "dots":
            yield TrialMedium(kind="dots", address=f"{base}picture/{file.token}")
        elif file.source == "file":
            span = [file.start_s or 0.0, 1e6 if file.end_s is None else file.end_s]
            lanes = [{"name": "the part that is asked about", "spans": [span]}]
            is_part = file.start_s is not None or file.end_s is not None
            yield TrialMedium(
                kind=file.kind,
                address=f"{base}media/{file.token}",
                lanes=msgspec.json.encode(lanes if is_part else []).decode(),
            )


@_by_participant
def feedback(request: HttpRequest, row: ParticipantRow, at: int) -> HttpResponse:
    """After a trial of practice: what was answered, and what is right."""
    seat = Seat(row)
    planned, kept = seat.planned(at), seat.rows.get(at)
    tells = planned is not None and planned.kind == "practice" and seat.folder.study.practice.tells
    if planned is None or kept is None or kept.answered_at is None or not tells:
        return redirect("study-next", row.study.public)
    values = msgspec.json.decode(kept.entered, type=dict[str, str])
    item = seat.folder.items[planned.item_id]
    rows = told_answers(seat.folder.study, planned, item, values=values)
    page = {"title": row.study.title, "study": row.study, "is_inside": True, "rows": rows}
    return render(request, "study/told.html", page)


# --------------------------------------------------------------------------- media


def _named(
    request: HttpRequest, token: str, *sources: Source
) -> tuple[ParticipantRow, TrialFile, int] | None:
    row = _participant(request, request.resolver_match.kwargs["study"])
    if row is None or row.study.state == "closed":
        return None
    known = file_named(row, token, *sources)
    return None if known is None else (row, *known)


async def _medium(request: HttpRequest, token: str) -> MediumFile | None:
    known = await sync_to_async(_named)(request, token, "file")
    return None if known is None else known[1].medium


def picture(request: HttpRequest, study: UUID, token: str) -> HttpResponse:
    """A picture, or the points of light, of a trial."""
    known = _named(request, token, "picture", "reply", "dots")
    if known is None:
        raise Http404
    path = known[1].path
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Http404 from error
    kind = _TYPES.get(path.suffix, "image/jpeg")
    return HttpResponse(content, content_type=kind)


async def view(request: ASGIRequest, study: UUID, token: str) -> HttpResponse:
    """Begin the one view of a medium as soon as browsers can play it, or end it."""
    known = await sync_to_async(_named)(request, token, "once")
    if known is None:
        return as_json({"words": "This video is not open."}, HTTPStatus.CONFLICT)
    row, file, place = known
    try:
        if request.POST.get("action") == "viewed":
            await sync_to_async(end_view)(row, place, file)
            return as_json({})
        copy = await desk().copy_of(file.medium)
        if copy.state in ("waiting", "making"):
            return as_json({"state": "making", "percent": 100 * copy.n_done // max(copy.n_frames, 1)})
        table = await desk().table(file.medium)
        ticks = sum(step * n for step, n in zip(table.runs[::2], table.runs[1::2], strict=True))
        whole_s = ticks * table.time_base[0] / table.time_base[1]
        start_s, end_s = file.start_s or 0.0, whole_s if file.end_s is None else min(file.end_s, whole_s)
        length_s = max(end_s - start_s, 0.5)
        begun = await sync_to_async(begin_view)(row, place, file, length_s=length_s)
    except MediaError:
        words = "This video cannot be shown. Please report a technical problem below."
        return as_json({"words": words}, HTTPStatus.CONFLICT)
    except UsageError as error:
        return as_json({"words": str(error)}, HTTPStatus.CONFLICT)
    address = reverse("study-once", args=[study, token, begun.key])
    ends = {"left_s": ONCE_SLACK * length_s, "start_s": start_s, "end_s": file.end_s}
    return as_json({"state": "ready", "address": address, **ends})


async def once(request: ASGIRequest, study: UUID, *, token: str, key: str) -> HttpResponse:
    """The bytes of a medium that is seen once, as long as its view goes on."""
    known = await sync_to_async(_named)(request, token, "once")
    if known is None:
        raise Http404
    if not await sync_to_async(may_view)(known[0], known[2], known[1], key=key):
        return as_json({"words": "This video was shown."}, HTTPStatus.GONE)
    medium = known[1].medium
    try:
        copy = await desk().copy_of(medium)
        state = await desk().copy_file(medium) if copy.state == "ready" else desk().file_state(medium)
    except MediaError:
        return as_json({"words": "This video cannot be read."}, HTTPStatus.NOT_FOUND)
    answer = ranged(request, state)
    answer.headers["Cache-Control"] = "no-store"
    return answer


urls = [
    route("j/<str:key>", short, name="study-link", roles=ANYONE),
    route(f"{STUDY}/join", join, name="study-join-account", roles=ANYONE, to=BOTH),
    route(f"{STUDY}/join/<str:key>", join, name="study-join", roles=ANYONE, to=BOTH),
    route(f"{STUDY}/", next_page, name="study-next", roles=ANYONE, to=BOTH),
    route(f"{STUDY}/leave", leave, name="study-leave", roles=ANYONE, to=BOTH),
    route(f"{STUDY}/<int:at>", trial, name="study-trial", roles=ANYONE, to=BOTH),
    route(f"{STUDY}/<int:at>/told", feedback, name="study-told", roles=ANYONE),
    route(f"{STUDY}/picture/<str:token>", picture, name="study-picture", roles=ANYONE),
    route(f"{STUDY}/view/<str:token>", view, name="study-view", roles=ANYONE, to=("POST",)),
    route(f"{STUDY}/once/<str:token>/<str:key>", once, name="study-once", roles=ANYONE),
    *media_urls(f"{STUDY}/media/", name="study-media", find=_medium, roles=ANYONE, is_blind=True),
]
