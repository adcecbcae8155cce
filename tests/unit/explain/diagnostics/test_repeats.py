"""What k replies find together, of readers whose chances are planted."""

import json
import re

import numpy as np
import pytest
from scipy import integrate, stats

from subjects.simulated import Simulated, drive
from vidence import catalog
from vidence.contracts import Examined
from vidence.errors import UsageError
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
