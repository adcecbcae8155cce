"""From boxes to chosen tracks in a making: cuts end tracks, limbs go, every track is accounted for."""

import json
from dataclasses import replace

import numpy as np
import pytest

from subjects import drawn_street as street
from subjects.tracks import shots, things
from vidence import catalog
from vidence.make.herbench.config import TrackingRules
from vidence.make.herbench.tracking import Boxes, Tracks, find_tracks
from vidence.make.pipeline.cache import Stage
from vidence.make.pipeline.kept_video import kept_video
from vidence.seeing.cleaning import FilterSettings
from vidence.seeing.refine import RefineSettings

RULES = TrackingRules(refine=RefineSettings(filter=FilterSettings(least_area_px=100.0)))


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    folder = tmp_path_factory.mktemp("following")
    return kept_video(street.write_street(folder), cache_root=folder / "cache", max_bytes=10**8)


def seen(*people: tuple[range, float, tuple[int, int]], finds_parts: bool = False) -> Boxes:
    """People who stand still: their frames, where their left edge is, and how wide and high they are."""
    rows = [
        (frame, "person", (left, 60, left + size[0], 60 + size[1]))
        for frames, left, size in people
        for frame in frames
    ]
    return Boxes(detections=things(sorted(rows, key=lambda row: row[0])), finds_parts=finds_parts)


def followed(video, what: Boxes, *, cuts: tuple[int, ...] = ()):
    rng = np.random.default_rng(0)
    parted = shots(*cuts, n_frames=video.n_frames)
    made = find_tracks(
        video, what, shots=parted, tracker=catalog.create("tracker", "sort?n_init=1"), rules=RULES, rng=rng
    )
    gone = [one.what for one in made.dropped]
    assert sorted([*made.chosen, *gone]) == sorted(made.raw_ids)  # each once
    return made


def test_a_tracker_that_looks_is_given_the_video(video):
    looked = []

    class Looking:
        """A tracker that must be bound to a video before it tracks."""

        def seeing(self, film):
            looked.append(film)
            return catalog.create("tracker", "sort?n_init=1")

    stands = seen((range(0, 90), 140, (40, 100)))
    rng = np.random.default_rng(0)
    find_tracks(video, stands, shots=(), tracker=Looking(), rules=RULES, rng=rng)
    assert looked == [video]


def test_two_people_in_one_place_before_and_behind_a_cut_are_two(video):
    stands = seen((range(0, 90), 140, (40, 100)))
    assert [t.last_frame for t in followed(video, stands).video.tracks] == [89]
    parted = followed(video, stands, cuts=(30, 60))
    spans = {(t.first_frame, t.last_frame) for t in parted.video.tracks}
    assert spans == {(1, 29), (31, 59), (61, 89)}  # the tracker begins with the second box
    assert parted.video.cuts == (30, 60)
    assert len(set(parted.raw_ids)) == 3


def test_a_piece_that_a_cut_leaves_too_short_is_among_the_others(video):
    made = followed(video, seen((range(0, 36), 140, (40, 100))), cuts=(30,))
    assert [(t.first_frame, t.last_frame) for t in made.video.others] == [(31, 35)]


def test_limbs_go_where_the_detector_finds_such(video):
    both = [(range(0, 60), 140, (60, 150)), (range(5, 55), 160, (16, 40))]
    assert len(followed(video, seen(*both)).video.tracks) == 2
    made = followed(video, seen(*both, finds_parts=True))
    assert [t.first_frame for t in made.video.tracks] == [1]
    assert [one.reason for one in made.dropped] == ["part-of-another"]
    assert made.video.others == ()


def test_what_the_detector_is_like_is_kept_with_its_boxes():
    one = replace(seen((range(3), 10, (20, 50))), finds_parts=True)
    boxes = Stage(name="boxes", kind=Boxes)
    data = boxes.encode(one)
    assert boxes.decode(data).finds_parts
    silent = json.loads(data)
    del silent["finds_parts"]
    with pytest.raises(ValueError, match="finds_parts"):
        boxes.decode(json.dumps(silent).encode())


def test_a_track_that_changes_the_person_is_among_the_others_and_looks_are_kept(video):
    what = seen((range(0, 90), 140, (40, 100)), (range(0, 90), 240, (40, 100)))
    looks = np.zeros((180, 3), np.float32)
    looks[0::2, 0] = looks[1::2, 1] = 1  # of the two boxes of each frame
    looks[120:180:2] = (0, 0, 1)  # from frame 60 on the first is somebody else
    made = followed(video, replace(what, vectors=looks))
    assert [(t.track_id, t.boxes_px[0, 0]) for t in made.video.others] == [("1", 140)]
    assert [d.reason for d in made.dropped if d.what == "1"] == ["changes-person"]
    assert made.chosen == ("2",)
    tracks = Stage(name="tracks", kind=Tracks)
    again = tracks.decode(tracks.encode(made))
    assert again.video.looks["2"].tolist() == [0, 1, 0]
    assert again.video.looks.keys() == made.video.looks.keys() == {"1", "2"}
