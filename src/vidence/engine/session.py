"""A session: questions get their frames and are passed to a consumer, while other videos are decoded."""

import errno
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import count as count_from
from itertools import zip_longest
from pathlib import Path
from typing import Generic, TypeVar

import anyio
import msgspec
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from vidence.ask.judging.verdict_request import TemplateJudge
from vidence.ask.models.batches import Batches
from vidence.ask.models.http import HttpModel
from vidence.ask.prompting.compose import Prompted
from vidence.catalog import create, parse_spec
from vidence.contracts import Drawing, Flow, Judge, Strategy, View
from vidence.engine.batching import open_batches
from vidence.engine.engine import Context, Engine, ItemFailedError, ModelRules
from vidence.engine.environment import Environment
from vidence.engine.events import BatchNews, Listener, Trouble
from vidence.engine.executor import LOCAL, Parallelism, executor_of
from vidence.engine.frames import FrameDesk, FrameStore
from vidence.engine.limits import RESUME, SAME_COMMAND, Budget
from vidence.engine.plan import Plan
from vidence.engine.prepare import PreparedRun, open_views, prepare
from vidence.engine.scoring import RECORDED, JudgeModel, JudgePool, score_reply
from vidence.engine.specs import model_spec, without_sampling
from vidence.engine.views import DecodeCount, OpenView, ViewContent
from vidence.errors import BudgetSpentError, LaterError, MediaError, UsageError, VidenceError
from vidence.media.files import located
from vidence.media.subtitles import Line, read_subtitles
from vidence.records import (
    Aside,
    Failed,
    Item,
    Media,
    Outcome,
    Prompt,
    Reply,
    Sampling,
    Score,
    Selection,
    Subtitles,
)

Todo = Sequence[tuple[Item, int]]  # questions, each with the number of its repeat
_GROUP_WITHOUT_MEDIA = 200
GroupT = TypeVar("GroupT")
ReadyT = TypeVar("ReadyT")
ErrorT = TypeVar("ErrorT", bound=Exception)
_NO_MORE_FILES = (errno.EMFILE, errno.ENFILE)


def check_draws(what: object, plan: Plan) -> None:
    """Check that replies can differ, if a strategy or diagnostic needs several per prompt.

    Raises:
        UsageError: the temperature is 0.
    """
    if isinstance(what, Drawing) and what.n_drawn > 1 and plan.sampling.temperature == 0:
        raise UsageError(
            f"{what.n_drawn} candidates at temperature 0 are equal; add --temperature 1 (in Python "
            "temperature=1), or ask for one"
        )


def add_judges(engine: Engine, plan: Plan, budget: Budget) -> JudgePool:
    """Register a plan's judge models with an engine, and open them."""
    judge = judge_of(plan.judge, plan)
    models = tuple(
        judge_model(engine, text, judge=judge, name=f"judge {position}", budget=budget)
        for position, text in enumerate(plan.judge_models)
    )
    return JudgePool(judge=judge, models=models, rule=plan.judge_panel)


def judge_of(name: str, plan: Plan) -> Judge:
    """Return the named judge, with the plan's templates and seed."""
    own = None if plan.judge_prompts_dir is None else Path(plan.judge_prompts_dir)
    judge: Judge = create("judge", name, prompts_dir=own)
    return replace(judge, seed=plan.seed) if isinstance(judge, TemplateJudge) else judge


def judge_model(engine: Engine, text: str, *, judge: Judge, name: str, budget: Budget) -> JudgeModel:
    """Open a model for a judge and register it as `name`."""
    parsed = parse_spec(text)
    spec, sampled = without_sampling(parsed)
    sampling = msgspec.convert(msgspec.to_builtins(judge.sampling) | sampled, Sampling)
    engine.add(name, ModelRules(spec=spec, budget=budget, sampling=sampling))
    identity = engine.model(name).identity
    return JudgeModel(name=name, identity=identity, sampling=sampling, is_recorded=parsed.name in RECORDED)


