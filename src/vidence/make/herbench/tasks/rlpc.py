"""Region-localized people counting: how many come, go or pass through a part of the frame."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Annotated, Final, Literal

import numpy as np
from msgspec import Meta

from vidence.make.herbench.tasks.candidates import (
    BalancedDraw,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
    all_drawn,
    by_time,
)
from vidence.make.herbench.tasks.counts import (
    N_RANGES,
    WHOLE_FRAME,
    by_structure,
    candidate_of,
    in_window,
    no_ranges,
    ranges_around,
    structure_of,
    subject_of,
)
from vidence.make.herbench.tasks.people import REACH, End, Reach, UnclearS, timeline_of
from vidence.make.herbench.tasks.timeline import Timeline
from vidence.make.pipeline.material import Corpus, Doubt, Material, PersonCount, Task
from vidence.records import Evidence, Record
from vidence.seeing.boxes import EDGES, Edge, Region, edges_at, named_regions, share_inside
from vidence.seeing.tracks import PERSON, Track, TrackedVideo, listed_others
from vidence.weights.checkpoints import library

_INSIDE = 0.5
SURE: Final = "sure"
PAPER: Final = "paper"
AS_THE_PAPER: Final = "as the paper does"
# Who vanishes and somebody who appears later may be one person, if nobody has to go faster than so many times
# a person's height in a second; somebody who runs does two. Near each other is within one height.
_HEIGHTS_PER_S, _HEIGHTS_APART = 3.0, 1.0
_AWAY_S = 1.0
_WITHIN = 0.7  # of a box in another one: about what a limb, or a second box around the same person, has
_AGAIN = "A person who leaves the view and comes back counts again. Select the range that holds the number."
_WORDS = {
    "entered": "How many people come into view through the {comes} edge of the frame?",
    "left": "How many people go out of view through the {goes} edge of the frame?",
    "crossed": "How many people come into view through the {comes} edge of the frame and later go out of "
    "view through the {goes} edge?",
    "visited": "How many people are in {region} at some time, with at least half of what is visible of them "
    "inside it?",
}
_VISITED_WHOLE = "How many people are in view at some time?"
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
    """Who is counted, how, and when a count is clear enough to be asked for."""

    count: Annotated[
        Literal["sure", "paper"],
        Meta(description="sure: with all doubts in the range; paper: every track counts, as the paper does"),
    ] = SURE
    widest: Annotated[
        float,
        Meta(ge=1, description="largest number over smallest that the count can be, if it is asked for"),
    ] = 2.5
    guard: Annotated[
        float,
        Meta(
            ge=0, le=0.5, description="share of a box around one half that leaves open if it is in a region"
        ),
    ] = 0.1
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
    their box in the region, tracks in it that may be the rest of others, and tracks that refining left out
    (`TrackedVideo.others`): who passes quickly is somebody all the same.

    Tracks that a detector found say nothing of whom it does not see, and are not counted. Tracks that people
    gave or reviewed are taken for everybody, and their identities for those of people.

    Which place by size the right range has is drawn first, and the ranges are built around it. A count too
    small for the largest place, with four smaller ranges, is not asked at all: asked at the others alone it
    would make the smallest ranges right most often.

    Where persons counted (`Material.counts`), the right range is theirs;
    what the tracks show at the same place stands beside it, and the tracks are not asked there as well.

    Source: HERBench, section 7.3, figure 21.
    Departs: a corner counts for neither edge; who is there in the first frame did not enter. Counts below
        three, and counts without room, are not asked for. The question says that who comes back counts
        again, since tracks are counted. With ``count=paper`` only the last two hold: every track counts
        whose first, or last, centre lies in the band of an edge, or half of whose box lies in a region in
        any frame, and each such question says so and waits for a person.
    """

    code = "RLPC"
    title = "Region-Localized People Counting"
    family = "MEA&N"
    version = 8
    needs: tuple[str, ...] = ("tracked",)
    uses: tuple[str, ...] = ("counts",)
    structures: tuple[str, ...] = tuple(_WORDS)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.wants_people = settings.count != PAPER

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        tracked = material.tracked
        if tracked is None:
            return []
        by_persons = self._by_persons(material, tracked, rng)
        done = {
            (structure_of(person_count), subject_of(person_count))
            for person_count in material.counts
            if person_count.window is None
        }

        crowd: _PaperCrowd | _Crowd
        doubt: Literal["", Doubt] = ""
        if self._settings.count == PAPER:
            crowd, doubt = _PaperCrowd(tracked), "paper-count"
        elif tracked.basis.is_trusted:
            crowd = _Crowd(tracked, self._settings)
        else:
            log.drop(
                "",
                reason="detected-tracks-alone",
                detail="a detector found these tracks, and how many people it misses is not known: count the "
                "people, answer for the tracks (--sheets writes them), or give tracks that people made",
            )
            return by_persons

        def of_tracks(name: str) -> Iterator[_Count]:
            return (entry for entry in crowd.counts(name, rng) if (name, entry.subject) not in done)

        return by_persons + [
            self._candidates(name, of_tracks(name), doubt=doubt, rng=rng) for name in self.structures
        ]

    def _by_persons(
        self, material: Material, tracked: TrackedVideo, rng: np.random.Generator
    ) -> list[Candidates]:
        """A source for each structure that persons counted for."""

        def each(counts: Sequence[PersonCount]) -> Candidates:
            ranks = BalancedDraw(N_RANGES, rng=rng)
            for count in counts:
                by_tracks = moments_of_tracks(count, tracked, self._settings)
                if by_tracks is None:
                    about = f"{structure_of(count)}, {subject_of(count)}"
                    yield NoCandidate(subject=about, reason="no-such-place", detail=count.place)
                    continue

                def ranges(low: int, high: int) -> tuple[str, tuple[str, ...]]:
                    right, wrong = ranges_around(low, high, rank=ranks.next(), rng=rng)
                    return right.text, tuple(entry.text for entry in wrong)

                yield candidate_of(
                    count,
                    question=f"{_question_of(count)} {_AGAIN}",
                    timeline=timeline_of(tracked),
                    by_tracks=by_tracks,
                    ranges=ranges,
                    widest=self._settings.widest,
                )

        return [each(counts) for counts in by_structure(material.counts).values()]

    def _candidates(
        self, structure: str, counts: Iterator[_Count], *, doubt: Literal["", Doubt], rng: np.random.Generator
    ) -> Candidates:
        ranks = BalancedDraw(N_RANGES, rng=rng)
        for count in counts:
            low, subject = len(count.people), f"{structure}, {count.subject}"
            high, widest = low + count.n_unclear, self._settings.widest
            if none := no_ranges(subject, low, high, widest=widest, too_wide="count-not-clear"):
                yield none
                continue
            rank = ranks.next()
            right, wrong = ranges_around(low, high, rank=rank, rng=rng)
            yield Candidate(
                structure=structure,
                subject=count.subject,
                question=f"{count.question} {_AGAIN}",
                right=right.text,
                wrong=tuple(entry.text for entry in wrong),
                evidence=by_time(e for _, e in count.people),
                review=doubt,
                tags={"counted": AS_THE_PAPER} if doubt == "paper-count" else {},
                facts={
                    "counted": str(low),
                    "unclear": str(count.n_unclear),
                    **({"counted as": AS_THE_PAPER} if self._settings.count == PAPER else {}),
                    "smaller ranges": str(rank),
                    "tracks": ", ".join(track_id for track_id, _ in count.people),
                },
            )


