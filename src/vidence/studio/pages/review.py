"""The review page: solve, count, check each field, decide; with edits and messages."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render

from vidence.errors import MediaError, UsageError
from vidence.make.review.files import Reviews
from vidence.make.review.revisions import Event, Kind
from vidence.make.review.states import allowed_kinds
from vidence.records import Record
from vidence.studio import times
from vidence.studio.access import BOTH, ITEM, Rule, route
from vidence.studio.accounts import account_of, known_account
from vidence.studio.drafts import Conflict, end_drafts
from vidence.studio.hint_tries import of_wording
from vidence.studio.intake import pictured_in, roots_of
from vidence.studio.media import token_of
from vidence.studio.pages import review_drafts
from vidence.studio.pages.answers import is_script, item_named, whole_number
from vidence.studio.records.boards import MadeSetRow
from vidence.studio.records.items import ItemRow
from vidence.studio.reviewing import (
    ItemView,
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
)
from vidence.studio.rules.review_steps import (
    DECIDING,
    SOURCES,
    Control,
    FieldLine,
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
from vidence.studio.workflow import RecordedAct, Refused, Result, events_of

_SALT = "look"
_SAVE = "save"
_EDIT = "edit"
_LONG = 60


class MediumOnPage(Record):
    """A medium on the page: its token and the lanes of its time line as JSON, or why it is not shown."""

    name: str
    kind: str = "video"
    token: str = ""
    lanes: str = "[]"
    fault: str = ""


class Row(Record):
    """A field of the item with its comments and the reviewer's note."""

    name: str
    texts: tuple[str, ...]
    is_list: bool
    controls: tuple[Control, ...]
    note: str = ""


class Action(Record):
    """A button, and why it is closed; empty if it is open."""

    kind: str
    words: str
    closed: str


