"""What comes out of a composition: whether it is one, and what a variable could be."""

import pytest

from subjects.composing import street
from vidence.make.compose.reached import Reached, anything
from vidence.make.compose.scene_bits import SceneBits


@pytest.mark.parametrize(
    ("found", "each_step", "jointly", "value"),
    [
        (Reached({"red": 1}), True, True, True),
        (Reached({"red": 2}), True, False, True),
        (Reached({"red": 1}, is_several=True), False, True, True),
        (Reached({"red": 1, "blue": 1}), False, False, False),
        (Reached({"red": 1}, is_doubtful=True), False, False, False),
        (Reached(), False, False, False),
    ],
)
def test_what_has_to_be_one(found, each_step, jointly, value):
    assert [found.is_one(one) for one in ("each step", "jointly", "value")] == [each_step, jointly, value]


def test_the_share_of_an_answer():
    assert Reached({"red": 1, "blue": 3}).share("blue") == 0.75
    assert Reached().share("blue") == 0.0


def test_everything_that_a_variable_could_be():
    scene = SceneBits(street())
    assert anything("person", scene) == scene.members["person"]
    assert list(anything("kind", scene)) == sorted({one.kind for one in scene.events.values()})
    for name, known in scene.words.attributes.items():
        told = {value for of in known.of for value in scene.column(of, name).values}
        assert set(anything(name, scene)) == set(known.values or told)
