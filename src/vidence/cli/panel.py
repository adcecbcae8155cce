"""``vidence panel``."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from vidence.cli.console import Screen, say, trust_option
from vidence.cli.outputs import (
    interval_option,
    items_option,
    json_option,
    latex_option,
    level_option,
    screen,
    write_asked,
)
from vidence.cli.progress import progress_option
from vidence.cli.run import NOT_ALL, asked, say_summary
from vidence.engine.environment import cache_root, environment

if TYPE_CHECKING:
    from vidence.engine.evaluate import Summary
    from vidence.engine.panel import PanelRun
    from vidence.engine.plan import Plan


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
@progress_option
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
    progress: str,
) -> int:
    """Run every model under every condition on every benchmark that FILE names.

    Each is a run of its own in the folder of the panel; the same command goes on with those that are not
    complete, and nothing is asked twice. A run that cannot go on does not stop the others.
    """
    from vidence.engine.panel import PanelFile, check_panel, planned
    from vidence.make.pipeline.config_file import read_config
    from vidence.report.export import write_file
    from vidence.report.panel import write_panel_json
    from vidence.report.panel_asked import ask_panel, read_panel
    from vidence.report.terminal import draw_section
    from vidence.tables.latex import latex as latex_of

    config = read_config(file, PanelFile)
    root = out if out is not None else Path("runs") / f"panel-{file.stem}"
    runs = planned(config, beside=file.parent, root=root)
    console, words = Screen(stderr=True), screen(json_path, latex)
    if check:
        for run in runs:
            say(console, (run.benchmark, "bold"), f" · {run.label} · {run.plan.model} · {run.folder}")
        return 0
    check_panel(runs, source=file, environment=environment(), is_trusted=trust)
    again = f"vidence panel {file}" + (f" --out {out}" if out is not None else "")

    def ask(place: int, run: "PanelRun", plan: "Plan") -> "Summary":
        say(console, (f"[{place}/{len(runs)}] ", "bold"), f"{run.benchmark}, {run.label}")
        summary = asked(plan, run.folder, console, again=again, progress=progress)
        say_summary(summary, run.folder, console)
        return summary

    done = ask_panel(runs, max_cost=config.max_cost, ask=ask)
    if done.runs:
        found = read_panel(config.title or file.stem, done, level=level)
        write_asked(
            (json_path, lambda path: write_panel_json(found.cells, found.section, path)),
            (latex, lambda path: write_file(path, latex_of([found.scores], intervals=interval))),
        )
        if page:
            path = root / "panel.html"
            found.write_page(path, cache_root=cache_root(), n_items=items)
            click.echo(f"wrote {path}", err=True)
        draw_section(found.section, words)
    for line in done.missing:
        say(console, ("no score: ", "red"), line)
    return NOT_ALL if done.missing or done.n_failed else 0
