"""The report card of a set of questions: what it gives away."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.console.files import screen, write_asked
from vidence.console.options import PATH, data_option, json_option, named_questions, where_option
from vidence.console.screen import Screen, show_licence
from vidence.engine.environment import cache_root
from vidence.engine.plan import Plan, PlanOverrides
from vidence.engine.prepare import NOBODY, make_plan

if TYPE_CHECKING:
    from vidence.explain.audit.audit import ItemAudit
    from vidence.report.item_card import Card

SECTION = "Explain"

SEVERE = 3
_MOST_LISTED = 20


@click.command()
@click.argument("what")
@data_option
@click.option("--split", help="The part of the benchmark.")
@click.option("--map", "map", help="How the columns of a table are called; see vidence run --map.")
@click.option("--media", metavar="FOLDER", help="The folder in which the videos lie, or its address.")
@where_option("questions with this tag")
@click.option("--out", type=PATH, help="Folder (default: runs/audit- and a name).")
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--page/--no-page", default=True, help="Write audit.html.")
@click.option("--strict", is_flag=True, help="Exit code 3 where something is severe.")
@json_option
def audit(
    *,
    what: str,
    data: Path | None,
    split: str | None,
    map: str | None,
    media: str | None,
    where: dict[str, str],
    out: Path | None,
    level: float,
    page: bool,
    strict: bool,
    json_path: Path | None,
) -> int:
    """Check a set of questions: WHAT is a file in the item format, or a benchmark.

    Ten checks by the texts of the questions. The questions of a benchmark are those that `vidence get`
    fetched, or lie where --data says. What models need of the videos, `vidence diagnose` tells.
    """
    from vidence.media.whole import write_file
    from vidence.report.audit_files import audit_json, write_audit
    from vidence.report.item_card import make_card
    from vidence.report.results import SEED

    shown = screen(json_path)
    benchmark, source = named_questions(what, data)
    overrides: PlanOverrides = {"split": split, "map": map, "media": media, "where": where or None}
    plan = make_plan(benchmark, data=source, model=NOBODY, overrides=overrides)
    show_licence(plan.benchmark, Screen(stderr=True), cache_root=cache_root())
    name = source.name if data is None and source is not None else benchmark
    card = make_card(name, _check(plan), seed=SEED, level=level)
    for path in write_audit(card, out or Path("runs") / _folder_name(plan), with_page=page):
        click.echo(f"wrote {path}", err=True)
    write_asked((json_path, lambda file: write_file(file, audit_json(card))))
    _draw(card, shown)
    return SEVERE if strict and card.n_severe else 0


def _folder_name(plan: Plan) -> str:
    digest = hashlib.sha256(f"{plan.data}\n{plan.split}\n{sorted(plan.where.items())}".encode()).hexdigest()
    return f"audit-{plan.benchmark}-{Path(plan.data).stem[:40]}-{digest[:8]}"


def _check(plan: Plan) -> "ItemAudit":
    """Every check of texts, on all questions that --where leaves."""
    from vidence.engine.prepare import check_addresses, every_item, load_questions, media_root_of
    from vidence.explain.audit.audit import audit_items
    from vidence.media.files import located, missing

    loaded = load_questions(plan)
    items = every_item(loaded, plan)
    root = media_root_of(plan, loaded)
    check_addresses(items, plan)
    gone = set(missing(root, items))
    absent = frozenset(
        item.item_id for item in items if any(located(root, one) in gone for one in item.media)
    )
    return audit_items(items, problems=loaded.problems, notes=loaded.notes, missing=absent)


def _draw(card: "Card", console: Screen) -> None:
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
    worst = [one for one in card.suspects if one.severity == "severe"]
    if worst:
        console.print()
    for one in worst[:_MOST_LISTED]:
        says = plain(f"{one.item_id}: {one.reasons[0].says}")
        console.print(plain("severe  ", style="red").append_text(says))
    if len(worst) > _MOST_LISTED:
        console.print(plain(f"and {len(worst) - _MOST_LISTED:,} more in the list", style="dim"))
