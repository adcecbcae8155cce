"""One session of a run: frames are prepared and questions are asked at the same time."""

import logging
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio
import anyio.to_thread
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from vidence.contracts import Flow, Request, Scorer
from vidence.errors import (
    BudgetSpentError,
    MediaError,
    RejectedRequestError,
    TransientModelError,
    UsageError,
    VidenceError,
)
from vidence.prompting.compose import Prompted
from vidence.records import Failed, Item, Prompt, Reply, Score, Selection, Trial
from vidence.running.drive import Asker, drive
from vidence.running.events import Listener, Tried
from vidence.running.frames import DecodeCount, FrameDesk, Shown
from vidence.running.limits import Budget
from vidence.running.prepare import Prepared
from vidence.running.store import TrialStore

_log = logging.getLogger(__name__)
_GROUP_WITHOUT_MEDIA = 200


@dataclass(kw_only=True)
class Summary:
    """What one session of a run did. `cost` is in US dollars."""

    n_planned: int
    n_answered_before: int
    decoding: DecodeCount = field(default_factory=DecodeCount)
    n_tried: int = 0
    n_failed: int = 0
    n_remembered: int = 0
    cost: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class _Ready:
    """One trial that can be asked now, or that failed before it could be."""

    item: Item
    repeat: int
    shown: Shown | Failed


def _question(item: Item, prompt: Prompt, *, reader: Scorer) -> Flow[tuple[Reply, Score]]:
    """The simplest flow: ask once, read, mark."""
    (reply,) = yield (prompt,)
    return reply, _marked(item, reply, reader)


def _marked(item: Item, said: Reply | Failed, reader: Scorer) -> Score:
    """What a reply (or its absence) is worth; a reader that breaks loses neither the reply nor the run."""
    try:
        return _read(item, said, reader)
    except UsageError as error:
        broken = Failed(stage="scoring", error=type(error.__cause__ or error).__name__, message=str(error))
        return Score(
            outcome=said if isinstance(said, Failed) else broken,
            value=0.0,
            scorer=reader.name,
            scorer_version=reader.version,
        )


def _read(item: Item, said: Reply | Failed, reader: Scorer) -> Score:
    try:
        return reader.mark(item, said if isinstance(said, Failed) else reader.read(item, said))
    except Exception as error:
        _log.debug("the reader broke", exc_info=True)
        raise UsageError(
            f"the reader {reader.name!r} broke on item {item.item_id!r}: {type(error).__name__}: {error}"
        ) from error


