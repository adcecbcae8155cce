"""The drawn questions of a made set: taken in, looked at, their verdicts written into its review."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from vidence.errors import VidenceError
from vidence.make.gates.rules import ReviewRules
from vidence.make.herbench.config import read_herbench
from vidence.make.review.audit import MAKER, PROTOCOL
from vidence.make.review.decision import plan_words, rule_words
from vidence.make.review.protocol import digest, protocol_bytes
from vidence.make.review.revisions import Event
from vidence.report.fragments import section_fragment
from vidence.report.sections import Section
from vidence.studio.access import BOTH, PROJECT, Rule, route
from vidence.studio.audit import note
from vidence.studio.bridge.board_sets import offered
from vidence.studio.bridge.questions import (
    DrawnQuestion,
    TaskProgress,
    drawn_of,
    items_of,
    progress,
    wordings,
    write_verdicts,
)
from vidence.studio.pages.answers import as_piece
from vidence.studio.projects import add_items
from vidence.studio.records.boards import MadeSetRow
from vidence.studio.records.items import ItemRow, TransitionRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.settings import current
from vidence.studio.workflow import Act, Refused, act, now_words, to_event
from vidence.tables.table import Column, Row, Table


@dataclass(frozen=True, kw_only=True)
class Limits:
    """By which rules the rest of a set is released; `words` say whose.

    `target` is the folder of its review; None where the studio does not know it.
    """

    rules: ReviewRules
    words: str
    target: Path | None = None


_WRITTEN = "verdicts-written"
_SHOWN = 500


def questions(request: HttpRequest, project: str, made: UUID) -> HttpResponse:
    """The drawn questions of one set: how far their review is, task by task and one by one."""
    row = get_object_or_404(
        MadeSetRow.objects.select_related("project__protocol"), project__slug=project, public=made
    )
    is_operator = "operator" in request.person.roles_in(project)
    said, refused, status = "", "", 200
    if request.method == "POST" and not is_operator:
        refused, status = "an operator does this", 403
    elif request.method == "POST":
        try:
            said = _done(row, request.POST.get("act", ""), by=request.person.name)
        except VidenceError as error:
            refused, status = str(error), 409
    told = {
        "project": row.project,
        "made": row,
        "name": Path(row.folder).name,
        "is_operator": is_operator,
        "said": said,
        "refused": refused,
        **_standing(row),
    }
    return render(request, "review/questions.html", told, status=status)


def _standing(row: MadeSetRow) -> dict[str, object]:
    """What the page shows of the questions."""
    limits = limits_of(row)
    drawn = drawn_of(Path(row.folder))
    items = items_of(Path(row.folder))
    names = [one.name for one in drawn]
    rows = {one.item_id: one for one in ItemRow.objects.filter(project=row.project, item_id__in=names)}
    said = said_of(row.project, names)
    found = progress(drawn, items, said, rules=limits.rules)
    return {
        "piece": as_piece(section_fragment(Section(title="", tables=(_table(found),)))),
        "n_decided": len(said),
        "n_drawn": len(names),
        "n_missing": len(names) - len(rows),
        "drawn": [(one, rows.get(one.name)) for one in drawn[:_SHOWN]],
        "rule": rule_words(limits.rules),
        "whose": limits.words,
        "plan": plan_words(found, limits.rules),
        "target": limits.target,
    }


def limits_of(row: MadeSetRow) -> Limits:
    """The rules of the review as the configuration of a set says them; where it does not, the usual ones.

    Raises:
        DataError: the configuration cannot be read any more.
        UsageError: it says something that cannot be.
    """
    found = next((one for one in offered(current().settings.paths) if str(one.folder) == row.folder), None)
    if found is None:
        words = (
            "The studio was not told of the configuration of this set, so these are the usual limits; where "
            "its [review] says others, those count when the set is made."
        )
        return Limits(rules=ReviewRules(), words=words)
    rules = read_herbench(found.config).review
    if rules is None:
        words = (
            f"{found.config.name} has no [review]: these are the usual limits, and nobody's verdict is read."
        )
        return Limits(rules=ReviewRules(), words=words)
    words = f"As [review] in {found.config.name} says it."
    return Limits(rules=rules, target=found.config.parent / rules.folder, words=words)


def _table(found: tuple[TaskProgress, ...]) -> Table:
    titles = {
        "n": "questions",
        "sample": "drawn",
        "queued": "in any case",
        "seen": "drawn, decided",
        "rejected": "rejected",
    }
    return Table(
        name="progress",
        title="The review, task by task",
        label="task",
        columns=(
            *(Column(key=key, title=title, kind="count") for key, title in titles.items()),
            Column(
                key="share", title="rejected", kind="share", note="Of the drawn ones, with Wilson's interval"
            ),
            Column(key="words", title="the rest", kind="text"),
        ),
        rows=tuple(
            Row(
                key=one.task,
                label=one.task,
                values=(
                    one.n,
                    one.n_sample,
                    one.n_queued,
                    one.n_seen,
                    one.n_rejected,
                    one.rejected,
                    one.words,
                ),
            )
            for one in found
        ),
    )


def said_of(project: ProjectRow, names: list[str]) -> dict[str, Event]:
    """By question the act that decided it; those that wait are not among them."""
    ended = TransitionRow.objects.filter(
        project=project,
        item__item_id__in=names,
        item__state__in=("accepted", "rejected"),
        kind__in=("accept", "reject"),
    )
    rows = ended.select_related("item").order_by("number")
    return {one.item.item_id: to_event(one) for one in rows}


def _done(row: MadeSetRow, wanted: str, *, by: str) -> str:
    """Take the questions in, or write what was said of them; errors as for `drawn_of` and `write`."""
    drawn = drawn_of(Path(row.folder))
    if wanted == "take":
        return take_in(row, drawn)
    if wanted == "write":
        return write_said(row, drawn, by=by)
    return ""


def take_in(row: MadeSetRow, drawn: tuple[DrawnQuestion, ...]) -> str:
    """Make items of the drawn questions that the project does not have; what came of it, in words."""
    if row.project.protocol.sha256 != digest(protocol_bytes(PROTOCOL)):
        return f"Nothing was taken in: this project has another protocol than {PROTOCOL}."
    found = wordings(Path(row.folder), drawn)
    with transaction.atomic():
        n_new = add_items(row.project, found, kinds=dict.fromkeys(found, "made"))
        for item in ItemRow.objects.filter(project=row.project, item_id__in=found, state="drafting"):
            content = found[item.item_id]
            said = Act(kind="submit", role="author", by=MAKER, content=content, origin="import")
            if isinstance(done := act(item, said), Refused):
                transaction.set_rollback(True)
                return done.reason
    return f"{n_new:,} questions were taken in; {len(found) - n_new:,} were there already."


def write_said(row: MadeSetRow, drawn: tuple[DrawnQuestion, ...], *, by: str) -> str:
    """Write the verdicts into the review of the set; what came of it, in words.

    Raises:
        DataError: it says something else.
        StoreError: it cannot be written.
    """
    said = said_of(row.project, [one.name for one in drawn])
    path = limits_of(row).target
    if path is None:
        return "Nothing was written: the studio was told of no configuration of this set with [review]."
    with transaction.atomic():
        n_new = write_verdicts(path, said, at=now_words())
        note(_WRITTEN, by=by, about=str(path)[:300], details={"n_decided": len(said)})
    return f"{n_new:,} verdicts were written into {path}; make the set again."


def sets(request: HttpRequest, project: str) -> HttpResponse:
    """The made sets of a project whose questions are looked at."""
    row = get_object_or_404(ProjectRow, slug=project)
    found = MadeSetRow.objects.filter(project=row).order_by("folder")
    told = {"project": row, "sets": [(one, Path(one.folder).name) for one in found]}
    return render(request, "review/sets.html", told)


_LOOKING: Final[frozenset[Rule]] = frozenset({"reviewer", "operator"})
urls = [
    route(f"{PROJECT}/questions", sets, name="drawn-sets", roles=_LOOKING),
    route(f"{PROJECT}/questions/<uuid:made>", questions, name="drawn-questions", roles=_LOOKING, to=BOTH),
]
