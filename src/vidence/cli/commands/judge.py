"""Judge the stored replies of a run again, without asking the model."""

from pathlib import Path
from typing import Annotated

import msgspec

from vidence.ask.models.prices import needs_prices
from vidence.cli.asking import Ending, say_summary
from vidence.console.flags import NOT_ALL, TRUST, argument, command
from vidence.console.screen import Screen, say
from vidence.engine.display import watched
from vidence.engine.environment import environment
from vidence.engine.plan import PLAN_FILE, Plan, PlanOverrides, plan_part, read_plan
from vidence.engine.prepare import changed_plan
from vidence.engine.trust import check, needs_of_memory, needs_of_parsers, needs_of_spec, remember
from vidence.errors import UsageError
from vidence.records import Record
from vidence.text import sentence

GROUP = "replies"


_FIELDS = (
    *("judge", "judge_models", "judge_prompts_dir", "extract_with"),
    *("max_cost", "concurrency", "patience_s", "batch"),
)
_SETTINGS = ("judge_panel", "judge_price_in", "judge_price_out", "batch_poll_s")


class Judge(Record):
    """The run to judge, and its judges."""

    folder: Annotated[Path, argument()]
    overrides: Annotated[PlanOverrides, plan_part(only=_FIELDS, settings=_SETTINGS)]
    trust: Annotated[bool, TRUST] = False
    ending: Ending


@command()
def judge(given: Judge) -> int:
    """Judge the replies stored in FOLDER; the model that answered is not asked again.

    Verdicts of earlier judges stay in run.sqlite; the latest counts. A reply for which the judge gives no
    verdict keeps its earlier score; run the command again to ask about these alone.
    """
    from vidence.cli.commands.report import show_run
    from vidence.engine.judges import judge_run

    folder, ending = given.folder, given.ending
    place = environment(on=ending.on)
    plan, _ = read_plan(folder)
    # Of the file only its reply memory and its parsers are used: who answers is not asked, who judges is
    # named here.
    kept = (*needs_of_memory(plan, folder=folder, environment=place), *needs_of_parsers(plan))
    check(kept, source=folder / PLAN_FILE, environment=place, is_trusted=given.trust)
    plan = _changed(plan, given.overrides)
    remember((need for spec in plan.judge_models for need in needs_of_spec("model", spec)), environment=place)
    console = Screen(stderr=True)
    say(console, (plan.judge, "bold"), f" · {', '.join(plan.judge_models)} · {folder}")
    summary = watched(
        lambda listen: judge_run(plan, folder, environment=place, on_event=listen),
        console,
        doing="judging",
        what=f"the judging in {folder}",
        kept="every verdict so far is kept",
        progress=ending.progress,
    )
    show_run(folder, page=folder / "report.html" if ending.page else None, json_path=ending.json_path)
    n_failed, why = summary.n_failed, sentence(str(summary.failures))
    # Of the replies, which are not asked for again; what failed are verdicts, for which `resume` asks nobody.
    summary.n_cut = summary.n_failed = 0
    say_summary(summary, folder, console)
    if n_failed:
        say(console, why)
    return NOT_ALL if n_failed or summary.n_scores_kept else 0


def _changed(plan: Plan, given: PlanOverrides) -> Plan:
    """Return a plan with another judge.

    Raises:
        UsageError: a flag that changes nothing, a limit of money without prices, or no judge.
    """
    models = given.get("judge_models") or ()
    if not models:
        raise UsageError("no judge given; use --judge-model SPEC, or --extract-with SPEC for choices alone")
    if "judge_panel" in given and len(models) < 2:
        raise UsageError("judge_panel decides between several judges; repeat --judge-model or leave it out")
    # A judge with prompts or prices of its own keeps none of the judge before, and batches were of answers.
    before: PlanOverrides = {"judge_prompts_dir": None, "max_cost": None, "batch": False}
    if plan.judge_models != models:
        before |= {"judge_price_in": 0.0, "judge_price_out": 0.0}
    plan = msgspec.structs.replace(plan, **before)
    limit = given.get("max_cost")
    unlimited: PlanOverrides = {**given, "max_cost": None}
    changed = changed_plan(plan, overrides=unlimited)
    if limit is not None and changed.judge_prices is None:
        how = "--set judge_price_in=N and --set judge_price_out=N"
        raise UsageError(needs_prices(models, how=how))
    return msgspec.structs.replace(changed, max_cost=limit)