def _places(
    structure: str, tracked: TrackedVideo, rng: np.random.Generator
) -> Iterator[tuple[str, str, tuple[Edge | None, Edge | None] | Region]]:
    """The name of each place that a structure asks about, the question, and the edges or the region."""
    words = _WORDS[structure]
    if structure in _PASSAGES:
        for comes, goes in all_drawn(_PASSAGES[structure], rng):
            name = f"{' to '.join(edge for edge in (comes, goes) if edge)} edge"
            yield name, words.format(comes=comes, goes=goes), (comes, goes)
        return
    regions = named_regions(tracked.width_px, tracked.height_px)
    for name in all_drawn([name for name in regions if name in _REGION_WORDS], rng):
        yield name, words.format(region=_REGION_WORDS[name]), regions[name]


class _PaperCrowd:
    """All people of a video, counted as the paper does.

    Source: HERBench, section 7.3.
    Departs: no.
    """

    def __init__(self, tracked: TrackedVideo) -> None:
        self._tracked = tracked
        self._timeline = timeline_of(tracked)
        self._people = [track for track in (*tracked.tracks, *tracked.others) if track.class_name == PERSON]

    def counts(self, structure: str, rng: np.random.Generator) -> Iterator[_Count]:
        """How many tracks pass each edge, or each two edges, or are in each region at some time."""
        for name, question, place in _places(structure, self._tracked, rng):
            if isinstance(place, Region):
                counts = [(track.track_id, self._visit(track, place)) for track in self._people]
            else:
                counts = [(track.track_id, self._passage(track, place)) for track in self._people]
            people = tuple((name, evidence) for name, evidence in counts if evidence is not None)
            yield _Count(subject=name, question=question, people=people, n_unclear=0)

    def _passage(self, track: Track, through: tuple[Edge | None, Edge | None]) -> Evidence | None:
        width_px, height_px = self._tracked.width_px, self._tracked.height_px
        centres = (track.centroids_px[0], track.centroids_px[-1])
        if any(
            e is not None and e not in edges_at(c, width_px=width_px, height_px=height_px)
            for e, c in zip(through, centres, strict=True)
        ):
            return None
        return _end_of(self._timeline, track, goes=through[-1] is not None)

    def _visit(self, track: Track, region: Region) -> Evidence | None:
        share = float(share_inside(track.boxes_px, region.box_px).max())
        return _best_view(self._timeline, track, region) if share >= _INSIDE else None


