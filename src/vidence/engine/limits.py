"""Limits of concurrency, waiting and spending."""

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
"""How to continue work that has no command for it, in messages."""
RESUME: Final = "`vidence resume`"
"""How to continue a run, in messages."""


class AdaptiveLimit:
    """The number of concurrent requests: halved when the server has trouble (429, 5xx), then raised again.

    Additive increase, multiplicative decrease: a reply adds 1/limit, an overload halves it, unless the
    request was sent before the last cut, because all requests in flight report the same overload. If a server
    states a waiting time, no request is sent before it has passed.
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
        """Return how many requests may be in flight now."""
        return max(1, int(self._allowed))

    @property
    def silent_s(self) -> float:
        """Return the seconds since the last reply, or since the start."""
        return self._clock() - self._last_reply_s

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait for a slot, and for the end of a wait that the server asked for; yield the time."""
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
        """Raise the limit a little after a reply."""
        self._last_reply_s = self._clock()
        self._allowed = min(float(self._most), self._allowed + 1.0 / self._allowed)
        self._slots.total_tokens = self.allowed

    def on_overload(self, retry_after_s: float | None, *, sent_s: float) -> None:
        """Halve the limit after an overload or server error, and wait as long as the server asks."""
        now_s = self._clock()
        if retry_after_s is not None:
            self._quiet_until_s = max(self._quiet_until_s, now_s + retry_after_s)
        if sent_s > self._last_cut_s:
            self._last_cut_s = now_s
            self._allowed = max(1.0, self._allowed / 2)
            self._slots.total_tokens = self.allowed


class Pace:
    """Rate limits per minute for requests and for tokens, evenly spread.

    A request's tokens are known only when it is answered; until then the average of earlier requests is
    assumed. Tokens count when known, so the rate holds per minute but not per second.

    Args:
        requests_per_minute: None: unlimited.
        tokens_per_minute: None: unlimited.
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
        """Wait until another request may be sent; return its assumed tokens."""
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
        """Record the reply to a request with these assumed tokens."""
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
    """Waiting times between tries: exponential with full jitter, at least as long as the server asks.

    Units: seconds. `most_s` limits our own waiting times, not those that the server asks for.
    """

    rng: np.random.Generator
    first_s: float = 0.5
    most_s: float = 30.0

    def wait_s(self, n_tries: int, retry_after_s: float | None) -> float:
        """Return the wait after `n_tries` failed tries."""
        ceiling = min(self.most_s, self.first_s * 2.0 ** (n_tries - 1))
        chosen = float(self.rng.uniform(ceiling / 2, ceiling))
        return chosen if retry_after_s is None else retry_after_s + float(self.rng.uniform(0, 0.1 * ceiling))


@dataclass(kw_only=True)
class Budget:
    """Tokens and cost of one session; without `prices` the cost is 0.

    Budgets with the same list `shared` have a common limit, as those of answers and judges.
    """

    prices: Prices | None = None
    max_cost: float | None = None
    shared: "list[Budget]" = field(default_factory=list)
    input_tokens: int = field(default=0, init=False)
    output_tokens: int = field(default=0, init=False)
    cached_tokens: int = field(default=0, init=False)
    cost: float = field(default=0.0, init=False)
    """US dollars spent in this session."""
    _is_blind: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.shared.append(self)

    def add(self, reply: Reply) -> float:
        """Count the tokens of a paid reply, and return its cost in US dollars."""
        n_in, n_out = reply.usage.input_tokens, reply.usage.output_tokens
        self._is_blind |= n_in is None and n_out is None
        self.input_tokens += n_in or 0
        self.output_tokens += n_out or 0
        self.cached_tokens += reply.usage.cached_tokens or 0
        cost = self.prices.cost(reply.usage) if self.prices else 0.0
        self.cost += cost
        return cost

    def check(self, *, again: str = SAME_COMMAND) -> None:
        """Raise `BudgetSpentError` if the limit is reached or uncheckable; `again` continues the work."""
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
    """Return the seconds of a duration such as ``90s``, ``15m`` or ``1h``; a bare number is seconds.

    Raises:
        UsageError: not a duration.

    >>> duration_s("15m"), duration_s("1.5h"), duration_s("90")
    (900.0, 5400.0, 90.0)
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a duration; expected for example 90s, 15m or 1h")
    return float(match[1]) * _UNIT_S[match[2]]


