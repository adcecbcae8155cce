"""The page of a look: solve, count, check field by field, decide; edits and messages beside it."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import msgspec
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from vidence.errors import MediaError, UsageError
from vidence.make.review.files import Reviews
from vidence.make.review.revisions import Event, Kind
from vidence.make.review.states import allowed_kinds
from vidence.records import Record
from vidence.studio import times
from vidence.studio.access import Rule, route
from vidence.studio.accounts import known_account
from vidence.studio.drafts import Conflict
from vidence.studio.hint_tries import of_wording
from vidence.studio.intake import pictured_in
from vidence.studio.looking import (
    Look,
    claim_fault,
    count,
    decide,
    decided_by,
    edit,
    look_of,
    minutes_since,
    reviews_of_item,
    say,
    solve,
    take_next,
    witness,
)
from vidence.studio.media import token_of
from vidence.studio.pages import review_drafts
from vidence.studio.records.boards import MadeSetRow
from vidence.studio.records.items import ItemRow
from vidence.studio.rules.looks import (
    DECIDING,
    SOURCES,
    Control,
    Line,
    answers_of,
    as_typed,
    check_control,
    compared,
    counts_of,
    field_control,
    marks_of,
    new_wording,
    other_checks,
    read_given,
    rivals_at,
    score_control,
    spans_of,
    summaries_at,
    told_at,
    why_not,
)
from vidence.studio.settings import current
from vidence.studio.workflow import Done, Refused, Result, events_of

_SALT = "look"
_SAVE = "save"
_LONG = 60


class Shown(Record):
    """A medium on the page: its token and the lanes of its time line as JSON, or why it is not shown."""

    name: str
    kind: str = "video"
    token: str = ""
    lanes: str = "[]"
    fault: str = ""


class Row(Record):
    """A field of the item, what is said of it, and the note on it."""

    name: str
    texts: tuple[str, ...]
    is_list: bool
    controls: tuple[Control, ...]
    note: str = ""


class Action(Record):
    """A button, and why it is closed; empty where it is open."""

    kind: str
    words: str
    closed: str


def review(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """A look at one item, or the next step of it."""
    row = _item(project, item)
    if request.method != "POST":
        return _page(request, row)
    if request.headers.get("Accept", "").startswith("application/json"):
        return review_drafts.answered(request, row, look_of(row, request.person, reviews_of_item(row)))
    act = request.POST.get("act", "")
    minutes = _minutes(request, row)
    if act == "count":
        if refused := count(row, request.person, request.POST):
            return _page(request, row, refused=refused, status=409)
        return _again(row)
    done: Result = Refused(reason=f"there is no act {act!r:.40}")
    if act == "solve":
        done = solve(row, request.person, request.POST.get("answer", ""), minutes=minutes)
    elif act == "witness":
        done = witness(row, request.person, request.POST.get("witnesses", ""))
    elif act == "say":
        done = say(row, request.person, request.POST.get("words", ""))
    elif act in (*DECIDING, _SAVE):
        return _decided(request, row, act, minutes=minutes)
    return _page(request, row, refused=done.reason, status=409) if isinstance(done, Refused) else _again(row)


def _decided(request: HttpRequest, row: ItemRow, act: str, *, minutes: float | None) -> HttpResponse:
    look = look_of(row, request.person, reviews_of_item(row))
    if refused := _kept(request, row, look):
        return _page(request, row, refused=refused, status=409)
    if act == _SAVE:
        return _again(row)
    given = read_given(request.POST, look.stage, look.lines)
    if isinstance(given, str):
        return _page(request, row, refused=given, status=400)
    seen = request.POST.get("seen", "")
    kind = next(one for one in DECIDING if one == act)
    done = decide(
        row,
        request.person,
        kind,
        given=given,
        minutes=minutes,
        seen=int(seen) if seen.isdecimal() and len(seen) < 9 else None,
    )
    if isinstance(done, Refused):
        return _page(request, row, refused=done.reason, status=409)
    review_drafts.end(request, row)
    if request.POST.get("next"):
        found = take_next(row.project, look.stage.role, person=request.person)
        if isinstance(found, ItemRow):
            return _again(found)
        return HttpResponseRedirect(reverse("work"))
    return _again(row)


def _kept(request: HttpRequest, row: ItemRow, look: Look) -> str:
    """Keep what the form says before anything is decided of it; why it is not kept, or nothing."""
    if "request" not in request.POST:
        return ""  # sent by a program, not by the form, which has one
    try:
        found = review_drafts.keep(request, row, look)
    except UsageError as error:
        return str(error)
    if not isinstance(found, Conflict):
        return ""
    if found.is_closed:
        return "you have decided it in another tab meanwhile; what you wrote here is kept on this page"
    return (
        f"version {found.version} of your review was saved meanwhile, in another tab; the form holds what "
        "you wrote here, and what it said there stands above it. Send it again to go on with what is here."
    )


def _page(request: HttpRequest, row: ItemRow, *, refused: str = "", status: int = 200) -> HttpResponse:
    row.refresh_from_db()
    reviews = reviews_of_item(row)
    look = look_of(row, request.person, reviews)
    rivals = rivals_at(reviews, look.state, step=look.step)
    kept = review_drafts.kept_of(known_account(request.person), row)
    typed = {**review_drafts.shown(kept, look.state.revision), **request.POST.dict()}
    is_open = look.step == "decide"
    told: dict[str, Any] = {
        "item": row,
        "look": look,
        "refused": refused,
        "message": typed.get("message", ""),
        "answer": typed.get("answer", ""),
        "witnesses": typed.get("witnesses", ""),
        "source": typed.get("source", ""),
        "seen": row.lock_version,
        "closed_claim": claim_fault(row, request.person, look),
        "is_open_to_claims": "claim" in allowed_kinds(look.state, look.protocol),
        "opened": typed.get("opened") or signing.dumps(_now().isoformat(), salt=_SALT),
        "rows": [_row(line, look, typed) for line in look.lines],
        "others": [
            check_control(one, typed, look.counted) for one in other_checks(look.lines, look.stage) if is_open
        ],
        "counts": [check_control(one, typed, look.counted) for one in counts_of(look.stage)],
        "scores": [score_control(one, typed) for one in look.stage.scores if is_open],
        "actions": [
            Action(kind=kind, words=words, closed=why_not(kind, look.state, look.protocol, step=look.step))
            for kind, words in _words_of(look)
        ],
        "may_edit": why_not("edit", look.state, look.protocol, step=look.step),
        "told": told_at(reviews, look.state, by=request.person.name, step=look.step),
        "summaries": [
            (one, marks_of(one, look.protocol.stages[0]))
            for one in summaries_at(reviews, look.state, step=look.step)
        ],
        "rivals": rivals,
        "compared": compared(rivals, answers_of(reviews, look.state, rivals)),
        "sources": SOURCES,
        "media": media_of(row, look) if look.step != "closed" else [],
        "pictures": pictured_in(row, look.content),
        "tried": of_wording(row, look.content) if is_open else (),
        "mine": _mine(reviews, row, request.person.name),
        "me": request.person.name,
        "conditions": _conditions(look),
        "elsewhere": review_drafts.elsewhere(request, kept),
        **review_drafts.hidden(kept),
    }
    return render(request, "review/review.html", told, status=status)


def _row(line: Line, look: Look, typed: Mapping[str, str]) -> Row:
    controls = [check_control(one, typed, look.counted) for one in line.checks]
    if line.is_marked:
        controls.append(field_control(line, typed))
    return Row(
        name=line.name,
        texts=line.texts,
        is_list=line.is_list,
        controls=tuple(controls) if look.step == "decide" else (),
        note=typed.get(f"note:{line.name}", ""),
    )


def _words_of(look: Look) -> list[tuple[Kind, str]]:
    left = look.state.returns_left
    return [("accept", "Accept"), ("return", f"Return to the author ({left} left)"), ("reject", "Reject")]


def _mine(reviews: Reviews, row: ItemRow, name: str) -> Event | None:
    mine = decided_by(reviews.events_of.get(row.item_id, ()), name)
    return mine if mine is not None and mine.revision == reviews.states[row.item_id].revision else None


def _conditions(look: Look) -> list[str]:
    """The names of the conditions of a composed question, where it names them."""
    beside = look.content.get("annotations")
    told = beside.get("conditions") if isinstance(beside, dict) else None
    given = look.content.get("conditions") or look.content.get("subconditions") or told
    if not isinstance(given, list):
        return []
    return [
        str(one.get("name") or one.get("id") or i) for i, one in enumerate(given, 1) if isinstance(one, dict)
    ]


def media_of(row: ItemRow, look: Look) -> list[Shown]:
    """The media of an item below the media root of its project, with the evidence that may be seen."""
    root = row.project.media_root
    roots = [Path(one) for one in (root, *_made(row)) if one]
    spans = spans_of(look.content)
    lane = {
        "name": "evidence",
        "spans": [
            [one.start_s, one.end_s] for one in spans if one.start_s is not None and one.end_s is not None
        ],
        "frames": sorted({index for one in spans for index in one.frames}),
    }
    lanes = [{key: value for key, value in lane.items() if value}] if spans else []
    found = []
    for number, (path, kind) in enumerate(_files(row, look), 1):
        name = f"{kind} {number}"
        try:
            token = token_of(Path(root) / path, kind=kind, roots=roots)
        except MediaError:
            found.append(Shown(name=name, fault="is not in the media folder of the project"))
            continue
        found.append(Shown(name=name, kind=kind, token=token, lanes=msgspec.json.encode(lanes).decode()))
    return found


def _made(row: ItemRow) -> list[str]:
    """The folders of the made sets of a project: the films of their questions lie there."""
    return list(MadeSetRow.objects.filter(project=row.project).values_list("folder", flat=True))


def _files(row: ItemRow, look: Look) -> Iterator[tuple[str, str]]:
    """The paths and kinds of the media of an item: those that the project knows, else those that it names."""
    kinds = {"image": "image", "frames": "frames", "images": "frames"}
    known = list(row.media.order_by("pk"))
    for one in known:
        yield one.path, kinds.get(one.kind, "video")
    named = look.content.get("media")
    for medium in named if isinstance(named, list) and not known else ():
        if isinstance(medium, dict) and medium.get("path"):
            yield str(medium["path"]), kinds.get(str(medium.get("kind")), "video")


def edit_page(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """Word an item anew, as whoever looks at it."""
    row = _item(project, item)
    look = look_of(row, request.person, reviews_of_item(row))
    if closed := why_not("edit", look.state, look.protocol, step=look.step):
        return _page(request, row, refused=closed, status=409)
    refused, status = "", 200
    if request.method == "POST":
        content = new_wording(look.content, request.POST)
        seen = request.POST.get("seen", "")
        if isinstance(content, str):
            refused, status = content, 400
        else:
            done = edit(
                row,
                request.person,
                content,
                language=request.POST.get("language", "").strip(),
                seen=int(seen) if seen.isdecimal() and len(seen) < 9 else None,
            )
            if isinstance(done, Done):
                return _again(row)
            refused, status = done.reason, 409
    texts = {
        name: request.POST.get(f"text:{name}", as_typed(value))
        for name, value in look.content.items()
        if name != "item_id"
    }
    told = {
        "item": row,
        "look": look,
        "refused": refused,
        "fields": [
            (name, text, min(12, 2 + text.count("\n") + len(text) // _LONG)) for name, text in texts.items()
        ],
        "translates": "translate" in look.stage.edits,
        "seen": request.POST.get("seen", row.lock_version),
        "language": request.POST.get("language", ""),
    }
    return render(request, "review/edit.html", told, status=status)


def _item(project: str, item: UUID) -> ItemRow:
    rows = ItemRow.objects.select_related("project__protocol", "author", "current")
    return get_object_or_404(rows, project__slug=project, public=item)


def _again(row: ItemRow) -> HttpResponse:
    return HttpResponseRedirect(reverse("review", args=[row.project.slug, row.public]))


def _now() -> datetime:
    return current().settings.clock()


def _minutes(request: HttpRequest, row: ItemRow) -> float | None:
    """How long this act took: the time worked since the last one that says its time.

    Where no beats were counted, as without scripts, it is the time since the page was given out.
    """
    user = known_account(request.person)
    said = (one for one in events_of(row) if one.by == request.person.name and one.minutes is not None)
    last = max((datetime.fromisoformat(one.at) for one in said), default=None)
    worked = None if user is None else times.minutes_since(user, row, last)
    return minutes_since(_opened(request)) if worked is None else worked


def _opened(request: HttpRequest) -> datetime | None:
    """When the page was given out, by the stamp of the server; None where it is not the server's."""
    try:
        return datetime.fromisoformat(signing.loads(request.POST.get("opened", ""), salt=_SALT))
    except (signing.BadSignature, ValueError):
        return None


_BOTH = ("GET", "HEAD", "POST")
_LOOKERS: Final[frozenset[Rule]] = frozenset({"reviewer", "meta"})
urls = [
    route(
        "projects/<slug:project>/items/<uuid:item>/review", review, name="review", roles=_LOOKERS, to=_BOTH
    ),
    route(
        "projects/<slug:project>/items/<uuid:item>/review/edit",
        edit_page,
        name="review-edit",
        roles=_LOOKERS,
        to=_BOTH,
    ),
]
