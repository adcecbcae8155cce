"""``vidence panel``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import numpy as np
from rich.console import Console

from vidence.cli.console import Screen, say, trust_option
from vidence.cli.outputs import interval_option, items_option, json_option, latex_option, level_option
from vidence.cli.run import NOT_ALL, asked, say_summary
from vidence.engine.environment import cache_root, environment
from vidence.errors import BudgetSpentError, VidenceError

if TYPE_CHECKING:
    from vidence.engine.panel import PanelRun
    from vidence.report.panel import PanelCell
    from vidence.report.sections import Section
    from vidence.tables.table import Table


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the runs and the page (default: runs/panel-FILE).",
)
@click.option("--check", is_flag=True, help="Say what would be asked, and ask nothing.")
@trust_option
@level_option("Level of the intervals.")
@items_option
@json_option
@latex_option
@interval_option("pm")
@click.option("--page/--no-page", default=True, help="Write panel.html at the end.")
def panel(
    *,
    file: Path,
    out: Path | None,
    check: bool,
    trust: bool,
    level: float,
    items: int,
    json_path: Path | None,
    latex: Path | None,
    interval: Literal["pm", "brackets", "none"],
    page: bool,
) -> int:
    """Run every model under every condition on every benchmark that FILE names.

    Each is a run of its own in the folder of the panel; the same command goes on with those that are not
    complete, and nothing is asked twice. A run that cannot go on does not stop the others.
    """
    from vidence.engine.panel import PanelFile, check_panel, planned
    from vidence.make.pipeline.config_file import read_config
    from vidence.report.export import write_file
    from vidence.report.panel import panel_section, write_panel_json
    from vidence.report.papers import paper_sections
    from vidence.report.results import SEED
    from vidence.report.scores import Draws
    from vidence.report.terminal import draw_section
    from vidence.tables.latex import latex as latex_of

    config = read_config(file, PanelFile)
    root = out if out is not None else Path("runs") / f"panel-{file.stem}"
    runs = planned(config, beside=file.parent, root=root)
    console = Screen(stderr=True)
    if check:
        for run in runs:
            say(console, (run.benchmark, "bold"), f" · {run.label} · {run.plan.model} · {run.folder}")
        return 0
    check_panel(runs, source=file, environment=environment(), is_trusted=trust)
    purse = _Purse(most=config.max_cost)
    again = f"vidence panel {file}" + (f" --out {out}" if out is not None else "")
    done = _ask_all(runs, console, again=again, purse=purse)
    kept = [run for run in runs if run.folder in done.folders]
    if kept:
        draws = Draws(rng=np.random.default_rng(SEED), level=level)
        cells, tables = _cells(kept, level=level)
        shown = panel_section(config.title or file.stem, cells, missing=done.missing, draws=draws)
        if json_path is not None:
            write_panel_json(cells, shown, json_path)
            click.echo(f"wrote {json_path}", err=True)
        if latex is not None:
            write_file(latex, latex_of(shown.tables[:1], intervals=interval))
            click.echo(f"wrote {latex}", err=True)
        if page:
            sections = (shown, *paper_sections([c.run for c in cells], draws=draws, with_published=False))
            path = root / "panel.html"
            _write_page(cells, path, tables=tables, sections=sections, level=level, n_items=items)
        draw_section(shown, Screen())
    for line in done.missing:
        say(console, ("no score: ", "red"), line)
    return NOT_ALL if done.missing or done.n_failed else 0


@dataclass(kw_only=True)
class _Done:
    """What came of the runs: the folders of those that were asked, and why others were not."""

    folders: set[Path]
    missing: list[str]
    n_failed: int = 0


@dataclass(kw_only=True)
class _Purse:
    """What is left of the limit of spending of a panel; None where it has none."""

    most: float | None
    spent: float = 0.0

    def limit(self, run: "PanelRun") -> float | None:
        """What a run may spend; None without a limit."""
        own, most = run.plan.max_cost, self.most
        if most is None or not (run.plan.price_in or run.plan.price_out):
            return own
        return most - self.spent if own is None else min(own, most - self.spent)


def _ask_all(runs: "Sequence[PanelRun]", console: Console, *, again: str, purse: _Purse) -> _Done:
    """Ask what is left of every run, one run after the other.

    One that cannot go on is left as it is. When the limit of spending is reached, no further run is begun.
    """
    import msgspec

    done = _Done(folders=set(), missing=[])
    for place, run in enumerate(runs, start=1):
        name = f"{run.benchmark}, {run.label}"
        say(console, (f"[{place}/{len(runs)}] ", "bold"), name)
        limit = purse.limit(run)
        if limit is not None and limit <= 0:
            done.missing.append(f"{name}: not asked, since the max_cost of the panel is spent")
            continue
        before = _cost(run.folder)
        try:
            plan = msgspec.structs.replace(run.plan, max_cost=limit)
            summary = asked(plan, run.folder, console, again=again)
        except VidenceError as error:
            done.missing.append(f"{name}: {error}")
            is_spent = isinstance(error, BudgetSpentError) and limit is not None
            purse.spent += limit if is_spent and limit is not None else _cost(run.folder) - before
        else:
            purse.spent += summary.cost
            done.n_failed += summary.n_failed + summary.n_left_out
            done.folders.add(run.folder)
            say_summary(summary, run.folder, console)
    return done


def _cost(folder: Path) -> float:
    """What the replies of a run folder cost so far; 0 where there is none."""
    from vidence.report.listed import listed

    return (listed(folder).cost or 0.0) if folder.exists() else 0.0


def _cells(
    runs: "Sequence[PanelRun]", *, level: float
) -> "tuple[tuple[PanelCell, ...], list[tuple[Table, ...]]]":
    """The runs that have trials with all their tables."""
    from vidence.report.panel import PanelCell
    from vidence.report.results import SEED, load_run
    from vidence.report.tables import all_tables

    cells, tables = [], []
    for one in runs:
        run = replace(load_run(one.folder), name=one.benchmark)  # what tells runs of one label apart
        tables.append(all_tables(run, rng=np.random.default_rng(SEED), level=level))
        cells.append(PanelCell(benchmark=one.benchmark, label=one.label, run=run, score=tables[-1][0]))
    return tuple(cells), tables


def _write_page(
    cells: "Sequence[PanelCell]",
    path: Path,
    *,
    tables: "Sequence[Sequence[Table]]",
    sections: "Sequence[Section]",
    level: float,
    n_items: int,
) -> None:
    from vidence.report.page import write_page
    from vidence.report.results import SEED

    write_page(
        [cell.run for cell in cells],
        path,
        cache_root=cache_root(),
        media_root=None,
        tables=tables,
        n_items=n_items,
        extra_sections=sections,
        level=level,
        title=sections[0].title,
        rng=np.random.default_rng(SEED),
    )
    click.echo(f"wrote {path}", err=True)
