"""What counts as the same words."""

import pytest

from vidence.ask.scoring.wording import equal_choices, plain, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**a** *b* `c` __d__ e_f", "a b c d e_f"),
        ("# a\n> b", "a\nb"),
        ("“a” ‘b’ — ｃ：Ⓓ。", "\"a\" 'b' - c:D."),  # noqa: RUF001 - what is tested
        ("$\\text{a}$ \\(b\\)", " a   b "),
        ("a<|im_end|></s>", "a  "),
        ("e\u0301", "\u00e9"),
        ("\\boxed{a}", "\\boxed{a}"),
    ],
)
def test_markup_is_taken_off(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5 km", ("1.5", "km")),
        ("-5°, 3-4", ("-5", "3", "4")),
        ("7,190 or 1,2", ("7190", "or", "1", "2")),
        (".5", (".5",)),
        ("B12 x_y", ("b", "12", "x", "y")),
        ("Straße", ("strasse",)),
        ("!?", ()),
    ],
)
def test_words(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        ("RED.", ("red", "blue"), (0,)),
        ("rear  left", ("Rear-left", "Front-left"), (0,)),
        ("the red", ("red", "blue"), (0,)),
        ("red", ("red", "Red!"), (0, 1)),
        ("a red", ("a red", "red"), (0,)),
        ("", ("", "red"), ()),
        ("12", ("1 2", "12"), (1,)),
        ("purple", ("red", "blue"), ()),
    ],
)
def test_equal_choices(text: str, choices: tuple[str, ...], expected: tuple[int, ...]) -> None:
    assert equal_choices(text, choices) == expected


def test_odd_spaces_quotes_and_dashes_are_ascii() -> None:
    assert plain("a\u00a0b\u3000c\u2009d\u202fe") == "a b c d e"
    assert plain("\u2018a\u2019 \u02bc \u201cb\u201d \u300cc\u300d") == '\'a\' \' "b" "c"'
    assert plain("1\u20102\u20113\u20124\u20135\u20146\u22127") == "1-2-3-4-5-6-7"
    assert plain("a\u200bb\u200cc\u200dd\u2060e\ufefff\u3001g\u3002") == "abcdef,g."
    assert plain("\uff21\uff5e \u24b6\u24cf") == "A~ AZ"
