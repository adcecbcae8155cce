"""How much at once, how long to wait, how much to spend."""

import math
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
import msgspec
import numpy as np

from vidence.ask.models.prices import Prices
from vidence.engine.events import Away, Back, Listener
from vidence.errors import (
    BudgetSpentError,
    RejectedRequestError,
    ServerDownError,
    TransientModelError,
    UsageError,
)
from vidence.records import Record, Reply
from vidence.text import sentence

SAME_COMMAND: Final = "the same command"
"""What goes on with work that has no command of its own for it."""
RESUME: Final = "`vidence resume`"
"""What goes on with a run."""


class AdaptiveLimit:
    """How many requests may be in flight: halved when the server has trouble (429, 5xx), then grown again.

    Additive increase, multiplicative decrease: a reply adds 1/limit, an overload halves, unless the
    request was sent before the last cut, because all those in flight report the same overload. A
    server that says how long to wait is left alone for that long by everybody.
    """

    def __init__(self, most: int, *, clock: Callable[[], float]) -> None:
        self._most = most
        self._allowed = float(most)
        self._clock = clock
        self._last_cut_s = -math.inf
        self._quiet_until_s = -math.inf
        self._last_reply_s = clock()
        self._slots = anyio.CapacityLimiter(most)

    @property
    def allowed(self) -> int:
        """How many requests may be in flight now."""
        return max(1, int(self._allowed))

    @property
    def silent_s(self) -> float:
        """How long ago the last reply came (or the run began), in seconds."""
        return self._clock() - self._last_reply_s

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait for a place, and for the end of a wait that the server asked for; gives the time then."""
        try:
            self._slots.acquire_nowait()
        except anyio.WouldBlock:
            await self._slots.acquire()
        try:
            while (wait_s := self._quiet_until_s - self._clock()) > 0:
                await anyio.sleep(wait_s)
            yield self._clock()
        finally:
            self._slots.release()

    def on_reply(self) -> None:
        """A request was answered: allow a little more."""
        self._last_reply_s = self._clock()
        self._allowed = min(float(self._most), self._allowed + 1.0 / self._allowed)
        self._slots.total_tokens = self.allowed

    def on_overload(self, retry_after_s: float | None, *, sent_s: float) -> None:
        """The server has too much to do, or fails: allow half, and keep quiet for as long as it asked."""
        now_s = self._clock()
        if retry_after_s is not None:
            self._quiet_until_s = max(self._quiet_until_s, now_s + retry_after_s)
        if sent_s > self._last_cut_s:
            self._last_cut_s = now_s
            self._allowed = max(1.0, self._allowed / 2)
            self._slots.total_tokens = self.allowed


class Pace:
    """How many requests, and tokens read and written, there may be in a minute, evenly spread.

    What a request takes is known when it is answered; until then it counts as much as those before it took
    on average. It is counted as it is then, so that the rate holds over a minute and not in every second.

    Args:
        requests_per_minute: None: as many as there are.
        tokens_per_minute: None: as many as there are.
        clock: the time in seconds.
    """

    def __init__(
        self,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        *,
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._clock = clock
        self._next_s = {"requests": -math.inf, "tokens": -math.inf}
        self._n_replies = 0
        self._n_tokens = 0

    async def turn(self) -> float:
        """Wait until one more may be sent; gives how many tokens it counts for the time being."""
        if self._requests is None and self._tokens is None:
            return 0.0
        expected = self._n_tokens / self._n_replies if self._n_replies else 0.0
        wait_s = max(self._next_s["requests"], self._next_s["tokens"]) - self._clock()
        self._count("requests", self._requests, 1.0)
        self._count("tokens", self._tokens, expected)
        if wait_s > 0:
            await anyio.sleep(wait_s)
        return expected

    def add(self, reply: Reply, *, expected: float) -> None:
        """A request was answered that counted for so many tokens."""
        n = (reply.usage.input_tokens or 0) + (reply.usage.output_tokens or 0)
        self._n_replies += 1
        self._n_tokens += n
        self._count("tokens", self._tokens, n - expected)

    def _count(self, what: str, per_minute: float | None, n: float) -> None:
        if per_minute is not None:
            begins_s = max(self._next_s[what], self._clock()) if n >= 0 else self._next_s[what]
            self._next_s[what] = begins_s + n * 60.0 / per_minute


@dataclass(kw_only=True)
class Backoff:
    """How long to wait before the next try: exponential with full jitter, never less than asked for.

    Units: seconds. `most_s` caps the wait that we choose, not one that the server asks for.
    """

    rng: np.random.Generator
    first_s: float = 0.5
    most_s: float = 30.0

    def wait_s(self, n_tries: int, retry_after_s: float | None) -> float:
        """The wait after `n_tries` tries that failed."""
        ceiling = min(self.most_s, self.first_s * 2.0 ** (n_tries - 1))
        chosen = float(self.rng.uniform(ceiling / 2, ceiling))
        return chosen if retry_after_s is None else retry_after_s + float(self.rng.uniform(0, 0.1 * ceiling))


@dataclass(kw_only=True)
class Budget:
    """Tokens and money of one session; without `prices` nothing costs anything.

    Budgets with the same list `shared` have one limit together: that of the answers and of the judges.
    """

    prices: Prices | None = None
    max_cost: float | None = None
    shared: "list[Budget]" = field(default_factory=list)
    input_tokens: int = field(default=0, init=False)
    output_tokens: int = field(default=0, init=False)
    cached_tokens: int = field(default=0, init=False)
    cost: float = field(default=0.0, init=False)
    """What was spent in this session, in US dollars."""
    _is_blind: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.shared.append(self)

    def add(self, reply: Reply) -> float:
        """Count the tokens of a reply that was paid for; what it cost, in US dollars."""
        n_in, n_out = reply.usage.input_tokens, reply.usage.output_tokens
        self._is_blind |= n_in is None and n_out is None
        self.input_tokens += n_in or 0
        self.output_tokens += n_out or 0
        self.cached_tokens += reply.usage.cached_tokens or 0
        cost = self.prices.cost(reply.usage) if self.prices else 0.0
        self.cost += cost
        return cost

    def check(self, *, again: str = SAME_COMMAND) -> None:
        """Raise `BudgetSpentError` when the limit is reached, or cannot be watched; `again` goes on then."""
        if self.max_cost is None:
            return
        if self._is_blind and self.prices is not None:
            raise BudgetSpentError(
                "the server states no token counts, so --max-cost cannot be enforced; answers are kept; run "
                "without a limit, or with one of the server's own"
            )
        spent = sum(budget.cost for budget in self.shared)
        if spent >= self.max_cost:
            raise BudgetSpentError(
                f"spent {spent:.4f} US dollars in this session, the limit is {self.max_cost:.4f}; answers "
                f"are kept, and {again} continues with a new limit"
            )


_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(s|m|h)?")
_UNIT_S = {"s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}


def duration_s(text: str) -> float:
    """The seconds of a duration such as ``90s``, ``15m`` or ``1h``; a number alone is seconds.

    Raises:
        UsageError: it is none.

    >>> duration_s("15m"), duration_s("1.5h"), duration_s("90")
    (900.0, 5400.0, 90.0)
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a duration; expected for example 90s, 15m or 1h")
    return float(match[1]) * _UNIT_S[match[2]]


