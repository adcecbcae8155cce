"""Who can be asked about, and what is asked: hand-made people in hand-made places."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from subjects.tracks import DETECTED, track, video, walk, ways
from vidence.catalog import Spec, create
from vidence.errors import DataError, UsageError
from vidence.make.herbench.tasks.paths import SHAPES, moves, region_of, shape_of
from vidence.make.herbench.tasks.rlpc import moments_of_tracks
from vidence.make.pipeline.material import Card, Corpus, Draft, Dropped, Material, PersonCount, VideoSource
from vidence.seeing.tracks import Track, TrackBasis, TrackedVideo

SOURCE = VideoSource(
    video_id="v", path="v.mp4", n_frames=400, fps=10.0, duration_s=40.0, width_px=1000, height_px=800
)
TEXTS = {
    "a": "A red coat and a walking stick.",
    "b": "Green overalls; pushes a pram.",
    "c": "Yellow raincoat, bald head.",
}


def straight(
    name: str, *, first: int, last: int, start: tuple[float, float], end: tuple[float, float]
) -> Track:
    """Somebody who goes from one point to another, in pixels."""
    n = last - first + 1
    xs, ys = np.linspace(start[0], end[0], n), np.linspace(start[1], end[1], n)
    return walk(name, list(zip(xs, ys, strict=True)), first=first)


def material(tracks: Sequence[Track], texts: dict[str, str] | None = None, **more: object) -> Material:
    texts = TEXTS if texts is None else texts
    cards = tuple(Card(track_id=name, kind="A", text=text) for name, text in texts.items())
    made = Material(
        source=SOURCE, tracked=video(tracks), chosen=tuple(t.track_id for t in tracks), a_cards=cards
    )
    return replace(made, **more)


def n_in_the_left_half(some: Material) -> int:
    """How many people tracks clearly show there, beside what persons count."""
    count = PersonCount(place="visited:left-half", n=5, n_low=5, n_high=5)
    moments = moments_of_tracks(count, some.tracked)
    assert moments is not None
    return len(moments)


def made(
    name: str, what: Material, *, most: int = 20, corpus: Corpus | None = None, **options: str
) -> list[Draft | Dropped]:
    flow = create("task", Spec(name=name, options=options)).draft(
        what, corpus or Corpus(), most=most, rng=np.random.default_rng(0)
    )
    with pytest.raises(StopIteration) as stopped:
        next(flow)
    return list(stopped.value.value)


def right(draft: Draft) -> str:
    return draft.choices[draft.answer_index]


def drafts(found: list[Draft | Dropped], structure: str = "") -> list[Draft]:
    return [d for d in found if isinstance(d, Draft) and structure in ("", d.structure)]


def reasons(found: list[Draft | Dropped]) -> set[str]:
    return {d.reason for d in found if isinstance(d, Dropped)}


ACROSS = straight("a", first=50, last=150, start=(60, 480), end=(930, 480))
DOWN = straight("b", first=0, last=200, start=(500, 400), end=(500, 750))
LATE = straight("c", first=250, last=399, start=(500, 100), end=(400, 400))


class TestWays:
    def test_edges_and_the_ends_of_the_video(self) -> None:
        tracked = video([ACROSS, DOWN, LATE])
        assert ways(ACROSS, tracked, unclear_s=0.5) == ("left", "right")
        assert ways(DOWN, tracked, unclear_s=0.5) == ("stayed", "bottom")
        assert ways(LATE, tracked, unclear_s=0.5) == ("top", "stayed")

    def test_corners_and_the_inside_are_unclear(self) -> None:
        corner = straight("d", first=20, last=60, start=(60, 60), end=(500, 500))
        assert ways(corner, video([corner]), unclear_s=0.5) == ("unclear", "unclear")

    def test_a_band_far_from_its_edge_is_unclear(self) -> None:
        """The band at the top is three tenths of the frame: who is first seen there need not come from it."""
        far = straight("d", first=20, last=60, start=(500, 235), end=(500, 100))  # y = 0.29, box from 0.17
        assert ways(far, video([far]), unclear_s=0.5) == ("unclear", "top")
        down = straight("d", first=20, last=60, start=(500, 235), end=(500, 400))
        assert ways(down, video([down]), unclear_s=0.5) == ("unclear", "unclear")
        assert ways(down, video([down]), unclear_s=0.5, reach=1.0) == ("top", "unclear")
        assert ways(far, video([far]), unclear_s=0.5, reach=1.0) == ("unclear", "top"), "it came from below"

    def test_who_is_lost_near_a_corner_has_passed_no_edge(self) -> None:
        """The feet are at the lower edge, the way leads to the right one: behind somebody the track ends."""
        whole = straight("d", first=20, last=120, start=(300, 700), end=(1040, 700))
        assert ways(whole, video([whole]), unclear_s=0.5)[1] == "unclear"  # in two bands
        early = whole.part(whole.frame_indices <= 85)  # the centre is at 781 of 1000, the feet at 800 of 800
        assert ways(early, video([early]), unclear_s=0.5) == ("unclear", "unclear")
        late = straight("d", first=20, last=120, start=(1040, 700), end=(300, 700)).part(slice(35, None))
        assert ways(late, video([late]), unclear_s=0.5) == ("unclear", "unclear")

    @pytest.mark.parametrize(
        ("end", "way"),
        [((620, 720), "bottom"), ((840, 720), "unclear"), ((600, 700), "bottom"), ((720, 720), "bottom")],
    )
    def test_a_slanting_way_must_lead_out_of_one_edge_twice_as_soon(
        self, end: tuple[float, float], way: str
    ) -> None:
        # In 4 s from (600, 520). Nothing is left to see below after (800 - 620) / 50 = 3.6 s; on the right
        # from (720, 720) after (1000 - 670) / 30 = 11 s, from (840, 720) after (1000 - 790) / 60 = 3.5 s.
        who = straight("d", first=20, last=60, start=(600, 520), end=end)
        assert ways(who, video([who]), unclear_s=0.5)[1] == way

    def test_who_stands_at_an_edge_goes_nowhere(self) -> None:
        who = straight("d", first=20, last=60, start=(40, 480), end=(40, 480))
        assert ways(who, video([who]), unclear_s=0.5) == ("unclear", "unclear")

    def test_just_after_the_start_is_unclear(self) -> None:
        early = straight("d", first=3, last=60, start=(60, 480), end=(930, 480))
        assert ways(early, video([early]), unclear_s=0.5) == ("unclear", "right")
        assert ways(early, video([early]), unclear_s=0.3) == ("left", "right")


class TestMpdr:
    def test_nobody_who_was_there_from_the_start_comes_first(self) -> None:
        found = made("mpdr", material([ACROSS, DOWN, LATE]))
        assert not drafts(found, "first-in")
        assert not drafts(found, "last-out")  # c stays until the end
        assert "no-such-moment" in reasons(found)

    def test_times_near_the_edge_of_the_band_are_not_compared(self) -> None:
        near = straight("b", first=100, last=229, start=(60, 400), end=(500, 750))  # 12.9 s against 14.9 s
        short = straight("a", first=240, last=400 - 1, start=(60, 480), end=(900, 480))  # 15.9 s
        found = made("mpdr", material([short, near, LATE]))
        assert not drafts(found, "longest")
        assert "times-too-close" in reasons(found)

    def test_a_track_that_ends_inside_the_frame_says_nothing_of_how_long_somebody_stays(self) -> None:
        lost = straight("a", first=20, last=120, start=(60, 480), end=(500, 480))
        found = made("mpdr", material([lost, DOWN, LATE]))
        assert not drafts(found, "longest")
        assert any(d.detail == "track a ends inside the frame" for d in found if isinstance(d, Dropped))

    def test_a_margin_above_the_band_is_refused(self) -> None:
        with pytest.raises(UsageError, match="margin_s=4 is above tie_s=3"):
            create("task", Spec(name="mpdr", options={"margin_s": "4"}))


class TestAglt:
    def test_edges_regions_and_shape(self) -> None:
        found = made("aglt", material([ACROSS], {"a": TEXTS["a"]}))
        said = {draft.structure: right(draft) for draft in drafts(found)}
        assert said == {
            "enters": "Through the left edge",
            "leaves": "Through the right edge",
            "passage": "In through the left edge, out through the right edge",
            "starts": "In the bottom left part of the frame",
            "ends": "In the bottom right part of the frame",
            "route": "First in the bottom left part, last in the bottom right part",
            "shape": "The person goes to the right and does not turn back",
        }
        # one end tells where somebody comes from or goes to, two the way between, three how it runs
        assert {draft.structure: draft.k for draft in drafts(found)} == {
            **dict.fromkeys(("enters", "leaves", "starts", "ends"), 1),
            **{"passage": 2, "route": 2, "shape": 3},
        }
        assert {len(draft.evidence) for draft in drafts(found)} == {3}

    def test_a_track_that_ends_inside_the_frame(self) -> None:
        lost = straight("a", first=20, last=120, start=(60, 480), end=(600, 600))
        found = made("aglt", material([lost], {"a": TEXTS["a"]}))
        assert {draft.structure for draft in drafts(found)} == {"enters", "starts"}
        assert reasons(found) == {"ends-inside"}

    def test_evidence_is_the_first_fifth_the_middle_and_the_last_fifth(self) -> None:
        (draft,) = drafts(made("aglt", material([ACROSS], {"a": TEXTS["a"]})), "enters")
        spans = [(e.start_s, e.end_s) for e in draft.evidence]
        assert spans == [(5.0, 7.0), (7.0, 13.1), (13.1, 15.1)]
        assert draft.evidence[0].frames[0] == 50
        assert 150 not in draft.evidence[2].frames

    def test_frames_are_those_that_the_writer_saw(self) -> None:
        card = Card(track_id="a", kind="A", text=TEXTS["a"], frames=(55, 60, 140))
        what = material([ACROSS], {}, a_cards=(card,))
        (draft,) = drafts(made("aglt", what), "route")
        assert [e.frames for e in draft.evidence] == [(50, 55, 60), (85, 100, 115), (150, 140)]


class TestMegl:
    def test_a_stranger_who_looks_like_somebody_here_is_not_used(self) -> None:
        elsewhere = Corpus(a_cards={"w": (Card(track_id="z", kind="A", text="Red coat, walking stick."),)})
        found = made("megl", material([ACROSS, DOWN, LATE]), corpus=elsewhere)
        assert "no-descriptions-of-others" in reasons(found)

    def test_two_options_are_of_both_people_whatever_is_right(self) -> None:
        found = made("megl", material([ACROSS, DOWN, LATE]))
        both = [[text.startswith("Both") for text in draft.choices] for draft in drafts(found, "exits")]
        assert both
        assert all(sum(options) == 2 for options in both)


class TestRlpc:
    def test_counts_and_evidence(self) -> None:
        walkers = [
            straight(f"w{i}", first=10 + 40 * i, last=70 + 40 * i, start=(60, 480), end=(940, 480))
            for i in range(6)
        ]
        found = made("rlpc", material(walkers, {}, a_cards=()))
        (draft,) = drafts(found, "crossed")
        low, high = (int(word) for word in right(draft).split(" to "))
        assert low <= 6 <= high
        rank = str(sum(int(one.split(" to ")[-1]) < low for one in draft.choices))
        assert draft.facts == {
            "counted": "6",
            "unclear": "0",
            "smaller ranges": rank,
            "tracks": "w0, w1, w2, w3, w4, w5",
        }
        assert [e.frames for e in draft.evidence] == [(70 + 40 * i,) for i in range(6)]
        assert "too-few-counted" in reasons(found)

    def test_many_in_a_corner_are_not_counted_either_way(self) -> None:
        walkers = [
            straight(
                f"w{i}", first=10 + 30 * i, last=70 + 30 * i, start=(60, 60 if i % 3 else 480), end=(500, 480)
            )
            for i in range(11)
        ]
        assert "count-not-clear" in reasons(made("rlpc", material(walkers, {}, a_cards=())))

    def test_tracks_in_pieces_may_be_one_person(self) -> None:
        """Five walkers, and three pieces that begin where they ended: five are clear."""
        assert n_in_the_left_half(self.pieces(DETECTED)) == 5

    def test_pieces_that_people_gave_are_people(self) -> None:
        halves = [
            d
            for d in drafts(made("rlpc", self.pieces(TrackBasis(kind="given"))), "visited")
            if "left half" in d.question
        ]
        assert [(d.facts["counted"], d.facts["unclear"]) for d in halves] == [("8", "0")]

    def test_whom_people_gave_one_track_and_who_comes_back_may_count_again(self) -> None:
        """Six walk from left to right; one of them is away for three seconds and comes in again."""
        walkers = [
            straight(f"w{i}", first=10 + 40 * i, last=70 + 40 * i, start=(60, 480), end=(930, 480))
            for i in range(5)
        ]
        first = straight("b", first=220, last=280, start=(60, 480), end=(930, 480))
        again = straight("b", first=310, last=370, start=(60, 480), end=(930, 480))
        found = made("rlpc", material([*walkers, first.joined([again])], {}, a_cards=()))
        for structure in ("entered", "left"):
            said = [d for d in drafts(found, structure) if " edge of the frame" in d.question]
            assert [(d.facts["counted"], d.facts["unclear"]) for d in said] == [("6", "1")]

    def test_who_was_left_out_inside_somebody_elses_box_may_be_nobody(self) -> None:
        """Six walk; left out are a box in one of theirs, which is unclear, and somebody far from all."""
        walkers = [
            straight(f"w{i}", first=10 + 40 * i, last=90 + 40 * i, start=(60, 480), end=(930, 480))
            for i in range(6)
        ]
        inside = replace(
            walkers[0], track_id="twice", boxes_px=walkers[0].boxes_px + np.array([2, 2, -2, -60])
        )
        apart = straight("apart", first=300, last=380, start=(60, 300), end=(930, 300))
        counted = {}
        for kind in ("reviewed", "given"):
            tracked = replace(video(walkers, basis=TrackBasis(kind=kind)), others=(inside, apart))
            found = made("rlpc", material(walkers, {}, a_cards=(), tracked=tracked))
            (half,) = [d for d in drafts(found, "visited") if "left half" in d.question]
            counted[kind] = (half.facts["counted"], half.facts["unclear"])
        assert counted == {"reviewed": ("7", "1"), "given": ("8", "0")}

    def test_who_appears_before_anybody_vanished_is_nobodys_rest(self) -> None:
        """The pieces begin while all walkers are in view, so that they are others."""
        assert n_in_the_left_half(self.pieces(DETECTED, first=20)) == 8

    def test_who_vanished_too_far_away_is_somebody_else(self) -> None:
        """0.4 s after one vanished, 700 pixels away: three and a half heights, where 2.2 can be gone."""
        gone = [
            straight(f"w{i}", first=10 + 20 * i, last=70 + 20 * i, start=(60, 480), end=(930, 480))
            for i in range(5)
        ]
        gone.append(straight("vanished", first=110, last=150, start=(60, 480), end=(850, 480)))
        late = straight("late", first=154, last=200, start=(150, 480), end=(300, 480))
        tracked = video([*gone, late], basis=DETECTED)
        assert n_in_the_left_half(material([*gone, late], {}, a_cards=(), tracked=tracked)) == 7

    @staticmethod
    def pieces(basis: TrackBasis, *, first: int = 230) -> Material:
        walkers = [
            straight(f"w{i}", first=10 + 40 * i, last=70 + 40 * i, start=(60, 480), end=(600, 480))
            for i in range(5)
        ]
        pieces = [
            straight(
                f"p{i}", first=first + 40 * i, last=first + 30 + 40 * i, start=(600, 480), end=(400, 480)
            )
            for i in range(3)
        ]
        if first < 70:
            pieces = [
                straight(f"p{i}", first=first + i, last=first + 30, start=(600, 480), end=(400, 480))
                for i in range(3)
            ]
        people = [*walkers, *pieces]
        return material(people, {}, a_cards=(), tracked=video(people, basis=basis))

    def test_the_papers_count_takes_every_track_by_its_band(self) -> None:
        """Ten begin in the corner of two bands, or far from the edge but in its band: all of them count."""
        walkers = [
            straight(
                f"w{i}",
                first=10 + 30 * i,
                last=70 + 30 * i,
                start=(140, 60 if i % 2 else 480),
                end=(500, 480),
            )
            for i in range(10)
        ]
        tracked = video(walkers, basis=TrackBasis(detector="hog"))
        found = made("rlpc", material(walkers, {}, a_cards=(), tracked=tracked), count="paper")
        assert "detected-tracks-alone" not in reasons(found)
        (draft,) = [one for one in drafts(found, "entered") if "the left edge" in one.question]
        assert (draft.facts["counted"], draft.facts["unclear"]) == ("10", "0")
        assert draft.facts["counted as"] == draft.tags["counted"] == "as the paper does"
        assert draft.doubt == "paper-count"

    def test_tracks_of_a_detector_alone_count_nobody(self) -> None:
        found = made("rlpc", self.pieces(TrackBasis(detector="hog")))
        assert not drafts(found)
        assert reasons(found) == {"detected-tracks-alone"}

    def test_the_guard_around_half_of_a_box_is_an_option(self) -> None:
        """Five whose box is in the left half by 55 %."""
        stand = [walk(f"s{i}", [(495, 480)] * 30, first=10 + 40 * i) for i in range(6)]
        what = material(stand, {}, a_cards=())
        assert not [d for d in drafts(made("rlpc", what), "visited") if "left half" in d.question]
        (draft,) = [
            d for d in drafts(made("rlpc", what, guard="0.02"), "visited") if "left half" in d.question
        ]
        assert draft.facts["counted"] == "6"


class TestWhoIsUsed:
    @pytest.mark.parametrize(
        ("texts", "reason"),
        [
            ({"b": TEXTS["b"], "c": TEXTS["c"]}, "no-a-card"),
            ({**TEXTS, "a": " . "}, "empty-card"),
            ({**TEXTS, "a": "Wears green overalls and pushes a pram!"}, "not-told-apart"),
        ],
    )
    def test_cards_that_cannot_be_used(self, texts: dict[str, str], reason: str) -> None:
        found = made("aglt", material([ACROSS, DOWN, LATE], texts))
        assert reason in reasons(found)
        assert all("tracks a" not in draft.facts["person"] for draft in drafts(found))

    def test_cards_that_differ_by_a_colour_or_a_number_are_told_apart(self) -> None:
        worn = "A runner in a {} shirt with the number {} on it runs past a bench."
        texts = {"a": worn.format("red", 12), "b": worn.format("blue", 12), "c": worn.format("red", 7)}
        assert "not-told-apart" not in reasons(made("aglt", material([ACROSS, DOWN, LATE], texts)))
        texts["b"] = texts["a"].replace("past", "along")
        assert "not-told-apart" in reasons(made("aglt", material([ACROSS, DOWN, LATE], texts)))

    def test_a_track_that_is_chosen_but_absent(self) -> None:
        assert "no-such-track" in reasons(made("aglt", material([ACROSS], chosen=("a", "ghost"))))

    def test_a_track_with_many_gaps(self) -> None:
        gappy = track("a", [(0, 380, 120, 580)] * 3, frames=[50, 100, 150])
        assert reasons(made("aglt", material([gappy], {"a": TEXTS["a"]}))) == {"track-with-gaps"}

    def test_a_track_of_two_frames(self) -> None:
        tiny = track("a", [(0, 380, 120, 580)] * 2, first=50)
        assert reasons(made("aglt", material([tiny], {"a": TEXTS["a"]}))) == {"track-too-short"}

    def test_something_that_is_no_person(self) -> None:
        car = walk("a", [(60, 480)] * 60, first=10, kind="car")
        assert reasons(made("aglt", material([car], {"a": TEXTS["a"]}))) == {"not-a-person"}

    def test_tracks_of_another_video_are_refused(self) -> None:
        what = material([ACROSS], {"a": TEXTS["a"]}, tracked=video([ACROSS], n_frames=100))
        with pytest.raises(DataError, match="frames 50 to 150, but the video has frames 0 to 99"):
            made("aglt", what)

    def test_boxes_outside_the_frame(self) -> None:
        out = straight("a", first=50, last=150, start=(-300, 480), end=(1300, 480))
        said = {d.structure: right(d) for d in drafts(made("aglt", material([out], {"a": TEXTS["a"]})))}
        assert said["passage"] == "In through the left edge, out through the right edge"

    def test_frames_at_uneven_times(self) -> None:
        """A video whose second half is slow: what counts are seconds, not frames."""
        times_s = np.concatenate([np.arange(200) / 10, 20 + np.arange(200) / 2])
        tracked = video([ACROSS, DOWN, LATE])
        slow = TrackedVideo(width_px=1000, height_px=800, times_s=times_s, tracks=tracked.tracks)
        (draft,) = drafts(made("mpdr", material([ACROSS, DOWN, LATE], tracked=slow)), "longest")
        texts = [line[3:] for line in draft.question.splitlines()[1:4]]
        assert right(draft) == f"Person {texts.index(TEXTS['c']) + 1}"  # 149 frames of half a second

    def test_a_negative_number_of_drafts_is_refused(self) -> None:
        with pytest.raises(UsageError, match="at most -1 drafts"):
            made("aglt", material([ACROSS, DOWN, LATE]), most=-1)


class TestPaths:
    @pytest.mark.parametrize(
        ("xs", "signs"),
        [
            ([0.1, 0.9], (1,)),
            ([0.9, 0.1], (-1,)),
            ([0.5, 0.55, 0.47, 0.53], ()),
            ([0.1, 0.5, 0.45, 0.9, 0.2], (1, -1)),
            ([0.5, 0.9, 0.3, 0.8], (1, -1, 1)),
        ],
    )
    def test_moves(self, xs: list[float], signs: tuple[int, ...]) -> None:
        assert moves(np.array(xs), least=0.12) == signs

    def test_a_turn_that_is_neither_small_nor_large_has_no_shape(self) -> None:
        assert shape_of(np.array([0.1, 0.5, 0.38])) == ""
        assert shape_of(np.array([0.1, 0.5, 0.2])) == SHAPES[2]

    @pytest.mark.parametrize(
        ("point", "region"),
        [
            ((0.5, 0.5), "the middle of the frame"),
            ((0.1, 0.1), "the top left part of the frame"),
            ((0.9, 0.2), "the top right part of the frame"),
            ((0.3, 0.6), ""),  # on the border of the middle
            ((0.5, 0.9), ""),  # between left and right
        ],
    )
    def test_regions(self, point: tuple[float, float], region: str) -> None:
        assert region_of(np.array(point)) == region