@dataclass(kw_only=True)
class Session:
    """Showers bring questions with their frames, askers put them to the model; both at once.

    Showers take one group of questions about the same media at a time, so that memory holds the
    frames of a few videos, however long the run is.
    """

    prepared: Prepared
    store: TrialStore
    asker: Asker
    desk: FrameDesk
    budget: Budget
    summary: Summary
    on_event: Listener
    _budget_spent: BudgetSpentError | None = field(default=None, init=False)

    async def work(self, todo: list[tuple[Item, int]], *, n_askers: int, n_showers: int) -> None:
        """Ask everything; ends early when the budget is spent."""
        send, receive = anyio.create_memory_object_stream[_Ready](0)
        groups = iter(self._groups(todo))
        with _first_error():
            async with anyio.create_task_group() as tasks, send, receive:
                for _ in range(n_showers):
                    tasks.start_soon(self._show, groups, send.clone())
                for _ in range(n_askers):
                    tasks.start_soon(self._ask, receive.clone())
        if self._budget_spent is not None:
            raise self._budget_spent

    def _groups(self, todo: list[tuple[Item, int]]) -> list[list[tuple[Item, int]]]:
        groups: dict[str, list[tuple[Item, int]]] = {}
        for n, (item, repeat) in enumerate(todo):
            name = item.video_id if self.prepared.model.looks else str(n // _GROUP_WITHOUT_MEDIA)
            groups.setdefault(name, []).append((item, repeat))
        return list(groups.values())

    async def _show(
        self, groups: Iterator[list[tuple[Item, int]]], send: MemoryObjectSendStream[_Ready]
    ) -> None:
        nothing = Shown(
            selection=Selection(selector="none", version=1, frames=(), n_candidates=0),
            frames=(),
            duration_s=0.0,
        )
        async with aclosing(send):
            for group in groups:
                items = list({item.item_id: item for item, _ in group}.values())
                if self.prepared.model.looks:
                    shown = await self.desk.show(items)
                else:
                    shown = {item.item_id: nothing for item in items}
                for item, repeat in group:
                    try:
                        await send.send(_Ready(item=item, repeat=repeat, shown=shown[item.item_id]))
                    except anyio.BrokenResourceError:
                        return  # nobody asks any more: the budget is spent

    async def _ask(self, receive: MemoryObjectReceiveStream[_Ready]) -> None:
        async with aclosing(receive):
            async for ready in receive:
                try:
                    trial = await self._try(ready)
                except BudgetSpentError as error:
                    self._budget_spent = error
                    return
                self._keep(trial)

    async def _try(self, ready: _Ready) -> Trial:
        item, shown = ready.item, ready.shown
        if isinstance(shown, Failed):
            return self._trial(ready, shown)
        try:
            prompted = await self._fill(item, shown)
        except (UsageError, MediaError) as error:
            return self._trial(
                ready, Failed(stage="prompting", error=type(error).__name__, message=str(error))
            )
        try:
            return await self._put(ready, prompted)
        except (TransientModelError, RejectedRequestError) as error:
            failed = Failed(stage="model", error=type(error).__name__, message=str(error))
            return self._trial(ready, failed, prompt=prompted.prompt)

    async def _fill(self, item: Item, shown: Shown) -> Prompted:
        fill = partial(
            self.prepared.prompter.prompt, item, shown.frames, duration_s=shown.duration_s, video=shown.video
        )
        if self.prepared.plan.layout.startswith("montage"):  # pictures are made: not on the event loop
            return await anyio.to_thread.run_sync(fill)
        return fill()

    async def _put(self, ready: _Ready, prompted: Prompted) -> Trial:
        """Ask the model one question."""
        item, is_remembered = ready.item, True

        async def ask(prompt: Prompt) -> Reply:
            nonlocal is_remembered
            request = Request(
                item_id=item.item_id,
                prompt=prompt,
                sampling=self.prepared.plan.sampling,
                images=prompted.images,
                sample=ready.repeat,
            )
            asked = await self.asker.ask(request)
            is_remembered &= asked.is_remembered
            return asked.reply

        flow = _question(item, prompted.prompt, reader=self.prepared.reader_for(item))
        reply, score = await drive(flow, ask)
        made = self._trial(ready, score, prompt=prompted.prompt)
        return msgspec.structs.replace(made, reply=reply, is_remembered=is_remembered)

    def _trial(self, ready: _Ready, result: Score | Failed, *, prompt: Prompt | None = None) -> Trial:
        """The record of one trial; a failure is marked here."""
        item = ready.item
        reader = self.prepared.reader_for(item)
        shown = ready.shown if self.prepared.model.looks else None
        return Trial(
            item_id=item.item_id,
            repeat=ready.repeat,
            selection=shown.selection if isinstance(shown, Shown) else None,
            prompt=prompt,
            score=_marked(item, result, reader) if isinstance(result, Failed) else result,
        )

    def _keep(self, trial: Trial) -> None:
        self.store.add(trial)
        self.summary.n_tried += 1
        self.summary.n_failed += isinstance(trial.score.outcome, Failed)
        self.summary.n_remembered += trial.is_remembered
        paid = trial.reply if trial.reply is not None and not trial.is_remembered else None
        self.on_event(Tried(trial=trial, cost=self.budget.price(paid) if paid else 0.0))


@contextmanager
def _first_error() -> Iterator[None]:
    """Errors of vidence that ended a group of tasks come out as themselves."""
    try:
        yield
    except BaseExceptionGroup as group:
        found = next((e for e in group.exceptions if isinstance(e, VidenceError)), None)
        if found is None:
            raise
        raise found from group
