"""Put a benchmark to a model."""

from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from vidence.cli.asking import Ending, ending_options, go
from vidence.cli.plan_flags import plan_option, with_columns
from vidence.console.options import PATH, trust_option
from vidence.console.screen import say
from vidence.engine.environment import environment
from vidence.engine.plan import MUST_AGREE, PlanOverrides, read_plan, read_source
from vidence.engine.prepare import changed_plan, default_folder, make_plan, new_folder
from vidence.engine.specs import differing
from vidence.engine.trust import begun, repeated

SECTION = "Ask"


class _RunCommand(click.Command):
    """``--plan`` says what would have to be given otherwise."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if ctx.resilient_parsing:  # a shell completes a word
            return rest
        needed = [p for p in self.params if p.name in {"benchmark", "model"}]
        if ctx.params.get("plan_path") is None:
            for parameter in needed:
                if ctx.params.get(parameter.name or "") is None:
                    raise click.MissingParameter(ctx=ctx, param=parameter)
            if ctx.params.get("trust"):
                raise click.UsageError(
                    "--trust goes with --plan: what you type yourself needs none.", ctx=ctx
                )
        elif ctx.params.get("benchmark") is not None:
            raise click.UsageError("--plan names the benchmark; leave BENCHMARK out.", ctx=ctx)
        return rest


@click.command(cls=_RunCommand)
@click.argument("benchmark", required=False, metavar="BENCHMARK")
@click.option(
    "--data",
    type=PATH,
    help="File or folder of the questions, or hf:OWNER/NAME@REVISION (default: what vidence get fetched).",
)
@click.option("--model", help="provider:name?key=value, for example openai:gpt-4.1.")
@click.option(
    "--plan",
    "plan_path",
    type=PATH,
    help="Repeat the plan of a run, plan.toml or its folder, in a new folder; other flags change it.",
)
@plan_option(has_settings=True)
@click.option(
    "--replay-columns", metavar="id=…,text=…", help="With replay: the columns of the recorded file."
)
@click.option("--out", type=PATH, help="Run folder (default: runs/ and a name of its own).")
@trust_option
@ending_options
def run(
    *,
    benchmark: str | None,
    data: Path | None,
    model: str | None,
    plan_path: Path | None,
    replay_columns: str | None,
    out: Path | None,
    trust: bool,
    ending: Ending,
    overrides: PlanOverrides,
) -> int:
    """Put BENCHMARK to a model and report the score.

    What a flag does not say, the benchmark's own protocol does. The same command again goes on with
    the same run; nothing is asked twice.
    """
    spec = with_columns(model, replay_columns) if replay_columns and model else model
    if plan_path is not None:
        changes = _Changes(data=data, model=spec, overrides=overrides)
        return _repeat(plan_path, changes, out=out, trust=trust, ending=ending)
    plan = make_plan(str(benchmark), data=data, model=str(spec), overrides=overrides)
    folder = out if out is not None else default_folder(plan)
    begun(plan, folder=folder, environment=environment())
    return go(plan, folder, ending)


@dataclass(frozen=True, kw_only=True)
class _Changes:
    """What the command line changes of a plan."""

    data: Path | None
    model: str | None
    overrides: PlanOverrides


def _repeat(path: Path, changes: _Changes, *, out: Path | None, trust: bool, ending: Ending) -> int:
    """Run the plan of a file; where it is the same, say what has changed since its own run."""
    source, written, facts = read_source(path)
    plan = changed_plan(written, data=changes.data, model=changes.model, overrides=changes.overrides)
    folder = out if out is not None else new_folder(plan)
    repeated(plan, written, source=source, folder=folder, environment=environment(), is_trusted=trust)
    code = go(plan, folder, ending)
    if facts is not None and not differing(written, plan):
        since = read_plan(folder)[1]
        for name, what in MUST_AGREE.items():
            if getattr(facts, name) != getattr(since, name):
                say(Console(stderr=True), ("not the same: ", "yellow"), f"{what} since {source} was written")
    return code
