"""Events as questions show them: their words, their times, the index of a corpus made once."""

import pytest

from subjects.kitchens import event, events
from vidence.make.herbench.tasks.events import (
    event_context,
    n_times,
    overlap,
    span_of,
    used_up,
    when,
    written,
)
from vidence.make.pipeline.material import Corpus
from vidence.make.sources.event_index import pair_of


def at(start_s: float, end_s: float):
    return event(0, "wash", "carrot", start_s=start_s, end_s=end_s)


def test_events_are_written_as_most_of_them_are():
    assert written([event(0, "wash", "carrot"), event(1, "rinse", "leek"), event(2, "rinse", "leek")]) == (
        "rinse",
        "leek",
    )
    assert written([event(0, "cut", "leek"), event(1, "wash", "leek")]) == (
        "wash",
        "leek",
    )  # the last of equals


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [((0, 2), (1, 3), True), ((0, 2), (2, 3), False), ((0, 9), (1, 2), True), ((0, 1), (5, 6), False)],
)
def test_events_that_share_a_moment(one, other, share):
    assert overlap(at(*one), at(*other)) is overlap(at(*other), at(*one)) is share


def test_the_span_of_an_event_leaves_its_frames_open():
    span = span_of(at(1.5, 4.0))
    assert (span.kind, span.start_s, span.end_s, span.note, span.frames) == (
        "oracle",
        1.5,
        4.0,
        "wash carrot",
        (),
    )


def test_times_in_words():
    assert when([at(1, 2.5), at(4, 5)]) == "2 times (1.00-2.50 s, 4.00-5.00 s)"
    assert (when([]), when([at(0, 1)]), n_times(7)) == ("never", "once (0.00-1.00 s)", "7 times")


def test_what_occurs_elsewhere_is_counted_in_the_other_videos_of_this_corpus():
    here = events([("wash", "carrot")] * 2)
    corpus = Corpus(events={"v": here, "w": events([("wash", "carrot")] * 3, video_id="w")})
    first = event_context("v", here, corpus)
    assert first.elsewhere(pair_of(here[0])) == 3
    assert event_context("v", here, corpus).index is first.index
    other = event_context("v", here, Corpus(events={"v": here}))
    assert other.elsewhere(pair_of(here[0])) == 0


def test_the_end_of_a_structure_has_its_reason():
    assert (used_up("pair").subject, used_up("pair").reason) == ("pair", "used-up")
