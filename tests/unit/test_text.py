"""Words and characters that several rooms read."""

import pytest

from vidence.errors import UsageError
from vidence.records import Refused, Reply
from vidence.text import (
    find_garbled,
    first_lines,
    letter_index,
    normal_form,
    refusal_in,
    scripts,
    visible,
    without_thinking,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <think>b</think> c", "a   c"),
        ("<think>a</think>b<think>c", " b "),
        ("a</think>b", " b"),
        ("a</think>b</think>c", " c"),
        ("<think>a <answer>b", " <answer>b"),
        ("<think>a<think>b</think>c</THINKING>d", " d"),
        ("<reasoning>a<think>b</think>c", " "),
        ("x<Think>a</tHINK>y<thinking>b</thinking>z", "x y z"),
        ("<think>loop " * 3000, " "),
        ("no tags", "no tags"),
    ],
)
def test_thinking_is_taken_off(text: str, expected: str) -> None:
    assert without_thinking(text) == expected


@pytest.mark.parametrize("letter", ["", "AB", "a", "1", "Ä"])
def test_what_is_no_letter_is_refused(letter: str) -> None:
    with pytest.raises(UsageError, match="A to Z"):
        letter_index(letter)


def test_a_long_list_ends_with_how_many_more_there_are() -> None:
    faults = [f"line {n}" for n in range(1, 23)]
    assert first_lines(faults[:20]).splitlines() == faults[:20]
    assert first_lines(faults).splitlines()[-2:] == ["line 20", "... and 2 more"]


def test_letters_count_from_zero() -> None:
    assert (letter_index("A"), letter_index("E"), letter_index("Z")) == (0, 4, 25)


def test_normal_form_keeps_letters_and_digits_of_every_script() -> None:
    assert normal_form("① Где  кот?—Hier_da") == "1 где кот hier da"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Who is in the cafÃ©?", "Ã©"),
        ("itâ€™s", "â€™"),
        ("É… and a café", ""),
        ("lost \ufffd", "\ufffd"),
        ("", ""),
    ],
)
def test_text_that_was_decoded_wrongly_is_found(text: str, found: str) -> None:
    assert find_garbled(text) == found


def test_scripts_are_those_of_letters() -> None:
    assert scripts("a 1 \u0431 (\u4e2d)") == {"LATIN", "CYRILLIC", "CJK"}
    assert scripts("12 ?") == set()


def test_a_refusal_that_the_server_reports_has_a_reason() -> None:
    assert refusal_in(Reply(text="A", model="m")) is None
    assert refusal_in(Reply(text="", model="m", refusal="unsafe")) == Refused(reason="unsafe")
    found = refusal_in(Reply(text="", model="m", finish="refusal"))
    assert found is not None
    assert "gave no reason" in found.reason


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain\ttext\nwith lines", "plain\ttext\nwith lines"),
        ("a\r\nb", "a\nb"),
        ("\x00\x1b[31m\x7f", "␀␛[31m␡"),
        ("\x9b2J", "⟨U+009B⟩2J"),
        ("abc\u202edcb\u2066", "abc⟨U+202E⟩dcb⟨U+2066⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("سلام 漢字 🎥", "سلام 漢字 🎥"),
    ],
)
def test_hidden_characters_are_written_out(text, seen):
    assert visible(text) == seen
