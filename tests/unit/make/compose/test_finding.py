"""Proofs of programs of any shape: as the verifier sees them, or why there are none."""

import pytest

from subjects.composing import GOLDEN, searched, street, wide_scene
from vidence.make.compose.composition_files import read_compositions
from vidence.make.compose.finding import CompositionResult, Refused, find_proof
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.question_proofs import differences
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.world import World


@pytest.mark.parametrize("missing", [0.0, 0.05, 0.15])
def test_scenes_with_gaps_make_no_difference_to_the_verifier(missing):
    n = 0
    for seed in range(6):
        scene = wide_scene(seed, n=8 + seed % 4, missing=missing)
        world = World(scene)
        for made in searched(scene, n=150, seed=seed):
            verdict = prove(made.composition, world, rules=Rules())
            assert verdict.is_proven, (made.composition, verdict.problems)
            assert differences(made.found, verdict.proof) == (), made.composition
            n += 1
    assert n > 5


def test_a_step_of_another_kind_is_refused_by_name():
    (one, _), *_ = read_compositions(GOLDEN / "examples.txt", {"lane": street()})[3:]
    with pytest.raises(ValueError, match="of a kind that is not evaluated here"):
        find_proof(one, SceneBits(street()))


def test_why_there_is_no_proof():
    scene = street()
    bits, reasons = SceneBits(scene), set()
    for made in searched(scene, n=120):
        assert isinstance(find_proof(made.composition, bits), CompositionResult)
        refused = find_proof(made.composition, bits, fits=lambda *_: False)
        assert isinstance(refused, Refused)
        reasons.add(refused.reason)
    assert reasons == {"of-another-cell"}


def test_limits_on_guesses_refuse_what_would_be_refused_afterwards():
    scene, n = street(), 0
    bits = SceneBits(scene)
    for made in searched(scene, n=120):
        most = max(one.without.guess for one in made.found.conditions)
        assert find_proof(made.composition, bits, most_guess=most) == made.found
        assert find_proof(made.composition, bits, most_prior=made.found.prior) == made.found
        if most > 0.01:
            again = find_proof(made.composition, bits, most_guess=most - 0.01)
            assert isinstance(again, Refused)
            assert again.reason == "weak-condition"
        if made.found.prior > 0.01:
            again = find_proof(made.composition, bits, most_prior=made.found.prior - 0.01)
            assert again == Refused(reason="easy-to-guess")
            n += 1
    assert n > 5
