"""Quotas: cells filled by lack, videos in turn, nothing twice, weak ones refused."""

import pytest

from subjects.composing import event_log, random_scene, street
from vidence.errors import UsageError
from vidence.make.composing.quotas import Quota, Strength, cell_of, fill, gaps
from vidence.make.composing.scene_bits import SceneBits


def test_videos_get_their_share_and_nothing_is_asked_twice():
    scenes = {f"s{i}": SceneBits(random_scene(i, n=14)) for i in range(3)}
    filled = fill(scenes, Quota(per_video=6, types=("attribute",), conditions=(2, 4)), Strength(), seed=1)
    of = [one.composition.scene for one in filled.composed]
    assert of[:3] == ["s0", "s1", "s2"]
    assert max(map(of.count, scenes)) <= 6
    asked = [
        (one.composition.scene, str(list(one.found.binding.values())[-1]), one.found.answer.domain)
        for one in filled.composed
        if one.shape != "count"
    ]
    assert len(asked) == len(set(asked))
    assert filled == fill(
        scenes, Quota(per_video=6, types=("attribute",), conditions=(2, 4)), Strength(), seed=1
    )


def test_weak_ones_are_refused():
    scenes = {"lane": SceneBits(street())}
    strength = Strength(most_guess=0.34, most_prior=0.3)
    for one in fill(scenes, Quota(per_video=8), strength, seed=0).composed:
        assert one.found.prior <= 0.3
        assert all(condition.without.guess <= 0.34 for condition in one.found.conditions)


def test_an_unmet_cell_says_why():
    filled = fill({"s": SceneBits(random_scene(0))}, Quota(types=("location",), tries=3), Strength(), seed=0)
    assert filled.composed == []
    assert {one.reason for one in filled.unmet} == {"no-shape"}
    assert len(filled.unmet) == len(Quota(types=("location",)).cells)


def test_what_keeps_a_scene_from_giving_anything_is_told():
    scene = SceneBits(random_scene(0, missing=0.5))
    said = list(gaps(scene))
    assert any(one.startswith("a of ") and one.endswith(" of 8 (thing)") for one in said)
    assert next(gaps(SceneBits(event_log(complete=("take",))))) == "whether every event is listed"
    assert list(gaps(SceneBits(event_log()))) == []


def test_both_kinds_of_logic_are_there():
    found = fill({"lane": SceneBits(street())}, Quota(per_video=10), Strength(), seed=0).composed
    assert {cell_of(one).logic for one in found} == {"conjunctive", "sequential"}


def test_numbers_of_conditions_have_to_make_sense():
    with pytest.raises(UsageError, match=r"\[6, 2\]"):
        Quota(conditions=(6, 2))
