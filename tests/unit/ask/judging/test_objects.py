"""Objects in what a judge wrote, and what is not taken for one."""

import json

import pytest

from vidence.ask.judging.objects import (
    MOST_BRACES,
    MOST_CHARS,
    MOST_IDS,
    Object,
    find_objects,
    inside,
    objects_holding,
    whole_object,
)


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


MARK = "7f3a"


def marked_pairs(text: str) -> list[tuple[tuple[str, object], ...]]:
    return [found.value.pairs for found in objects_holding(MARK, text)]


def test_only_objects_with_the_mark_are_taken_and_in_order():
    text = "{a: id7} and {x: 1} id7 then {b: {c: id7}} id7"
    first, second = objects_holding("id7", text)
    assert (first.source, second.source) == ("{a: id7}", "{b: {c: id7}}")
    assert (first.start, second.start) == (0, text.index("{b"))


def test_plain_json_may_be_longer_than_what_is_meant_to_be():
    fits = "{'a': '" + "x" * (MOST_CHARS - 9) + "'}"
    assert len(objects_holding("'a'", fits)) == 1
    assert objects_holding("'a'", fits.replace("x", "xx", 1)) == []
    plain = json.dumps({"a": "x" * 3 * MOST_CHARS})
    assert len(objects_holding('"a"', plain + plain)) == 2


def test_the_braces_nearest_to_a_mark_are_tried():
    text = f"{{a: '{MARK}'}}"
    assert marked_pairs("{" * 5_000 + text) == [(("a", MARK),)]
    far = "{a: 1, " + "b: {}, " * MOST_BRACES + f"m: '{MARK}'}}"
    assert marked_pairs(far) == []
    assert marked_pairs(far.replace("b: {}, ", "", 1)) != []


def test_the_last_marks_are_looked_at():
    assert len(marked_pairs(f"{{a: '{MARK}'}} " * 3 * MOST_IDS)) == MOST_IDS
    assert marked_pairs(f"{{a: '{MARK}', b: '{MARK}'}}") == [(("a", MARK), ("b", MARK))]
    assert objects_holding("", "{a: 1}") == []


def test_what_is_json_as_a_whole_is_read_and_nothing_else():
    assert whole_object('{"a": {"b": 1}}') == Object((("a", Object((("b", 1),))),))
    for text in ("", "[1]", '{"a": 1} x', "{'a': 1}", '{"a": ' + "[" * 99_999):
        assert whole_object(text) is None
