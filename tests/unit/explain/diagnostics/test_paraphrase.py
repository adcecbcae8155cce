"""Other wordings, against models whose dependence on words is planted."""

from collections.abc import Callable

import numpy as np
import pytest

from subjects.simulated import Simulated, drive, examined, told, value
from subjects.stated import column, stated
from vidence import catalog
from vidence.contracts import Ask, Diagnostic, Examined
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.explain.diagnostics.paraphrase import ParaphraseFinding, Wording, checked, written
from vidence.explain.planted.readers import Swayed
from vidence.records import Item, Media, Reply

N = 300
Answers = Callable[[Ask], str]


def diagnostic(**options: str) -> Diagnostic:
    made: Diagnostic = catalog.create("diagnostic", catalog.Spec(name="paraphrase", options=options))
    return made


def item(number: int = 0) -> Item:
    return Item(
        item_id=f"q{number:04d}",
        media=(Media(path=f"v{number // 2}.mp4"),),
        question=f"What is done in clip {number}?",
        choices=("waving", "walking", "jumping", "throwing"),
        answer="ABCD"[number % 4],
        tags={"kind": "odd" if number % 2 else "even"},
    )


def says(
    answers: Answers, *, wordings: str = "First way?\nSecond way?\nThird way?", check: str = "same"
) -> Callable[[Ask], Reply]:
    """The words of a writer, of a checker, and of the model under test."""

    def reply(ask: Ask) -> Reply:
        text = ask.prompt.text
        if text.startswith("words: paraphrase-check"):
            return Reply(text=check)
        return Reply(text=wordings if text.startswith("words: paraphrase") else answers(ask))

    return reply


def test_a_writer_a_checker_and_as_many_answers_to_both() -> None:
    subject = Simulated(item(), {"plan": (0.0, 1.0)})
    driven = drive(diagnostic(writer="openai:w", checker="openai:c").examine(subject), says(lambda _: "A"))
    write, check, asked = driven.rounds
    assert [one.model for one in write] == ["writer"]
    assert "n: 3" in write[0].prompt.text
    assert [one.model for one in check] == ["checker"] * 3
    assert "First way?" in check[0].prompt.text
    assert [(one.model, one.sample) for one in asked] == [("", i) for i in (0, 1, 2, 3, 1, 2, 3)]
    assert [one.prompt.text for one in asked] == [
        *[item().question] * 4,
        "First way?",
        "Second way?",
        "Third way?",
    ]
    assert {one.prompt.choices for one in asked} == {item().choices}


def test_neither_writer_nor_checker_is_told_the_key() -> None:
    secret = Item(item_id="q", question="Who?", choices=("x", "y"), answer="B", rationale="SENTINEL")
    driven = drive(diagnostic().examine(Simulated(secret, {"plan": ()})), says(lambda _: "A"))
    for ask in (*driven.rounds[0], *driven.rounds[1]):
        assert "SENTINEL" not in ask.prompt.text
        assert "answer" not in ask.prompt.text.casefold()
        assert ask.prompt.choices == ()


def test_wordings_that_fail_the_check_are_dropped_and_counted() -> None:
    verdicts = iter(["same", "They are different.", "same or different, who knows"])

    def reply(ask: Ask) -> Reply:
        if ask.prompt.text.startswith("words: paraphrase-check"):
            return Reply(text=next(verdicts))
        return says(lambda _: "A")(ask)

    one = examined(diagnostic(), item(), reply)
    assert isinstance(one.finding, ParaphraseFinding)
    assert [w.fate for w in one.finding.wordings] == ["asked", "different", "unchecked"]
    assert len(one.finding.repeats) == 2
    table = told(diagnostic(), [one])["wordings"]
    assert [value(table, fate, "n") for fate in ("asked", "different", "unchecked")] == [1, 1, 1]


def test_a_question_without_a_wording_is_left_out_and_not_asked() -> None:
    subject = Simulated(item(), {"plan": (0.0, 1.0)})
    driven = drive(diagnostic().examine(subject), says(lambda _: "A", check="different"))
    assert len(driven.rounds) == 2
    headline = told(diagnostic(), [Examined(item=item(), finding=driven.made)])["paraphrase"]
    assert "1 have no wording that passed the check" in headline.note


@pytest.mark.parametrize(
    ("text", "fates"),
    [
        ("1. Way one?\n2) Way two?\n- Way three?\n", ["unchecked"] * 3),
        ("Way one?\nway  ONE?\nWhat is done in clip 0?", ["unchecked", "repeated", "repeated"]),
        ("<think>a\nb\nc</think>\nWay one?", ["unchecked", "missing", "missing"]),
        ("a?\nb?\nc?\nd?", ["unchecked"] * 3),
        ("", ["missing"] * 3),
    ],
)
def test_wordings_are_read_line_by_line(text: str, fates: list[str]) -> None:
    found = written(Reply(text=text), item().question, 3)
    assert [one.fate for one in found] == fates
    assert all(not one.text.startswith(("1", "2", "-")) for one in found)


