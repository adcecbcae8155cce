"""Words against choices, on models that reason to one answer and state another with a planted rate."""

from collections.abc import Callable

import numpy as np
import pytest

from subjects.simulated import Simulated, drive, examined, told, value
from subjects.stated import column, stated
from vidence import catalog
from vidence.contracts import Ask, Diagnostic, Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.explain.diagnostics.own_reasoning import OwnReasoningFinding, log_of, matched
from vidence.records import Item, Media, Reply

N = 600
LETTERS = "ABCDE"


def diagnostic(**options: str) -> Diagnostic:
    made: Diagnostic = catalog.create("diagnostic", catalog.Spec(name="own-reasoning", options=options))
    return made


def item(number: int = 0) -> Item:
    return Item(
        item_id=f"q{number:04d}",
        media=(Media(path=f"v{number // 2}.mp4"),),
        question="What does the person do?",
        choices=("waving", "walking", "jumping", "throwing", "sitting"),
        answer=LETTERS[number % 5],
        tags={"kind": "odd" if number % 2 else "even"},
    )


def answers(stated: str, reasoned: str) -> Callable[[Ask], Reply]:
    """States one choice and thinks another; who matches finds what is thought in the words."""

    def reply(ask: Ask) -> Reply:
        if ask.prompt.choices:
            return Reply(text=stated, reasoning=f"It looks like choice {reasoned} to me")
        return Reply(text=ask.prompt.text.split("like choice ")[1].split()[0])

    return reply


def test_whoever_matches_sees_words_and_choices_and_neither_the_answer_nor_the_key() -> None:
    driven = drive(
        diagnostic(matcher="openai:m").examine(Simulated(item(), {"plan": (0.0,)})), answers("B", "C")
    )
    asked, match = driven.asks
    assert (asked.model, match.model) == ("", "matcher")
    assert "It looks like choice C" in match.prompt.text
    assert "words: own-reasoning" in match.prompt.text
    assert not any(one.startswith("answer") for one in match.prompt.text.splitlines())
    assert driven.made.supports == "C"
    assert not driven.made.is_own


def test_a_planted_rate_of_stating_another_answer_is_recovered() -> None:
    rng, found = np.random.default_rng(5), []
    for asked in map(item, range(N)):
        others = [one for one in LETTERS if one != asked.answer]
        reasoned = asked.answer if rng.random() < 0.6 else others[int(rng.integers(4))]
        slips = [one for one in LETTERS if one != reasoned]
        stated = slips[int(rng.integers(4))] if rng.random() < 0.3 else reasoned
        found.append(examined(diagnostic(), asked, answers(stated, reasoned)))
    tables = told(diagnostic(), found)
    stated_share = tables["own-reasoning"].estimate("all", "another")
    assert stated_share is not None
    assert stated_share.low <= 0.3 <= stated_share.high
    assert value(tables["own-reasoning"], "all", "none") == 0.0
    # Right by 0.6 * 0.7 with words that match, and by 0.4 * 0.3 / 4 without.
    crossed = tables["crossed"]
    for row, key, planted in (
        ("right", "match_share", 0.42),
        ("right", "no_match_share", 0.03),
        ("wrong", "match_share", 0.18),
        ("wrong", "no_match_share", 0.37),
    ):
        stated_cell = crossed.estimate(row, key)
        assert stated_cell is not None
        assert stated_cell.low <= planted <= stated_cell.high
    cells = np.array(
        [[crossed.value(r, c) for c in ("match", "no_match")] for r in ("right", "wrong")], float
    )
    phi = (cells[0, 0] * cells[1, 1] - cells[0, 1] * cells[1, 0]) / np.sqrt(
        np.prod(cells.sum(0)) * np.prod(cells.sum(1))
    )
    assert value(tables["agreement"], "phi", "value") == pytest.approx(phi)
    seen = np.trace(cells) / N
    by_chance = (cells.sum(0) * cells.sum(1)).sum() / N**2
    assert value(tables["agreement"], "kappa", "value") == pytest.approx((seen - by_chance) / (1 - by_chance))


def test_who_states_what_it_reasons_has_no_other_and_a_constant_axis_has_no_phi() -> None:
    tables = told(
        diagnostic(),
        [examined(diagnostic(), one, answers(one.answer, one.answer)) for one in map(item, range(6))],
    )
    assert value(tables["own-reasoning"], "all", "own") == 1.0
    assert value(tables["own-reasoning"], "wrong", "questions") == 0
    assert tables["agreement"].value("phi", "value") is None
    assert "phi has no value" in tables["agreement"].note


@pytest.mark.parametrize(
    ("says", "fate"),
    [
        (Reply(text="?", reasoning="much was thought here"), "unanswered"),
        (Reply(text="B"), "wordless"),
        (Reply(text="B", reasoning="it is B"), "unmatched"),
    ],
)
def test_what_cannot_be_matched_is_left_out_and_counted(says: Reply, fate: str) -> None:
    one = examined(
        diagnostic(), item(), lambda ask: says if ask.prompt.choices else Reply(text="I would rather not")
    )
    assert isinstance(one.finding, OwnReasoningFinding)
    assert one.finding.fate == fate
    words = {"unanswered": "no answer", "wordless": "no words", "unmatched": "no match that could be read"}
    headline = told(diagnostic(), [one])["own-reasoning"]
    assert f"1 are not matched (1 have {words[fate]}" in headline.note


