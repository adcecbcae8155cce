"""Sets in the making and files of questions: what was drafted, what was dropped and why, single questions."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from vidence.errors import VidenceError
from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.material import Draft, Dropped
from vidence.make.pipeline.output import ITEMS_FILE
from vidence.records import Item
from vidence.report.page import Link, list_fragment, question_fragment
from vidence.studio.bridge.made_sets import made_set, questions_of
from vidence.studio.bridge.places import ViewablePath
from vidence.studio.pages.answers import as_piece
from vidence.studio.viewer.desk import desk
from vidence.studio.viewer.filters import PAGE, page_in
from vidence.studio.viewer.question_page import media_of
from vidence.tables.table import Cell, RowSpec, Table, count, tabulate
from vidence.tables.table import words as words_of
from vidence.text import visible

ThingT = TypeVar("ThingT")
_MOST_VALUES: Final = 60
_LONGEST: Final = 300
_SHEETS: Final = ("drafts", "dropped")


def show(request: HttpRequest, place: str) -> HttpResponse:
    """A set in the making: its account, and one page of its drafts or of what was dropped."""
    result = desk().place(place)
    if result.kind != "made":
        raise Http404
    fields: dict[str, object] = {"place": result}
    try:
        outcome = made_set(result.folder)
    except VidenceError as error:
        return render(request, "viewer/made.html", fields | {"problems": [visible(str(error))]})
    sheet = request.GET.get("sheet", _SHEETS[0])
    words = request.GET.get("words", "").strip()[:200]
    reason = request.GET.get("reason", "")
    if sheet == "dropped":
        page = _page(request, [line for line in outcome.dropped.lines if _is_asked(line, reason, words)])
        piece = list_fragment(_dropped_table(page))
    else:
        sheet = "drafts"
        page = _page(request, [line for line in outcome.drafts.lines if words.casefold() in _words_of(line)])
        at = reverse("question", args=[result.id]) if outcome.has_items else ""
        piece = list_fragment(_draft_table(page), _links(at, "draft", [entry.draft_id for entry in page]))
    lines = outcome.dropped if sheet == "dropped" else outcome.drafts
    entries = {"sheet": sheet, "words": words, "reason": reason}
    fields |= entries | {
        "made": outcome,
        "account": outcome.account,
        "stages": as_piece(_stages(outcome.account)),
        "reasons": sorted(outcome.reasons.items()),
        "problems": [visible(problem) for problem in (*outcome.problems, *lines.problems)],
        "piece": as_piece(piece),
        "page": page,
        "query": urlencode({name: value for name, value in entries.items() if value}),
    }
    return render(request, "viewer/made.html", fields)


def _stages(account: Account | None) -> str:
    """What came into each stage and out of it; what was dropped leads to the list of it."""
    if account is None:
        return ""
    table = tabulate(
        "account",
        "What entered each stage, what left it, and why the rest was dropped",
        label="stage",
        rows=[
            RowSpec(str(i), stage.stage, stage, detail=stage.unit) for i, stage in enumerate(account.stages)
        ],
        measures=[
            count("in", lambda stage: stage.n_in),
            count("out", lambda stage: stage.n_out),
            words_of("dropped", lambda stage: ", ".join(f"{n} {why}" for why, n in stage.dropped.items())),
        ],
    )
    links = {
        (str(i), "dropped"): [
            Link(
                words=f"{n} {why}",
                address="?" + urlencode({"sheet": "dropped", "reason": f"{stage.stage}:{why}"}),
            )
            for why, n in stage.dropped.items()
        ]
        for i, stage in enumerate(account.stages)
    }
    return list_fragment(table, links)


def _is_asked(dropped: Dropped, reason: str, words: str) -> bool:
    message = f"{dropped.what} {dropped.detail}".casefold()
    return (not reason or f"{dropped.stage}:{dropped.reason}" == reason) and words.casefold() in message


def _dropped_table(lines: Iterable[Dropped]) -> Table:
    return tabulate(
        "dropped",
        "What was dropped",
        label="what",
        rows=[RowSpec(str(i), line.what, line) for i, line in enumerate(lines)],
        measures=[
            words_of("stage", lambda dropped: dropped.stage),
            words_of("reason", lambda dropped: dropped.reason),
            words_of("seen", lambda dropped: dropped.detail[:_LONGEST]),
        ],
    )


def _words_of(draft: Draft) -> str:
    return " ".join((draft.draft_id, draft.task, draft.question, *draft.choices)).casefold()


def _draft_table(lines: Iterable[Draft]) -> Table:
    return tabulate(
        "drafts",
        "Drafts",
        label="draft",
        rows=[
            RowSpec(str(i), line.draft_id, line, detail=f"{line.task}\n{line.question[:_LONGEST]}")
            for i, line in enumerate(lines)
        ],
        measures=[
            words_of("choices", _choices),
            words_of("truth", lambda draft: Cell(value=draft.truth, detail=_beside(draft)), "rests on"),
        ],
    )


def _choices(draft: Draft) -> str:
    right = {draft.answer_index: " (right)"}
    return "\n".join(f"{chr(65 + i)} {text}{right.get(i, '')}" for i, text in enumerate(draft.choices))


def _beside(draft: Draft) -> str:
    review = [f"to be looked at: {draft.review}"] if draft.review else []
    return "\n".join([*review, *(f"{name}: {value}" for name, value in draft.facts.items())])


def _links(at: str, name: str, ids: Iterable[str]) -> dict[tuple[str, str], Sequence[Link]]:
    """The names of the lines of a list as ways to their pages; none where there are no pages."""
    if not at:
        return {}
    return {
        (str(i), "label"): (Link(words=word, address=f"{at}?{urlencode({name: word})}"),)
        for i, word in enumerate(ids)
    }


def _page(request: HttpRequest, some: Sequence[ThingT]) -> Page:
    """The page of a list that the address asks for."""
    return Paginator(some, PAGE).get_page(page_in(request.GET))


# --------------------------------------------------------------------------- questions


def _file(place: ViewablePath) -> Path:
    if place.kind == "made":
        return place.folder / ITEMS_FILE
    if place.kind != "items":
        raise Http404
    return place.folder


def questions(request: HttpRequest, place: str) -> HttpResponse:
    """The questions of a file, as far as a filter keeps them."""
    result = desk().place(place)
    path = _file(result)
    words = request.GET.get("words", "").strip()[:200]
    tag = request.GET.get("tag", "")
    try:
        loaded = questions_of(path)
    except (VidenceError, OSError) as error:
        return render(request, "viewer/questions.html", {"place": result, "problems": [visible(str(error))]})
    kept = [item for item in loaded.items if _is_kept(item, words.casefold(), tag)]
    query = {name: value for name, value in (("words", words), ("tag", tag)) if value}
    page = _page(request, kept)
    links = _links(reverse("question", args=[result.id]), "item", [item.item_id for item in page])
    questions = {
        "place": result,
        "words": words,
        "tag": tag,
        "tags": _tags(loaded.items),
        "n_all": len(loaded.items),
        "problems": [visible(problem) for problem in loaded.problems[:50]],
        "piece": as_piece(list_fragment(_question_table(page), links)),
        "page": page,
        "query": urlencode(query),
    }
    return render(request, "viewer/questions.html", questions)


def _is_kept(item: Item, words: str, tag: str) -> bool:
    name, _, value = tag.partition("=")
    if tag and item.tags.get(name) != value:
        return False
    return not words or words in " ".join((item.item_id, item.question, *item.choices)).casefold()


def _question_table(items: Iterable[Item]) -> Table:
    return tabulate(
        "questions",
        "Questions of the file",
        label="question",
        rows=[
            RowSpec(str(i), item.item_id, item, detail=item.question[:_LONGEST])
            for i, item in enumerate(items)
        ],
        measures=[words_of("right", lambda item: item.answer[:40])],
    )


def _tags(items: Sequence[Item]) -> dict[str, list[str]]:
    tags: dict[str, set[str]] = {}
    for item in items:
        for name, value in item.tags.items():
            tags.setdefault(name, set()).add(value)
    return {name: sorted(values) for name, values in tags.items() if 1 < len(values) <= _MOST_VALUES}


def question(request: HttpRequest, place: str) -> HttpResponse:
    """One question of a file, with its media."""
    result = desk().place(place)
    asked, draft = request.GET.get("item", ""), request.GET.get("draft", "")
    try:
        loaded = questions_of(_file(result))
    except (VidenceError, OSError) as error:
        raise Http404 from error
    ids = [item.tags.get("draft") if draft else item.item_id for item in loaded.items]
    if (wanted := draft or asked) not in ids:
        raise Http404
    at = ids.index(wanted)
    item = loaded.items[at]
    links = {
        name: urlencode({"item": loaded.items[other].item_id})
        for name, other in (("before", at - 1), ("after", at + 1))
        if 0 <= other < len(loaded.items)
    }
    fields = {
        "place": result,
        "item_id": visible(item.item_id),
        **links,
        "question": as_piece(question_fragment(item)),
        "media": media_of(item, roots=[str(loaded.media_root)]),
    }
    return render(request, "viewer/question.html", fields)
