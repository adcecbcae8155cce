"""What a key gives away: each rule on questions whose hits are counted by hand."""

import numpy as np
import pytest

from vidence.explain.audit.key import FEW, choice_items, read_key
from vidence.records import Item, Media
from vidence.statistics.intervals import mean_interval


def item(number, choices, answer, *, question="Which is it?", video=None):
    media = (Media(path=f"{video or number}.mp4"),)
    kind = {} if choices else {"answer_kind": "text"}
    return Item(item_id=f"q{number}", media=media, question=question, choices=choices, answer=answer, **kind)


def key_of(*items):
    return read_key(items, rng=np.random.default_rng(0), level=0.95)


def share(found, name):
    """How many questions a rule speaks of, and its accuracy over them."""
    rule = found.rule(name)
    return rule.n, None if rule.accuracy is None else rule.accuracy.value


SET = (
    item(1, ("7", "9", "11"), "B"),
    item(2, ("a dog", "the brown bear", "cats"), "B", question="Which bear is brown?"),
    item(3, ("one", "twenty two", "six"), "A"),
    item(4, (), "a pan"),
)


def test_open_questions_have_no_key():
    assert choice_items(SET) == SET[:3]
    assert key_of(SET[3]) is None


@pytest.mark.parametrize(
    ("name", "n", "accuracy"),
    [
        ("constant", 3, 2 / 3),  # always B
        ("longest", 3, 1 / 3),  # "11", the bear, "twenty two"
        ("smallest", 1, 0.0),  # 7 of 7, 9, 11
        ("second-largest", 1, 1.0),
        ("shortest", 1, 0.0),  # "cats" is wrong; "7" and "9" are as short, and so are "one" and "six"
        ("median-bare", 1, 1.0),  # 9 of 7, 9, 11
        ("question-words", 1, 1.0),  # only the second question has words of a choice
    ],
)
def test_rules_get_what_they_pick(name, n, accuracy):
    assert share(key_of(*SET), name) == (n, pytest.approx(accuracy))


def test_guessing_is_that_of_the_questions_a_rule_speaks_of():
    found = key_of(*SET, item(5, ("x", "y"), "A"))
    assert found.rule("median-bare").guessing == pytest.approx(1 / 3)
    assert found.rule("constant").guessing == pytest.approx((1 / 3 + 1 / 3 + 1 / 3 + 1 / 2) / 4)
    assert found.n == 4


def test_a_rule_that_says_nothing_has_no_accuracy():
    rule = key_of(item(1, ("x", "y"), "A")).rule("median")
    assert (rule.n, rule.accuracy, rule.margin, rule.guessing, rule.beats_guessing) == (
        0,
        None,
        None,
        0.0,
        False,
    )


def test_the_popular_answer_counts_other_videos_alone():
    # "red" is right in both videos: each video learns it from the other one.
    two = (item(1, ("red", "blue"), "A", video="v"), item(2, ("blue", "red"), "B", video="w"))
    assert share(key_of(*two), "popular") == (2, 1.0)
    same = (item(1, ("red", "blue"), "A", video="v"), item(2, ("blue", "red"), "B", video="v"))
    assert share(key_of(*same), "popular")[0] == 0


def test_few_questions_beat_nothing_and_enough_do():
    def always(n):
        return key_of(*(item(i, ("yes", "no"), "A") for i in range(n))).rule("constant")

    assert not always(FEW - 1).beats_guessing
    assert always(FEW).beats_guessing
    assert always(FEW).margin.value == pytest.approx(0.5)


def test_equal_choices_say_nothing_about_lengths_or_numbers():
    # A is right in half of them, and every choice is as long and holds the same number.
    some = [
        item(i, tuple(f"{name} 5" for name in "abcde"), "A" if i % 2 else "BCDE"[i % 8 // 2])
        for i in range(40)
    ]
    found = key_of(*some)
    for name in ("longest", "shortest", "median", "smallest", "second-smallest", "largest"):
        assert (found.rule(name).n, found.rule(name).beats_guessing) == (0, False)


def test_the_size_of_a_range_that_gives_answers_away_is_found():
    # Of 16 the smallest range is right in 10, the second in 5: what tasks once made.
    ranges = ("2 to 5", "6 to 12", "14 to 30", "31 to 60", "61 to 99")
    right = "A" * 10 + "B" * 5 + "C"
    found = key_of(*(item(i, ranges, letter) for i, letter in enumerate(right)))
    assert (share(found, "smallest"), share(found, "second-smallest")) == ((16, 10 / 16), (16, 5 / 16))
    assert found.rule("smallest").beats_guessing
    assert not found.rule("second-smallest").beats_guessing  # a larger share than 20 %, and no evidence
    assert found.rule("second-smallest").margin.low < 0 < found.rule("second-smallest").margin.value


def test_a_rule_beats_guessing_by_the_interval_of_a_score_less_chance():
    some = [item(i, ("a", "b", "c", "dd"), "D" if i < 14 else "A", video=str(i // 3)) for i in range(30)]
    rule = key_of(*some).rule("longest")
    hits, videos = [float(i < 14) for i in range(30)], [str(i // 3) for i in range(30)]
    alone = mean_interval(hits, clusters=[f"{v}.mp4" for v in videos])
    assert (rule.margin.low, rule.margin.high) == pytest.approx((alone.low - 0.25, alone.high - 0.25))


def test_the_length_rank_is_a_half_where_length_says_nothing():
    assert key_of(item(1, ("a", "bbb", "cc"), "C"), item(2, ("aa", "bb"), "A")).length_rank.value == 0.5
    assert key_of(item(1, ("a",), "A")).length_rank is None
