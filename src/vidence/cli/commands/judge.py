"""Judge the stored replies of a run; the evaluated model is not asked again."""

from collections.abc import Mapping
from pathlib import Path

import click

from vidence.ask.judging.panel import PANEL_RULES
from vidence.cli.asking import say_summary
from vidence.cli.plan_flags import patience_option
from vidence.console.options import NOT_ALL, PATH, json_option, on_option, progress_option, trust_option
from vidence.console.screen import Screen, say
from vidence.engine.display import watched
from vidence.engine.environment import environment
from vidence.engine.plan import PLAN_FILE, Plan, read_plan
from vidence.engine.trust import check, needs_of_memory, needs_of_parsers, needs_of_spec, remember
from vidence.errors import UsageError
from vidence.text import sentence

SECTION = "Ask"


@click.command()
@click.argument("folder", type=PATH)
@click.option("--judge", help="The judge's protocol (default: the one in the plan).")
@click.option(
    "--judge-model", "judge_models", multiple=True, required=True, help="Who judges; several are a panel."
)
@click.option("--judge-panel", type=click.Choice(PANEL_RULES), help="What counts where several differ.")
@click.option("--judge-prompts", "judge_prompts_dir", help="Folder with templates of your own.")
@click.option("--judge-price-in", type=float, help="US dollars per million tokens read.")
@click.option("--judge-price-out", type=float, help="US dollars per million tokens written.")
@click.option(
    "--max-cost", type=float, help="Stop when a session has spent this many US dollars; needs prices."
)
@click.option("--concurrency", type=int, help="Requests in flight at most.")
@patience_option()
@trust_option
@click.option("--page/--no-page", default=True, help="Write report.html at the end.")
@on_option
@json_option
@progress_option
def judge(
    *,
    folder: Path,
    trust: bool,
    page: bool,
    on: str | None,
    json_path: Path | None,
    progress: str,
    judge_models: tuple[str, ...],
    **overrides: object,
) -> int:
    """Judge the replies stored in FOLDER; the model that answered is not asked again.

    The folder then carries this judge. Verdicts of another judge stay in run.sqlite, and the last count.
    Where the judge gives no verdict, the mark from before stays; the same command asks about these alone.
    """
    import msgspec

    from vidence.engine.judge import judge_run
    from vidence.engine.specs import check_fields, with_whole_paths

    place = environment(on=on)
    plan, _ = read_plan(folder)
    # Of the file only its reply memory and its parsers are used: who answers is not asked, who judges is
    # named here.
    kept = (*needs_of_memory(plan, folder=folder, environment=place), *needs_of_parsers(plan))
    check(kept, source=folder / PLAN_FILE, environment=place, is_trusted=trust)
    changed = _changed(plan, judge_models, overrides)
    check_fields(changed)
    try:
        plan = with_whole_paths(msgspec.convert(changed, type(plan)))
    except msgspec.ValidationError as error:
        raise UsageError(f"these settings make no plan: {error}") from error
    remember((need for spec in plan.judge_models for need in needs_of_spec("model", spec)), environment=place)
    console = Screen(stderr=True)
    say(console, (plan.judge, "bold"), f" · {', '.join(plan.judge_models)} · {folder}")
    summary = watched(
        lambda listen: judge_run(plan, folder, environment=place, on_event=listen),
        console,
        doing="judging",
        what=f"the judging in {folder}",
        kept="every verdict so far is kept",
        progress=progress,
    )
    from vidence.cli.commands.report import show_run
    from vidence.report.run_list import keep_line

    keep_line(folder)
    show_run(folder, page=folder / "report.html" if page else None, json_path=json_path)
    n_failed, why = summary.n_failed, sentence(str(summary.failures))
    # Of the replies, which are not asked for anew; what failed are verdicts, for which `resume` asks nobody.
    summary.n_cut = summary.n_failed = 0
    say_summary(summary, folder, console)
    if n_failed:
        say(console, why)
    return NOT_ALL if n_failed or summary.n_scores_kept else 0


def _changed(plan: Plan, judge_models: tuple[str, ...], overrides: Mapping[str, object]) -> dict[str, object]:
    """The fields of a plan with another judge.

    Raises:
        UsageError: a flag that changes nothing, or a limit of money without prices.
    """
    import msgspec

    given = {"judge_models": judge_models} | {k: v for k, v in overrides.items() if v is not None}
    if "judge_panel" in given and len(judge_models) < 2:
        raise UsageError(
            "--judge-panel says what counts where several judges differ; name several with --judge-model, or "
            "leave it out"
        )
    if given.get("judge_prompts_dir"):
        given["judge_prompts_dir"] = str(Path(str(given["judge_prompts_dir"])).resolve())
    # A judge with prompts or prices of its own keeps none of the judge before.
    reset: dict[str, object] = {"judge_prompts_dir": None, "max_cost": None}
    if plan.judge_models != judge_models:
        reset |= {"judge_price_in": 0.0, "judge_price_out": 0.0}
    changed: dict[str, object] = msgspec.to_builtins(plan) | reset | given
    if changed["max_cost"] is not None and not (changed["judge_price_in"] or changed["judge_price_out"]):
        raise UsageError("--max-cost needs prices: give --judge-price-in and --judge-price-out")
    return changed
