"""One session of a run: frames are prepared and questions are asked at the same time."""

from dataclasses import dataclass, field
from functools import partial

import anyio.to_thread
import msgspec

from vidence.ask.prompting.compose import Prompted
from vidence.contracts import Ask, Request
from vidence.engine.drive import Asker, drive
from vidence.engine.events import Listener, Tried
from vidence.engine.frames import FrameDesk
from vidence.engine.limits import Budget
from vidence.engine.marking import Panel, has_judge_error, marked, question
from vidence.engine.prepare import Prepared
from vidence.engine.showers import Showers
from vidence.engine.showing import DecodeCount, Shown
from vidence.engine.store import TrialStore
from vidence.errors import MediaError, RejectedRequestError, TransientModelError, UsageError
from vidence.records import Failed, Item, Reply, Selection, Trial, Unreadable

_GROUP_WITHOUT_MEDIA = 200


@dataclass(kw_only=True)
class Summary:
    """What one session of a run did. `cost` is in US dollars, judges included; the judges' tokens apart."""

    n_planned: int
    n_answered_before: int
    decoding: DecodeCount = field(default_factory=DecodeCount)
    n_tried: int = 0
    n_failed: int = 0
    n_remembered: int = 0
    cost: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    n_judge_errors: int = 0
    judge_input_tokens: int = 0
    judge_output_tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class _Ready:
    """One trial that can be asked now, or that failed before it could be.

    The choices of `item` are in the order in which they are shown; `choice_order` says which that is.
    """

    item: Item
    repeat: int
    shown: Shown | Failed
    choice_order: tuple[int, ...] = ()


@dataclass(kw_only=True)
class Session:
    """Showers bring questions with their frames, askers put them to the model; both at once."""

    prepared: Prepared
    store: TrialStore
    asker: Asker
    desk: FrameDesk
    budget: Budget
    summary: Summary
    on_event: Listener
    panel: Panel | None = None

    async def work(self, todo: list[tuple[Item, int]], *, n_askers: int, n_showers: int) -> None:
        """Ask everything; `BudgetSpentError` where the budget ends it early."""
        showers = Showers(show=self._show, ask=self._ask)
        await showers.work(self._groups(todo), n_showers=n_showers, n_askers=n_askers)

    def _groups(self, todo: list[tuple[Item, int]]) -> list[list[tuple[Item, int]]]:
        groups: dict[str, list[tuple[Item, int]]] = {}
        for n, (item, repeat) in enumerate(todo):
            name = item.video_id if self.prepared.model.looks else str(n // _GROUP_WITHOUT_MEDIA)
            groups.setdefault(name, []).append((item, repeat))
        return list(groups.values())

    async def _show(self, group: list[tuple[Item, int]]) -> list[_Ready]:
        items = list({item.item_id: item for item, _ in group}.values())
        if self.prepared.model.looks:
            shown = await self.desk.show(items)
        else:
            nothing = Selection(selector="none", version=1, frames=(), n_candidates=0)
            shown = {item.item_id: Shown(selection=nothing, frames=(), duration_s=0.0) for item in items}
        ready = []
        for item, repeat in group:
            order = self.prepared.choice_order(item, repeat)
            ready.append(
                _Ready(
                    item=item.with_order(order),
                    repeat=repeat,
                    shown=shown[item.item_id],
                    choice_order=order,
                )
            )
        return ready

    async def _ask(self, ready: _Ready) -> None:
        self._keep(await self._try(ready))

    async def _try(self, ready: _Ready) -> Trial:
        """One trial, asked again with other frames while its reply cannot be read and there are any."""
        if isinstance(ready.shown, Failed):
            return self._failed(ready, ready.shown)
        trial = await self._once(ready, ready.shown)
        for others in ready.shown.others:
            if not isinstance(trial.score.outcome, Unreadable):
                break
            trial = await self._once(ready, others)
        if self.panel is None or trial.reply is None:
            return trial
        score = await self.panel.mark(ready.item, trial.reply, ruled=trial.score)
        return msgspec.structs.replace(trial, score=score)

    async def _once(self, ready: _Ready, shown: Shown) -> Trial:
        """Ask with these frames, and read the reply."""
        item, parser = ready.item, self.prepared.parser_for(ready.item)
        try:
            prompted = await self._fill(item, shown)
        except (UsageError, MediaError) as error:
            failed = Failed(stage="prompting", error=type(error).__name__, message=str(error))
            return self._failed(ready, failed)
        is_remembered = True

        async def ask(wanted: Ask) -> Reply:
            nonlocal is_remembered
            request = Request(
                item_id=item.item_id,
                prompt=wanted.prompt,
                sampling=self.prepared.plan.sampling,
                images=prompted.images,
                sample=ready.repeat,
            )
            asked = await self.asker.ask(request)
            is_remembered &= asked.is_remembered
            return asked.reply

        reply: Reply | None = None
        try:
            reply, score = await drive(question(item, prompted.prompt, parser=parser), ask)
        except (TransientModelError, RejectedRequestError) as error:
            failed = Failed(stage="model", error=type(error).__name__, message=str(error))
            score = marked(item, failed, parser)
        return Trial(
            item_id=item.item_id,
            repeat=ready.repeat,
            choice_order=ready.choice_order,
            selection=shown.selection if self.prepared.model.looks else None,
            prompt=prompted.prompt,
            reply=reply,
            score=score,
            is_remembered=is_remembered and reply is not None,
        )

    async def _fill(self, item: Item, shown: Shown) -> Prompted:
        fill = partial(
            self.prepared.prompter.prompt, item, shown.frames, duration_s=shown.duration_s, video=shown.video
        )
        if self.prepared.plan.layout.startswith("montage"):  # pictures are made: not on the event loop
            return await anyio.to_thread.run_sync(fill)
        return fill()

    def _failed(self, ready: _Ready, failed: Failed) -> Trial:
        """The record of a trial that never got to the model."""
        shown = ready.shown if self.prepared.model.looks else None
        return Trial(
            item_id=ready.item.item_id,
            repeat=ready.repeat,
            choice_order=ready.choice_order,
            selection=shown.selection if isinstance(shown, Shown) else None,
            score=marked(ready.item, failed, self.prepared.parser_for(ready.item)),
        )

    def _keep(self, trial: Trial) -> None:
        self.store.add(trial)
        self.summary.n_tried += 1
        self.summary.n_failed += isinstance(trial.score.outcome, Failed)
        self.summary.n_remembered += trial.is_remembered
        self.summary.n_judge_errors += has_judge_error(trial.score)
        paid = trial.reply if trial.reply is not None and not trial.is_remembered else None
        self.on_event(Tried(trial=trial, cost=self.budget.price(paid) if paid else 0.0))
