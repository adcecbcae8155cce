"""Options: whoever ignores a condition finds a value to land on; no value is right too often."""

from collections import Counter

import pytest
from msgspec.structs import replace

from subjects.composing import event_log, random_scene, searched, street
from vidence.make.compose.offers import NoOffer, Offer, OptionRules, cover_of, offer, too_often_right
from vidence.make.compose.prove import Rules, check_options, prove
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.world import World


def offered(scene, *, n, rules):
    world, bits = World(scene), SceneBits(scene)
    for made in searched(scene, n=n):
        proof = prove(made.composition, world, rules=Rules()).proof
        yield made, proof, offer(proof, bits, rules, seed=0), world


def test_every_condition_has_an_option_unless_it_is_told_that_it_has_none():
    n = 0
    for made, proof, found, world in offered(street(), n=300, rules=OptionRules()):
        if isinstance(found, NoOffer):
            assert found.reason in {"too-few-values", "options-hide"}
            continue
        n += 1
        assert found.options[0] == proof.answer.value
        assert len(set(found.options)) == 5
        asked = replace(made.composition, options=found.options)
        faults = {c for one in check_options(asked, proof, world) for c in one.conditions}
        assert faults <= set(found.without_place)
        if proof.answer.domain != "count":
            assert not found.without_place
    assert n > 20


def test_values_that_cannot_be_told_apart_are_no_options():
    for _, proof, found, _ in offered(random_scene(2), n=300, rules=OptionRules(n=3)):
        if isinstance(found, Offer) and proof.answer.domain == "c":
            assert not {"grey", "black"} <= set(found.options)


def test_the_options_of_an_event_are_events_of_the_log():
    """Kind and object, as they stand together in the log; the verifier has nothing against them."""
    scene = event_log()
    objects = {fact.of: fact.value for fact in scene.facts if hasattr(fact, "value")}
    told = {f"{fact.kind}; {objects[fact.id]}" for fact in scene.facts if hasattr(fact, "kind")}
    n = 0
    for made, proof, found, world in offered(scene, n=600, rules=OptionRules()):
        if proof.answer.type == "event" and isinstance(found, Offer):
            n += 1
            assert set(found.options) <= told
            assert not list(check_options(replace(made.composition, options=found.options), proof, world))
    assert n >= 5


def test_the_ranks_of_counts_are_spread():
    ranks = Counter()
    for seed in range(6):
        for _, proof, found, _ in offered(random_scene(seed, n=14), n=120, rules=OptionRules(n=3)):
            if proof.answer.domain == "count" and proof.answer.value >= 2:
                ranks[sorted(found.options).index(found.options[0])] += 1
    assert set(ranks) == {0, 1, 2}
    assert max(ranks.values()) < 0.6 * sum(ranks.values())


@pytest.mark.parametrize(
    ("values", "most", "cover"),
    [
        ({"c1": {"a"}, "c2": {"b"}, "c3": {"a", "b"}}, 2, ("a", "b")),
        ({"c1": {"a"}, "c2": {"b"}}, 1, None),
        ({}, 4, ()),
        ({"c1": set()}, 4, None),
    ],
)
def test_the_smallest_cover(values, most, cover):
    assert cover_of(values, most=most) == cover


def test_what_is_right_too_often_is_left_out():
    offers = [("top", Offer(composition=str(i), options=("red", "blue", "grey"))) for i in range(9)]
    gone = too_often_right(offers, OptionRules(n=3))
    assert list(gone) == [str(i) for i in range(4, 9)]
    assert "red of top" in gone["5"]
