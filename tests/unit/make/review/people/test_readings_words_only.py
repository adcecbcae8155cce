"""Shares told without the film: answers to one card, and those of one reader, go together."""

import numpy as np
import pytest

from vidence.make.review.people.readings import Bounds, WordsOnlyAnswer, share_of, told
from vidence.statistics.intervals import proportion


def crossed(rng, *, n_cards, n_readers, card_sd, reader_sd):
    """Answers of readers who all read the same cards, flat, with the names of both."""
    odds = rng.normal(0, card_sd, (n_cards, 1)) + rng.normal(0, reader_sd, (1, n_readers))
    right = (rng.random((n_cards, n_readers)) < 1 / (1 + np.exp(-odds))).astype(float)
    cards = [f"c{i}" for i in range(n_cards) for _ in range(n_readers)]
    readers = [f"p{j}" for _ in range(n_cards) for j in range(n_readers)]
    return right.ravel().tolist(), cards, readers


@pytest.mark.parametrize(("card_sd", "reader_sd"), [(1.5, 0.0), (0.0, 1.0), (1.5, 1.0)])
def test_the_interval_holds_the_true_share_where_pooling_does_not(card_sd, reader_sd):
    rng = np.random.default_rng(20)
    n, hit, pooled = 60, 0, 0
    for _ in range(n):
        values, cards, readers = crossed(rng, n_cards=20, n_readers=5, card_sd=card_sd, reader_sd=reader_sd)
        found = share_of(values, cards=cards, readers=readers)
        hit += found.anyone.low <= 0.5 <= found.anyone.high
        wilson = proportion(int(sum(values)), len(values))
        pooled += wilson.low <= 0.5 <= wilson.high
    assert hit / n >= 0.9
    assert pooled / n <= 0.87
    assert pooled < hit


def test_five_readers_who_say_the_same_are_as_good_as_one():
    right = [1.0, 1.0, 1.0, 0.0] * 5
    cards, readers = [f"c{i % 4}" for i in range(20)], [f"p{i // 4}" for i in range(20)]
    many = share_of(right, cards=cards, readers=readers)
    one = share_of(right[:4], cards=cards[:4], readers=readers[:4])
    assert (many.here.low, many.here.high) == pytest.approx((one.here.low, one.here.high))
    pooled = proportion(15, 20)
    assert many.here.high - many.here.low > 1.5 * (pooled.high - pooled.low)
    assert one.anyone == Bounds()
    assert one.words.endswith("over 4 cards, of one reader: others may tell more or fewer)")
    assert "over 4 cards for these 5 readers; " in many.words


def test_a_single_answer_says_nothing():
    found = told([WordsOnlyAnswer(card="a", reader="p1", is_true=False, said="false")])
    assert found.share.here == found.share.anyone == Bounds()
    assert not found.is_above_chance


def test_who_cannot_say_counts_nowhere():
    readings = [
        WordsOnlyAnswer(
            card=f"c{i}", reader=f"p{j}", is_true=i % 2 == 0, said="true" if i % 2 == 0 else "false"
        )
        for i in range(10)
        for j in range(3)
    ]
    found = told([*readings, WordsOnlyAnswer(card="c0", reader="p9", is_true=True, said="cannot-say")])
    assert (found.n_right, found.n, found.n_unsure) == (30, 30, 1)
    assert found.is_above_chance
    assert found.share.here.low > 0.5
    assert found.share.anyone.low < 0.5  # three readers alone
    assert found.words.startswith("30 of 30 right without the film: 100% (")
    assert found.words.endswith("by guessing 50%; 1 cannot say")
    assert told([]).words == "no readings yet"
