"""How much at once, how long to wait, how much to spend."""

import anyio
import numpy as np
import pytest

from servers import virtual_time
from servers.virtual_time import in_loop
from vidence.ask.models.prices import Prices
from vidence.engine.limits import (
    AdaptiveLimit,
    AskLimits,
    Backoff,
    Budget,
    DownDetector,
    Limits,
    Pace,
    duration_s,
)
from vidence.errors import (
    BudgetSpentError,
    RejectedRequestError,
    ServerDownError,
    TransientModelError,
    UsageError,
)
from vidence.records import Reply, Usage


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@in_loop
async def test_overload_halves_once_per_round_and_replies_grow_it_back():
    clock = Clock()
    limit = AdaptiveLimit(16, clock=clock)
    clock.now_s = 1.0
    for _ in range(16):
        limit.on_overload(None, sent_s=0.0)
    assert limit.allowed == 8
    clock.now_s = 30.0
    limit.on_overload(None, sent_s=0.5)  # it was under way when the limit was cut
    assert limit.allowed == 8
    limit.on_overload(None, sent_s=2.0)
    assert limit.allowed == 4
    for _ in range(4):
        limit.on_reply()
    assert limit.allowed == 4  # 4 + 4 * about 1/4.5: not yet 5
    for _ in range(200):
        limit.on_reply()
    assert limit.allowed == 16


@in_loop
async def test_never_below_one_in_flight():
    clock = Clock()
    limit = AdaptiveLimit(2, clock=clock)
    for second in range(5):
        clock.now_s = float(second * 2)
        limit.on_overload(None, sent_s=clock.now_s)
    assert limit.allowed == 1


@in_loop
async def test_silence_is_counted_from_the_last_reply():
    clock = Clock()
    limit = AdaptiveLimit(2, clock=clock)
    clock.now_s = 7.0
    assert limit.silent_s == 7.0
    limit.on_reply()
    clock.now_s = 9.0
    assert limit.silent_s == 2.0


@in_loop
async def test_everybody_keeps_quiet_as_long_as_the_server_asked():
    limit = AdaptiveLimit(4, clock=anyio.current_time)
    start_s = anyio.current_time()
    limit.on_overload(0.05, sent_s=start_s)
    async with limit.slot():
        assert anyio.current_time() - start_s >= 0.049


def test_a_wait_that_was_asked_for_ends_when_it_was_said_and_the_longest_counts():
    async def go() -> list[float]:
        found = []
        limit = AdaptiveLimit(4, clock=anyio.current_time)
        await anyio.sleep(100.0)
        limit.on_overload(7.0, sent_s=0.0)
        limit.on_overload(3.0, sent_s=0.0)
        async with limit.slot() as now_s:
            found.append(now_s)
        async with limit.slot() as now_s:
            found.append(now_s)
        return found

    assert virtual_time.run(go) == pytest.approx([107.0, 107.0])


@in_loop
async def test_no_more_in_flight_than_allowed():
    limit = AdaptiveLimit(3, clock=anyio.current_time)
    inside, most = 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with limit.slot():
            inside += 1
            most = max(most, inside)
            await anyio.sleep(0.001)
            inside -= 1

    async with anyio.create_task_group() as tasks:
        for _ in range(12):
            tasks.start_soon(one)
    assert most == 3


def test_backoff_grows_is_capped_and_never_below_what_was_asked():
    backoff = Backoff(rng=np.random.default_rng(0), first_s=1.0, most_s=8.0)
    for n_tries, ceiling_s in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (9, 8.0)]:
        waits = [backoff.wait_s(n_tries, None) for _ in range(50)]
        assert all(ceiling_s / 2 <= w <= ceiling_s for w in waits)
        assert len(set(waits)) > 40  # jitter
    assert all(30.0 <= backoff.wait_s(1, 30.0) <= 30.1 for _ in range(20))


