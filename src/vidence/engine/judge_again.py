"""Judge the replies that a run has stored already; the model that answered is not asked again."""

from pathlib import Path

import anyio
import msgspec

from vidence.contracts import Judge, Model
from vidence.engine.drive import first_error
from vidence.engine.events import Listener, Started, Tried
from vidence.engine.marking import Panel, has_judge_error, marked
from vidence.engine.opening import (
    Surroundings,
    account,
    judge_specs,
    opened_bench,
    opened_memory,
    opened_models,
)
from vidence.engine.plan import Plan, read_plan, write_plan
from vidence.engine.prepare import judge_facts, open_judge, open_parser
from vidence.engine.session import Summary
from vidence.engine.store import TrialStore
from vidence.errors import BudgetSpentError, UsageError
from vidence.records import Failed, Item, Reply, Score, Trial


async def judge_run(plan: Plan, folder: Path, *, surroundings: Surroundings, on_event: Listener) -> Summary:
    """Put every stored reply of a run to the judge that `plan` names; the run then carries this judge.

    Trials that this judge and these models have marked before are left alone; those without a reply
    stay as they are. Nothing is removed: a trial that is judged is stored once more, and the last counts.

    Args:
        plan: the plan in the folder with `judge` and `judge_models` as they shall be.
        folder: the run.
        surroundings: where the reply memory is.
        on_event: told of every trial.

    Raises:
        UsageError: no judge model is named.
        StoreError: not a run folder, or another process works in it.
        VidenceError: the judges cannot go on; every verdict so far is kept.
    """
    if not plan.judge_models:
        raise UsageError(
            "no judge model is named; say --judge-model, for example --judge-model openai:gpt-4o"
        )
    _, facts = read_plan(folder)
    async with opened_models(judge_specs(plan)) as models:
        judge = open_judge(plan.judge, prompts_dir=plan.judge_prompts_dir)
        facts = msgspec.convert(msgspec.to_builtins(facts) | judge_facts(judge, models), type(facts))
        with TrialStore(folder, is_writer=True) as store:
            # Written first: whatever happens, the folder says by whom its verdicts are.
            write_plan(folder, plan, facts)
            return await _judge_all(
                plan, judge, models, store=store, surroundings=surroundings, on_event=on_event
            )


async def _judge_all(
    plan: Plan,
    judge: Judge,
    models: list[Model],
    *,
    store: TrialStore,
    surroundings: Surroundings,
    on_event: Listener,
) -> Summary:
    items = {item.item_id: item for item in store.items()}
    trials = list(store.trials())
    identities = tuple(m.identity for m in models)
    todo = [
        (trial, trial.reply)
        for trial in trials
        if trial.reply is not None and not _is_judged(trial.score, judge, identities)
    ]
    n_before = len(trials) - len(todo)
    on_event(Started(n_planned=len(trials), n_answered_before=n_before))
    summary = Summary(n_planned=len(trials), n_answered_before=n_before)
    spent: list[BudgetSpentError] = []
    with opened_memory(plan, surroundings) as memory:
        bench = opened_bench(plan, judge, models, memory=memory, beside=None, on_event=on_event)
        waiting = iter(todo)

        async def work() -> None:
            for trial, reply in waiting:
                item = items[trial.item_id]
                try:
                    judged = await _judged(plan, bench.panel, item, trial=trial, reply=reply)
                except BudgetSpentError as error:
                    spent.append(error)
                    return
                store.add(judged)
                summary.n_tried += 1
                summary.n_failed += isinstance(judged.score.outcome, Failed)
                summary.n_judge_errors += has_judge_error(judged.score)
                on_event(Tried(trial=judged, cost=0.0))

        with first_error():
            async with anyio.create_task_group() as tasks:
                for _ in range(plan.concurrency):
                    tasks.start_soon(work)
        account(summary, None, bench.budget)
    if spent:
        raise spent[0]
    return summary


def _is_judged(score: Score, judge: Judge, identities: tuple[str, ...]) -> bool:
    """Whether these models have given their verdict as this judge, and none of them was silent."""
    by = tuple(v.judge_model for v in score.verdicts)
    is_theirs = score.scorer == judge.name and score.scorer_version == judge.version and by == identities
    return is_theirs and not isinstance(score.outcome, Failed)


async def _judged(plan: Plan, panel: Panel, item: Item, *, trial: Trial, reply: Reply) -> Trial:
    shown = item.with_order(trial.choice_order)
    parser = open_parser(plan.parser if item.answer_kind == "choice" else plan.text_parser)
    score = await panel.mark(shown, reply, ruled=marked(shown, reply, parser))
    return msgspec.structs.replace(trial, score=score)
