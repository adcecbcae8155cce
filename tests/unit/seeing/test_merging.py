"""Joining fragments: eq. 2 by hand, and who is joined with whom."""

import numpy as np
import pytest

from subjects.tracks import track, walk
from vidence.seeing.merging import EndMotion, MergeSettings, merge_fragments
from vidence.seeing.same_person import TrackAppearance

USUAL = MergeSettings()
SIZE = (1000, 800)


def ids(tracks):
    return [one.track_id for one in tracks]


def test_the_cost_of_eq_2_by_hand():
    # Boxes 10x10, shifted by 5 to the right: shared 50, union 150, IoU 1/3; the centres are 5 apart.
    # Frames 0..3 and 6..: two frames without a box. 2 + 5 / (1/3) = 17.
    before = track("a", [(0, 0, 10, 10)] * 4)
    after = track("b", [(5, 0, 15, 10)] * 2, first=6)
    (joined,), (merge,) = merge_fragments([before, after], USUAL, size_px=SIZE)
    assert joined.frame_indices.tolist() == [0, 1, 2, 3, 6, 7]
    assert (merge.before, merge.after, merge.into) == ("a", "b", "a")
    assert (merge.gap_frames, merge.distance_px) == (2, 5.0)
    assert merge.iou == pytest.approx(1 / 3)
    assert merge.cost == pytest.approx(17.0)
    # 8x6 boxes shifted by (4, 3): shared 4*3 = 12, union 96 - 12 = 84, IoU 1/7; distance 5; gap 0.
    slanted = [track("a", [(0, 0, 8, 6)]), track("b", [(4, 3, 12, 9)], first=1)]
    _, (merge,) = merge_fragments(slanted, USUAL, size_px=SIZE)
    assert merge.cost == pytest.approx(35)


@pytest.mark.parametrize(
    "tracks",
    [
        [],
        [track("a", [(0, 0, 1, 1)])],
        [track("a", [(0, 0, 10, 10)]), track("b", [(10, 0, 20, 10)], first=1)],  # they only touch
        [track("a", [(0, 0, 9, 9)]), track("b", [(0, 0, 9, 9)], first=1, kind="dog")],
    ],
)
def test_what_is_not_joined(tracks):
    assert merge_fragments(tracks, USUAL, size_px=SIZE) == (tuple(tracks), ())


@pytest.mark.parametrize(("first", "is_joined"), [(9, False), (10, True), (40, True), (41, False)])
def test_only_the_next_thirty_missing_frames_count(first, is_joined):
    before, after = track("a", [(0, 0, 10, 10)] * 10), track("b", [(0, 0, 10, 10)] * 3, first=first)
    tracks, _ = merge_fragments([before, after], USUAL, size_px=SIZE)
    assert ids(tracks) == (["a"] if is_joined else ["a", "b"])


def test_the_cheaper_of_two_followers_is_taken_and_each_end_is_used_once():
    # After a: b costs 0 (same place, next frame), c costs 1 (same place, one frame missing). b and c overlap
    # in time, so c stays alone.
    a = track("a", [(0, 0, 10, 10)] * 3)
    b = track("b", [(0, 0, 10, 10)] * 3, first=3)
    c = track("c", [(0, 0, 10, 10)] * 3, first=4)
    tracks, merges = merge_fragments([c, b, a], USUAL, size_px=SIZE)
    assert ids(tracks) == ["c", "a"]
    assert [(m.before, m.after, m.cost) for m in merges] == [("a", "b", 0.0)]


