"""Each shape comes out of a scene that offers it, and the verifier proves it; the words say it."""

import random

import pytest

from subjects.composing import street, wide_scene, yard
from vidence.make.compose.offers import NoOffer, OptionRules, offers
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.quotas import skills_of
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.search import QuotaCell, Search
from vidence.make.compose.shapes import CONJUNCTIVE, SEQUENTIAL, carried
from vidence.make.compose.wording import PlainWords
from vidence.make.compose.world import World
from vidence.make.sources.composition import DirectionOf, Known, Select, View, parts

KINDS = {
    "known": lambda one: isinstance(one, Known),
    "direction": lambda one: isinstance(one, DirectionOf),
    "nearest": lambda one: isinstance(one, Select) and one.how in ("nearest", "farthest"),
}


def drawn(scene, *shapes, n=60):
    """What comes of attempts at shapes, with answers of every type for which the scene has them."""
    search, number = Search(SceneBits(scene), rng=random.Random(0), shapes=shapes), 0
    for logic in ("conjunctive", "sequential"):
        for kind in ("attribute", "object", "location", "relationship"):
            for _ in range(n if search.shapes(QuotaCell(kind, logic, 4)) else 0):
                number += 1
                if made := search.tried(QuotaCell(kind, logic, 2 + number % 4), number=number):
                    yield made


def test_every_shape_is_looked_for():
    assert set(KINDS) == {*CONJUNCTIVE, *SEQUENTIAL}


@pytest.mark.parametrize("shape", KINDS)
def test_a_shape_comes_out_and_is_proven(shape):
    scenes = [street(), yard(), *(wide_scene(seed) for seed in (4, 7))]
    n = 0
    for scene in scenes:
        world, words = World(scene), PlainWords(scene.vocabulary)
        for made in drawn(scene, shape):
            verdict = prove(made.composition, world, rules=Rules())
            assert verdict.is_proven, verdict.problems
            assert made.proof == verdict.proof
            assert words.read(words.write(made.composition)) == made.composition.steps
            if made.shape == shape:
                n += 1
                found = [one for step in made.composition.steps for one in parts(step.value)]
                assert any(KINDS[shape](one) for one in found)
    assert n >= 1


def test_views_are_of_people_and_have_a_facing():
    made = [one for one in drawn(yard(), "direction")]
    views = [step.value for one in made for step in one.composition.steps if isinstance(step.value, View)]
    assert views
    assert all(one.facing_condition for one in views)
    assert all(str(one.proof.binding["P"]).startswith("p") for one in made)


def test_directions_and_tables_have_options():
    scenes = {"yard": yard(), "lane": street()}
    domains = {"yard": "direction", "lane": "country"}
    for name, scene in scenes.items():
        made = [one for one in drawn(scene, "direction", "known") if one.proof.answer.domain == domains[name]]
        assert made
        found = offers(made, {scene.header.scene: SceneBits(scene)}, OptionRules(n=4), seed=0)
        assert any(not isinstance(one, NoOffer) and len(one.options) == 4 for one in found.values())


def test_skills_reach_the_shapes():
    search = Search(SceneBits(street()), rng=random.Random(0))
    assert search.shapes(QuotaCell("location", "conjunctive", 2, "visual knowledge")) == ("known",)
    assert set(search.shapes(QuotaCell("object", "sequential", 4, "spatial"))) >= {"nearest"}
    assert search.shapes(QuotaCell("relationship", "sequential", 4)) == ("direction",)
    assert search.shapes(QuotaCell("relationship", "conjunctive", 4)) == ()
    known = next(drawn(street(), "known"))
    assert "visual knowledge" in skills_of(known.composition)


def test_whether_or_not_is_never_carried():
    search = Search(SceneBits(street()), rng=random.Random(0))
    assert "glasses" not in carried(search.statements, "person")
    assert "number" not in carried(search.statements, "shop")
    assert "hair" in carried(search.statements, "person")
