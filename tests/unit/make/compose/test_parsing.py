"""What the language takes, and what it refuses; nothing of a text is ever run."""

import pytest

from vidence.make.compose.parsing import ProgramError, parse_compositions
from vidence.make.sources.composition import canonical, conditions_in, read_composition_line


def parsed(text: str):
    return parse_compositions(text, source="mine.txt")


def test_numbers_and_skills_come_from_comments():
    (one,) = parsed('A = the(a(x == "1", y == "2"))  # 2 spatial, 1\nA.z')
    atoms = one.composition.steps[0].value.of.atoms
    assert [(atom.attribute, atom.condition) for atom in atoms] == [("x", "c2"), ("y", "c1")]
    assert one.skills == {"c2": "spatial"}


def test_conditions_are_numbered_as_they_end():
    (one,) = parsed('first(a(x == the(b(u == "1")).v, during(E)), "appears").z')
    assert conditions_in(one.composition.steps[0].value) == ("c4", "c2", "c1", "c3")


def test_several_compositions_in_a_file_keep_their_lines():
    one, other = parsed('# of mine\ncount(a())\n---\n\nid = "x"\nA = the(a(x == 1)); A.y\n---\n')
    assert (one.composition.composition, one.line) == ("mine.txt/0001", 1)
    assert (other.composition.composition, other.line) == ("x", 4)
    assert other.composition.steps[0].line == 6


@pytest.mark.parametrize(
    "text",
    [
        'count(a(x in {"b", "a"}, not near(B), begins_in(0, 2.5), within(E, 3), head = "counted"))',
        'nth(a(x != "1"), 2, "left to right").place',
        "Z = nearest(rel(B, \"near\"), B); direction(B, view(B, heading=90, turned=-45))",
        'count(in_direction(a(), view(B, facing=C), "right")) - 1',
        'at(B.bag, E)', 'expected(E)', 'known("t", B.flag)', 'shared(a(), "x")', 'most(a(), "size").x',
    ],
)  # fmt: skip
def test_what_was_parsed_can_be_stored_and_read(text):
    (one,) = parsed(text)
    line = canonical(one.composition)
    assert canonical(read_composition_line(line)) == line


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '__import__("os").system("true")',
            "mine.txt:1:1: \"__import__('os').system('true')\" is not in the language",
        ),
        ("A.__class__", "mine.txt:1:1: '__class__' is not in the language"),
        ("import os", "mine.txt:1:1: a Import is not in the language"),
        ("[x for x in y]", "mine.txt:1:1: '[x for x in y]' is not in the language"),
        ("(lambda: 1)()", "is not in the language"),
        ("a(x == 1", "mine.txt:1: no program"),
        ("A = the(a())\nA = the(b())\nA.x", "mine.txt:2:1: 'A' is given twice"),
        ("A = the(a())", "the last step gives no answer"),
        ('count(a("x"))', "is no condition; expected a comparison, a relation or a time"),
        ("count(a(x == True))", "expected a text or a number, found 'True'"),
        ("first(a(), 3).x", "3 found; expected a text"),
        ("pair(a.x)", "pair: 1 arguments found; expected 2"),
        ("the(a(), b())", "the: 2 arguments found; expected 1"),
        ("count(a(x == 1))  # 1, 2", "2 conditions in the comment, 1 in the line"),
        ("count(a(x == 1))  # 1 banana", "expected a number and one of semantic"),
        ("count(a(x == 1, y == 2))  # 1, 1", "the condition 1 is there twice"),
        ("view(A, facing=B, heading=3)", "facing and heading exclude each other"),
        ("x" * 20_001, "20,001 characters; at most 20,000"),
        ("", "no composition is in it"),
        ("-" * 5000 + "1", "mine.txt:1"),
    ],
)
def test_what_is_refused(text, says):
    with pytest.raises(ProgramError) as error:
        parsed(text)
    assert says in str(error.value)


def test_nothing_is_run(tmp_path):
    trap = tmp_path / "ran"
    with pytest.raises(ProgramError):
        parsed(f'A = open({str(trap)!r}, "w")\nA.x')
    assert not trap.exists()
