"""Multi-person duration reasoning: who is in view longest, comes first, is seen together."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Final

import numpy as np
from msgspec import Meta

from vidence.errors import UsageError
from vidence.make.herbench.tasks.candidates import (
    N_CHOICES,
    BalancedDraw,
    Candidate,
    Candidates,
    Choice,
    NoCandidate,
    by_time,
    one_of_each,
)
from vidence.make.herbench.tasks.orders import other_orders
from vidence.make.herbench.tasks.people import (
    STAYED,
    PeopleSettings,
    PeopleTask,
    Person,
    about,
    doubt_of,
    facts,
    groups,
    listed,
)
from vidence.make.pipeline.english import named, order_of
from vidence.make.pipeline.material import Task
from vidence.seeing.visibility import TIE_S, overlap_s

N_PEOPLE = 3
_PAIRS = tuple(combinations(range(N_PEOPLE), 2))
# Ties are two of the five options, so that they are right in two drafts of five where there are enough.
_N_TIES = 2


class Settings(PeopleSettings):
    """Which people are asked about, and which times count as equal."""

    tie_s: Annotated[float, Meta(gt=0, description="times closer than that are equal, seconds")] = TIE_S
    margin_s: Annotated[float, Meta(ge=0, description="how clear of `tie_s` times must be, seconds")] = 1.0

    def __post_init__(self) -> None:
        if self.margin_s > self.tie_s:
            raise UsageError(
                f"mpdr: margin_s={self.margin_s:g} is above tie_s={self.tie_s:g}, so that no two times could "
                "be equal; expected at most that"
            )


class Mpdr(PeopleTask):
    """Three people: who stays longest or shortest, comes first, goes last, is seen together; in which order.

    Times within `tie_s` count as equal, and options say so. Three people of whom two are neither clearly
    within the band nor clearly outside it are not asked about; nor is somebody whose track begins or ends
    inside the frame, away from every edge, where the answer rests on that.

    Source: HERBench, sections 3.1 and 7.3, figure 11 (less than 3 seconds count as the same).
    Departs: the margin around the band is ours, as are the orders.
    """

    code = "MPDR"
    title = "Multi-Person Duration Reasoning"
    family = "TR&C"
    structures: tuple[str, ...] = ("longest", "shortest", "first-in", "last-out", "overlap", "order-in")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._settings = settings

    def candidates(self, structure: str, people: Sequence[Person], *, rng: np.random.Generator) -> Candidates:
        """Questions about every three people, ties and others in turn."""
        if len(people) < N_PEOPLE:
            detail = f"{len(people)}, at least {N_PEOPLE}"
            yield NoCandidate(subject=structure, reason="too-few-people", detail=detail)
            return
        candidates: dict[bool, list[Candidate]] = {True: [], False: []}
        unclear: list[NoCandidate] = []
        for three in groups(people, N_PEOPLE, rng):
            candidate = self._candidate(three, structure, rng=rng)
            if isinstance(candidate, NoCandidate):
                unclear.append(candidate)
            else:
                candidates["tie" in candidate.tags].append(candidate)
        balanced = BalancedDraw(N_CHOICES, rng=rng)
        while any(candidates.values()):
            is_tie = balanced.next() < _N_TIES
            yield candidates[is_tie if candidates[is_tie] else not is_tie].pop()
        yield from unclear

    def _candidate(
        self, people: tuple[Person, ...], structure: str, *, rng: np.random.Generator
    ) -> Candidate | NoCandidate:
        subject = f"{structure}, {about(people)}"
        if problem := next((p for person in people if (p := _problem(person, structure))), ""):
            return NoCandidate(subject=subject, reason="no-such-moment", detail=problem)
        match structure:
            case "overlap":
                overlap = self._overlap(people, rng)
            case "order-in":
                overlap = self._order(people, rng)
            case _:
                same = "equally long" if structure in ("longest", "shortest") else "at the same time"
                overlap = self._most([_VALUES[structure](p) for p in people], same, rng=rng)
        if overlap is None:
            return NoCandidate(subject=subject, reason="times-too-close", detail=str(facts(people)))
        right, wrong = overlap
        arrivals = [person.arrival for person in people if structure not in _NO_COMING]
        departures = [person.departure for person in people if structure not in _NO_GOING]
        return Candidate(
            structure=structure,
            subject=about(people),
            question=listed(people, _WORDS[structure].format(band=self._band)),
            right=right,
            wrong=wrong,
            evidence=by_time([*arrivals, *departures]),
            facts=facts(people) | {"band": f"{self._settings.tie_s:g} s"},
            review=doubt_of(people),
            tags={"tie": "yes"} if structure in _VALUES and not right.startswith("Person") else {},
        )

    @property
    def _band(self) -> str:
        return f"{self._settings.tie_s:g} second{'s' * (self._settings.tie_s != 1)}"

    def _most(self, values: Sequence[float], same: str, *, rng: np.random.Generator) -> Choice | None:
        """Return the one with the highest value; None if not clearly above all others."""
        best = max(values)
        tie_s, margin_s = self._settings.tie_s, self._settings.margin_s
        first = [i for i, value in enumerate(values) if best - value < tie_s]
        lowest = min(values[i] for i in first)
        is_clear = best - lowest <= max(tie_s - margin_s, 0) and all(
            lowest - value >= tie_s + margin_s for i, value in enumerate(values) if i not in first
        )
        if not is_clear:
            return None
        note = f"{same} (less than {self._band} apart)"
        singles: dict[tuple[int, ...], str] = {(i,): f"Person {i + 1}" for i in range(N_PEOPLE)}
        ties: dict[tuple[int, ...], str] = {(i, j): f"People {i + 1} and {j + 1} {note}" for i, j in _PAIRS}
        ties[tuple(range(N_PEOPLE))] = f"All three {note}"
        right = (singles | ties)[tuple(first)]
        others = one_of_each(right, ties.values(), n=_N_TIES - (len(first) > 1), rng=rng)
        return right, (*(text for text in singles.values() if text != right), *others)

    def _order(self, people: Sequence[Person], rng: np.random.Generator) -> Choice | None:
        """In which order they come; None if two come within the band."""
        by_time = sorted(range(N_PEOPLE), key=lambda i: people[i].visible.start_s)
        starts_s = [people[i].visible.start_s for i in by_time]
        if min(np.diff(starts_s)) < self._settings.tie_s:
            return None
        right = [i + 1 for i in by_time]
        return order_of(right), other_orders(right, rng=rng)

    def _overlap(self, people: Sequence[Person], rng: np.random.Generator) -> Choice | None:
        """Which two are in view together; None if that is a matter of less than the margin."""
        entries = []
        for i, j in _PAIRS:
            person, other = people[i], people[j]
            gap_s = max(person.visible.start_s, other.visible.start_s) - min(
                person.visible.end_s, other.visible.end_s
            )
            both = np.intersect1d(person.track.frame_indices, other.track.frame_indices)
            if len(both) and overlap_s(person.visible, other.visible) >= self._settings.margin_s:
                entries.append((i + 1, j + 1))
            elif len(both) or gap_s < self._settings.margin_s:
                return None
        pairs = [(i + 1, j + 1) for i, j in _PAIRS]
        every = [_together(some) for size in range(len(pairs) + 1) for some in combinations(pairs, size)]
        right = _together(entries)
        return right, one_of_each(right, every, rng=rng)


# Whose value is the highest is asked for; ties are options.
_VALUES: Final[Mapping[str, Callable[[Person], float]]] = {
    "longest": lambda person: person.visible.duration_s,
    "shortest": lambda person: -person.visible.duration_s,
    "first-in": lambda person: -person.visible.start_s,
    "last-out": lambda person: person.visible.end_s,
}
# What rests on how people go alone, or on how they come.
_NO_COMING, _NO_GOING = ("last-out",), ("first-in", "order-in")
_WORDS = {
    "longest": "Who is in view for the longest time? Times that differ by less than {band} count as equal.",
    "shortest": "Who is in view for the shortest time? Times that differ by less than {band} count as equal.",
    "first-in": "Who comes into view first? Moments less than {band} apart count as the same.",
    "last-out": "Who is the last to go out of view? Moments less than {band} apart count as the same.",
    "overlap": "Which of them are in view at the same time at some moment?",
    "order-in": "In which order do they come into view?",
}


def _problem(person: Person, structure: str) -> str:
    """Return why a person's entry or exit, on which the answer depends, is unknown; empty if known."""
    name = f"track {person.track_id}"
    if structure not in _NO_COMING and person.comes.is_inside:
        return f"{name} begins inside the frame"
    if structure not in _NO_GOING and person.goes.is_inside:
        return f"{name} ends inside the frame"
    if structure in _NO_GOING and person.enters == STAYED:
        return f"{name} was there from the start"
    if structure in _NO_COMING and person.leaves == STAYED:
        return f"{name} stayed until the end"
    return ""


def _together(pairs: Sequence[tuple[int, int]]) -> str:
    """The words for which of three people are seen together."""
    if not pairs:
        return "No two of them"
    if len(pairs) == len(_PAIRS):
        return "Every two of them"
    if len(pairs) == 1:
        return f"Only {named('person', pairs[0], plural='people')}"
    (shared,) = set(pairs[0]) & set(pairs[1])
    apart = sorted({*pairs[0], *pairs[1]} - {shared})
    return f"Person {shared} with each of the others, but never {named('person', apart, plural='people')}"


def create(settings: Settings) -> Task:
    """The task."""
    return Mpdr(settings)
