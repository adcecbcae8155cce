"""The frame table of packets, and the plans made from it."""

import contextlib
from fractions import Fraction
from io import BytesIO

import av
import numpy as np
import pytest

from vidence.errors import MediaError
from vidence.media.opened import lacks_moov
from vidence.media.probe import FrameTable, Run, count, longest_first, plan
from vidence.media.scan import scan_video


@pytest.mark.parametrize("name", ["mov", "hevc-open", "av1", "vfr", "open-gop"])
def test_the_table_says_what_the_packets_say(name, clip):
    path = clip(name).path
    table = scan_video(path).table
    with av.open(str(path)) as container:
        packets = [p for p in container.demux(video=0) if p.size and not p.is_corrupt]
    assert table.packet_pts.tolist() == [p.pts for p in packets]
    assert table.is_key.tolist() == [p.is_keyframe for p in packets]


def test_no_damage_to_an_index_crashes_its_reader(plain, tmp_path):
    content = plain.read_bytes()
    place, length = content.index(b"moov"), 2000
    rng = np.random.default_rng(3)
    path = tmp_path / "a.mp4"
    for _ in range(60):
        broken = bytearray(content)
        for position in rng.integers(place - 4, place + length, 6):
            broken[position] = rng.integers(256)
        path.write_bytes(bytes(broken))
        with contextlib.suppress(MediaError):
            assert scan_video(path).probe.counted.n_frames > 0


def test_a_missing_index_is_told_from_other_files(plain):
    content = plain.read_bytes()
    assert lacks_moov(BytesIO(content[: content.index(b"moov") - 4]))
    assert not lacks_moov(BytesIO(content))
    assert not lacks_moov(BytesIO(bytes(range(200))))


def table(pts, keys, hidden=()):
    n = len(pts)
    is_key, is_shown = np.zeros(n, np.bool_), np.ones(n, np.bool_)
    is_key[keys] = True
    is_shown[list(hidden)] = False
    return FrameTable.of_packets(np.array(pts), is_key=is_key, is_shown=is_shown)


# Two groups of I P B B; in `OPEN` the second group has two leading pictures behind its keyframe.
_CLOSED = [0, 3, 1, 2, 4, 7, 5, 6]
_OPEN = [0, 3, 1, 2, 6, 4, 5, 7]


def test_frames_are_in_the_order_of_their_times():
    made = table(_CLOSED, [0, 4])
    assert made.packet_of_frame.tolist() == [0, 2, 3, 1, 4, 6, 7, 5]
    assert made.frame_pts.tolist() == list(range(8))


def test_hidden_and_undecodable_packets_are_no_frames():
    assert table(_CLOSED, [0, 4], hidden=(1, 2)).frame_pts.tolist() == [0, 2, 4, 5, 6, 7]
    assert table(_OPEN, [4]).frame_pts.tolist() == [6, 7]


def test_times_that_tell_nothing_give_no_table():
    assert table([0, 1, 1, 2], [0]) is None
    assert table([0, 1, 2], []) is None
    assert (
        table([*range(100, 140), *range(40)], [0, 40]) is not None
    )  # the second part is shown before the first key
    assert table([*range(40), *range(-40, 0)], [0]).n_frames == 40
    jump = [0, *range(100, 180), *range(1, 60)]
    assert table(jump, [0, 1, 81]) is None


def test_leading_pictures_need_the_keyframe_before():
    made = table(_OPEN, [0, 4])
    assert [made.start_of(i) for i in range(8)] == [0, 0, 0, 0, 0, 0, 4, 4]
    assert made.depends_on(5, 4)
    assert made.depends_on(5, 0)
    assert made.depends_on(7, 4)
    assert not made.depends_on(7, 3)  # the group before
    assert not made.depends_on(7, 5)  # a leading picture
    assert not made.depends_on(0, 1)  # decoded later


def test_a_plan_reads_no_more_than_it_must():
    made = table(_CLOSED, [0, 4])
    assert plan(made, [1]) == [Run(first=0, last=2, frames=(1,))]
    assert plan(made, [7, 1, 1]) == [Run(first=0, last=2, frames=(1,)), Run(first=4, last=5, frames=(7,))]
    assert plan(made, []) == []
    # Runs that overlap become one.
    assert plan(table(_OPEN, [0, 4]), [5, 7]) == [Run(first=0, last=7, frames=(5, 7))]


def test_threads_take_the_longest_runs_first_and_equal_ones_in_order():
    short, long, equal = (Run(first=10 * i, last=10 * i + n, frames=(i,)) for i, n in enumerate((2, 9, 2)))
    assert longest_first([short, long, equal]) == [long, short, equal]


@pytest.mark.parametrize(
    ("ticks", "base", "expected"),
    [
        ([0], Fraction(1, 30), (1, 0.0, 0.0, False)),
        (list(range(0, 300, 10)), Fraction(1, 250), (30, 1.2, 25.0, False)),
        ([0, 33, 67, 100, 133, 167, 200], Fraction(1, 1000), (7, 7 / 30, 30.0, False)),
        ([0, 33, 67, 100, 133, 300, 333], Fraction(1, 1000), (7, 7 * 0.333 / 6, 6 / 0.333, True)),
        ([5, 5], Fraction(1, 30), (2, 0.0, 0.0, False)),
    ],
)
def test_counted_facts_follow_from_the_times(ticks, base, expected):
    counted = count(np.array(ticks), time_base=base)
    n_frames, duration_s, fps, is_variable = expected
    assert (counted.n_frames, counted.is_variable) == (n_frames, is_variable)
    assert counted.duration_s == pytest.approx(duration_s, rel=1e-12)
    assert counted.fps == pytest.approx(fps, rel=1e-12)
