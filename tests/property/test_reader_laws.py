"""Laws of reading: what holds for any reply."""

# ruff: noqa: RUF001 - full-width letters and Cyrillic look-alikes belong to the replies

import re

from hypothesis import assume, given
from hypothesis import strategies as st

from vidence.ask.scoring import robust
from vidence.records import Answered, Item, Reply

ROBUST = robust.create()
CHOICES = ("Directly in front", "Directly behind", "To the left", "To the right", "Rear-left", "Above")
LETTERS = "ABCDEF"
MARKERS = (
    "{}", " {} ", "({})", "{}.", "**{}**", "<answer>{}</answer>", "<Answer>{}", "Answer: {}",
    "**Answer:** {}", "Therefore, the final answer is: ${}", "FINAL ANSWER: ${}",
    "The correct answer is {}.", "\\boxed{{{}}}",
    "$\\text{{{}}}$", "Option {}", '{{"answer": "{}"}}', "<think>Is it A? Or B: yes.</think>{}", "答案是{}",
    "I look at the frames.\n\nAnswer: {}", "{}\n\nBecause the man turns.", "I choose {}.",
)  # fmt: skip
# Pieces of replies, so that random texts come near to answers.
PIECES = st.sampled_from(
    [
        "A", "B", "c", "F", "G", "Z", " ", "\n", ":", ".", "(", ")", "**", "answer", "Answer:",
        "the answer is", "<answer>", "</answer>", "<think>", "</think>", "\\boxed{", "}", "or", "not", "and",
        "option", "is", "Rear-left", "to the right", "a man", "because", "none of them", '"', "'", ",", "-",
        "$", "I think", "correct", "答案", "Ｂ", "А",
    ]
)  # fmt: skip
REPLIES = st.one_of(
    st.text(max_size=80),
    st.lists(PIECES, max_size=14).map("".join),
    st.lists(PIECES, max_size=14).map(" ".join),
)


def item(n_choices: int = 6) -> Item:
    return Item(item_id="q", question="?", choices=CHOICES[:n_choices], answer="A")


def letter(text: str, n_choices: int = 6) -> str | None:
    outcome = ROBUST.read(item(n_choices), Reply(text=text))
    return outcome.answer if isinstance(outcome, Answered) else None


@given(REPLIES, st.integers(1, 6))
def test_a_letter_that_is_read_is_one_of_the_choices(text: str, n_choices: int) -> None:
    assert letter(text, n_choices) in {None, *LETTERS[:n_choices]}


@given(REPLIES, st.text(" \t\n\r", max_size=4), st.text(" \t\n\r", max_size=4))
def test_space_around_a_reply_changes_nothing(text: str, before: str, after: str) -> None:
    assume(text.strip())
    assert letter(before + text + after) == letter(text.strip())


@given(st.sampled_from(MARKERS), st.sampled_from(LETTERS))
def test_a_lone_letter_in_any_marker_is_read(marker: str, wanted: str) -> None:
    assert letter(marker.format(wanted)) == wanted


@given(st.sampled_from(MARKERS), st.integers(0, 5))
def test_a_letter_with_its_text_is_read_and_with_another_text_not(marker: str, own: int) -> None:
    assume("text{" not in marker and marker not in ("{}.", "({})"))
    assert letter(marker.format(f"{LETTERS[own]}: {CHOICES[own]}")) == LETTERS[own]
    assert letter(marker.format(f"{LETTERS[own]}: {CHOICES[own - 1]}")) is None


@given(
    st.sampled_from(MARKERS), st.integers(0, 5), st.integers(1, 5), st.sampled_from(["or", "and", "/", ","])
)
def test_two_letters_are_no_answer(marker: str, first: int, step: int, between: str) -> None:
    second = LETTERS[(first + step) % 6]
    assert letter(marker.format(f"{LETTERS[first]} {between} {second}")) is None


@given(REPLIES.filter(lambda text: "<" not in text), st.sampled_from(LETTERS))
def test_what_is_thought_is_not_read(thought: str, wanted: str) -> None:
    assert letter(f"<think>{thought}</think><answer>{wanted}</answer>") == wanted
    assert letter(f"<think>{thought}</think>") is None
    assume("boxed" not in thought)  # reasoning that never ends may end in its answer
    assert letter(f"<think>{thought}") is None


@given(st.text("abcdefgh ,.", min_size=1, max_size=30))
def test_the_text_of_one_choice_is_read_whatever_it_says(text: str) -> None:
    assume(len(re.findall("[a-z]", text)) > 1)
    choices = ("zzz", text, "yyy")
    asked = Item(item_id="q", question="?", choices=choices, answer="A")
    outcome = ROBUST.read(asked, Reply(text=f"<answer>B: {text}</answer>"))
    assert isinstance(outcome, Answered)
    assert outcome.answer == "B"
