"""What a key gives away: each rule on questions whose hits are counted by hand, and forms of question."""

import numpy as np
import pytest

from vidence.explain.audit.blind import TITLES
from vidence.explain.audit.key import (
    FEW,
    beats_guessing,
    choice_items,
    read_key,
    read_structures,
    same_answer,
    structures_of,
)
from vidence.records import Item, Media
from vidence.statistics.intervals import mean_interval


def item(number, choices, answer, *, question="Which is it?", video=None, **tags):
    media = (Media(path=f"{video or number}.mp4"),)
    fields = {"question": question, "answer": answer, "answer_kind": "choice" if choices else "text"}
    return Item(item_id=f"q{number}", media=media, choices=tuple(choices), tags=tags, **fields)


def key_of(*items):
    return read_key(items, rng=np.random.default_rng(0), level=0.95)


def rule_of(key, name):
    """The rule of that name; None where it picks no choice."""
    return next((rule for rule in key.rules if rule.key == name), None)


def share(key, name):
    """Of how many questions a rule picks a choice, and its share of right picks."""
    rule = rule_of(key, name)
    return (0, None) if rule is None else (rule.n, rule.score)


SET = (
    item(1, ("7", "9", "11"), "B"),
    item(2, ("a dog", "the brown bear", "cats"), "B", question="Which bear is brown?"),
    item(3, ("one", "twenty two", "six"), "A"),
    item(4, (), "a pan"),
)


@pytest.mark.parametrize(
    ("name", "n", "score"),
    [
        ("longest", 3, 1 / 3),  # "11", the bear, "twenty two"
        ("smallest", 1, 0.0),  # 7 of 7, 9, 11
        ("second-largest", 1, 1.0),
        ("shortest", 1, 0.0),  # "cats" is wrong; "7" and "9" are as short, and so are "one" and "six"
        ("median", 1, 1.0),  # 9 of 7, 9, 11
        ("question-words", 1, 1.0),  # only the second question has words of a choice
    ],
)
def test_rules_get_what_they_pick(name, n, score):
    assert share(key_of(*SET), name) == (n, pytest.approx(score))