def test_budget_counts_tokens_and_stops_at_the_limit():
    budget = Budget(prices=Prices(input=2.0, output=10.0), max_cost=0.01)
    reply = Reply(text="A", usage=Usage(input_tokens=1000, output_tokens=200))
    for _ in range(2):
        budget.check()
        assert budget.add(reply) == pytest.approx(0.004)
    budget.check()
    budget.add(reply)
    assert budget.cost == pytest.approx(0.012)
    with pytest.raises(BudgetSpentError, match=r"spent 0\.0120 .* limit is 0\.0100"):
        budget.check()


def test_budget_without_a_limit_never_stops():
    budget = Budget()
    budget.add(Reply(text="", usage=Usage()))
    budget.check()
    assert budget.cost == 0.0
    # What has no price costs nothing, however many tokens it takes.
    spent = Reply(text="", usage=Usage(input_tokens=1000, output_tokens=200))
    assert (budget.add(spent), budget.cost) == (0.0, 0.0)
    assert (budget.input_tokens, budget.output_tokens) == (1000, 200)


def test_down_detector_needs_failures_in_a_row():
    down = DownDetector(most=3)
    error = TransientModelError("connection refused")
    down.on_failure(error)
    down.on_failure(error)
    down.on_reply()
    down.on_failure(error)
    down.on_failure(error)
    with pytest.raises(ServerDownError, match=r"3 questions in a row .* connection refused"):
        down.on_failure(error)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90.0), ("15m", 900.0), ("1h", 3600.0), ("0", 0.0), (" 1.5 m ", 90.0)]
)
def test_a_duration_has_a_unit(text, seconds):
    assert duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "-1s", "1d", "15min", "nan", "1e3", "٣s", "1" * 400])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(UsageError, match="is not a duration; expected for example 90s, 15m or 1h"):
        duration_s(text)


def test_one_count_of_tokens_is_enough_to_watch_a_limit():
    budget = Budget(prices=Prices(input=2.0, output=10.0), max_cost=1.0)
    budget.add(Reply(text="A", usage=Usage(input_tokens=10)))
    budget.check()
    assert budget.cost == pytest.approx(2e-5)
    assert budget.add(Reply(text="A", usage=Usage(input_tokens=10))) == pytest.approx(2e-5)
    assert budget.add(Reply(text="A", usage=Usage(output_tokens=10))) == pytest.approx(1e-4)
    assert (budget.input_tokens, budget.output_tokens) == (20, 10)


def test_budgets_that_share_a_limit_are_counted_together():
    answers = Budget(prices=Prices(input=1e6, output=0.0), max_cost=10.0)
    judges = Budget(prices=Prices(input=0.0, output=1e6), max_cost=10.0, shared=answers.shared)
    answers.add(Reply(text="A", usage=Usage(input_tokens=4, output_tokens=3)))
    judges.add(Reply(text="A", usage=Usage(input_tokens=3, output_tokens=5)))
    answers.check()
    judges.add(Reply(text="A", usage=Usage(input_tokens=0, output_tokens=1)))
    for one in (answers, judges):
        with pytest.raises(BudgetSpentError, match=r"spent 10\.0000"):
            one.check()


def test_a_model_without_prices_needs_no_counts():
    budget = Budget(max_cost=1.0)
    budget.add(Reply(text="A", usage=Usage()))
    budget.check()
    for prices in (Prices(input=1.0, output=0.0), Prices(input=0.0, output=1.0)):
        blind = Budget(max_cost=1.0, prices=prices)
        blind.add(Reply(text="A", usage=Usage()))
        with pytest.raises(BudgetSpentError, match="states no token counts"):
            blind.check()


def paced(n, *, tokens=0, latency_s=0.0, **rates):
    """When each of `n` requests is sent, where all want to be sent at once."""

    async def go():
        pace, sent_s = Pace(**rates), []

        async def one():
            expected = await pace.turn()
            sent_s.append(anyio.current_time())
            await anyio.sleep(latency_s)
            pace.add(Reply(text="A", usage=Usage(input_tokens=tokens, output_tokens=0)), expected=expected)

        async with anyio.create_task_group() as tasks:
            for _ in range(n):
                tasks.start_soon(one)
        return sent_s

    return virtual_time.run(go)


