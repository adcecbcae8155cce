"""What counts as the same words."""

import unicodedata

import pytest

from vidence.ask.scoring import needs_judge, robust
from vidence.ask.scoring.letters import plain, words
from vidence.errors import UsageError
from vidence.records import Answered, Failed, Item, Refused, Reply, Score, Unreadable


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
        ("1.5 km", ("1.5", "km")), ("-5°, 3-4", ("-5", "3", "4")),
        ("7,190 or 1,2", ("7190", "or", "1", "2")), (".5", (".5",)), ("B12 x_y", ("b", "12", "x", "y")),
        ("Straße", ("strasse",)), ("!?", ()),
    ],
)  # fmt: skip
def test_words(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


def test_forms_of_ascii_are_those_of_unicode_and_invisible_signs_are_none() -> None:
    wide = "".join(map(chr, range(0xFF01, 0xFF5F))).replace("\uff04", "")  # but the sign of LaTeX
    kept = [sign for sign in wide if unicodedata.normalize("NFKC", sign) not in "*`_<>#"]
    for sign in kept:
        assert plain(f"a{sign}b") == f"a{unicodedata.normalize('NFKC', sign)}b"
    assert plain("a\u00a0b\u3000c\u2009d\u202fe") == "a b c d e"
    assert plain("\u2018a\u2019 \u02bc \u201cb\u201d \u300cc\u300d") == '\'a\' \' "b" "c"'
    assert plain("1\u20102\u20113\u20124\u20135\u20146\u22127") == "1-2-3-4-5-6-7"
    for number in range(26):
        assert plain(chr(0x24B6 + number)) == chr(ord("A") + number)
    assert plain("a\u2010b\u060cc\u061bd\u3001e\u3010f\u3011") == "a-b,c;d,e[f]"
    for sign in "\u200b\u200c\u200d\u200e\u200f\u061c\u2060\ufeff":
        assert plain(f"a{sign}b") == "ab"
    for sign in "\u2705\u2713\u2714\u2611\ufe0f":
        assert plain(f"a{sign}b") == "a b"
    # Their neighbours stay as they are.
    for sign in "\uff5f\u24d0\u24b5\u201a\u2017\u201b\u02bb\u02bd\u201e\u300e\u2015\u3003":
        assert plain(f"a{sign}b") == f"a{sign}b"


CHOICE = Item(item_id="q1", question="?", choices=("Red", "Blue"), answer="B")
OPEN = Item(item_id="q2", question="?", answer="a cat", answer_kind="text")


@pytest.mark.parametrize(
    ("outcome", "value"),
    [
        (Answered(answer="B"), 1.0),
        (Answered(answer="A"), 0.0),
        (Answered(answer="b"), 0.0),
        (Unreadable(reason="x"), 0.0),
        (Refused(reason="x"), 0.0),
        (Failed(stage="model", error="TransientModelError", message="x"), 0.0),
    ],
)
def test_a_choice_is_right_iff_its_letter_is_the_answer(outcome, value) -> None:
    scorer = robust.create()
    assert scorer.mark(CHOICE, outcome) == Score(
        outcome=outcome, value=value, scorer="robust", scorer_version=scorer.version
    )


@pytest.mark.parametrize("item", [CHOICE, OPEN])
def test_a_refusal_is_no_answer(item) -> None:
    scorer = robust.create() if item is CHOICE else needs_judge.create()
    assert scorer.read(item, Reply(text="B", refusal="I may not")) == Refused(reason="I may not")
    refused = scorer.read(item, Reply(text="B", finish="refusal"))
    assert isinstance(refused, Refused)
    assert "declined" in refused.reason


@pytest.mark.parametrize("item", [CHOICE, OPEN])
def test_a_cut_off_is_mentioned_where_nothing_was_read(item) -> None:
    scorer = robust.create() if item is CHOICE else needs_judge.create()
    cut = scorer.read(item, Reply(text="<think>so long", finish="length"))
    assert isinstance(cut, Unreadable)
    assert cut.reason.endswith("; the reply was cut off at its length limit")
    whole = scorer.read(item, Reply(text="<think>so long"))
    assert isinstance(whole, Unreadable)
    assert "cut off" not in whole.reason


def test_a_cut_off_reply_is_read_and_its_reasoning_is_not() -> None:
    read = robust.create().read(CHOICE, Reply(text="Answer: B", finish="length"))
    assert isinstance(read, Answered)
    assert read.answer == "B"
    assert isinstance(robust.create().read(CHOICE, Reply(text="", reasoning="Answer: B")), Unreadable)
    assert isinstance(needs_judge.create().read(OPEN, Reply(text=" ", reasoning="a cat")), Unreadable)


def test_an_open_answer_waits_for_its_judge() -> None:
    scorer = needs_judge.create()
    outcome = scorer.read(OPEN, Reply(text="<think>hm</think>\n It is a cat. \n"))
    assert outcome == Answered(answer="It is a cat.", rule="whole-reply")
    score = Score(outcome=outcome, value=None, scorer="needs-judge", scorer_version=1)
    assert scorer.mark(OPEN, outcome) == score
    scorer = needs_judge.create()
    assert scorer.mark(OPEN, Unreadable(reason="x")).value == 0.0
    assert scorer.mark(OPEN, Refused(reason="x")).value == 0.0
    with pytest.raises(UsageError, match="'robust' reads letters, but item 'q2' has an open answer"):
        robust.create().read(OPEN, Reply(text="A"))
