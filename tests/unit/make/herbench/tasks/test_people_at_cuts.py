"""People at cuts, at the lower edge, and people whom refining left out: what is not said of them."""

from dataclasses import replace

import numpy as np
import pytest

from subjects.tracks import is_inside, shots, track, video, walk, ways
from vidence.catalog import Spec, create
from vidence.errors import DataError
from vidence.make.herbench.tracking import Tracks
from vidence.make.pipeline.cache import Stage
from vidence.make.pipeline.material import Corpus, Draft, Material, VideoSource
from vidence.seeing.cleaning import FilterSettings
from vidence.seeing.refine import RefineSettings, refine
from vidence.seeing.tracks import Span, Track, TrackedVideo

SOURCE = VideoSource(
    video_id="v", path="v.mp4", n_frames=400, fps=10.0, duration_s=40.0, width_px=1000, height_px=800
)


def across(name: str, *, first: int, last: int, start: float = 20, end: float = 980) -> Track:
    """Somebody who walks along a line in the middle of the frame, 40 pixels wide."""
    xs = np.linspace(start, end, last - first + 1)
    return walk(name, [(x, 400) for x in xs], first=first)


def rlpc(what: Material, **options: str) -> list[Draft]:
    flow = create("task", Spec(name="rlpc", options=options)).draft(
        what, Corpus(), most=40, rng=np.random.default_rng(0)
    )
    with pytest.raises(StopIteration) as stopped:
        next(flow)
    return [one for one in stopped.value.value if isinstance(one, Draft)]


def entered_left(drafts: list[Draft]) -> Draft:
    (found,) = [d for d in drafts if d.structure == "entered" and "left edge" in d.question]
    return found


def span(tracked: TrackedVideo, frame: int) -> tuple[int, int]:
    shot = tracked.shot_of(frame)
    return shot.first_frame, shot.last_frame


class TestCuts:
    def test_a_frame_knows_its_shot(self):
        tracked = replace(video([]), shots=shots(100, 250))
        assert [span(tracked, f) for f in (0, 99, 100, 249, 250, 399)] == [
            (0, 99),
            (0, 99),
            (100, 249),
            (100, 249),
            (250, 399),
            (250, 399),
        ]
        assert span(video([]), 7) == (0, 399)

    @pytest.mark.parametrize(("first", "enters"), [(100, "unclear"), (103, "unclear"), (105, "left")])
    def test_who_is_there_when_a_shot_begins_came_through_no_edge(self, first, enters):
        who = across("a", first=first, last=180)
        assert ways(who, video([who]), unclear_s=0.5)[0] == "left"
        cut = replace(video([who]), shots=shots(100))
        assert ways(who, cut, unclear_s=0.5) == (enters, "right")
        assert is_inside(who, cut, at=0, reach=0.05, unclear_s=0.5) is (enters == "unclear")

    @pytest.mark.parametrize(("last", "leaves"), [(249, "unclear"), (246, "unclear"), (244, "right")])
    def test_who_is_there_when_a_shot_ends_went_through_no_edge(self, last, leaves):
        who = across("a", first=150, last=last)
        cut = replace(video([who]), shots=shots(100, 250))
        assert ways(who, cut, unclear_s=0.5) == ("left", leaves)
        assert is_inside(who, cut, at=-1, reach=0.05, unclear_s=0.5) is (leaves == "unclear")

    def test_only_the_beginning_of_the_video_is_the_start(self):
        who = across("a", first=0, last=99)
        cut = replace(video([who]), shots=shots(100))
        assert ways(who, cut, unclear_s=0.5) == ("stayed", "unclear")

    def test_people_at_a_cut_do_not_come_through_an_edge(self):
        walkers = [across(f"w{i}", first=20 + 60 * i, last=70 + 60 * i) for i in range(6)]
        plain = rlpc(Material(source=SOURCE, tracked=video(walkers)))
        assert entered_left(plain).facts["tracks"] == "w0, w1, w2, w3, w4, w5"
        tracked = replace(video(walkers), shots=shots(140))  # w2 begins with it
        cut = rlpc(Material(source=SOURCE, tracked=tracked))
        assert entered_left(cut).facts["tracks"] == "w0, w1, w3, w4, w5"


# Black until frame 9, then a shot; black from 101 to 120; a dissolve from 250 to 269; black from 380 on.
BLACK = (
    Span(first_frame=10, last_frame=100),
    Span(first_frame=121, last_frame=250),
    Span(first_frame=251, n_mixed=19, last_frame=379),
)


