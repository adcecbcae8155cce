"""All that steps allow: operators, one by one, in the street."""

import json

import pytest

from vidence.errors import DataError
from vidence.make.sources.scene_files import read_scenes

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
        ('largest(shop(), "number")', 15),
        ('smallest(shop(sign_colour == "blue"), "number")', 14),
        ('count(values(chair(), "colour"))', 3),
        ('count(chair(colour not in values(chair(room == "dining"), "colour")))', 4),
        ('v = values(bike(), "colour"); count(person(bag == "black", top in v))', 1),
        ('pair(the(shop(number == 12)).flag, count(bike()))', "maple leaf; 4"),
        (f'd = direction(the(bike(colour == "blue")), view({BALD}, heading=0)); '
         f'count(in_direction(bike(colour != "red"), view({BALD}, heading=0), d))', 1),
        (f'v = view({BALD}, heading=90); direction(the(bike(colour == "blue")), view({BALD}, heading=v))',
         "front"),
        (f'v = view({BALD}, heading=90); '
         f'direction(the(bike(colour == "blue")), view({BALD}, heading=v, turned=-90))', "left"),
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


def test_what_a_left_out_condition_compares_with_is_not_read():
    from vidence.make.compose.evaluating import variables_read
    from vidence.make.compose.parsing import parse_compositions

    text = 'A = the(person())\nB = the(person())\nfirst(person(bag == A.bag, near(B)), "appears").hair'
    (written,) = parse_compositions(f'scene = "lane"\n{text}', source="x")
    last = written.composition.steps[-1].value
    assert variables_read(last, frozenset()) == ("A", "B")
    assert variables_read(last, frozenset(["c1"])) == ("B",)
    assert variables_read(last, frozenset(["c1", "c2"])) == ()


def test_a_pair_of_values_with_its_own_mark_in_them_is_refused(verdict):
    odd = {"fact": "known", "table": "country", "of": "red disc", "value": "one; two"}
    text = 'A = the(shop(number == 15)); pair(known("country", A.flag), A.number)'
    with pytest.raises(DataError, match="'one; two' has '; ' in it and cannot stand in a pair"):
        verdict(text.replace("; pair", "\npair"), without=[{"of": "red disc"}], more=[odd])


def line(folder, *facts):
    """Three in a row whose order is told, and who is known of them."""
    (folder / "row.toml").write_text(
        '[categories.person]\n[attributes.hand]\nof = ["person"]\nvalues = ["pocket", "bag", "hip"]\n'
        "[relations.ahead_of]\ntransitive = true\n"
    )
    lines = [{"scene": "row", "vocabulary": "row.toml"}, {"complete": "person"}, *facts]
    lines += [{"entity": f"p{n}", "category": "person"} for n in (1, 2, 3)]
    lines += [
        {"fact": "attribute", "of": f"p{n}", "name": "hand", "value": value}
        for n, value in enumerate(("pocket", "bag", "hip"), start=1)
    ]
    (folder / "row.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return read_scenes(folder / "row.jsonl")


def ahead(one: str, other: str, **more: object):
    return {"fact": "relation", "name": "ahead_of", "of": one, "to": other, **more}


def test_a_place_in_a_row_is_found_by_a_relation_that_is_an_order(tmp_path, said_in):
    scenes = line(tmp_path, ahead("p1", "p2"), ahead("p2", "p3"))
    text = 'scene = "row"; nth(person(), 2, "ahead_of").hand'.replace("; ", "\n")
    (found,) = said_in(scenes, text)
    assert found.proof is not None, found.problems
    assert found.proof.answer.value == "bag"
    assert {"p1 ahead_of p2", "p2 ahead_of p3"} <= set(found.proof.rests_on)
    gap = line(tmp_path, ahead("p1", "p3"), ahead("p2", "p3"))
    (found,) = said_in(gap, text)
    assert [one.reason for one in found.problems] == ["unknown-fact"]
