"""Names become things; specs are taken apart; options are checked."""

import importlib.metadata
import types
from typing import Annotated, ClassVar, Literal

import msgspec
import pytest
from msgspec import Meta

from vidence import catalog
from vidence.errors import UnknownNameError, UsageError
from vidence.records import Record


def test_a_near_name_is_suggested_and_all_are_listed():
    with pytest.raises(
        UnknownNameError,
        match=r"no selector named 'midpoint'\. Did you mean 'midpoints'\? Known: actpld, aks, all, ",
    ):
        catalog.find("selector", "midpoint")
    with pytest.raises(UnknownNameError) as caught:
        catalog.find("parser", "zzzzzzzz")
    assert "Did you mean" not in str(caught.value)


def test_shared_code_has_no_name():
    assert all(not name.startswith(("_", "-")) for kind in catalog.FOLDERS for name in catalog.names(kind))
    with pytest.raises(UnknownNameError):
        catalog.find("parser", "-marking")


@pytest.fixture(autouse=True)
def no_plug_in_stays():
    yield
    catalog.forget()


class FakeEntryPoint:
    def __init__(self, name: str, loaded: object) -> None:
        self.name = name
        self.value = f"somewhere.{name}"
        self._loaded = loaded

    def load(self) -> object:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


def plug_in(monkeypatch: pytest.MonkeyPatch, name: str, loaded: object) -> None:
    class EntryPoints:
        def select(self, *, group: str) -> list[FakeEntryPoint]:
            return [FakeEntryPoint(name, loaded)] if group == "vidence.parsers" else []

    monkeypatch.setattr(importlib.metadata, "entry_points", EntryPoints)
    catalog.forget()


def test_a_plug_in_is_found_by_its_entry_point(monkeypatch):
    module = types.ModuleType("somewhere.mine")
    module.create = lambda: "made"
    plug_in(monkeypatch, "mine", module)
    assert "mine" in catalog.names("parser")
    assert catalog.find("parser", "mine").create() == "made"
    assert catalog.find("parser", "robust").__name__ == "vidence.ask.scoring.robust"


@pytest.mark.parametrize(
    ("name", "loaded", "message"),
    [
        ("robust", types.ModuleType("x"), "a name that vidence uses itself"),
        ("mine", "no module", "must name a module"),
        ("mine", types.ModuleType("empty"), r"empty defines no create\(\)"),
        (
            "mine",
            ImportError("no torch"),
            r"'mine' in vidence\.parsers names somewhere\.mine, which cannot be imported: no torch",
        ),
    ],
)
def test_a_bad_plug_in_is_refused(monkeypatch, name, loaded, message):
    plug_in(monkeypatch, name, loaded)
    with pytest.raises(UsageError, match=message):
        catalog.find("parser", name)


@pytest.mark.parametrize(
    ("create", "message"),
    [
        (lambda settings: settings, r"odd has create\(settings\) but no class Settings\(Record\)"),
        (
            lambda argument, options: argument,
            r"odd defines create\(argument, options\); the parser 'odd' needs create\(\)",
        ),
    ],
)
def test_a_plug_in_whose_create_wants_something_else_is_refused(monkeypatch, create, message):
    module = types.ModuleType("odd")
    module.create = create
    plug_in(monkeypatch, "odd", module)
    with pytest.raises(UsageError, match=message):
        catalog.create("parser", "odd")


@pytest.mark.parametrize(
    ("text", "name", "argument", "options"),
    [
        ("midpoints", "midpoints", "", {}),
        ("fps:0.5", "fps", "0.5", {}),
        ("replay:a/b.jsonl?id=k&text=t", "replay", "a/b.jsonl", {"id": "k", "text": "t"}),
        ("openai:m?base_url=http://h:1/v1", "openai", "m", {"base_url": "http://h:1/v1"}),
        ("openai:m?extra=%7B%22a%22%3A1%7D", "openai", "m", {"extra": '{"a":1}'}),
        ("x:y?a=1+1&", "x", "y", {"a": "1+1"}),
    ],
)
def test_a_spec_is_taken_apart(text, name, argument, options):
    spec = catalog.parse_spec(text)
    assert (spec.name, spec.argument, dict(spec.options)) == (name, argument, options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no name"),
        (":x", "has no name"),
        ("a?b", "not key=value"),
        ("a?=b", "not key=value"),
        ("a?b=1&b=2", "given twice"),
    ],
)
def test_a_bad_spec_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        catalog.parse_spec(text)


