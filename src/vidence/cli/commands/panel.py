"""Models under conditions on benchmarks: one table, one figure, one page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from vidence.cli.asking import asked, say_summary
from vidence.cli.commands.diagnose import examined
from vidence.console.files import screen, write_asked
from vidence.console.options import (
    NOT_ALL,
    PATH,
    interval_option,
    items_option,
    json_option,
    latex_option,
    level_option,
    progress_option,
    trust_option,
)
from vidence.console.screen import Screen, say
from vidence.engine.environment import cache_root, environment

if TYPE_CHECKING:
    from vidence.engine.diagnose import Account
    from vidence.engine.evaluate import Summary
    from vidence.engine.panel import PanelRun
    from vidence.engine.panel_diagnostics import Examination
    from vidence.engine.plan import Plan
    from vidence.report.panel_runs import AskedPanel, Panel

SECTION = "Ask"


@click.command()
@click.argument("file", type=PATH)
@click.option("--out", type=PATH, help="Folder of the runs and the page (default: runs/panel-FILE).")
@click.option(
    "--as",
    "views",
    multiple=True,
    metavar="VIEW",
    help="Show this view, too: a name of `vidence list figures` or `views`, or a paper such as actpld "
    "for all of its own; may be repeated.",
)
@click.option("--ask/--no-ask", default=True, help="Ask what is missing, or take the runs as they are.")
@click.option(
    "--tables",
    "tables_dir",
    type=PATH,
    help="Write the tables of the views as CSV into this folder.",
)
@click.option(
    "--check", is_flag=True, help="Say what would be asked and at most what replies cost, and ask nothing."
)
@trust_option
@level_option("Level of the intervals.")
@items_option
@json_option
@latex_option
@interval_option("pm")
@click.option("--page/--no-page", default=True, help="Write panel.html at the end.")
@progress_option
def panel(
    *,
    file: Path,
    out: Path | None,
    views: tuple[str, ...],
    ask: bool,
    tables_dir: Path | None,
    check: bool,
    trust: bool,
    level: float,
    items: int,
    json_path: Path | None,
    latex: Path | None,
    interval: Literal["pm", "brackets", "none"],
    page: bool,
    progress: str,
) -> int:
    """Run every model under every condition on every benchmark that FILE names, then its diagnostics.

    Each is a run of its own in the folder of the panel; the same command goes on with those that are not
    complete, and nothing is asked twice. A run that cannot go on does not stop the others.
    """
    from vidence.engine.config_file import read_config
    from vidence.engine.panel import PanelFile, check_panel, given_runs, planned
    from vidence.engine.panel_diagnostics import examinations
    from vidence.report.panel_ahead import ahead
    from vidence.report.panel_registry import check_view
    from vidence.report.panel_runs import read_panel, taken

    for view in views:
        check_view(view)
    config = read_config(file, PanelFile)
    root = out if out is not None else Path("runs") / f"panel-{file.stem}"
    runs = planned(config, beside=file.parent, root=root)
    given = given_runs(config, beside=file.parent)
    examined_on = examinations(config, runs)
    console = Screen(stderr=True)
    if check:
        for heading, line in ahead(runs, examined_on):
            say(console, (heading, "bold"), line)
        for run in given:
            say(console, (run.benchmark, "bold"), f" · {run.label} · {run.plan.model} · {run.folder}")
        return 0
    more = [need for one in examined_on for need in one.needs()]
    check_panel(runs, source=file, environment=environment(), is_trusted=trust, more=more)
    again = f"vidence panel {file}" + (f" --out {out}" if out is not None else "")
    steps = _Steps(
        console=console, again=again, progress=progress, n_runs=sum(run.has_trials for run in runs)
    )
    done = steps.taken(runs, examined_on, max_cost=config.max_cost) if ask else taken(runs)
    done.runs += given
    not_shown: tuple[str, ...] = ()
    if done.runs:
        found = read_panel(config.title or file.stem, done, level=level)
        shown = _PanelOutput(json=json_path, latex=latex, interval=interval, tables_dir=tables_dir)
        not_shown = shown.write(found, views, page=root / "panel.html" if page else None, n_items=items)
    for line in done.missing:
        say(console, ("no score: ", "red"), line)
    for line in done.not_found:
        say(console, ("no findings: ", "red"), line)
    for line in not_shown:
        say(console, ("not shown: ", "red"), line)
    return NOT_ALL if done.missing or done.not_found or done.n_failed or not_shown else 0


@dataclass(frozen=True, kw_only=True)
class _Steps:
    """How the runs and the diagnostics of a panel are asked for on the terminal."""

    console: Screen
    again: str
    progress: str
    n_runs: int

    def taken(
        self, runs: "Sequence[PanelRun]", examinations: "Sequence[Examination]", *, max_cost: float | None
    ) -> "AskedPanel":
        """Ask the runs, then the diagnostics."""
        from vidence.report.panel_runs import ask_panel

        def examine(place: int, one: "Examination", plan: "Plan") -> "Account":
            say(self.console, (f"[{place}/{len(examinations)}] ", "bold"), one.label)
            folder = one.run.folder
            return examined(one.diagnostic, plan, folder, options=one.options, progress=self.progress)

        return ask_panel(runs, max_cost=max_cost, ask=self.ask, examinations=examinations, examine=examine)

    def ask(self, place: int, run: "PanelRun", plan: "Plan") -> "Summary":
        """Ask what is left of one run."""
        say(self.console, (f"[{place}/{self.n_runs}] ", "bold"), f"{run.benchmark}, {run.label}")
        summary = asked(plan, run.folder, self.console, again=self.again, progress=self.progress)
        say_summary(summary, run.folder, self.console)
        return summary


@dataclass(frozen=True, kw_only=True)
class _PanelOutput:
    """Where the tables of a panel are written to."""

    json: Path | None
    latex: Path | None
    interval: Literal["pm", "brackets", "none"]
    tables_dir: Path | None

    def write(
        self, found: "Panel", views: Sequence[str], *, page: Path | None, n_items: int
    ) -> tuple[str, ...]:
        """Write files and pages, then draw the scores and the views in the terminal.

        Returns:
            Which tables and figures of whole papers the runs do not give, and why.
        """
        from vidence.engine.panel import slug
        from vidence.media.whole import write_file
        from vidence.report.export import make_folder, write_tables
        from vidence.report.panel import write_panel_json
        from vidence.report.sections import Section
        from vidence.report.terminal import draw_section
        from vidence.tables.latex import latex as latex_of

        words = screen(self.json, self.latex)
        views_shown = [found.view(name) for name in views]
        tables = [table for view in views_shown for table in view.tables]
        section = replace(found.section, tables=(*found.section.tables, *tables))
        write_asked(
            (self.json, lambda path: write_panel_json(found.cells, section, path)),
            (
                self.latex,
                lambda path: write_file(path, latex_of([found.scores, *tables], intervals=self.interval)),
            ),
        )
        if self.tables_dir is not None:
            n = len(write_tables(tables or [found.scores], self.tables_dir))
            click.echo(f"wrote {n} tables into {self.tables_dir}", err=True)
        if page is not None:
            make_folder(page.parent)  # of a panel of given runs alone nothing made it
        if page is not None and found.cells:
            found.write_page(page, cache_root=cache_root(), n_items=n_items)
            click.echo(f"wrote {page}", err=True)
        for view in views_shown if page is not None else ():
            path = page.with_name(f"{slug(view.name)}.html") if page is not None else Path()
            view.write_page(path, title=found.title)
            click.echo(f"wrote {path}", err=True)
        if found.cells:
            draw_section(found.section, words)
        for view in views_shown:
            draw_section(Section(title=view.name, paragraphs=view.sentences, tables=view.tables), words)
        return tuple(one for view in views_shown for one in view.missing)
