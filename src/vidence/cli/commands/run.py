"""Run a model on a benchmark."""

from pathlib import Path
from typing import Annotated

import click
from rich.console import Console

from vidence.cli.asking import Ending, estimated, go
from vidence.console.flags import TRUST, argument, command, flag, names_of
from vidence.console.screen import say
from vidence.engine.environment import environment
from vidence.engine.plan import MUST_AGREE, Plan, PlanOverrides, plan_part, read_plan, read_source
from vidence.engine.prepare import changed_plan, default_folder, make_plan, new_folder
from vidence.engine.specs import differing
from vidence.engine.trust import begun, repeated
from vidence.records import Record

SECTION = "Start here"
ORDER = 4


_ALL = "--all"
# The parts of the help, each by the field of the flag that it begins, or goes on, with.
_PARTS = {
    "data": "Benchmark and model",
    "selector": "Frames and prompts",
    "parser": "Reading and judging replies",
    "shuffle_choices": "Which questions, and how often",
    "concurrency": "Pace, money, and when to stop",
    "temperature": "Frames and prompts",
    "extract_with": "Reading and judging replies",
    "settings": "The run",
}


_FIRST = (
    "data",
    "model",
    "media",
    "frames",
    "selector",
    "judge_models",
    "limit",
    "max_cost",
    "out",
    "dry_run",
)
"""Fields whose flags ``--help`` lists without ``--all``."""


class _RunCommand(click.Command):
    """``--help`` shows ten flags, ``--help --all`` every flag; ``--plan`` replaces BENCHMARK and --model."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the flags in groups."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        title, parts = "The flags that most runs need", dict[str, list[tuple[str, str]]]()
        is_short = _ALL not in ctx.meta
        if is_short:
            known = {option.name: option for option in options}
            options = [*(known[name] for name in _FIRST), options[-1]]  # that of the help
        for option in options:
            title = title if is_short else _PARTS.get(option.name or "", title)
            if record := option.get_help_record(ctx):
                parts.setdefault(title, []).append(record)
        if is_short:
            parts[title].append((_ALL, "With --help: show all flags, by topic."))
        for title, flags in parts.items():
            with formatter.section(title):
                formatter.write_dl(flags, col_max=24)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if _ALL in args and {"-h", "--help"} & set(args):
            ctx.meta[_ALL] = True
            args = ["--help"]
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:  # where a shell completes a word, others may be missing
            self._check(ctx)
        return rest

    def _check(self, ctx: click.Context) -> None:
        """Reject missing or repeated benchmarks and models."""
        needed = [p for p in self.params if p.name in {"benchmark", "model"}]
        if ctx.params.get("study_path") is not None:
            needed = [p for p in needed if p.name == "model"]
            if ctx.params.get("benchmark") or ctx.params.get("data") or ctx.params.get("plan_path"):
                raise click.UsageError(
                    "--study names the questions; leave BENCHMARK, --data and --plan out.", ctx=ctx
                )
        if ctx.params.get("plan_path") is None:
            for parameter in needed:
                if ctx.params.get(parameter.name or "") is None:
                    raise click.MissingParameter(ctx=ctx, param=parameter)
            if ctx.params.get("phase") and ctx.params.get("study_path") is None:
                raise click.UsageError("--phase goes with --study.", ctx=ctx)
            if ctx.params.get("trust"):
                raise click.UsageError("--trust goes with --plan: flags that you type need none.", ctx=ctx)
        elif ctx.params.get("benchmark") is not None:
            raise click.UsageError("--plan names the benchmark; leave BENCHMARK out.", ctx=ctx)


class Run(Record):
    """The benchmark, the model, and the run folder."""

    benchmark: Annotated[str | None, argument("BENCHMARK", **names_of("benchmark"))] = None
    data: Annotated[
        Path | None,
        flag(
            "File or folder of the questions, or hf:OWNER/NAME@REVISION (default: what vidence get fetched)."
        ),
    ] = None
    model: Annotated[
        str | None, flag("provider:name?key=value, for example openai:gpt-4.1.", **names_of("model"))
    ] = None
    plan_path: Annotated[
        Path | None,
        flag(
            "Repeat the plan of a run (plan.toml or its folder) in a new folder; other flags change it.",
            "--plan",
        ),
    ] = None
    study_path: Annotated[
        Path | None,
        flag(
            "Ask the questions drawn for this study, as its people are asked; a study.toml or its folder.",
            "--study",
        ),
    ] = None
    phase: Annotated[str, flag("With --study: the phase to follow (default: the first).")] = ""
    overrides: Annotated[PlanOverrides, plan_part(settings=())]
    out: Annotated[Path | None, flag("Run folder (default: a new name in runs/).")] = None
    trust: Annotated[bool, TRUST] = False
    dry_run: Annotated[bool, flag("Estimate requests, tokens, dollars and hours; ask nothing.")] = False
    ending: Ending


@command(cls=_RunCommand)
def run(given: Run) -> int:
    """Run a model on BENCHMARK and report the score.

    Defaults come from the protocol of the benchmark. Run the same command again to resume; stored replies
    are reused.
    """
    if given.plan_path is not None:
        return _repeat(given.plan_path, given)
    plan = _plan(given)
    if given.dry_run:
        return estimated(plan, given.ending)
    folder = given.out or default_folder(plan)
    begun(plan, folder=folder, environment=environment())
    return go(plan, folder, given.ending)


def _plan(given: Run) -> Plan:
    """Return the plan for a benchmark, or for a study's draw."""
    if given.study_path is None:
        return make_plan(
            str(given.benchmark), data=given.data, model=str(given.model), overrides=given.overrides
        )
    from vidence.study.running import model_plan
    from vidence.study.study import read_study

    return model_plan(
        read_study(given.study_path), model=str(given.model), phase=given.phase, overrides=given.overrides
    )


def _repeat(path: Path, given: Run) -> int:
    """Run the plan in a file; if it is unchanged, say what has changed since its own run."""
    source, written, facts = read_source(path)
    plan = changed_plan(written, data=given.data, model=given.model, overrides=given.overrides)
    folder = given.out or new_folder(plan)
    repeated(plan, written, source=source, folder=folder, environment=environment(), is_trusted=given.trust)
    if given.dry_run:
        return estimated(plan, given.ending)
    code = go(plan, folder, given.ending)
    if facts is not None and not differing(written, plan):
        since = read_plan(folder)[1]
        for name, what in MUST_AGREE.items():
            if getattr(facts, name) != getattr(since, name):
                say(Console(stderr=True), ("not the same: ", "yellow"), f"{what} since {source} was written")
    return code