class Rules(Record):
    """Options of a made-up thing."""

    positional: ClassVar[str] = "path"

    path: Annotated[catalog.FilePath, Meta(description="a file")] = ""
    n: Annotated[int, Meta(ge=1, le=9, description="how many")] = 3
    share: Annotated[Annotated[float, Meta(ge=0)] | None, Meta(description="a share")] = None
    is_strict: Annotated[bool, Meta(description="whether")] = False
    kind: Annotated[Literal["a", "b"], Meta(description="which")] = "a"
    names: Annotated[tuple[str, ...], Meta(description="who")] = ()
    extra: Annotated[dict[str, object], Meta(description="more")] = msgspec.field(default_factory=dict)


def read(argument: str = "", **given: object) -> Rules:
    return catalog.read_settings(Rules, given, argument=argument, owner="the thing 'x'")


def test_settings_are_read_from_texts_and_from_values():
    assert read() == Rules()
    assert read("a/b") == Rules(path="a/b")
    texts = read(n="4", share="0.5", is_strict="true", kind="b", names="p|q", extra='{"a": 1}')
    assert texts == Rules(n=4, share=0.5, is_strict=True, kind="b", names=("p", "q"), extra={"a": 1})
    assert read(n=4, share=0.5, is_strict=True, kind="b", names=["p", "q"], extra={"a": 1}) == texts


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"shar": "1"},
            r"the thing 'x' has no option 'shar'\. Did you mean 'share'\? Known options: extra, is_strict",
        ),
        ({"n": "0"}, "option n='0' cannot be read: expected a whole number from 1 to 9"),
        ({"n": "x"}, "expected a whole number from 1 to 9"),
        ({"n": 1.5}, "option n=1.5 cannot be read"),
        ({"share": "nan"}, "expected a number 0 or above"),
        ({"is_strict": "yes"}, r"expected true or false"),
        ({"kind": "c"}, "expected one of a, b"),
        ({"names": "p||q"}, "expected different values, split by"),
        ({"names": "p|p"}, "expected different values, split by"),
        ({"extra": "[1]"}, "expected a JSON object"),
        ({"extra": "{"}, "expected a JSON object"),
    ],
)
def test_bad_settings_are_refused(given, message):
    with pytest.raises(UsageError, match=message):
        read(**given)


def test_an_argument_is_refused_where_none_is_wanted_or_given_twice():
    with pytest.raises(UsageError, match=r"path is given twice, as 'a' and as 'b'"):
        read("a", path="b")
    with pytest.raises(UsageError, match="takes no argument, got 'a'; write just the name"):
        catalog.read_settings(catalog.NoSettings, {}, argument="a", owner="x")


def test_what_must_be_given_is_said():
    class Wanting(Record):
        positional: ClassVar[str] = "path"

        path: Annotated[catalog.FilePath, Meta(description="a file")]

    with pytest.raises(UsageError, match="x needs its path after a colon: a text"):
        catalog.read_settings(Wanting, {}, owner="x")
    (option,) = catalog.options_of(Wanting)
    assert (option.is_argument, option.default) == (True, None)


def test_entry_points_are_looked_up_once(monkeypatch):
    asked: list[str] = []
    real = importlib.metadata.entry_points
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda: asked.append("all") or real())
    catalog.forget()
    for _ in range(3):
        catalog.find("selector", "midpoints")
        catalog.names("model")
    assert asked == ["all"]


def test_a_name_is_checked_before_anything_is_opened():
    catalog.check_name("tracker", "deepsort:mobilenet")
    with pytest.raises(UnknownNameError, match="Did you mean 'hog'"):
        catalog.check_name("detector", "hgo:x?y=1")
