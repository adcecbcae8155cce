"""Places as the search sees them are those of the verifier, margins and gaps among them."""

from itertools import permutations

import pytest

from subjects.composing import street, wide_scene, yard
from vidence.make.compose.ground import Ground
from vidence.make.compose.world import Doubt, World


def certain(found):
    return None if isinstance(found, Doubt) else found


@pytest.mark.parametrize("scene", [street(), yard(), wide_scene(0), wide_scene(1, missing=0.2)])
def test_search_and_verifier_see_the_same(scene):
    ground, world = Ground(scene), World(scene)
    names = [name for name, one in scene.entities.items() if one.category != "event"][:9]
    for one, other, to in permutations(names, 3):
        mine, theirs = ground.bearing(one, other), certain(world.bearing(one, other))
        assert mine == (theirs if theirs is None else pytest.approx(theirs))
        if mine is not None:
            assert ground.sector(to, one, mine) == certain(world.sector(to, one, mine))
    for (table, of), value in ground.known.items():
        assert world.knows(table, of) == value


def test_contradictions_are_not_used():
    scene = wide_scene(1, missing=0.05)
    assert ("place", "t0") in {one.about for one in scene.contradictions}
    assert "t0" not in Ground(scene).places
