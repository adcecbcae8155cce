"""Import results of lmms-eval, VLMEvalKit, inspect_ai or other tools as a run."""

from pathlib import Path
from typing import Annotated

from rich.console import Console

from vidence.console.flags import PAGE, argument, command, flag
from vidence.console.screen import say, several
from vidence.engine.display import watched
from vidence.engine.environment import environment, now
from vidence.records import Record

SECTION = "Ask"


class Import(Record):
    """The results to import, and how to read them."""

    layout: Annotated[str, argument()]
    log: Annotated[Path, argument()]
    data: Annotated[Path | None, flag("The questions, if the log does not hold them.")] = None
    map: Annotated[str | None, flag("How --data is mapped, if it is in another layout.", metavar="MAP")] = (
        None
    )
    split: Annotated[str | None, flag("Split of --data.")] = None
    benchmark: Annotated[str, flag("The benchmark that --data belongs to.")] = "table"
    media: Annotated[str | None, flag("Folder of the videos.", metavar="FOLDER")] = None
    model_name: Annotated[str, flag("Name of the model (default: that of the log).")] = ""
    parser: Annotated[str | None, flag("Answer parser.")] = None
    name: Annotated[str | None, flag("Name of the run in tables and figures (default: the model).")] = None
    out: Annotated[Path | None, flag("Run folder (default: runs/imported-...).")] = None
    page: Annotated[bool, PAGE] = True


@command("import")
def import_results(given: Import) -> int:
    """Make a run folder from the results in LOG, a file of lmms-eval, vlmevalkit, inspect or another LAYOUT.

    LAYOUT is a preset with replies, FILE.toml, or FIELD=COLUMN,... with reply.text=COLUMN. No model is
    asked: replies are parsed and scored like those of a run, and report, compare, judge and audit apply.
    """
    from vidence.cli.commands.report import show_run
    from vidence.engine.importing import default_import_folder, import_log, read_log
    from vidence.engine.plan import PlanOverrides
    from vidence.engine.prepare import NOBODY, make_plan

    console, place = Console(stderr=True), environment()
    questions = None
    if given.data is not None or given.benchmark != "table":
        asked: PlanOverrides = {"map": given.map, "split": given.split, "media": given.media}
        questions = make_plan(given.benchmark, data=given.data, model=NOBODY, overrides=asked)
    log = read_log(given.log, given.layout, questions=questions, model=given.model_name)
    folder = given.out or default_import_folder(log)
    say(console, (log.model, "bold"), f" · {log.path} · {folder}")
    overrides: PlanOverrides = {"parser": given.parser, "name": given.name, "media": given.media}
    n_without = watched(
        lambda listen: import_log(
            log, folder, overrides=overrides, environment=place, now=now(), on_event=listen
        ),
        console,
        doing="importing",
        what=f"the import into {folder}",
        kept="the log is unchanged",
    )
    show_run(folder, page=folder / "report.html" if given.page else None)
    n = several(len(log.replies), "reply", many="replies")
    say(console, f"{n} imported to {several(len(log.items), 'question')}")
    if n_without:
        n = several(n_without, "question")
        say(console, (f"{n} without a reply", "red"), ": failed, which counts as wrong")
    if log.problems:
        n = several(len(log.problems), "row")
        say(console, (f"{n} left out", "red"), f"; the first is {log.problems[0]}")
    return 0
