"""Appearance-grounded localization and trajectory: where a person comes from and goes to."""

from collections.abc import Sequence
from itertools import permutations, product

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.make.herbench.tasks.candidates import (
    Candidate,
    Candidates,
    Choice,
    NoCandidate,
    all_drawn,
    one_of,
    one_of_each,
)
from vidence.make.herbench.tasks.paths import EDGE_WORDS, REGIONS, SHAPES, moves, region_of, shape_of
from vidence.make.herbench.tasks.people import (
    STAYED,
    PeopleSettings,
    PeopleTask,
    Person,
    Way,
    about,
    doubt_of,
    identification,
    only_one,
)
from vidence.make.pipeline.material import Task
from vidence.records import Evidence
from vidence.seeing.boxes import EDGES

Settings = PeopleSettings
_MIDDLE = (
    " The middle reaches a fifth of the frame's width to the left and right of its centre, and a fifth of "
    "its height up and down; the four other parts are what is left of its quarters."
)
_WORDS = {
    "enters": "How does this person come into view?",
    "leaves": "How does this person go out of view, if at all?",
    "passage": "Through which edge of the frame does this person come in, and through which one go out?",
    "starts": f"In which part of the frame is this person when first in view?{_MIDDLE}",
    "ends": f"In which part of the frame is this person when last in view?{_MIDDLE}",
    "route": f"Where is this person when first in view, and where when last in view?{_MIDDLE}",
    "shape": "As seen in the frame, how does this person move between left and right?",
}
# Where the answer is read off: among the first fifth of the track, or the last; both where not named.
_SHOWN_AT = {"enters": 0, "starts": 0, "leaves": -1, "ends": -1}
# How many moments tell the answer; each of them shows who it is, too.
_MOMENTS = {"enters": 1, "leaves": 1, "passage": 2, "starts": 1, "ends": 1, "route": 2, "shape": 3}

_STAYED = {
    "enters": "Not through an edge: the person is there from the start",
    "leaves": "Not at all: the person stays until the end of the video",
}


class Aglt(PeopleTask):
    """One person, named by appearance: the edges, the parts of the frame, the way between them.

    Everything is computed from the track. Where the answer rests on its beginning, that lies at an edge or at
    the beginning of the video, and so for its end: inside the frame, another track may be the rest of it. The
    evidence is its first fifth, its middle and its last fifth. `k` is how many of them the answer needs: one
    end tells where somebody comes from or goes to, and shows who it is.

    Source: HERBench, sections 3.1, 3.2 and 7.3, figure 15.
    Departs: the paper lets a model phrase questions from B-cards; here a program does so from the track, so
        that no model decides what is right. The paper calls every question one of three moments or more;
        here only those about the shape of the path are.
    """

    code = "AGLT"
    title = "Appearance-Grounded Localization Trajectory"
    family = "R&T"
    version = PeopleTask.version + 1
    structures: tuple[str, ...] = tuple(_WORDS)

    def candidates(self, structure: str, people: Sequence[Person], *, rng: np.random.Generator) -> Candidates:
        """One question about each person."""
        for person in all_drawn(people, rng):
            problem = _problem(person, structure) or _choice(person, structure, rng)
            if isinstance(problem, str):
                yield NoCandidate(
                    subject=f"{structure}, {about([person])}", reason=problem, detail=person.fact
                )
                continue
            right, wrong = problem
            yield Candidate(
                structure=structure,
                subject=about([person]),
                question=f"{only_one(person)}\n{_WORDS[structure]}",
                right=right,
                wrong=wrong,
                evidence=_evidence(person, structure),
                k=_MOMENTS[structure],
                facts={
                    "person": person.fact,
                    "first seen at": _place(person.path[0]),
                    "last seen at": _place(person.path[-1]),
                    "moves": str(moves(person.path[:, 0], least=0.12)),
                    **identification([person]),
                },
                review=doubt_of([person]),
            )


def _problem(person: Person, structure: str) -> str:
    """Return why a person's entry or exit, on which the answer depends, is unknown; empty if known."""
    if _SHOWN_AT.get(structure) != -1 and person.comes.is_inside:
        return "begins-inside"
    return "ends-inside" if _SHOWN_AT.get(structure) != 0 and person.goes.is_inside else ""


def _place(point: NDArray[np.float64]) -> str:
    return f"{point[0]:.2f} of the width, {point[1]:.2f} of the height"


def _evidence(person: Person, structure: str) -> tuple[Evidence, ...]:
    """Three spans; the frame that shows where the answer is comes first among those of its span."""
    first, middle, last = person.looks
    at = _SHOWN_AT.get(structure)
    if at != -1:
        first = _also_shown(first, person.track.first_frame)
    if at != 0:
        last = _also_shown(last, person.track.last_frame)
    return first, middle, last


def _also_shown(evidence: Evidence, frame: int) -> Evidence:
    return msgspec.structs.replace(evidence, frames=tuple(dict.fromkeys((frame, *evidence.frames))))


def _choice(person: Person, structure: str, rng: np.random.Generator) -> Choice | str:
    """Return the right answer and wrong ones, or the reason for failure."""
    match structure:
        case "enters" | "leaves":
            way = person.enters if structure == "enters" else person.leaves
            values: dict[Way, str] = {edge: f"Through {EDGE_WORDS[edge]}" for edge in EDGES}
            values[STAYED] = _STAYED[structure]
            return one_of(values[way], values.values()) if way in values else "edge-not-clear"
        case "passage":
            passages: dict[tuple[Way, Way], str] = {
                (a, b): f"In through {EDGE_WORDS[a]}, out through {EDGE_WORDS[b]}"
                for a, b in product(EDGES, repeat=2)
            }
            right = passages.get((person.enters, person.leaves), "")
            return (right, one_of_each(right, passages.values(), rng=rng)) if right else "edge-not-clear"
        case "starts" | "ends":
            region = region_of(person.path[0 if structure == "starts" else -1])
            return one_of(f"In {region}", [f"In {r}" for r in REGIONS]) if region else "region-not-clear"
        case "route":
            ends = region_of(person.path[0]), region_of(person.path[-1])
            if not all(ends):
                return "region-not-clear"
            routes = {
                (a, b): f"First in {a}, last in {b}".replace(" of the frame", "")
                for a, b in permutations(REGIONS, 2)
            }
            right = routes.get(ends, "")
            return (right, one_of_each(right, routes.values(), rng=rng)) if right else "same-region"
        case _:
            right = shape_of(person.path[:, 0])
            return (right, one_of_each(right, SHAPES, rng=rng)) if right else "path-not-clear"


def create(settings: Settings) -> Task:
    """The task."""
    return Aglt(settings)
