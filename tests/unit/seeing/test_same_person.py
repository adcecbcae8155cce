"""Tracks that change the person are found by what they look like; tracks of one person are left alone."""

import numpy as np
import pytest

from subjects.tracks import track, walk
from vidence.errors import UsageError
from vidence.seeing.same_person import SamePersonRules, TrackAppearance, looks_of, without_changed
from vidence.seeing.tracks import PERSON, Detections
from vidence.seeing.visibility import at_the_same_time, shared_rows, shares_covered

RED, BLUE, DARK = (np.eye(3, dtype=np.float32)[i] for i in range(3))
N = 100


def dyed(*colours):
    """Looks of length 1, one for each of some mixtures of colours."""
    mixed = np.array(colours, np.float32)
    return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def looked(track, vectors):
    return TrackAppearance(frame_indices=track.frame_indices, vectors=np.asarray(vectors, np.float32))


def judged(tracks, looks, *, others=(), **rules):
    kept, changed, dropped = without_changed(tracks, looks, SamePersonRules(**rules), others=others)
    assert {t.track_id for t in (*kept, *changed)} == {t.track_id for t in tracks}
    assert [t.track_id for t in changed] == [d.what for d in dropped]
    return {d.what: d for d in dropped}


ALONE = walk("alone", [(100, 200)] * N)


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ([RED] * 85 + [BLUE] * 15, "first fifth and its last fifth"),
        ([RED] * 50 + [BLUE] * 50, "first fifth and its last fifth"),
        ([RED] * 20 + [BLUE] * 60 + [RED] * 20, "middle"),
    ],
)
def test_another_colour_at_the_end_or_in_the_middle_is_another_person(vectors, words):
    dropped = judged([ALONE], {"alone": looked(ALONE, vectors)})
    assert dropped["alone"].reason == "changes-person"
    assert words in dropped["alone"].detail
    assert judged([ALONE], {"alone": looked(ALONE, vectors)}, most_apart=2.0, clear_by=2.0) == {}


def test_who_only_comes_into_the_shade_stays():
    """The same clothes in less light: apart by less than the limit."""
    vectors = [RED] * 50 + [dyed(RED + 0.7 * DARK)[0]] * 50
    assert judged([ALONE], {"alone": looked(ALONE, vectors)}) == judged([ALONE], {}) == {}
    few = TrackAppearance(frame_indices=np.array([0, 99]), vectors=np.stack([RED, BLUE]))
    assert judged([ALONE], {"alone": few}) == {}  # not seen well
    with pytest.raises(UsageError, match="window_boxes 3"):
        SamePersonRules(window_boxes=3)


# Two people in nearly the same clothes meet in frames 45 to 54 and go on.
ONE = walk("one", [(10 * i, 200) for i in range(N)])
OTHER = walk("other", [(10 * (N - i), 200) for i in range(N)])
GREYISH, BLUISH = dyed(DARK + 0.1 * RED)[0], dyed(DARK + 0.45 * BLUE)[0]


def test_two_who_meet_and_go_on_as_themselves_stay():
    looks = {"one": looked(ONE, [GREYISH] * N), "other": looked(OTHER, [BLUISH] * N)}
    assert judged([ONE, OTHER], looks) == {}


def test_two_tracks_that_swap_their_people_both_go():
    looks = {
        "one": looked(ONE, [GREYISH] * 50 + [BLUISH] * 50),
        "other": looked(OTHER, [BLUISH] * 50 + [GREYISH] * 50),
    }
    dropped = judged([ONE, OTHER], looks)
    assert set(dropped) == {"one", "other"}
    assert "it looks as the track other did before" in dropped["one"].detail
    # Without the other one the difference is too small to tell.
    assert judged([ONE], {"one": looks["one"]}) == {}


def test_who_goes_on_as_another_track_is_found():
    """The track that begins at the meeting is the person of the old one, which follows somebody else now."""
    late = walk("late", [(450 + 8 * i, 200) for i in range(55)], first=45)
    looks = {"one": looked(ONE, [GREYISH] * 50 + [BLUISH] * 50), "late": looked(late, [GREYISH] * 55)}
    assert "the track late looks as it did before" in judged([ONE], looks, others=[late])["one"].detail


def test_looks_are_those_of_detected_boxes_that_nobody_covers():
    stands = walk("stands", [(500, 200)] * N)
    boxes = np.concatenate([ONE.boxes_px, stands.boxes_px])
    frames = np.concatenate([ONE.frame_indices, stands.frame_indices])
    order = np.argsort(frames, kind="stable")
    found = Detections(
        frame_indices=frames[order],
        boxes_px=boxes[order] + 1.0,
        confidences=np.ones(2 * N),
        class_ids=np.zeros(2 * N, np.int64),
        class_names={0: PERSON},
    )
    vectors = np.concatenate([np.tile(RED, (N, 1)), np.tile(BLUE, (N, 1))])[order]
    looks = looks_of([ONE, stands], found, vectors, size_px=(1200, 600), most_covered=0.3)
    assert set(map(tuple, looks["one"].vectors)) == {tuple(RED)}
    assert set(map(tuple, looks["stands"].vectors)) == {tuple(BLUE)}
    covered = shares_covered(ONE, [stands])
    # Until frame 5 the left edge of the frame cuts the box, which is 100 px wide.
    clear = [i for i in np.flatnonzero(covered <= 0.3).tolist() if i > 5]
    assert looks["one"].frame_indices.tolist() == clear
    assert 0 < np.count_nonzero(covered) < N
    unknown = looks_of([ONE], found, np.zeros_like(vectors), size_px=(1200, 600), most_covered=0.3)
    assert len(unknown["one"].frame_indices) == 0


def test_how_much_is_covered_is_the_most_that_one_other_covers():
    behind = walk("behind", [(0, 0)] * 3, size=(10, 10))
    left = walk("left", [(-5, 0)] * 2, size=(10, 10), first=1)
    low = walk("low", [(0, 8)] * 3, size=(10, 10))
    assert shares_covered(behind, [behind, left, low]).tolist() == pytest.approx([0.2, 0.5, 0.5])
    assert shares_covered(behind, []).tolist() == [0, 0, 0]


@pytest.mark.parametrize("gaps", [(), (12, 13), (29,)])
def test_the_boxes_that_two_tracks_have_of_the_same_frames(gaps):
    one = track("one", [(i, 0, i + 1, 1) for i in range(20)], first=10)
    frames = [i for i in range(5, 35) if i not in gaps]
    other = track("other", [(i, 0, i + 1, 1) for i in frames], frames=frames)
    mine, theirs = shared_rows(one, other)
    both = [i for i in range(10, 30) if i not in gaps]
    assert one.frame_indices[mine].tolist() == other.frame_indices[theirs].tolist() == both
    apart = track("apart", [(0, 0, 1, 1)], first=40)
    assert [len(rows) for rows in shared_rows(one, apart)] == [0, 0]
    assert [[t.track_id for t in around] for _, around in at_the_same_time([one], [other, apart])] == [
        ["other"]
    ]