class AskLimits(Record, omit_defaults=True):
    """Limits of concurrency, time and cost."""

    concurrency: int = 16
    """Most concurrent requests per model."""
    timeout_s: float = 180.0
    """Timeout of a request in seconds."""
    attempts: int = 6
    """Tries per request, including the first."""
    patience_s: float = 600.0
    """Seconds to wait for a server that does not answer; with 0, questions fail at once."""
    requests_per_minute: float | None = None
    """Requests per minute for each model; None: unlimited."""
    tokens_per_minute: float | None = None
    """Input and output tokens per minute for each model; None: unlimited."""
    max_cost: float | None = None
    """US dollars for all models of a session together."""
    seed: int = 0
    """Seed of the waiting times."""

    def __post_init__(self) -> None:
        if self.patience_s < 0:
            raise UsageError(f"patience_s is {self.patience_s}; expected 0 or more")
        for name, value in msgspec.structs.asdict(self).items():
            if name not in ("patience_s", "seed") and value is not None and value <= 0:
                raise UsageError(f"{name} is {value}; expected more than 0")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """All limits of a run. `attempts` includes the first try.

    An overload refusal does not count as a try if the server answered any request in the last `patience_s`
    seconds: respecting a quota must not lose questions. `patience_s` also bounds an `Outage`.
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
    """How to continue after a limit ended the work, for messages."""

    def check_wait(self, error: TransientModelError) -> None:
        """Raise `ServerDownError` if the server asks for a wait longer than the patience."""
        if error.retry_after_s is not None and error.retry_after_s > self.longest_wait_s:
            raise ServerDownError(
                f"the server asks to wait {error.retry_after_s:.0f} s ({error}); answers are kept, and "
                f"{self.again} continues"
            ) from error


class Outage:
    """Waits for a server that is down: no question fails, and one request at a time probes the server.

    An outage starts when a request has failed in all its tries without a server (no connection, 5xx,
    overload) and no other request was answered meanwhile. Only the request whose turn it is is then sent;
    turns rotate, so that a request that the server can never answer does not block the others. The first
    answer ends the outage. After `patience_s` seconds the run ends.
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
        """Record an answer of the server."""
        self._last_answer_s = self._clock()
        if self.is_on:
            self._error = None
            self._on_event(Back(after_s=self._last_answer_s - self._began_s))

    def on_silence(self, error: TransientModelError, *, since_s: float) -> None:
        """Record that the server did not answer; a new outage counts from `since_s`."""
        if not self.is_on:
            self._began_s, self._n_probes = since_s, 0
        self._error = error

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[bool]:
        """Wait for the turn to send: at once, or in an outage at the next probe.

        Yields whether there is an outage and no other request waits for a turn.

        Raises:
            ServerDownError: patience has run out.
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
        """Count down to the next probe; return whether the outage still lasts."""
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
        since = "the server stopped answering" if self.has_answered else "no request has succeeded"
        return (
            f"{since}, for {silent_s:.0f} s (--patience is {patience_s:g} s); the last error was: "
            f"{sentence(str(error))} Check the server; {self._limits.again} continues from here"
        )


class DownDetector:
    """Ends a run whose server gives no usable answers, instead of trying for days.

    Counts consecutive questions that failed in all their tries, and questions rejected before any was
    answered. A server that does not respond is an `Outage`.
    """

    def __init__(self, most: int, *, most_rejected: int = 20, again: str = SAME_COMMAND) -> None:
        self._most = most
        self._again = again
        self._most_rejected = most_rejected
        self._n_in_a_row = 0
        self._n_rejected = 0
        self._has_answered = False

    def on_reply(self) -> None:
        """Record an answer of the server."""
        self._n_in_a_row = 0
        self._has_answered = True

    def on_rejection(self, error: RejectedRequestError) -> None:
        """Record a rejected question; raise if the server has done nothing else."""
        self._n_in_a_row = 0
        self._n_rejected += 1
        if not self._has_answered and self._n_rejected >= self._most_rejected:
            raise ServerDownError(
                f"all of the first {self._n_rejected} questions were rejected; the last error was: "
                f"{sentence(str(error))} Check the number of frames, their size and the model's options"
            ) from error

    def on_failure(self, error: TransientModelError) -> None:
        """Record a question that failed in all its tries; raise after too many in a row."""
        self._n_in_a_row += 1
        if self._n_in_a_row >= self._most:
            raise ServerDownError(
                f"{self._n_in_a_row} questions in a row got no answer after all their tries; the last error "
                f"was: {sentence(str(error))} Check the server; {self._again} continues from here"
            ) from error
