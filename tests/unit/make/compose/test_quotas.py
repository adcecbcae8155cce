"""Quotas: cells filled by lack, videos in turn, nothing twice, weak ones refused."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random

import msgspec
import pytest

from subjects.composing import WORDS, event_log, random_scene, street
from vidence.errors import UsageError
from vidence.make.compose import search
from vidence.make.compose.finding import find_proof
from vidence.make.compose.offers import Offer, OptionRules, offers
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.quotas import Quota, Strength, fill, gaps
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.world import World
from vidence.make.sources.composition import parts
from vidence.make.sources.scene import AttributeFact, Header, RelationFact
from vidence.make.sources.scene_files import find_contradictions


def test_videos_get_their_share_and_nothing_is_asked_twice():
    scenes = {f"s{i}": SceneBits(random_scene(i, n=14)) for i in range(3)}
    filled = fill(scenes, Quota(per_video=6, types=("attribute",), conditions=(2, 4)), Strength(), seed=1)
    of = [one.composition.scene for one in filled.composed]
    assert of[:3] == ["s0", "s1", "s2"]
    assert max(map(of.count, scenes)) <= 6
    asked = [
        (one.composition.scene, str(list(one.proof.binding.values())[-1]), one.proof.answer.domain)
        for one in filled.composed
        if one.proof.answer.domain != "count"
    ]
    assert len(asked) == len(set(asked))
    assert filled == fill(
        scenes, Quota(per_video=6, types=("attribute",), conditions=(2, 4)), Strength(), seed=1
    )


def test_weak_ones_are_refused():
    scenes = {"lane": SceneBits(street())}
    strength = Strength(most_guess=0.34, most_prior=0.3)
    for one in fill(scenes, Quota(per_video=8), strength, seed=0).composed:
        assert one.proof.prior <= 0.3
        assert all(condition.without.guess <= 0.34 for condition in one.proof.conditions)


def test_an_unmet_cell_says_why():
    filled = fill({"s": SceneBits(random_scene(0))}, Quota(types=("location",), tries=3), Strength(), seed=0)
    assert filled.composed == []
    assert {one.reason for one in filled.unmet} == {"no-shape"}
    assert {one.n for one in filled.unmet} == {3}
    assert len(filled.unmet) == len(Quota(types=("location",)).cells)


@pytest.mark.parametrize("shapes", [("count", "next", "ranked", "tally"), ("next",)])
def test_a_shape_is_a_quarter_at_most_where_others_can_be_found(shapes):
    """With few tries: what the others did not give at once is not lost to the shape that is drawn often."""
    scenes = {f"s{seed}": SceneBits(event_log(n=15)) for seed in range(4)}
    quota = Quota(per_video=6, types=("attribute", "object", "action"), conditions=(2, 4), tries=60)
    filled = fill(scenes, msgspec.structs.replace(quota, shapes=shapes), Strength(), seed=0)
    drawn = Counter(one.shape for one in filled.composed)
    assert drawn.total() == 24
    assert set(drawn) == set(shapes)
    assert max(drawn.values()) <= 24 // len(shapes) + 2, drawn


def test_an_answer_is_a_fifth_of_its_domain_at_most_where_others_can_be_found():
    """Small counts are found first; who always says one is right no more often for it."""
    scenes = {f"s{seed}": SceneBits(event_log(n=n)) for seed, n in enumerate((30, 40, 50, 60))}
    quota = Quota(per_video=12, types=("attribute",), conditions=(2, 4))
    found = fill(scenes, quota, Strength(), seed=0).composed
    counts = Counter(one.proof.answer.value for one in found)
    assert counts.total() == 48
    assert max(counts.values()) <= 0.2 * 48 + 1, counts


def test_counts_of_small_scenes_keep_their_options():
    """Three values would be right of 90 counts, each too often for five options; fewer keep theirs."""
    log, names = event_log(n=10), [f"s{i}" for i in range(30)]
    scenes = {name: SceneBits(replace(log, header=Header(scene=name, vocabulary="v"))) for name in names}
    quota = Quota(per_video=3, types=("attribute",), conditions=(2, 2), shapes=("count",))
    found = fill(scenes, quota, Strength(), seed=0).composed
    assert Counter(one.proof.answer.value for one in found) == {1: 16, 2: 16, 3: 16}
    offered = offers(found, scenes, OptionRules(), seed=0)
    assert len(offered) == 48
    assert all(isinstance(offer, Offer) for offer in offered.values())


def test_what_was_refused_is_not_proved_again(monkeypatch):
    n_proved = Counter()

    def counted(composition, *args, **kwargs):
        n_proved[composition.steps] += 1
        return find_proof(composition, *args, **kwargs)

    monkeypatch.setattr(search, "find_proof", counted)
    quota = Quota(per_video=99, types=("attribute",), logic=("conjunctive",), conditions=(2, 2))
    filled = fill({"s": SceneBits(event_log(n=12))}, quota, Strength(), seed=0)
    assert 0 < len(filled.composed) < 99
    assert set(n_proved.values()) == {1}


def changed(scene, entities, facts):
    """A scene with other entities and facts, and what contradicts itself in them."""
    return replace(
        scene,
        entities={one.entity: one for one in entities},
        facts=tuple(facts),
        contradictions=tuple(find_contradictions(facts, scene.vocabulary)),
    )


@pytest.mark.parametrize("n_things", [0, 1])
def test_a_scene_of_nobody_gives_nothing_and_says_why(n_things):
    scene = random_scene(0)
    names = {f"t{i}" for i in range(n_things)}
    facts = [one for one in scene.facts if isinstance(one, AttributeFact) and one.of in names]
    alone = changed(scene, [scene.entities[name] for name in names], facts)
    filled = fill({"s0": SceneBits(alone)}, Quota(tries=5), Strength(), seed=0)
    assert filled.composed == []
    assert {(one.reason, one.n) for one in filled.unmet} == {("no-shape", 5)}
    assert [one.cell for one in filled.unmet] == list(Quota().cells)


def test_a_cycle_of_an_order_is_never_rested_on():
    scene = random_scene(2, n=14)
    facts = [one for one in scene.facts if not isinstance(one, RelationFact)]
    circle = ("t0", "t1", "t2", "t0")
    facts += [RelationFact(name="above", of=one, to=other) for one, other in pairwise(circle)]
    facts += [RelationFact(name="above", of=one, to=other) for one, other in (("t4", "t5"), ("t5", "t6"))]
    cyclic = changed(scene, scene.entities.values(), facts)
    assert len(cyclic.contradictions) == 3
    bits, world = SceneBits(cyclic), World(cyclic)
    assert bits.related("thing", "above", "t6").must == 0b110000
    in_circle = {("t0", "t1"), ("t1", "t2"), ("t2", "t0")}
    for one, other in in_circle:
        place = bits.place["thing"][one]
        masks = bits.related("thing", "above", other)
        assert masks.may >> place & 1
        assert not masks.must >> place & 1
        assert not isinstance(world.related(one, "above", other), bool)
    found = fill({"s2": bits}, Quota(per_video=60, facts=0), Strength(), seed=0).composed
    assert found
    for one in found:
        verdict = prove(one.composition, world, rules=Rules())
        assert verdict.is_proven
        assert not {f"{a} above {b}" for a, b in in_circle} & set(verdict.proof.rests_on)


def test_what_keeps_a_scene_from_giving_anything_is_told():
    scene = SceneBits(random_scene(0, missing=0.5))
    said = list(gaps(scene))
    assert any(one.startswith("a of ") and one.endswith(" of 8 (thing)") for one in said)
    assert next(gaps(SceneBits(event_log(complete=("take",))))) == "whether every event is listed"
    assert list(gaps(SceneBits(event_log()))) == []


def test_numbers_of_conditions_have_to_make_sense():
    with pytest.raises(UsageError, match=r"\[6, 2\]"):
        Quota(conditions=(6, 2))


@pytest.mark.parametrize("is_shared", [True, False])
def test_the_answer_does_not_stand_in_the_question_as_a_value_of_its_domain(is_shared):
    base = random_scene(3, n=24)
    rim = msgspec.structs.replace(WORDS.attributes["c"], domain="colour" if is_shared else "")
    words = msgspec.structs.replace(WORDS, attributes={**WORDS.attributes, "c": rim, "d": rim})
    rng = Random(3)
    more = [AttributeFact(of=f"t{i}", name="d", value=rng.choice(rim.values)) for i in range(24)]
    scene = replace(base, vocabulary=words, facts=(*base.facts, *more))
    quota = Quota(per_video=120, types=("attribute",), logic=("conjunctive",), conditions=(2, 4), facts=0)
    strength = Strength(most_guess=1.0, most_prior=1.0)
    found = fill({"s3": SceneBits(scene)}, quota, strength, seed=0).composed
    said = [
        one.composition.composition
        for one in found
        if one.proof.answer.domain in ("c", "d")
        for atom in parts(one.composition.steps[0].value)
        if getattr(atom, "attribute", "") in {"c", "d"} - {one.proof.answer.domain}
        if one.proof.answer.value in getattr(atom.value, "values", (getattr(atom.value, "value", None),))
    ]
    assert found
    assert bool(said) != is_shared
