"""Objects in what a judge wrote, and what is not taken for one."""

import pytest

from vidence.ask.judging.objects import MOST_BRACES, MOST_CHARS, Object, find_objects, inside


def pairs(text: str) -> list[tuple[tuple[str, object], ...]]:
    return [found.value.pairs for found in find_objects(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', (("a", 1),)),
        ("{'a': True, 'b': False, 'c': None}", (("a", True), ("b", False), ("c", None))),
        ("{a: yes}", (("a", "yes"),)),
        ('{"a": 1, // why\n "b": 2, # and\n /* so */ "c": 3,}', (("a", 1), ("b", 2), ("c", 3))),
        ("{'said': 'the cook's pan'}", (("said", "the cook's pan"),)),
        ("{\u201ca\u201d: \u2018b\u2019}", (("a", "b"),)),
        ('{"a": "\\d+"}', (("a", "\\d+"),)),
        ('{"a": -1.5e3}', (("a", -1500.0),)),
        ('{"a": 1, "a": 2}', (("a", 1), ("a", 2))),
    ],
)
def test_what_is_meant_to_be_json_is_read(text, expected):
    assert pairs(f"I say {text}.") == [expected]


@pytest.mark.parametrize(
    "text", ["", "no brace", "{", "{1}", '{"a": }', "{a}", '{"a": 1', '{"a" = 1}', "[1, 2]"]
)
def test_what_is_no_object_is_left_out(text):
    assert pairs(text) == []


def test_objects_come_in_order_with_the_words_they_were_read_from():
    first, second = find_objects("{a: 1} and then {b: {c: 2}}")
    assert (first.source, second.source) == ("{a: 1}", "{b: {c: 2}}")
    (held,) = inside(second.value)
    assert held == Object((("c", 2),))


def test_objects_in_lists_of_lists_are_found_inside():
    (found,) = find_objects('{"all": [1, [{"a": 1}], {"b": 2}]}')
    assert [one.pairs for one in inside(found.value)] == [(("a", 1),), (("b", 2),)]


def test_a_brace_that_is_none_does_not_hide_the_object_behind_it():
    assert pairs("{ what? {a: 1}") == [(("a", 1),)]


def test_an_object_may_be_as_long_as_the_limit_and_no_longer():
    fits = '{"a": "' + "x" * (MOST_CHARS - 9) + '"}'
    assert len(fits) == MOST_CHARS
    assert len(find_objects(fits)) == 1
    assert find_objects(fits.replace("x", "xx", 1)) == []


def test_as_many_braces_are_tried_as_the_limit_says():
    assert find_objects("{" * MOST_BRACES) == []
    with pytest.raises(ValueError, match=f"more than {MOST_BRACES} opening braces"):
        find_objects("{" * (MOST_BRACES + 1))