class AskLimits(Record, omit_defaults=True):
    """How much is asked at once, how long it may take and what it may cost."""

    concurrency: int = 16
    """Requests in flight at most, for each model."""
    timeout_s: float = 180.0
    """How long to wait for one reply, in seconds."""
    attempts: int = 6
    """Tries for one request, the first included."""
    patience_s: float = 600.0
    """How many seconds to wait for a server that does not answer; with 0 its questions fail."""
    requests_per_minute: float | None = None
    """To each model; None: no bound."""
    tokens_per_minute: float | None = None
    """Read and written by each model; None: no bound."""
    max_cost: float | None = None
    """In US dollars, for all models of one session together."""
    seed: int = 0
    """Of the waiting times."""

    def __post_init__(self) -> None:
        if self.patience_s < 0:
            raise UsageError(f"patience_s is {self.patience_s}; expected 0 or more")
        for name, value in msgspec.structs.asdict(self).items():
            if name not in ("patience_s", "seed") and value is not None and value <= 0:
                raise UsageError(f"{name} is {value}; expected more than 0")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Everything that keeps a run from asking too much. `attempts` counts the first try.

    A refusal of a server that is overloaded is no try, as long as it answered somebody within the
    last `patience_s` seconds: whoever keeps to a quota must not lose questions to it. `patience_s` is also
    how long an `Outage` is sat out.
    """

    in_flight: AdaptiveLimit
    pace: Pace = field(default_factory=Pace)
    backoff: Backoff
    budget: Budget
    attempts: int
    timeout_s: float
    patience_s: float = 600.0
    longest_wait_s: float = 3600.0
    again: str = SAME_COMMAND
    """What goes on where these limits ended the work, as messages say it."""

    def check_wait(self, error: TransientModelError) -> None:
        """Raise `ServerDownError` when the server asks for a wait longer than the patience."""
        if error.retry_after_s is not None and error.retry_after_s > self.longest_wait_s:
            raise ServerDownError(
                f"the server asks to wait {error.retry_after_s:.0f} s ({error}); answers are kept, and "
                f"{self.again} continues"
            ) from error


class Outage:
    """Waits for a server that does not answer: no question fails, and one at a time probes it.

    An outage begins when a question has failed in all its tries for want of a server (no connection, 5xx,
    overload) and nobody was answered meanwhile. From then on nothing is sent but by the one whose turn it
    is; turns go round, so that a question which the server can never answer does not keep up the others. The
    first answer to anybody ends it. After `patience_s` seconds the run ends.
    """

    def __init__(self, limits: Limits, *, on_event: Listener) -> None:
        self._limits = limits
        self._clock = anyio.current_time
        self._on_event = on_event
        self._turn = anyio.Lock()
        self._n_waiting = 0
        self._last_answer_s = -math.inf
        self._error: TransientModelError | None = None  # the last of an outage
        self._began_s = 0.0
        self._n_probes = 0

    @property
    def is_on(self) -> bool:
        """Whether the server is down now."""
        return self._error is not None

    @property
    def has_answered(self) -> bool:
        """Whether the server ever answered."""
        return self._last_answer_s > -math.inf

    def has_answered_since(self, time_s: float) -> bool:
        """Whether the server answered after that time."""
        return self._last_answer_s > time_s

    def on_answer(self) -> None:
        """Note an answer of the server."""
        self._last_answer_s = self._clock()
        if self.is_on:
            self._error = None
            self._on_event(Back(after_s=self._last_answer_s - self._began_s))

    def on_silence(self, error: TransientModelError, *, since_s: float) -> None:
        """Note that the server did not answer; an outage that is not yet known began at `since_s`."""
        if not self.is_on:
            self._began_s, self._n_probes = since_s, 0
        self._error = error

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[bool]:
        """Wait for the turn to send something: at once, or in an outage when it is time to see if it is over.

        Gives whether it is an outage in which nobody else waits for a turn.

        Raises:
            ServerDownError: patience is spent.
        """
        async with AsyncExitStack() as held:
            if self.is_on:
                self._n_waiting += 1
                held.callback(self._leave)
                await held.enter_async_context(self._turn)
                if not await self._wait():
                    await held.aclose()
            yield self.is_on and self._n_waiting == 1

    def _leave(self) -> None:
        self._n_waiting -= 1

    async def _wait(self) -> bool:
        """Count down to the next probe; whether the outage still lasts then."""
        probe_s = self._clock() + self._limits.backoff.wait_s(self._n_probes + 1, None)
        end_s = self._began_s + self._limits.patience_s
        while self._error is not None:
            now_s = self._clock()
            if now_s >= end_s and self._n_probes:
                raise ServerDownError(self._words(self._error)) from self._error
            wait_s = min(probe_s, end_s) - now_s
            if wait_s <= 0:
                self._n_probes += 1
                break
            self._on_event(
                Away(
                    reason=str(self._error),
                    left_s=end_s - now_s,
                    wait_s=wait_s,
                    has_answered=self.has_answered,
                )
            )
            await anyio.sleep(min(wait_s, 1.0))
        return self._error is not None

    def _words(self, error: TransientModelError) -> str:
        silent_s, patience_s = self._clock() - self._began_s, self._limits.patience_s
        since = "the server stopped answering" if self.has_answered else "the server never answered"
        return (
            f"{since}, for {silent_s:.0f} s (--patience is {patience_s:g} s); the last error was: "
            f"{sentence(str(error))} Check the server; {self._limits.again} continues from here"
        )


class DownDetector:
    """Ends a run whose server answers with nothing that is of use, instead of trying for days.

    Counts questions that failed after all their tries, with no reply in between, and questions that
    were rejected before any was answered. A server that is away is an `Outage`.
    """

    def __init__(self, most: int, *, most_rejected: int = 20, again: str = SAME_COMMAND) -> None:
        self._most = most
        self._again = again
        self._most_rejected = most_rejected
        self._n_in_a_row = 0
        self._n_rejected = 0
        self._has_answered = False

    def on_reply(self) -> None:
        """Note an answer of the server."""
        self._n_in_a_row = 0
        self._has_answered = True

    def on_rejection(self, error: RejectedRequestError) -> None:
        """A question was rejected; raise when that is all that this server does."""
        self._n_in_a_row = 0
        self._n_rejected += 1
        if not self._has_answered and self._n_rejected >= self._most_rejected:
            raise ServerDownError(
                f"all of the first {self._n_rejected} questions were rejected; the last error was: "
                f"{sentence(str(error))} Check the number of frames, their size and the model's options"
            ) from error

    def on_failure(self, error: TransientModelError) -> None:
        """A question failed after all its tries; raise when there were too many of them in a row."""
        self._n_in_a_row += 1
        if self._n_in_a_row >= self._most:
            raise ServerDownError(
                f"{self._n_in_a_row} questions in a row got no answer after all their tries; the last error "
                f"was: {sentence(str(error))} Check the server; {self._again} continues from here"
            ) from error