def test_greedy_takes_the_cheapest_join_first_though_another_pairing_is_cheaper_in_total():
    # Boxes 10x10 on a line, a and c at 0, b at 2, d at -2. A shift by 2 has IoU 8/12 and costs 3, a shift by
    # 4 has IoU 6/14 and costs 28/3. Greedy: a-c and b-d, 9.33; a-d and b-c would cost 6.
    a, b = track("a", [(0, 0, 10, 10)]), track("b", [(2, 0, 12, 10)])
    c, d = track("c", [(0, 0, 10, 10)], first=1), track("d", [(-2, 0, 8, 10)], first=1)
    for one, other in ((a, d), (b, c)):
        assert [m.cost for m in merge_fragments([one, other], USUAL, size_px=SIZE)[1]] == pytest.approx([3.0])
    _, merges = merge_fragments([a, b, c, d], USUAL, size_px=SIZE)
    assert [(m.before, m.after) for m in merges] == [("a", "c"), ("b", "d")]
    assert [m.cost for m in merges] == pytest.approx([0.0, 28 / 3])


def test_a_chain_gets_the_first_name_and_all_boxes_in_order():
    parts = [walk(name, [(50 + i, 50)] * 2, first=4 * i) for i, name in enumerate("xyz")]
    tracks, merges = merge_fragments([parts[2], parts[0], parts[1]], USUAL, size_px=SIZE)
    assert ids(tracks) == ["x"]
    assert tracks[0].frame_indices.tolist() == [0, 1, 4, 5, 8, 9]
    assert np.array_equal(tracks[0].boxes_px, np.concatenate([p.boxes_px for p in parts]))
    assert {m.into for m in merges} == {"x"}


def test_limits_can_be_set():
    before, after = track("a", [(0, 0, 10, 10)] * 4), track("b", [(5, 0, 15, 10)] * 2, first=6)
    for settings, n in (
        (MergeSettings(most_cost=16.9), 2),
        (MergeSettings(most_cost=17.1), 1),
        (MergeSettings(over_iou=0.34), 2),
        (MergeSettings(over_iou=0.33), 1),
        (MergeSettings(most_gap_s=1 / 30), 2),
    ):
        assert len(merge_fragments([before, after], settings, size_px=SIZE)[0]) == n


def going(name, start, pace, *, first, n=10, size=(40, 100)):
    """Somebody who moves by `pace` pixels a frame, from a centre on."""
    return walk(
        name, [(start[0] + pace[0] * i, start[1] + pace[1] * i) for i in range(n)], first=first, size=size
    )


def joined(tracks, settings=None, **more):
    return len(merge_fragments(tracks, settings or MergeSettings(), size_px=SIZE, **more)[1])


class TestEdges:
    """1000 x 800 pixels: one walks out on the right, another walks in there half a second later."""

    OUT = going("a", (930, 400), (5, 0), first=0)  # the right side is at 995 in frame 9
    IN = going("b", (975, 400), (-5, 0), first=25)
    PLACE = MergeSettings()

    def test_who_walks_out_is_not_who_walks_in(self):
        assert joined([self.OUT, self.IN], self.PLACE) == 0
        assert joined([self.OUT, self.IN], MergeSettings(across_edges=True)) == 1

    def test_one_who_leaves_and_one_who_stands_there(self):
        stands = going("b", (975, 400), (0, 0), first=25)
        assert joined([self.OUT, stands], self.PLACE) == 0
        assert joined([stands, going("c", (975, 400), (-5, 0), first=40)], self.PLACE) == 0

    def test_who_stands_at_an_edge_or_walks_along_it_may_go_on(self):
        stands = [going(name, (980, 400), (0, 0), first=first) for name, first in (("a", 0), ("b", 20))]
        assert joined(stands) == 1
        along = going("a", (980, 300), (0, 4), first=0), going("b", (980, 352), (0, 4), first=13)
        assert joined(along) == 1

    def test_the_same_at_seven_frames_a_second(self):
        """In a frame they move 21 px: the last box is so far from the edge."""
        out, comes = going("a", (875, 400), (21, 0), first=0, n=5), going("b", (959, 400), (-21, 0), first=9)
        assert joined([out, comes], self.PLACE, fps=7.0) == 0


