"""The report card of a set of questions: what they give away, what they demand."""

import hashlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.cli.commands.diagnose import examined
from vidence.cli.plan_flags import with_plan_flags
from vidence.console.files import screen, write_asked
from vidence.console.options import PATH, data_option, json_option, named_questions
from vidence.console.screen import Screen, show_licence
from vidence.engine.environment import cache_root
from vidence.engine.plan import Plan
from vidence.engine.prepare import NOBODY, make_plan, run_name

if TYPE_CHECKING:
    from vidence.explain.audit.audit import ItemAudit
    from vidence.report.item_card import Card
    from vidence.report.item_diagnoses import ItemDiagnoses

SECTION = "Explain"

SEVERE = 3
_MOST_LISTED = 20


@click.command()
@click.argument("what")
@data_option
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="SPEC",
    help="Who is asked; several form the blind panel, and the first does the rest. None: only texts.",
)
@click.option("--no-mrfs", is_flag=True, help="Do not search for the number of frames that is needed.")
@click.option(
    "--blind-runs", type=click.IntRange(1), default=3, show_default=True, help="Blind asks of a single model."
)
@partial(with_plan_flags, without={"strict", "repeats", "name"})
@click.option("--out", type=PATH, help="Folder (default: runs/audit- and a name).")
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--page/--no-page", default=True, help="Write audit.html.")
@click.option("--strict", is_flag=True, help="Exit code 3 where something is severe.")
@json_option
def audit(
    *,
    what: str,
    data: Path | None,
    models: tuple[str, ...],
    no_mrfs: bool,
    blind_runs: int,
    out: Path | None,
    level: float,
    page: bool,
    strict: bool,
    json_path: Path | None,
    **overrides: object,
) -> int:
    """Check a set of questions: WHAT is a file in the item format, or a benchmark.

    The questions of a benchmark are those that `vidence get` fetched, or lie where --data says.

    Every question is checked by its texts. With --model, models say which need no video, one frame, or how
    many; --limit and --sample then choose whom they are asked about. The same command goes on.
    """
    from vidence.media.whole import write_file
    from vidence.report.audit_files import audit_json, write_audit
    from vidence.report.item_card import make_card
    from vidence.report.results import SEED

    benchmark, source = named_questions(what, data)
    plan = make_plan(
        benchmark,
        data=source,
        model=models[0] if models else NOBODY,
        overrides=overrides,
    )
    console = Screen(stderr=True)
    show_licence(plan.benchmark, console, cache_root=cache_root())
    folder = out if out is not None else Path("runs") / _folder_name(plan, models)
    checked = _check(plan)
    name = source.name if data is None and source is not None else benchmark
    card = make_card(name, checked, asked=None, seed=SEED, level=level)
    written = write_audit(card, folder, with_page=page)
    if models:
        asked = _ask(plan, models, folder, with_mrfs=not no_mrfs, blind_runs=blind_runs, level=level)
        card = make_card(name, checked, asked=asked, seed=SEED, level=level)
        written = write_audit(card, folder, with_page=page)
    for path in written:
        click.echo(f"wrote {path}", err=True)
    shown = screen(json_path)
    write_asked((json_path, lambda file: write_file(file, audit_json(card))))
    _draw(card, shown)
    return SEVERE if strict and card.n_severe else 0


def _folder_name(plan: Plan, models: tuple[str, ...]) -> str:
    """As of a run; other members of the panel do not make another one."""
    if models:
        return f"audit-{run_name(plan)}"
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


def _ask(
    plan: Plan, models: tuple[str, ...], folder: Path, *, with_mrfs: bool, blind_runs: int, level: float
) -> "ItemDiagnoses":
    """Run the diagnostics one after the other; what the memory knows is not asked again."""
    from vidence.engine.diagnose import open_diagnostic
    from vidence.report.diagnosis import Diagnosed, load_diagnosed
    from vidence.report.item_diagnoses import MODALITY, MRFS, PANEL, ItemDiagnoses, panel_options

    wanted: dict[str, dict[str, str]] = {
        PANEL: panel_options(models, runs=blind_runs, seed=plan.seed),
        MODALITY: {"seed": str(plan.seed)},
    }
    if with_mrfs:
        wanted[MRFS] = {"max": str(plan.n_frames)}
    found: dict[str, Diagnosed] = {}
    for name, options in wanted.items():
        diagnostic = open_diagnostic(name, options)
        examined(diagnostic, plan, folder, options=options)
        found[name] = load_diagnosed(diagnostic, folder, options=options, level=level)
    return ItemDiagnoses(found=found)


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
