"""Types: what a step, a column and both types are said for."""

from pathlib import Path

import msgspec
import pytest

from vidence.make.compose.parsing import parse_compositions
from vidence.make.compose.types import Typed, check_types, with_skills
from vidence.make.sources.proof import Problem
from vidence.make.sources.vocabulary import Vocabulary, read_vocabulary

GOLDEN = Path(__file__).parents[3] / "golden" / "compose"
WORDS = read_vocabulary(GOLDEN / "street.toml")


def checked(text: str):
    (written,) = parse_compositions(text, source="mine.txt")
    return check_types(with_skills(written, WORDS), WORDS)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A = person(); A.hair", "step answer, column 15: Set[person] found; expected One"),
        ('A = the(bike()); A.hair', "a bike has no 'hair'; only Value[hair] of person"),
        ('count(person(bag == 3))', "3 found; expected Value[bag]"),
        ('count(shop(number == "3"))', "'3' found; expected Number[number]"),
        ('count(person(bag == "bleu"))', "there is no value 'bleu'. Did you mean 'blue'?"),
        ('count(persn())', "there is no category 'persn'. Did you mean 'person'?"),
        ('count(person(hat < "green"))', "Value[hat] has no order, so that < says nothing"),
        ('count(bike(in_front_of(the(bench()))))', "One[bench] found; expected One[shop]"),
        ('A = the(shop()); count(chair(colour == A.sign))', "Value[sign] found; expected Value[colour]"),
        ('A = B.hair; B = the(person()); A', "B is used before it is made"),
        ('C.hair', "there is no variable 'C'"),
        ('most(person(), "bag").hair', "Value[bag] has no order"),
        ('known("cuontry", the(shop()).flag)', "Did you mean 'country'?"),
        ('the(event(kind == "tlak")).who.hair', "Did you mean 'talk'?"),
        ('the(event()).begins', "the answer is a Time"),
        ('count(person(hat in "green"))', "in: Value[text] found"),
        ('v = the(person()).hat; count(person(hat in v))', "in: Value[hat] found"),
        ('direction(the(bike()), the(person()))', "One[person] found; expected View"),
        ('first(person(), "left to right").hair', "there is no relation 'left_of'"),
        ('first(person(), "sideways").hair', "there is no order or relation 'sideways'"),
        ('first(bike(), "in_front_of").colour', "in_front_of is no order"),
        ('largest(person(), "bag")', "Value[bag] has no order"),
        ('values(person(), "bag")', "the answer is a Values"),
        ('count(person(bag == values(person(), "bag")))', "==: Values[bag] found"),
        ('count(person(bag in values(shop(), "sign")))', "Values[sign] found; expected Values[bag]"),
        ('count(person(bag in values(shop(), "number")))', "Values[number] found; expected Values[bag]"),
        ('mode(values(person(), "bag"), "bag")', "Values[bag] found; expected Set"),
        ('pair(the(person()), 3)', "One[person] found; expected Value or Number or Direction"),
        ('d = the(bike()).colour; count(in_direction(bike(), view(the(bench())), d))',
         "Value[colour] found; expected Direction"),
        ('count(in_direction(bike(), view(the(bench()), heading=the(bike())), "left"))',
         "One[bike] found; expected View"),
        ('expected(the(person()))', "takes One[event], not One[person]"),
    ],
)  # fmt: skip
def test_type_errors(text, says):
    found = checked(text)
    assert isinstance(found, Problem)
    assert found.reason == "type-error"
    assert says in found.says


def in_words(text: str, more: str):
    raw = msgspec.toml.decode((GOLDEN / "figures.toml").read_text() + more)
    words = msgspec.convert(raw, Vocabulary).with_domains()
    (written,) = parse_compositions(text, source="mine.txt")
    return check_types(with_skills(written, words), words)


def test_values_of_one_domain_can_be_compared_and_those_of_two_cannot():
    sizes = "".join(
        f'\n[attributes.{name}]\nof = ["bag"]\nvalues = {values}\nordered = true'
        for name, values in (("width", ["low", "high"]), ("rank", ["high", "low"]))
    )
    assert isinstance(in_words("A = the(sign()); count(person(top == A.colour))", ""), Typed)
    assert isinstance(in_words("A = the(bag()); count(bag(width == A.rank))", sizes), Typed)
    found = in_words("A = the(bag()); count(bag(width < A.rank))", sizes)
    assert isinstance(found, Problem)
    assert "Value[rank] found; expected Value[width]" in found.says
    found = in_words("A = the(person()); count(person(top == A.worn))", "")
    assert isinstance(found, Problem)
    assert "Value[worn] found; expected Value[top]" in found.says


def test_a_variable_that_nothing_uses():
    found = checked("A = the(bench())\nB = the(person())\nB.hair")
    assert isinstance(found, Problem)
    assert (found.reason, found.step, found.line) == ("unused-variable", "A", 1)


def test_limits():
    many = ", ".join('hat != "green"' for _ in range(11))
    assert "conditions: 11 found; at most 10" in checked(f"count(person({many}))").says
    steps = "; ".join(f"A{n} = A{n - 1}" for n in range(1, 9))
    assert (
        "steps: 10 found; at most 8" in checked(f"A0 = the(bench()); {steps}; direction(A8, view(A8))").says
    )


def test_skills_of_the_vocabulary():
    (written,) = parse_compositions(
        'A = first(person(hat == "green", appears_after(the(bench()))), "appears")\n'
        "direction(A, view(A, facing=the(bike())))",
        source="mine.txt",
    )
    skills = {one.id: one.skill for one in with_skills(written, WORDS).conditions}
    assert skills == {"c1": "semantic", "c2": "temporal", "c3": "temporal", "c4": "spatial"}


def test_what_an_answer_is():
    found = checked('the(bike(colour == "red"))')
    assert (found.answer_type, found.domain, found.logic, found.depth) == ("object", "bike", "sequential", 1)
