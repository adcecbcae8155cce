"""Region-localized people counting: how many come, go or pass through a part of the frame."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Annotated, Final, Literal

import numpy as np
from msgspec import Meta

from vidence.make.pipeline.material import Corpus, Material, Task
from vidence.make.tasks.candidates import (
    LEAST_EVIDENCE,
    BalancedDraw,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
    all_drawn,
    by_time,
)
from vidence.make.tasks.counts import N_RANGES, has_room, ranges_around
from vidence.make.tasks.people import REACH, End, Reach, UnclearS, lasts_s, timeline_of
from vidence.records import Evidence, Record
from vidence.seeing.boxes import share_inside
from vidence.seeing.space import EDGES, Edge, Region, named_regions
from vidence.seeing.tracks import PERSON, Track, TrackedVideo

_INSIDE = 0.5
# Somebody whose box is in a region by a share so near to the half may be counted or not.
_INSIDE_GUARD = 0.1
_AGAIN = "Somebody who leaves the view and comes back counts again. Select the range that holds the number."
_WORDS = {
    "entered": "How many people come into view through the {comes} edge of the frame?",
    "left": "How many people go out of view through the {goes} edge of the frame?",
    "crossed": "How many people come into view through the {comes} edge of the frame and later go out of "
    "view through the {goes} edge?",
    "visited": "How many people are in {region} at some time, with at least half of what is visible of them "
    "inside it?",
}
# Through which edges people come and go.
_PASSAGES: Final[Mapping[str, Sequence[tuple[Edge | None, Edge | None]]]] = {
    "entered": [(edge, None) for edge in EDGES],
    "left": [(None, edge) for edge in EDGES],
    "crossed": list(permutations(EDGES, 2)),
}
_REGION_WORDS = {
    "left-half": "the left half of the frame",
    "right-half": "the right half of the frame",
    "top-half": "the top half of the frame",
    "bottom-half": "the bottom half of the frame",
    "top-left": "the top left quarter of the frame",
    "top-right": "the top right quarter of the frame",
    "bottom-left": "the bottom left quarter of the frame",
    "bottom-right": "the bottom right quarter of the frame",
    "left-third": "the left third of the frame",
    "centre-third": "the middle third of the frame, between its left and its right third",
    "right-third": "the right third of the frame",
    "top-third": "the top third of the frame",
    "middle-third": "the middle third of the frame, between its top and its bottom third",
    "bottom-third": "the bottom third of the frame",
}


class Settings(Record):
    """Who is counted, and when a count is clear enough to be asked for."""

    unclear: Annotated[
        float, Meta(ge=0, le=1, description="largest share of unclear cases among those counted")
    ] = 0.2
    others_s: Annotated[
        float,
        Meta(ge=0, description="seconds from which on a track that refining left out is an unclear case"),
    ] = 0.5
    unclear_s: UnclearS = 0.5
    reach: Reach = REACH


@dataclass(frozen=True, kw_only=True)
class _Count:
    """Who is counted, each with the moment that shows it, and how many more may be."""

    subject: str
    question: str
    people: tuple[tuple[str, Evidence], ...]
    n_unclear: int


class Rlpc(ComputedTask):
    """People counted over all tracks: through an edge in, out, both, and in a region.

    The right range holds every count between that of the clear cases and that with the unclear ones: people
    in a corner, where two edge bands meet, or in a band but not near its edge; people with about half of
    their box in the region, tracks in it that begin inside the frame and may be the rest of others, and
    tracks that refining left out (`TrackedVideo.others`): who passes quickly is somebody all the same.

    Which place by size the right range has is drawn first, and the ranges are built around it. A count too
    small for the largest place, with four smaller ranges, is not asked at all: asked at the others alone it
    would make the smallest ranges right most often.

    Source: HERBench, section 7.3, figure 21.
    Departs: a corner counts for neither edge; who is there in the first frame did not enter. Counts below
        three, and counts without room, are not asked for. The question says that who comes back counts
        again, since tracks are counted.
    """

    code = "RLPC"
    title = "Region-Localized People Counting"
    family = "MEA&N"
    version = 4
    needs: tuple[str, ...] = ("tracked",)
    structures: tuple[str, ...] = tuple(_WORDS)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        if material.tracked is None:
            return []
        crowd = _Crowd(material.tracked, self._settings)
        return [self._candidates(name, crowd.counts(name, rng), rng=rng) for name in self.structures]

    def _candidates(
        self, structure: str, counts: Iterator[_Count], *, rng: np.random.Generator
    ) -> Candidates:
        ranks = BalancedDraw(N_RANGES, rng=rng)
        for count in counts:
            subject, low = f"{structure}, {count.subject}", len(count.people)
            if low < LEAST_EVIDENCE:
                detail = f"{low}, at least {LEAST_EVIDENCE}"
                yield NoCandidate(subject=subject, reason="too-few-counted", detail=detail)
                continue
            if count.n_unclear > max(1, self._settings.unclear * low):
                detail = f"{count.n_unclear} unclear beside {low}"
                yield NoCandidate(subject=subject, reason="count-not-clear", detail=detail)
                continue
            high = low + count.n_unclear
            if not has_room(low, high):
                detail = f"{low} to {high}: four smaller ranges do not fit below"
                yield NoCandidate(subject=subject, reason="no-room-below", detail=detail)
                continue
            rank = ranks.next()
            right, wrong = ranges_around(low, high, rank=rank, rng=rng)
            yield Candidate(
                structure=structure,
                subject=count.subject,
                question=f"{count.question} {_AGAIN}",
                right=right.text,
                wrong=tuple(one.text for one in wrong),
                evidence=by_time(e for _, e in count.people),
                facts={
                    "counted": str(low),
                    "unclear": str(count.n_unclear),
                    "smaller ranges": str(rank),
                    "tracks": ", ".join(track_id for track_id, _ in count.people),
                },
            )


class _Crowd:
    """All people of a video, with the edges that they come and go through."""

    def __init__(self, tracked: TrackedVideo, settings: Settings) -> None:
        self._tracked = tracked
        self._timeline = timeline_of(tracked)
        others = [track for track in tracked.others if lasts_s(track, tracked) >= settings.others_s]
        self._people = [track for track in (*tracked.tracks, *others) if track.class_name == PERSON]
        self._doubtful = {track.track_id for track in others}
        ends: Sequence[Literal[0, -1]] = (0, -1)
        self._ends = {
            track.track_id: tuple(
                End.of(track, tracked, at=at, reach=settings.reach, unclear_s=settings.unclear_s)
                for at in ends
            )
            for track in self._people
        }

    def counts(self, structure: str, rng: np.random.Generator) -> Iterator[_Count]:
        """How many pass each edge, or each two edges, or are in each region at some time."""
        words = _WORDS[structure]
        if structure in _PASSAGES:
            for comes, goes in all_drawn(_PASSAGES[structure], rng):
                found = [self._passed(track, (comes, goes)) for track in self._people]
                subject = f"{' to '.join(edge for edge in (comes, goes) if edge)} edge"
                yield self._count(subject, words.format(comes=comes, goes=goes), found)
            return
        regions = named_regions(self._tracked.width_px, self._tracked.height_px)
        for name in all_drawn([name for name in regions if name in _REGION_WORDS], rng):
            found = [self._visited(track, regions[name]) for track in self._people]
            yield self._count(name, words.format(region=_REGION_WORDS[name]), found)

    def _count(self, subject: str, question: str, found: Sequence[Evidence | bool]) -> _Count:
        """The count: of each of the people it was found what shows them, or whether they may count."""
        both = zip(self._people, found, strict=True)
        people = tuple((track.track_id, one) for track, one in both if isinstance(one, Evidence))
        return _Count(
            subject=subject, question=question, people=people, n_unclear=sum(x is True for x in found)
        )

    def _passed(self, track: Track, through: tuple[Edge | None, Edge | None]) -> Evidence | bool:
        """When somebody clearly passes the edges, of two the last one; otherwise whether it may be so."""
        cases = [
            (e, end) for e, end in zip(through, self._ends[track.track_id], strict=True) if e is not None
        ]
        if track.track_id in self._doubtful or not all(end.way == edge for edge, end in cases):
            return all(edge in end.edges and end.away_s > 0 for edge, end in cases)
        first, last = track.first_frame, track.last_frame
        if through[-1] is not None:
            return self._timeline.ending(first, last, note=f"track {track.track_id} goes")
        return self._timeline.beginning(first, last, note=f"track {track.track_id} comes")

    def _visited(self, track: Track, region: Region) -> Evidence | bool:
        """When somebody is clearly in a region; otherwise whether it may be so."""
        inside = share_inside(track.boxes_px, region.box_px)
        share = float(inside.max())
        is_piece = track.track_id in self._doubtful or self._ends[track.track_id][0].is_inside
        if is_piece or share < _INSIDE + _INSIDE_GUARD:
            return share > _INSIDE - _INSIDE_GUARD
        # The middle one of the frames that have the largest share.
        frames = track.frame_indices[inside >= share]
        note = f"track {track.track_id} is in the {region.name}"
        return self._timeline.around(int(frames[len(frames) // 2]), note=note)


def create(settings: Settings) -> Task:
    """The task."""
    return Rlpc(settings)
