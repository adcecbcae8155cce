"""What k replies find together, of readers whose chances are planted."""

import json
import re

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
    return Item(
        item_id=f"q{number:04d}",
        media=(Media(path=f"v{number}.mp4"),),
        question="Which?",
        choices=("one", "two"),
        answer="AB"[number % 2],
    )


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


@pytest.mark.parametrize("n", ["1", "65"])
def test_other_numbers_are_refused(n):
    with pytest.raises(UsageError, match="repeats"):
        make(n=n)


WORDINGS = (("hat", "cap"), ("glove", "mitten"))
"""Words that mean the same, unlike in spelling: a reader draws one of a pair, a grouper knows the pairs."""


def open_item(number):
    return Item(
        item_id=f"q{number:04d}",
        media=(Media(path=f"v{number}.mp4"),),
        question="What?",
        answer="hat",
        answer_kind="text",
    )


def words_found(n_items, says, **options):
    """The tables over open questions, each answered in turn by four words that `says` gives."""
    one, found, n_grouped = make(n="4", **options), [], 0
    for number in range(n_items):
        words = iter(says(number))

        def reply(ask, words=words):
            if not ask.prompt.text.startswith("words: same-answers"):
                return Reply(text=next(words))
            nonlocal n_grouped
            n_grouped += 1
            return grouped_by_pairs(ask.prompt.text)

        asked = open_item(number)
        made = drive(one.examine(Simulated(asked, {"plan": (0.0,)})), reply).made
        found.append(Examined(item=asked, finding=made))
    said = one.summarise(found, rng=np.random.default_rng(0), level=0.95)
    return {s.name: s for s in said}, n_grouped


def grouped_by_pairs(text):
    marked = re.search(r'id="([0-9a-f]{16})"', text)[1]
    answers = re.findall(r'<answer-\d+ id="\w+">\n"(\w+)"', text)
    pair_of = {word: i for i, pair in enumerate(WORDINGS) for word in pair}
    pairs = [pair_of[word] for word in answers]
    numbers = {f"answer-{i}": str(pairs.index(pair) + 1) for i, pair in enumerate(pairs, 1) if i > 1}
    return Reply(text=json.dumps({"id": marked} | numbers))


def test_a_model_groups_the_free_answers_that_the_rules_leave_apart():
    """Each question gets three words of one pair and one of the other: the vote is the pair of three."""

    def says(number):
        most, least = WORDINGS if number % 2 else WORDINGS[::-1]
        return [least[0], most[0], most[1], most[1]]

    said, n_asked = words_found(20, says, same="self")
    assert n_asked == 20
    assert said["changes"].value("agreement", "share").value == pytest.approx(3 / 6)
    assert [said["same"].value(key, "n") for key in ("asked", "joined", "unread")] == [20, 20, 0]
    plain, n_asked = words_found(20, says)
    assert n_asked == 0
    assert plain["changes"].value("agreement", "share").value == pytest.approx(1 / 6)
    assert "same" not in plain


def test_nobody_is_asked_about_answers_that_the_rules_find_the_same():
    said, n_asked = words_found(3, lambda _: ["hat"] * 4, same="self")
    assert n_asked == 0
    assert said["same"].value("asked", "n") == 0


def test_the_model_that_groups_is_another_one_or_the_one_under_test():
    assert make(same="self").models() == make().models() == {}
    assert make(same="openai:m").models() == {"same": "openai:m"}


def four_questions():
    """Three replies each, to questions with two choices, four, none, and two."""
    said = [
        (2, (1, 1, 0), (0, 0, 2), 3, {}),
        (4, (0, 0, 1), (0, 0, 2), 2, {"n_by_rule": 2, "grouping": "unread"}),
        (0, (1, 0.5, 0), (0, 1, None), 3, {"n_by_rule": 3, "grouping": "model"}),
        (2, (1, 1, 1), (0, 0, 0), 1, {}),
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
            RepeatsFinding(marks=marks(*values), same_as=same_as, n_distinct=n_distinct, **more),
        )
        for i, (n, values, same_as, n_distinct, more) in enumerate(said)
    ]


def test_what_four_questions_say_worked_out_by_hand():
    found = stated(make(n="3", same="self"), four_questions())
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
    assert column(found["same"], "n") == {"asked": 2, "joined": 1, "unread": 1}
    assert "Of 5 different answers 4 are left." in found["same"].note
    assert "The model under test grouped its own answers." in found["same"].note
    drawn = curves(found["curves"])
    assert list(drawn) == ["pass@k", "vote@k", "pass^k", "pass@k, a guesser", "pass^k, a guesser"]
    assert drawn["pass^k"] == [(1, round(7 / 12, 6)), (2, round(1 / 3, 6)), (3, 0.25)]
    assert drawn["pass^k, a guesser"] == [(1, 0.3125), (2, 0.140625), (3, round(17 / 256, 6))]
    assert found["curves"].y_marks == ((pytest.approx(0.625), "one who sticks to an answer"),)


def test_how_often_a_question_is_asked_at_most():
    (_, _, (free, _), (of_choices, _)) = four_questions()
    one = make(n="3", same="openai:m")
    assert (one.most_asks(of_choices, n_frames=8), one.most_asks(free, n_frames=8)) == (3, 5)
    assert make(n="3").most_asks(free, n_frames=8) == 3
    note = stated(one, four_questions())["same"].note
    assert "grouped its own answers" not in note


def test_two_answers_that_the_rules_leave_apart_are_enough_to_ask():
    said, n_asked = words_found(3, lambda _: ["hat", "cap", "cap", "hat"], same="self")
    assert n_asked == 3
    assert [said["same"].value(key, "n") for key in ("asked", "joined", "unread")] == [3, 3, 0]


def test_free_answers_that_differ_in_case_and_dots_are_the_same():
    said, n_asked = words_found(3, lambda _: ["hat", "Hat.", " HAT", "hat"], same="self")
    assert n_asked == 0
    assert said["changes"].value("agreement", "share").value == 1.0