def test_rules_are_of_the_questions_that_they_pick_a_choice_of():
    key = key_of(*SET, item(5, ("x", "y"), "A"))
    assert rule_of(key, "median").chance == pytest.approx(1 / 3)
    assert key.n == 4
    assert choice_items(SET) == SET[:3]
    assert key_of(SET[3]) is None
    assert rule_of(key_of(item(1, ("x", "y"), "A")), "median") is None
    assert key_of(item(1, ("x",), "A")).rules == ()
    # Of equally long choices with one number nothing is said.
    alike = tuple(f"{name} 5" for name in "abcde")
    key = key_of(*(item(i, alike, "A" if i % 2 else "BCDE"[i % 8 // 2]) for i in range(40)))
    assert {rule.key for rule in key.rules}.isdisjoint(
        {"longest", "shortest", "median", "smallest", "largest"}
    )


def test_the_popular_answer_counts_other_videos_alone():
    # "red" is right in both videos: each video learns it from the other one.
    two = (item(1, ("red", "blue"), "A", video="v"), item(2, ("blue", "red"), "B", video="w"))
    assert share(key_of(*two), "popular") == (2, 1.0)
    same = (item(1, ("red", "blue"), "A", video="v"), item(2, ("blue", "red"), "B", video="v"))
    assert share(key_of(*same), "popular")[0] == 0


def test_few_questions_beat_nothing_and_enough_do():
    def longest(n):
        return rule_of(key_of(*(item(i, ("yes", "no"), "A") for i in range(n))), "longest")

    enough = longest(FEW + 4)
    assert not beats_guessing(longest(FEW - 1))
    assert not beats_guessing(longest(FEW))  # all right, and not above chance at the level for all rules
    assert beats_guessing(enough)
    assert enough.margin.value == pytest.approx(0.5)


def test_the_size_of_a_range_that_gives_answers_away_is_found():
    # Of 16 the smallest range is right in 10, the second in 5: what tasks once made.
    ranges = ("2 to 5", "6 to 12", "14 to 30", "31 to 60", "61 to 99")
    key = key_of(*(item(i, ranges, letter) for i, letter in enumerate("A" * 10 + "B" * 5 + "C")))
    assert (share(key, "smallest"), share(key, "second-smallest")) == ((16, 10 / 16), (16, 5 / 16))
    assert beats_guessing(rule_of(key, "smallest"))
    second = rule_of(key, "second-smallest")
    assert not beats_guessing(second)  # a larger share than 20 %, and no evidence
    assert second.margin.low < 0 < second.margin.value


def test_margins_have_the_interval_of_a_score_less_chance_adjusted_for_all_rules():
    some = [item(i, ("a", "b", "c", "dd"), "D" if i < 14 else "A", video=str(i // 3)) for i in range(30)]
    rule = rule_of(key_of(*some), "longest")
    hits, videos = [float(i < 14) for i in range(30)], [f"{i // 3}.mp4" for i in range(30)]
    alone = mean_interval(hits, clusters=videos, level=1 - 0.05 / len(TITLES))
    assert (rule.margin.low, rule.margin.high) == pytest.approx((alone.low - 0.25, alone.high - 0.25))


def read(groups, **more):
    return {one.name: one for one in read_structures(groups, rng=np.random.default_rng(0), **more)}


def test_structures_are_told_by_tags():
    tagged = [item(i, "abc", "A", task="MPDR", structure="overlap" if i else "order") for i in range(3)]
    assert {name: len(some) for name, some in structures_of(tagged).items()} == {
        "MPDR order": 1,
        "MPDR overlap": 2,
    }
    assert set(structures_of([item(i, "abc", "A", category=str(i % 2)) for i in range(4)])) == {"0", "1"}
    assert set(structures_of([item(i, "abc", "A") for i in range(3)])) == {"all"}
    assert structures_of([]) == {}


def test_one_answer_that_is_right_too_often_is_named():
    choices = ["Every two of them", "None", "The first two", "The last two", "All at once"]
    found = same_answer(
        [item(i, choices, "A" if i < 16 else "BCDE"[i % 4]) for i in range(20)], rng=np.random.default_rng(0)
    )
    assert (found.text, found.n, round(found.expected, 6)) == ("Every two of them", 16, 4.0)
    assert found.p_value < 0.01
    even = same_answer([item(i, choices, "ABCDE"[i % 5]) for i in range(20)], rng=np.random.default_rng(0))
    assert even.p_value > 0.5
    apart = [item(i, [f"{i} {c}" for c in choices], "A") for i in range(4)]
    assert same_answer(apart, rng=np.random.default_rng(0)) is None


def test_the_rank_of_ranges_is_seen():
    def ranges(number, right):
        start = 3 * number
        choices = [f"{start + 3 * i} to {start + 3 * i + 2}" for i in range(5)]
        return item(number, choices, "ABCDE"[right], structure="range")

    leaky = read({"low": [ranges(i, 0 if i % 3 else i % 5) for i in range(24)]})["low"]
    assert leaky.verdict == "above"
    assert leaky.worst.key in ("smallest", "popular-size")
    even = read({"even": [ranges(i, i % 5) for i in range(25)]})["even"]
    assert even.verdict == "chance"
    few = read({"few": [item(i, ["cat", "dog", "cow", "hen", "fox"], "ABCDE"[i]) for i in range(3)]})["few"]
    assert few.verdict == "untold"
    assert "cannot be told with 3 questions about 3 sources" in few.says()


def test_listed_statements_are_tested_beside_choices():
    rng = np.random.default_rng(2)
    words = [f"word{i}" for i in range(40)]
    made = []
    for i in range(30):
        texts = [" ".join(rng.choice(words, 5)) for _ in range(4)]
        false = int(rng.integers(4))
        texts[false] += " axe dune"
        lines = [f"{n}. {t}" for n, t in enumerate(texts, 1)]
        more = {"question": "\n".join(["Descriptions:", *lines, "How many fit?"])}
        made.append(item(i, list("01234"), "ABCDE"[i % 5], **more, false_statements=str(false + 1)))
    found = read({"SVA how-many": made})["SVA how-many"]
    assert set(found.tests) == {"choices", "listed statements"}
    assert (found.verdict, found.worst_of) == ("above", "listed statements")
    assert "of listed statements" in found.says()
