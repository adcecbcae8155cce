"""Tables of frames: there and back, the middle of each frame, and what a browser reports."""

import gzip
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.errors import UsageError
from vidence.studio.rules.frames import FrameTable

NTSC = FrameTable(pts=tuple(range(0, 1001 * 300, 1001)), time_base=Fraction(1, 30000))
STEPS = st.lists(st.integers(1, 10_000), max_size=60)


def table(steps, *, first=0, base=Fraction(1, 90000), offset_s=0.0) -> FrameTable:
    pts = tuple(np.cumsum([first, *steps]).tolist())
    return FrameTable(pts=pts, time_base=base, offset_s=offset_s)


@given(STEPS, st.integers(-1000, 10**9))
def test_a_packed_table_comes_back(steps, first):
    one = table(steps, first=first, offset_s=1.5)
    assert FrameTable.unpack(one.pack()) == one


@given(STEPS, st.floats(0, 1000))
def test_the_middle_of_each_frame_is_in_it(steps, offset_s):
    one = table(steps, offset_s=offset_s)
    for index in range(one.n_frames):
        assert one.index_at(one.middle_s(index)) == index


@given(STEPS, st.floats(0, 1000))
def test_what_is_painted_is_known_by_its_rounded_time(steps, offset_s):
    one = table([step + 900 for step in steps], offset_s=offset_s)
    for index in range(one.n_frames):
        reported = round(offset_s + one.time_s(index), 6)  # browsers report microseconds
        assert one.painted(reported) == index


def test_a_time_between_frames_is_no_painted_frame():
    assert NTSC.painted(NTSC.time_s(7) + 0.016) is None
    assert NTSC.painted(-5.0) is None
    assert NTSC.painted(1e6) is None


def test_times_are_those_of_the_media_room():
    assert NTSC.time_s(0) == 0.0
    assert NTSC.time_s(30) == pytest.approx(1.001)
    assert NTSC.middle_s(30) == pytest.approx(1.001 + 1001 / 60000)


def test_before_the_first_is_the_first_and_after_the_last_the_last():
    assert NTSC.index_at(-3.0) == 0
    assert NTSC.index_at(1e9) == 299


def test_a_table_of_the_longest_video_takes_less_than_200_kb():
    n = 5_225 * 30
    even = FrameTable(pts=tuple(range(0, n * 1001, 1001)), time_base=Fraction(1, 30000))
    in_ms = FrameTable(pts=tuple(round(i * 1000 / 29.97) for i in range(n)), time_base=Fraction(1, 1000))
    rng = np.random.default_rng(5)
    jitter = np.arange(n) * 3000 + rng.integers(-12, 13, n)
    shaky = FrameTable(pts=tuple(jitter.tolist()), time_base=Fraction(1, 90000))
    sizes = [len(gzip.compress(msgspec.json.encode(one.pack()), 6)) for one in (even, in_ms, shaky)]
    assert sizes[0] < 200
    assert max(sizes) < 200_000


@pytest.mark.parametrize("pts", [(), (0, 0), (5, 4)])
def test_times_that_do_not_ascend_are_no_table(pts):
    with pytest.raises(ValueError, match="ascending"):
        FrameTable(pts=pts, time_base=Fraction(1))


def test_a_tick_has_a_length():
    with pytest.raises(ValueError, match="tick"):
        FrameTable(pts=(0,), time_base=Fraction(0))


@pytest.mark.parametrize("index", [-1, 300])
def test_there_is_no_such_frame(index):
    with pytest.raises(UsageError, match="300, counted from 0"):
        NTSC.middle_s(index)


def test_runs_that_do_not_make_the_frames_are_refused():
    packed = NTSC.pack()
    with pytest.raises(UsageError, match="do not make"):
        FrameTable.unpack(msgspec.structs.replace(packed, runs=(1001,)))
