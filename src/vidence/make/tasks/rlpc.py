"""Region-localized people counting: how many come, go or pass through a part of the frame."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from vidence.make.pipeline.material import Corpus, Material, Task
from vidence.make.tasks.candidates import (
    LEAST_EVIDENCE,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
    all_drawn,
    by_time,
)
from vidence.make.tasks.counts import ranges_around
from vidence.make.tasks.paths import EDGE_WORDS
from vidence.make.tasks.people import (
    REACH,
    Reach,
    UnclearS,
    from_cut,
    is_inside,
    lasts_s,
    reaches,
    timeline_of,
)
from vidence.records import Evidence, Record
from vidence.seeing.boxes import share_inside
from vidence.seeing.space import EDGES, Edge, Region, edges_at, named_regions
from vidence.seeing.tracks import PERSON, Track, TrackedVideo

_INSIDE = 0.5
# Somebody whose box is in a region by a share so near to the half may be counted or not.
_INSIDE_GUARD = 0.1
_AGAIN = "Somebody who leaves the view and comes back counts again. Select the range that holds the number."
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

    Source: HERBench, section 7.3, figure 21.
    Departs: a corner counts for neither edge; who is there in the first frame did not enter. Counts below
        three are not asked for. The question says that who comes back counts again, since tracks are counted.
    """

    code = "RLPC"
    title = "Region-Localized People Counting"
    family = "MEA&N"
    version = 3
    needs: tuple[str, ...] = ("tracked",)
    structures: tuple[str, ...] = ("entered", "left", "crossed", "visited")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        if material.tracked is None:
            return []
        crowd = _Crowd(material.tracked, self._settings)
        counts: Mapping[str, Callable[[np.random.Generator], Iterator[_Count]]] = {
            "entered": crowd.entered,
            "left": crowd.left,
            "crossed": crowd.crossed,
            "visited": crowd.visited,
        }
        return [self._candidates(name, counts[name](rng), rng=rng) for name in self.structures]

    def _candidates(
        self, structure: str, counts: Iterator[_Count], *, rng: np.random.Generator
    ) -> Candidates:
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
            right, wrong = ranges_around(low, low + count.n_unclear, rng=rng)
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
        self._reach, self._unclear_s = settings.reach, settings.unclear_s
        self._comes = {track.track_id: self._passes(track, at=0) for track in self._people}
        self._goes = {track.track_id: self._passes(track, at=-1) for track in self._people}

    def _passes(self, track: Track, *, at: Literal[0, -1]) -> tuple[tuple[Edge, ...], bool]:
        """The edge bands that a track begins or ends in, and whether it is clear that it passes them."""
        away_s = from_cut(track, self._tracked, at=at).away_s
        size = (self._tracked.width_px, self._tracked.height_px)
        edges = edges_at(track.centroids_px[at], width_px=size[0], height_px=size[1])
        is_near = all(reaches(track.boxes_px[at], edge, size, reach=self._reach) for edge in edges)
        return edges if away_s > 0 else (), away_s >= self._unclear_s and is_near

    def entered(self, rng: np.random.Generator) -> Iterator[_Count]:
        """How many come in through each edge."""
        for edge in all_drawn(EDGES, rng):
            yield self._passed(
                f"{edge} edge",
                f"How many people come into view through {EDGE_WORDS[edge]} of the frame?",
                comes=edge,
            )

    def left(self, rng: np.random.Generator) -> Iterator[_Count]:
        """How many go out through each edge."""
        for edge in all_drawn(EDGES, rng):
            yield self._passed(
                f"{edge} edge",
                f"How many people go out of view through {EDGE_WORDS[edge]} of the frame?",
                goes=edge,
            )

    def crossed(self, rng: np.random.Generator) -> Iterator[_Count]:
        """How many come in through one edge and go out through another."""
        for comes, goes in all_drawn(tuple(permutations(EDGES, 2)), rng):
            yield self._passed(
                f"{comes} to {goes} edge",
                f"How many people come into view through {EDGE_WORDS[comes]} of the frame and later go "
                f"out of view through {EDGE_WORDS[goes]}?",
                comes=comes,
                goes=goes,
            )

    def _passed(
        self, subject: str, question: str, *, comes: Edge | None = None, goes: Edge | None = None
    ) -> _Count:
        """Who passes the named edges clearly, and how many may do so."""
        people: list[tuple[str, Evidence]] = []
        n_unclear = 0
        for track in self._people:
            cases = [
                (edge in edges, edges == (edge,) and is_clear)
                for edge, (edges, is_clear) in (
                    (comes, self._comes[track.track_id]),
                    (goes, self._goes[track.track_id]),
                )
                if edge is not None
            ]
            is_doubtful = track.track_id in self._doubtful
            if all(is_clear for _, is_clear in cases) and not is_doubtful:
                people.append((track.track_id, self._shown(track, is_exit=goes is not None)))
            elif all(may_be for may_be, _ in cases):
                n_unclear += 1
        return _Count(subject=subject, question=question, people=tuple(people), n_unclear=n_unclear)

    def _shown(self, track: Track, *, is_exit: bool) -> Evidence:
        """The moment of the crossing; who comes and goes is seen going."""
        first, last = track.first_frame, track.last_frame
        if is_exit:
            return self._timeline.ending(first, last, note=f"track {track.track_id} goes")
        return self._timeline.beginning(first, last, note=f"track {track.track_id} comes")

    def visited(self, rng: np.random.Generator) -> Iterator[_Count]:
        """How many are in each region at some time."""
        regions = named_regions(self._tracked.width_px, self._tracked.height_px)
        for name in all_drawn(tuple(name for name in regions if name in _REGION_WORDS), rng):
            people: list[tuple[str, Evidence]] = []
            n_unclear = 0
            for track in self._people:
                share, frame = _deepest(track, regions[name])
                is_piece = track.track_id in self._doubtful or is_inside(
                    track, self._tracked, at=0, reach=self._reach, unclear_s=self._unclear_s
                )
                if share >= _INSIDE + _INSIDE_GUARD and not is_piece:
                    note = f"track {track.track_id} is in the {name}"
                    people.append((track.track_id, self._timeline.around(frame, note=note)))
                elif share > _INSIDE - _INSIDE_GUARD:
                    n_unclear += 1
            yield _Count(
                subject=name,
                question=(
                    f"How many people are in {_REGION_WORDS[name]} at some time, with at least half of "
                    "what is visible of them inside it?"
                ),
                people=tuple(people),
                n_unclear=n_unclear,
            )


def _deepest(track: Track, region: Region) -> tuple[float, int]:
    """The largest share of a track's box inside a region, and the middle one of the frames that have it."""
    inside = share_inside(track.boxes_px, region.box_px)
    most = float(inside.max())
    frames = track.frame_indices[inside >= most]
    return most, int(frames[len(frames) // 2])


def create(settings: Settings) -> Task:
    """The task."""
    return Rlpc(settings)
