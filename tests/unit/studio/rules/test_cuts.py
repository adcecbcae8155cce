"""The curve of a shot detector, and frames where a cut may have been missed."""

import numpy as np

from vidence.seeing.shooting import ShotScores, cuts_to_spans, timed
from vidence.seeing.tracks import Span
from vidence.studio.rules.cuts import CURVE_HEIGHT, CURVE_WIDTH, curve, high_scores, score_at

TIMES = np.arange(3000) / 25


def scores(**at):
    values = np.full(len(TIMES), 0.001, np.float32)
    for frame, value in at.items():
        values[int(frame[1:])] = value
    return ShotScores(values=values, least=0.02, what="jump")


def shots(*first_frames):
    return timed(cuts_to_spans(first_frames, n_frames=len(TIMES)), TIMES)


def test_the_curve_keeps_each_peak_at_its_time():
    found = curve(scores(f1000=0.5, f2001=0.25), shots(1000), times_s=TIMES)
    points = [tuple(map(float, one.split(","))) for one in found.points.split()]
    assert len(points) == CURVE_WIDTH
    assert min(points, key=lambda one: one[1]) == (333.3, 0.0)
    assert (667.0, round(CURVE_HEIGHT * (1 - 0.5**0.5), 1)) in points
    assert found.cuts == ("333.3",)
    assert (found.mixed, found.least_y) == ((), "80.0")


def test_gradual_changes_are_bands():
    spans = [Span(first_frame=0, last_frame=999), Span(first_frame=1000, last_frame=2999, n_mixed=300)]
    found = curve(scores(), timed(spans, TIMES), times_s=TIMES)
    assert found.mixed == (("333.3", "100.0"),)
    assert found.top == 0.02  # nothing is as high as the least that would count


def test_high_scores_are_peaks_amid_shots_highest_first():
    measured = scores(f1000=0.5, f1001=0.3, f400=0.04, f2000=0.1, f2001=0.2, f2500=0.01)
    found = high_scores(measured, shots(1000), times_s=TIMES)
    assert [(one.frame, round(one.score, 2)) for one in found] == [(2001, 0.2), (400, 0.04)]
    assert found[1].time_s == 16.0
    assert [one.frame for one in high_scores(measured, shots(), times_s=TIMES)] == [1000, 2001, 400]
    assert high_scores(scores(), shots(), times_s=TIMES) == ()


def test_the_score_of_a_cut_is_the_highest_around_it():
    before, behind = shots(1000)
    assert score_at(scores(f1000=0.5, f1003=0.9), before, behind) == 0.5
    assert score_at(scores(f999=0.25), before, behind) == 0.25
