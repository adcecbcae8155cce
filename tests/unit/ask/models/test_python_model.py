"""A function as a model: what it is given, what it may return, what its replies depend on."""

import threading

import anyio
import pytest

from vidence import catalog
from vidence.ask.functions import give
from vidence.ask.models.python import FunctionModel
from vidence.contracts import Request
from vidence.engine.caller_objects import threads_of
from vidence.errors import AccessError
from vidence.records import Prompt, Reply, Sampling, TextPart

PROMPT = Prompt(parts=(TextPart(text="Which?"),), choices=("x", "y"), system="Be short.")


def model_of(thing, options: str = ""):
    return catalog.create("model", give(thing, chance="1") + options)


def ask(model, n: int = 1, **fields) -> list[Reply]:
    replies: list[Reply] = []

    async def one(item_id: str) -> None:
        request = Request(item_id=item_id, prompt=PROMPT, sampling=Sampling(max_tokens=3, seed=4))
        replies.append(await model.reply(request))

    async def every() -> None:
        async with anyio.create_task_group() as group:
            for i in range(n):
                group.start_soon(one, f"q{i}")

    anyio.run(every)
    return replies


def test_it_is_given_the_parts_of_a_request_and_its_reply_is_cut_off():
    def parts(prompt, choices, system, sampling, sample, item_id, request, images):
        assert request.prompt is PROMPT
        return Reply(text=f"{prompt} {choices} {system} {sampling.seed} {sample} {item_id} {images}")

    [reply] = ask(model_of(parts))
    assert reply.text == "Which? ('x', 'y') Be short. 4 0 q0 []"
    [reply] = ask(model_of(lambda prompt: "one two three four"))
    assert (reply.text, reply.finish) == ("one two three", "length")
    model = catalog.create("model", "scripted:B")
    assert model_of(model) is model
    assert isinstance(model_of(lambda prompt: "A"), FunctionModel)


def test_what_its_replies_depend_on_follows_from_its_parameters():
    def words(prompt):
        return "A"

    def pictures(images):
        return "A"

    def by_choices(prompt, choices):
        return "A"

    def everything(request):
        return "A"

    kinds = [(m.looks, m.by_item) for m in map(model_of, (words, pictures, by_choices, everything))]
    assert kinds == [(False, False), (True, False), (False, True), (True, True)]


@pytest.mark.parametrize("returned", [None, 3, b"A", ["A"]])
def test_something_else_than_a_text_ends_the_run(returned):
    with pytest.raises((AccessError, ExceptionGroup)) as caught:
        ask(model_of(lambda prompt: returned))
    assert caught.group_contains(AccessError, match=f"returned {type(returned).__name__}")


def test_calls_come_one_after_the_other_unless_threads_are_allowed():
    running, most = 0, [0]
    both = threading.Barrier(2, timeout=5)

    def alone(prompt):
        nonlocal running
        running += 1
        most.append(running)
        running -= 1
        return "A"

    ask(model_of(alone), 8)
    assert max(most) == 1

    def together(prompt):
        both.wait()
        return "A"

    assert len(ask(model_of(together, "?threads=2"), 2)) == 2
    main = []

    async def later(prompt):
        main.append(threading.current_thread())
        await anyio.sleep(0)
        return "A"

    ask(model_of(later), 3)
    assert set(main) == {threading.main_thread()}


def test_a_program_allows_threads_with_the_concurrency_that_it_says():
    settings = {"concurrency": 2}
    assert [*map(threads_of, (settings, {}, {"concurrency": None}, {"concurrency": 0}))] == [2, 1, 1, 1]
    both = threading.Barrier(2, timeout=5)

    def together(prompt):
        both.wait()
        return "A"

    spec = give(together, chance="1", threads=threads_of(settings))
    assert len(ask(catalog.create("model", spec), 2)) == 2
