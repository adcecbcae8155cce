"""The most likely letter, and the likeliest text, of stored log-probabilities."""

import math

import pytest

from vidence.ask.scoring import logp
from vidence.errors import UsageError
from vidence.records import Answered, Item, Refused, Reply, TextLogp, Unreadable

ITEM = Item(item_id="q1", question="?", choices=("red", "blue", "green"), answer="B")


def read(logps: dict[str, float] | None, text: str = "A"):
    return logp.create("logp").read(ITEM, Reply(text=text, choice_logps=logps))


def test_the_most_likely_letter_is_read_whatever_the_words_say() -> None:
    assert read({"A": -2.0, "B": -0.2, "C": -4.0}) == Answered(answer="B", rule="choice-logps/first-token")
    assert read({"C": -3.0}, text="B") == Answered(answer="C", rule="choice-logps/first-token")


@pytest.mark.parametrize(
    ("logps", "part"),
    [
        (None, "--choice-logps"),
        ({}, "none of the choice letters"),
        ({"D": -0.1}, "none of the choice letters"),
        ({"A": -math.inf}, "none of the choice letters"),
        ({"A": math.nan}, "none of the choice letters"),
        ({"A": -1.0, "B": -1.0}, "A, B are equally likely"),
    ],
)
def test_a_reason_says_why_there_is_no_letter(logps, part: str) -> None:
    outcome = read(logps)
    assert isinstance(outcome, Unreadable)
    assert part in outcome.reason


def test_probabilities_are_over_the_reported_letters() -> None:
    likely = logp.letter_probabilities({"A": math.log(0.6), "B": math.log(0.2)}, ITEM.letters)
    assert likely == pytest.approx({"A": 0.75, "B": 0.25})
    assert logp.letter_probabilities({"A": -2000.0}, ITEM.letters) == {"A": 1.0}
    assert logp.letter_probabilities(None, ITEM.letters) == {}


def test_refusals_and_open_answers_are_as_with_other_parsers() -> None:
    scorer = logp.create("logp")
    assert isinstance(scorer.read(ITEM, Reply(text="", refusal="no", choice_logps={"A": -1.0})), Refused)
    opened = Item(item_id="q2", question="?", answer="a cat", answer_kind="text")
    with pytest.raises(UsageError, match="'logp' reads letters"):
        scorer.read(opened, Reply(text="A"))


def test_it_is_marked_like_any_letter() -> None:
    scorer = logp.create("logp")
    assert scorer.mark(ITEM, scorer.read(ITEM, Reply(text="A", choice_logps={"B": -1.0}))).value == 1.0
    assert not scorer.reads_letters


def test_words_say_nothing_to_it() -> None:
    assert logp.create("logp").read_text(ITEM, "A") == Unreadable(
        reason="this parser reads log-probabilities and no words"
    )


# ------------------------------------------------------------------------------ texts of choices


def text(logp_of: float, n_tokens: int, n_bytes: int) -> TextLogp:
    return TextLogp(logp=logp_of, n_tokens=n_tokens, n_bytes=n_bytes)


# The likeliest is another one as a whole (A), per token (B) and per byte (C).
TEXTS = {"A": text(-2.0, 1, 2), "B": text(-3.0, 3, 4), "C": text(-8.0, 4, 16)}


def read_texts(logps: dict[str, TextLogp] | None):
    return logp.create("logp-text").read(ITEM, Reply(text="A", choice_text_logps=logps))


def test_the_likeliest_text_is_taken_per_byte() -> None:
    assert read_texts(TEXTS) == Answered(answer="C", rule="choice-text-logps/per-byte")


@pytest.mark.parametrize(
    ("norm", "scores"),
    [("text", (-2.0, -3.0, -8.0)), ("token", (-2.0, -1.0, -2.0)), ("byte", (-1.0, -0.75, -0.5))],
)
def test_log_probabilities_are_divided_by_what_is_said(norm: logp.Norm, scores: tuple[float, ...]) -> None:
    found = logp.text_scores(TEXTS, ITEM.letters, norm=norm)
    assert found == dict(zip("ABC", scores, strict=True))


@pytest.mark.parametrize(
    ("logps", "part"),
    [
        (None, "want_choice_text_logps"),
        ({"A": text(-1.0, 1, 1), "B": text(-1.0, 1, 1)}, "of a choice is not stored"),
        (dict.fromkeys("ABC", text(-1.0, 1, 1)), "the texts of A, B, C are equally likely"),
    ],
)
def test_a_reason_says_why_there_is_no_text(logps: dict[str, TextLogp] | None, part: str) -> None:
    outcome = read_texts(logps)
    assert isinstance(outcome, Unreadable)
    assert part in outcome.reason


def test_neither_parser_reads_what_the_other_does() -> None:
    assert isinstance(read({"A": -1.0}), Answered)
    assert isinstance(logp.create("logp").read(ITEM, Reply(text="A", choice_text_logps=TEXTS)), Unreadable)
    assert isinstance(
        logp.create("logp-text").read(ITEM, Reply(text="A", choice_logps={"A": -1.0})), Unreadable
    )
