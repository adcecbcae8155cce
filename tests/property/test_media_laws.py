"""Laws of sizes, turns, frame tables and plans."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vidence.media.encode import Encoding, Size, decode_image, encode
from vidence.media.pixels import Orientation
from vidence.media.probe import FrameTable, longest_first, plan

_SIDES = st.integers(1, 8000)
_TURNS = st.builds(
    Orientation, is_transposed=st.booleans(), is_mirrored_x=st.booleans(), is_mirrored_y=st.booleans()
)


@given(st.sampled_from(["short", "long"]), st.integers(1, 4000), _SIDES, _SIDES)
def test_a_size_limits_keeps_the_aspect_and_is_stable(kind, pixels, width, height):
    size = Size.parse(f"{kind}:{pixels}")
    fitted = size.fit(width, height)
    limited = min if kind == "short" else max
    assert limited(fitted) == min(pixels, limited(width, height))
    assert 1 <= fitted[0] <= width
    assert 1 <= fitted[1] <= height
    share = min(1, pixels / limited(width, height))
    assert abs(fitted[0] - width * share) <= 1
    assert abs(fitted[1] - height * share) <= 1
    assert size.fit(*fitted) == fitted
    assert size.fit(height, width) == fitted[::-1]


@given(_TURNS, st.integers(1, 5), st.integers(1, 5))
def test_a_turn_moves_pixels_and_loses_none(turn: Orientation, width: int, height: int) -> None:
    image = np.arange(width * height * 3, dtype=np.uint8).reshape(height, width, 3)
    turned = turn.apply(image)
    assert turned.shape[1::-1] == turn.size(width, height)
    assert sorted(turned.ravel()) == sorted(image.ravel())
    if not turn.is_mirrored_x and not turn.is_mirrored_y:
        np.testing.assert_array_equal(turn.apply(turned), image)


@st.composite
def tables(draw: st.DrawFn) -> FrameTable:
    """Groups of pictures, each reordered inside, some with leading pictures before their keyframe."""
    pts: list[int] = []
    is_key: list[bool] = []
    start = 0
    for number in range(draw(st.integers(1, 5))):
        n_leading = draw(st.integers(0, 3)) if number else 0
        n_trailing = draw(st.integers(0, 6))
        leading = draw(st.permutations(range(start, start + n_leading)))
        key = start + n_leading
        trailing = draw(st.permutations(range(key + 1, key + 1 + n_trailing)))
        pts += [key, *leading, *trailing]
        is_key += [True] + [False] * (n_leading + n_trailing)
        start = key + 1 + n_trailing
    table = FrameTable.of_packets(
        np.array(pts), is_key=np.array(is_key), is_shown=np.ones(len(pts), np.bool_)
    )
    assert table is not None
    return table


@given(tables(), st.data())
def test_a_plan_covers_every_frame_from_a_keyframe_on(table: FrameTable, data: st.DataObject) -> None:
    wanted = data.draw(st.lists(st.integers(0, table.n_frames - 1)))
    runs = plan(table, wanted)
    assert sorted(index for run in runs for index in run.frames) == sorted(set(wanted))
    for before, after in itertools.pairwise(runs):
        assert before.last < after.first
    for run in runs:
        assert table.is_key[run.first]
        assert run.last == max(table.packet_of_frame[list(run.frames)])
        for index in run.frames:
            assert run.first <= table.start_of(index) <= table.packet_of_frame[index] <= run.last


@given(tables())
def test_sharing_out_keeps_every_run(table: FrameTable) -> None:
    runs = plan(table, list(range(table.n_frames)))
    shared = longest_first(runs)
    assert sorted(shared, key=lambda run: run.first) == runs
    assert all(before.cost >= after.cost for before, after in itertools.pairwise(shared))


@given(tables())
def test_frames_are_shown_in_the_order_of_time(table: FrameTable) -> None:
    assert table.frame_pts.tolist() == list(range(table.n_frames))
    for index in range(table.n_frames):
        assert table.depends_on(index, int(table.packet_of_frame[index]))


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 1000))
def test_png_loses_nothing(width: int, height: int, seed: int) -> None:
    image = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    frame = encode(image, Encoding(size=Size(), format="png"))
    np.testing.assert_array_equal(decode_image(frame.data), image)
