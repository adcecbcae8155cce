"""Where a text names choices, and which texts say the same."""

import pytest

from vidence.ask.scoring.mentions import equal_choices, find_mentions


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        ("RED.", ("red", "blue"), (0,)), ("rear  left", ("Rear-left", "Front-left"), (0,)),
        ("the red", ("red", "blue"), (0,)), ("red", ("red", "Red!"), (0, 1)),
        ("a red", ("a red", "red"), (0,)), ("", ("", "red"), ()), ("12", ("1 2", "12"), (1,)),
        ("purple", ("red", "blue"), ()),
    ],
)  # fmt: skip
def test_equal_choices(text: str, choices: tuple[str, ...], expected: tuple[int, ...]) -> None:
    assert equal_choices(text, choices) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the coat is blue", [("blue", (1,), "choice-text")]),
        ("the answer is (B) blue.", [("(B) blue", (1,), "letter-and-text")]),
        ("B: red", [("B: red", (), "letter-and-other-text")]),
        ("blue (B)", [("blue (B)", (1,), "letter-and-text")]),
        ("blue (A)", [("blue (A)", (), "letter-and-other-text")]),
        ("B. dark b", [("B", (1,), "letter")]),
        ("C: dark bleu", [("C: dark bleu", (2,), "letter-and-text")]),
        ("A blue car", [("blue", (1,), "choice-text")]),
        ("I think so; C's hat, A-frame, vitamin", []),
        ("a b c", []),
        ("option c", [("c", (2,), "letter")]),
        ("1. dark\nblue", [("dark\nblue"[5:], (1,), "choice-text")]),
    ],
)
def test_mentions(text: str, expected: list[tuple[str, tuple[int, ...], str]]) -> None:
    found = find_mentions(("red", "blue", "dark blue"), text)
    assert [(text[m.start : m.end], m.choices, m.form) for m in found] == expected
