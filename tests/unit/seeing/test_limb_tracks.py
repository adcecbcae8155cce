"""Tracks of limbs go, tracks of people stay."""

from subjects.tracks import track, walk
from vidence.seeing.limbs import without_parts

WHOLE = walk("whole", [(200 + 3 * i, 300) for i in range(30)], size=(100, 300))


def names(*tracks):
    kept, dropped = without_parts(tracks)
    assert {t.track_id for t in kept} | {d.what for d in dropped} == {t.track_id for t in tracks}
    return [t.track_id for t in kept]


def test_an_arm_that_moves_with_its_person_goes():
    arm = walk("arm", [(220 + 3 * i, 260) for i in range(5, 25)], size=(30, 80), first=5)
    assert names(arm, WHOLE) == ["whole"]
    _, (dropped,) = without_parts((arm, WHOLE))
    assert (dropped.what, dropped.reason) == ("arm", "part-of-another")
    assert "whole" in dropped.detail


def test_a_person_seen_only_now_and_then_still_has_an_arm():
    """Between frames 0 and 20 the person stands on a straight line between the two boxes."""
    seen = track("whole", [(0, 0, 100, 300), (40, 0, 140, 300)], frames=[0, 20])
    arm = walk("arm", [(40 + 2 * i, 100) for i in range(20)], size=(30, 80))
    assert names(seen, arm) == ["whole"]


def test_somebody_who_only_passes_behind_stays():
    passer = walk("passer", [(50 + 12 * i, 260) for i in range(30)], size=(30, 80))
    assert names(passer, WHOLE) == ["passer", "whole"]


def test_who_was_there_before_the_other_stays():
    early = walk("early", [(220 + 3 * i, 260) for i in range(-20, 20)], size=(30, 80))
    late = walk("late", [(200 + 3 * i, 300) for i in range(20)], size=(100, 300), first=20)
    assert names(early, late) == ["early", "late"]


def test_two_of_one_size_stay_and_so_does_one_alone():
    twin = walk("twin", [(205 + 3 * i, 302) for i in range(30)], size=(90, 280))
    assert names(WHOLE, twin) == ["whole", "twin"]
    assert names(WHOLE) == ["whole"]
    assert names() == []


def test_a_hand_that_sticks_out_at_the_side_goes():
    hand = walk("hand", [(258 + 3 * i, 300) for i in range(2, 28)], size=(24, 60), first=2)
    assert names(hand, WHOLE) == ["whole"]


def test_a_small_person_who_passes_beside_stays():
    """Never farther outside the box than a hand may be, but not at one place of it."""
    passer = walk("passer", [(140 + 3 * i + 4.5 * i, 300) for i in range(27)], size=(24, 60))
    assert names(passer, WHOLE) == ["passer", "whole"]


def test_a_small_person_who_stands_clear_of_the_box_stays():
    beside = walk("beside", [(300 + 3 * i, 300) for i in range(2, 28)], size=(24, 60), first=2)
    assert names(beside, WHOLE) == ["beside", "whole"]


def test_half_the_size_and_sticking_out_is_no_limb():
    child = walk("child", [(245 + 3 * i, 360) for i in range(2, 28)], size=(60, 170), first=2)
    assert names(child, WHOLE) == ["child", "whole"]
