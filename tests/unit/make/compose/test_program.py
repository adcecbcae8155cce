"""Steps and conditions are numbered as they are added."""

from subjects.composing import GOLDEN, random_scene, street
from vidence.make.compose.program import Program, is_free_atom, read_compositions, without_atom
from vidence.make.sources.composition import Aggregate, Members, conditions_in, parts


def test_conditions_are_numbered_as_they_end():
    program = Program()
    names = [program.condition("semantic" if n % 2 else "temporal") for n in range(11)]
    program.add("answer", Aggregate(how="count", of=Members(category="thing")))
    made = program.composition("s0/1", random_scene(0), vocabulary_sha256="sha256:x")
    assert [one.id for one in made.conditions] == names == [f"c{n}" for n in range(1, 12)]
    assert made.conditions[1].skill == "semantic"
    assert made.scene_sha256 == random_scene(0).sha256


def programs():
    return [one for one, _ in read_compositions(GOLDEN / "examples.txt", {"lane": street()})]


def test_an_atom_is_left_out_of_any_program_and_the_others_are_numbered_again():
    for one in programs():
        inner = [part for step in one.steps for part in parts(step.value)]
        free = {part.condition for part in inner if is_free_atom(part)}
        for condition in one.conditions:
            fewer = without_atom(one, condition.id)
            if condition.id not in free:
                assert fewer is None
                continue
            n = len(one.conditions) - 1
            assert [c.id for c in fewer.conditions] == [f"c{i}" for i in range(1, n + 1)]
            used = [name for step in fewer.steps for name in conditions_in(step.value)]
            assert sorted(used) == sorted(c.id for c in fewer.conditions)
