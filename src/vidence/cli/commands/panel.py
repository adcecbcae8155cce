"""Run several models under several conditions; report all in one table and figure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.cli.asking import asked, say_summary
from vidence.cli.commands.diagnose import examined
from vidence.console.files import screen, write_asked
from vidence.console.flags import JSON, LATEX, LEVEL, NOT_ALL, PAGE, PROGRESS, TRUST, argument, command, flag
from vidence.console.screen import Screen, say
from vidence.engine.environment import cache_root, environment
from vidence.errors import UsageError
from vidence.media.whole import own_folder
from vidence.records import Record
from vidence.study.showing import panel_section, study_of
from vidence.text import quoted

if TYPE_CHECKING:
    from vidence.engine.diagnose import Account
    from vidence.engine.evaluate import Summary
    from vidence.engine.panel import PanelRun
    from vidence.engine.panel_diagnostics import Examination
    from vidence.engine.plan import Plan
    from vidence.report.panel_registry import Viewed
    from vidence.report.panel_runs import AskedPanel, Panel

SECTION = "Start here"
ORDER = 9


class PanelWanted(Record):
    """The panel to run, and what to show."""

    file: Annotated[Path, argument()]
    out: Annotated[Path | None, flag("Folder of the runs and the page (default: runs/panel-FILE).")] = None
    views: Annotated[
        tuple[str, ...],
        flag(
            "Also show this view: a name of `vidence list figures` or `views`, or a paper such as actpld "
            "for all of its views; repeatable.",
            "--as",
            metavar="VIEW",
        ),
    ] = ()
    ask: Annotated[bool, flag("Complete the runs, or report them as they are.", "--ask/--no-ask")] = True
    tables_dir: Annotated[
        Path | None, flag("Write the tables of the views as CSV to this folder.", "--tables")
    ] = None
    check: Annotated[bool, flag("Print the number of requests and the highest cost, and ask nothing.")] = (
        False
    )
    trust: Annotated[bool, TRUST] = False
    level: Annotated[float, LEVEL] = 0.95
    json_path: Annotated[Path | None, JSON] = None
    latex: Annotated[Path | None, LATEX] = None
    page: Annotated[bool, PAGE] = True
    progress: Annotated[str, PROGRESS] = "auto"

    @property
    def root(self) -> Path:
        """Return the folder of the runs and the page."""
        return self.out or Path("runs") / f"panel-{self.file.stem}"


@command()
def panel(given: PanelWanted) -> int:
    """Run every model under every condition on every benchmark that FILE names, then its diagnostics.

    Each is a run of its own in the folder of the panel; the same command resumes incomplete runs. A run that
    fails does not stop the others.
    """
    from vidence.engine.config_file import read_config
    from vidence.engine.panel import PanelFile, check_panel, given_runs, planned
    from vidence.engine.panel_diagnostics import examinations
    from vidence.report.panel_registry import check_about, check_view
    from vidence.report.panel_runs import ahead, read_panel, taken

    for view in given.views:
        check_view(view)
    file = given.file
    config = read_config(file, PanelFile)
    runs = planned(config, beside=file.parent, root=given.root)
    others = given_runs(config, beside=file.parent)
    for view in given.views:
        check_about(view, list(dict.fromkeys(run.plan.benchmark for run in [*runs, *others])))
    examined_on = examinations(config, runs)
    console = Screen(stderr=True)
    if given.check:
        for heading, line in ahead(runs, examined_on):
            say(console, (heading, "bold"), line)
        for run in others:
            say(console, (run.benchmark, "bold"), f" · {run.label} · {run.plan.model} · {run.folder}")
        return 0
    more = [need for examination in examined_on for need in examination.needs()]
    check_panel(runs, source=file, environment=environment(), is_trusted=given.trust, more=more)
    own_folder(given.root, ".vidence-panel")
    steps = _Steps(given=given, console=console, n_runs=sum(run.has_trials for run in runs))
    done = steps.taken(runs, examined_on, max_cost=config.max_cost) if given.ask else taken(runs)
    done.runs += others
    not_shown: tuple[str, ...] = ()
    if done.runs:
        panel = read_panel(config.title or file.stem, done, level=given.level)
        studies = dict.fromkeys(filter(None, (study_of(run.folder) for run in others)))
        sections = tuple(panel_section(study, level=given.level) for study in studies)
        not_shown = _write(replace(panel, studies=sections), given)
    for line in done.missing:
        say(console, ("no score: ", "red"), line)
    for line in done.not_found:
        say(console, ("no findings: ", "red"), line)
    for line in not_shown:
        say(console, ("not shown: ", "red"), line)
    return NOT_ALL if done.missing or done.not_found or done.n_failed or not_shown else 0


@dataclass(frozen=True, kw_only=True)
class _Steps:
    """Runs a panel's runs and diagnostics from the terminal."""

    given: PanelWanted
    console: Screen
    n_runs: int

    def taken(
        self, runs: "Sequence[PanelRun]", examinations: "Sequence[Examination]", *, max_cost: float | None
    ) -> "AskedPanel":
        """Run the runs, then the diagnostics."""
        from vidence.report.panel_runs import ask_panel

        def examine(place: int, examination: "Examination", plan: "Plan") -> "Account":
            say(self.console, (f"[{place}/{len(examinations)}] ", "bold"), examination.label)
            folder = examination.run.folder
            return examined(
                examination.diagnostic,
                plan,
                folder,
                options=examination.options,
                progress=self.given.progress,
            )

        return ask_panel(runs, max_cost=max_cost, ask=self.ask, examinations=examinations, examine=examine)

    def ask(self, place: int, run: "PanelRun", plan: "Plan") -> "Summary":
        """Complete one run."""
        from vidence.report.run_list import keep_line

        say(self.console, (f"[{place}/{self.n_runs}] ", "bold"), f"{run.benchmark}, {run.label}")
        out = "" if self.given.out is None else f" --out {quoted(self.given.out)}"
        again = f"vidence panel {quoted(self.given.file)}{out}"
        summary = asked(plan, run.folder, self.console, again=again, progress=self.given.progress)
        keep_line(run.folder)
        say_summary(summary, run.folder, self.console)
        return summary


