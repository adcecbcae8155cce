"""Sets in the making and files of questions: what was drafted, what was dropped and why, single questions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from vidence.errors import VidenceError
from vidence.make.pipeline.material import Draft, Dropped
from vidence.make.pipeline.output import ITEMS_FILE
from vidence.records import Item
from vidence.report.fragments import question_fragment
from vidence.studio.bridge.made_sets import made_set, questions_of
from vidence.studio.bridge.places import ViewablePath
from vidence.studio.pages.answers import as_piece
from vidence.studio.viewer.desk import desk
from vidence.studio.viewer.filters import PAGE, page_in
from vidence.studio.viewer.question_page import media_of
from vidence.text import visible

ThingT = TypeVar("ThingT")
_MOST_VALUES: Final = 60
_LONGEST: Final = 300
_SHEETS: Final = ("drafts", "dropped")


def show(request: HttpRequest, place: str) -> HttpResponse:
    """A set in the making: its account, and one page of its drafts or of what was dropped."""
    found = desk().place(place)
    if found.kind != "made":
        raise Http404
    shown: dict[str, object] = {"place": found}
    try:
        made = made_set(found.folder)
    except VidenceError as error:
        return render(request, "viewer/made.html", shown | {"problems": [visible(str(error))]})
    sheet = request.GET.get("sheet", _SHEETS[0])
    words = request.GET.get("words", "").strip()[:200]
    reason = request.GET.get("reason", "")
    if sheet == "dropped":
        some: Sequence[Mapping[str, object]] = [
            _dropped(one) for one in made.dropped.lines if _is_asked(one, reason, words)
        ]
    else:
        sheet = "drafts"
        some = [_draft(one) for one in made.drafts.lines if words.casefold() in _words_of(one)]
    lines = made.dropped if sheet == "dropped" else made.drafts
    said = {"sheet": sheet, "words": words, "reason": reason}
    query = {name: value for name, value in said.items() if value}
    shown |= said | {
        "made": made,
        "account": made.account,
        "reasons": sorted(made.reasons.items()),
        "problems": [visible(one) for one in (*made.problems, *lines.problems)],
        "n_all": len(lines.lines),
        **_page(request, some, query),
    }
    return render(request, "viewer/made.html", shown)


def _is_asked(one: Dropped, reason: str, words: str) -> bool:
    told = f"{one.what} {one.detail}".casefold()
    return (not reason or f"{one.stage}:{one.reason}" == reason) and words.casefold() in told


def _dropped(one: Dropped) -> dict[str, str]:
    return {
        "what": visible(one.what),
        "stage": visible(one.stage),
        "reason": visible(one.reason),
        "detail": visible(one.detail[:_LONGEST]),
    }


def _words_of(draft: Draft) -> str:
    return " ".join((draft.draft_id, draft.task, draft.question, *draft.choices)).casefold()


def _draft(draft: Draft) -> dict[str, object]:
    return {
        "id": visible(draft.draft_id),
        "task": visible(draft.task),
        "question": visible(draft.question[:_LONGEST]),
        "choices": [
            (chr(ord("A") + i), visible(text), i == draft.answer_index)
            for i, text in enumerate(draft.choices)
        ],
        "truth": visible(draft.truth),
        "review": visible(draft.review),
        "facts": [(visible(name), visible(value)) for name, value in draft.facts.items()],
        "query": urlencode({"draft": draft.draft_id}),
    }


def _page(request: HttpRequest, some: Sequence[ThingT], query: dict[str, str]) -> dict[str, object]:
    """One page of a list, and the addresses of those around it."""
    page = Paginator(some, PAGE).get_page(page_in(request.GET))
    return {"lines": list(page), "page": page, "query": urlencode(query)}


# --------------------------------------------------------------------------- questions


def _file(place: ViewablePath) -> Path:
    if place.kind == "made":
        return place.folder / ITEMS_FILE
    if place.kind != "items":
        raise Http404
    return place.folder


def questions(request: HttpRequest, place: str) -> HttpResponse:
    """The questions of a file, as far as a filter keeps them."""
    found = desk().place(place)
    path = _file(found)
    words = request.GET.get("words", "").strip()[:200]
    tag = request.GET.get("tag", "")
    try:
        loaded = questions_of(path)
    except (VidenceError, OSError) as error:
        return render(request, "viewer/questions.html", {"place": found, "problems": [visible(str(error))]})
    kept = [item for item in loaded.items if _is_kept(item, words.casefold(), tag)]
    query = {name: value for name, value in (("words", words), ("tag", tag)) if value}
    shown = {
        "place": found,
        "words": words,
        "tag": tag,
        "tags": _tags(loaded.items),
        "n_all": len(loaded.items),
        "problems": [visible(one) for one in loaded.problems[:50]],
        **_page(request, [_question(item) for item in kept], query),
    }
    return render(request, "viewer/questions.html", shown)


def _is_kept(item: Item, words: str, tag: str) -> bool:
    name, _, value = tag.partition("=")
    if tag and item.tags.get(name) != value:
        return False
    return not words or words in " ".join((item.item_id, item.question, *item.choices)).casefold()


def _question(item: Item) -> dict[str, str]:
    return {
        "id": visible(item.item_id),
        "question": visible(item.question[:_LONGEST]),
        "answer": visible(item.answer[:40]),
        "query": urlencode({"item": item.item_id}),
    }


def _tags(items: Sequence[Item]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for item in items:
        for name, value in item.tags.items():
            found.setdefault(name, set()).add(value)
    return {name: sorted(values) for name, values in found.items() if 1 < len(values) <= _MOST_VALUES}


def question(request: HttpRequest, place: str) -> HttpResponse:
    """One question of a file, with its media."""
    found = desk().place(place)
    asked, draft = request.GET.get("item", ""), request.GET.get("draft", "")
    try:
        loaded = questions_of(_file(found))
    except (VidenceError, OSError) as error:
        raise Http404 from error
    at = next((i for i, item in enumerate(loaded.items) if _is_meant(item, asked, draft)), None)
    if at is None:
        raise Http404
    item = loaded.items[at]
    links = {
        name: urlencode({"item": loaded.items[other].item_id})
        for name, other in (("before", at - 1), ("after", at + 1))
        if 0 <= other < len(loaded.items)
    }
    shown = {
        "place": found,
        "item_id": visible(item.item_id),
        **links,
        "question": as_piece(question_fragment(item)),
    }
    shown["media"] = media_of(item, roots=[str(loaded.media_root)])
    return render(request, "viewer/question.html", shown)


def _is_meant(item: Item, item_id: str, draft: str) -> bool:
    return item.tags.get("draft") == draft if draft else item.item_id == item_id
