"""What the board of counts computes: agreement, who was counted by whom, whom a dot is on."""

from vidence.studio.rules.counts import Moment, PersonCount, agreement, moments


def said(name, n, low, high, frames=()):
    return PersonCount(counter=name, n=n, n_low=low, n_high=high, frames=frames)


def test_counters_agree_as_far_as_their_ranges_do():
    assert agreement([said("a", 5, 5, 5)]) == "counted once; a second counter has not counted yet"
    assert agreement([said("a", 5, 5, 5), said("b", 5, 4, 6)]) == "both counted 5"
    assert (
        agreement([said("a", 5, 5, 7), said("b", 7, 6, 8)]) == "they differ by 2, and both ranges hold 6 to 7"
    )
    assert agreement([said("a", 5, 5, 5), said("b", 7, 7, 7), said("c", 6, 5, 7)]) == (
        "they differ by 2, and no number is in all ranges: look again together"
    )


def test_what_counters_noted_near_in_time_is_one_person():
    found = moments([said("a", 3, 3, 3, (10, 12, 90)), said("b", 3, 3, 3, (11, 13, 60))], within=5)
    assert found == (
        Moment(frame=10, counters=("a", "b"), missed_by=()),
        Moment(frame=12, counters=("a", "b"), missed_by=()),
        Moment(frame=60, counters=("b",), missed_by=("a",)),
        Moment(frame=90, counters=("a",), missed_by=("b",)),
    )


def test_who_noted_no_frames_misses_nobody():
    found = moments([said("a", 1, 1, 1, (10,)), said("b", 2, 2, 2)], within=5)
    assert found == (Moment(frame=10, counters=("a",), missed_by=()),)
    assert moments([said("a", 2, 2, 2, (10, 10))], within=5) == (
        Moment(frame=10, counters=("a",), missed_by=()),
        Moment(frame=10, counters=("a",), missed_by=()),
    )
