"""Benchmark x model x selector -> trials: the run itself."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec

from vidence.contracts import Model
from vidence.engine.drive import Asker
from vidence.engine.events import Listener, MediaTrouble, Started
from vidence.engine.frames import FrameDesk
from vidence.engine.limits import Budget
from vidence.engine.opening import (
    Surroundings,
    account,
    asked_models,
    judge_specs,
    limits_for,
    opened_bench,
    opened_memory,
    opened_models,
    selector_askers,
    specs_asked,
)
from vidence.engine.plan import PLAN_FILE, Plan, read_plan, write_plan
from vidence.engine.prepare import Prepared, check_same, open_selector, prepare
from vidence.engine.session import Session, Summary
from vidence.engine.showing import ShowRules
from vidence.engine.specs import what_is_asked
from vidence.engine.store import TrialStore
from vidence.engine.workers import Workers
from vidence.errors import StoreError
from vidence.media.encode import Encoding
from vidence.media.sizes import Size


async def run(
    plan: Plan, folder: Path, *, surroundings: Surroundings, now: datetime, on_event: Listener
) -> Summary:
    """Run a plan in a folder; a folder that already holds this run is taken up where it stopped.

    Raises:
        StoreError: the folder holds another run, or is in use.
        VidenceError: the run cannot go on; everything answered so far is kept.
    """
    specs = specs_asked(plan, [open_selector(plan.selector)])
    async with opened_models([plan.model, *specs, *judge_specs(plan)]) as (model, *others):
        asked = asked_models(plan, model, specs=specs, models=others[: len(specs)])
        judge_models = others[len(specs) :]
        prepared = prepare(plan, model=model, judge_models=judge_models, asked=asked, now=now)
        with opened_run(folder, prepared) as store:
            return await _evaluate(
                prepared,
                store,
                asked=asked,
                judge_models=judge_models,
                surroundings=surroundings,
                on_event=on_event,
            )


@contextmanager
def opened_run(folder: Path, prepared: Prepared) -> Iterator[TrialStore]:
    """The store of a run folder, new or as it was left, with plan and questions written down."""
    plan, facts = prepared.plan, prepared.facts
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the run folder {folder}: {error}") from error
    with TrialStore(folder, is_writer=True) as store:
        if (folder / PLAN_FILE).exists():
            earlier, began = read_plan(folder)
            if what_is_asked(earlier) != what_is_asked(plan):
                raise StoreError(f"{folder} holds another run; choose another --out, or resume it as it is")
            check_same(began, facts, folder=folder)
            # Media may have come or gone since (--allow-missing); all else is as it was.
            facts = msgspec.structs.replace(began, n_planned=facts.n_planned, notes=facts.notes)
        store.put_items(prepared.items)
        write_plan(folder, plan, facts)
        yield store


async def _evaluate(
    prepared: Prepared,
    store: TrialStore,
    *,
    asked: Mapping[str, Model],
    judge_models: Sequence[Model],
    surroundings: Surroundings,
    on_event: Listener,
) -> Summary:
    plan = prepared.plan
    answered = store.answered()
    planned = [(item, repeat) for item in prepared.items for repeat in range(plan.repeats)]
    todo = [(item, repeat) for item, repeat in planned if (item.item_id, repeat) not in answered]
    n_before = len(planned) - len(todo)
    notes, problems = prepared.facts.notes, prepared.facts.problems
    on_event(Started(n_planned=len(planned), n_answered_before=n_before, notes=notes, problems=problems))
    summary = Summary(n_planned=len(planned), n_answered_before=n_before)
    if not todo:
        return summary
    asking = Budget(price_in=plan.price_in, price_out=plan.price_out, max_cost=plan.max_cost)
    with opened_memory(plan, surroundings) as memory:
        async with Workers(surroundings.n_workers) as workers:
            limits = limits_for(plan, prepared.model, budget=asking)
            bench = None
            if prepared.judge is not None:
                bench = opened_bench(
                    plan, prepared.judge, judge_models, memory=memory, beside=asking, on_event=on_event
                )
            asker = Asker(prepared.model, memory=memory, limits=limits, on_event=on_event)
            desk = FrameDesk(
                show_rules(prepared, surroundings),
                workers=workers,
                count=summary.decoding,
                on_trouble=lambda message: on_event(MediaTrouble(message=message)),
                askers=selector_askers(plan, asked, main=asker, memory=memory, on_event=on_event),
            )
            session = Session(
                prepared=prepared,
                store=store,
                asker=asker,
                desk=desk,
                budget=asking,
                summary=summary,
                on_event=on_event,
                panel=None if bench is None else bench.panel,
            )
            # Twice as many as decode: a video is decoded while questions about others still wait.
            n_askers = min(plan.concurrency, prepared.model.max_in_flight or plan.concurrency)
            await session.work(todo, n_askers=n_askers, n_showers=2 * surroundings.n_workers)
    account(summary, asking, None if bench is None else bench.budget)
    return summary


def show_rules(prepared: Prepared, surroundings: Surroundings) -> ShowRules:
    """How the frames of a plan are chosen and encoded."""
    plan = prepared.plan
    is_montage = plan.layout.startswith("montage")
    encoding = Encoding(
        size=Size.parse(plan.size), format="png" if is_montage else "jpeg", quality=plan.jpeg_quality
    )
    return ShowRules(
        selector=prepared.selector,
        selector_name=plan.selector,
        n_frames=plan.n_frames,
        retries=plan.retries,
        encoding=encoding,
        words=prepared.templates,
        media_root=prepared.media_root,
        whole_video=plan.layout == "video",
        cache_root=surroundings.cache_root,
        cache_max_bytes=surroundings.cache_max_bytes,
        deadline_s=plan.decode_timeout_s,
    )
