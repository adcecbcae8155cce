"""What a function is taken for: its name and source, the keywords it is called with, its file."""

import functools
import linecache

import pytest

from vidence.ask.functions import Call, FunctionSource, find, give, has_all, named
from vidence.catalog import parse_spec
from vidence.errors import UnknownNameError, UsageError

OFFERED = {
    "prompt": ("the words", lambda made: made("prompt")),
    "images": ("what is shown", lambda made: made("images")),
}


def plain(prompt):
    return prompt


def found_of(thing) -> FunctionSource:
    return find("model", parse_spec(give(thing, chance="0")).argument)


def call_of(thing) -> Call:
    return Call.of(found_of(thing), "model", offered=OFFERED, returns="a text", attributes=("reply",))


def test_a_plain_function_is_known_by_its_name_and_its_source():
    spec = give(plain, chance="one")
    assert spec == give(plain, chance="two")
    assert spec.startswith("python:plain@")
    assert found_of(plain).thing is plain
    with pytest.raises(UsageError, match=r"not known here; call vidence\.evaluate with it again"):
        find("model", "answer@0123456789ab")
    thing = lambda prompt: "A"  # noqa: E731 - it is about lambdas
    assert give(named("mine-2", thing), chance="0") == "python:mine-2@named"
    assert "@once-" in give(thing, chance="55")  # without its name it is not vouched for


def test_another_source_is_another_function():
    sources = ("def f(prompt):\n    return 'A'\n", "def f(prompt):\n    return 'B'\n")
    specs = []
    for n, source in enumerate(sources):
        names: dict[str, object] = {}
        linecache.cache[f"<cell {n}>"] = (len(source), None, source.splitlines(keepends=True), f"<cell {n}>")
        exec(compile(source, f"<cell {n}>", "exec"), names)  # noqa: S102 - a cell of a notebook
        specs.append(give(names["f"], chance="same"))
    assert specs[0] != specs[1]


def test_what_no_source_shows_has_a_digest_by_chance_and_keeps_it_in_this_process():
    inner = "B"

    def closure(prompt):
        return inner

    class Holder:
        def __call__(self, prompt):
            return inner

        def method(self, prompt):
            return inner

    for thing in (closure, lambda prompt: "A", Holder(), Holder().method, functools.partial(plain, "x")):
        first = give(thing, chance="11")
        assert "@once-11" in first
        assert give(thing, chance="22") == first
    assert give(lambda prompt: "A", chance="33") != give(lambda prompt: "A", chance="44")


@pytest.mark.parametrize(
    ("name", "thing"), [("", plain), ("a b", plain), ("x?y=1", plain), ("x", "scripted:A")]
)
def test_a_name_that_cannot_stand_in_a_spec_is_refused(name, thing):
    with pytest.raises(UsageError, match=r"other characters|has a name"):
        named(name, thing)


def test_a_function_is_found_in_a_file_beside_its_helpers(tmp_path):
    (tmp_path / "beside.py").write_text("WORD = 'B'\n")
    file = tmp_path / "mine.py"
    file.write_text("from beside import WORD\n\n\ndef answer(prompt):\n    return WORD\n")
    found = find("model", f"{file}:answer")
    assert found.thing("x") == "B"
    assert found.identity.startswith("python:mine.py:answer@")
    file.write_text("def answer(prompt):\n    return 'C'\n")
    changed = find("model", f"{file}:answer")
    assert changed.thing("x") == "C"
    assert (changed.identity, changed.version) != (found.identity, found.version)


def test_what_is_wrong_with_a_file_is_said(tmp_path):
    file = tmp_path / "mine.py"
    with pytest.raises(UsageError, match=r"mine\.py cannot be read \(No such file"):
        find("model", f"{file}:answer")
    file.write_text("def answer(prompt):\n    return 'A'\n")
    with pytest.raises(UnknownNameError, match=r"'answr'\. Did you mean 'answer'"):
        find("model", f"{file}:answr")
    with pytest.raises(UsageError, match=r"expected FILE\.py:NAME, for example models\.py:answer"):
        find("model", str(file))
    file.write_text("import nothing_of_this_name\n")
    with pytest.raises(UsageError, match="cannot be loaded: ModuleNotFoundError"):
        find("model", f"{file}:answer")


def test_a_function_is_given_what_its_parameters_name_and_no_more():
    made = []

    def give_it(name):
        made.append(name)
        return name

    def thing(images, prompt="unused", other=3, *rest, **more):
        return images, prompt, other, rest, more

    assert call_of(thing)(give_it) == ("images", "prompt", 3, (), {})
    assert call_of(plain)(give_it) == "prompt"
    assert made == ["images", "prompt", "prompt"]


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (lambda promt: "A", "takes 'promt'. Did you mean 'prompt'"),
        (lambda frames: "A", "takes 'frames'. Did you mean 'images'"),
        (lambda xyz: "A", r"takes 'xyz'\. Expected a function that returns a text"),
        (lambda prompt, /: "A", "takes 'prompt'"),
        (7, "the model is 7; expected a function"),
        (str, "the model is the class str; .* not its class"),
    ],
)
def test_a_function_that_takes_something_else_hears_what_is_expected(thing, message):
    with pytest.raises(UsageError, match=rf"(?s){message}"):
        call_of(thing)


def test_coroutine_functions_and_objects_with_a_contract_are_known_as_such():
    async def later(prompt):
        return prompt

    class Later:
        async def __call__(self, prompt):
            return prompt

    assert call_of(later).is_async
    assert call_of(Later()).is_async
    assert call_of(functools.partial(later)).is_async
    assert not call_of(plain).is_async

    class Selector:
        version = 1

        def select(self):
            return ()

    assert has_all(Selector(), ("version", "select"))
    assert not has_all(Selector, ("version", "select"))
    assert not has_all(Selector(), ("version", "rank"))