class TestLooks:
    """Two fragments at one place, the second right behind the first."""

    PIECES = (going("a", (500, 400), (5, 0), first=0), going("b", (550, 400), (5, 0), first=10))

    def looks(self, *angles, n=10):
        """Of the fragments; looks at an angle are 1 - cos of it apart."""
        return {
            name: TrackAppearance(
                frame_indices=np.arange(n) + first,
                vectors=np.tile(np.array([np.cos(angle), np.sin(angle)], np.float32), (n, 1)),
            )
            for name, angle, first in zip("ab", angles, (0, 10), strict=True)
        }

    @pytest.mark.parametrize(("angle", "n"), [(0.0, 1), (0.6, 1), (0.7, 0), (1.5, 0)])
    def test_place_is_not_enough_where_looks_are_known(self, angle, n):
        # 1 - cos 0.6 is 0.17, 1 - cos 0.7 is 0.24.
        assert joined(self.PIECES, looks=self.looks(0.0, angle)) == n
        assert joined(self.PIECES, MergeSettings(most_apart=2), looks=self.looks(0.0, angle)) == 1

    def test_four_boxes_say_nothing_of_looks(self):
        assert joined(self.PIECES, looks=self.looks(0.0, 1.5, n=4)) == 1
        assert joined(self.PIECES, looks={"a": self.looks(0.0, 1.5)["a"]}) == 1

    def test_who_looks_unlike_leaves_the_place_to_the_next(self):
        """b would be the cheaper one; the third looks like a."""
        third = going("c", (552, 400), (5, 0), first=10)
        looks = self.looks(0.0, 1.5)
        looks["c"] = looks["a"]
        _, (merge,) = merge_fragments([*self.PIECES, third], MergeSettings(), size_px=SIZE, looks=looks)
        assert (merge.before, merge.after) == ("a", "c")


def test_the_motion_at_both_ends_by_hand():
    # 10 frames a second: 6 frames are 0.6 s. The first half walks right with 50 px/s, the second stands.
    who = walk("a", [*((100 + 5 * i, 400) for i in range(10)), *[(150, 400)] * 10])
    start, end = (EndMotion.of(who, at=at, fps=10.0) for at in (0, -1))
    assert start.ahead_px_per_s.tolist() == pytest.approx([-50, 0])
    assert end.ahead_px_per_s.tolist() == pytest.approx([0, 0])
    assert start.height_px == 200
    two = walk("a", [(100, 400), (110, 400)])  # say nothing of motion
    assert not EndMotion.of(two, at=-1, fps=10.0).ahead_px_per_s.any()


def test_a_shaking_box_keeps_its_way():
    rng = np.random.default_rng(0)
    who = walk("a", [(100 + 5 * i + rng.normal(0, 1), 400) for i in range(30)])
    assert EndMotion.of(who, at=-1, fps=10.0).ahead_px_per_s[0] == pytest.approx(50, abs=10)


def test_when_edges_are_touched_and_nothing_is_left():
    # The box ends at 840 to 940 of 1000, moving right with 30 and down with 20 px/s; its feet are at 700.
    boxes = [(810 + 3 * i, 480 + 2 * i, 910 + 3 * i, 680 + 2 * i) for i in range(11)]
    end = EndMotion.of(track("a", boxes), at=-1, fps=10.0)
    assert end.touches_in_s(size_px=SIZE) == pytest.approx({"right": 60 / 30, "bottom": 100 / 20})
    assert end.is_out_in_s(size_px=SIZE) == pytest.approx({"right": 160 / 30, "bottom": 300 / 20})
    start = EndMotion.of(track("a", boxes), at=0, fps=10.0)
    assert set(start.touches_in_s(size_px=SIZE)) == {"left", "top"}


def test_who_is_slower_than_a_twentieth_of_the_height_in_a_second_stands():
    for pace, edges in ((0.9, set()), (1.1, {"right"})):
        who = walk("a", [(100 + pace * i, 400) for i in range(11)])
        assert set(EndMotion.of(who, at=-1, fps=10.0).is_out_in_s(size_px=SIZE)) == edges
