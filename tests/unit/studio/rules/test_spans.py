"""Beats and what they come to: time once whatever the tabs, no sleep, never negative."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.studio.rules.spans import Pulse, Span, active_s, beaten, is_over

PULSE = Pulse()
NINE = datetime(2026, 11, 23, 9, tzinfo=UTC)


def at(seconds):
    return NINE + timedelta(seconds=seconds)


def spans_of(beats, *, pulse):
    """The spans of a person, from their beats in the order in which they came."""
    found, last = [], None
    for when, work in beats:
        step = beaten(last, when, work, pulse=pulse)
        found += step.closed
        last = step.open
    return (*found, *([] if last is None else [last]))


def seconds(beats, work="a"):
    return active_s(spans_of([(at(one), work) for one in sorted(beats)], pulse=PULSE))


def every(step, start, end):
    return [start + i * step for i in range(int((end - start) // step) + 1)]


@pytest.mark.parametrize(
    ("silence", "kinds"),
    [
        (90, ["active"]),
        (91, ["active", "active"]),
        (300, ["active", "active"]),
        (301, ["active", "idle", "active"]),
        (4 * 3600, ["active", "idle", "active"]),
        (4 * 3600 + 1, ["active", "active"]),
    ],
)
def test_what_a_silence_is(silence, kinds):
    found = spans_of([(at(0), "a"), (at(60), "a"), (at(60 + silence), "a")], pulse=PULSE)
    assert [one.kind for one in found] == kinds
    assert active_s(found) == (60 + silence if kinds == ["active"] else 60)


def test_another_work_begins_where_the_last_one_ends():
    found = spans_of([(at(0), "a"), (at(15), "a"), (at(30), "b"), (at(45), "b")], pulse=PULSE)
    assert [(one.work, one.seconds) for one in found] == [("a", 30), ("b", 15)]


def test_a_clock_that_is_set_back_begins_anew_and_says_so():
    found = spans_of([(at(3600), "a"), (at(3615), "a"), (at(15), "a"), (at(30), "a")], pulse=PULSE)
    assert [(one.seconds, one.is_clock_back) for one in found] == [(15, False), (15, True)]
    little = spans_of([(at(60), "a"), (at(75), "a"), (at(70), "a"), (at(85), "a")], pulse=PULSE)
    assert [(one.seconds, one.n_beats, one.is_clock_back) for one in little] == [(25, 4, False)]


def test_a_beat_told_again_is_known():
    first = beaten(None, at(0), "a", pulse=PULSE).open
    assert beaten(first, at(3), "a", pulse=PULSE).is_told_again
    assert not beaten(first, at(15), "a", pulse=PULSE).is_told_again
    assert not beaten(first, at(3), "b", pulse=PULSE).is_told_again
    assert not is_over(first, at(90), pulse=PULSE)
    assert is_over(first, at(91), pulse=PULSE)


times = st.lists(st.integers(-100_000, 100_000), max_size=60)
works = st.sampled_from("ab")


@given(beats=st.lists(st.tuples(st.integers(0, 40_000), works), max_size=80).map(sorted))
def test_time_is_never_more_than_has_passed(beats):
    found = spans_of([(at(when), work) for when, work in beats], pulse=PULSE)
    assert all(one.seconds >= 0 for one in found)
    assert all(before.end <= after.start for before, after in itertools.pairwise(found))
    total = active_s(found)
    assert 0 <= total <= (beats[-1][0] - beats[0][0] if beats else 0)
    assert total == sum(one.seconds for one in found if one.kind == "active")
    allowed = sum(
        min(b - a, 0 if b - a > PULSE.gap_s else b - a) for (a, _), (b, _) in itertools.pairwise(beats)
    )
    assert total == allowed


@given(beats=times, again=st.data())
def test_beats_that_are_told_again_change_nothing(beats, again):
    more = again.draw(st.lists(st.sampled_from(beats), max_size=20)) if beats else []
    assert seconds([*beats, *more]) == seconds(beats)


@given(beats=times)
def test_no_order_of_the_clock_makes_time_negative(beats):
    found = spans_of([(at(one), "a") for one in beats], pulse=PULSE)
    assert all(one.seconds >= 0 for one in found)
    assert active_s(found) >= 0
    latest = itertools.accumulate(beats, max)
    backs = [beat < before - PULSE.gap_s for before, beat in zip(latest, beats[1:], strict=False)]
    assert any(one.is_clock_back for one in found) <= any(backs)


intervals = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 60), st.sampled_from(["active", "idle"])), max_size=8
)


@given(counted=intervals, given_=intervals)
def test_corrections_against_a_count_of_seconds(counted, given_):
    def spans(rows):
        return [Span(kind=kind, start=at(a), end=at(a + n)) for a, n, kind in rows]

    worked = {s for a, n, kind in (*counted, *given_) if kind == "active" for s in range(a, a + n)}
    taken = {s for a, n, kind in given_ if kind == "idle" for s in range(a, a + n)}
    assert active_s(spans(counted), given=spans(given_)) == len(worked - taken)
