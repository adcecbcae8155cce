"""Readers of texts: what they take, and that luck is not taken for a leak."""

import numpy as np
import pytest

from conftest import IS_THOROUGH
from vidence.errors import UsageError
from vidence.explain.audit.blind import (
    LEAST_SOURCES,
    Board,
    _Rules,
    _Table,
    blind_test,
    board_of,
    n_needed,
    statements_of,
)
from vidence.records import Item, Media

WORDS = [f"word{i}" for i in range(200)]


def board(texts, right=0, cluster="a"):
    return Board(texts=tuple(texts), right=frozenset({right}), cluster=cluster)


def taken(boards, key):
    table = _Table.of(boards)
    rules = _Rules(table)
    weights = dict(zip((name for name, _ in rules.names), rules.weights(table.right), strict=True))
    return [np.flatnonzero(row).tolist() for row in weights[key]]


def above(test):
    """The rule that is above guessing in the interval by source, and further than the best by luck."""
    return next((score for score in test.scores if score.p_value <= 0.05 and score.margin.low > 0), None)


def fair(seed, *, n_sources=8, per=5, reuse=8):
    """Questions that share texts within a source; any of five is right."""
    rng = np.random.default_rng(seed)
    made = []
    for source in range(n_sources):
        cards = [" ".join(rng.choice(WORDS, 9)) for _ in range(reuse)]
        for _ in range(per):
            drawn = [cards[i] for i in rng.permutation(reuse)[:5]]
            made.append(board(drawn, int(rng.integers(5)), str(source)))
    return made


@pytest.mark.parametrize(
    ("key", "texts", "expected"),
    [
        ("longest", ["a", "bbb", "cc"], [1]),
        ("smallest", ["3 to 5", "0 to 2", "6 to 8"], [1]),
        ("typical", ["red cat", "red dog", "blue dog"], [1]),
        ("odd-one", ["red cat", "red dog", "green fish"], [2]),
        ("typical", ["x", "y", "z"], []),  # all alike: nothing is said
    ],
)
def test_rules_take_what_they_say(key, texts, expected):
    assert taken([board(texts)], key) == [expected]


def test_rules_that_learn_leave_their_own_source_out():
    ours = board(["yes", "no"], right=1, cluster="a")
    theirs = [board(["yes", "no"], right=0, cluster=name) for name in "bc"]
    assert taken([ours, *theirs], "popular") == [[0], [], []]  # b and c: one yes, one no elsewhere
    assert taken([ours], "popular") == [[]]


def test_unusual_words_are_those_that_other_sources_do_not_have():
    others = [board(["a red cat", "a red dog"], cluster=name) for name in "bcd"]
    boards = [board(["a red cat", "an axe dune"]), *others]
    assert taken(boards, "odd-words")[0] == [1]
    assert taken(boards, "plain-words")[0] == [0]
    assert taken(boards[:1], "odd-words") == [[]]


def test_a_board_needs_right_and_wrong_texts():
    with pytest.raises(UsageError, match="of 2 texts are right"):
        Board(texts=("a", "b"), right=frozenset({0, 1}), cluster="")
    with pytest.raises(UsageError, match="no boards"):
        blind_test([], rng=np.random.default_rng(0))


def test_boards_of_questions_and_of_their_lists():
    item = Item(
        item_id="q", media=(Media(path="v.mp4"),), question="Which?", choices=("a", "b", "c"), answer="B"
    )
    found = board_of(item)
    assert (found.right, found.cluster) == ({1}, item.source_id)
    listed = "Two shots:\n1. A dog.\n2. A cat.\nWhich?"
    made = statements_of(listed, [2], cluster="v")
    assert (made.texts, made.right) == (("A dog.", "A cat."), {1})
    assert statements_of(listed, [], cluster="v") is None
    assert statements_of(listed, [1, 2], cluster="v") is None
    assert statements_of(listed, [7], cluster="v") is None


def test_a_reader_who_is_right_in_60_percent_of_twenty_is_found():
    rng = np.random.default_rng(3)
    made = []
    for i in range(20):
        texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(5)]
        long = int(rng.integers(5))
        texts[long] += " and much more than all of the others say"
        right = long if i * 7 % 20 < 12 else (long + 1 + int(rng.integers(4))) % 5
        made.append(board(texts, right, str(i % 5)))
    found = above(blind_test(made, rng=rng))
    assert (found.key, found.n, found.chance) == ("longest", 20, pytest.approx(0.2))
    assert found.score == pytest.approx(0.6)


def test_fair_sets_are_let_through():
    n = 40 if IS_THOROUGH else 15
    found = [blind_test(fair(seed), rng=np.random.default_rng(seed), n_draws=199) for seed in range(n)]
    assert sum(above(test) is not None for test in found) <= max(n // 10, 2)  # n / 20 at most
    assert all(test.n >= test.n_needed and test.n_clusters >= LEAST_SOURCES for test in found)


def test_few_questions_or_one_source_tell_nothing():
    few = blind_test(fair(0, n_sources=2, per=2), rng=np.random.default_rng(0), n_draws=199)
    assert above(few) is None
    assert few.n < few.n_needed
    alone = blind_test(fair(1, n_sources=1, per=30), rng=np.random.default_rng(0), n_draws=199)
    assert above(alone) is None
    assert alone.n_clusters < LEAST_SOURCES
    assert n_needed(0.2, alpha=0.05) < n_needed(0.2, alpha=0.001) < n_needed(0.5, alpha=0.001)
