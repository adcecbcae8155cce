"""What words of logs say to a viewer: near synonyms, implied doings, names for anything."""

import pytest

from vidence.make.sources.event_words import (
    forms,
    groups_of,
    is_anything,
    is_direct,
    is_implied,
    is_near,
    is_only_looking,
    is_vague,
    likenesses,
    singular,
    verb_said,
    words,
)


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("pick-up", "pick-up", True),
        ("take", "fetch", True),
        ("put down", "put in", True),
        ("rinse", "scrub", True),
        ("turn on", "press", True),
        ("turn on", "rotate", False),  # switching on is no turning
        ("turn", "rotate", True),
        ("take off", "unwrap", True),
        ("cut", "wash", False),
        ("juggle", "wash", False),
    ],
)
def test_verbs_that_a_viewer_may_take_for_each_other(one, other, near):
    assert is_near(one, other) is near
    assert is_near(other, one) is near


def test_a_verb_of_no_group_is_in_none():
    assert groups_of("juggle") == groups_of("") == frozenset()


@pytest.mark.parametrize(
    ("verb", "implied", "looking"),
    [("take", True, False), ("move", True, False), ("check", True, True), ("peel", False, False)],
)
def test_what_goes_with_any_handling(verb, implied, looking):
    assert (is_implied(verb), is_only_looking(verb)) == (implied, looking)


@pytest.mark.parametrize(
    ("noun", "vague", "anything"),
    [
        ("thing", True, True),
        ("other parts", True, True),
        ("hands", False, True),
        ("kitchen floor", False, True),
        ("milk container", False, False),
        ("carrot", False, False),
    ],
)
def test_nouns_that_say_little(noun, vague, anything):
    assert (is_vague(noun), is_anything(noun)) == (vague, anything)


def test_things_that_look_alike_share_a_group():
    assert likenesses("coffee mugs") & likenesses("glass")
    assert not likenesses("mug") & likenesses("pan")
    assert likenesses("carrot") == frozenset()


@pytest.mark.parametrize(
    ("word", "one"),
    [
        ("onions", "onion"),
        ("knives", "knife"),
        ("boxes", "box"),
        ("berries", "berry"),
        ("pies", "pie"),
        ("tomatoes", "tomato"),
        ("glasses", "glass"),
        ("glass", "glass"),
        ("asparagus", "asparagus"),
        ("tennis", "tennis"),
        ("egg", "egg"),
    ],
)
def test_plurals_by_rule(word, one):
    assert singular(word) == one


def test_little_words_are_left_out():
    assert words("The handle of another CUPBOARD") == ("handle", "cupboard")


def test_forms_of_a_verb_double_the_last_letter_and_drop_an_e():
    assert forms("slice") >= {"slice", "slices", "slicing", "sliced"}
    assert forms("cut") >= {"cut", "cuts", "cutting"}


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("pour into", "pour"),
        ("put in", "put"),
        ("plug in", "plug in"),
        ("turn on", "turn on"),
        ("put down", "put down"),
        ("take out of", "take out"),
        ("with", "with"),
    ],
)
def test_a_verb_without_prepositions_that_need_a_second_thing(verb, said):
    assert " ".join(verb_said(verb)) == said


@pytest.mark.parametrize(
    ("verb", "noun", "narration", "direct"),
    [
        ("cut", "onion", "cut the onion", True),
        ("cut", "knife", "use the knife to cut the onion", False),
        ("cut", "knife", "cut the onion with the knife", False),
        ("pour into", "water", "pour hot water into the pan", True),
        ("wash", "plate", "washing the plates", True),
        ("wash", "plate", "wash spoon, fork and plate", False),
        ("wash", "plate", "dry the plate", False),
    ],
)
def test_the_thing_right_behind_the_verb_is_what_it_is_done_to(verb, noun, narration, direct):
    assert is_direct(verb, noun, narration) is direct
