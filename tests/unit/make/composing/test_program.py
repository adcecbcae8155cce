"""Steps and conditions are numbered as they are added."""

from subjects.composing import random_scene
from vidence.make.composing.program import Program
from vidence.make.scene_graph.composition import Aggregate, Members


def test_conditions_are_numbered_as_they_end():
    program = Program()
    names = [program.condition("semantic" if n % 2 else "temporal") for n in range(11)]
    program.add("answer", Aggregate(how="count", of=Members(category="thing")))
    made = program.composition("s0/1", random_scene(0), vocabulary_sha256="sha256:x")
    assert [one.id for one in made.conditions] == names == [f"c{n}" for n in range(1, 12)]
    assert made.conditions[1].skill == "semantic"
    assert made.scene_sha256 == random_scene(0).sha256
