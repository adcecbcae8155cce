"""Explain a score: MRFS, frame shares, modality, budgets, ..."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import msgspec

from vidence.catalog import names, options_of, parse_spec, settings_type
from vidence.cli.asking import Ending
from vidence.console.files import screen, write_asked
from vidence.console.flags import LEVEL, NOT_ALL, TRUST, argument, command, flag, names_of
from vidence.console.screen import Screen, say, several
from vidence.engine.display import watched
from vidence.engine.environment import environment, now
from vidence.engine.plan import PLAN_FILE, Plan, PlanOverrides, flag_of, plan_part, read_plan
from vidence.engine.prepare import default_folder, make_plan
from vidence.engine.trust import begun, taken_up
from vidence.errors import UsageError
from vidence.records import Record
from vidence.text import sentence

if TYPE_CHECKING:
    from vidence.contracts import Diagnostic
    from vidence.engine.diagnose import Account

SECTION = "Start here"
ORDER = 8


class _WithOptions(click.Command):
    """A command whose help, after a diagnostic's name, lists that diagnostic's options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments, because help is printed before they are parsed."""
        ctx.meta[__name__] = tuple(args)
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the named diagnostic's options, or how to see them."""
        named = [word.partition("?")[0] for word in ctx.meta.get(__name__, ())]
        value = next((word for word in named if word in names("diagnostic")), None)
        if value is None:
            formatter.write_paragraph()
            formatter.write_text(f"Diagnostics are {', '.join(names('diagnostic'))}.")
            formatter.write_text("vidence diagnose NAME --help lists the options of one of them.")
            return
        settings = settings_type("diagnostic", value)
        with formatter.section(f"Options of {value}, for --set KEY=VALUE or {value}?KEY=VALUE"):
            formatter.write_dl(
                [
                    (
                        option.name,
                        f"{option.help}: {option.kind} "
                        f"({'must be given' if option.default is None else f'default {option.default}'})",
                    )
                    for option in (options_of(settings) if settings else ())
                ]
                or [("none", "")]
            )


_FIELDS = frozenset(
    (
        *("media", "map", "split", "protocol", "selector", "frames", "size", "judge_models", "where"),
        *("limit", "allow_missing", "concurrency", "patience_s", "max_cost", "price_in", "price_out"),
        *("temperature", "max_tokens", "choice_logps"),
    )
)
"""Plan fields that have a flag here."""


class Diagnose(Record):
    """The diagnostic, and what to examine."""

    named: Annotated[str, argument("NAME", **names_of("diagnostic"))]  # --name is what the run is called
    what: Annotated[str, argument(**names_of("benchmark", or_file=True))]
    data: Annotated[
        Path | None, flag("File or folder of the questions (default: what vidence get fetched).")
    ] = None
    model: Annotated[
        str | None, flag("provider:name?key=value, for example openai:gpt-4.1.", **names_of("model"))
    ] = None
    settings: Annotated[dict[str, str], flag("An option of the diagnostic; repeatable.", "--set")] = (
        msgspec.field(default_factory=dict)
    )
    overrides: Annotated[PlanOverrides, plan_part(only=_FIELDS)]
    out: Annotated[Path | None, flag("Run folder (default: a new name in runs/).")] = None
    level: Annotated[float, LEVEL] = 0.95
    trust: Annotated[bool, TRUST] = False
    ending: Ending


@command(cls=_WithOptions)
def diagnose(given: Diagnose) -> int:
    """Explain a score with the diagnostic NAME; `NAME?key=value` sets an option.

    WHAT is a run folder or a benchmark (with --model, as for `vidence run`). The plan of the run is used
    except where the diagnostic overrides it (mrfs: its own number of frames). Findings are stored in the
    folder for each question; run the same command again to resume.
    """
    from vidence.engine.diagnose import open_diagnostic

    spec, ending = parse_spec(given.named), given.ending
    options = dict(spec.options) | given.settings
    diagnostic = open_diagnostic(spec.name, options)
    plan, folder = _plan(given)
    account = examined(diagnostic, plan, folder, options=options, progress=ending.progress, on=ending.on)
    _say(diagnostic, folder, options=options, given=given)
    return NOT_ALL if account.n_failed or read_plan(folder)[1].left_out else 0


def _plan(given: Diagnose) -> tuple[Plan, Path]:
    """Return the plan and folder of an existing or new run."""
    what = given.what
    if (Path(what) / PLAN_FILE).exists():
        if given.data or given.model or given.out or given.overrides:
            flags = ", ".join(map(flag_of, sorted(given.overrides))) or "--data, --model, --out and --where"
            raise UsageError(f"{what} is a run folder, and its plan says what is asked; leave out {flags}")
        return taken_up(Path(what), environment=environment(), is_trusted=given.trust), Path(what)
    if given.model is None:
        raise UsageError(f"{what!r} is not a run folder; for a benchmark give --model")
    plan = make_plan(what, data=given.data, model=given.model, overrides=given.overrides)
    folder = given.out or default_folder(plan)
    begun(plan, folder=folder, environment=environment())
    return plan, folder


def examined(
    diagnostic: "Diagnostic",
    plan: Plan,
    folder: Path,
    *,
    options: Mapping[str, str],
    progress: str = "auto",
    on: str | None = None,
) -> "Account":
    """Examine the remaining questions, and summarise. `progress` is one of `console.flags.MODES`."""
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
        f"{several(account.n_examined, 'question')} examined, {account.n_before} already done; "
        f"{several(account.n_asked, 'reply', many='replies')} requested, "
        f"{account.n_remembered} from memory{money}; videos read "
        + several(account.decoding.n_passes + account.decoding.n_scoring_passes, "time"),
    )
    if account.n_failed:
        failed = f"{several(account.n_failed, 'question')} failed"
        say(console, (failed, "red"), f": {sentence(str(account.failures))} The same command asks again")
    return account


def _say(diagnostic: "Diagnostic", folder: Path, *, options: dict[str, str], given: Diagnose) -> None:
    from vidence.report.diagnosis import load_diagnosed, write_diagnosed_json, write_diagnosed_page
    from vidence.tables.charts import table_of
    from vidence.tables.terminal import Sheet

    json_path = given.ending.json_path
    diagnosed = load_diagnosed(diagnostic, folder, options=options, level=given.level)
    write_asked((json_path, lambda file: write_diagnosed_json(diagnosed, file)))
    if given.ending.page:
        diagnosed.path.parent.mkdir(exist_ok=True)
        write_diagnosed_page(diagnosed, diagnosed.path)
        click.echo(f"wrote {diagnosed.path}", err=True)
    sheet = Sheet(screen(json_path))
    sheet.words(*diagnosed.sentences)
    for statement in diagnosed.statements:
        sheet.table(table_of(statement))
