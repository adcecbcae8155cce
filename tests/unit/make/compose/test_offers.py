"""Options: a value for each condition that may be ignored; ranks and shares that do not tell the answer."""

import dataclasses
from collections import Counter

import pytest
from msgspec.structs import replace

from subjects.composing import event_log, random_scene, searched, street, wide_scene
from vidence.make.compose.offers import NoOffer, Offer, OptionRules, covers_of, offers
from vidence.make.compose.prove import check_options
from vidence.make.compose.quotas import Quota, Strength, fill
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.search import MOST_COUNTED
from vidence.make.compose.world import World
from vidence.make.sources.scene import Header


def offered(scene, *, n, rules):
    world, some = World(scene), list(searched(scene, n=n))
    options = offers(some, {scene.header.scene: SceneBits(scene)}, rules, seed=0)
    for made in some:
        yield made, made.proof, options[made.composition.composition], world


def test_every_condition_has_an_option_unless_it_is_told_that_it_has_none():
    n = 0
    for made, proof, found, world in offered(street(), n=300, rules=OptionRules()):
        if isinstance(found, NoOffer):
            assert found.reason in {"overlapping", "options-hide", "told-by-words"}
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


def test_neither_ranks_nor_shares_tell_which_count_is_right():
    """Small counts are right most often; among options they are so no more often than others."""
    scenes = {f"s{seed}": wide_scene(seed, n=80) for seed in range(12)}
    some = [made for scene in scenes.values() for made in searched(scene, n=500, shapes=["count"])]
    found = offers(some, {name: SceneBits(scene) for name, scene in scenes.items()}, OptionRules(), seed=0)
    kept = [one for one in found.values() if isinstance(one, Offer)]
    ranks = Counter(sorted(one.options).index(one.options[0]) for one in kept)
    assert len(some) > 120
    assert len(kept) >= 0.4 * len(some)
    assert max(ranks.values()) < 0.35 * len(kept), ranks
    assert {one.reason for one in found.values() if not isinstance(one, Offer)} == {"told-by-words"}
    reached = [
        bool({int(v) for v in condition.without.values} & {*offer.options})
        for made in some
        if isinstance(offer := found[made.composition.composition], Offer)
        for condition in made.proof.conditions
        if min(map(int, condition.without.values), default=MOST_COUNTED + 1) <= MOST_COUNTED
    ]
    assert sum(reached) > 0.6 * len(reached)  # of conditions whose witness can be an option


def test_each_count_is_right_in_a_fifth_of_its_offers():
    """Whatever the count; when scenes told of each other, one was right in 71 % and another in 1 %."""
    scenes = {}
    for name, n in ((f"s{i}", 20 + 2 * i) for i in range(24)):
        scenes[name] = SceneBits(
            dataclasses.replace(event_log(n=n), header=Header(scene=name, vocabulary="v"))
        )
    quota = Quota(types=("attribute",), conditions=(2, 3), shapes=("count", "tally"))
    some = fill(scenes, quota, Strength(), seed=0).composed
    draws = [offers(some, scenes, OptionRules(), seed=seed).values() for seed in range(5)]
    kept = [offer for draw in draws for offer in draw if isinstance(offer, Offer)]
    assert len(kept) > 0.6 * len(some) * len(draws)
    right = Counter(offer.options[0] for offer in kept)
    n_offered = Counter(value for offer in kept for value in offer.options)
    shares = {value: right[value] / n for value, n in n_offered.items() if n > 150}
    assert len(shares) >= 5
    assert all(0.14 < share < 0.26 for share in shares.values()), shares


def test_of_witnesses_those_are_taken_that_are_right_elsewhere():
    """A witness that is never right tells that it is wrong, however usual it is."""
    scenes = {f"s{seed}": wide_scene(seed, n=40) for seed in range(4)}
    every = [made for scene in scenes.values() for made in searched(scene, n=400)]
    some = [made for made in every if made.proof.answer.value in ("east", "south")]  # never "north"
    bits = {name: SceneBits(scene) for name, scene in scenes.items()}
    found = offers(some, bits, OptionRules(n=2), seed=0)
    witnesses = Counter(
        found[made.composition.composition].options[1]
        for made in some
        if all(
            {*c.without.values} >= {"east", "south", "north"} - {made.proof.answer.value}
            for c in made.proof.conditions
            if c.without.values
        )
    )
    assert sum(witnesses.values()) > 5
    assert witnesses["north"] < 0.1 * sum(witnesses.values())


@pytest.mark.parametrize(
    ("values", "most", "covers"),
    [
        ({"c1": {"a"}, "c2": {"b"}, "c3": {"a", "b"}}, 2, [("a", "b")]),
        ({"c1": {"a", "c"}, "c2": {"b", "c"}}, 2, [("c",)]),
        ({"c1": {"a", "c"}}, 2, [("a",), ("c",)]),
        ({"c1": {"a"}, "c2": {"b"}}, 1, []),
        ({}, 4, [()]),
        ({"c1": set()}, 4, []),
    ],
)
def test_the_smallest_covers(values, most, covers):
    assert covers_of(values, most=most) == covers
