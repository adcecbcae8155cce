"""Tables of frames, packed: nothing of the times is lost, and little goes over the way."""

import gzip
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.studio.rules.frames import pack


@given(st.lists(st.integers(1, 10_000), max_size=60), st.integers(-1000, 10**9))
def test_the_steps_of_a_packed_table_are_those_of_its_frames(steps, first):
    pts = np.cumsum([first, *steps])
    packed = pack(pts.tolist(), time_base=Fraction(1, 90000), offset_s=1.5)
    assert (packed.n_frames, packed.first, packed.offset_s) == (len(pts), first, 1.5)
    assert packed.time_base == (1, 90000)
    assert np.repeat(packed.runs[::2], packed.runs[1::2]).tolist() == steps
    neighbours = list(zip(packed.runs[::2], packed.runs[2::2], strict=False))
    assert all(one != other for one, other in neighbours)


def test_a_table_of_the_longest_video_takes_less_than_200_kb():
    n = 5_225 * 30
    even = pack(range(0, n * 1001, 1001), time_base=Fraction(1, 30000))
    in_ms = pack([round(i * 1000 / 29.97) for i in range(n)], time_base=Fraction(1, 1000))
    rng = np.random.default_rng(5)
    jitter = np.arange(n) * 3000 + rng.integers(-12, 13, n)
    shaky = pack(jitter.tolist(), time_base=Fraction(1, 90000))
    sizes = [len(gzip.compress(msgspec.json.encode(one), 6)) for one in (even, in_ms, shaky)]
    assert sizes[0] < 200
    assert max(sizes) < 200_000


@pytest.mark.parametrize("pts", [(), (0, 0), (5, 4)])
def test_times_that_do_not_ascend_are_no_table(pts):
    with pytest.raises(ValueError, match="ascending"):
        pack(pts, time_base=Fraction(1))


def test_a_tick_has_a_length():
    with pytest.raises(ValueError, match="tick"):
        pack((0,), time_base=Fraction(0))
