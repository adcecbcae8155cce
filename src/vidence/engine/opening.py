"""What the sessions of a run have in common: models, the reply memory, limits, the bench of judges."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np

from vidence.ask.selection.seeking import models_of
from vidence.contracts import Judge, Model, Selector
from vidence.engine.drive import Asker
from vidence.engine.events import Listener
from vidence.engine.limits import AdaptiveLimit, Backoff, Budget, Limits
from vidence.engine.marking import Panel, Seat
from vidence.engine.plan import Plan
from vidence.engine.prepare import judge_sampling, open_judge, open_model
from vidence.engine.session import Summary
from vidence.engine.store import Memory


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a run takes from outside: folders, workers, the clock. Nothing of it changes a number."""

    cache_root: Path
    cache_max_bytes: int = 20 * 2**30
    n_workers: int = 2


@asynccontextmanager
async def opened_models(specs: Sequence[str]) -> AsyncIterator[list[Model]]:
    """Models by their specs, closed at the end whatever happens."""
    models: list[Model] = []
    try:
        for spec in specs:
            models.append(open_model(spec))
        yield models
    finally:
        with anyio.CancelScope(shield=True):
            for model in models:
                await model.close()


@contextmanager
def opened_memory(plan: Plan, surroundings: Surroundings) -> Iterator[Memory]:
    """The reply memory that a plan names, or the one in the cache folder."""
    path = Path(plan.memory) if plan.memory else surroundings.cache_root / "replies.sqlite"
    with Memory(path) as memory:
        yield memory


def specs_asked(plan: Plan, selectors: Iterable[Selector]) -> list[str]:
    """The specs of the models that selectors ask, each once; the model under test is not among them."""
    specs = dict.fromkeys(spec for selector in selectors for spec in models_of(selector))
    return [spec for spec in specs if spec != plan.model]


def asked_models(
    plan: Plan, model: Model, *, specs: Sequence[str], models: Sequence[Model]
) -> dict[str, Model]:
    """The models that selectors ask, by spec; the empty spec and the plan's are the model under test."""
    return {"": model, plan.model: model} | dict(zip(specs, models, strict=True))


def selector_askers(
    plan: Plan, asked: Mapping[str, Model], *, main: Asker, memory: Memory, on_event: Listener
) -> dict[str, Asker]:
    """Who puts the questions of selectors to these models.

    What they cost counts towards the same limit as the answers, at the prices of the model under test.
    """

    def asker(model: Model) -> Asker:
        if model is asked[""]:
            return main
        limits = limits_for(plan, model, budget=main.budget)
        return Asker(model, memory=memory, limits=limits, on_event=on_event)

    return {spec: asker(model) for spec, model in asked.items()}


def judge_specs(plan: Plan) -> list[str]:
    """The specs of the judge models, without what says how verdicts are drawn."""
    if not plan.judge_models:
        return []
    judge = open_judge(plan.judge, prompts_dir=plan.judge_prompts_dir)
    return [judge_sampling(judge, text)[0] for text in plan.judge_models]


def limits_for(plan: Plan, model: Model, *, budget: Budget) -> Limits:
    """The limits of a plan for one model."""
    most = min(plan.concurrency, model.max_in_flight or plan.concurrency)
    return Limits(
        in_flight=AdaptiveLimit(most, clock=anyio.current_time),
        backoff=Backoff(rng=np.random.default_rng(plan.seed)),
        budget=budget,
        attempts=plan.attempts,
        timeout_s=plan.timeout_s,
    )


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The judges of a run at work, and what they cost."""

    panel: Panel
    budget: Budget


def opened_bench(
    plan: Plan,
    judge: Judge,
    models: Sequence[Model],
    *,
    memory: Memory,
    beside: Budget | None,
    on_event: Listener,
) -> Bench:
    """Seat the judge models; what they cost counts towards the same limit as the answers (`beside`)."""
    budget = Budget(
        price_in=plan.judge_price_in, price_out=plan.judge_price_out, max_cost=plan.max_cost, beside=beside
    )
    seats = [
        Seat(
            identity=model.identity,
            asker=Asker(
                model, memory=memory, limits=limits_for(plan, model, budget=budget), on_event=on_event
            ),
            sampling=judge_sampling(judge, text)[1],
        )
        for model, text in zip(models, plan.judge_models, strict=True)
    ]
    return Bench(panel=Panel(judge=judge, seats=tuple(seats)), budget=budget)


def account(summary: Summary, asking: Budget | None, judging: Budget | None) -> None:
    """Write down what a session spent."""
    if asking is not None:
        summary.cost += asking.cost
        summary.input_tokens, summary.output_tokens = asking.input_tokens, asking.output_tokens
    if judging is not None:
        summary.cost += judging.cost
        summary.judge_input_tokens = judging.input_tokens
        summary.judge_output_tokens = judging.output_tokens
