"""Counts as options: five that questions share, five around the right one, five ranges of counts.

Numbers of people that persons counted at edges and in regions become questions, beside what tracks show.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.make.herbench.tasks.candidates import LEAST_EVIDENCE, Candidate, NoCandidate, by_time
from vidence.make.herbench.tasks.timeline import Timeline
from vidence.make.pipeline.material import PersonCount
from vidence.records import Evidence, by_key

N_OTHERS = 4
# Three occurrences are the fewest that are three pieces of evidence.
LEAST_COUNT = 3
# The largest of five options is at most so many times the smallest: counts far apart take no counting.
MOST_TIMES = 4
N_RANGES = 5
_NARROWEST = 2
# The right range reaches beyond what was counted by this share, one at least: a count may be off.
_SLACK = 0.1
_WIDTH = 0.5
_GROWTH = (1.05, 1.25)

BY_PERSON: Final = "person"
WHOLE_FRAME: Final = "whole"
# The range that is right and four that are not, out of the least and the most that a number can be.
Ranges: TypeAlias = Callable[[int, int], tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, kw_only=True)
class Range:
    """The whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    @property
    def width(self) -> int:
        """How many numbers it holds."""
        return self.high - self.low + 1

    @property
    def text(self) -> str:
        """As an option."""
        return f"{self.low} to {self.high}" if self.width > 1 else str(self.low)


def least_with_room() -> int:
    """The least number that a right range can begin with: four ranges of one number each fit below it."""
    return N_RANGES - 1


def has_room(low: int, high: int) -> bool:
    """Whether a count from `low` to `high` can stand at each of the five places, the last included."""
    return low - _slack(high) >= least_with_room()


def ranges_around(
    low: int, high: int, *, rank: int, rng: np.random.Generator
) -> tuple[Range, tuple[Range, ...]]:
    """The range that holds a count, and four others that do not, `rank` of them below it.

    The place is given, and the ranges are built to fit: where the place followed from the room that a count
    leaves below it, the smallest range would be right more often than the others. Sorted, no range is
    narrower than the one before, and from two numbers on each is wider; between two there may be a gap.

    Args:
        low: the least that the count can be.
        high: the most that it can be; both lie in the first range, with room around them.
        rank: how many ranges are smaller, 0 to 4.
        rng: draws widths and gaps.

    Raises:
        UsageError: a rank outside 0 to 4, or a count without room (`has_room`).

    Source: HERBench, figure 21.
    Departs: the paper does not say how it makes its ranges.
    """
    if not 0 <= rank < N_RANGES or not has_room(low, high):
        raise UsageError(
            f"a count from {low} to {high} with {rank} smaller ranges; expected 0 to {N_RANGES - 1}, and a "
            f"count that leaves the numbers 0 to {least_with_room() - 1} below it"
        )
    right = _right(low, high, rng)
    below: list[Range] = []
    for n_more in reversed(range(rank)):
        below.append(_below((right, *below)[-1], n_more, rng))
    above: list[Range] = []
    while len(below) + len(above) < N_RANGES - 1:
        above.append(_above((right, *above)[-1], rng))
    return right, (*reversed(below), *above)


def no_ranges(subject: str, low: int, high: int, *, widest: float, too_wide: str) -> NoCandidate | None:
    """Why a count from `low` to `high` gives no question; None if it does.

    Args:
        subject: what would be asked about.
        low: the fewest that there may be.
        high: the most.
        widest: the largest `high` over `low` that can be asked for.
        too_wide: the reason where it is larger.
    """
    if low < LEAST_EVIDENCE:
        reason, detail = "too-few-counted", f"{low}, at least {LEAST_EVIDENCE}"
    elif high > widest * low:
        reason, detail = too_wide, f"{low} to {high}"
    elif not has_room(low, high):
        reason, detail = "no-room-below", f"{low} to {high}: four smaller ranges do not fit below"
    else:
        return None
    return NoCandidate(subject=subject, reason=reason, detail=detail)


def _slack(high: int) -> int:
    return max(1, round(_SLACK * high))


def _right(low: int, high: int, rng: np.random.Generator) -> Range:
    first, last = low - _slack(high), high + _slack(high)
    extra = max(0, math.ceil(_WIDTH * high) + _NARROWEST - (last - first + 1))
    # It goes down no further than leaves room, whatever its place: its ends must not tell the place.
    before = min(int(rng.integers(extra + 1)), first - least_with_room())
    return Range(low=first - before, high=last + extra - before)


