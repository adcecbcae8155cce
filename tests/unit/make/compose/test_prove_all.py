"""Verdicts of many compositions are those of each alone."""

import gc

import msgspec
import pytest

from subjects.composing import random_scene, searched
from vidence.errors import UsageError
from vidence.make.compose import evaluating
from vidence.make.compose.prove import Rules, prove, prove_all
from vidence.make.compose.world import World


@pytest.fixture(scope="module")
def scenes():
    return {one.header.scene: one for one in (random_scene(seed, n=12) for seed in range(3))}


@pytest.fixture(scope="module")
def asked(scenes):
    """Compositions of all scenes by turns, each second one with a condition that is not needed."""
    found = [[one.composition for one in searched(scene, n=120)] for scene in scenes.values()]
    some = [one for together in zip(*found, strict=False) for one in together]
    assert len(some) > 10
    steps = [one.steps for one in some]
    return [
        (msgspec.structs.replace(one, steps=steps[i] if i % 2 else steps[i][-1:]), i + 1)
        for i, one in enumerate(some)
    ]


def test_as_each_alone(scenes, asked):
    alone = [prove(one, World(scenes[one.scene]), rules=Rules(), line=line) for one, line in asked]
    assert {one.is_proven for one in alone} == {True, False}
    found = prove_all(asked, scenes, rules=Rules())
    assert [msgspec.json.encode(one) for one in found] == [msgspec.json.encode(one) for one in alone]


def test_proofs_leave_no_cycles_behind_and_collecting_goes_on(scenes, asked):
    prove_all(asked, scenes, rules=Rules())
    assert gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        world = World(scenes["s0"])
        verdicts = [prove(one, world, rules=Rules()) for one, _ in asked if one.scene == "s0"]
        assert gc.collect() == 0
        assert verdicts
    finally:
        gc.enable()


def test_the_first_that_has_too_many_bindings(scenes, asked, monkeypatch):
    monkeypatch.setattr(evaluating, "MOST_BRANCHES", 1)
    with pytest.raises(UsageError, match="more than 1 bindings"):
        prove_all(asked, scenes, rules=Rules())
