"""A worker: does the units that it pulls from the driver, in a session of its own.

It knows nothing of Ray: whoever carries `exchange` back and forth may be a thread, an actor or a test.
"""

import platform
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import anyio

from vidence.engine.environment import Environment
from vidence.engine.events import Event
from vidence.engine.executors.executor import Task
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
from vidence.engine.limits import Budget
from vidence.engine.session import Opening, Session, ShownSubject, Todo, opened_again
from vidence.engine.views import DecodeCount
from vidence.errors import UsageError, VidenceError
from vidence.records import Reply

LINGER_S = (0.01, 0.25)
"""How long messages wait for others, so that one call carries them all: at least, and at most."""
_LINGER_SHARE = 1 / 16  # of the time that a reply takes; there and back it is half of `_MORE_CONSUMERS`
_LATEST_SHARE = 0.2  # of the last reply in what counts as usual
MOST_MESSAGES = 2000
"""In one call: the store of objects of a machine may be small."""
BEAT_S = 1.0
"""How long a worker with nothing to say keeps a call waiting."""
# More questions are worked on than requests may be in flight, since looking up and storing costs trips; few
# more, since what is looked up is leased, and waits where this machine is slow.
_MORE_CONSUMERS = 1.25
_LEAST_MORE = 2


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """What a worker needs to begin: the session, and what is done with each question."""

    opening: Opening
    task: Task[Any]
    share: int
    """How many requests to each model it may have in flight at first."""
    part: float
    """Which part of the requests and tokens per minute is its at first."""


class Post:
    """The worker's side of the calls: messages that wait to be acknowledged, answers that are waited for.

    It is the reply memory (`engine.Replies`) of the worker's engine.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Message]] = deque()
        self._answers: dict[int, FindResult | bool] = {}
        self._events: dict[int, anyio.Event] = {}
        self._claimed: dict[bytes, float] = {}  # and since when
        self._usual_s = 0.0
        self._n_said = 0
        self._news = anyio.Event()

    # ---------------------------------------------------------------- as the reply memory

    async def find(self, key: bytes, *, claims: bool) -> Reply | None:
        """The reply under a key; the lease comes with the same trip where there is none."""
        if key in self._claimed:  # nobody else can have brought a reply since
            return None
        found = await self._asked(Find(key=key, claims=claims))
        if not isinstance(found, FindResult):
            return None
        if found.is_claimed:
            self._claimed[key] = anyio.current_time()
        return found.reply

    async def take(self, key: bytes) -> bool:
        """Whether the lease on a key is ours; `find` has taken it where that was possible."""
        return key in self._claimed

    async def keep(self, key: bytes, reply: Reply) -> None:
        """Have a reply remembered; it is on the driver's disk when this returns."""
        took_s = anyio.current_time() - self._claimed.get(key, anyio.current_time())
        self._usual_s += _LATEST_SHARE * (took_s - self._usual_s)
        await self._asked(PutReply(key=key, reply=reply))
        self._claimed.pop(key, None)

    def release(self, key: bytes) -> None:
        """Let go of a lease without a reply."""
        if key in self._claimed:
            del self._claimed[key]
            self.say(Release(key=key))

    # ---------------------------------------------------------------- messages

    def say(self, message: Message) -> int:
        """Put a message into the next call; its number."""
        self._n_said += 1
        self._waiting.append((self._n_said, message))
        self._news.set()
        return self._n_said

    async def _asked(self, message: Message) -> FindResult | bool:
        number = self.say(message)
        event = self._events[number] = anyio.Event()
        try:
            await event.wait()
        finally:
            del self._events[number]
        return self._answers.pop(number)

    def hear(self, inbound: Inbound) -> None:
        """Take what the driver says; what was heard before is heard again without harm."""
        while self._waiting and self._waiting[0][0] <= inbound.acknowledged:
            self._waiting.popleft()
        for number, answer in inbound.answers.items():
            if number in self._events and number not in self._answers:
                self._answers[number] = answer
                self._events[number].set()

    async def messages(self, *, is_urgent: bool) -> Sequence[tuple[int, Message]]:
        """All that is not acknowledged, as soon as there is something new, or when it is time for a sign."""
        if not is_urgent and not self._news.is_set():
            with anyio.move_on_after(BEAT_S):
                await self._news.wait()
        if not is_urgent and self._news.is_set():
            await anyio.sleep(self.linger_s)
        self._news = anyio.Event()
        if len(self._waiting) > MOST_MESSAGES:
            self._news.set()
        return tuple(islice(self._waiting, MOST_MESSAGES))

    @property
    def linger_s(self) -> float:
        """How long messages wait now; the longer replies take, the less it matters."""
        least_s, most_s = LINGER_S
        return min(most_s, max(least_s, _LINGER_SHARE * self._usual_s))

    @property
    def n_waiting(self) -> int:
        """How many messages are not acknowledged."""
        return len(self._waiting)

    def wake(self) -> None:
        """Let a call return now."""
        self._news.set()


