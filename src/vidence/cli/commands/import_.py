"""Results of lmms-eval, VLMEvalKit, inspect_ai or others as a run folder."""

from pathlib import Path

import click
from rich.console import Console

from vidence.console.options import PATH
from vidence.console.screen import say, several
from vidence.engine.display import watched
from vidence.engine.environment import environment, now

SECTION = "Ask"


@click.command("import")
@click.argument("layout")
@click.argument("log", type=PATH)
@click.option("--data", type=PATH, help="The questions, where the log does not hold them.")
@click.option("--map", "mapping", metavar="MAP", help="How --data is read where it is in another layout.")
@click.option("--split", help="Which part of --data.")
@click.option("--benchmark", default="table", show_default=True, help="The benchmark that --data belongs to.")
@click.option("--media", type=PATH, help="Folder in which the videos lie.")
@click.option("--model-name", help="Who replied (default: what the log says).")
@click.option("--parser", help="How the letter is read from a reply.")
@click.option("--text-parser", help="How answers that are texts are scored without a judge.")
@click.option("--name", help="What tables and figures call the run (default: the model).")
@click.option("--out", type=PATH, help="Run folder (default: runs/imported-...).")
@click.option("--page/--no-page", default=True, help="Write report.html at the end.")
def import_results(
    *,
    layout: str,
    log: Path,
    data: Path | None,
    mapping: str | None,
    split: str | None,
    benchmark: str,
    media: Path | None,
    model_name: str | None,
    parser: str | None,
    text_parser: str | None,
    name: str | None,
    out: Path | None,
    page: bool,
) -> int:
    """Make a run folder of the results in LOG, a file of lmms-eval, vlmevalkit, inspect or another LAYOUT.

    LAYOUT is a preset with replies, FILE.toml, or FIELD=COLUMN,... with reply.text=COLUMN. Nobody is asked:
    the replies are read and scored as those of a run, so that report, compare, judge and audit work on them.
    """
    from vidence.cli.commands.report import show_run
    from vidence.engine.importing import agreement, default_import_folder, import_log, read_log
    from vidence.engine.plan import PlanOverrides
    from vidence.engine.prepare import make_plan

    console, place = Console(stderr=True), environment()
    questions = None
    if data is not None or benchmark != "table":
        asked: PlanOverrides = {
            "map": mapping,
            "split": split,
            "media": None if media is None else str(media),
        }
        questions = make_plan(benchmark, data=data, model="baseline:random", overrides=asked)
    found = read_log(log, layout, questions=questions, model=model_name or "")
    folder = out if out is not None else default_import_folder(found)
    say(console, (found.model, "bold"), f" · {found.path} · {folder}")
    overrides: PlanOverrides = {
        "parser": parser,
        "name": name,
        "text_parser": text_parser,
        "media": None if media is None else str(media),
    }
    summary = watched(
        lambda listen: import_log(
            found, folder, overrides=overrides, environment=place, now=now(), on_event=listen
        ),
        console,
        doing="importing",
        what=f"the import into {folder}",
        kept="the log is as it was",
    )
    show_run(folder, page=folder / "report.html" if page else None)
    n = several(summary.n_replies, "reply", many="replies")
    say(console, f"{n} imported to {several(summary.n_items, 'question')}")
    if summary.n_without:
        n = several(summary.n_without, "question")
        say(console, (f"{n} without a reply", "red"), ": failed, which counts as wrong")
    if summary.n_left_out:
        n = several(summary.n_left_out, "row")
        say(console, (f"{n} left out", "red"), f"; the first is {found.problems[0]}")
    if summary.n_both:
        say(console, agreement(summary))
    return 0
