"""Programs of any shape: the same as the bit sets, where these know them, and as the verifier."""

import pytest

from subjects.composing import GOLDEN, random_scene, searched, street, wide_scene
from vidence.make.composed.proofs import differences
from vidence.make.composing import finding
from vidence.make.composing.enumerating import Enumeration, compared
from vidence.make.composing.finding import Found, Refused, find_proof
from vidence.make.composing.scene_bits import SceneBits
from vidence.make.composing.search import PLAIN
from vidence.make.proving.prove import Rules, prove
from vidence.make.proving.reading import read_compositions
from vidence.make.proving.world import World
from vidence.make.scene_graph.composition import Compare, Literally


@pytest.fixture
def no_bit_sets(monkeypatch):
    """All programs are gone through binding by binding."""
    monkeypatch.setattr(finding, "is_known", lambda composition: False)


@pytest.mark.parametrize("missing", [0.0, 0.06])
def test_plain_shapes_are_proven_as_by_bit_sets(missing, monkeypatch):
    for seed in range(4):
        scene = random_scene(seed, n=12, n_events=9, missing=missing)
        found_by_bits = list(searched(scene, n=120, seed=seed, shapes=PLAIN))
        with monkeypatch.context() as patched:
            patched.setattr(finding, "is_known", lambda composition: False)
            for made in found_by_bits:
                assert find_proof(made.composition, SceneBits(scene)) == made.found


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
        Enumeration(one, SceneBits(street())).reached()


def test_sizes_of_ordered_values_and_numbers():
    scene = wide_scene(3)
    bits = SceneBits(scene)
    atom = Compare(attribute="size", how=">", value=Literally(value="small"), condition="c1")
    found = compared(bits, "thing", atom, value="small")
    values = [bits.told(name, "size")[0] for name in scene.members["thing"]]
    assert [bool(found.must >> i & 1) for i in range(len(values))] == [v != ("small",) for v in values]


@pytest.mark.usefixtures("no_bit_sets")
def test_why_there_is_no_proof():
    scene = street()
    bits, reasons = SceneBits(scene), set()
    for made in searched(scene, n=120):
        assert isinstance(find_proof(made.composition, bits), Found)
        refused = find_proof(made.composition, bits, fits=lambda *_: False)
        assert isinstance(refused, Refused)
        reasons.add(refused.reason)
    assert reasons == {"of-another-cell"}


@pytest.mark.usefixtures("no_bit_sets")
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
