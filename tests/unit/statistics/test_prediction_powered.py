"""Scores corrected by what a person read: exact where all is known, wide enough where little is."""

import math

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.statistics.intervals import mean_interval
from vidence.statistics.paired import compare
from vidence.statistics.prediction_powered import PseudoMarks, allocated, corrected

NAN = math.nan


def corrected_mean(marks, **given):
    return corrected(marks, **given)[0]


def clusters(n, each=1):
    return [str(i // each) for i in range(n)]


def drawn(rng, strata, truth, n_read, spreads):
    """What a person read, drawn by strata."""
    names = sorted(set(strata))
    places = {name: np.flatnonzero(np.asarray(strata) == name) for name in names}
    numbers = allocated([len(places[name]) for name in names], [spreads[name] for name in names], n_read)
    read = np.full(len(truth), NAN)
    for name, k in zip(names, numbers, strict=True):
        chosen = rng.choice(places[name], k, replace=False)
        read[chosen] = truth[chosen]
    return read


def test_the_strata_share_what_is_read_as_neyman_does_with_a_least_number():
    assert allocated([3000, 1000], [0.1, 0.3], 100) == (50, 50)
    assert allocated([3000, 20, 3], [0.1, 0.1, 0.5], 100) == (92, 5, 3)
    assert allocated([40, 20], [0.1, 0.5], 100) == (40, 20)
    with_many = allocated([100] * 18, [0.5] * 18, 50)
    assert sum(with_many) == 50
    assert min(with_many) == 2


def test_all_read_is_the_rule_for_means_and_differences():
    rng = np.random.default_rng(1)
    marks, truth = (rng.random((2, 90)) < 0.4).astype(float)
    strata, videos = ["right" if mark else "wrong" for mark in marks], clusters(90, 3)
    whole, other = (PseudoMarks.of(marks, read=read, strata=strata) for read in (truth, marks))
    for groups in (None, ["ab"[i % 2] for i in range(90)]):
        ours = corrected_mean(whole, clusters=videos, groups=groups)
        rule = mean_interval(truth, clusters=videos, groups=groups)
        assert [ours.value, ours.low, ours.high] == pytest.approx([rule.value, rule.low, rule.high])
    difference, p_value = corrected(whole, other, clusters=videos)
    rule = compare(truth, marks, clusters=videos)
    ends = [(one.value, one.low, one.high) for one in (difference, rule.difference)]
    assert (*ends[0], p_value) == pytest.approx((*ends[1], rule.p_value))


def test_a_part_of_which_nothing_was_read_may_be_anything_and_one_read_whole_is_known():
    strata, read = ["right"] * 400 + ["wrong"] * 400, np.full(800, NAN)
    read[:100], read[400:500] = 1.0, 0.0
    pseudo = PseudoMarks.of([1.0] * 400 + [0.0] * 400, read=read, strata=strata)
    unread = corrected_mean(pseudo.part(range(200, 400)), clusters=clusters(200))
    assert (unread.value, unread.high, unread.low < 0.05) == (1.0, 1.0, True)
    known = corrected_mean(pseudo.part(range(100)), clusters=clusters(100))
    assert (known.low, known.high) == pytest.approx((0.963, 1), abs=1e-3)
    assert (pseudo.part(range(90, 120)).n_read, pseudo.n_read) == (10, 200)


def test_all_read_of_both_is_the_comparison_of_the_people_where_few_differ():
    read = [1.0] * 4 + [0.0] * 56
    first = PseudoMarks.of(read, read=read, strata=["right"] * 4 + ["wrong"] * 56)
    second = PseudoMarks.of([0.0] * 60, read=[0.0] * 60, strata=["wrong"] * 60)
    found, rule = (
        corrected(first, second, clusters=clusters(60)),
        compare(read, [0] * 60, clusters=clusters(60)),
    )
    assert found[0].low <= 0 < found[0].high
    assert (found[0].low, found[0].high, found[1]) == (
        rule.difference.low,
        rule.difference.high,
        rule.p_value,
    )


def test_a_corrected_mean_is_the_mean_of_strata_by_their_size():
    strata = ["right"] * 60 + ["wrong"] * 40
    read = [1.0] * 18 + [0.0] * 2 + [NAN] * 40 + [1.0] + [0.0] * 9 + [NAN] * 30
    pseudo = PseudoMarks.of([1.0] * 60 + [0.0] * 40, read=read, strata=strata)
    found = corrected_mean(pseudo, clusters=clusters(100))
    assert found.value == pytest.approx(0.6 * 0.9 + 0.4 * 0.1)
    assert found.low < 0.58 < found.high


def test_no_error_among_those_read_leaves_room_for_as_many_as_may_be():
    n, k = 4000, 100
    strata, read = ["right"] * n, [1.0] * k + [NAN] * (n - k)
    all_right = corrected_mean(PseudoMarks.of([1.0] * n, read=read, strata=strata), clusters=clusters(n, 4))
    assert all_right.value == all_right.high == 1
    assert 1 - all_right.low >= 0.036  # of 100 that are right, the exact interval begins at .9638
    better = PseudoMarks.of([1.0] * n, read=read, strata=strata)
    raw = PseudoMarks.of([0.97] * n, read=[0.97] * n, strata=strata)
    difference, p_value = corrected(better, raw, clusters=clusters(n, 4))
    assert difference.low < 0 < difference.high
    assert p_value > 0.05
    same, p_same = corrected(raw, raw, clusters=clusters(n, 4))
    assert (same.value, p_same) == (0.0, 1.0)
    assert same.low < 0 < same.high


def test_intervals_hold_the_truth_where_the_program_errs_and_are_narrower_than_the_sample():
    """Some designs of bench/corrected.py."""
    rng = np.random.default_rng(35)
    held, narrower, raw_held = [], [], []
    for unread, error, n in ((0.1, 0.0, 400), (0.0, 0.1, 1000), (0.0, 0.02, 1000)):
        for _ in range(60):
            chances = np.repeat(rng.beta(2, 2, n // 5), 5)
            truth = (rng.random(n) < chances).astype(float)
            kind = np.where(rng.random(n) < error, 1 - truth, truth)
            kind = np.where(rng.random(n) < unread, 2, kind).astype(int)
            strata, marks = [str(k) for k in kind], (kind == 1).astype(float)
            spreads = {"0": 0.15, "1": 0.15, "2": 0.5}
            read = drawn(rng, strata, truth, 100, spreads)
            pseudo = PseudoMarks.of(marks, read=read, strata=strata)
            ours = corrected_mean(pseudo, clusters=clusters(n, 5))
            raw = mean_interval(marks, clusters=clusters(n, 5))
            alone = rng.choice(n, 100, replace=False)
            sample = mean_interval(truth[alone], clusters=[str(i // 5) for i in alone])
            held.append(ours.low <= 0.5 <= ours.high)
            raw_held.append(raw.low <= 0.5 <= raw.high)
            narrower.append(ours.high - ours.low < sample.high - sample.low)
    assert np.mean(held) >= 0.93
    assert np.mean(raw_held) < 0.9
    assert np.mean(narrower) > 0.95


def test_equal_runs_are_told_apart_by_chance_alone_where_both_are_corrected():
    rng = np.random.default_rng(8)
    found, raw = [], []
    for _ in range(100):
        first = (rng.random(300) < 0.7).astype(float)
        second = np.where(rng.random(300) < 0.6, first, rng.random(300) < 0.7).astype(float)
        sides, marks = [], []
        for truth, unread in ((first, 0.0), (second, 0.12)):
            kind = np.where(rng.random(300) < unread, 2, truth).astype(int)
            strata = [str(k) for k in kind]
            read = drawn(rng, strata, truth, 100, {"0": 0.15, "1": 0.15, "2": 0.5})
            marks.append((kind == 1).astype(float))
            sides.append(PseudoMarks.of(marks[-1], read=read, strata=strata))
        found.append(corrected(*sides, clusters=clusters(300))[1] < 0.05)
        raw.append(compare(*marks, clusters=clusters(300)).p_value < 0.05)
    assert np.mean(found) <= 0.07
    assert np.mean(raw) > 0.3


def test_an_interval_of_a_difference_leaves_out_zero_exactly_where_its_p_value_says_so():
    rng = np.random.default_rng(4)
    for shift in np.linspace(0, 0.4, 30):
        first, second = (rng.random(120) < 0.5 + shift).astype(float), (rng.random(120) < 0.5).astype(float)
        sides = []
        for truth in (first, second):
            strata = [str(int(one)) for one in truth]
            read = drawn(rng, strata, truth, 60, {"0": 0.15, "1": 0.15})
            sides.append(PseudoMarks.of(truth, read=read, strata=strata))
        found, p_value = corrected(*sides, clusters=clusters(120))
        assert (found.low > 0 or found.high < 0) == (p_value < 0.05)


@pytest.mark.parametrize(
    ("read", "strata", "words"),
    [([1.0], ["a", "a"], "1 marks by a person for 2 items"), ([NAN, 1.0], ["a"], "1 strata for 2 values")],
)
def test_marks_that_do_not_belong_together_are_refused(read, strata, words):
    with pytest.raises(UsageError, match=words):
        PseudoMarks.of([1.0, 0.0], read=read, strata=strata)


def test_one_video_and_runs_of_other_questions_have_no_interval():
    pseudo = PseudoMarks.of([1.0, 0.0], read=[1.0, NAN], strata=["a", "b"])
    assert corrected_mean(pseudo, clusters=["v", "v"]).reason == "too few videos (1)"
    half = PseudoMarks.of([1.0, 1.0, 0.0, 0.0], read=[1.0, NAN, 0.0, NAN], strata=["a", "a", "b", "b"])
    assert corrected_mean(half, clusters=["v"] * 4).reason == "too few videos (1)"
    assert corrected(pseudo, pseudo, clusters=["v", "v"])[1] == 1.0
    with pytest.raises(UsageError, match="2 and 1 items; expected the same items"):
        corrected(pseudo, pseudo.part([0]), clusters=["v", "w"])
