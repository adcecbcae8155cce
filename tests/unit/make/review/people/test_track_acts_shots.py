"""Rows on cuts, done one after the other on the shots that a detector found."""

import numpy as np
import pytest

from vidence.make.review.people.checks import check_of_shots
from vidence.make.review.people.rows import ShotRow
from vidence.make.review.people.track_acts import apply_shots
from vidence.seeing.shooting import timed
from vidence.seeing.tracks import Span

TIMES_S = np.arange(100) / 10
SHOTS = timed(
    [
        Span(first_frame=0, last_frame=39),
        Span(first_frame=40, last_frame=69, n_mixed=5),
        Span(first_frame=70, last_frame=99),
    ],
    TIMES_S,
)


def row(act, *, seen=SHOTS, line=2):
    made = ShotRow(video_id="v", check="a" * 12, act=act, by="P03", where=f"people/shots.csv:{line}")
    check = check_of_shots(seen, made.parsed)
    return ShotRow(video_id="v", check=check, act=act, by="P03", where=made.where)


def done(*acts):
    return apply_shots(SHOTS, [row(act, line=i) for i, act in enumerate(acts, 2)], times_s=TIMES_S)


def spans(made):
    return [(shot.first_frame, shot.last_frame, shot.n_mixed) for shot in made.shots]


def test_a_cut_is_added_and_shots_are_numbered_and_timed_anew():
    made = done("cut-at:20")
    assert spans(made) == [(0, 19, 0), (20, 39, 0), (40, 69, 5), (70, 99, 0)]
    assert [shot.shot_id for shot in made.shots] == [f"shot-000{i}" for i in (1, 2, 3, 4)]
    assert (made.shots[1].start_s, made.shots[1].end_s) == (2.0, 4.0)


def test_a_cut_within_frames_that_show_two_shots_leaves_each_its_own():
    assert spans(done("cut-at:42"))[1:3] == [(40, 41, 1), (42, 69, 3)]


def test_a_wrong_cut_is_removed():
    assert spans(done("no-cut-at:40")) == [(0, 69, 0), (70, 99, 0)]


def test_a_gradual_change_takes_the_place_of_a_cut_or_makes_one():
    assert spans(done("gradual:65-74")) == [(0, 39, 0), (40, 64, 5), (65, 99, 10)]
    assert spans(done("gradual:10-19"))[:2] == [(0, 9, 0), (10, 39, 10)]


def test_rows_are_done_in_turn_by_what_was_seen_first_or_by_then():
    assert spans(done("no-cut-at:40", "cut-at:20"))[:2] == [(0, 19, 0), (20, 69, 0)]
    after = done("no-cut-at:40").shots
    made = apply_shots(SHOTS, [row("no-cut-at:40"), row("cut-at:50", seen=after)], times_s=TIMES_S)
    assert len(made.used) == 2


@pytest.mark.parametrize(
    ("act", "why"),
    [
        ("cut-at:40", "no shot goes across frame 40"),
        ("cut-at:0", "no shot goes across frame 0"),
        ("no-cut-at:0", "no shot but the first begins with frame 0"),
        ("no-cut-at:41", "no shot but the first begins with frame 41"),
        ("gradual:0-5", "leave no shot before or behind them"),
        ("gradual:30-75", "a whole one lies in them"),
        ("gradual:90-99", "leave no shot before or behind them"),
        ("cut-at:100", "the video has 100 frames, the last one is 99"),
    ],
)
def test_an_act_that_changes_nothing_is_named(act, why):
    made = done(act)
    assert made.shots == SHOTS
    assert why in made.unused[0].why
    assert str(made.unused[0]).startswith("people/shots.csv:2: not used: ")


def test_a_row_on_other_shots_than_there_are_is_not_used():
    old = timed([Span(first_frame=0, last_frame=49), Span(first_frame=50, last_frame=99)], TIMES_S)
    made = apply_shots(SHOTS, [row("cut-at:20", seen=old)], times_s=TIMES_S)
    assert made.shots == SHOTS
    assert made.unused[0].why == "the shots at frame 20 have changed since; look at them again"
