"""People at cuts, at the lower edge, and people whom refining left out: what is not said of them."""

from dataclasses import replace

import numpy as np
import pytest

from subjects.tracks import track, video, walk
from vidence.catalog import find
from vidence.construction.array_forms import Followed, FollowedForm
from vidence.construction.material import Card, Corpus, Draft, Material, VideoSource
from vidence.construction.tasks._people import is_inside, ways
from vidence.tracking.filtering import FilterSettings
from vidence.tracking.refine import RefineSettings, refine
from vidence.tracking.tracks import Track

SOURCE = VideoSource(
    video_id="v", path="v.mp4", n_frames=400, fps=10.0, duration_s=40.0, width_px=1000, height_px=800
)


def across(name: str, *, first: int, last: int, start: float = 20, end: float = 980) -> Track:
    """Somebody who walks along a line in the middle of the frame, 40 pixels wide."""
    xs = np.linspace(start, end, last - first + 1)
    return walk(name, [(x, 400) for x in xs], first=first)


def rlpc(what: Material, **options: str) -> list[Draft]:
    flow = find("task", "rlpc").create(options).draft(what, Corpus(), most=40, rng=np.random.default_rng(0))
    with pytest.raises(StopIteration) as stopped:
        next(flow)
    return [one for one in stopped.value.value if isinstance(one, Draft)]


def entered_left(drafts: list[Draft]) -> Draft:
    (found,) = [d for d in drafts if d.structure == "entered" and "left edge" in d.question]
    return found


class TestCuts:
    def test_a_frame_knows_its_shot(self):
        tracked = replace(video([]), cuts=(100, 250))
        assert [tracked.shot_of(f) for f in (0, 99, 100, 249, 250, 399)] == [
            (0, 99),
            (0, 99),
            (100, 249),
            (100, 249),
            (250, 399),
            (250, 399),
        ]
        assert video([]).shot_of(7) == (0, 399)

    @pytest.mark.parametrize(("first", "enters"), [(100, "unclear"), (103, "unclear"), (105, "left")])
    def test_who_is_there_when_a_shot_begins_came_through_no_edge(self, first, enters):
        who = across("a", first=first, last=180)
        assert ways(who, video([who]), unclear_s=0.5)[0] == "left"
        cut = replace(video([who]), cuts=(100,))
        assert ways(who, cut, unclear_s=0.5) == (enters, "right")
        assert is_inside(who, cut, at=0, reach=0.05, unclear_s=0.5) is (enters == "unclear")

    @pytest.mark.parametrize(("last", "leaves"), [(249, "unclear"), (246, "unclear"), (244, "right")])
    def test_who_is_there_when_a_shot_ends_went_through_no_edge(self, last, leaves):
        who = across("a", first=150, last=last)
        cut = replace(video([who]), cuts=(100, 250))
        assert ways(who, cut, unclear_s=0.5) == ("left", leaves)
        assert is_inside(who, cut, at=-1, reach=0.05, unclear_s=0.5) is (leaves == "unclear")

    def test_only_the_beginning_of_the_video_is_the_start(self):
        who = across("a", first=0, last=99)
        cut = replace(video([who]), cuts=(100,))
        assert ways(who, cut, unclear_s=0.5) == ("stayed", "unclear")

    def test_people_at_a_cut_do_not_come_through_an_edge(self):
        walkers = [across(f"w{i}", first=20 + 60 * i, last=70 + 60 * i) for i in range(5)]
        plain = rlpc(Material(source=SOURCE, tracked=video(walkers)))
        assert entered_left(plain).facts["tracks"] == "w0, w1, w2, w3, w4"
        tracked = replace(video(walkers), cuts=(140,))  # w2 begins with it
        cut = rlpc(Material(source=SOURCE, tracked=tracked))
        assert entered_left(cut).facts["tracks"] == "w0, w1, w3, w4"


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
        kept = FilterSettings(least_area_px=100.0, least_frames_in_middle=0)
        settings = RefineSettings(steps=("filter",), filter=kept)
        refined = refine(video([*self.WALKERS, quick, dog]), settings).video
        assert {t.track_id for t in refined.tracks} == {"w0", "w1", "w2", "w3", "w4"}
        assert [t.track_id for t in refined.others] == ["quick"]

    def test_somebody_who_passes_quickly_makes_a_count_unclear(self):
        quick = across("quick", first=30, last=45)
        tracked = replace(video(self.WALKERS), others=(quick,))
        draft = entered_left(rlpc(Material(source=SOURCE, tracked=tracked)))
        assert (draft.facts["counted"], draft.facts["unclear"]) == ("5", "1")
        low, high = (int(word) for word in draft.choices[draft.answer_index].split(" to "))
        assert low <= 5
        assert high >= 6

    def test_a_flicker_is_nobody(self):
        flicker = across("flicker", first=30, last=33)
        tracked = replace(video(self.WALKERS), others=(flicker,))
        draft = entered_left(rlpc(Material(source=SOURCE, tracked=tracked)))
        assert draft.facts["unclear"] == "0"
        draft = entered_left(rlpc(Material(source=SOURCE, tracked=tracked), others_s="0.2"))
        assert draft.facts["unclear"] == "1"

    def test_many_of_them_leave_nothing_to_ask(self):
        others = tuple(across(f"o{i}", first=30 + 20 * i, last=45 + 20 * i) for i in range(3))
        tracked = replace(video(self.WALKERS), others=others)
        found = rlpc(Material(source=SOURCE, tracked=tracked))
        assert not [d for d in found if d.structure == "entered" and "left edge" in d.question]

    def test_nobody_is_asked_about_them(self):
        cards = tuple(
            Card(track_id=t.track_id, kind="A", text=text)
            for t, text in zip(
                self.WALKERS,
                ("A red coat.", "Green overalls.", "Yellow hat.", "Blue jeans.", "White apron."),
                strict=True,
            )
        )
        tracked = replace(video(self.WALKERS[:4]), others=self.WALKERS[4:])
        what = Material(
            source=SOURCE, tracked=tracked, chosen=tuple(t.track_id for t in self.WALKERS), a_cards=cards
        )
        flow = find("task", "aglt").create({}).draft(what, Corpus(), most=40, rng=np.random.default_rng(0))
        with pytest.raises(StopIteration) as stopped:
            next(flow)
        made = stopped.value.value
        asked = {d.facts["person"].split(",")[0] for d in made if isinstance(d, Draft)}
        assert asked == {f"track w{i}" for i in range(4)}
        assert ("v: track w4", "no-such-track") in {
            (d.what, d.reason) for d in made if not isinstance(d, Draft)
        }


def test_tracks_are_kept_with_cuts_and_others():
    quick = across("quick", first=30, last=45)
    tracked = replace(video(TestOthers.WALKERS), others=(quick,), cuts=(99, 200))
    value = Followed(video=tracked, chosen=("w1",), raw_ids=("w1", "x"), scores={"w1": 2.0})
    again = FollowedForm().decode(FollowedForm().encode(value)).video
    assert [t.track_id for t in again.tracks] == ["w0", "w1", "w2", "w3", "w4"]
    assert again.cuts == (99, 200)
    (other,) = again.others
    assert other.track_id == "quick"
    assert np.array_equal(other.boxes_px, quick.boxes_px)
