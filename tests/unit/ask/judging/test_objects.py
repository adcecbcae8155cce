"""Objects in what a judge wrote, and what is not taken for one."""

import json

import pytest

from vidence.ask.judging.objects import MOST_BRACES, MOST_CHARS, MOST_IDS, Object, find_objects, inside, whole_object


def pairs(text: str) -> list[tuple[tuple[str, object], ...]]:
    """The objects in which a mark stands, without it."""
    return [found.value.pairs for found in find_objects(text, holding=MARK)]


MARK = "7f3a"


def marked(text: str) -> str:
    """An object with the mark as its last value."""
    return f"{text[:-1].rstrip(',')}, m: {MARK!r}}}"


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
    assert pairs(f"I say {marked(text)}.") == [(*expected, ("m", MARK))]
    assert pairs(f"I say {text}.") == []


@pytest.mark.parametrize(
    "text", ["", "no brace", "{", "{1}", '{"a": }', "{a}", '{"a": 1', '{"a" = 1}', "[1, 2]"]
)
def test_what_is_no_object_is_left_out(text):
    assert pairs(f"{text} {MARK}") == []
    assert pairs(f"{MARK} {text}") == []


def test_objects_come_in_order_with_the_words_they_were_read_from():
    text = "{a: id7} and {x: 1} then {b: {c: id7}}"
    first, second = find_objects(text, holding="id7")
    assert (first.source, second.source) == ("{a: id7}", "{b: {c: id7}}")
    assert (first.start, second.start) == (0, text.index("{b"))
    (held,) = inside(second.value)
    assert held == Object((("c", "id7"),))


def test_objects_in_lists_of_lists_are_found_inside():
    (found,) = find_objects('{"all": [1, [{"a": 1}], {"b": 2}]}', holding="all")
    assert [one.pairs for one in inside(found.value)] == [(("a", 1),), (("b", 2),)]


def test_a_brace_that_is_none_does_not_hide_the_object_behind_it():
    assert pairs(f"{{ what? {{a: '{MARK}'}}") == [(("a", MARK),)]


def test_an_object_may_be_as_long_as_the_limit_and_no_longer():
    fits = "{'a': '" + "x" * (MOST_CHARS - 9) + "'}"
    assert len(fits) == MOST_CHARS
    assert len(find_objects(fits, holding="'a'")) == 1
    assert find_objects(fits.replace("x", "xx", 1), holding="'a'") == []
    plain = json.dumps({"a": "x" * 3 * MOST_CHARS})
    assert len(find_objects(plain + plain, holding='"a"')) == 2


def test_the_braces_nearest_to_a_mark_are_tried():
    text = f"{{a: '{MARK}'}}"
    assert pairs("{" * 5_000 + text) == [(("a", MARK),)]
    far = "{a: 1, " + "b: {}, " * MOST_BRACES + f"m: '{MARK}'}}"
    assert pairs(far) == []
    assert pairs(far.replace("b: {}, ", "", 1)) != []


def test_the_last_marks_are_looked_at():
    assert len(pairs(f"{{a: '{MARK}'}} " * 3 * MOST_IDS)) == MOST_IDS
    assert pairs(f"{{a: '{MARK}', b: '{MARK}'}}") == [(("a", MARK), ("b", MARK))]
    assert find_objects("{a: 1}", holding="") == []


def test_what_is_json_as_a_whole_is_read_and_nothing_else():
    assert whole_object('{"a": {"b": 1}}') == Object((("a", Object((("b", 1),))),))
    for text in ("", "[1]", '{"a": 1} x', "{'a': 1}", '{"a": ' + "[" * 99_999):
        assert whole_object(text) is None
