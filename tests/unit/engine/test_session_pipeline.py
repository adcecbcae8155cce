"""Producers and consumers at the same time: order of memory, the budget, errors."""

import errno
import os

import anyio
import pytest

from vidence.engine.session import Pipeline, each
from vidence.errors import BudgetSpentError, UsageError


def work(groups, produce, consume, *, n_producers=2, n_consumers=2):
    anyio.run(
        lambda: Pipeline(produce=produce, consume=consume).work(
            groups, n_producers=n_producers, n_consumers=n_consumers
        )
    )


async def doubled(group):
    return [2 * one for one in group]


def test_everything_is_produced_and_consumed_once():
    seen = []

    async def keep(one):
        await anyio.sleep(0)
        seen.append(one)

    work([[1, 2], [], [3], [4, 5]], doubled, keep)
    assert sorted(seen) == [2, 4, 6, 8, 10]


def test_nothing_is_produced_long_before_it_is_consumed():
    produced, ahead = [], []

    async def produce(group):
        produced.append(group)
        return [group]

    async def slow(one):
        ahead.append(len(produced) - one)
        await anyio.sleep(0.001)

    work(range(50), produce, slow, n_producers=1, n_consumers=1)
    assert len(ahead) == 50
    assert max(ahead) <= 3


@pytest.mark.parametrize("where", ["produce", "consume"])
def test_a_spent_budget_ends_what_is_not_begun_and_comes_out(where):
    seen = []

    async def produce(group):
        if where == "produce" and group == 3:
            raise BudgetSpentError("spent")
        return [group]

    async def consume(one):
        if where == "consume" and one == 3:
            raise BudgetSpentError("spent")
        seen.append(one)

    with pytest.raises(BudgetSpentError, match="spent"):
        work(range(100), produce, consume, n_producers=1, n_consumers=1)
    assert seen == [0, 1, 2]


def test_the_first_error_ends_the_work_as_itself():
    async def consume(one):
        raise UsageError(f"bad {one}")

    with pytest.raises(UsageError, match="bad 0"):
        work([[0], [1]], doubled, consume, n_consumers=1)


def test_other_errors_keep_their_group():
    async def consume(one):
        raise ValueError("a") if one == 0 else UsageError("b")

    with pytest.raises(ExceptionGroup) as caught:
        work([[0]], doubled, consume, n_consumers=1)
    assert [str(one) for one in caught.value.exceptions] == ["a"]

    async def together(one):
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.001)
        await consume(one)

    with pytest.raises(UsageError, match="b"):  # that of vidence, of several
        work([[0, 1]], doubled, together, n_consumers=2)


def test_things_are_consumed_as_they_are_by_so_many_at_once():
    running, most, seen = 0, 0, []

    async def consume(one):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.001)
        running -= 1
        seen.append(one)

    anyio.run(lambda: each(range(9), consume, n_consumers=3))
    assert sorted(seen) == list(range(9))
    assert most == 3


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOENT])
def test_too_many_open_files_are_a_message_and_other_errors_of_the_system_a_fault(number):
    async def consume(one):
        raise OSError(number, os.strerror(number))

    if number == errno.EMFILE:
        with pytest.raises(UsageError, match=r"Too many open files\); lower --concurrency"):
            work([[0]], doubled, consume)
    else:
        with pytest.raises(ExceptionGroup):
            work([[0]], doubled, consume)


def test_the_first_of_a_group_may_go_ahead_of_its_others():
    events = []

    async def consume(one):
        events.append(("begins", one))
        await anyio.sleep(0.001)
        events.append(("ends", one))

    async def as_it_is(group):
        return group

    groups = [[f"{name}{n}" for n in range(4)] for name in "abc"]
    pipeline = Pipeline(produce=as_it_is, consume=consume, first_alone=True)
    anyio.run(lambda: pipeline.work(groups, n_producers=1, n_consumers=9))
    assert len(events) == 24
    for first, *rest in groups:
        assert all(events.index(("ends", first)) < events.index(("begins", one)) for one in rest)
        # the others do not wait for one another, nor for other groups
        assert events.index(("begins", rest[2])) < events.index(("ends", rest[0]))
    assert events.index(("begins", "c0")) < events.index(("ends", "a0"))


def test_others_that_wait_for_a_first_end_with_the_budget():
    seen = []

    async def consume(one):
        seen.append(one)
        raise BudgetSpentError("spent")

    async def as_it_is(group):
        return group

    pipeline = Pipeline(produce=as_it_is, consume=consume, first_alone=True)
    with pytest.raises(BudgetSpentError, match="spent"):
        anyio.run(lambda: pipeline.work([["a", "b"], ["c", "d"]], n_producers=2, n_consumers=1))
    assert seen == ["a"]