@pytest.mark.parametrize(
    ("reply", "which", "log"),
    [
        (
            Reply(text="He waves.\nAnswer: B", reasoning="An arm goes up."),
            "all",
            "An arm goes up.\nHe waves.",
        ),
        (Reply(text="He waves.\nAnswer: B", reasoning="An arm goes up."), "thinking", "An arm goes up."),
        (Reply(text="He waves.\n\n**Final answer: (B)**\n", reasoning="x"), "reply", "He waves."),
        (Reply(text="<think>An arm goes up.</think>\n<answer>B</answer>"), "all", "An arm goes up."),
        (Reply(text="He waves. \\boxed{B}"), "all", "He waves."),
        (Reply(text="(C)"), "all", ""),
    ],
)
def test_the_words_are_those_that_do_not_only_state_the_answer(reply: Reply, which: str, log: str) -> None:
    assert log_of(reply, which) == log  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "letter"),
    [("B", "B"), ("(c).", "C"), ("None", "none"), ("Thus:\nD", "D"), ("F", ""), ("B or C", ""), ("", "")],
)
def test_a_match_is_a_letter_or_none(text: str, letter: str) -> None:
    assert matched(Reply(text=text), item()) == letter


def test_the_rule_without_a_ceiling_is_refused() -> None:
    with pytest.raises(UsageError, match="own-reasoning: by=rule misses what is worded in other ways"):
        diagnostic(by="rule")
    with pytest.raises(UsageError, match="ceiling is a figure of by=rule"):
        diagnostic(ceiling="0.8")
    with pytest.raises(UsageError, match="by=rule asks no matcher"):
        diagnostic(by="rule", ceiling="0.8", matcher="openai:m")


def test_the_rule_asks_nobody_and_has_its_ceiling_beside_it() -> None:
    subject = Simulated(item(), {"plan": (0.0,)})
    driven = drive(
        diagnostic(by="rule", ceiling="0.8").examine(subject),
        lambda ask: Reply(text="A", reasoning="The person is clearly waving with one arm."),
    )
    assert len(driven.asks) == 1
    assert driven.made.supports == "A"
    tables = told(diagnostic(by="rule", ceiling="0.8"), [Examined(item=item(), finding=driven.made)])
    assert "in 80.0 % of cases under the same rule" in tables["own-reasoning"].note


def test_what_six_questions_say_worked_out_by_hand() -> None:
    """Right with right words, and with others; wrong with right words, with none, with its own; unread."""
    said = [("A", "A"), ("B", "C"), ("D", "C"), ("A", "none"), ("A", "A"), ("A", "")]
    found = stated(
        diagnostic(),
        [
            (
                item(number),
                OwnReasoningFinding(
                    mark=ReplyScore(value=float(named == LETTERS[number % 5]), kind="answered", answer=named),
                    fate="matched" if supports else "wordless",
                    supports=supports,
                ),
            )
            for number, (named, supports) in enumerate(said)
        ],
    )
    third = round(1 / 3, 6)
    for key, values in {
        "questions": (5, 2, 3),
        "own": (0.4, 0.5, third),
        "another": (0.4, 0.5, third),
        "none": (0.2, 0.0, third),
    }.items():
        assert column(found["own-reasoning"], key) == dict(
            zip(("all", "right", "wrong"), values, strict=True)
        ), key
    note = found["own-reasoning"].note
    assert "The model under test read its own words." in note
    assert "1 are not matched (1 have no words beside the answer)" in note
    for key, of_right, of_wrong in (
        ("match", 1, 1),
        ("no_match", 1, 2),
        ("match_share", 0.2, 0.2),
        ("no_match_share", 0.2, 0.4),
    ):
        assert column(found["crossed"], key) == {"right": of_right, "wrong": of_wrong}, key
    # (1 * 2 - 1 * 1) / (2 * 3), and (3/5 - 13/25) / (1 - 13/25).
    sixth = round(1 / 6, 6)
    assert column(found["agreement"], "value") == {"phi": sixth, "kappa": sixth}
    for key, of_even, of_odd in (
        ("questions", 3, 2),
        ("accuracy", third, 0.5),
        ("own", round(2 / 3, 6), 0.0),
        ("another", third, 0.5),
        ("match", round(2 / 3, 6), 0.0),
    ):
        assert column(found["own-reasoning:kind"], key) == {"even": of_even, "odd": of_odd}, key


def test_the_words_of_a_choice_are_read_once() -> None:
    free = Item(item_id="q", question="Who?", answer="me", answer_kind="text")
    assert diagnostic().most_asks(item(), n_frames=8) == 2
    assert diagnostic().most_asks(free, n_frames=8) == 1
    assert diagnostic(by="rule", ceiling="0.8").most_asks(item(), n_frames=8) == 1
    assert "Read by openai:m." in told(diagnostic(matcher="openai:m"), [])["own-reasoning"].note
