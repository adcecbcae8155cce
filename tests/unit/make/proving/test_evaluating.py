"""All that steps allow: operators, one by one, in the street."""

import pytest

BALD = 'the(person(hair == "bald"))'


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('count(person(during(the(event(kind == "take a photo")))))', 3),
        ('count(person(appears_before(the(event(kind == "take a photo")))))', 7),
        ('count(person(before(the(event(kind == "take a photo")))))', 4),
        ('count(event(within(the(event(kind == "take a photo")), 5)))', 2),
        ("count(person(begins_in(0, 40)))", 3),
        ('nth(person(), 3, "appears").holds', "nothing"),
        ('last(person(top == "red"), "ends").holds', "dog lead"),
        ('most(shop(), "number").flag', "red disc"),
        ('least(shop(), "number").flag', "maple leaf"),
        ('nearest(bike(colour != "red"), the(bench())).colour', "blue"),
        ('farthest(person(hair == "long"), the(bike(colour == "yellow"))).holds', "phone"),
        ('shared(chair(room == "study"), "style")', "cane"),
        ('longest_run(person(hat == "green"), "hair")', 1),
        ('A = the(shop(sign_colour == "green")); the(shop(sign_colour == "red")).number - A.number', -1),
        ('count(rel(the(shop(sign == "square")), "in_front_of"))', 1),
        ('count(bike(not in_front_of(the(shop(sign == "square")))))', 3),
        ('count(shop(number > 12, number <= 14))', 2),
        ('count(shop(sign_colour not in {"red", "blue"}))', 1),
        ('the(person(hair == "bald"))', "p4"),
        ('the(event(who == the(person(hair == "long", holds == "cup")))).kind', "drop a cup"),
        ('direction(the(bike(colour == "blue")), view(the(person(hair == "bald")), heading=90))', "front"),
        (f'count(in_direction(bike(colour != "red"), view({BALD}, heading=0), "left"))', 1),
        ('direction(the(bike(colour == "blue")), view(the(person(hair == "bald")), heading=0))', "left"),
    ],
)  # fmt: skip
def test_operators(verdict, text, answer):
    found = verdict(f"claims = {answer!r}\n{text.replace('; ', chr(10))}")
    assert "other-answer" not in [problem.reason for problem in found.problems]
    assert found.proof is not None, found.problems
    assert found.proof.answer.value == answer


def test_a_tie_names_both(verdict):
    found = verdict('mode(table(shape == "square"), "lamp")')
    assert [problem.reason for problem in found.problems] == ["no-referent"]
    assert "no commonest lamp" in found.problems[0].says


def test_two_at_one_distance_are_too_near(verdict):
    found = verdict('nearest(bike(), the(person(hair == "bald"))).colour')
    assert [problem.reason for problem in found.problems] == ["too-near"]


def test_the_category_can_be_a_condition(verdict):
    found = verdict('the(person(hair == "bald", head = "counted")).holds', more=[{"complete": "entity"}])
    assert [one.id for one in found.proof.conditions] == ["c1", "c2"]
    assert found.proof.conditions[1].without.outcome == "unneeded"


def test_what_people_expect(verdict):
    said = {"fact": "expected", "of": "e5", "value": "comes out with a bag"}
    text = 'expected(the(event(kind == "enter a shop")))'
    alone = verdict(text, more=[{**said, "by": ["person:1"]}])
    assert [problem.reason for problem in alone.problems] == ["unknown-fact"]
    both = verdict(text, more=[{**said, "by": ["person:1", "person:2"]}])
    assert both.proof.answer.value == "comes out with a bag"
