"""Stages on disk: what is found again, what is made anew, what a killed making leaves."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from vidence.contracts import Flow
from vidence.errors import StoreError
from vidence.make.pipeline.stages import FlowUnit, JsonForm, Shelf, Stage, Unit, digest_of
from vidence.records import Prompt, Record, Reply, TextPart


class Thing(Record, kw_only=True):
    name: str
    n: int = 0


FORM = JsonForm(Thing)


class Maker:
    """Counts how often each unit is made."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def unit(self, name: str, **inputs: str) -> Unit[Thing]:
        def make() -> Thing:
            self.made.append(name)
            return Thing(name=name)

        return Unit(name=name, inputs=inputs or {"video": name}, make=make)


@pytest.fixture
def shelf(tmp_path) -> Shelf:
    return Shelf(folder=tmp_path / "stages")


def test_what_was_made_is_not_made_again(shelf):
    maker = Maker()
    first = shelf.made(Stage(name="tracks"), [maker.unit("a"), maker.unit("b")], FORM)
    second = shelf.made(Stage(name="tracks"), [maker.unit("b"), maker.unit("c")], FORM)
    assert maker.made == ["a", "b", "c"]
    assert second["b"].value == Thing(name="b")
    assert second["b"].digest == first["b"].digest
    assert (first["b"].was_kept, second["b"].was_kept) == (False, True)


@pytest.mark.parametrize(
    "changed",
    [
        Stage(name="tracks", version=2, settings={"high": 0.5}),
        Stage(name="tracks", settings={"high": 0.6}),
        Stage(name="shots", settings={"high": 0.5}),
    ],
)
def test_another_version_setting_or_name_makes_anew(shelf, changed):
    maker = Maker()
    shelf.made(Stage(name="tracks", settings={"high": 0.5}), [maker.unit("a")], FORM)
    shelf.made(changed, [maker.unit("a")], FORM)
    assert maker.made == ["a", "a"]


def test_another_input_makes_anew_and_the_old_one_is_found_when_it_comes_back(shelf):
    maker = Maker()
    for digest in ("1", "2", "1"):
        shelf.made(Stage(name="cards"), [maker.unit("a", tracks=digest)], FORM)
    assert maker.made == ["a", "a"]


@pytest.mark.parametrize("left", [b"", b'{"name": "a"', b'{"nam": "a"}', b"\x00\xff"])
def test_a_damaged_result_is_made_anew(shelf, left):
    maker = Maker()
    shelf.made(Stage(name="cards"), [maker.unit("a")], FORM)
    (path,) = shelf.folder.rglob("*.json")
    path.write_bytes(left)
    assert shelf.made(Stage(name="cards"), [maker.unit("a")], FORM)["a"].value == Thing(name="a")
    assert maker.made == ["a", "a"]


def test_a_making_that_breaks_keeps_the_units_before(shelf):
    maker = Maker()

    def broken() -> Thing:
        raise KeyboardInterrupt

    units = [maker.unit("a"), Unit(name="b", inputs={"video": "b"}, make=broken), maker.unit("c")]
    with pytest.raises(KeyboardInterrupt):
        shelf.made(Stage(name="cards"), units, FORM)
    shelf.made(Stage(name="cards"), [maker.unit(name) for name in "abc"], FORM)
    assert maker.made == ["a", "b", "c"]
    assert not [path for path in shelf.folder.rglob("*") if path.is_file() and path.suffix != ".json"]


def test_a_flow_keeps_its_result_when_it_ends_and_not_before(shelf):
    def write(name: str) -> Flow[Thing]:
        replies = yield [Prompt(parts=(TextPart(text=name),))]
        return Thing(name=replies[0].text)

    units = [FlowUnit(name=n, inputs={"video": n}, start=lambda n=n: write(n)) for n in "ab"]
    stage = Stage(name="cards")
    found, flows = shelf.split(stage, units, FORM)
    assert (list(found), list(flows)) == ([], ["a", "b"])
    next(flows["a"])
    with pytest.raises(StopIteration) as stop:
        flows["a"].send([Reply(text="said")])
    assert stop.value.value.value == Thing(name="said")
    next(flows["b"])
    flows["b"].close()
    found, flows = shelf.split(stage, units, FORM)
    assert found["a"].value == Thing(name="said")
    assert list(flows) == ["b"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "stages").write_text("a file")
    shelf = Shelf(folder=tmp_path / "stages")
    with pytest.raises(StoreError, match="another --out"):
        shelf.put(Stage(name="cards"), {"video": "a"}, FORM, value=Thing(name="a"))


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=5))
def test_a_key_does_not_depend_on_the_order_of_inputs(inputs):
    stage = Stage(name="cards", settings={"b": 1, "a": [1, 2]})
    turned = dict(reversed(list(inputs.items())))
    assert stage.key(inputs) == stage.key(turned)
    assert stage.key(inputs) != stage.key({**inputs, "more": "x"})


def test_a_digest_is_that_of_the_content():
    assert digest_of(Thing(name="a")) == digest_of({"n": 0, "name": "a"})
    assert digest_of(Thing(name="a")) != digest_of(Thing(name="a", n=1))
