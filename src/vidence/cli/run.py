"""``vidence run`` and ``vidence resume``."""

import gc
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from vidence.cli.console import Screen, say, several, show_licence, trust_option, watched
from vidence.cli.outputs import PATH, Option, json_option, together
from vidence.cli.progress import on_option, progress_option
from vidence.engine.environment import environment, now
from vidence.engine.evaluate import Summary
from vidence.engine.limits import duration_s
from vidence.engine.plan import MUST_AGREE, Plan, plan_flags, read_plan, read_source
from vidence.engine.prepare import changed_plan, default_folder, make_plan, new_folder
from vidence.engine.specs import differing
from vidence.engine.trust import begun, repeated, taken_up
from vidence.errors import UsageError
from vidence.text import sentence

NOT_ALL = 3  # questions failed, or were left out when they were read
F = TypeVar("F", bound=Callable[..., Any])


def flag_of(field: str) -> str:
    """The flag that sets a field of the plan.

    >>> flag_of("prompts_dir")
    '--prompts'
    """
    return next((one.flag.partition("/")[0] for one in plan_flags() if one.field == field), f"--{field}")


def where_option(what: str) -> Option:
    """``--where``, for only so much of what a command is about."""
    return click.option(
        "--where",
        multiple=True,
        metavar="TAG=VALUE",
        callback=lambda context, flag, texts: pairs(texts, "--where"),
        help=f"Only {what}; repeatable.",
    )


def with_plan_flags(function: F, *, without: Container[str] = ()) -> F:
    """Give a command the flags of a plan, but for some fields, and ``--where``."""
    function = click.option("--retries", type=int, hidden=True)(function)  # see make_plan
    function = where_option("questions with this tag")(function)
    for one in reversed(plan_flags()):
        if one.field in without:
            continue
        settings: dict[str, Any] = {"help": one.help, "default": None, **one.click}
        if one.kind is bool:
            settings["is_flag"] = True
        elif one.kind is tuple:
            settings["multiple"] = True
        elif isinstance(settings.get("type"), tuple):
            settings["type"] = click.Choice(settings["type"])
        elif "type" not in settings:
            settings["type"] = one.kind
        function = click.option(one.flag, one.field, **settings)(function)
    return function


@dataclass(frozen=True, kw_only=True)
class Ending:
    """Where a run is done, how it is shown while it goes on, and what is written when it has ended."""

    page: bool
    json_path: Path | None
    progress: str
    on: str | None


_ending = together(
    "ending",
    Ending,
    click.option("--page/--no-page", default=True, help="Write report.html at the end."),
    json_option,
    on_option,
    progress_option,
)


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
@with_plan_flags
@click.option(
    "--replay-columns", metavar="id=…,text=…", help="With replay: the columns of the recorded file."
)
@click.option("--out", type=PATH, help="Run folder (default: runs/ and a name of its own).")
@trust_option
@_ending
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
    **overrides: object,
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
    overrides: Mapping[str, object]


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


def patience_option(default: str | None = None) -> Callable[[F], F]:
    """Give a command ``--patience``; without a default that of the plan holds."""
    return click.option(
        "--patience",
        "patience_s",
        type=duration_s,
        metavar="DURATION",
        default=default,
        show_default=default is not None,
        help="How long to sit out a server that answers nobody: 90s, 15m, 1h.",
    )


@click.command()
@click.argument("folder", type=PATH)
@click.option("--max-cost", type=float, help="A new limit, in US dollars for this session.")
@click.option("--concurrency", type=int, help="Requests in flight at most.")
@patience_option()
@click.option("--name", help="What tables and figures call the run from now on.")
@trust_option
@_ending
def resume(*, folder: Path, trust: bool, ending: Ending, **changes: object) -> int:
    """Take the run in FOLDER up where it stopped; failed questions are asked again."""
    import msgspec

    plan = taken_up(folder, environment=environment(), is_trusted=trust)
    plan = msgspec.structs.replace(plan, **{k: v for k, v in changes.items() if v is not None})
    return go(plan, folder, ending)


