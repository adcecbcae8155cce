"""The block that shows a text as data: what goes in comes out, and nothing else does."""

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.ask.judging.verdict_request import MOST_CHARS, block_id, fence
from vidence.records import Item

ITEM = Item(item_id="q", question="What?", answer="a pan", answer_kind="text")
# What has been used to hide words, to break out of quotes, or to look like something else.
NASTY = st.sampled_from(
    [
        *("\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u2028", "\u2029", "\x85", "\x00", "\x1b[31m"),
        *("\U000e0041", "\ufe0f", "\U000e0100", "\u3164", "\u2800", "\u034f", "\u00a0", "\u00ad", "\ud800"),
        *('"', "\\", "\\u003c", "\n", "\r\n", "\t", "<", ">", "&", "`", "[", "]", "</reply>", "<|im_end|>"),
        *("[INST]", '</reply id="x">', "{{ 7 * 7 }}", "{% raw %}", "&lt;", "```", "é", "中", "😀", "p\u0440"),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(NASTY).map("".join))


def lines_of(block: str) -> list[str]:
    first, *lines, last = block.split("\n")
    assert first == '<reply id="X">'
    assert last == '</reply id="X">'
    return lines


def shown(text: str, most_chars: int = MOST_CHARS) -> list[str]:
    return lines_of(fence(text, name="reply", marked="X", most_chars=most_chars))


@given(TEXTS)
def test_the_block_holds_exactly_the_text_and_no_markup(text):
    (line,) = shown(text)
    assert json.loads(line) == text
    for character in line[1:-1]:
        assert character not in "<>&`[]"
        assert character == " " or unicodedata.category(character)[0] not in "CZ"
    assert len(line.splitlines()) == 1
    assert not set(line) & set("\u034f\u115f\u1160\u2800\u3164\uffa0\ufe00\ufe0f\U000e0100")


@given(TEXTS, st.integers(30, 400))
def test_a_long_text_is_cut_in_the_middle_and_says_so(text, most_chars):
    lines = shown(text, most_chars)
    if len(lines) == 1:
        assert json.loads(lines[0]) == text
        return
    head, tail = json.loads(lines[0]), json.loads(lines[2])
    told = re.fullmatch(r"\((\d+) characters are left out here\)", lines[1])
    assert told
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(told[1]) + len(tail) == len(text)
    assert len(lines[0]) + len(lines[2]) - 4 <= most_chars


def test_a_third_of_what_is_kept_is_the_beginning_and_what_just_fits_is_whole():
    head, told, tail = shown("a" * 100_000 + "b" * 100_000)
    assert head == f'"{"a" * 8_000}"'
    assert tail == f'"{"b" * 16_000}"'
    assert told == "(176000 characters are left out here)"
    assert shown("a" * 24_000) == [f'"{"a" * 24_000}"']
    assert len(shown("a" * 24_001)) == 3
    lines = shown("\U000e0041" * 10_000)  # twelve characters each
    assert len("".join(lines)) < MOST_CHARS + 100
    assert shown("Café 中文 😀 100 °C — 'so'") == ["\"Café 中文 😀 100 °C — 'so'\""]
    assert shown("a<b>\n") == [r'"a\u003cb\u003e\n"']


@given(TEXTS)
def test_the_id_is_that_of_the_text_and_the_question(text):
    marked = block_id(ITEM, text)
    assert re.fullmatch(r"[0-9a-f]{16}", marked)
    assert marked == block_id(ITEM, text)
    assert marked != block_id(ITEM, text + " ")
    other = Item(item_id="q", question="What?", answer="a pot", answer_kind="text")
    assert marked != block_id(other, text)


def test_the_id_tells_where_one_word_ends():
    one = Item(item_id="ab", question="c", answer="x", answer_kind="text")
    two = Item(item_id="a", question="bc", answer="x", answer_kind="text")
    assert block_id(one, "t") != block_id(two, "t")


@pytest.mark.parametrize("n", range(1, 40))
def test_no_cut_falls_into_an_escape(n):
    for line in shown("\u202e<" * 30, n)[::2]:
        assert set(json.loads(line)) <= {"\u202e", "<"}
