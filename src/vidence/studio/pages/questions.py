"""Review drawn questions of a made dataset: import, look, write verdicts back."""

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
from vidence.report.page import section_fragment
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
from vidence.tables.table import RowSpec, Table, count, share, tabulate
from vidence.tables.table import words as words_of


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The rules that release the unreviewed rest of a dataset; `words` names their source.

    `target` is the folder of its review; None if the studio does not know it.
    """

    rules: ReviewRules
    words: str
    target: Path | None = None


_INTERVAL = "Of the drawn questions, with Wilson's interval"
_WRITTEN = "verdicts-written"
_SHOWN = 500


def questions(request: HttpRequest, project: str, made_set: UUID) -> HttpResponse:
    """The drawn questions of one set: how far their review is, task by task and one by one."""
    row = get_object_or_404(
        MadeSetRow.objects.select_related("project__protocol"), project__slug=project, public=made_set
    )
    is_operator = "operator" in request.person.roles_in(project)
    done, refused, status = "", "", 200
    if request.method == "POST" and not is_operator:
        refused, status = "only an operator can do this", 403
    elif request.method == "POST":
        try:
            done = _done(row, request.POST.get("act", ""), by=request.person.name)
        except VidenceError as error:
            refused, status = str(error), 409
    questions = {
        "project": row.project,
        "made": row,
        "name": Path(row.folder).name,
        "is_operator": is_operator,
        "said": done,
        "refused": refused,
        **_standing(row),
    }
    return render(request, "review/questions.html", questions, status=status)


def _standing(row: MadeSetRow) -> dict[str, object]:
    """What the page shows of the questions."""
    limits = limits_of(row)
    drawn = drawn_of(Path(row.folder))
    items = items_of(Path(row.folder))
    names = [question.name for question in drawn]
    rows = {value.item_id: value for value in ItemRow.objects.filter(project=row.project, item_id__in=names)}
    values = said_of(row.project, names)
    progresses = progress(drawn, items, values, rules=limits.rules)
    return {
        "piece": as_piece(section_fragment(Section(title="", tables=(_table(progresses),)))),
        "n_decided": len(values),
        "n_drawn": len(names),
        "n_missing": len(names) - len(rows),
        "drawn": [(question, rows.get(question.name)) for question in drawn[:_SHOWN]],
        "rule": rule_words(limits.rules),
        "whose": limits.words,
        "plan": plan_words(progresses, limits.rules),
        "target": limits.target,
    }


def limits_of(row: MadeSetRow) -> Limits:
    """The rules of the review as the configuration of a set says them; where it does not, the usual ones.

    Raises:
        DataError: the configuration cannot be read any more.
        UsageError: it says something that cannot be.
    """
    limits = {str(entry.folder): entry for entry in offered(current().settings.paths)}.get(row.folder)
    if limits is None:
        words = (
            "These are the default limits: the studio has no configuration of this set. If its [review] sets "
            "others, those count when the set is made."
        )
        return Limits(rules=ReviewRules(), words=words)
    rules = read_herbench(limits.config).review
    if rules is None:
        words = (
            f"{limits.config.name} has no [review]: these are the default limits, and no verdicts are read."
        )
        return Limits(rules=ReviewRules(), words=words)
    words = f"As set by [review] in {limits.config.name}."
    return Limits(rules=rules, target=limits.config.parent / rules.folder, words=words)


def _table(progresses: tuple[TaskProgress, ...]) -> Table:

    return tabulate(
        "progress",
        "The review, task by task",
        label="task",
        rows=[RowSpec(entry.task, entry.task, entry) for entry in progresses],
        measures=(
            count("n", lambda entry: entry.n, "questions"),
            count("sample", lambda entry: entry.n_sample, "drawn"),
            count("queued", lambda entry: entry.n_queued, "in any case"),
            count("seen", lambda entry: entry.n_seen, "drawn, decided"),
            count("rejected", lambda entry: entry.n_rejected),
            share("share", lambda entry: entry.rejected, "rejected", note=_INTERVAL),
            words_of("words", lambda entry: entry.words, "the rest"),
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
    return {row.item.item_id: to_event(row) for row in rows}


def _done(row: MadeSetRow, wanted: str, *, by: str) -> str:
    """Import the questions or write the verdicts; errors as for `drawn_of` and `write`."""
    drawn = drawn_of(Path(row.folder))
    if wanted == "take":
        return take_in(row, drawn)
    if wanted == "write":
        return write_said(row, drawn, by=by)
    return ""


def take_in(row: MadeSetRow, drawn: tuple[DrawnQuestion, ...]) -> str:
    """Make items of the drawn questions that the project does not have; the result, in words."""
    if row.project.protocol.sha256 != digest(protocol_bytes(PROTOCOL)):
        return f"Nothing was imported: the protocol of this project is not {PROTOCOL}."
    values = wordings(Path(row.folder), drawn)
    with transaction.atomic():
        n_new = add_items(row.project, values, kinds=dict.fromkeys(values, "made"))
        for item in ItemRow.objects.filter(project=row.project, item_id__in=values, state="drafting"):
            content = values[item.item_id]
            result = Act(kind="submit", role="author", by=MAKER, content=content, origin="import")
            if isinstance(done := act(item, result), Refused):
                transaction.set_rollback(True)
                return done.reason
    return f"{n_new:,} questions were imported; {len(values) - n_new:,} were already there."


def write_said(row: MadeSetRow, drawn: tuple[DrawnQuestion, ...], *, by: str) -> str:
    """Write the verdicts into the review of the set; the result, in words.

    Raises:
        DataError: it says something else.
        StoreError: it cannot be written.
    """
    values = said_of(row.project, [question.name for question in drawn])
    path = limits_of(row).target
    if path is None:
        return "Nothing was written: the studio has no configuration of this set with [review]."
    with transaction.atomic():
        n_new = write_verdicts(path, values, at=now_words())
        note(_WRITTEN, by=by, about=str(path)[:300], details={"n_decided": len(values)})
    return f"{n_new:,} verdicts were written into {path}; make the set again."


def sets(request: HttpRequest, project: str) -> HttpResponse:
    """List the made datasets of a project that have questions in review."""
    row = get_object_or_404(ProjectRow, slug=project)
    order = MadeSetRow.objects.filter(project=row).order_by("folder")
    sets = {"project": row, "sets": [(entry, Path(entry.folder).name) for entry in order]}
    return render(request, "review/sets.html", sets)


_LOOKING: Final[frozenset[Rule]] = frozenset({"reviewer", "operator"})
urls = [
    route(f"{PROJECT}/questions", sets, name="drawn-sets", roles=_LOOKING),
    route(f"{PROJECT}/questions/<uuid:made_set>", questions, name="drawn-questions", roles=_LOOKING, to=BOTH),
]
