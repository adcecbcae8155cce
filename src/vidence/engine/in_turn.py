"""Questions of a plan that are asked one after the other, as the answers so far decide."""

from collections.abc import Generator
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from vidence.contracts import MadeT
from vidence.engine.environment import Environment
from vidence.engine.evaluate import Summary, answered, opened_run
from vidence.engine.events import Listener, Started
from vidence.engine.plan import Plan
from vidence.engine.session import opened_session
from vidence.errors import UsageError
from vidence.records import Trial

Turns: TypeAlias = Generator[str, Trial, MadeT]
"""Yields the id of the question to ask next, is sent what came of it, and returns what it made."""


async def ask_in_turn(
    turns: Turns[MadeT],
    plan: Plan,
    folder: Path,
    *,
    environment: Environment,
    now: datetime,
    on_event: Listener,
) -> tuple[MadeT, Summary]:
    """Ask the questions that `turns` wants, one at a time; the folder holds them as a run.

    Questions that an earlier session answered are not asked again, so that the same turns go on where they
    stopped. The run stays open: `vidence resume` asks the rest.

    Args:
        turns: decides which question comes next.
        plan: the run, with one repeat.
        folder: the run folder.
        environment: cache and workers.
        now: written into the facts of the run.
        on_event: told of what happens.

    Raises:
        UsageError: a question that is not of the plan, or a plan of several repeats.
        StoreError: the folder holds another run.
        VidenceError: the run cannot go on; everything answered so far is kept.
    """
    if plan.repeats != 1:
        raise UsageError(f"repeats {plan.repeats}: questions that are asked in turn are asked once")
    async with opened_session(plan, environment=environment, now=now, on_event=on_event) as session:
        items = {item.item_id: item for item in session.prepared.items}
        with opened_run(folder, session.prepared) as store:
            before = {item_id for item_id, _ in store.answered()}
            kept = {trial.item_id: trial for trial in store.trials() if trial.item_id in before}
            summary = Summary(n_planned=len(items), n_answered_before=len(kept))
            on_event(Started(n_planned=len(items), n_answered_before=len(kept)))

            async with session.desk(count=summary.decoding) as desk:
                try:
                    wanted = next(turns)
                    while True:
                        if wanted not in items:
                            raise UsageError(
                                f"no question {wanted!r} in the plan; turns name questions of it"
                            )
                        if wanted not in kept:
                            (subject,) = await session.show([(items[wanted], 0)], desk=desk)
                            done = await answered(session, subject)
                            store.add(done.trial)
                            summary.add(done.trial)
                            on_event(done)
                            kept[wanted] = done.trial
                        wanted = turns.send(kept[wanted])
                except StopIteration as end:
                    made: MadeT = end.value
                finally:
                    summary.close(session.asking, session.judging)
            return made, summary