def review(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """A look at one item, or the next step of it."""
    row = item_named(project, item)
    if request.method != "POST":
        return _page(request, row)
    act, part = request.POST.get("act", ""), review_drafts.part_of(request)
    look = look_of(row, request.person, reviews_of_item(row))
    if is_script(request):
        return review_drafts.answered(request, row, look, part=part)
    refused = _kept(request, row, look, part=part)
    if act in DECIDING and not refused:
        return _decided(request, row, act, minutes=_minutes(request, row))
    if act != _SAVE and not refused:
        refused = _said(request, row, act)
        if not refused:
            review_drafts.end(request, row, part)
    return _page(request, row, refused=refused, status=409) if refused else _again(row)


def _said(request: HttpRequest, row: ItemRow, act: str) -> str:
    """Do what is no decision; why it is not done, or nothing."""
    if act == "count":
        return count(row, request.person, request.POST)
    done: Result = Refused(reason=f"there is no act {act!r:.40}")
    if act == "solve":
        answer, minutes = request.POST.get("answer", ""), _minutes(request, row)
        done = solve(row, request.person, answer, minutes=minutes)
    elif act == "say":
        done = say(row, request.person, request.POST.get("words", ""))
    return done.reason if isinstance(done, Refused) else ""


def _decided(request: HttpRequest, row: ItemRow, act: str, *, minutes: float | None) -> HttpResponse:
    look = look_of(row, request.person, reviews_of_item(row))
    given = read_given(request.POST, look.stage, look.lines)
    if isinstance(given, str):
        return _page(request, row, refused=given, status=400)
    kind = next(name for name in DECIDING if name == act)
    done = decide(
        row,
        request.person,
        kind,
        given=given,
        minutes=minutes,
        seen=whole_number(request.POST.get("seen", "")),
    )
    if isinstance(done, Refused):
        return _page(request, row, refused=done.reason, status=409)
    end_drafts(account_of(request.person), row)
    if request.POST.get("next"):
        result = take_next(row.project, look.stage.role, person=request.person)
        if isinstance(result, ItemRow):
            return _again(result)
        return redirect("work")
    return _again(row)


def _kept(request: HttpRequest, row: ItemRow, look: ItemView, *, part: str) -> str:
    """Keep what a form says before anything is done with it; why it is not kept, or nothing."""
    if "request" not in request.POST:
        return ""  # sent by a program, not by the form, which has one
    try:
        keep = review_drafts.keep(request, row, look, part=part)
    except UsageError as error:
        return str(error)
    if not isinstance(keep, Conflict):
        return ""
    if keep.is_closed:
        return "you sent it in another tab meanwhile; your text here is kept on this page"
    return (
        f"version {keep.version} of your review was saved meanwhile, in another tab; the form holds what "
        "you wrote here, and what it said there stands above it. Send it again to go on with what is here."
    )


def _page(request: HttpRequest, row: ItemRow, *, refused: str = "", status: int = 200) -> HttpResponse:
    row.refresh_from_db()
    fields: dict[str, object] = {"item": row, "refused": refused}
    reviews = reviews_of_item(row)
    look = look_of(row, request.person, reviews)
    fields |= _told_of_look(row, look, reviews, me=request.person.name)
    fields |= _told_of_forms(request, row, look)
    fields |= {
        "closed_claim": claim_fault(row, request.person, look),
        "media": media_of(row, look) if look.step != "closed" else [],
        "pictures": pictured_in(row, look.content),
        "tried": of_wording(row, look.content) if look.step == "decide" else (),
    }
    return render(request, "review/review.html", fields, status=status)


def _told_of_look(row: ItemRow, look: ItemView, reviews: Reviews, *, me: str) -> dict[str, object]:
    """Return the reviews by others that this person may read now."""
    rivals = rivals_at(reviews, look.state, step=look.step)
    back = f"Return to the author ({look.state.returns_left} left)"
    words_of: dict[Kind, str] = {"accept": "Accept", "return": back, "reject": "Reject"}
    return {
        "look": look,
        "is_open_to_claims": "claim" in allowed_kinds(look.state, look.protocol),
        "actions": [
            Action(kind=kind, words=words, closed=why_not(kind, look.state, look.protocol, step=look.step))
            for kind, words in words_of.items()
        ],
        "may_edit": why_not("edit", look.state, look.protocol, step=look.step),
        "told": told_at(reviews, look.state, by=me, step=look.step),
        "summaries": [
            (summary, marks_of(summary, look.protocol.stages[0]))
            for summary in summaries_at(reviews, look.state, step=look.step)
        ],
        "rivals": rivals,
        "compared": compared(rivals, answers_of(reviews, look.state, rivals)),
        "sources": SOURCES,
        "mine": _mine(reviews, row, me),
        "me": me,
        "conditions": _conditions(look),
    }


def _told_of_forms(request: HttpRequest, row: ItemRow, look: ItemView) -> dict[str, object]:
    """What stands in the forms: what was sent just now, else what is kept."""
    user, sent = known_account(request.person), review_drafts.part_of(request)
    kept = {part: review_drafts.kept_of(user, row, part) for part in ("", *review_drafts.PARTS)}
    typed = {part: dict(review_drafts.shown(draft, look.state.revision)) for part, draft in kept.items()}
    typed[sent] |= request.POST.dict()
    mine, is_open = typed[""], look.step == "decide"
    now = current().settings.clock().isoformat()
    return {
        "message": mine.get("message", ""),
        "source": mine.get("source", ""),
        "answer": typed["solve"].get("answer", ""),
        "witnesses": mine.get("witnesses", ""),
        "words": typed["say"].get("words", ""),
        "seen": row.lock_version,
        "opened": request.POST.get("opened") or signing.dumps(now, salt=_SALT),
        "rows": [_row(line, look, mine) for line in look.lines],
        "others": [
            check_control(check, mine, look.counted)
            for check in other_checks(look.lines, look.stage)
            if is_open
        ],
        "counts": [
            check_control(check, mine if is_open else typed["count"], look.counted)
            for check in counts_of(look.stage)
        ],
        "scores": [score_control(score, mine) for score in look.stage.scores if is_open],
        "elsewhere": review_drafts.elsewhere(request, kept[sent]),
        "unsent": review_drafts.unsent(kept, request.POST.dict()),
        "saves": {part or "decide": review_drafts.hidden(draft) for part, draft in kept.items()},
    }


def _row(line: FieldLine, look: ItemView, typed: Mapping[str, str]) -> Row:
    controls = [check_control(check, typed, look.counted) for check in line.checks]
    if line.is_marked:
        controls.append(field_control(line, typed))
    return Row(
        name=line.name,
        texts=line.texts,
        is_list=line.is_list,
        controls=tuple(controls) if look.step == "decide" else (),
        note=typed.get(f"note:{line.name}", ""),
    )


def _mine(reviews: Reviews, row: ItemRow, name: str) -> Event | None:
    mine = decided_by(reviews.events_of.get(row.item_id, ()), name)
    return mine if mine is not None and mine.revision == reviews.states[row.item_id].revision else None


def _conditions(look: ItemView) -> list[str]:
    """The names of the conditions of a composed question, where it names them."""
    conditions = look.content.get("annotations")
    value = conditions.get("conditions") if isinstance(conditions, dict) else None
    given = look.content.get("conditions") or look.content.get("subconditions") or value
    if not isinstance(given, list):
        return []
    return [
        str(row.get("name") or row.get("id") or i) for i, row in enumerate(given, 1) if isinstance(row, dict)
    ]


def media_of(row: ItemRow, look: ItemView) -> list[MediumOnPage]:
    """The media of an item in the media folders of its project, with the evidence that may be seen."""
    made = MadeSetRow.objects.filter(project=row.project).values_list("folder", flat=True)
    roots = [*roots_of(row.project), *map(Path, made)]
    spans = spans_of(look.content)
    lane = {
        "name": "evidence",
        "spans": [
            [span.start_s, span.end_s]
            for span in spans
            if span.start_s is not None and span.end_s is not None
        ],
        "frames": sorted({index for span in spans for index in span.frames}),
    }
    lanes = [{key: value for key, value in lane.items() if value}] if spans else []
    entries = []
    for number, (path, kind) in enumerate(_files(row, look), 1):
        name = f"{kind} {number}"
        try:
            place = next((root / path for root in roots if (root / path).exists()), Path(path))
            token = token_of(place, kind=kind, roots=roots, project=row.project.slug)
        except (MediaError, OSError):
            entries.append(MediumOnPage(name=name, fault="is not in the media folder of the project"))
            continue
        entries.append(
            MediumOnPage(name=name, kind=kind, token=token, lanes=msgspec.json.encode(lanes).decode())
        )
    return entries


def _files(row: ItemRow, look: ItemView) -> Iterator[tuple[str, str]]:
    """The paths and kinds of the media of an item: those that the project knows, else those that it names."""
    kinds = {"image": "image", "frames": "frames", "images": "frames"}
    known = list(row.media.order_by("pk"))
    for entry in known:
        yield entry.path, kinds.get(entry.kind, "video")
    named = look.content.get("media")
    for medium in named if isinstance(named, list) and not known else ():
        if isinstance(medium, dict) and medium.get("path"):
            yield str(medium["path"]), kinds.get(str(medium.get("kind")), "video")


def edit_page(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """Reword an item, as its reviewer."""
    row = item_named(project, item)
    look = look_of(row, request.person, reviews_of_item(row))
    refused, status = "", 200
    if request.method == "POST":
        if is_script(request):
            return review_drafts.answered(request, row, look, part=_EDIT)
        refused = _kept(request, row, look, part=_EDIT)
    if closed := why_not("edit", look.state, look.protocol, step=look.step):
        return _page(request, row, refused=closed, status=409)
    if refused:
        status = 409
    elif request.POST.get("act") == _SAVE:
        return HttpResponseRedirect(request.path)
    elif request.method == "POST":
        refused, status = _edited(request, row, look)
        if not refused:
            review_drafts.end(request, row, _EDIT)
            return _again(row)
    return _edit_form(request, row, look, refused=refused, status=status)


def _edited(request: HttpRequest, row: ItemRow, look: ItemView) -> tuple[str, int]:
    """Make the next revision; why it is not made, and how that is answered."""
    content = new_wording(look.content, request.POST)
    if isinstance(content, str):
        return content, 400
    language = request.POST.get("language", "").strip()
    done = edit(
        row, request.person, content, language=language, seen=whole_number(request.POST.get("seen", ""))
    )
    return ("", 200) if isinstance(done, RecordedAct) else (done.reason, 409)


def _edit_form(
    request: HttpRequest, row: ItemRow, look: ItemView, *, refused: str, status: int
) -> HttpResponse:
    kept = review_drafts.kept_of(known_account(request.person), row, _EDIT)
    is_of_this = kept.revision == look.state.revision
    typed = {**(kept.said if is_of_this else {}), **request.POST.dict()}
    texts = {
        name: typed.get(f"text:{name}", as_typed(value))
        for name, value in look.content.items()
        if name != "item_id"
    }
    earlier = (
        [] if is_of_this else [(name.removeprefix("text:"), message) for name, message in kept.said.items()]
    )
    fields = {
        "item": row,
        "look": look,
        "refused": refused,
        "fields": [
            (name, text, min(12, 2 + text.count("\n") + len(text) // _LONG)) for name, text in texts.items()
        ],
        "translates": "translate" in look.stage.edits,
        "seen": request.POST.get("seen", row.lock_version),
        "language": typed.get("language", ""),
        "me": request.person.name,
        "earlier": earlier,
        "elsewhere": review_drafts.elsewhere(request, kept),
        "save": review_drafts.hidden(kept),
    }
    return render(request, "review/edit.html", fields, status=status)


def _again(row: ItemRow) -> HttpResponse:
    return redirect("review", row.project.slug, row.public)


def _minutes(request: HttpRequest, row: ItemRow) -> float | None:
    """How long this act took: the time worked since the last one that says its time.

    Where no beats were counted, as without scripts, it is the time since the page was given out.
    """
    user = known_account(request.person)
    events = (
        event for event in events_of(row) if event.by == request.person.name and event.minutes is not None
    )
    last = max((datetime.fromisoformat(event.at) for event in events), default=None)
    worked = None if user is None else times.minutes_since(user, row, last)
    return minutes_since(_opened(request)) if worked is None else worked


def _opened(request: HttpRequest) -> datetime | None:
    """When the page was given out, by the stamp of the server; None if it is not the server's."""
    try:
        return datetime.fromisoformat(signing.loads(request.POST.get("opened", ""), salt=_SALT))
    except (signing.BadSignature, ValueError):
        return None


_LOOKERS: Final[frozenset[Rule]] = frozenset({"reviewer", "meta"})
urls = [
    route(f"{ITEM}/review", review, name="review", roles=_LOOKERS, to=BOTH),
    route(f"{ITEM}/review/edit", edit_page, name="review-edit", roles=_LOOKERS, to=BOTH),
]
