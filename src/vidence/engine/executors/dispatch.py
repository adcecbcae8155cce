"""The driver's side: which worker does which unit, and what they say brought to the disk.

It knows nothing of Ray, and waits for nobody: whoever calls the workers hands over what they say.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from vidence.engine.executors.executor import Duty
from vidence.engine.executors.messages import (
    Did,
    Ended,
    Find,
    FindResult,
    Inbound,
    Message,
    Outbound,
    ProgressEvent,
    PutReply,
    QuestionResult,
    Release,
    Unit,
)
from vidence.engine.session import Session
from vidence.errors import BudgetSpentError, VidenceError

WITHOUT_MEDIA: Final = 16
"""Questions of a unit where no media are opened: few, so that the last units end together."""
_SLOW: Final = 1.5
_LEAST_S: Final = 1.0


@dataclass(kw_only=True)
class _Work:
    """A unit that was given to workers, and what of it is not done."""

    unit: Unit
    given_s: float
    left: set[tuple[str, int]]
    holders: set[str]


@dataclass(kw_only=True)
class _WorkerState:
    """What the driver knows of a worker."""

    last: int = 0
    """The number of its last message that is committed."""
    has_ended: bool = False
    claims: set[bytes] = field(default_factory=set)
    asking: list[int] = field(default_factory=lambda: [0, 0])
    """Tokens read and written for answers."""
    judging: list[int] = field(default_factory=lambda: [0, 0])


class Dispatch:
    """Gives units to workers as they want them, and keeps what they made.

    A unit whose worker is lost is given to another one, without what was kept of it. When all units are given
    out, a unit that takes `_SLOW` times as long as others is given to a second worker as well: the
    reply memory sees to it that nothing is asked twice, and what comes first is kept.

    Args:
        session: that of the driver.
        duty: what is to be done.
        clock: the time in seconds.
    """

    def __init__(self, session: Session, duty: Duty[Any], *, clock: Callable[[], float]) -> None:
        self._session = session
        self._duty = duty
        self._clock = clock
        groups = session.groups(duty.todo, most=WITHOUT_MEDIA)
        self._to_come = (Unit(number=number, todo=group) for number, group in enumerate(groups))
        self._queue = deque(islice(self._to_come, 1))  # the next one, and those that were given back
        self._given: dict[int, _Work] = {}
        self.n_left = len(duty.todo)
        """How many questions are not done."""
        self._workers: dict[str, _WorkerState] = {}
        self._took_s: deque[float] = deque(maxlen=200)
        self._error: VidenceError | None = None
        self.n_expected = 0
        """How many workers there are, those included that are about to begin."""
        self.spent: BudgetSpentError | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing is left; where the budget is spent, whether all have ended what they were at."""
        if self.spent is not None:
            return all(known.has_ended for known in self._workers.values())
        return not self._queue and not self._given

    @property
    def is_waiting(self) -> bool:
        """Whether a unit is with no worker."""
        return bool(self._queue)

    def has_work(self, worker: str) -> bool:
        """Whether a unit is with this worker, or could be."""
        return self.is_waiting or any(worker in work.holders for work in self._given.values())

    def join(self, worker: str) -> None:
        """A worker begins."""
        self._workers[worker] = _WorkerState()

    def leave(self, worker: str) -> None:
        """A worker has ended, or is lost: what it had is given to others."""
        known = self._workers.pop(worker, None)
        if known is None:
            return
        for key in known.claims:
            self._session.engine.memory.release(key)
        for number, work in list(self._given.items()):
            work.holders.discard(worker)
            if not work.holders:
                del self._given[number]
                left = [one for one in work.unit.todo if (one[0].item_id, one[1]) in work.left]
                self._queue.appendleft(Unit(number=number, todo=left))

    def share(self, worker: str) -> int:
        """How many requests to each model this worker may have in flight."""
        whole, rest = divmod(self._duty.n_consumers, max(1, len(self._workers), self.n_expected))
        return max(1, whole + (list(self._workers).index(worker) < rest))

    def heard(self, worker: str, outbound: Outbound) -> Inbound:
        """Keep what a worker says; the answer may be sent when this returns, since all is committed.

        Raises:
            VidenceError: a worker cannot go on, and so nobody can.
        """
        known, answers = self._workers[worker], dict[int, FindResult | bool]()
        memory = self._session.engine.memory
        new = [(number, message) for number, message in outbound.messages if number > known.last]
        if new:
            with memory.together(), self._duty.together():
                for number, message in new:
                    answer = self._taken(worker, known, message)
                    if answer is not None:
                        answers[number] = answer
            known.last = new[-1][0]
        known.has_ended = outbound.has_ended
        if self._error is not None:
            raise self._error
        return self._inbound(worker, known, answers, n_wanted=outbound.n_wanted)

    def first(self, worker: str) -> Inbound:
        """What a worker is told when it begins."""
        return self._inbound(worker, self._workers[worker], {}, n_wanted=0)

    def last(self, worker: str) -> Inbound:
        """What a worker is told when all is done."""
        known = self._workers[worker]
        return Inbound(
            acknowledged=known.last,
            answers={},
            units=(),
            share=1,
            part=1.0,
            elsewhere=(0.0, 0.0),
            is_last=True,
            is_over=True,
        )

    # ------------------------------------------------------------------ messages

    def _taken(self, worker: str, known: _WorkerState, message: Message) -> FindResult | bool | None:
        """The answer to one message; None where there is none."""
        memory = self._session.engine.memory
        match message:
            case Find(key=key, claims=claims):
                reply = memory.get(key)
                is_claimed = reply is None and claims and memory.claim(key)
                if is_claimed:
                    known.claims.add(key)
                return FindResult(reply=reply, is_claimed=is_claimed)
            case PutReply(key=key, reply=reply):
                memory.put(key, reply)
                known.claims.discard(key)
                return True
            case Release(key=key):
                memory.release(key)
                known.claims.discard(key)
            case QuestionResult():
                self._made(worker, message)
            case ProgressEvent(event=event):
                self._session.on_event(event)
            case Did():
                self._did(known, message)
            case Ended(error=error):
                self._ended(error)
        return None

    def _made(self, worker: str, made: QuestionResult) -> None:
        work, name = self._given.get(made.unit), (made.item_id, made.repeat)
        if work is None or name not in work.left:
            return  # another worker was faster
        self._duty.keep(made.what)
        work.left.remove(name)
        self.n_left -= 1
        if not work.left:
            del self._given[made.unit]
            self._took_s.append(self._clock() - work.given_s)

    def _did(self, known: _WorkerState, did: Did) -> None:
        session = self._session
        for budget, mine, more in (
            (session.asking, known.asking, did.asking),
            (session.judging, known.judging, did.judging),
        ):
            budget.input_tokens += more[0]
            budget.output_tokens += more[1]
            mine[0] += more[0]
            mine[1] += more[1]
        self._duty.count.join(did.decoded)

    def _ended(self, error: VidenceError) -> None:
        if isinstance(error, BudgetSpentError):
            self.spent = error
        else:
            self._error = error  # raised when what came with it is committed

    # ------------------------------------------------------------------ units

    def _inbound(
        self, worker: str, known: _WorkerState, answers: Mapping[int, FindResult | bool], *, n_wanted: int
    ) -> Inbound:
        asking, judging = self._session.asking, self._session.judging
        return Inbound(
            acknowledged=known.last,
            answers=answers,
            units=() if self.spent else self._units(worker, n_wanted),
            share=self.share(worker),
            part=1.0 / max(1, len(self._workers), self.n_expected),
            elsewhere=(
                asking.cost - asking.cost_of(*known.asking),
                judging.cost - judging.cost_of(*known.judging),
            ),
            is_last=self.spent is not None,
        )

    def _units(self, worker: str, n_wanted: int) -> list[Unit]:
        units: list[Unit] = []
        now_s = self._clock()
        while len(units) < n_wanted and self._queue:
            unit = self._queue.popleft()
            if not self._queue:
                self._queue.extend(islice(self._to_come, 1))
            left = {(item.item_id, repeat) for item, repeat in unit.todo}
            self._given[unit.number] = _Work(unit=unit, given_s=now_s, left=left, holders={worker})
            units.append(unit)
        if not units and n_wanted and (slow := self._slowest(worker, now_s)) is not None:
            slow.holders.add(worker)
            # From the end: the first ones are under way with the other worker.
            left = slow.left
            todo = [one for one in reversed(slow.unit.todo) if (one[0].item_id, one[1]) in left]
            units.append(Unit(number=slow.unit.number, todo=todo))
        return units

    def _slowest(self, worker: str, now_s: float) -> _Work | None:
        """The unit that another worker alone has had for too long; None where there is none."""
        usual_s = sorted(self._took_s)[len(self._took_s) // 2] if self._took_s else 0.0
        long_s = max(_LEAST_S, _SLOW * usual_s)
        alone = (
            work
            for work in self._given.values()
            if len(work.holders) == 1 and worker not in work.holders and now_s - work.given_s > long_s
        )
        return min(alone, key=lambda work: work.given_s, default=None)
