"""Keys: what can be one, what is told to scripts, and that no two mean the same."""

import json

import pytest

from vidence.studio.rules.keys import GROUPS, SHORTCUTS, Keys, read_keys


def test_the_usual_keys_are_all_different_and_can_all_be_keys():
    keys, faults = read_keys({}, is_off=False)
    assert faults == {}
    assert keys == Keys()
    assert keys.told() == ""
    assert len({one.usual for one in SHORTCUTS}) == len({one.name for one in SHORTCUTS}) == len(SHORTCUTS)
    assert {one.group for one in SHORTCUTS} == set(GROUPS)


def test_scripts_are_told_the_keys_that_are_not_usual():
    keys, faults = read_keys(
        {"play": " Z ", "next": "", "save": "Ctrl + Q", "split": "shift+s"}, is_off=False
    )
    assert faults == {}
    assert json.loads(keys.told()) == {
        "off": False,
        "own": {"k": "z", "n": "", "ctrl+s": "ctrl+q", "s": "shift+s"},
    }


def test_keys_that_are_off_keep_what_somebody_has_made_of_them():
    keys, _ = read_keys({"play": "z"}, is_off=True)
    assert json.loads(keys.told())["off"]
    assert keys.own == {"play": "z"}
    assert all(keys.of(one) == "" for one in SHORTCUTS)


@pytest.mark.parametrize("key", ["kk", "ctrl+k", "1", "enter", "shift+1", "space", "shift", "\n1", "é́"])
def test_what_can_be_no_key_alone(key):
    _, faults = read_keys({"play": key}, is_off=False)
    assert list(faults) == ["play"], key


@pytest.mark.parametrize("key", ["s", "ctrl", "ctrl+", "ctrl+1", "ctrl+t", "alt+s"])
def test_what_can_be_no_key_of_a_form(key):
    _, faults = read_keys({"save": key}, is_off=False)
    assert list(faults) == ["save"], key


def test_two_cannot_have_one_key_unless_one_gives_it_away():
    _, faults = read_keys({"play": "j"}, is_off=False)
    assert faults == {"play": "j is the key of: five seconds back"}
    keys, faults = read_keys({"play": "j", "jump-back": "k"}, is_off=False)
    assert faults == {}
    assert keys.own == {"play": "j", "jump-back": "k"}


@pytest.mark.parametrize("key", ["é", "ж", "0", ";", "`", "~"])
def test_letters_of_other_languages_and_signs_are_keys(key):
    assert read_keys({"play": key}, is_off=False)[1] == {}
