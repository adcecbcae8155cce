"""Numbers of people that persons counted at edges and in regions, beside what tracks show there."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from vidence.make.herbench.tasks.candidates import LEAST_EVIDENCE, Candidate, NoCandidate, by_time
from vidence.make.herbench.tasks.counts import has_room
from vidence.make.herbench.tasks.timeline import Timeline
from vidence.make.pipeline.material import PersonCount
from vidence.records import Evidence

BY_PERSON: Final = "person"
WHOLE_FRAME: Final = "whole"
# The range that is right and four that are not, out of the least and the most that a number can be.
Ranges: TypeAlias = Callable[[int, int], tuple[str, tuple[str, ...]]]


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
    """The moments that lie in the window of a count."""
    if count.window is None:
        return tuple(evidence)
    first, last = count.window
    return tuple(one for one in evidence if all(first <= frame <= last for frame in one.frames))


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
    """The question that a count answers, or why there is none.

    Args:
        count: what persons counted.
        question: in words, without its window.
        timeline: the times of the video.
        by_tracks: the moments at which tracks show somebody there; None where that is not known.
        ranges: makes the options.
        widest: the largest number over the smallest that can be asked for.
    """
    structure, low, high = structure_of(count), count.n_low, count.n_high
    subject = f"{structure}, {subject_of(count)}"
    if low < LEAST_EVIDENCE:
        return NoCandidate(
            subject=subject, reason="too-few-counted", detail=f"{low}, at least {LEAST_EVIDENCE}"
        )
    if high > widest * low:
        return NoCandidate(subject=subject, reason="range-too-wide", detail=f"{low} to {high}")
    if not has_room(low, high):
        detail = f"{low} to {high}: four smaller ranges do not fit below"
        return NoCandidate(subject=subject, reason="no-room-below", detail=detail)
    shown = tuple(
        timeline.around(frame, note="a person counted somebody here")
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
        evidence=by_time(shown or by_tracks or ()),
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
    """The counts of each form of question, in their order."""
    found: dict[str, list[PersonCount]] = {}
    for count in counts:
        found.setdefault(structure_of(count), []).append(count)
    return found
