"""Wrong choices drawn jointly: no reader of the words that does not see the video finds the right one."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.make.pipeline.matching import TOLD, Known, Unmatched, inclusion, likelihoods, match_choices
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


def test_an_answer_that_is_never_right_elsewhere_is_not_told_by_that():
    rng = np.random.default_rng(0)
    answers = [f"answer{i}" for i in range(60)]
    asked = []
    for video in range(60):
        own = rng.choice(answers, 6, replace=False)
        for right in rng.choice(own, 14):
            others = tuple(name for name in answers if name != right)
            asked.append(Unmatched(question="?", right=str(right), others=others, n=4, source=f"v{video}"))
    group = {name: i for i, name in enumerate(answers)}
    matched = match_choices(asked, known=asked, group=group, near=never, rng=rng)
    kept = [(one, some) for one, some in zip(asked, matched, strict=True) if isinstance(some, tuple)]
    assert len(kept) > 0.8 * len(asked)
    hits = []
    for one, wrong in kept:  # who reads the key of all other videos, and takes what is right there least
        others = [(two.right, some) for two, some in kept if two.source != one.source]
        rights = Counter(right for right, _ in others)
        offers = Counter(name for right, some in others for name in (right, *some))
        scores = [-rights[name] / max(1, offers[name]) for name in (one.right, *wrong)]
        hits.append((scores[0] == max(scores)) / scores.count(max(scores)))
    assert 0.2 < np.mean(hits) < 0.3


def test_of_sets_that_are_as_likely_that_with_most_of_the_best_is_taken():
    asked = kitchens(0)
    rng = np.random.default_rng(1)
    best = [frozenset(map(str, rng.choice(one.others, 2, replace=False))) for one in asked]
    n_best = []
    for some in (asked, [replace(one, best=good) for one, good in zip(asked, best, strict=True)]):
        matched = match_choices(some, known=asked, group=APART, near=never, rng=np.random.default_rng(0))
        kept = [
            (one, good, s) for one, good, s in zip(asked, best, matched, strict=True) if isinstance(s, tuple)
        ]
        n_best.append(np.mean([len(good & {*wrong}) for _, good, wrong in kept]))
        assert 0.2 < accuracy([one for one, *_ in kept], [wrong for *_, wrong in kept]) < 0.3
    assert n_best[1] > 1.3 * n_best[0]


def test_an_answer_that_is_right_once_is_not_told_by_being_wrong_elsewhere():
    """Three in ten answers are right in one question only: there the others have been right before."""
    rng = np.random.default_rng(0)
    answers = [f"answer{i}" for i in range(300)]
    shares = 1 / np.arange(1, 301)
    asked = [
        Unmatched(
            question="?",
            right=answers[i],
            others=tuple(a for a in answers if a != answers[i]),
            n=4,
            source=f"v{n}",
        )
        for n, i in enumerate(rng.choice(300, 400, p=shares / shares.sum()))
    ]
    group = {name: i for i, name in enumerate(answers)}
    hits = []
    for seed in range(3):
        matched = match_choices(asked, known=asked, group=group, near=never, rng=np.random.default_rng(seed))
        kept = [(one, some) for one, some in zip(asked, matched, strict=True) if isinstance(some, tuple)]
        rights = Counter(one.right for one, _ in kept)
        for one, wrong in kept:  # the reader takes what is right least elsewhere
            scores = [-rights[one.right] + 1, *(-rights[name] for name in wrong)]
            hits.append((scores[0] == max(scores)) / scores.count(max(scores)))
    assert 0.2 < np.mean(hits) < 0.3


def test_of_few_questions_none_is_left_out():
    for n, reason in ((74, None), (75, TOLD)):
        asked = kitchens(0, n=n)
        matched = match_choices(asked, known=asked, group=APART, near=never, rng=np.random.default_rng(0))
        assert {some.reason for some in matched if isinstance(some, Objection)} == {reason} - {None}


def test_likelihoods_are_of_the_own_answers_and_of_the_words_in_other_sources():
    asked = kitchens(0)
    answers, likely = likelihoods(asked, known=asked)
    assert answers == sorted(VERBS)
    assert likely.sum(axis=1) == pytest.approx(np.ones(len(asked)))
    first = [likely[i, answers.index(one.right)] for i, one in enumerate(asked)]
    assert np.mean(first) == pytest.approx(0.3, abs=0.03)  # two verbs 9 / 24, six 1 / 24: the sum of squares
    elsewhere = [Known(question=asked[0].question, right="peel", source="w") for _ in range(500)]
    place = answers.index("peel")
    assert likelihoods(asked, known=[*asked, *elsewhere])[1][0, place] > likely[0, place]
    own = [Known(question=one.question, right=one.right, source="v0") for one in elsewhere]
    assert likelihoods(asked, known=[*asked, *own])[1][0] == pytest.approx(likely[0], abs=0.02)
