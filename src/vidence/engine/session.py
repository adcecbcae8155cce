"""What a run, a diagnostic and a judgement have in common: models, frames, and questions worked off."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from vidence.ask.selection.seeking import models_of
from vidence.contracts import Judge, View
from vidence.engine.engine import Engine, Environment, ModelRules
from vidence.engine.events import Listener, MediaTrouble
from vidence.engine.executors.local import LocalExecutor
from vidence.engine.frames import FrameDesk, Place
from vidence.engine.limits import Budget
from vidence.engine.pipeline import Pipeline
from vidence.engine.plan import Plan
from vidence.engine.prepare import (
    Prepared,
    judge_sampling,
    open_judge,
    open_strategy,
    open_views,
    prepare,
)
from vidence.engine.scoring import JudgeModel, JudgePool
from vidence.engine.subject import ShownSubject
from vidence.engine.views import DecodeCount, OpenView, Shown
from vidence.records import Failed, Item, Selection

Todo = Sequence[tuple[Item, int]]  # questions, each with the number of its repeat
_GROUP_WITHOUT_MEDIA = 200


def engine_of(plan: Plan, environment: Environment, on_event: Listener) -> Engine:
    """An engine with the limits and the reply memory of a plan, or the memory in the cache folder."""
    path = Path(plan.memory) if plan.memory else environment.memory
    return Engine(memory=path, limits=plan.limits, on_event=on_event)


def add_judges(engine: Engine, plan: Plan, budget: Budget) -> JudgePool | None:
    """Make the judge models of a plan known to an engine, and open them; None where it names none."""
    if not plan.judge_models:
        return None
    judge: Judge = open_judge(plan.judge, prompts_dir=plan.judge_prompts_dir)
    models: list[JudgeModel] = []
    for position, text in enumerate(plan.judge_models):
        name = f"judge {position}"
        spec, sampling = judge_sampling(judge, text)
        engine.add(name, ModelRules(spec=spec, budget=budget, sampling=sampling))
        models.append(JudgeModel(name=name, identity=engine.model(name).identity, sampling=sampling))
    return JudgePool(judge=judge, models=tuple(models))


@dataclass(frozen=True, kw_only=True)
class Session:
    """A plan with its models opened. `asking` is the budget of the answers, `judging` that of the judges."""

    prepared: Prepared
    engine: Engine
    views: Mapping[str, OpenView]
    asking: Budget
    judging: Budget
    pool: JudgePool | None
    environment: Environment
    on_event: Listener
    identities: Mapping[str, str]
    """What tells each model from others, by its names; judges apart."""
    is_run: bool
    """A run shows choices in the order that the plan draws, and frames only to a model that looks at them."""

    @property
    def needs_frames(self) -> bool:
        """Whether media are opened."""
        return self.prepared.model.looks or not self.is_run

    async def work(
        self,
        todo: Todo,
        ask: Callable[[ShownSubject], Awaitable[None]],
        *,
        n_consumers: int,
        count: DecodeCount,
    ) -> None:
        """Show every question and `ask` it; frames are prepared and questions asked at the same time.

        Raises:
            BudgetSpentError: the budget ends it early.
            VidenceError: no further question can be asked.
        """
        plan, environment = self.prepared.plan, self.environment
        place = Place(
            media_root=self.prepared.media_root,
            cache_root=environment.cache_root,
            cache_max_bytes=environment.cache_max_bytes,
            deadline_s=plan.decode_timeout_s,
            whole_video=plan.layout == "video",
        )
        async with LocalExecutor(environment.n_workers) as executor:
            desk = FrameDesk(
                self.views,
                place,
                executor=executor,
                engine=self.engine,
                count=count,
                on_trouble=lambda message: self.on_event(MediaTrouble(message=message)),
            )
            # Twice as many as decode: a video is decoded while questions about others still wait.
            await Pipeline(produce=partial(self._show, desk=desk), consume=ask).work(
                self._groups(todo), n_producers=2 * environment.n_workers, n_consumers=n_consumers
            )

    def _groups(self, todo: Todo) -> list[list[tuple[Item, int]]]:
        groups: dict[str, list[tuple[Item, int]]] = {}
        for n, (item, repeat) in enumerate(todo):
            name = item.video_id if self.needs_frames else str(n // _GROUP_WITHOUT_MEDIA)
            groups.setdefault(name, []).append((item, repeat))
        return list(groups.values())

    async def _show(self, group: Todo, *, desk: FrameDesk) -> list[ShownSubject]:
        items = list({item.item_id: item for item, _ in group}.values())
        shown: Mapping[str, Mapping[str, Shown | Failed]]
        if self.needs_frames:
            shown = await desk.show(items)
        else:
            nothing = Selection(selector="none", version=1, frames=(), n_candidates=0)
            views = dict.fromkeys(self.views, Shown(selection=nothing, frames=(), duration_s=0.0))
            shown = {item.item_id: views for item in items}
        subjects = []
        for item, repeat in group:
            order = self.prepared.choice_order(item, repeat) if self.is_run else ()
            subjects.append(
                ShownSubject(
                    item=item.with_order(order),
                    prepared=self.prepared,
                    views=shown[item.item_id],
                    pool=self.pool,
                    repeat=repeat,
                    n_repeats=self.prepared.plan.repeats if self.is_run else 1,
                    choice_order=order,
                )
            )
        return subjects


@asynccontextmanager
async def opened_session(
    plan: Plan,
    *,
    environment: Environment,
    now: datetime,
    on_event: Listener,
    views: Mapping[str, View] | None = None,
    others: Mapping[str, str] | None = None,
) -> AsyncIterator[Session]:
    """Open and check everything that a plan names; its models are closed at the end, whatever happens.

    Args:
        plan: what to ask.
        environment: cache and workers.
        now: written into the facts of the run.
        on_event: told of what happens.
        views: the frames to show; None: those of the plan's strategy.
        others: specs of further models by the names under which flows ask them.
    """
    asking = Budget(price_in=plan.price_in, price_out=plan.price_out, max_cost=plan.max_cost)
    judging = Budget(
        price_in=plan.judge_price_in,
        price_out=plan.judge_price_out,
        max_cost=plan.max_cost,
        shared=asking.shared,
    )
    async with engine_of(plan, environment, on_event) as engine:
        wanted = open_strategy(plan.strategy).views(plan.view) if views is None else views
        # The plan's own selector is among them, whether it is shown or not: its facts are kept.
        opened = open_views({"plan": plan.view, **{f"view {k}": v for k, v in wanted.items()}}, plan)
        for name, spec in {"": plan.model, **(others or {})}.items():
            engine.add(name, ModelRules(spec=spec, budget=asking, sampling=plan.sampling))
        asked = dict.fromkeys(spec for view in opened.values() for spec in models_of(view.selector))
        for spec in asked.keys() - {plan.model}:
            engine.add(spec, ModelRules(spec=spec, budget=asking))
        names = ["", *(others or {}), *asked, plan.model]
        models = {name: engine.model(name) for name in names}
        pool = add_judges(engine, plan, judging)
        yield Session(
            prepared=prepare(
                plan,
                model=models[""],
                pool=pool,
                asked=models,
                selector=opened["plan"].selector,
                now=now,
            ),
            engine=engine,
            views={name: opened[f"view {name}"] for name in wanted},
            asking=asking,
            judging=judging,
            pool=pool,
            environment=environment,
            on_event=on_event,
            is_run=views is None,
            identities={name: model.identity for name, model in models.items()},
        )
