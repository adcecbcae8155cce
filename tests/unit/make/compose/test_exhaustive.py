"""What is listed is all that there is, and only that; large scenes are refused."""

from itertools import combinations

import msgspec
import pytest

from subjects.composing import random_scene, street
from vidence.errors import UsageError
from vidence.make.compose.atoms import AskableAttribute, Statements
from vidence.make.compose.exhaustive import all_conjunctions, everything
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.quotas import Quota, Strength, fill
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.world import World
from vidence.make.sources.composition import (
    Aggregate,
    AttributeOf,
    Compare,
    Composition,
    Condition,
    Literally,
    Members,
    Step,
    The,
    Variable,
)


def by_brute_force(scene, statements, attribute):
    """Every set of up to three statements that the verifier proves to give an attribute, or a count."""
    world = World(scene)
    for size in (1, 2, 3):
        for chosen in combinations(statements, size):
            atoms = tuple(
                Compare(
                    attribute=one.attribute, how=one.how, value=Literally(value=one.value), condition=f"c{i}"
                )
                for i, one in enumerate(chosen, start=1)
            )
            members = Members(category="thing", atoms=atoms)
            steps = (
                Step(variable="A", value=The(of=members, pick="A")),
                Step(variable="answer", value=AttributeOf(of=Variable(name="A"), name=attribute)),
            )
            if not attribute:
                steps = (Step(variable="answer", value=Aggregate(how="count", of=members)),)
            conditions = tuple(Condition(id=atom.condition, skill="semantic") for atom in atoms)
            made = Composition(composition="b", scene="s", steps=steps, conditions=conditions)
            if prove(made, world, rules=Rules()).is_proven:
                yield chosen


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("attribute", ["c", ""])
def test_all_conjunctions_are_those_of_brute_force(seed, attribute):
    scene = random_scene(seed, n=6 + seed % 3, missing=0.1 * (seed % 2))
    bits = SceneBits(scene)
    known = [one for one in Statements(bits, negations=False).of("thing") if one.attribute != attribute][:6]
    asked = AskableAttribute("thing", attribute, "attribute")
    found = all_conjunctions(bits, asked=asked, sizes=(1, 2, 3), statements=known, unique="each step")
    found = {chosen for chosen, _ in found}
    assert found == set(by_brute_force(scene, known, attribute))


QUOTA = Quota(types=("attribute",), logic=("conjunctive",), conditions=(2, 3), exhaustive=True)


def test_everything_is_named_once_and_proven():
    scene = random_scene(2, n=7)
    filled = fill({"s2": SceneBits(scene)}, QUOTA, Strength(), seed=0)
    names = [one.composition.composition for one in filled.composed]
    assert len(set(names)) == len(names) > 5
    world = World(scene)
    assert all(prove(one.composition, world, rules=Rules()).is_proven for one in filled.composed)
    assert {len(one.composition.conditions) for one in filled.composed} == {2, 3}


def test_weak_ones_are_counted():
    quota = msgspec.structs.replace(QUOTA, types=("location",), negations=False)
    fields = {"lane": SceneBits(street())}
    kept = fill(fields, quota, Strength(), seed=0)
    every = fill(fields, quota, Strength(most_guess=1, most_prior=1), seed=0)
    weak = [one for one in kept.notes if one.endswith(("weak-condition", "easy-to-guess"))]
    n = sum(int(one.removeprefix("lane: ").partition(" ")[0]) for one in weak)
    assert n == len(every.composed) - len(kept.composed) > 0


def test_a_cell_that_has_none_says_so():
    filled = fill({"lane": SceneBits(street())}, Quota(
        types=("action",), logic=("conjunctive",), conditions=(2, 2), exhaustive=True, negations=False
    ), Strength(), seed=0)  # fmt: skip
    assert [one.reason for one in filled.unmet] == ["there-is-none"]
    assert filled.composed == []


def test_large_scenes_are_refused_by_name():
    big = SceneBits(random_scene(0, n=41))
    with pytest.raises(UsageError, match=r"the scene s0 has 41 members of the category 'thing'; .* takes 40"):
        list(everything("s0", big, sizes=(2,), negations=False, unique="each step"))
    with pytest.raises(
        UsageError, match=r"lane has \d+ statements of the category 'person'.*negations = false"
    ):
        list(everything("lane", SceneBits(street()), sizes=(2,), negations=True, unique="each step"))


@pytest.mark.parametrize(
    "more", [{"logic": ("conjunctive", "sequential"), "conditions": (2, 3)}, {"logic": ("conjunctive",)}]
)
def test_only_short_conjunctions_can_be_listed(more):
    with pytest.raises(UsageError, match="of up to 4 conditions"):
        Quota(exhaustive=True, **more)
