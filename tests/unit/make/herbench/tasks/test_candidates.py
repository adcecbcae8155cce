"""The parts that tasks are made with: ledger, moments, ranges, wording, likeness."""

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.make.herbench.tasks.candidates import BalancedDraw, Candidate, DraftLog, NoCandidate
from vidence.make.herbench.tasks.counts import has_room, ranges_around
from vidence.make.herbench.tasks.timeline import Timeline
from vidence.make.pipeline.english import (
    closest,
    content_words,
    joined,
    named,
    number_word,
    numbered,
    order_of,
    sentence,
)
from vidence.make.pipeline.material import Draft, Dropped, n_apart
from vidence.records import Evidence

SPANS = tuple(Evidence(start_s=float(i), end_s=i + 1.0) for i in range(3))


def candidate(**other: object) -> Candidate:
    values: dict[str, object] = {
        "structure": "s", "subject": "x", "question": "Which?", "right": "a", "wrong": tuple("bcde"),
        "evidence": SPANS,
    }  # fmt: skip
    return Candidate(**{**values, **other})


def ledger() -> DraftLog:
    return DraftLog(code="TSO", video_id="v", rng=np.random.default_rng(0))


class TestDraftLog:
    @pytest.mark.parametrize(
        ("other", "reason"),
        [
            ({"wrong": tuple("bcd")}, "not-five-options"),
            ({"wrong": ("b", "c", "d", " ")}, "not-five-options"),
            ({"wrong": ("b", "c", "d", "A.")}, "same-options"),
            ({"evidence": SPANS[:2]}, "too-little-evidence"),
            ({"evidence": (*SPANS[:2], *SPANS[:2])}, "too-little-evidence"),
        ],
    )
    def test_what_is_no_draft(self, other: dict[str, object], reason: str) -> None:
        log = ledger()
        assert not log.take(candidate(**other))
        (dropped,) = log.made
        assert isinstance(dropped, Dropped)
        assert (dropped.what, dropped.stage, dropped.reason) == ("v: s, x", "draft:TSO", reason)

    def test_the_same_question_twice(self) -> None:
        log = ledger()
        assert [log.take(candidate()), log.take(candidate()), log.n_drafts] == [True, False, 1]

    def test_the_same_loss_is_written_down_once(self) -> None:
        log = ledger()
        for _ in range(3):
            log.take(NoCandidate(subject="x", reason="why"))
        assert len(log.made) == 1

    def test_sources_in_turn(self) -> None:
        log = ledger()
        sources = [iter([candidate(structure=s, question=f"{s}{i}?") for i in range(5)]) for s in "pqr"]
        log.fill(sources, most=7)
        counts = Counter(d.structure for d in log.made if isinstance(d, Draft))
        assert sorted(counts.values()) == [2, 2, 3]


def test_spans_apart_is_the_most_that_fit() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        starts = rng.integers(0, 12, 6)
        spans = [(int(s), int(s + rng.integers(1, 5))) for s in starts]
        best = 0
        for chosen in range(2**6):  # every set of the spans
            some = sorted(span for i, span in enumerate(spans) if chosen >> i & 1)
            if all(a[1] <= b[0] for a, b in pairwise(some)):
                best = max(best, len(some))
        assert n_apart([Evidence(start_s=a, end_s=b) for a, b in spans]) == best


def test_a_deck_has_every_number_before_any_again() -> None:
    deck = BalancedDraw(5, rng=np.random.default_rng(0))
    drawn = [deck.next() for _ in range(20)]
    assert all(sorted(drawn[i : i + 5]) == [0, 1, 2, 3, 4] for i in range(0, 20, 5))


