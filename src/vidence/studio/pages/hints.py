"""Trying hints: the words and the hints without the video, one's own answer, and what waits to be tried."""

from datetime import datetime
from http import HTTPStatus
from typing import Final
from uuid import UUID

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from vidence.studio.access import BOTH, ITEM, PROJECT, Rule, route
from vidence.studio.hint_trials import answer, asked_now, closed, judge, mine, open_tries
from vidence.studio.hint_tries import content_of
from vidence.studio.pages.answers import item_named
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.rules.hints import FINDINGS, letters_of
from vidence.studio.settings import current

_SALT: Final = "hints"
_TRIERS: Final[frozenset[Rule]] = frozenset({"author", "reviewer", "meta"})


def hints(request: HttpRequest, project: str) -> HttpResponse:
    """List the items whose hints this person can try."""
    row = get_object_or_404(ProjectRow, slug=project)
    hints = {"project": row, "items": open_tries(row, request.person)}
    return render(request, "hints/hints.html", hints)


def trying(request: HttpRequest, project: str, item: UUID) -> HttpResponse:
    """The words of one item and its hints; a post answers, or says whether the answer is the reference."""
    row = item_named(project, item)
    if request.method != "POST":
        return _page(request, row)
    act = request.POST.get("act", "")
    if act == "judge":
        is_same = {"yes": True, "no": False}.get(request.POST.get("same", ""))
        if is_same is None:
            return _page(request, row, refused="Say yes or no.", status=HTTPStatus.BAD_REQUEST)
        done = judge(row, request.person, is_same=is_same)
    else:
        opened = _opened(request, row)
        if opened is None:
            words = "This page was opened for another wording; answer on the one below."
            return _page(request, row, refused=words, status=HTTPStatus.CONFLICT)
        sure = request.POST.get("sure", "")
        words = "" if act == "none" else request.POST.get("answer", "")
        if act != "none" and (not words.strip() or sure not in ("yes", "no")):
            refused = "Give an answer and say whether it is a guess, or say that you cannot answer."
            return _page(request, row, refused=refused, status=HTTPStatus.BAD_REQUEST)
        done = answer(row, request.person, words, is_sure=sure == "yes", opened=opened)
    if done is not None:
        return _page(request, row, refused=done.reason, status=HTTPStatus.CONFLICT)
    return redirect("try-hints", project, item)


def _page(
    request: HttpRequest, row: ItemRow, *, refused: str = "", status: int = HTTPStatus.OK
) -> HttpResponse:
    """Show words and hints before the answer; afterwards the result or the reference."""
    review_row = mine(row, request.person)
    why = closed(row, request.person) if review_row is None else ""
    asked = asked_now(row) if review_row is None and not why else None
    is_to_judge = review_row is not None and review_row.decision == "to-judge"
    now = current().settings.clock()
    fields = {
        "item": row,
        "refused": refused,
        "closed": why,
        "asked": asked,
        "choices": () if asked is None else letters_of(asked.choices),
        "said": review_row,
        "finding": "" if review_row is None else dict(FINDINGS).get(review_row.decision, review_row.decision),
        "reference": content_of(row.current.content).get("answer", "") if is_to_judge else "",
        "typed": request.POST,
        "opened": request.POST.get("opened") or signing.dumps([now.isoformat(), _wording(row)], salt=_SALT),
    }
    return render(request, "hints/try.html", fields, status=status)


def _wording(row: ItemRow) -> str:
    return "" if row.current is None else str(row.current.sha256)


def _opened(request: HttpRequest, row: ItemRow) -> datetime | None:
    """When the page of this wording was given out, by the stamp of the server; None if it is none."""
    try:
        at, wording = signing.loads(request.POST.get("opened", ""), salt=_SALT)
        return datetime.fromisoformat(at) if wording == _wording(row) else None
    except (signing.BadSignature, ValueError, TypeError):
        return None


urls = [
    route(f"{PROJECT}/hints", hints, name="hints", roles=_TRIERS),
    route(f"{ITEM}/hints", trying, name="try-hints", roles=_TRIERS, to=BOTH),
]
