"""What k replies find together, of readers whose chances are planted."""

import numpy as np
import pytest
from scipy import integrate, stats

from subjects.simulated import Simulated, drive
from subjects.stated import column, curves, marks, stated
from vidence import catalog
from vidence.contracts import Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.repeats import RepeatsFinding
from vidence.records import Item, Media, Reply

SHAPE = (1.5, 1.2)
"""Of the Beta distribution of each question's own chance to be answered right."""


def make(**options):
    return catalog.create("diagnostic", catalog.Spec(name="repeats", options=options))


def item(number):
    names = {"item_id": f"q{number:04d}", "question": "Which?", "choices": ("one", "two")}
    return Item(**names, media=(Media(path=f"v{number}.mp4"),), answer="AB"[number % 2])


def said_of(n_items, answer_of, **options):
    """The tables for so many questions, whose replies `answer_of` draws."""
    one, found = make(**options), []
    for number in range(n_items):
        asked = item(number)
        says = answer_of(asked)
        driven = drive(
            one.examine(Simulated(asked, {"plan": (0.0,)})), lambda ask, says=says: Reply(text=says())
        )
        assert [ask.sample for ask in driven.asks] == list(range(one.settings.n))
        found.append(Examined(item=asked, finding=driven.made))
    return {s.name: s for s in one.summarise(found, rng=np.random.default_rng(0), level=0.95)}


def other(letter):
    return "AB".replace(letter, "")


def test_planted_chances_give_all_three_curves():
    rng = np.random.default_rng(1)

    def answer_of(asked):
        p = rng.beta(*SHAPE)
        return lambda: asked.answer if rng.random() < p else other(asked.answer)

    table = said_of(400, answer_of, n="7")["repeats"]

    def mean(of):
        return integrate.quad(lambda p: of(p) * stats.beta.pdf(p, *SHAPE), 0, 1)[0]

    for k in (1, 3, 5, 7):
        planted = {
            "pass@k": mean(lambda p, k=k: 1 - (1 - p) ** k),
            "pass^k": mean(lambda p, k=k: p**k),
            "vote@k": mean(lambda p, k=k: stats.binom.sf(k // 2, k, p)),
        }
        for key, value in planted.items():
            found = table.estimate(str(k), key)
            assert found.low <= value <= found.high, (k, key)
    assert table.value("3", "pass@k guesser") == pytest.approx(7 / 8)
    assert table.value("3", "pass^k guesser") == pytest.approx(1 / 8)


def test_who_sticks_to_an_answer_has_one_figure():
    said = said_of(30, lambda asked: lambda: "A", n="4")
    values = {
        said["repeats"].value(str(k), key).value for k in (1, 2, 4) for key in ("pass@k", "pass^k", "vote@k")
    }
    assert values == {0.5}
    changes = said["changes"]
    assert [changes.value(key, "share").value for key in ("answer", "right", "agreement")] == [0.0, 0.0, 1.0]
    assert "1.0 of 4 replies" in said["repeats"].note


def test_replies_without_an_answer_are_no_vote_and_agree_with_none():
    def answer_of(asked):
        left = iter([asked.answer, "?", "?", "?"])
        return lambda: next(left)

    said = said_of(6, answer_of, n="4")
    assert said["repeats"].value("4", "vote@k").value == 1.0
    assert said["changes"].value("agreement", "share").value == 0.0
    asked = Item(item_id="q0", media=(Media(path="v"),), question="?", answer="hat", answer_kind="text")
    words, one = iter(["hat", "Hat.", " HAT", "hat"]), make(n="4")
    made = drive(one.examine(Simulated(asked, {"plan": (0.0,)})), lambda _: Reply(text=next(words))).made
    assert stated(one, [(asked, made)])["changes"].value("agreement", "share").value == 1.0


@pytest.mark.parametrize("n", ["1", "65"])
def test_other_numbers_are_refused(n):
    with pytest.raises(UsageError, match="repeats"):
        make(n=n)


def four_questions():
    """Three replies each, to questions with two choices, four, none, and two."""
    said = [
        (2, (1, 1, 0), (0, 0, 2), 3),
        (4, (0, 0, 1), (0, 0, 2), 2),
        (0, (1, 0.5, 0), (0, 1, None), 3),
        (2, (1, 1, 1), (0, 0, 0), 1),
    ]
    return [
        (
            Item(
                item_id=f"q{i}",
                media=(Media(path=f"v{i}.mp4"),),
                question="Which?",
                choices=tuple("abcd"[:n]),
                answer="A" if n else "a",
                answer_kind="choice" if n else "text",
            ),
            RepeatsFinding(marks=marks(*values), same_as=same_as, n_distinct=n_distinct),
        )
        for i, (n, values, same_as, n_distinct) in enumerate(said)
    ]


def test_what_four_questions_say_worked_out_by_hand():
    found = stated(make(n="3"), four_questions())
    table = found["repeats"]
    for key, values in {
        "questions": (4, 4, 4),
        "pass@k": (7 / 12, 10 / 12, 1.0),
        "pass^k": (7 / 12, 1 / 3, 0.25),
        # Two of the third question's pairs hold a vote alone, and one a tie of a right one and half of one.
        "vote@k": ((2 / 3 + 1 / 3 + 1 / 2 + 1) / 4, (2 / 3 + 1 / 3 + 3 / 4 + 1) / 4, (1 + 0 + 3 / 4 + 1) / 4),
        "pass@k guesser": (1.25 / 4, (3 / 4 + 7 / 16 + 3 / 4) / 4, (7 / 8 + 37 / 64 + 7 / 8) / 4),
        "pass^k guesser": (1.25 / 4, (1 / 4 + 1 / 16 + 1 / 4) / 4, (1 / 8 + 1 / 64 + 1 / 8) / 4),
        "vote@k guesser": (1.25 / 4,) * 3,
    }.items():
        assert column(table, key) == {str(k): round(v, 6) for k, v in enumerate(values, start=1)}, key
    assert "On average 2.2 of 3 replies to a question differ." in table.note
    assert column(found["changes"], "share") == {"answer": 0.75, "right": 0.75, "agreement": round(5 / 12, 6)}
    drawn = curves(found["curves"])
    assert list(drawn) == ["pass@k", "vote@k", "pass^k", "pass@k, a guesser", "pass^k, a guesser"]
    assert drawn["pass^k"] == [(1, round(7 / 12, 6)), (2, round(1 / 3, 6)), (3, 0.25)]
    assert drawn["pass^k, a guesser"] == [(1, 0.3125), (2, 0.140625), (3, round(17 / 256, 6))]
    assert found["curves"].y_marks == ((pytest.approx(0.625), "a model that keeps its answer"),)


def test_how_often_a_question_is_asked_at_most():
    assert make(n="3").most_asks(four_questions()[0][0], n_frames=8) == 3