class TestTimeline:
    def test_moments(self) -> None:
        timeline = Timeline(np.arange(100) / 10)
        come = timeline.beginning(20, 80, note="")
        gone = timeline.ending(20, 80, note="")
        assert (come.start_s, come.end_s, come.frames) == (2.0, 3.0, (20,))
        assert (gone.start_s, gone.end_s, gone.frames) == (7.1, 8.1, (80,))
        assert timeline.ending(95, 99, note="").end_s == 10.0

    def test_uneven_times(self) -> None:
        timeline = Timeline(np.array([0.0, 0.1, 2.0, 2.1, 5.0]))
        assert timeline.beginning(1, 4, note="").frames == (1,)
        assert timeline.span(1, 2, note="").end_s == 2.1
        assert timeline.around(2, note="").start_s is not None

    def test_parts_cover_the_video(self) -> None:
        parts = Timeline(np.arange(10) / 10).parts(3, note="")
        assert [(p.start_s, p.end_s) for p in parts] == [(0.0, 0.3), (0.3, 0.6), (0.6, 1.0)]

    @pytest.mark.parametrize("times", [[], [0.0, 0.0], [1.0, 0.5]])
    def test_times_that_do_not_ascend(self, times: list[float]) -> None:
        with pytest.raises(DataError, match="do not ascend"):
            Timeline(np.array(times))


class TestRanges:
    def test_disjoint_growing_and_the_truth_in_one(self) -> None:
        rng = np.random.default_rng(0)
        cases = product([*range(5, 40), 60, 150, 400], (0, 1, 5), range(5))
        for low, part, rank in cases:
            more = low // part if part > 1 else part
            if has_room(low, low + more):
                right, wrong = ranges_around(low, low + more, rank=rank, rng=rng)
                every = sorted((right, *wrong), key=lambda r: r.low)
                assert len(every) == 5
                assert all(a.high < b.low for a, b in pairwise(every))
                assert all(a.width < b.width or a.width == 1 for a, b in pairwise(every))
                assert every.index(right) == rank
                assert right.low < low
                assert low + more < right.high
                assert every[0].low >= 0

    def test_no_range_is_far_from_the_count(self) -> None:
        """Of 60 people "510 to 744" was an option."""
        for low, seed in product((10, 20, 60, 150), range(50)):
            _, wrong = ranges_around(low, low, rank=0, rng=np.random.default_rng(seed))
            assert max(one.low for one in wrong) <= 5 * low

    def test_only_a_count_with_four_smaller_ranges_below_it_has_room(self) -> None:
        # 4 to 6 and the numbers 0, 1, 2, 3; 4 with 3 to 5 leaves three.
        assert has_room(5, 5)
        assert not has_room(4, 4)
        assert has_room(5, 14)
        assert not has_room(5, 15)  # two numbers of room on each side
        right, wrong = ranges_around(5, 5, rank=4, rng=np.random.default_rng(0))
        assert right.low == 4
        assert [one.text for one in wrong] == ["0", "1", "2", "3"]

    def test_the_ends_of_the_right_one_do_not_tell_its_place(self) -> None:
        for low in (5, 9, 40):
            ends = [
                {ranges_around(low, low, rank=rank, rng=np.random.default_rng(seed))[0] for seed in range(60)}
                for rank in range(5)
            ]
            assert all(one == ends[0] for one in ends)

    @pytest.mark.parametrize(("low", "rank"), [(4, 0), (9, 5), (9, -1)])
    def test_no_place_and_no_room_are_refused(self, low: int, rank: int) -> None:
        with pytest.raises(UsageError, match="smaller ranges; expected 0 to 4"):
            ranges_around(low, low, rank=rank, rng=np.random.default_rng(0))


class TestWording:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("a man waits", "A man waits."),
            ("1. A man waits.", "A man waits."),
            ("- a man\nwaits ;", "A man waits."),
            ("He says “stop!”", "He says “stop!”"),
            ("3 men wait", "3 men wait."),
            ("  ", ""),
        ],
    )
    def test_sentences(self, text: str, said: str) -> None:
        assert sentence(text) == said

    def test_lists_and_numbers(self) -> None:
        assert numbered(["a", "b."]) == "1. A.\n2. B."
        assert joined([1]) == "1"
        assert joined([1, 2, 3], last="or") == "1, 2 or 3"
        assert named("shot", [1, 2]) == "shots 1 and 2"
        assert order_of([3, 1]) == "3 -> 1"
        assert [number_word(4), number_word(11)] == ["four", "11"]


class TestLikeness:
    def test_empty_words_do_not_count(self) -> None:
        assert content_words("The individual appears to be wearing a RED coat.") == {"red", "coat"}

    def test_the_closest_of_several(self) -> None:
        assert closest("red coat", ["dog", "red hat", "blue hat"]) == pytest.approx(1 / 3)
        assert closest("red coat", []) == 0.0
