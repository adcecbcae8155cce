"""A diagnostic over the questions of a plan: frames for its views, its asks, its findings."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import msgspec

from vidence.catalog import Spec, create
from vidence.contracts import Ask, Diagnostic, Examined, Model, Request, View, Words
from vidence.engine.drive import Asker, drive
from vidence.engine.evaluate import opened_run, show_rules
from vidence.engine.events import ExaminedOne, Listener, MediaTrouble, Started
from vidence.engine.findings import FindingStore, Header, findings_path, read_findings
from vidence.engine.frames import FrameDesk
from vidence.engine.limits import Budget
from vidence.engine.marking import Panel, judge_name
from vidence.engine.opening import (
    Surroundings,
    asked_models,
    judge_specs,
    limits_for,
    opened_bench,
    opened_memory,
    opened_models,
    selector_askers,
    specs_asked,
)
from vidence.engine.plan import Plan
from vidence.engine.prepare import Prepared, open_selector, open_templates, prepare
from vidence.engine.showers import Showers
from vidence.engine.showing import DecodeCount, Shown, ViewRules
from vidence.engine.specs import what_is_asked
from vidence.engine.subject import NotShownError, ShownSubject
from vidence.engine.workers import Workers
from vidence.errors import MediaError, RejectedRequestError, TransientModelError, UsageError
from vidence.media.encode import Encoding
from vidence.media.sizes import Size
from vidence.records import Failed, Item, Record, Reply


@dataclass(kw_only=True)
class Account:
    """What one session of a diagnostic did. `n_asked` were put to models, `n_remembered` were not."""

    n_planned: int = 0
    n_before: int = 0
    n_examined: int = 0
    n_failed: int = 0
    n_asked: int = 0
    n_remembered: int = 0
    cost: float = 0.0
    decoding: DecodeCount = field(default_factory=DecodeCount)


def open_diagnostic(name: str, options: Mapping[str, str]) -> Diagnostic:
    """The diagnostic of that name."""
    diagnostic: Diagnostic = create("diagnostic", Spec(name=name, options=options))
    return diagnostic


async def diagnose(  # noqa: PLR0913 - one call, one argument for each thing that differs
    diagnostic: Diagnostic,
    plan: Plan,
    folder: Path,
    *,
    options: Mapping[str, str],
    surroundings: Surroundings,
    now: datetime,
    on_event: Listener,
) -> Account:
    """Examine every question of a plan that was not examined yet; the findings are in the run folder.

    Args:
        diagnostic: what to find out, made with `options`.
        plan: what to ask, as for a run.
        folder: the run folder; a new one is made ready so that `vidence resume` can also run the plan.
        options: those of the diagnostic, kept with its findings.
        surroundings: cache and workers.
        now: written into the header of the findings.
        on_event: told of what happens.

    Raises:
        UsageError: the plan sends whole videos, of which no part can be shown.
        StoreError: the folder holds another run, or findings of something else.
        VidenceError: it cannot go on; every finding so far is kept.
    """
    if plan.layout == "video":
        raise UsageError(
            "diagnostics show parts of a video, and the layout 'video' sends it whole; add --layout images"
        )
    others = {name: model_spec(plan.model, spec) for name, spec in diagnostic.models().items()}
    views = _views(diagnostic, plan, words=open_templates(plan))
    selectors = [open_selector(plan.selector), *(view.selector for view in views.values())]
    specs = specs_asked(plan, selectors)
    judges = judge_specs(plan)
    n_others, n_asked = len(others), len(specs)
    async with opened_models([plan.model, *others.values(), *specs, *judges]) as (model, *rest):
        named = {"": model} | dict(zip(others, rest, strict=False))
        asked = asked_models(plan, model, specs=specs, models=rest[n_others : n_others + n_asked])
        judge_models = rest[n_others + n_asked :]
        prepared = prepare(plan, model=model, judge_models=judge_models, asked=asked, now=now)
        header = Header(
            diagnostic=diagnostic.name,
            version=diagnostic.version,
            options=dict(options),
            plan_digest=_digest(plan),
            content_hash=prepared.facts.content_hash,
            model_identities={name: one.identity for name, one in {**asked, **named}.items()},
            prompts_digest=prepared.facts.prompts_digest,
            started_at=now.isoformat(timespec="seconds"),
        )
        path = findings_path(folder, diagnostic.name, options)
        # The run is made ready, so that `vidence resume` can run it; its lock is held meanwhile.
        with opened_run(folder, prepared), FindingStore(path, header) as store:
            _, known = read_findings(path, diagnostic, {i.item_id: i for i in prepared.items})
            done = {item_id for item_id, one in known.items() if not isinstance(one.finding, Failed)}
            work = _Examination(
                prepared=prepared,
                store=store,
                on_event=on_event,
                named=named,
                asked=asked,
                views=views,
                diagnostic=diagnostic,
            )
            todo = [item for item in prepared.items if item.item_id not in done]
            return await work.run(todo, judge_models=judge_models, surroundings=surroundings)


def model_spec(base: str, spec: str) -> str:
    """The spec of another model; ``+key=value`` is the plan's own model with this option.

    >>> model_spec("openai:gpt-5?api=chat", "+thinking_budget=1024")
    'openai:gpt-5?api=chat&thinking_budget=1024'
    """
    if not spec.startswith("+"):
        return spec
    head, _, query = base.partition("?")
    changed = dict(pair.partition("=")[::2] for pair in filter(None, query.split("&")))
    changed |= dict(pair.partition("=")[::2] for pair in spec[1:].split("&"))
    return head + "?" + "&".join(f"{key}={value}" for key, value in changed.items())


def _digest(plan: Plan) -> str:
    """What decides the answers of a plan, as a short name."""
    return hashlib.sha256(msgspec.json.encode(what_is_asked(plan), order="sorted")).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class _Ready:
    item: Item
    views: Mapping[str, Shown | Failed]


@dataclass(kw_only=True)
class _Examination:
    """One session: showers bring questions with the frames of all views, examiners drive their flows."""

    diagnostic: Diagnostic
    prepared: Prepared
    store: FindingStore
    named: Mapping[str, Model]
    asked: Mapping[str, Model]
    views: Mapping[str, ViewRules]
    on_event: Listener
    account: Account = field(default_factory=Account)
    _askers: dict[str, Asker] = field(default_factory=dict)
    _panel: Panel | None = None

    async def run(
        self, todo: list[Item], *, judge_models: list[Model], surroundings: Surroundings
    ) -> Account:
        plan, account = self.prepared.plan, self.account
        account.n_planned = len(self.prepared.items)
        account.n_before = account.n_planned - len(todo)
        facts = self.prepared.facts
        self.on_event(
            Started(
                n_planned=account.n_planned,
                n_answered_before=account.n_before,
                notes=facts.notes,
                problems=facts.problems,
            )
        )
        if not todo:
            return account
        budget = Budget(price_in=plan.price_in, price_out=plan.price_out, max_cost=plan.max_cost)
        with opened_memory(plan, surroundings) as memory:
            for name, model in self.named.items():
                limits = limits_for(plan, model, budget=budget)
                self._askers[name] = Asker(model, memory=memory, limits=limits, on_event=self.on_event)
            bench = None
            if self.prepared.judge is not None:
                bench = opened_bench(
                    plan,
                    self.prepared.judge,
                    judge_models,
                    memory=memory,
                    beside=budget,
                    on_event=self.on_event,
                )
                self._panel = bench.panel
                self._askers |= {judge_name(i): seat.asker for i, seat in enumerate(bench.panel.seats)}
            async with Workers(surroundings.n_workers) as workers:
                desk = FrameDesk(
                    show_rules(self.prepared, surroundings),
                    workers=workers,
                    count=account.decoding,
                    on_trouble=lambda message: self.on_event(MediaTrouble(message=message)),
                    views=self.views,
                    askers=selector_askers(
                        plan, self.asked, main=self._askers[""], memory=memory, on_event=self.on_event
                    ),
                )
                try:
                    await self._work(todo, desk, n_showers=2 * surroundings.n_workers)
                finally:
                    account.cost = budget.cost + (bench.budget.cost if bench is not None else 0.0)
        return account

    async def _work(self, todo: list[Item], desk: FrameDesk, *, n_showers: int) -> None:
        groups: dict[str, list[Item]] = {}
        for item in todo:
            groups.setdefault(item.video_id, []).append(item)

        async def show(group: list[Item]) -> list[_Ready]:
            views = await desk.show_views(group)
            return [_Ready(item=item, views=views[item.item_id]) for item in group]

        showers = Showers(show=show, ask=self._add)
        n_askers = self.prepared.plan.concurrency
        await showers.work(groups.values(), n_showers=n_showers, n_askers=n_askers)

    async def _add(self, ready: _Ready) -> None:
        finding = await self._examine(ready)
        self.store.add(Examined(item=ready.item, finding=finding))
        self.account.n_examined += 1
        self.account.n_failed += isinstance(finding, Failed)
        self.on_event(ExaminedOne(item_id=ready.item.item_id, finding=finding))

    async def _examine(self, ready: _Ready) -> Record | Failed:
        subject = ShownSubject(item=ready.item, prepared=self.prepared, views=ready.views, panel=self._panel)

        async def ask(wanted: Ask) -> Reply:
            request = Request(
                item_id=ready.item.item_id,
                prompt=wanted.prompt,
                sampling=wanted.sampling or self.prepared.plan.sampling,
                images=subject.images_of(wanted.prompt),
                sample=wanted.sample,
            )
            asked = await self._askers[wanted.model].ask(request)
            self.account.n_remembered += asked.is_remembered
            self.account.n_asked += not asked.is_remembered
            return asked.reply

        try:
            return await drive(self.diagnostic.examine(subject), ask)
        except NotShownError as error:
            return error.failed
        except (TransientModelError, RejectedRequestError) as error:
            return Failed(stage="model", error=type(error).__name__, message=str(error))
        except (UsageError, MediaError) as error:
            return Failed(stage="prompting", error=type(error).__name__, message=str(error))


def _views(diagnostic: Diagnostic, plan: Plan, *, words: Words) -> dict[str, ViewRules]:
    wanted = diagnostic.views(selector=plan.selector, n_frames=plan.n_frames)
    return {name: _view_rules(view, plan, words=words) for name, view in wanted.items()}


def _view_rules(view: View, plan: Plan, *, words: Words) -> ViewRules:
    size = Size.parse(view.size or plan.size)
    is_montage = plan.layout.startswith("montage")
    return ViewRules(
        selector=open_selector(view.selector),
        selector_name=view.selector,
        n_frames=view.n_frames,
        encoding=Encoding(size=size, format="png" if is_montage else "jpeg", quality=plan.jpeg_quality),
        words=words,
        is_ranked=view.is_ranked,
    )