@dataclass(kw_only=True)
class ShownSubject:
    """A `contracts.Question` (and therefore a `Subject`) with delivered frames.

    The choices of `item` are in display order; `choice_order` gives the original indices.
    """

    item: Item
    prepared: PreparedRun
    views: Mapping[str, ViewContent | Failed]
    pool: JudgePool | None = None
    repeat: int = 0
    n_repeats: int = 1
    choice_order: tuple[int, ...] = ()
    lines: tuple[Line, ...] = ()
    """Subtitles, if the plan shows them."""
    shares_frames: bool = False
    """Whether another question starts with the same frames (see `Request`)."""
    last_view: str | None = None
    """The view requested last."""
    last_prompt: Prompt | None = None
    """The prompt composed last; None if that failed."""
    _images: dict[str, bytes] = field(default_factory=dict)
    _ahead: dict[str, Prompted] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the names of the views that can be shown."""
        return tuple(name for name, view in self.views.items() if isinstance(view, ViewContent))

    @property
    def context(self) -> Context:
        """Return the settings shared by the requests about this question."""
        return Context(
            item_id=self.item.item_id,
            image=self._images.__getitem__,
            repeat=self.repeat,
            n_repeats=self.n_repeats,
            shares_frames=self.shares_frames,
        )

    def n_frames(self, view: str) -> int:
        """Return the number of frames of a view."""
        return len(self._shown(view).frames)

    def times_s(self, view: str) -> tuple[float, ...]:
        """Return the times of a view's frames in seconds; multiple media follow each other."""
        content = self._shown(view)
        starts_s = content.starts_s or (0.0,) * len(self.item.media)
        return tuple(starts_s[ref.media_index] + ref.time_s for ref in content.selection.frames)

    def selection(self, view: str | None) -> Selection | None:
        """Return the frames of a view; None if it cannot be shown or the model sees no frames."""
        result = None if view is None else self.views.get(view)
        return result.selection if isinstance(result, ViewContent) and self.prepared.model.looks else None

    def compose_ahead(self, view: str) -> None:
        """Compose the prompt of a whole view now, since encoding takes time; errors as `prompt`."""
        self._ahead[view] = self._composed(view, None)

    def prompt(
        self,
        view: str,
        positions: Sequence[int] | None = None,
        *,
        order: tuple[int, ...] = (),
        more: str | Aside = "",
    ) -> Prompt:
        """The question with frames of a view, in the order of `positions`; see `contracts.Subject`.

        Raises:
            UsageError: there is no such view, or a position outside it.
            ItemFailedError: the view cannot be shown.
        """
        self.last_view, self.last_prompt = view, None
        is_plain = positions is None and not (order or more)
        prompted = self._ahead.get(view) if is_plain else None
        if prompted is None:
            prompted = self._composed(view, positions, order=order, more=more)
        self._images.update(prompted.images)
        self.last_prompt = prompted.prompt
        return prompted.prompt

    def read(self, reply: Reply) -> Outcome:
        """Parse a reply with the plan's parser."""
        return self.ruled(reply).outcome

    def ruled(self, result: Reply | Failed, *, order: tuple[int, ...] = ()) -> Score:
        """Score a reply, or its absence, with the plan's parser alone."""
        item = self.item.with_order(order)
        return score_reply(item, result, self.prepared.parser_for(item))

    def mark(self, reply: Reply, *, order: tuple[int, ...] = ()) -> Flow[Score]:
        """Score a reply with the plan's parser and judges."""
        ruled = self.ruled(reply, order=order)
        if self.pool is None:
            return ruled
        return (yield from self.pool.score(self.item.with_order(order), reply, ruled=ruled))

    def _composed(
        self,
        view: str,
        positions: Sequence[int] | None,
        *,
        order: tuple[int, ...] = (),
        more: str | Aside = "",
    ) -> Prompted:
        content = self._shown(view)
        chosen = range(len(content.frames)) if positions is None else positions
        if outside := [p for p in chosen if not 0 <= p < len(content.frames)]:
            raise UsageError(
                f"frame {outside[0]} of view {view!r} of item {self.item.item_id!r}; expected 0 to "
                f"{len(content.frames) - 1}"
            )
        return self.prepared.prompter.prompt(
            self.item.with_order(order),
            [content.frames[p] for p in chosen],
            duration_s=content.duration_s,
            video=content.video,
            more=more,
            lines=self.lines if positions is None or chosen else (),  # of words alone, those of the question
        )

    def _shown(self, view: str) -> ViewContent:
        if view not in self.views:
            raise UsageError(f"there is no view {view!r}; there are {', '.join(map(repr, self.views))}")
        result = self.views[view]
        if isinstance(result, Failed):
            raise ItemFailedError(result)
        return result


