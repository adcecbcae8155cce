"""Appearance-grounded localization and trajectory: where somebody comes from and goes to."""

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.make.pipeline.material import Corpus, Material, Task
from vidence.make.tasks.candidates import (
    N_CHOICES,
    Candidate,
    Candidates,
    NoCandidate,
    all_drawn,
    one_of_each,
)
from vidence.make.tasks.paths import EDGE_WORDS, REGIONS, SHAPES, moves, region_of, shape_of, shares
from vidence.make.tasks.people import (
    STAYED,
    UNCLEAR,
    PeopleSettings,
    PeopleTask,
    Person,
    Way,
    about,
    only_one,
    timeline_of,
)
from vidence.make.tasks.timeline import Timeline
from vidence.records import Evidence
from vidence.seeing.space import EDGES
from vidence.seeing.tracks import TrackedVideo

Settings = PeopleSettings
_WORDS = {
    "enters": "How does this person come into view?",
    "leaves": "How does this person go out of view, if at all?",
    "passage": "Through which edge of the frame does this person come in, and through which one go out?",
    "starts": "In which part of the frame is this person when first in view?",
    "ends": "In which part of the frame is this person when last in view?",
    "route": "Where is this person when first in view, and where when last in view?",
    "shape": "As seen in the frame, how does this person move between left and right?",
}
# Where the answer is read off: among the first fifth of the track, or the last; both where not named.
_SHOWN_AT = {"enters": 0, "starts": 0, "leaves": -1, "ends": -1}

Choice = tuple[str, tuple[str, ...]]


class Aglt(PeopleTask):
    """One person, named by appearance: the edges, the parts of the frame, the way between them.

    Everything is computed from the track. Where the answer rests on its beginning, that lies at an edge or at
    the beginning of the video, and so for its end: inside the frame, another track may be the rest of it. The
    evidence is its first fifth, its middle and its last fifth: the first and the last show who it is, the
    whole of it where the person goes.

    Source: HERBench, sections 3.1, 3.2 and 7.3, figure 15.
    Departs: the paper lets a model phrase questions from B-cards; here a program does so from the track, so
        that no model decides what is right.
    """

    code = "AGLT"
    title = "Appearance-Grounded Localization Trajectory"
    family = "R&T"
    structures: tuple[str, ...] = tuple(_WORDS)

    def about_people(
        self, people: Sequence[Person], material: Material, corpus: Corpus, *, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        tracked = material.tracked
        return [] if tracked is None else [_candidates(people, n, tracked, rng=rng) for n in self.structures]


def _candidates(
    people: Sequence[Person], structure: str, tracked: TrackedVideo, *, rng: np.random.Generator
) -> Candidates:
    timeline = timeline_of(tracked)
    for person in all_drawn(people, rng):
        points = shares(person.track, width_px=tracked.width_px, height_px=tracked.height_px)
        made = _problem(person, structure) or _MAKERS[structure](person, points, rng)
        if isinstance(made, str):
            yield NoCandidate(subject=f"{structure}, {about([person])}", reason=made, detail=person.fact)
            continue
        right, wrong = made
        yield Candidate(
            structure=structure,
            subject=about([person]),
            question=f"{only_one(person)}\n{_WORDS[structure]}",
            right=right,
            wrong=wrong,
            evidence=_evidence(person, structure, timeline),
            facts={
                "person": person.fact,
                "first seen at": _place(points[0]),
                "last seen at": _place(points[-1]),
                "moves": str(moves(points[:, 0], least=0.12)),
            },
        )


def _problem(person: Person, structure: str) -> str:
    """Why somebody's coming or going, which the answer rests on, is not known; empty where it is."""
    if _SHOWN_AT.get(structure) != -1 and not person.is_seen_coming:
        return "begins-inside"
    return "ends-inside" if _SHOWN_AT.get(structure) != 0 and not person.is_seen_going else ""


def _place(point: NDArray[np.float64]) -> str:
    return f"{point[0]:.2f} of the width, {point[1]:.2f} of the height"


def _evidence(person: Person, structure: str, timeline: Timeline) -> tuple[Evidence, ...]:
    """Three spans; the frame that shows where the answer is comes first among those of its span."""
    first, middle, last = person.looks(timeline)
    at = _SHOWN_AT.get(structure)
    if at != -1:
        first = _also_shown(first, person.track.first_frame)
    if at != 0:
        last = _also_shown(last, person.track.last_frame)
    return first, middle, last


def _also_shown(evidence: Evidence, frame: int) -> Evidence:
    return msgspec.structs.replace(evidence, frames=tuple(dict.fromkeys((frame, *evidence.frames))))


_Points = NDArray[np.float64]


def _enters(person: Person) -> Choice | str:
    return _way(person.enters, "Through {}", "Not through an edge: the person is there from the start")


def _leaves(person: Person) -> Choice | str:
    return _way(person.leaves, "Through {}", "Not at all: the person stays until the end of the video")


def _way(way: Way, words: str, stayed: str) -> Choice | str:
    """The four edges and not at all, or why that cannot be asked."""
    if way == UNCLEAR:
        return "edge-not-clear"
    said: dict[Way, str] = {edge: words.format(EDGE_WORDS[edge]) for edge in EDGES}
    said[STAYED] = stayed
    return said[way], tuple(text for other, text in said.items() if other != way)


def _passage(person: Person, rng: np.random.Generator) -> Choice | str:
    if person.enters in (UNCLEAR, STAYED) or person.leaves in (UNCLEAR, STAYED):
        return "edge-not-clear"
    every = [f"In through {EDGE_WORDS[a]}, out through {EDGE_WORDS[b]}" for a in EDGES for b in EDGES]
    right = every[EDGES.index(person.enters) * len(EDGES) + EDGES.index(person.leaves)]
    return right, one_of_each(right, every, n=N_CHOICES - 1, rng=rng)


def _part(region: str) -> Choice | str:
    if not region:
        return "region-not-clear"
    return f"In {region}", tuple(f"In {other}" for other in REGIONS if other != region)


def _route(points: _Points, rng: np.random.Generator) -> Choice | str:
    start, end = region_of(points[0]), region_of(points[-1])
    if not start or not end:
        return "region-not-clear"
    if start == end:
        return "same-region"
    every = [_route_words(a, b) for a, b in permutations(REGIONS, 2)]
    right = _route_words(start, end)
    return right, one_of_each(right, every, n=N_CHOICES - 1, rng=rng)


def _route_words(start: str, end: str) -> str:
    return f"First in {start}, last in {end}".replace(" of the frame", "")


def _shape(points: _Points, rng: np.random.Generator) -> Choice | str:
    right = shape_of(points[:, 0])
    if not right:
        return "path-not-clear"
    return right, one_of_each(right, SHAPES, n=N_CHOICES - 1, rng=rng)


_MAKERS: Mapping[str, Callable[[Person, _Points, np.random.Generator], Choice | str]] = {
    "enters": lambda person, points, rng: _enters(person),
    "leaves": lambda person, points, rng: _leaves(person),
    "passage": lambda person, points, rng: _passage(person, rng),
    "starts": lambda person, points, rng: _part(region_of(points[0])),
    "ends": lambda person, points, rng: _part(region_of(points[-1])),
    "route": lambda person, points, rng: _route(points, rng),
    "shape": lambda person, points, rng: _shape(points, rng),
}


def create(settings: Settings) -> Task:
    """The task."""
    return Aglt(settings)
