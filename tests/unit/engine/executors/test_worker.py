"""A worker's side of the calls: what is said again, what is leased, and which units are wanted."""

import anyio
import pytest

from servers import virtual_time
from vidence.engine.events import MediaTrouble
from vidence.engine.executors.messages import (
    Find,
    FindResult,
    Inbound,
    ProgressEvent,
    PutReply,
    Release,
    Unit,
)
from vidence.engine.executors.worker import BEAT_S, MOST_MESSAGES, Post, UnitFeed
from vidence.records import Item, Reply

KEY = b"k" * 32


def inbound(*, acknowledged=0, answers=None):
    return Inbound(
        acknowledged=acknowledged,
        answers=answers or {},
        units=(),
        share=1,
        part=1.0,
        elsewhere=(0.0, 0.0),
        is_last=False,
    )


def told(n):
    return ProgressEvent(event=MediaTrouble(message=str(n)))


def test_what_is_not_acknowledged_is_said_again():
    async def go():
        post = Post()
        for n in range(3):
            post.say(told(n))
        first = await post.messages(is_urgent=False)
        post.hear(inbound(acknowledged=2))
        return first, await post.messages(is_urgent=False)

    first, again = virtual_time.run(go)
    assert [number for number, _ in first] == [1, 2, 3]
    assert again == first[2:]


def test_a_call_waits_for_news_or_for_a_sign_of_life():
    async def go():
        post = Post()
        assert await post.messages(is_urgent=False) == ()
        silent_s = anyio.current_time()
        async with anyio.create_task_group() as tasks:

            async def later():
                await anyio.sleep(0.25)
                post.say(told(0))

            tasks.start_soon(later)
            assert len(await post.messages(is_urgent=False)) == 1
        return silent_s, anyio.current_time() - silent_s

    silent_s, woken_s = virtual_time.run(go)
    assert silent_s == pytest.approx(BEAT_S)
    assert 0.25 <= woken_s < 0.3


@pytest.mark.parametrize(("reply_s", "linger_s"), [(0.05, 0.01), (1.6, 0.1), (60.0, 0.25)])
def test_messages_wait_the_longer_the_longer_replies_take(reply_s, linger_s):
    async def go():
        post, found = Post(), FindResult(reply=None, is_claimed=True)
        assert post.linger_s == 0.01
        async with anyio.create_task_group() as tasks:
            _, serve = answering(post, lambda m: found if isinstance(m, Find) else True)
            tasks.start_soon(serve)
            for n in range(40):
                key = n.to_bytes(32)
                assert await post.find(key, claims=True) is None
                await anyio.sleep(reply_s)
                await post.keep(key, Reply(text="A"))
            tasks.cancel_scope.cancel()
        return post.linger_s

    assert virtual_time.run(go) == pytest.approx(linger_s, rel=0.01)


def test_a_call_carries_so_many_messages_and_the_next_one_the_rest():
    async def go():
        post = Post()
        for n in range(MOST_MESSAGES + 5):
            post.say(told(n))
        first = await post.messages(is_urgent=False)
        post.hear(inbound(acknowledged=first[-1][0]))
        before_s = anyio.current_time()
        rest = await post.messages(is_urgent=False)
        return len(first), len(rest), anyio.current_time() - before_s

    assert virtual_time.run(go) == (MOST_MESSAGES, 5, pytest.approx(0.0, abs=0.1))


def answering(post, answer):
    """Answers every question of a worker by its kind; gives the messages that came."""
    seen = []

    async def serve():
        while True:
            messages = await post.messages(is_urgent=False)
            seen.extend(message for _, message in messages)
            answers = {number: answer(message) for number, message in messages}
            post.hear(
                inbound(
                    acknowledged=messages[-1][0] if messages else 0,
                    answers={k: v for k, v in answers.items() if v is not None},
                )
            )

    return seen, serve


def test_the_lease_comes_with_the_look_up_and_goes_with_the_reply():
    async def go():
        post = Post()

        def answer(message):
            return FindResult(reply=None, is_claimed=message.claims) if isinstance(message, Find) else True

        seen, serve = answering(post, answer)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            assert await post.find(KEY, claims=True) is None
            assert await post.take(KEY)
            assert await post.find(KEY, claims=False) is None  # nobody can have brought it: no trip
            await post.keep(KEY, Reply(text="A"))
            assert not await post.take(KEY)
            assert await post.find(KEY, claims=True) is None
            post.release(KEY)
            post.release(KEY)
            await anyio.sleep(BEAT_S)
            tasks.cancel_scope.cancel()
        return [type(message) for message in seen]

    assert virtual_time.run(go) == [Find, PutReply, Find, Release]


def test_a_reply_of_somebody_else_is_found_and_no_lease_is_held():
    async def go():
        post = Post()
        _, serve = answering(post, lambda message: FindResult(reply=Reply(text="B"), is_claimed=False))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            found, has_lease = await post.find(KEY, claims=True), await post.take(KEY)
            tasks.cancel_scope.cancel()
        return found, has_lease

    assert virtual_time.run(go) == (Reply(text="B"), False)


def test_units_are_wanted_by_those_who_wait_for_them_and_taken_once():
    def unit(number):
        item = Item(item_id=f"q{number}", benchmark="t", question="?", answer="x", answer_kind="text")
        return Unit(number=number, todo=[(item, 0)])

    async def go():
        feed, got = UnitFeed(post=Post()), []

        async def take():
            while (todo := await feed.following()) is not None:
                got.append(todo[0][0].item_id)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(take)
            tasks.start_soon(take)
            await anyio.sleep(0.1)
            wanted = [feed.n_wanted]
            feed.add([unit(1), unit(2)], is_over=False)
            feed.add([unit(1), unit(2)], is_over=False)  # the call was lost, and made again
            await anyio.sleep(0.1)
            wanted.append(feed.n_wanted)
            feed.add([unit(3)], is_over=True)
        return sorted(got), wanted, feed.unit_of["q2", 0]

    assert virtual_time.run(go) == (["q1", "q2", "q3"], [2, 2], 2)