def test_without_a_rate_nothing_waits():
    assert paced(50, tokens=1000) == [0.0] * 50


def test_requests_of_a_minute_are_spread_evenly():
    assert paced(4, requests_per_minute=60) == pytest.approx([0.0, 1.0, 2.0, 3.0])


def test_tokens_hold_over_a_minute_though_they_are_known_late():
    async def go():
        pace, sent_s = Pace(tokens_per_minute=6000), []
        for _ in range(5):
            expected = await pace.turn()
            sent_s.append(anyio.current_time())
            pace.add(Reply(text="A", usage=Usage(input_tokens=90, output_tokens=10)), expected=expected)
        return sent_s

    # 100 tokens each at 100 a second; what was expected is not counted twice.
    assert virtual_time.run(go) == pytest.approx([0.0, 1.0, 2.0, 3.0, 4.0])


def test_limits_of_nothing_are_refused():
    for name in ("requests_per_minute", "tokens_per_minute"):
        with pytest.raises(UsageError, match=f"{name} is 0; expected more than 0"):
            AskLimits(**{name: 0})
    with pytest.raises(UsageError, match=r"patience_s is -1\.0; expected 0 or more"):
        AskLimits(patience_s=-1.0)


def test_what_a_request_counts_for_is_the_mean_of_those_before_it():
    async def go():
        pace, expected = Pace(tokens_per_minute=6000), []
        for n in (100, 300, 50):
            expected.append(await pace.turn())
            reply = Reply(text="A", usage=Usage(input_tokens=n - 10, output_tokens=10))
            pace.add(reply, expected=expected[-1])
        expected.append(await pace.turn())
        return expected

    assert virtual_time.run(go) == pytest.approx([0.0, 100.0, 200.0, 150.0])


def test_the_slower_of_two_rates_counts_and_replies_without_counts_take_nothing():
    assert paced(3, tokens=0, requests_per_minute=30, tokens_per_minute=10) == pytest.approx([0.0, 2.0, 4.0])

    async def go():
        pace, sent_s = Pace(requests_per_minute=60, tokens_per_minute=60), []
        for _ in range(3):
            expected = await pace.turn()
            sent_s.append(anyio.current_time())
            pace.add(Reply(text="A", usage=Usage(input_tokens=3)), expected=expected)
        pace.add(Reply(text="A", usage=Usage()), expected=0.0)
        return sent_s

    assert virtual_time.run(go) == pytest.approx([0.0, 3.0, 6.0])


def test_rejections_end_a_run_only_where_nobody_was_answered():
    error = RejectedRequestError("too large")
    down = DownDetector(most=2, most_rejected=3)
    down.on_rejection(error)
    down.on_rejection(error)
    with pytest.raises(ServerDownError, match="all of the first 3 questions were rejected"):
        down.on_rejection(error)
    answered = DownDetector(most=2, most_rejected=3)
    answered.on_reply()
    for _ in range(5):
        answered.on_rejection(error)
    # A rejection is an answer of the server: failures are counted from it.
    lost = TransientModelError("gone")
    answered.on_failure(lost)
    answered.on_rejection(error)
    answered.on_failure(lost)
    with pytest.raises(ServerDownError, match="2 questions in a row"):
        answered.on_failure(lost)
    usual = DownDetector(most=2)
    for _ in range(19):
        usual.on_rejection(error)
    with pytest.raises(ServerDownError, match="all of the first 20 questions were rejected"):
        usual.on_rejection(error)


def test_a_wait_beyond_an_hour_ends_the_run():
    limits = Limits(
        in_flight=None,
        backoff=None,
        budget=Budget(),
        attempts=1,
        timeout_s=1.0,  # type: ignore[arg-type]
    )
    limits.check_wait(TransientModelError("busy", retry_after_s=3600.0))
    limits.check_wait(TransientModelError("busy"))
    with pytest.raises(ServerDownError, match="asks to wait 3601 s"):
        limits.check_wait(TransientModelError("busy", retry_after_s=3601.0))
