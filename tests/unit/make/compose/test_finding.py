"""What the search keeps is proven in a world of its own making, and why the rest is refused."""

import dataclasses
import random

import msgspec
import pytest

from subjects.composing import random_scene, searched, street, wide_scene
from vidence.make.compose.finding import Refused, find_proof
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.world import World
from vidence.make.sources.proof import Proof


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_what_is_found_is_proven_with_every_set_of_conditions_left_out(missing):
    n = 0
    for seed in range(4):
        scene = wide_scene(seed, n=8 + seed % 4, missing=missing)
        world = World(scene)
        for made in searched(scene, n=100, seed=seed):
            assert prove(made.composition, world, rules=Rules(), subsets="all").is_proven, made.composition
            n += 1
    assert n > 5


def test_what_is_not_wanted_is_refused():
    scene = street()
    world = World(scene)
    for made in searched(scene, n=60):
        assert find_proof(made.composition, world) == made.proof
        assert find_proof(made.composition, world, fits=lambda *_: False) == Refused(reason="of-another-cell")


def test_limits_on_guesses():
    scene, n = street(), 0
    world = World(scene)
    for made in searched(scene, n=60):
        most = max(one.without.guess for one in made.proof.conditions)
        assert find_proof(made.composition, world, most_guess=most, most_prior=made.proof.prior) == made.proof
        if most > 0.01:
            again = find_proof(made.composition, world, most_guess=most - 0.01)
            assert again == Refused(reason="weak-condition")
        if made.proof.prior > 0.01:
            again = find_proof(made.composition, world, most_prior=made.proof.prior - 0.01)
            assert again == Refused(reason="easy-to-guess")
            n += 1
    assert n > 5


def test_what_is_found_in_one_scene_is_refused_as_the_verifier_refuses_it_in_another():
    """Facts drawn anew: what is refused is not proven, and what is not needed is named."""
    seen, rng = set(), random.Random(0)
    for seed in range(4):
        scene = random_scene(seed, n=12)
        drawn = list(searched(scene, n=60, seed=seed))
        values = [fact.value for fact in scene.facts if hasattr(fact, "value")]
        facts = tuple(
            msgspec.structs.replace(fact, value=rng.choice(scene.vocabulary.attributes[fact.name].values))
            if hasattr(fact, "value")
            else fact
            for fact in scene.facts
        )
        assert values
        world = World(dataclasses.replace(scene, facts=facts))
        for made in drawn:
            composition = msgspec.structs.replace(made.composition, scene_sha256="")
            found, verdict = find_proof(composition, world), prove(composition, world, rules=Rules())
            assert isinstance(found, Proof) == verdict.is_proven
            if isinstance(found, Refused):
                seen.add(found.reason)
                if found.reason == "unneeded":
                    named = {c for p in verdict.problems for c in p.conditions}
                    is_near = any(problem.reason == "too-near" for problem in verdict.problems)
                    assert found.conditions[0] in named or is_near, "as good as the same answer"
    assert {"no-single-answer", "unneeded"} <= seen
