"""Judge the replies that a run has stored; the model that answered is not asked again."""

from pathlib import Path

import msgspec

from vidence.catalog import create
from vidence.contracts import Scorer
from vidence.engine.engine import Context, Engine
from vidence.engine.environment import Environment
from vidence.engine.evaluate import Summary
from vidence.engine.events import Listener, Started, TrialStored
from vidence.engine.executor import executor_of
from vidence.engine.limits import Budget
from vidence.engine.plan import Plan, read_plan, write_plan
from vidence.engine.scoring import JudgePool, score_reply
from vidence.engine.session import add_judges, each
from vidence.engine.store import RunStore
from vidence.errors import UsageError
from vidence.records import Failed, Reply, Score, Trial


async def judge_run(plan: Plan, folder: Path, *, environment: Environment, on_event: Listener) -> Summary:
    """Put every stored reply of a run to the judge that `plan` names; the run then carries this judge.

    Trials that this judge and these models have scored before are left alone, tied panels too; those without
    a reply stay as they are. Where they were asked and gave no verdict they are asked anew, and not out of
    the memory, which would repeat what could not be read. A trial that had a mark keeps it until there is a
    new one, and one that waits goes on waiting where the judge did not reply at all; the verdicts that failed
    are kept beside. Nothing is removed: a trial that is judged is stored once more, and the last counts.

    Args:
        plan: the plan in the folder with `judge` and `judge_models` as they shall be.
        folder: the run.
        environment: where the reply memory is, and judges with weights work.
        on_event: told of every trial.

    Raises:
        UsageError: no judge model is named.
        StoreError: not a run folder, or another process works in it.
        VidenceError: the judges cannot go on; every verdict so far is kept.
    """
    before, facts = read_plan(folder)
    judging = Budget(price_in=plan.judge_price_in, price_out=plan.judge_price_out, max_cost=plan.max_cost)
    memory = environment.replies(plan.memory)
    open_model = executor_of(environment.on).opener(plan.judge_models)
    async with Engine(memory=memory, limits=plan.limits, on_event=on_event, open_model=open_model) as engine:
        pool = add_judges(engine, plan, judging)
        if pool is None:
            raise UsageError(
                "no judge model is named; say --judge-model, for example --judge-model openai:gpt-4o"
            )
        facts = msgspec.convert(msgspec.to_builtins(facts) | pool.facts, type(facts))
        with RunStore(folder, is_writer=True) as store:
            # Written first: whatever happens, the folder says by whom its verdicts are.
            write_plan(folder, plan, facts)
            _forget_other_failures(store, pool)
            is_new_rule = len(pool.models) > 1 and before.judge_panel != plan.judge_panel
            summary = await _judge_all(
                engine, pool, plan, store=store, on_event=on_event, is_new_rule=is_new_rule
            )
    summary.close(Budget(), judging)
    return summary


async def _judge_all(
    engine: Engine, pool: JudgePool, plan: Plan, *, store: RunStore, on_event: Listener, is_new_rule: bool
) -> Summary:
    items = {item.item_id: item for item in store.items()}
    parsers: dict[str, Scorer] = {
        "choice": create("parser", plan.parser),
        "text": create("parser", plan.text_parser),
    }
    trials = list(store.trials())
    n_stored = store.n_stored()
    # Verdicts under another rule of the panel are combined anew; they come out of the memory.
    todo = [
        (t, t.reply) for t in trials if t.reply is not None and (is_new_rule or not pool.has_judged(t.score))
    ]
    summary = Summary(n_planned=len(trials), n_answered_before=len(trials) - len(todo))
    on_event(Started(n_planned=summary.n_planned, n_answered_before=summary.n_answered_before))

    async def judge(one: tuple[Trial, Reply]) -> None:
        trial, reply = one
        shown = items[trial.item_id].with_order(trial.choice_order)
        ruled = score_reply(shown, reply, parsers[shown.answer_kind])
        is_lost = not pool.has_judged(trial.score)
        is_again = is_lost and (pool.has_asked(trial.score) or pool.has_asked_in_vain(trial.score))
        attempt = n_stored[trial.item_id, trial.repeat] if is_again else 0
        context = Context(item_id=shown.item_id, repeat=attempt)
        score = await engine.drive(pool.score(shown, reply, ruled=ruled), context)
        is_kept = score.has_judge_error and _stays(trial.score, score)
        if is_kept:
            score = msgspec.structs.replace(trial.score, unanswered=score.verdicts)
        judged = msgspec.structs.replace(trial, score=score)
        store.add(judged)
        summary.add(msgspec.structs.replace(judged, is_remembered=False))
        summary.n_scores_kept += is_kept
        on_event(TrialStored(trial=judged, cost=0.0))

    await each(todo, judge, n_consumers=plan.concurrency)
    return summary


def _forget_other_failures(store: RunStore, pool: JudgePool) -> None:
    """Where these judges have marked before others failed, nothing is to be asked again."""
    for trial in list(store.trials()):
        if trial.score.unanswered and pool.has_judged(trial.score):
            score = msgspec.structs.replace(trial.score, unanswered=())
            store.add(msgspec.structs.replace(trial, score=score))


def _stays(before: Score, error: Score) -> bool:
    """Whether what a trial had stays where judges gave no verdict.

    A reply that waits for its mark stays so only where nobody replied: an unreadable verdict may be the doing
    of the reply, which must not leave the mean that way.
    """
    if isinstance(before.outcome, Failed):
        return False
    return before.value is not None or not any(verdict.said for verdict in error.verdicts)