@dataclass(frozen=True, kw_only=True)
class Session:
    """A plan with its models opened. `asking` is the budget of answers, `judging` that of judges."""

    prepared: PreparedRun
    engine: Engine
    views: Mapping[str, OpenView]
    asking: Budget
    judging: Budget
    pool: JudgePool | None
    environment: Environment
    on_event: Listener
    identities: Mapping[str, str]
    """Identities of the models by name, without judges."""
    is_run: bool
    """Whether this is a run: choices in the plan's order, and frames only for models that see."""
    needs_frames: bool
    """Whether media are opened."""
    batches: tuple[Batches, ...] = ()
    """Batch APIs of the models; a question may then take several passes."""

    def groups(self, todo: Todo, *, most: int = _GROUP_WITHOUT_MEDIA) -> Iterator[Todo]:
        """Yield questions grouped by video, in order of first appearance; without media, `most` at a time."""
        if not self.needs_frames:
            yield from (todo[start : start + most] for start in range(0, len(todo), most))
            return
        named: dict[str, list[tuple[Item, int]]] = {}
        for item, repeat in todo:
            named.setdefault(item.video_id, []).append((item, repeat))
        yield from named.values()

    async def work(
        self,
        todo: Todo,
        ask: Callable[[ShownSubject], Awaitable[None]],
        *,
        n_consumers: int,
        count: DecodeCount,
    ) -> None:
        """Show all questions and `ask` each; frames are prepared while questions are asked.

        Args:
            todo: the questions.
            ask: called with each shown question.
            n_consumers: how many run concurrently.
            count: counts decoded frames.

        Raises:
            BudgetSpentError: the budget ended the session.
            VidenceError: no further question can be asked.
        """
        plan, environment = self.prepared.plan, self.environment
        place = FrameStore(
            media_root=self.prepared.media_root,
            cache_root=environment.cache_root,
            cache_max_bytes=environment.cache_max_bytes,
            deadline_s=plan.decode_timeout_s,
            whole_video=plan.layout == "video",
            audio=plan.audio,
        )
        opened = todo if self.needs_frames else ()
        reads = (located(place.media_root, medium) for item, _ in opened for medium in item.media)
        parallel = Parallelism.of(environment).touching(reads)
        if place.whole_video:  # nothing is decoded, and the files that are sent lie here
            parallel = replace(parallel, on=LOCAL)

        def warn(message: str) -> None:
            self.on_event(Trouble(message=message))

        async with executor_of(parallel.on).processes(parallel, on_trouble=warn) as workers:
            desk = FrameDesk(
                views=self.views,
                place=place,
                workers=workers,
                engine=self.engine,
                count=count,
                on_trouble=warn,
            )

            async def asked(todo: Todo) -> Todo:
                later: set[tuple[str, int]] = set()

                async def ask_or_wait(subject: ShownSubject) -> None:
                    try:
                        await ask(subject)
                    except LaterError:  # its answer comes with a batch, and its frames are let go
                        later.add((subject.item.item_id, subject.repeat))

                # Twice as many as decode: a video is decoded while questions about others still wait.
                await Pipeline(
                    produce=partial(self.show, desk=desk),
                    consume=ask_or_wait,
                    first_alone=self._shares_frames,
                ).work(self.groups(todo), n_producers=2 * workers.n_places, n_consumers=n_consumers)
                return [pair for pair in todo if (pair[0].item_id, pair[1]) in later]

            await in_waves(todo, asked, batches=self.batches, on_event=self.on_event)

    @property
    def _shares_frames(self) -> bool:
        """Whether the provider caches a question's frames for the next one."""
        model = self.prepared.model
        return self.is_run and self.needs_frames and isinstance(model, HttpModel) and model.caches

    @property
    def shows_lines(self) -> bool:
        """Whether subtitles are loaded for the model."""
        return self.prepared.plan.subtitles != "none" and self.prepared.model.looks

    def lines(self, items: Sequence[Item]) -> dict[str, tuple[Line, ...]]:
        """Return the subtitles by question id; each file is read once, and a missing file gives none."""
        read: dict[Subtitles, tuple[Line, ...]] = {}
        for subtitles in {item.subtitles for item in items if item.subtitles is not None}:
            place = located(self.prepared.media_root, Media(path=subtitles.path))
            try:
                if isinstance(place, Path) and place.is_file():
                    read[subtitles] = read_subtitles(place, from_s=subtitles.from_s)
            except MediaError as error:
                self.on_event(Trouble(message=str(error)))
        return {item.item_id: read.get(item.subtitles, ()) for item in items if item.subtitles is not None}

    async def show(self, group: Todo, *, desk: FrameDesk) -> list[ShownSubject]:
        """Return the questions about one medium with their frames."""
        items = list({item.item_id: item for item, _ in group}.values())
        values: Mapping[str, Mapping[str, ViewContent | Failed]]
        if self.needs_frames:
            values = await desk.show(items)
        else:
            nothing = Selection(selector="none", version=1, frames=(), n_candidates=0)
            views = dict.fromkeys(self.views, ViewContent(selection=nothing, frames=(), duration_s=0.0))
            values = {item.item_id: views for item in items}
        prompter = self.prepared.prompter
        # A prompt's beginning, up to its frames: questions that have it in common share a cache.
        begins = [
            (prompter.before_frames(item), *(_digests(view) for view in values[item.item_id].values()))
            for item, _ in (group if self._shares_frames else ())
        ]
        times = Counter(begins)
        lines = await anyio.to_thread.run_sync(self.lines, items) if self.shows_lines else {}
        subjects = []
        for (item, repeat), begin in zip_longest(group, begins):
            order = self.prepared.choice_order(item, repeat) if self.is_run else ()
            subjects.append(
                ShownSubject(
                    item=item.with_order(order),
                    prepared=self.prepared,
                    views=values[item.item_id],
                    pool=self.pool,
                    repeat=repeat,
                    n_repeats=self.prepared.plan.repeats if self.is_run else 1,
                    choice_order=order,
                    lines=lines.get(item.item_id, ()),
                    shares_frames=times[begin] > 1,
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
    """Open and check everything that a plan names; models are always closed at the end.

    Args:
        plan: what to ask.
        environment: cache and workers.
        now: recorded in the facts of the run.
        on_event: receives events.
        views: the frames to show; None: those of the plan's strategy.
        others: specs of further models by the names that flows use; a spec that starts with ``+`` is the
            plan's model with other options; None: those of the plan's strategy.
    """
    asking = Budget(prices=plan.prices, max_cost=plan.max_cost)
    judging = replace(asking, prices=plan.judge_prices)
    strategy: Strategy = create("strategy", plan.strategy)
    if views is None:
        check_draws(strategy, plan)
    wanted = strategy.views(plan.view) if views is None else views
    asked_by = strategy.models() if others is None else others
    named = {"": plan.model, **{name: model_spec(plan.model, spec) for name, spec in asked_by.items()}}
    # The plan's own selector is among them, whether it is shown or not: its facts are kept.
    opened = open_views({"plan": plan.view, **{f"view {k}": v for k, v in wanted.items()}}, plan)
    asked = dict.fromkeys(spec for view in opened.values() for spec in view.traits.models)
    specs = [*named.values(), *asked, *plan.judge_models]
    async with Engine(
        memory=environment.memory(plan.memory),
        limits=plan.limits,
        on_event=on_event,
        again=RESUME if views is None else SAME_COMMAND,
        open_model=executor_of(environment.on).opener([without_sampling(parse_spec(s))[0] for s in specs]),
    ) as engine:
        for name, text in named.items():
            spec, sampled = without_sampling(parse_spec(text)) if name else (text, {})
            engine.add(name, ModelRules(spec=spec, budget=asking, sampling=plan.sampling, overrides=sampled))
        for spec in asked.keys() - {plan.model}:
            engine.add(spec, ModelRules(spec=spec, budget=asking))
        models = {name: engine.model(name) for name in (*named, *asked, plan.model)}
        pool = add_judges(engine, plan, judging) if plan.judge_models else None
        judges = [model.name for model in pool.models] if pool else []
        prepared = prepare(
            plan,
            strategy=strategy,
            view=opened["plan"],
            models=models,
            pool=pool,
            now=now,
            cache_root=environment.cache_root,
        )
        yield Session(
            batches=open_batches(plan, engine, [*named, *judges], views=opened.values()),
            prepared=prepared,
            engine=engine,
            views={name: opened[f"view {name}"] for name in wanted},
            asking=asking,
            judging=judging,
            pool=pool,
            environment=environment,
            on_event=on_event,
            is_run=views is None,
            needs_frames=views is not None or models[""].looks,
            identities={name: model.identity for name, model in models.items()},
        )


# --------------------------------------------------------------------------- producers and consumers


@dataclass
class _Ready(Generic[ReadyT]):
    """A produced thing, and the event set when it is taken, or consumed if its group waits for that."""

    thing: ReadyT
    taken: anyio.Event | None = None
    consumed: anyio.Event | None = None

    def end(self) -> None:
        """Release waiters."""
        for event in (self.taken, self.consumed):
            if event is not None:
                event.set()


@dataclass(kw_only=True)
class Pipeline(Generic[GroupT, ReadyT]):
    """Produces something for each group and passes each part to `consume`.

    Nothing is produced before a consumer can take it, so memory holds the frames of few videos regardless of
    the run's length. When the budget is spent, nothing new starts and work in progress finishes.
    """

    produce: Callable[[GroupT], Awaitable[Sequence[ReadyT]]]
    consume: Callable[[ReadyT], Awaitable[None]]
    first_alone: bool = False
    """Whether a group's first part is consumed before the others, for the provider's cache."""
    _ready: deque[_Ready[ReadyT]] = field(default_factory=deque, init=False)
    """Parts that no consumer has taken, except those waiting for another part."""
    _n_ready: anyio.Semaphore = field(init=False)
    """Counts parts in `_ready`; a consumer that finds it empty is done."""
    _n_consumers: int = field(default=0, init=False)
    _spent: BudgetSpentError | None = field(default=None, init=False)

    async def work(self, groups: Iterable[GroupT], *, n_producers: int, n_consumers: int) -> None:
        """Produce and consume everything.

        Raises:
            BudgetSpentError: the budget was spent.
            VidenceError: the first error that ended the work.
        """
        waiting = iter(groups)
        self._n_ready, self._n_consumers = anyio.Semaphore(0, fast_acquire=True), n_consumers
        try:
            async with anyio.create_task_group() as consumers:
                for _ in range(n_consumers):
                    consumers.start_soon(self._consume_all)
                async with anyio.create_task_group() as producers:
                    for _ in range(n_producers):
                        producers.start_soon(self._produce_all, waiting, producers)
                for _ in range(n_consumers):
                    self._n_ready.release()
        except BaseExceptionGroup as group:
            if (error := first_error(group, VidenceError)) is not None:
                raise error from group
            if (failed := first_error(group, OSError)) is not None and failed.errno in _NO_MORE_FILES:
                raise UsageError(
                    f"too many files and connections are open ({failed.strerror}); lower --concurrency, or "
                    "run: ulimit -n 4096"
                ) from group
            raise
        if self._spent is not None:
            raise self._spent

    async def _produce_all(self, groups: Iterator[GroupT], tasks: TaskGroup) -> None:
        for group in groups:
            try:
                entries = await self.produce(group)
            except BudgetSpentError as error:  # a selector asks a model
                self._spent = error
                return
            if not self._n_consumers:  # the budget is spent
                return
            if entries:
                now, rest = (entries[:1], entries[1:]) if self.first_alone else (entries, ())
                last = _Ready(now[-1], taken := anyio.Event(), consumed := anyio.Event())
                if rest:
                    tasks.start_soon(self._follow, consumed, rest)
                self._ready.extend((*map(_Ready, now[:-1]), last))
                for _ in now:
                    self._n_ready.release()
                await taken.wait()

    async def _follow(self, consumed: anyio.Event, rest: Sequence[ReadyT]) -> None:
        """Pass on the rest of a group before any other group."""
        await consumed.wait()
        self._ready.extendleft(_Ready(entry) for entry in reversed(rest))
        for _ in rest:
            self._n_ready.release()

    async def _consume_all(self) -> None:
        try:
            while True:
                await self._n_ready.acquire()
                if not self._ready:
                    break
                ready = self._ready.popleft()
                try:
                    if ready.taken is not None:
                        ready.taken.set()
                    await checkpoint()  # a model that answers at once waits for nothing
                    await self.consume(ready.thing)
                finally:
                    ready.end()
        except BudgetSpentError as error:
            self._spent = error
        self._n_consumers -= 1
        if not self._n_consumers:
            for ready in self._ready:
                ready.end()


def _digests(view: ViewContent | Failed) -> tuple[str, ...]:
    return () if isinstance(view, Failed) else tuple(frame.frame.digest for frame in view.frames)


def first_error(group: BaseExceptionGroup[BaseException], kind: type[ErrorT]) -> ErrorT | None:
    """Return the first error of a kind in an exception group, searched recursively."""
    for error in group.exceptions:
        inside = first_error(error, kind) if isinstance(error, BaseExceptionGroup) else error
        if isinstance(inside, kind):
            return inside
    return None


async def each(
    things: Sequence[ReadyT], consume: Callable[[ReadyT], Awaitable[None]], *, n_consumers: int
) -> Sequence[ReadyT]:
    """Consume things concurrently without a producer; errors as for `Pipeline.work`.

    Returns those whose answers come with a batch.
    """
    later: list[ReadyT] = []

    async def consumed(thing: ReadyT) -> None:
        try:
            await consume(thing)
        except LaterError:
            later.append(thing)

    async def as_it_is(group: Sequence[ReadyT]) -> Sequence[ReadyT]:
        return group

    await Pipeline(produce=as_it_is, consume=consumed).work([things], n_producers=1, n_consumers=n_consumers)
    return later


async def in_waves(
    todo: Sequence[ReadyT],
    work: Callable[[Sequence[ReadyT]], Awaitable[Sequence[ReadyT]]],
    *,
    batches: Sequence[Batches],
    on_event: Listener,
) -> None:
    """Work on all, and again on those that `work` returns because their answers come with a batch.

    Raises:
        VidenceError: a batch cannot be sent or read, or `work` raises it.
    """
    for wave in count_from(1):
        if not (todo := await work(todo)):
            break
        on_event(BatchNews(message=f"wave {wave}: {len(todo):,} questions wait for a batch"))
        try:
            async with anyio.create_task_group() as tasks:
                for batch in batches:
                    tasks.start_soon(batch.wave)
        except BaseExceptionGroup as group:
            if (error := first_error(group, VidenceError)) is not None:
                raise error from group
            raise
    for batch in batches:
        batch.settle()