def _write(panel: "Panel", given: PanelWanted) -> tuple[str, ...]:
    """Write files and pages, then show scores and views in the terminal.

    Returns:
        The tables and figures of whole papers that the runs cannot produce, and why.
    """
    from vidence.engine.panel import slug
    from vidence.media.whole import write_file
    from vidence.report.export import write_tables
    from vidence.report.panel import write_panel_json
    from vidence.report.sections import Section
    from vidence.report.terminal import draw_section
    from vidence.tables.latex import latex as latex_of
    from vidence.tables.terminal import Sheet

    sheet = Sheet(screen(given.json_path, given.latex))
    views, refused = _views(panel, given.views)
    tables = [table for view in views for table in view.tables]
    of_studies = [table for study in panel.studies for table in study.tables]
    section = replace(panel.section, tables=(*panel.section.tables, *tables, *of_studies))
    write_asked(
        (given.json_path, lambda path: write_panel_json(panel.cells, section, path)),
        (given.latex, lambda path: write_file(path, latex_of([panel.scores, *tables], intervals="pm"))),
    )
    if given.tables_dir is not None:
        n = len(write_tables(tables or [panel.scores], given.tables_dir))
        click.echo(f"wrote {n} tables into {given.tables_dir}", err=True)
    if given.page:
        if panel.cells:
            panel.write_page(page := given.root / "panel.html", cache_root=cache_root())
            click.echo(f"wrote {page}", err=True)
        for view in views:
            view.write_page(page := given.root / f"{slug(view.name)}.html", title=panel.title)
            click.echo(f"wrote {page}", err=True)
    if panel.cells:
        draw_section(panel.section, sheet)
    for study in panel.studies:
        draw_section(study, sheet)
    for view in views:
        draw_section(Section(title=view.name, paragraphs=view.sentences, tables=view.tables), sheet)
    return (*(name for view in views for name in view.missing), *refused)


def _views(panel: "Panel", names: "Sequence[str]") -> "tuple[list[Viewed], list[str]]":
    """Return the named views, and those that the runs cannot produce, and why."""
    views, refused = list["Viewed"](), list[str]()
    for name in names:
        try:
            views.append(panel.view(name))
        except UsageError as error:
            refused.append(f"{name}: {error}")
    return views, refused
