"""Questions out of what persons counted, beside what tracks show."""

import numpy as np
import pytest

from subjects.tracks import video, walk
from vidence.make.herbench.tasks.candidates import Candidate, NoCandidate
from vidence.make.herbench.tasks.counts import by_structure, candidate_of, facts_of, in_window
from vidence.make.herbench.tasks.rlpc import moments_of_tracks
from vidence.make.herbench.tasks.timeline import Timeline
from vidence.make.pipeline.material import PersonCount
from vidence.records import Evidence

LINE = Timeline(np.arange(200) / 10)


def count(n=6, low=None, high=None, place="entered:left", **more):
    return PersonCount(place=place, n=n, n_low=low or n, n_high=high or n, counters=("P03 6",), **more)


def asked(one, *, by_tracks=()):
    return candidate_of(
        one,
        question="How many?",
        timeline=LINE,
        by_tracks=by_tracks,
        ranges=lambda low, high: (f"{low} to {high}", ("a", "b", "c", "d")),
        widest=2.5,
    )


def test_a_count_becomes_a_question_with_the_moments_that_were_noted():
    made = asked(count(frames=(150, 10, 60)))
    assert isinstance(made, Candidate)
    assert (made.structure, made.subject, made.right) == ("entered", "left edge", "6 to 6")
    assert [one.frames for one in made.evidence] == [(10,), (60,), (150,)]
    assert made.truth == "person"
    assert made.question == "How many?"


def test_the_question_names_its_window_and_evidence_may_come_from_tracks():
    moments = [Evidence(start_s=1.0, end_s=2.0, frames=(10,))]
    made = asked(count(window=(5, 100)), by_tracks=moments)
    assert made.question == "How many? Count from 0.5 s to 10.0 s of the video only."
    assert made.evidence == tuple(moments)
    assert made.facts["counted by tracks"] == "1"


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (count(2), "too-few-counted"),
        (count(6, low=4, high=12), "range-too-wide"),
        (count(3), "no-room-below"),
    ],
)
def test_a_count_that_cannot_be_asked_for_says_why(one, reason):
    made = asked(one)
    assert isinstance(made, NoCandidate)
    assert made.reason == reason


def test_the_share_that_tracks_find_is_no_more_than_all():
    assert facts_of(count(), n_by_tracks=3)["share found by tracks"] == "0.50"
    assert facts_of(count(), n_by_tracks=9)["share found by tracks"] == "1.00"
    assert "counted by tracks" not in facts_of(count(), n_by_tracks=None)


def test_moments_are_those_of_the_window():
    moments = [Evidence(start_s=0.0, end_s=1.0, frames=(at,)) for at in (5, 50)]
    assert in_window(count(window=(40, 60)), moments) == (moments[1],)
    assert in_window(count(), moments) == tuple(moments)


def test_counts_are_told_apart_by_the_form_of_question():
    both = [count(), count(place="visited:top-left"), count(place="entered:top")]
    assert {name: len(some) for name, some in by_structure(both).items()} == {"entered": 2, "visited": 1}


def test_tracks_are_counted_at_the_same_place():
    here = walk("1", [(100.0, 100.0)] * 30, size=(40, 80), first=20)
    there = walk("2", [(540.0, 380.0)] * 30, size=(40, 80), first=60)
    tracked = video([here, there], size=(640, 480), n_frames=100, fps=10.0)

    def n(place, window=None):
        found = moments_of_tracks(count(place=place, window=window), tracked)
        return None if found is None else len(found)

    assert (n("visited:whole"), n("visited:top-left"), n("visited:bottom-right")) == (2, 1, 1)
    assert n("visited:top-left", (60, 99)) == 0
    assert n("visited:whole", (60, 99)) == 1
    assert n("visited:nowhere") is None
