"""Steps and conditions are numbered as they are added."""

from subjects.composing import GOLDEN, random_scene, street
from vidence.make.compose.atoms import AttributeStatement
from vidence.make.compose.program import Program, read_compositions, set_of, with_atom, without_atom
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.scene_bits import Masks
from vidence.make.compose.world import World
from vidence.make.sources.composition import Aggregate, Members, conditions_in


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
        for condition in one.conditions:
            fewer = without_atom(one, condition.id)
            if set_of(one, condition.id) is None:
                assert fewer is None
                continue
            n = len(one.conditions) - 1
            assert [c.id for c in fewer.conditions] == [f"c{i}" for i in range(1, n + 1)]
            used = [name for step in fewer.steps for name in conditions_in(step.value)]
            assert sorted(used) == sorted(c.id for c in fewer.conditions)


def test_another_statement_takes_the_place_of_one():
    first = programs()[0]
    said = AttributeStatement("hair", "==", "braided", Masks(0, 0), "semantic")
    made = with_atom(first, "c1", said)
    assert set_of(made, "c1")[0].variable == "A"
    verdict = prove(made, World(street()), rules=Rules())
    assert any("unneeded" in one.name for one in verdict.problems)
    assert set_of(made, "c9") is None
