"""Benchmark x model x selector -> trials: the run itself."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio
import msgspec
import numpy as np

from vidence.errors import StoreError
from vidence.media.encode import Encoding
from vidence.media.sizes import Size
from vidence.running.drive import Asker
from vidence.running.events import Listener, MediaTrouble, Started
from vidence.running.frames import FrameDesk, ShowRules
from vidence.running.limits import AdaptiveLimit, Backoff, Budget, Limits
from vidence.running.plan import PLAN_FILE, Plan, read_plan, write_plan
from vidence.running.prepare import Prepared, check_same, prepare
from vidence.running.session import Session, Summary
from vidence.running.store import Memory, TrialStore


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a run takes from outside: folders, workers, the clock. Nothing of it changes a number."""

    cache_root: Path
    cache_max_bytes: int = 20 * 2**30
    n_workers: int = 2


async def run(
    plan: Plan, folder: Path, *, surroundings: Surroundings, now: datetime, on_event: Listener
) -> Summary:
    """Run a plan in a folder; a folder that already holds this run is taken up where it stopped.

    Raises:
        StoreError: the folder holds another run, or is in use.
        VidenceError: the run cannot go on; everything answered so far is kept.
    """
    prepared = prepare(plan, now=now)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the run folder {folder}: {error}") from error
    with TrialStore(folder, is_writer=True) as store:
        if (folder / PLAN_FILE).exists():
            earlier, facts = read_plan(folder)
            if _asks(earlier) != _asks(plan):
                raise StoreError(f"{folder} holds another run; choose another --out, or resume it as it is")
            check_same(facts, prepared.facts, folder=folder)
            write_plan(folder, plan, facts)
        else:
            store.put_items(prepared.items)
            write_plan(folder, plan, prepared.facts)
        return await _evaluate(prepared, store, surroundings=surroundings, on_event=on_event)


async def resume(folder: Path, *, surroundings: Surroundings, now: datetime, on_event: Listener) -> Summary:
    """Take up the run in a folder where it stopped; what was answered is not asked again."""
    plan, _ = read_plan(folder)
    return await run(plan, folder, surroundings=surroundings, now=now, on_event=on_event)


def _asks(plan: Plan) -> Plan:
    """A plan without the fields that change how fast or how dear a run is, but no answer."""
    return msgspec.structs.replace(
        plan, concurrency=1, timeout_s=1, attempts=1, decode_timeout_s=1, max_cost=None, memory=""
    )


async def _evaluate(
    prepared: Prepared, store: TrialStore, *, surroundings: Surroundings, on_event: Listener
) -> Summary:
    plan = prepared.plan
    answered = store.answered()
    planned = [(item, repeat) for item in prepared.items for repeat in range(plan.repeats)]
    todo = [(item, repeat) for item, repeat in planned if (item.item_id, repeat) not in answered]
    budget = Budget(price_in=plan.price_in, price_out=plan.price_out, max_cost=plan.max_cost)
    desk = _desk(prepared, surroundings, on_event)
    summary = Summary(n_planned=len(planned), n_answered_before=len(planned) - len(todo), decoding=desk.count)
    on_event(
        Started(
            n_planned=len(planned),
            n_answered_before=summary.n_answered_before,
            notes=prepared.facts.notes,
            problems=prepared.facts.problems,
        )
    )
    memory_path = Path(plan.memory) if plan.memory else surroundings.cache_root / "replies.sqlite"
    with Memory(memory_path) as memory:
        most = min(plan.concurrency, prepared.model.max_in_flight or plan.concurrency)
        limits = Limits(
            in_flight=AdaptiveLimit(most, clock=anyio.current_time),
            backoff=Backoff(rng=np.random.default_rng(plan.seed)),
            budget=budget,
            attempts=plan.attempts,
            timeout_s=plan.timeout_s,
        )
        asker = Asker(prepared.model, memory=memory, limits=limits, on_event=on_event)
        session = Session(
            prepared=prepared,
            store=store,
            asker=asker,
            desk=desk,
            budget=budget,
            summary=summary,
            on_event=on_event,
        )
        try:
            if todo:
                # Twice as many as decode: a video is decoded while questions about others still wait.
                await session.work(todo, n_askers=most, n_showers=2 * surroundings.n_workers)
        finally:
            with anyio.CancelScope(shield=True):
                await prepared.model.close()
            summary.cost = budget.cost
            summary.input_tokens, summary.output_tokens = budget.input_tokens, budget.output_tokens
    return summary


def _desk(prepared: Prepared, surroundings: Surroundings, on_event: Listener) -> FrameDesk:
    plan = prepared.plan
    is_montage = plan.layout.startswith("montage")
    encoding = Encoding(
        size=Size.parse(plan.size), format="png" if is_montage else "jpeg", quality=plan.jpeg_quality
    )
    rules = ShowRules(
        selector=prepared.selector,
        selector_name=plan.selector,
        n_frames=plan.n_frames,
        encoding=encoding,
        media_root=prepared.media_root,
        whole_video=plan.layout == "video",
        cache_root=surroundings.cache_root,
        cache_max_bytes=surroundings.cache_max_bytes,
        deadline_s=plan.decode_timeout_s,
        n_workers=surroundings.n_workers,
    )
    return FrameDesk(rules, on_trouble=lambda message: on_event(MediaTrouble(message=message)))
