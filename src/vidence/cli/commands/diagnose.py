"""Why the score is what it is: MRFS, frame shares, modality, budgets, ..."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.catalog import names, options_of, parse_spec, settings_type
from vidence.cli.plan_flags import FOR_DIAGNOSES, flag_of, plan_option, with_columns
from vidence.console.files import screen, write_asked
from vidence.console.options import (
    NOT_ALL,
    PATH,
    json_option,
    on_option,
    pairs,
    progress_option,
    trust_option,
)
from vidence.console.screen import Screen, say, several
from vidence.engine.display import watched
from vidence.engine.environment import environment, now
from vidence.engine.plan import PLAN_FILE, Plan, PlanOverrides, read_plan
from vidence.engine.prepare import default_folder, make_plan
from vidence.engine.trust import begun, taken_up
from vidence.errors import UsageError
from vidence.text import sentence

if TYPE_CHECKING:
    from vidence.contracts import Diagnostic
    from vidence.engine.diagnose import Account

SECTION = "Explain"


class _WithOptions(click.Command):
    """A command whose help, behind the name of a diagnostic, lists the options of that one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words: the help is written before they are read."""
        ctx.meta[__name__] = tuple(args)
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of the diagnostic that is named, or how to see them."""
        named = [word.partition("?")[0] for word in ctx.meta.get(__name__, ())]
        found = next((word for word in named if word in names("diagnostic")), None)
        if found is None:
            formatter.write_paragraph()
            formatter.write_text(f"Diagnostics are {', '.join(names('diagnostic'))}.")
            formatter.write_text("vidence diagnose NAME --help lists the options of one of them.")
            return
        settings = settings_type("diagnostic", found)
        with formatter.section(f"Options of {found}, for --set KEY=VALUE or {found}?KEY=VALUE"):
            formatter.write_dl(
                [
                    (
                        one.name,
                        f"{one.help}: {one.kind} "
                        f"({'must be given' if one.default is None else f'default {one.default}'})",
                    )
                    for one in (options_of(settings) if settings else ())
                ]
                or [("none", "")]
            )


@click.command(cls=_WithOptions)
@click.argument("named", metavar="NAME")  # --name is what the run is called
@click.argument("what")
@click.option(
    "--data",
    type=PATH,
    help="File or folder of the questions (default: what vidence get fetched).",
)
@click.option("--model", help="provider:name?key=value, for example openai:gpt-4.1.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="An option of the diagnostic; repeatable."
)
@plan_option(only=FOR_DIAGNOSES)
@click.option("--replay-columns", metavar="id=…,text=…", help="With replay: the columns of the file.")
@click.option("--out", type=PATH, help="Run folder (default: runs/ and a name).")
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@json_option
@trust_option
@click.option("--page/--no-page", default=True, help="Write a page beside the findings.")
@on_option
@progress_option
def diagnose(
    *,
    named: str,
    what: str,
    data: Path | None,
    model: str | None,
    settings: tuple[str, ...],
    replay_columns: str | None,
    out: Path | None,
    level: float,
    json_path: Path | None,
    trust: bool,
    page: bool,
    on: str | None,
    progress: str,
    overrides: PlanOverrides,
) -> int:
    """Find out with the diagnostic NAME why a score is what it is; ``NAME?key=value`` sets an option.

    WHAT is a run folder, whose plan is taken but for what an option of the diagnostic says (mrfs: its own
    number of frames), or a benchmark (then with --model, as for `vidence run`). Findings are kept
    in the folder, question by question; the same command goes on.
    """
    from vidence.engine.diagnose import open_diagnostic

    spec = parse_spec(named)
    options = dict(spec.options) | pairs(settings, "--set")
    diagnostic = open_diagnostic(spec.name, options)
    if (Path(what) / PLAN_FILE).exists():
        folder = Path(what)
        given = sorted(overrides)
        if data or model or out or given:
            raise UsageError(
                f"{what} is a run folder, and its plan says what is asked; leave out "
                f"{', '.join(map(flag_of, given)) or '--data, --model, --out and --where'}"
            )
        plan = taken_up(folder, environment=environment(), is_trusted=trust)
    else:
        if model is None:
            raise UsageError(f"{what!r} is no run folder; for a benchmark give --model")
        asked = with_columns(model, replay_columns) if replay_columns else model
        plan = make_plan(what, data=data, model=asked, overrides=overrides)
        folder = out if out is not None else default_folder(plan)
        begun(plan, folder=folder, environment=environment())
    account = examined(diagnostic, plan, folder, options=options, progress=progress, on=on)
    _say(diagnostic, folder, options=options, level=level, json_path=json_path, with_page=page)
    return NOT_ALL if account.n_failed or read_plan(folder)[1].problems else 0


def examined(
    diagnostic: "Diagnostic",
    plan: Plan,
    folder: Path,
    *,
    options: Mapping[str, str],
    progress: str = "auto",
    on: str | None = None,
) -> "Account":
    """Examine what is left, and say what was done. `progress` is one of `cli.progress.MODES`."""
    from vidence.engine.diagnose import diagnose as examine

    console, place = Screen(stderr=True), environment(on=on)
    say(console, (diagnostic.name, "bold"), f" · {plan.model} · {folder}")
    account = watched(
        lambda listen: examine(
            diagnostic, plan, folder, options=options, environment=place, now=now(), on_event=listen
        ),
        console,
        doing="examining",
        what=f"the examination in {folder}",
        kept="every finding is kept",
        progress=progress,
    )
    money = f", ${account.cost:.4f}" if account.cost else ""
    say(
        console,
        f"{several(account.n_examined, 'question')} examined, {account.n_before} were before; "
        f"{several(account.n_asked, 'reply', many='replies')} asked for, {account.n_remembered} out of the "
        f"memory{money}; videos read "
        + several(account.decoding.n_passes + account.decoding.n_scoring_passes, "time"),
    )
    if account.n_failed:
        failed = f"{several(account.n_failed, 'question')} failed"
        say(console, (failed, "red"), f": {sentence(str(account.failures))} The same command asks again")
    return account


def _say(
    diagnostic: "Diagnostic",
    folder: Path,
    *,
    options: dict[str, str],
    level: float,
    json_path: Path | None,
    with_page: bool,
) -> None:
    from vidence.report.diagnosis import load_diagnosed, write_diagnosed_json, write_diagnosed_page
    from vidence.tables.charts import table_of
    from vidence.tables.terminal import plain, print_table

    diagnosed = load_diagnosed(diagnostic, folder, options=options, level=level)
    write_asked((json_path, lambda file: write_diagnosed_json(diagnosed, file)))
    if with_page:
        diagnosed.path.parent.mkdir(exist_ok=True)
        write_diagnosed_page(diagnosed, diagnosed.path)
        click.echo(f"wrote {diagnosed.path}", err=True)
    console = screen(json_path)
    for said in diagnosed.sentences:
        console.print(plain(said))
    for statement in diagnosed.statements:
        print_table(table_of(statement), console)
