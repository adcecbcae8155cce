"""Wrong choices drawn jointly: no reader of the words that does not see the video finds the right one."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.make.pipeline.matching import TOLD, Known, Unmatched, inclusion, learnt, match_choices
from vidence.make.pipeline.writer import Objection

VERBS = tuple(["open", "close", "cut", "wash", "peel", "stir", "pour", "fold"])
NOUNS = tuple(f"thing{i}" for i in range(12))


APART = {verb: i for i, verb in enumerate(VERBS)}


def never(one: str, other: str) -> bool:
    return False


def kitchens(seed: int, *, n: int = 1500, n_videos: int = 30) -> list[Unmatched]:
    """Questions in which the noun tells much of the verb: each noun has its own two verbs in two thirds."""
    rng = np.random.default_rng(seed)
    asked = []
    for i in range(n):
        noun = int(rng.integers(len(NOUNS)))
        own = (VERBS[noun % 8], VERBS[(noun + 3) % 8])
        right = own[int(rng.integers(2))] if rng.random() < 2 / 3 else VERBS[int(rng.integers(8))]
        asked.append(
            Unmatched(
                question=f"What does the person do with the {NOUNS[noun]}?",
                right=right,
                others=tuple(verb for verb in VERBS if verb != right),
                n=4,
                source=f"v{i % n_videos}",
            )
        )
    return asked


def accuracy(asked: list[Unmatched], sets: list[tuple[str, ...]], *, sign: int = 1) -> float:
    """What a reader gets who counted in the other half of the videos which verb goes with which noun."""
    counts: dict[bool, Counter] = {True: Counter(), False: Counter()}
    for one in asked:
        counts[int(one.source[1:]) % 2 == 0][one.question, one.right] += 1
    hits = []
    for one, wrong in zip(asked, sets, strict=True):
        taught = counts[int(one.source[1:]) % 2 == 1]
        scores = [sign * taught[one.question, name] for name in (one.right, *wrong)]
        hits.append((scores[0] == max(scores)) / scores.count(max(scores)))
    return float(np.mean(hits))


@given(st.lists(st.floats(0.001, 1), min_size=4, max_size=12), st.integers(2, 4))
def test_each_answer_is_right_in_its_share_of_the_offers(weights, n):
    likely = np.array(weights) / sum(weights)
    offered, kept = inclusion(likely, n=n)
    assert offered.sum() == pytest.approx(n)
    assert 0 < kept <= 1 + 1e-9
    right = np.minimum(likely, kept / n)  # of all questions, those kept in which each is right
    assert right == pytest.approx(offered * kept / n)


@pytest.mark.parametrize("seed", range(3))
def test_what_goes_with_a_noun_elsewhere_does_not_tell_the_verb(seed):
    asked = kitchens(seed)
    rng = np.random.default_rng(seed)
    drawn = [tuple(rng.permutation(one.others)[:3]) for one in asked]
    assert accuracy(asked, drawn) > 0.5
    matched = match_choices(asked, known=asked, group=APART, near=never, rng=rng)
    kept = [(one, some) for one, some in zip(asked, matched, strict=True) if isinstance(some, tuple)]
    assert len(kept) > 0.45 * len(asked)  # of at most a half: two verbs of each noun are likelier than 1 in 4
    assert {len({one.right, *some}) for one, some in kept} == {4}
    for sign in (1, -1):
        assert 0.2 < accuracy(*map(list, zip(*kept, strict=True)), sign=sign) < 0.3
    refused = next(one for one in matched if isinstance(one, Objection))
    assert refused.reason == TOLD
    assert "4 choices allow" in refused.detail


def test_answers_that_are_taken_for_one_another_never_stand_in_one_set():
    group = {verb: i // 2 for i, verb in enumerate(VERBS)}
    asked = [
        Unmatched(
            question=one.question,
            right=one.right,
            others=tuple(name for name in one.others if group[name] != group[one.right]),
            n=n,
            source=one.source,
        )
        for n in (3, 5)
        for one in kitchens(0, n=200)
    ]
    matched = match_choices(asked, known=asked, group=group, near=never, rng=np.random.default_rng(0))
    for one, wrong in zip(asked, matched, strict=True):
        if isinstance(wrong, tuple):
            assert len({group[name] for name in (one.right, *wrong)}) == one.n == 3
        else:
            assert wrong.reason == ("overlapping" if one.n == 5 else TOLD)
    assert not match_choices([], known=[], group={}, near=never, rng=np.random.default_rng(0))


def test_what_is_learnt_is_of_other_sources_alone():
    asked = [
        Unmatched(question=f"the {noun}?", right=verb, others=tuple(set("ab") - {verb}), n=2, source=source)
        for source, noun, verb in (("x", "tap", "a"), ("y", "tap", "b"), ("y", "tap", "b"), ("y", "pan", "a"))
    ]
    answers, likely = learnt(asked, known=asked)
    assert answers == ["a", "b"]
    assert likely.sum(axis=1) == pytest.approx(np.ones(4))
    assert likely[0, 1] > 0.5  # in y the tap was b twice
    assert likely[1, 0] > 0.5  # in x it was a
    every = [*asked, *(Known(question="tap", right="a", source="z") for _ in range(8))]
    assert learnt(asked, known=every)[1][0, 0] > likely[0, 0]