def pairs(texts: Sequence[str], flag: str) -> dict[str, str]:
    """What ``KEY=VALUE`` texts say; each key once."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"{flag} {text!r} is not KEY=VALUE")
        if key in found:
            raise UsageError(f"{flag} names {key!r} twice; give each one once")
        found[key] = value
    return found


def with_columns(model: str, columns: str) -> str:
    """The spec of recorded replies with the columns of its file."""
    if not model.startswith("replay:"):
        raise UsageError(f"--replay-columns goes with replay:FILE, not with {model!r}")
    found = pairs(columns.split(","), "--replay-columns")
    return model + ("&" if "?" in model else "?") + "&".join(f"{k}={v}" for k, v in found.items())


def go(plan: Plan, folder: Path, ending: Ending) -> int:
    """Run a plan in a folder, with its page and tables at the end; the exit code."""
    console = Screen(stderr=True)
    again = f"vidence resume {folder}"
    summary = asked(plan, folder, console, again=again, progress=ending.progress, on=ending.on)
    page_path = folder / "report.html"
    if summary.n_tried == 0 and ending.json_path is None and (page_path.exists() or not ending.page):
        say(console, f"nothing is left to ask; see vidence report {folder}")
        _say_left_out(summary, console)
        return NOT_ALL if summary.n_left_out else 0
    from vidence.cli.report import show_run

    show_run(folder, page=page_path if ending.page else None, json_path=ending.json_path)
    say_summary(summary, folder, console, max_tokens=plan.sampling.max_tokens)
    return NOT_ALL if summary.n_failed or summary.n_left_out else 0


def asked(
    plan: Plan, folder: Path, console: Console, *, again: str, progress: str = "auto", on: str | None = None
) -> Summary:
    """Ask what is left of a plan in a folder, and have the run keep its line; `again` goes on with it."""
    from vidence.engine.evaluate import run as evaluate
    from vidence.report.run_list import keep_line

    place = environment(on=on)
    show_licence(plan.benchmark, console, cache_root=place.cache_root)
    say(console, (plan.benchmark, "bold"), f" · {plan.model} · {folder}")
    summary = watched(
        lambda listen: evaluate(plan, folder, environment=place, now=now(), on_event=listen),
        console,
        doing="asking",
        what=f"the run in {folder}",
        kept="what was answered is kept",
        again=again,
        progress=progress,
    )
    gc.collect()  # questions of the run and replies of its model are in cycles; what follows reads anew
    keep_line(folder)
    return summary


def say_summary(summary: Summary, folder: Path, console: Console, *, max_tokens: int | None = None) -> None:
    """What a session did, in a few lines; `max_tokens` is the limit of a reply."""
    if summary.n_answered_before:
        say(console, f"{summary.n_answered_before} of {summary.n_planned} were answered before")
    if summary.n_remembered:
        say(console, several(summary.n_remembered, "reply", many="replies"), " came from the memory")
    decoding = summary.decoding
    if decoding.n_passes:
        times = several(decoding.n_passes, "time")
        say(console, f"videos read {times}, {several(decoding.n_decoded, 'frame')} decoded")
    if summary.input_tokens or summary.output_tokens:
        money = f", ${summary.cost:.4f}" if summary.cost else ""
        say(console, f"{summary.input_tokens} tokens read, {summary.output_tokens} written{money}")
    if summary.judge_input_tokens or summary.judge_output_tokens:
        read, wrote = summary.judge_input_tokens, summary.judge_output_tokens
        say(console, f"the judges read {read} tokens and wrote {wrote}")
    _say_judged(summary, folder, console)
    if summary.n_failed:
        failed = f"{several(summary.n_failed, 'question')} failed"
        why = f", which counts as wrong: {sentence(str(summary.failures))}"
        say(console, (failed, "red"), f"{why} Ask again with: vidence resume {folder}")
    if summary.n_cut:
        cut = f"{summary.n_cut:,} of {several(summary.n_tried, 'reply', many='replies')} cut off"
        limit = "of the server" if max_tokens is None else f"of {max_tokens:,} tokens"
        say(console, (cut, "yellow"), f" at the limit {limit}; --max-tokens sets a higher one")
    _say_left_out(summary, console)


def _say_judged(summary: Summary, folder: Path, console: Console) -> None:
    """What judges did not decide, and how to ask them again."""
    if summary.n_judge_errors:
        n = several(summary.n_judge_errors, "reply", many="replies")
        say(console, (f"{n} got no usable verdict", "red"), ": counted as wrong, listed as judge errors")
    if summary.n_scores_kept:
        n = several(summary.n_scores_kept, "reply", many="replies")
        say(console, (f"{n} got no new verdict", "red"), ": what they had before stays and counts")
    if summary.n_judge_errors or summary.n_scores_kept:
        say(console, f"Ask about these alone with: vidence judge {folder} --judge-model (the same)")
    if summary.n_undecided:
        n = several(summary.n_undecided, "reply", many="replies")
        say(console, f"{n} left the judges undecided: listed apart, and counted as wrong unless left open")


def _say_left_out(summary: Summary, console: Console) -> None:
    if n := summary.n_left_out:
        lines = f"{several(n, 'line')} of the questions left out"
        say(console, (lines, "red"), ": no usable question is there. --strict stops at the first")