@dataclass(kw_only=True)
class UnitFeed:
    """Units as they come from the driver: whoever waits for one makes the worker want it."""

    post: Post
    n_wanted: int = 0
    is_over: bool = False
    _ready: deque[Unit] = field(default_factory=deque)
    _known: set[int] = field(default_factory=set)
    _change: anyio.Event = field(default_factory=anyio.Event)
    unit_of: dict[tuple[str, int], int] = field(default_factory=dict)
    """The unit of every question with its repeat."""

    async def following(self) -> Todo | None:
        """The questions of the next unit."""
        self.n_wanted += 1
        self.post.wake()
        while not self._ready and not self.is_over:
            await self._change.wait()
        if not self._ready:
            return None
        unit = self._ready.popleft()
        for item, repeat in unit.todo:
            self.unit_of[item.item_id, repeat] = unit.number
        return unit.todo

    def add(self, units: Sequence[Unit], *, is_over: bool) -> None:
        """Units that the driver gave; one that is known is left alone."""
        new = [unit for unit in units if unit.number not in self._known]
        self._known.update(unit.number for unit in new)
        self._ready.extend(new)
        self.n_wanted -= len(new)
        self.is_over |= is_over
        if new or is_over:
            self._change.set()
            self._change = anyio.Event()


class Worker:
    """Does units until the driver says that all is done.

    Args:
        assignment: the session and the task.
        environment: cache and processes of this machine.
    """

    def __init__(self, assignment: Assignment, environment: Environment) -> None:
        self._assignment = assignment
        self._environment = environment
        self._post = Post()
        self._feed = UnitFeed(post=self._post)
        self._count = DecodeCount()
        self._session: Session | None = None
        self._has_ended = anyio.Event()
        self._stop = anyio.CancelScope()
        self._said = ((0, 0), (0, 0))  # tokens that the driver was told of

    async def run(self) -> None:
        """Open the session and work; errors that end it are told to the driver."""
        try:
            with self._stop:
                await self._work()
        except VidenceError as error:
            is_begun = self._session is not None
            self._post.say(Ended(error=error if is_begun else _not_begun(error)))
        except Exception as error:
            broken = VidenceError(f"a worker broke: {type(error).__name__}: {error}")
            self._post.say(Ended(error=broken))
            raise
        finally:
            self._has_ended.set()
            self._post.wake()

    async def _work(self) -> None:
        assignment = self._assignment
        share = assignment.share
        opened = opened_again(
            assignment.opening, environment=self._environment, replies=self._post, on_event=self._tell
        )
        async with opened as session:
            self._session = session
            session.engine.allow(share, part=assignment.part)
            most = session.prepared.model.max_in_flight
            n_asked = share if most is None else min(share, most)
            n_consumers = max(int(_MORE_CONSUMERS * n_asked), n_asked + _LEAST_MORE)
            await session.work(self._feed, self._do, n_consumers=n_consumers, count=self._count)

    async def _do(self, subject: ShownSubject) -> None:
        assert self._session is not None  # noqa: S101 - it is open while its questions are worked on
        made = await self._assignment.task(self._session, subject)
        item_id, repeat = subject.item.item_id, subject.repeat
        unit = self._feed.unit_of.pop((item_id, repeat))
        self._post.say(QuestionResult(unit=unit, item_id=item_id, repeat=repeat, what=made))

    def _tell(self, event: Event) -> None:
        self._post.say(ProgressEvent(event=event))

    async def exchange(self, inbound: Inbound) -> Outbound:
        """One call of the driver."""
        self._post.hear(inbound)
        self._feed.add(inbound.units, is_over=inbound.is_last)
        session = self._session
        if session is not None:
            session.engine.allow(inbound.share, part=inbound.part)
            session.asking.elsewhere, session.judging.elsewhere = inbound.elsewhere
        if inbound.is_over:
            with anyio.move_on_after(BEAT_S):
                await self._has_ended.wait()
            self._stop.cancel()
        else:
            self._account()
        messages = await self._post.messages(is_urgent=inbound.is_over)
        return Outbound(
            messages=messages,
            n_wanted=max(0, self._feed.n_wanted),
            has_ended=self._has_ended.is_set() and len(messages) == self._post.n_waiting,
        )

    def _account(self) -> None:
        """Say what was spent and decoded since this was last said."""
        session = self._session
        if session is None:
            return
        asking, judging = _tokens(session.asking), _tokens(session.judging)
        decoded = self._count.taken()
        said_asking, said_judging = self._said
        if (asking, judging) != self._said or decoded != DecodeCount():
            self._said = asking, judging
            self._post.say(
                Did(asking=_less(asking, said_asking), judging=_less(judging, said_judging), decoded=decoded)
            )


def _not_begun(error: VidenceError) -> UsageError:
    """What is missing here may be there where the run was begun: it is said which machine it is."""
    return UsageError(f"the machine {platform.node()} cannot begin: {error}")


def _tokens(budget: Budget) -> tuple[int, int]:
    return budget.input_tokens, budget.output_tokens


def _less(now: tuple[int, int], before: tuple[int, int]) -> tuple[int, int]:
    return now[0] - before[0], now[1] - before[1]