def _below(entry: Range, n_more: int, rng: np.random.Generator) -> Range:
    """The next range towards 0, narrower where it can be, with room for as many more below it."""
    growth = float(rng.uniform(*_GROWTH))
    # Its part of the room where those below it get narrower by the same factor.
    part = entry.low * (1 - 1 / growth) / (1 - growth ** -(n_more + 1))
    room = entry.low - n_more
    width = min(max(1, min(entry.width - 1, round(entry.width / growth), round(part))), room)
    gap = min(int(rng.integers(max(1, width // 4))), room - width)
    return Range(low=entry.low - gap - width, high=entry.low - 1 - gap)


def _above(entry: Range, rng: np.random.Generator) -> Range:
    width = max(entry.width + 1, round(entry.width * rng.uniform(*_GROWTH)))
    low = entry.high + 1 + int(rng.integers(max(1, entry.width // 4)))
    return Range(low=low, high=low + width - 1)


def shared_options(counts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """For each right count of many questions its five options, ascending; none where it is left over.

    Five questions with five different counts share these counts as their options. So each option is right
    in one of the five, and nothing that can be said of an option by itself (the smallest, the middle one, one
    that is common as a count) is right in more. As small counts are many and large ones few, the largest that
    is left comes first and is joined by those that the most questions are left with; some small ones are left
    over in the end. Of equal counts the first come first.

    Args:
        counts: what is right, one for each question.

    Source: HERBench, section 7.5 (the rank of the right count varies uniformly over the options).
    Departs: the paper does not say how; wrong counts that are nobody's right one would be told by their size.

    >>> shared_options([4, 3, 3, 5, 6, 7])
    ((3, 4, 5, 6, 7), (3, 4, 5, 6, 7), (), (3, 4, 5, 6, 7), (3, 4, 5, 6, 7), (3, 4, 5, 6, 7))
    """
    left = Counter(counts)
    dealt: dict[int, list[tuple[int, ...]]] = {}
    for largest in sorted(left, reverse=True):
        while left[largest]:
            near = [number for number in left if left[number] and number < largest <= MOST_TIMES * number]
            if len(near) < N_OTHERS:
                break
            others = sorted(near, key=lambda number: (-left[number], -number))[:N_OTHERS]
            options = tuple(sorted((*others, largest)))
            for option in options:
                left[option] -= 1
                dealt.setdefault(option, []).append(options)
    queues = {number: iter(options) for number, options in dealt.items()}
    return tuple(next(queues.get(number, iter(())), ()) for number in counts)


def counts_around(right: int, *, rank: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Five counts of which the right one has `rank` others below it, ascending, none below 0.

    Neighbouring counts are apart by 1 to a quarter of what the right one is above `LEAST_COUNT`, so that
    large counts are not asked to the unit.

    Args:
        right: the right count.
        rank: how many of the others are smaller, 0 to 4.
        rng: draws the distances.

    Raises:
        UsageError: a rank outside 0 to 4, or a count below the rank.

    Source: HERBench, section 7.5 (the rank of the right count varies uniformly over the options).
    Departs: the paper does not say how far apart the counts are.
    """
    if not 0 <= rank <= N_OTHERS or right < rank:
        raise UsageError(
            f"count {right} with {rank} smaller ones; expected 0 to 4 smaller ones, none below 0"
        )
    widest = max(1, (right - LEAST_COUNT) // N_OTHERS)
    steps: NDArray[np.int64] = rng.integers(1, widest + 1, size=N_OTHERS)
    below = right - np.cumsum(steps[:rank])
    above = right + np.cumsum(steps[rank:])
    return tuple(int(count) for count in (*below[::-1], right, *above))


def structure_of(count: PersonCount) -> str:
    """The form of question that a count answers.

    >>> structure_of(PersonCount(place="entered:left", n=5, n_low=5, n_high=5))
    'entered'
    """
    return count.place.partition(":")[0]


def subject_of(count: PersonCount) -> str:
    """What a question calls the place of a count.

    >>> subject_of(PersonCount(place="crossed:left-right", n=5, n_low=5, n_high=5))
    'left to right edge'
    """
    structure, _, place = count.place.partition(":")
    return place if structure == "visited" else f"{place.replace('-', ' to ')} edge"


def in_window(count: PersonCount, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the moments inside the window of a count."""
    if count.window is None:
        return tuple(evidence)
    first, last = count.window
    return tuple(entry for entry in evidence if all(first <= frame <= last for frame in entry.frames))


def facts_of(count: PersonCount, *, n_by_tracks: int | None) -> dict[str, str]:
    """The figures behind a count: who counted what, what tracks show at the same place, and their share."""
    facts = {
        "counted": str(count.n),
        "people": f"{count.n_low} to {count.n_high}",
        "counted by": "; ".join(count.counters),
    }
    if n_by_tracks is not None:
        facts["counted by tracks"] = str(n_by_tracks)
        if count.n:
            facts["share found by tracks"] = f"{min(n_by_tracks, count.n) / count.n:.2f}"
    return facts


def candidate_of(
    count: PersonCount,
    *,
    question: str,
    timeline: Timeline,
    by_tracks: Sequence[Evidence] | None,
    ranges: Ranges,
    widest: float,
) -> Candidate | NoCandidate:
    """Return the question for a count, or why there is no question.

    Args:
        count: what persons counted.
        question: in words, without its window.
        timeline: the times of the video.
        by_tracks: the moments at which tracks show somebody there; None if that is not known.
        ranges: makes the options.
        widest: the largest number over the smallest that can be asked for.
    """
    structure, low, high = structure_of(count), count.n_low, count.n_high
    subject = f"{structure}, {subject_of(count)}"
    if none := no_ranges(subject, low, high, widest=widest, too_wide="range-too-wide"):
        return none
    arounds = tuple(
        timeline.around(frame, note="a person was counted here")
        for frame in count.frames
        if frame < timeline.n_frames
    )
    right, wrong = ranges(low, high)
    return Candidate(
        structure=structure,
        subject=subject_of(count),
        question=f"{question}{_window_words(count, timeline)}",
        right=right,
        wrong=wrong,
        evidence=by_time(arounds or by_tracks or ()),
        truth=BY_PERSON,
        facts=facts_of(count, n_by_tracks=None if by_tracks is None else len(by_tracks)),
    )


def _window_words(count: PersonCount, timeline: Timeline) -> str:
    if count.window is None:
        return ""
    first, last = count.window
    start_s, end_s = timeline.time_s(first), timeline.time_s(last)
    return f" Count from {start_s:.1f} s to {end_s:.1f} s of the video only."


def by_structure(counts: Sequence[PersonCount]) -> Mapping[str, list[PersonCount]]:
    """The counts of each form of question, in order."""
    return by_key((structure_of(count), count) for count in counts)
