"""Stages on disk: what is found again, what is made anew, what a killed making leaves."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from vidence.contracts import Flow
from vidence.errors import MediaError, StoreError
from vidence.make.pipeline.cache import ArtifactCache, FlowUnit, Stage, Unit, digest_of
from vidence.make.pipeline.session import BuildContext, MakeOverrides, Session
from vidence.records import Failed, Prompt, Record, Reply, TextPart


class Thing(Record):
    name: str
    n: int = 0


def stage(name: str = "cards", **more: object) -> Stage[Thing]:
    return Stage(name=name, kind=Thing, **more)


class Maker:
    """Counts how often each unit is made."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def unit(self, name: str, of: Stage[Thing] | None = None, **inputs: str) -> Unit[Thing]:
        def make() -> Thing:
            self.made.append(name)
            return Thing(name=name)

        return Unit(stage=of or stage(), name=name, inputs=inputs or {"video": name}, make=make)


@pytest.fixture
def session(tmp_path) -> Session:
    context = BuildContext(cache_root=tmp_path / "cache", memory=tmp_path / "replies.sqlite")
    return Session(root=tmp_path, out=tmp_path, context=context, overrides=MakeOverrides())


def test_what_was_made_is_not_made_again(session):
    maker = Maker()
    first = session.compute("cards", [maker.unit("a"), maker.unit("b")])
    second = session.compute("cards", [maker.unit("b"), maker.unit("c")])
    assert maker.made == ["a", "b", "c"]
    assert second.made["b"].value == Thing(name="b")
    assert second.made["b"].digest == first.made["b"].digest
    assert (first.n_cached, second.n_cached) == (0, 1)
    assert second.made["b"].was_cached


@pytest.mark.parametrize(
    "changed",
    [
        stage("tracks", version=2, settings={"high": 0.5}),
        stage("tracks", settings={"high": 0.6}),
        stage("shots", settings={"high": 0.5}),
    ],
)
def test_another_version_setting_or_name_makes_anew(session, changed):
    maker = Maker()
    session.compute("tracks", [maker.unit("a", stage("tracks", settings={"high": 0.5}))])
    session.compute("tracks", [maker.unit("a", changed)])
    assert maker.made == ["a", "a"]


def test_another_input_makes_anew_and_the_old_one_is_found_when_it_comes_back(session):
    maker = Maker()
    for digest in ("1", "2", "1"):
        session.compute("cards", [maker.unit("a", tracks=digest)])
    assert maker.made == ["a", "a"]


@pytest.mark.parametrize("left", [b"", b'{"name": "a"', b'{"nam": "a"}', b"\x00\xff"])
def test_a_damaged_result_is_made_anew(session, left):
    maker = Maker()
    session.compute("cards", [maker.unit("a")])
    (path,) = session.cache.folder.rglob("*.json")
    path.write_bytes(left)
    assert session.compute("cards", [maker.unit("a")]).made["a"].value == Thing(name="a")
    assert maker.made == ["a", "a"]


def test_a_result_that_cannot_be_used_any_more_is_made_anew(session):
    maker = Maker()
    session.compute("cards", [maker.unit("a")])
    session.compute("cards", [replace(maker.unit("a"), is_usable=lambda thing: thing.n > 0)])
    assert maker.made == ["a", "a"]


def test_a_build_that_breaks_keeps_the_units_before(session):
    maker = Maker()

    def broken() -> Thing:
        raise KeyboardInterrupt

    units = [maker.unit("a"), replace(maker.unit("b"), make=broken), maker.unit("c")]
    with pytest.raises(KeyboardInterrupt):
        session.compute("cards", units)
    session.compute("cards", [maker.unit(name) for name in "abc"])
    assert maker.made == ["a", "b", "c"]
    assert {path.suffix for path in session.cache.folder.rglob("*") if path.is_file()} == {".json"}


def test_a_video_that_cannot_be_read_fails_alone_and_is_tried_again(session):
    maker = Maker()

    def unreadable() -> Thing:
        raise MediaError("no frame can be decoded")

    results = session.compute("cards", [replace(maker.unit("a"), make=unreadable), maker.unit("b")])
    assert list(results.made) == ["b"]
    dropped = results.dropped("a", stage="cards")
    assert (dropped.what, dropped.reason, dropped.detail) == ("a", "media-failed", "no frame can be decoded")
    assert list(session.compute("cards", [maker.unit("a")]).made) == ["a"]


class Answers:
    """Models that answer with what they are asked; one flow of them is broken off."""

    def __init__(self, *, broken: str = "") -> None:
        self.broken = broken

    def run(self, flows, *, model=""):
        found = {}
        for name, flow in flows.items():
            wanted = next(flow)
            if name == self.broken:
                flow.close()
                found[name] = Failed(stage="model", error="TransientModelError", message="too slow")
                continue
            with pytest.raises(StopIteration) as stop:
                flow.send([Reply(text=one.parts[0].text) for one in wanted])
            found[name] = stop.value.value
        return found


def test_a_flow_keeps_its_result_when_it_ends_and_not_before(session):
    def write(name: str) -> Flow[Thing]:
        replies = yield [Prompt(parts=(TextPart(text=name),))]
        return Thing(name=replies[0].text)

    units = [FlowUnit(stage=stage(), name=n, inputs={"video": n}, start=partial(write, n)) for n in "ab"]
    first = session.ask("cards", units, models=Answers(broken="b"))
    assert (list(first.made), list(first.failed), first.n_cached) == (["a"], ["b"], 0)
    assert first.made["a"].value == Thing(name="a")
    second = session.ask("cards", units, models=Answers())
    assert (list(second.made), second.n_cached) == (["a", "b"], 1)


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "stages").write_text("a file")
    cache = ArtifactCache(folder=tmp_path / "stages")
    with pytest.raises(StoreError, match="another --out"):
        cache.put(stage(), {"video": "a"}, Thing(name="a"))


@dataclass(frozen=True)
class Grid:
    cells: NDArray[np.float32]
    named: Mapping[str, NDArray[np.int64]]


def test_arrays_are_kept_with_their_type_and_shape():
    grids = Stage(name="grids", kind=Grid)
    grid = Grid(np.zeros((0, 4), np.float32), {"a": np.arange(6).reshape(2, 3)[:, ::2]})
    data = grids.encode(grid)
    again = grids.decode(data)
    assert again.cells.dtype == np.float32
    assert again.cells.shape == (0, 4)
    assert again.named["a"].tolist() == [[0, 2], [3, 5]]
    assert grids.encode(again) == data
    with pytest.raises(ValueError, match="no array"):
        grids.decode(data.replace(b'"cells":"e', b'"cells":"f'))
    with pytest.raises(TypeError, match="no form in the artifact cache"):
        stage().encode(Thing(name=object()))


def test_a_digest_is_that_of_the_content():
    assert digest_of(Thing(name="a")) == digest_of({"n": 0, "name": "a"})
    assert digest_of(Thing(name="a")) != digest_of(Thing(name="a", n=1))