@pytest.mark.parametrize(
    ("text", "fate"),
    [
        ("same", "asked"),
        ("Different.", "different"),
        ("same, not different", "unchecked"),
        ("yes", "unchecked"),
    ],
)
def test_a_check_says_one_of_two_words(text: str, fate: str) -> None:
    assert checked(Reply(text=text)) == fate


def test_who_varies_by_itself_shows_no_more_across_wordings() -> None:
    rng = np.random.default_rng(6)
    guess = says(lambda _: "ABCD"[int(rng.integers(4))])
    table = told(diagnostic(), [examined(diagnostic(), one, guess) for one in map(item, range(N))])[
        "paraphrase"
    ]
    for row in ("paraphrases", "repeats"):
        stated = table.estimate(row, "disagreement")
        assert stated is not None
        assert stated.low <= 0.75 <= stated.high
    more = table.estimate("paraphrases", "more")
    assert more is not None
    assert more.low <= 0.0 <= more.high


def test_who_depends_on_the_words_is_found_out_with_its_planted_rate() -> None:
    """Steady in the question's own words; another wording moves it to the next choice with 0.3."""
    reader = Swayed(rng=np.random.default_rng(7))
    found = [examined(diagnostic(), one, reader(one)) for one in map(item, range(N))]
    table = told(diagnostic(), found)["paraphrase"]
    assert value(table, "repeats", "disagreement") == 0.0
    # Of the six pairs three hold the own words: 0.3 each; the others differ with 2 * 0.3 * 0.7.
    assert reader.disagreement == pytest.approx((3 * 0.3 + 3 * 0.42) / 6)
    more = table.estimate("paraphrases", "more")
    assert more is not None
    assert more.low <= reader.disagreement <= more.high


def test_who_judged_its_own_wordings_is_said() -> None:
    one = examined(diagnostic(), item(), says(lambda _: "A"))
    assert (
        "The model under test wrote and checked the wordings itself."
        in told(diagnostic(), [one])["paraphrase"].note
    )
    of_others = told(diagnostic(writer="openai:w", checker="openai:c"), [one])["paraphrase"].note
    assert "itself" not in of_others


def mark(answer: str, score: float, *, is_cut: bool = False) -> ReplyScore:
    return ReplyScore(value=score, kind="answered", answer=answer, is_cut=is_cut)


def test_what_four_questions_say_worked_out_by_hand() -> None:
    free = Item(item_id="q2", media=(Media(path="w.mp4"),), question="Who?", answer="me", answer_kind="text",
                tags={"kind": "free"})  # fmt: skip
    a, b = mark("A", 1), mark("B", 0)
    found = stated(
        diagnostic(),
        [
            (
                item(0),
                ParaphraseFinding(
                    wordings=(Wording(fate="asked", mark=b), Wording(fate="asked", mark=b),
                              Wording(fate="different")),
                    repeats=(a, a, mark("B", 0, is_cut=True)),
                ),
            ),
            (
                item(4),
                ParaphraseFinding(
                    wordings=(Wording(fate="asked", mark=a), Wording(fate="missing"),
                              Wording(fate="repeated")),
                    repeats=(a, a),
                ),
            ),
            # Of free answers only what they get counts, not their words.
            (
                free,
                ParaphraseFinding(
                    wordings=(Wording(fate="asked", mark=mark("x", 1)), Wording(fate="different"),
                              Wording(fate="different")),
                    repeats=(mark("y", 1), mark("y", 0)),
                ),
            ),
            (item(8), ParaphraseFinding(wordings=(Wording(fate="unchecked"),) * 3, repeats=())),
        ],
    )  # fmt: skip
    for key, of_others, of_own in (
        ("questions", 3, 3),
        ("disagreement", 2 / 9, 5 / 9),
        ("more", -1 / 3, None),
        ("alike", 2 / 3, 1 / 3),
        ("accuracy", 7 / 9, 13 / 18),
        ("gain", 1 / 18, None),
        ("cut", 0, 1),
    ):
        assert column(found["paraphrase"], key) == {
            "paraphrases": round(of_others, 6),
            "repeats": None if of_own is None else round(of_own, 6),
        }, key
    assert "1 have no wording that passed the check" in found["paraphrase"].note
    fates = {"asked": 4, "different": 3, "unchecked": 3, "repeated": 1, "missing": 1}
    assert column(found["wordings"], "n") == fates
    assert column(found["wordings"], "share") == {fate: round(n / 12, 6) for fate, n in fates.items()}
    third = round(1 / 3, 6)
    for key, of_even, of_free in (
        ("questions", 2, 1),
        ("wordings", third, 0.0),
        ("repeats", third, 1.0),
        ("more", 0.0, -1.0),
    ):
        assert column(found["paraphrase:kind"], key) == {"even": of_even, "free": of_free}, key


def test_how_often_a_question_is_asked_at_most() -> None:
    # A writer, three checks, three wordings, and four times the own words.
    assert diagnostic().most_asks(item(), n_frames=8) == 11
    assert diagnostic(k="1").most_asks(item(), n_frames=8) == 5