def _end_of(timeline: Timeline, track: Track, *, goes: bool) -> Evidence:
    """Return the moment a person comes or goes."""
    if goes:
        return timeline.ending(track.first_frame, track.last_frame, note=f"track {track.track_id} goes")
    return timeline.beginning(track.first_frame, track.last_frame, note=f"track {track.track_id} comes")


def _best_view(timeline: Timeline, track: Track, region: Region) -> Evidence:
    """The middle one of the frames in which the largest share of a box is in a region."""
    inside = share_inside(track.boxes_px, region.box_px)
    frames = track.frame_indices[inside >= inside.max()]
    note = f"track {track.track_id} is in the {region.name}"
    return timeline.around(int(frames[len(frames) // 2]), note=note)


def _doubles(others: Sequence[Track], kept: Sequence[Track]) -> list[Track]:
    """Return tracks with boxes mostly inside those of a kept track, in most of their frames.

    A part of that person, a second box around them, or somebody right behind them: boxes do not tell.
    """
    return [other for other in others if any(_is_within(other, two) for two in kept)]


def _is_within(track: Track, two: Track) -> bool:
    _, mine, theirs = np.intersect1d(
        track.frame_indices, two.frame_indices, assume_unique=True, return_indices=True
    )
    if 2 * len(mine) <= len(track.frame_indices):
        return False
    inside = share_inside(track.boxes_px[mine], two.boxes_px[theirs]) >= _WITHIN
    return 2 * int(np.count_nonzero(inside)) > len(track.frame_indices)


def _stays(track: Track, tracked: TrackedVideo) -> Iterator[tuple[int, Track]]:
    """Return the stays of a person who is out of view for at least a second within one track.

    Each but the first with 1, each but the last with -1: a question counts who comes back again.
    """
    times_s = tracked.times_s[track.frame_indices]
    breaks = np.flatnonzero(np.diff(times_s) > _AWAY_S) + 1
    ends = [0, *breaks.tolist(), len(times_s)]
    for i, (first, end) in enumerate(pairwise(ends)):
        name = f"{track.track_id}, stay {i + 1}"
        if i > 0:
            yield 1, replace(track.part(slice(first, end)), track_id=name)
        if end < len(times_s):
            yield -1, replace(track.part(slice(first, end)), track_id=f"{name} before another")


class _Crowd:
    """All people of a video, with the edges that they come and go through."""

    def __init__(self, tracked: TrackedVideo, settings: Settings) -> None:
        self._tracked, self._settings = tracked, settings
        self._timeline = timeline_of(tracked)
        self._is_trusted = tracked.basis.is_trusted
        long = listed_others(tracked.others, tracked, least_s=settings.others_s)
        # What people gave is a person, also where refining has no use for it; hardly seen where it is short.
        others = tracked.others if self._is_trusted else long
        is_long = {track.track_id for track in long}
        unsure = [other for other in others if not self._is_trusted or other.track_id not in is_long]
        self._people = [track for track in (*tracked.tracks, *others) if track.class_name == PERSON]
        stays = (
            [piece for person in self._people for piece in _stays(person, tracked)]
            if self._is_trusted
            else []
        )
        if tracked.basis.kind == "reviewed":  # a person may have left out a second box as if it was somebody
            unsure += _doubles(others, tracked.tracks)
        self._again = [piece for i, piece in stays if i > 0]
        self._before = [piece for i, piece in stays if i < 0]
        self._doubtful = {track.track_id for track in (*unsure, *self._again, *self._before)}
        ends: Sequence[Literal[0, -1]] = (0, -1)
        self._ends = {
            track.track_id: tuple(
                End.of(track, tracked, at=at, reach=settings.reach, unclear_s=settings.unclear_s)
                for at in ends
            )
            for track in (*self._people, *self._again, *self._before)
        }

    def counts(self, structure: str, rng: np.random.Generator) -> Iterator[_Count]:
        """How many pass each edge, or each two edges, or are in each region at some time."""
        for name, question, place in _places(structure, self._tracked, rng):
            showns = [self._shown(track, place) for track in self._people]
            both = list(zip(self._people, showns, strict=True))
            clear = [(track, entry) for track, entry in both if isinstance(entry, Evidence)]
            rests = set() if self._is_trusted else self._rests([track for track, _ in clear])
            again = [
                self._shown(track, place) for track in (self._before if structure == "left" else self._again)
            ]
            yield _Count(
                subject=name,
                question=question,
                people=tuple(
                    (track.track_id, evidence) for track, evidence in clear if track.track_id not in rests
                ),
                n_unclear=sum(entry is True for entry in (*showns, *again)) + len(rests),
            )

    def _shown(self, track: Track, place: tuple[Edge | None, Edge | None] | Region) -> Evidence | bool:
        return self._visited(track, place) if isinstance(place, Region) else self._passed(track, place)

    def _passed(self, track: Track, through: tuple[Edge | None, Edge | None]) -> Evidence | bool:
        """Return when a person clearly crosses the edges, the last of two; else whether it is possible."""
        cases = [
            (e, end) for e, end in zip(through, self._ends[track.track_id], strict=True) if e is not None
        ]
        if track.track_id in self._doubtful or not all(end.way == edge for edge, end in cases):
            return all(self._may_pass(edge, end) for edge, end in cases)
        return _end_of(self._timeline, track, goes=through[-1] is not None)

    def _may_pass(self, edge: Edge, end: End) -> bool:
        """Whether an end of a track may be at an edge, or behind it: a detector finds people late."""
        return (edge in end.edges and end.away_s > 0) or (not self._is_trusted and end.is_inside)

    def _visited(self, track: Track, region: Region) -> Evidence | bool:
        """Return when a person is clearly in a region; else whether it is possible."""
        share, guard = float(share_inside(track.boxes_px, region.box_px).max()), self._settings.guard
        if track.track_id in self._doubtful or share < _INSIDE + guard:
            return share > _INSIDE - guard
        return _best_view(self._timeline, track, region)

    def _rests(self, tracks: Sequence[Track]) -> set[str]:
        """The tracks that may be the rest of others: as many as can be concurrently.

        Each can be that of one earlier track which ends inside the frame, and that one can go on once.
        """
        sparse = library("scipy.sparse", owner="task rlpc", extra="build")
        graphs = library("scipy.sparse.csgraph", owner="task rlpc", extra="build")
        ending = [track for track in tracks if self._ends[track.track_id][-1].is_inside]
        beginning = [track for track in tracks if self._ends[track.track_id][0].is_inside]
        if not ending or not beginning:
            return set()
        may_be = np.array([[self._may_go_on(a, b) for a in ending] for b in beginning], np.int8)
        matched = graphs.maximum_bipartite_matching(sparse.csr_array(may_be), perm_type="column")
        return {track.track_id for track, at in zip(beginning, matched, strict=True) if at >= 0}

    def _may_go_on(self, track: Track, other: Track) -> bool:
        """Whether a later track may be that of the same person; behind a cut it can begin anywhere."""
        tracked = self._tracked
        if other.first_frame <= track.last_frame:
            return False
        if tracked.shot_of(track.last_frame) != tracked.shot_of(other.first_frame):
            return True
        gap_s = float(tracked.times_s[other.first_frame] - tracked.times_s[track.last_frame])
        heights = track.boxes_px[-1, 3] - track.boxes_px[-1, 1], other.boxes_px[0, 3] - other.boxes_px[0, 1]
        away_px = float(np.linalg.norm(track.centroids_px[-1] - other.centroids_px[0]))
        return away_px <= float(max(heights)) * (_HEIGHTS_PER_S * gap_s + _HEIGHTS_APART)


def moments_of_tracks(
    count: PersonCount, tracked: TrackedVideo, settings: Settings | None = None
) -> tuple[Evidence, ...] | None:
    """Return the moments at which tracks clearly show a person at the place and time of a count.

    None if there is no such place. In a window a visit counts by the boxes in it.
    """
    structure, subject = structure_of(count), subject_of(count)
    timeline = timeline_of(tracked)
    seen = tracked
    if structure == "visited" and count.window is not None:
        seen = replace(
            tracked,
            tracks=_within(tracked.tracks, count.window),
            others=_within(tracked.others, count.window),
        )
    if (structure, subject) == ("visited", WHOLE_FRAME):
        return tuple(
            timeline.beginning(track.first_frame, track.last_frame, note=f"track {track.track_id} is there")
            for track in seen.tracks
            if track.class_name == PERSON
        )
    crowd = _Crowd(seen, settings or Settings())
    drawn = np.random.default_rng(0)  # the order of places is of no account here
    counts = (entry for entry in crowd.counts(structure, drawn) if entry.subject == subject)
    here = next(counts, None)
    if here is None:
        return None
    return in_window(count, [evidence for _, evidence in here.people])


def _within(tracks: Sequence[Track], window: tuple[int, int]) -> tuple[Track, ...]:
    first, last = window
    kept = ((track, (track.frame_indices >= first) & (track.frame_indices <= last)) for track in tracks)
    return tuple(track.part(inside) for track, inside in kept if inside.any())


def _question_of(count: PersonCount) -> str:
    """The question that a count at a known place answers."""
    structure, _, place = count.place.partition(":")
    if structure == "visited":
        return (
            _VISITED_WHOLE if place == WHOLE_FRAME else _WORDS[structure].format(region=_REGION_WORDS[place])
        )
    comes, _, goes = place.partition("-")
    return _WORDS[structure].format(comes=comes, goes=goes or comes)


def create(settings: Settings) -> Task:
    """The task."""
    return Rlpc(settings)