class TestBlackAndMixedFrames:
    def test_a_black_frame_counts_to_the_shot_before_it(self):
        tracked = replace(video([]), shots=BLACK)
        assert tracked.cuts == (121, 251)
        assert [BLACK.index(tracked.shot_of(f)) for f in (0, 10, 100, 101, 120, 121, 251, 399)] == [
            *(0, 0, 0, 0, 0),
            *(1, 2, 2),
        ]

    @pytest.mark.parametrize(
        ("first", "last", "expected"),
        [
            (20, 80, ("left", "right")),
            (20, 100, ("left", "unclear")),  # there until the picture goes black
            (20, 96, ("left", "unclear")),
            (10, 80, ("unclear", "right")),  # there when the first picture comes
            (130, 250, ("left", "unclear")),  # there when the dissolve begins
            (251, 262, ("unclear", "unclear")),  # shows through the next shot
            (262, 330, ("unclear", "right")),  # seen before the dissolve is over
            (274, 330, ("unclear", "right")),
            (275, 330, ("left", "right")),
            (280, 379, ("left", "unclear")),
            (104, 116, ("unclear", "unclear")),  # a false box in black
            (385, 395, ("unclear", "unclear")),
        ],
    )
    def test_who_is_there_when_a_picture_goes_or_comes_passed_no_edge(self, first, last, expected):
        who = across("a", first=first, last=last)
        tracked = replace(video([who]), shots=BLACK)
        assert ways(who, tracked, unclear_s=0.5) == expected
        at_cut = tuple(is_inside(who, tracked, at=at, reach=0.05, unclear_s=0.5) for at in (0, -1))
        assert at_cut == tuple(way == "unclear" for way in expected)

    def test_a_picture_that_comes_up_at_the_beginning_of_the_video_is_its_start(self):
        whole = (Span(first_frame=0, n_mixed=20, last_frame=399),)
        who = across("a", first=12, last=399)
        assert ways(who, replace(video([who]), shots=whole), unclear_s=0.5) == ("stayed", "stayed")

    def test_they_are_not_counted(self):
        walkers = [across(f"w{i}", first=15 + 9 * i, last=55 + 9 * i) for i in range(6)]
        ghost = across("ghost", first=251, last=262)
        tracked = replace(video([*walkers, ghost]), shots=BLACK)  # w5 is there until frame 100
        drafts = rlpc(Material(source=SOURCE, tracked=tracked))
        left = [d for d in drafts if d.structure == "left" and "right edge" in d.question]
        assert [(d.facts["tracks"], d.facts["unclear"]) for d in left] == [("w0, w1, w2, w3, w4", "0")]
        assert entered_left(drafts).facts["tracks"] == "w0, w1, w2, w3, w4, w5"

    def test_a_track_may_run_into_black_and_not_across_a_cut(self):
        refined = refine(replace(video([across("a", first=60, last=110)]), shots=BLACK))
        assert len(refined.video.tracks) + len(refined.video.others) == 1
        with pytest.raises(DataError, match="across the cut at frame 121"):
            refine(replace(video([across("a", first=60, last=121)]), shots=BLACK))


def test_at_a_cut_nobody_stayed_even_where_nothing_is_unclear():
    who = across("a", first=100, last=180)
    tracked = replace(video([who]), shots=shots(100, 181))
    assert ways(who, tracked, unclear_s=0) == ("unclear", "unclear")
    assert ways(who, video([who]), unclear_s=0) == ("left", "right")


def test_a_shot_of_one_frame_ends_with_a_cut():
    """A track needs no more than a box: it ends with the first frame, and not with the video."""
    who = across("a", first=0, last=0)
    tracked = replace(video([who]), shots=shots(1))
    assert is_inside(who, tracked, at=-1, reach=1.0, unclear_s=0.5)
    late = across("b", first=399, last=399, start=20)
    assert is_inside(late, replace(video([late]), shots=shots(399)), at=0, reach=1.0, unclear_s=0.5)


@pytest.mark.parametrize(("tall", "inside"), [(200, True), (100, False)])
def test_who_touches_the_lower_edge_with_the_feet_is_still_inside(tall, inside):
    """Of 800 pixels the lower band are the last 120, and near are the last 40."""
    boxes = [(300, 570 + 10 * i - tall, 340, 570 + 10 * i) for i in range(21)]
    who = track("a", boxes, first=10)
    assert is_inside(who, video([who]), at=-1, reach=0.05, unclear_s=0.5) is inside


class TestOthers:
    WALKERS = tuple(across(f"w{i}", first=20 + 60 * i, last=70 + 60 * i) for i in range(5))

    def test_refining_keeps_people_whom_it_leaves_out(self):
        quick = across("quick", first=30, last=45)
        dog = track("dog", [(400, 400, 440, 500)] * 60, first=5, kind="dog")
        kept = FilterSettings(least_s=2.0, least_area_px=100.0, least_in_middle_s=0)
        settings = RefineSettings(steps=("filter",), filter=kept)
        refined = refine(video([*self.WALKERS, quick, dog]), settings).video
        assert {t.track_id for t in refined.tracks} == {"w0", "w1", "w2", "w3", "w4"}
        assert [t.track_id for t in refined.others] == ["quick"]

    def test_somebody_who_is_hardly_seen_makes_a_count_unclear(self):
        flicker = across("flicker", first=30, last=33)
        tracked = replace(video(self.WALKERS), others=(flicker,))
        draft = entered_left(rlpc(Material(source=SOURCE, tracked=tracked)))
        assert (draft.facts["counted"], draft.facts["unclear"]) == ("5", "1")
        low, high = (int(word) for word in draft.choices[draft.answer_index].split(" to "))
        assert low <= 5
        assert high >= 6

    def test_somebody_who_passes_quickly_counts(self):
        quick = across("quick", first=30, last=45)
        tracked = replace(video(self.WALKERS), others=(quick,))
        draft = entered_left(rlpc(Material(source=SOURCE, tracked=tracked)))
        assert (draft.facts["counted"], draft.facts["unclear"]) == ("6", "0")
        draft = entered_left(rlpc(Material(source=SOURCE, tracked=tracked), others_s="2"))
        assert draft.facts["unclear"] == "1"


def test_tracks_are_kept_with_cuts_and_others():
    quick = across("quick", first=30, last=45)
    tracked = replace(video(TestOthers.WALKERS), others=(quick,), shots=shots(99, 200))
    value = Tracks(video=tracked, chosen=("w1",), raw_ids=("w1", "x"))
    tracks = Stage(name="tracks", kind=Tracks)
    again = tracks.decode(tracks.encode(value)).video
    assert [t.track_id for t in again.tracks] == ["w0", "w1", "w2", "w3", "w4"]
    assert again.cuts == (99, 200)
    black = replace(value, video=replace(tracked, shots=BLACK))
    assert tracks.decode(tracks.encode(black)).video.shots == BLACK
    (other,) = again.others
    assert other.track_id == "quick"
    assert np.array_equal(other.boxes_px, quick.boxes_px)
