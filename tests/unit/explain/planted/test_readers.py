"""Readers draw with the chances that are planted in them."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from vidence.contracts import Ask
from vidence.explain.planted.readers import (
    LETTERS,
    Candidates,
    GradedReward,
    Refiner,
    candidate_subjects,
    drawn_letter,
    item,
    perfect,
)
from vidence.records import Prompt, Reply, TextPart

N = 2000


def ask(text, **fields):
    return Ask(prompt=Prompt(parts=(TextPart(text=text),)), **fields)


def test_right_letters_have_the_chance_and_wrong_ones_are_even():
    rng, asked = np.random.default_rng(0), item(2)
    drawn = [drawn_letter(asked, p=0.4, rng=rng) for _ in range(N)]
    assert asked.answer == "C"
    assert drawn.count("C") / N == pytest.approx(0.4, abs=0.03)
    for letter in "ABD":
        assert drawn.count(letter) / N == pytest.approx(0.2, abs=0.03)
    assert set(drawn) == set(LETTERS)


def test_candidates_answer_and_weigh_what_is_shown():
    asked = item(0)
    says = Candidates(p=1.0, points=perfect, rng=np.random.default_rng(0))(asked)
    assert says(ask("Which?", sample=3)).text.split()[0] == "A"
    assert "w3" in says(ask("Which?", sample=3)).text
    shown = '<reply id="0123456789abcdef">\n"{}"'
    weighed = [says(ask(f"words: reward-score\n{shown.format(text)}")).text for text in ("A w1", "B w1")]
    assert weighed == [f'{{"id":"0123456789abcdef","score":{n}}}' for n in (4, 0)]


def test_a_graded_reward_has_the_sharpness_and_what_follows_from_it():
    reward = GradedReward(rng=np.random.default_rng(2))
    shift = math.sqrt(2) * stats.norm.ppf(0.75)
    area, _ = integrate.quad(lambda x: stats.norm.pdf(x - shift) * stats.norm.cdf(x), -8, 8)
    assert area == pytest.approx(0.75)
    asked = item(0)
    given = {text: [reward(asked, text) for _ in range(N)] for text in ("A w", "B w")}
    for text, is_right in (("A w", True), ("B w", False)):
        found = np.bincount(given[text], minlength=5) / N
        assert found == pytest.approx(reward.shares(is_right=is_right), abs=0.04)
    right, wrong = reward.shares(is_right=True), reward.shares(is_right=False)
    pairs = ((i, j, r * w) for i, r in enumerate(right) for j, w in enumerate(wrong))
    assert reward.auc == pytest.approx(sum(share * (i > j) + share * (i == j) / 2 for i, j, share in pairs))
    assert 0.7 < reward.auc < 0.75
    # Of two replies the one with more points: p twice right, or once and picked.
    assert reward.best(0.4, 1) == pytest.approx(0.4)
    assert reward.best(0.4, 2) == pytest.approx(0.16 + 2 * 0.24 * reward.auc)


def test_two_questions_share_a_video_and_the_first_word_counts():
    one, other, third = candidate_subjects(3)
    assert one.item.media == other.item.media != third.item.media
    flow = one.mark(Reply(text="A and more"))
    with pytest.raises(StopIteration) as stop:
        next(flow)
    assert stop.value.value.value == 1.0


def test_a_refiner_repairs_by_its_own_review_and_keeps_or_redraws_without():
    asked = item(0)
    says = Refiner(rng=np.random.default_rng(1))(asked)
    assert says(ask("words: critique")).text == "own words"

    def right(before, review):
        text = f"words: rewrite\n{before}\n{review}"
        return sum(says(ask(text)).text == "A" for _ in range(N)) / N

    assert right("B", "own words") == pytest.approx(0.5, abs=0.04)
    assert right("A", "own words") == pytest.approx(0.8, abs=0.03)
    assert right("B", "another's") == pytest.approx(0.3 * 0.3, abs=0.03)
    assert right("A", "another's") == pytest.approx(0.7 + 0.3 * 0.3, abs=0.03)


def test_the_balance_of_repairing_and_spoiling():
    refiner = Refiner(rng=np.random.default_rng(0))
    assert [refiner.after(n) for n in (0, 1)] == [0.3, pytest.approx(0.3 * 0.8 + 0.7 * 0.5)]
    assert refiner.after(50) == pytest.approx(0.5 / 0.7)
