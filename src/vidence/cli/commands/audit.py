"""Check a set of questions for shortcuts, leaks and defects."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.console.files import screen, write_asked
from vidence.console.flags import JSON, PAGE, PATH, command, flag
from vidence.console.screen import Screen
from vidence.engine.plan import Plan
from vidence.engine.question_set import LoadedSet, QuestionSet
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.explain.audit.audit import ItemAudit
    from vidence.report.item_card import Card

GROUP = "items"

SEVERE = 3
_MOST_LISTED = 20


class Audit(Record):
    """The questions to audit."""

    questions: QuestionSet
    calibration: Annotated[
        Path | None,
        flag("File of `vidence stats calibrate --out`; its doubtful keys are listed first.", type=PATH),
    ] = None
    out: Annotated[Path | None, flag("Output folder (default: runs/audit-NAME).")] = None
    page: Annotated[bool, PAGE] = True
    strict: Annotated[bool, flag("Exit with code 3 if a finding is severe.")] = False
    json_path: Annotated[Path | None, JSON] = None


@command()
def audit(given: Audit) -> int:
    """Check a set of questions: ITEMS is a file in the item format, or a benchmark.

    Runs ten checks on the texts of the questions. The questions of a benchmark are those fetched by
    `vidence get`, or --data. `vidence diagnose` measures what models need from the videos.
    """
    from vidence.media.whole import write_file
    from vidence.report.item_card import audit_json, make_card, write_audit
    from vidence.report.results import SEED

    result = screen(given.json_path)
    read = given.questions.load().with_answers(doing="an audit", is_partial=True)
    card = make_card(read.name, _check(read, given.calibration), seed=SEED)
    folder = given.out or Path("runs") / _folder_name(read.plan)
    for path in write_audit(card, folder, with_page=given.page):
        click.echo(f"wrote {path}", err=True)
    write_asked((given.json_path, lambda file: write_file(file, audit_json(card))))
    _draw(card, result)
    return SEVERE if given.strict and card.n_severe else 0


def _folder_name(plan: Plan) -> str:
    digest = hashlib.sha256(f"{plan.data}\n{plan.split}\n{sorted(plan.where.items())}".encode()).hexdigest()
    return f"audit-{plan.benchmark}-{Path(plan.data).stem[:40]}-{digest[:8]}"


def _check(read: LoadedSet, calibration: Path | None) -> "ItemAudit":
    """Run all text checks on the questions that --where selects, with a calibration's doubtful keys."""
    from vidence.engine.prepare import media_root_of, placed
    from vidence.explain.audit.audit import audit_items
    from vidence.media.files import located, missing
    from vidence.report.items import doubts, read_calibration

    doubtful = {} if calibration is None else doubts(read_calibration(calibration), read.items)
    root = media_root_of(read.plan, read.loaded)
    placed(read.items, read.plan, root)
    gone = set(missing(root, read.items))
    absent = frozenset(
        item.item_id for item in read.items if any(located(root, medium) in gone for medium in item.media)
    )
    return audit_items(
        read.items, problems=read.loaded.problems, notes=read.loaded.notes, missing=absent, doubtful=doubtful
    )


def _draw(card: "Card", console: Screen) -> None:
    from vidence.explain.audit.reasons import DOUBTFUL_KEY, is_doubtful
    from vidence.report.item_card import card_sheet
    from vidence.tables.terminal import plain

    console.print(plain(card.name, style="bold"))
    for sentence in card.sentences():
        console.print(plain(sentence))
    console.print()
    styles = {"bad": "red", "look": "yellow", "good": "green"}
    for entry in card_sheet(card).rows:
        verdict, finding = map(str, entry.values)
        line = plain(f"{verdict:>9}  ", style=styles.get(verdict, "dim"))
        console.print(line.append_text(plain(f"{entry.label} ")).append_text(plain(finding, style="dim")))
    worst = [element for element in card.suspects if element.severity == "severe" or is_doubtful(element)]
    if worst:
        console.print()
    for suspect in worst[:_MOST_LISTED]:
        word = "doubtful" if is_doubtful(suspect) else "severe"
        reason = next((r for r in suspect.reasons if r.kind == DOUBTFUL_KEY), suspect.reasons[0])
        console.print(plain(f"{word}  ", style="red").append_text(plain(f"{suspect.item_id}: {reason.says}")))
    if len(worst) > _MOST_LISTED:
        console.print(plain(f"and {len(worst) - _MOST_LISTED:,} more in the list", style="dim"))
