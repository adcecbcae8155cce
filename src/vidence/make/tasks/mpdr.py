"""``mpdr``: multi-person duration reasoning: who is in view longest, comes first, is seen together."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from vidence import option_readers
from vidence.catalog import take_options
from vidence.contracts import Flow
from vidence.errors import UsageError
from vidence.make.pipeline.material import Corpus, Made, Material, Task
from vidence.make.tasks import _people
from vidence.make.tasks._drafting import (
    N_CHOICES,
    Deck,
    Idea,
    Ideas,
    Ledger,
    NoIdea,
    asking_nobody,
    lacks,
    one_of_each,
)
from vidence.make.tasks._moments import Timeline
from vidence.make.tasks._orders import wrong_orders
from vidence.make.tasks._people import STAYED, PeopleRules, Person
from vidence.make.tasks._wording import named, number_word, numbered, order_of
from vidence.records import Evidence
from vidence.seeing.visibility import TIE_S, overlap_s

N_PEOPLE = 3
_PAIRS = tuple(combinations(range(N_PEOPLE), 2))
# Ties are two of the five options, so that they are right in two drafts of five where there are enough.
_N_TIES = 2


class Rules(PeopleRules, kw_only=True, omit_defaults=True):
    """As `PeopleRules`; times within `tie_s` are equal, and must be clear of that by `margin_s`."""

    tie_s: float = TIE_S
    margin_s: float = 1.0


Choice = tuple[str, tuple[str, ...]]
# For each track when it comes into view and when it goes.
_Moments = Mapping[str, tuple[Evidence, Evidence]]


class Mpdr:
    """Three people: who stays longest or shortest, comes first, goes last, is seen together; in which order.

    Times within `tie_s` count as equal, and options say so. Three people of whom two are neither clearly
    within the band nor clearly outside it are not asked about; nor is somebody whose track begins or ends
    inside the frame, away from every edge, where the answer rests on that.

    Source: HERBench, sections 3.1 and 7.3, figure 11 (less than 3 seconds count as the same).
    Departs: the margin around the band is ours, as are the orders.
    """

    code = "MPDR"
    title = "Multi-Person Duration Reasoning"
    stem = "multi_person_duration_reasoning"
    family = "TR&C"
    version = 3
    needs: tuple[str, ...] = ("tracked", "chosen", "a_cards")
    structures: tuple[str, ...] = ("longest", "shortest", "first-in", "last-out", "overlap", "order-in")

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def draft(
        self, material: Material, corpus: Corpus, *, most: int, rng: np.random.Generator
    ) -> Flow[Sequence[Made]]:
        """Up to `most` questions about when people are in view; nobody is asked."""
        ledger = Ledger(code=self.code, video_id=material.source.video_id, rng=rng)
        if not lacks(material, self.needs, ledger) and material.tracked is not None:
            people = _people.people_of(material, self._rules, ledger)
            timeline = _people.timeline_of(material.tracked)
            sources = [self._ideas(people, name, timeline, rng=rng) for name in self.structures]
            ledger.fill(sources, most=most)
        return asking_nobody(ledger.made)

    def _ideas(
        self, people: Sequence[Person], structure: str, timeline: Timeline, *, rng: np.random.Generator
    ) -> Ideas:
        """Questions of one structure about every three people, ties and others in turn."""
        if len(people) < N_PEOPLE:
            detail = f"{len(people)}, at least {N_PEOPLE}"
            yield NoIdea(subject=structure, reason="too-few-people", detail=detail)
            return
        moments = {p.track_id: (p.arrival(timeline), p.departure(timeline)) for p in people}
        every = list(combinations(people, N_PEOPLE))
        found: dict[bool, list[Idea]] = {True: [], False: []}
        unclear: list[NoIdea] = []
        for i in rng.permutation(len(every)):
            three = tuple(every[i][j] for j in rng.permutation(N_PEOPLE))
            idea = self._idea(three, structure, moments, rng=rng)
            if isinstance(idea, NoIdea):
                unclear.append(idea)
            else:
                found["tie" in idea.tags].append(idea)
        deck = Deck(N_CHOICES, rng=rng)
        while any(found.values()):
            is_tie = deck.draw() < _N_TIES
            yield found[is_tie if found[is_tie] else not is_tie].pop()
        yield from unclear

    def _idea(
        self, people: tuple[Person, ...], structure: str, moments: _Moments, *, rng: np.random.Generator
    ) -> Idea | NoIdea:
        subject = f"{structure}, {_people.about(people)}"
        problem = next((p for person in people if (p := _problem(person, structure))), "")
        if problem:
            return NoIdea(subject=subject, reason="no-such-moment", detail=problem)
        makers: Mapping[str, Callable[[], Choice | None]] = {
            "longest": lambda: self._most([p.visible.duration_s for p in people], _LONG, rng=rng),
            "shortest": lambda: self._most([-p.visible.duration_s for p in people], _LONG, rng=rng),
            "first-in": lambda: self._most([-p.visible.start_s for p in people], _SAME, rng=rng),
            "last-out": lambda: self._most([p.visible.end_s for p in people], _SAME, rng=rng),
            "overlap": lambda: self._overlap(people, rng),
            "order-in": lambda: self._order(people, rng),
        }
        made = makers[structure]()
        if made is None:
            return NoIdea(subject=subject, reason="times-too-close", detail=str(_people.facts(people)))
        right, wrong = made
        is_tie = structure in _ASKED_TIES and not right.startswith("Person")
        return Idea(
            structure=structure,
            subject=_people.about(people),
            question="\n".join(
                (
                    f"These {number_word(N_PEOPLE)} people are in the video:",
                    numbered([p.text for p in people]),
                    _WORDS[structure].format(band=self._band),
                )
            ),
            right=right,
            wrong=wrong,
            evidence=_evidence(people, structure, moments),
            facts=_people.facts(people) | {"band": f"{self._rules.tie_s:g} s"},
            tags={"tie": "yes"} if is_tie else {},
        )

    @property
    def _band(self) -> str:
        return f"{self._rules.tie_s:g} second{'s' * (self._rules.tie_s != 1)}"

    def _most(self, values: Sequence[float], same: str, *, rng: np.random.Generator) -> Choice | None:
        """Who has the highest value; None where somebody is neither clearly equal nor clearly below."""
        best = max(values)
        tie_s, margin_s = self._rules.tie_s, self._rules.margin_s
        first = [i for i, one in enumerate(values) if best - one < tie_s]
        lowest = min(values[i] for i in first)
        is_clear = best - lowest <= max(tie_s - margin_s, 0) and all(
            lowest - one >= tie_s + margin_s for i, one in enumerate(values) if i not in first
        )
        if not is_clear:
            return None
        note = f"{same} (less than {self._band} apart)"
        singles: dict[tuple[int, ...], str] = {(i,): f"Person {i + 1}" for i in range(N_PEOPLE)}
        ties: dict[tuple[int, ...], str] = {(i, j): f"People {i + 1} and {j + 1} {note}" for i, j in _PAIRS}
        ties[tuple(range(N_PEOPLE))] = f"All three {note}"
        right = (singles | ties)[tuple(first)]
        others = one_of_each(right, list(ties.values()), n=_N_TIES - (len(first) > 1), rng=rng)
        return right, (*(text for text in singles.values() if text != right), *others)

    def _order(self, people: Sequence[Person], rng: np.random.Generator) -> Choice | None:
        """In which order they come; None where two come within the band."""
        by_time = sorted(range(N_PEOPLE), key=lambda i: people[i].visible.start_s)
        starts_s = [people[i].visible.start_s for i in by_time]
        if min(np.diff(starts_s)) < self._rules.tie_s:
            return None
        right = [i + 1 for i in by_time]
        return order_of(right), wrong_orders(right, n=N_CHOICES - 1, rng=rng)

    def _overlap(self, people: Sequence[Person], rng: np.random.Generator) -> Choice | None:
        """Which two are in view together; None where that is a matter of less than the margin."""
        together = []
        for i, j in _PAIRS:
            one, other = people[i], people[j]
            gap_s = max(one.visible.start_s, other.visible.start_s) - min(
                one.visible.end_s, other.visible.end_s
            )
            both = np.intersect1d(one.track.frame_indices, other.track.frame_indices)
            if len(both) and overlap_s(one.visible, other.visible) >= self._rules.margin_s:
                together.append((i + 1, j + 1))
            elif len(both) or gap_s < self._rules.margin_s:
                return None
        pairs = [(i + 1, j + 1) for i, j in _PAIRS]
        every = [_together(some) for size in range(len(pairs) + 1) for some in combinations(pairs, size)]
        right = _together(together)
        return right, one_of_each(right, every, n=N_CHOICES - 1, rng=rng)


_LONG, _SAME = "equally long", "at the same time"
_ASKED_TIES = ("longest", "shortest", "first-in", "last-out")
_WORDS = {
    "longest": "Who is in view for the longest time? Times that differ by less than {band} count as equal.",
    "shortest": "Who is in view for the shortest time? Times that differ by less than {band} count as equal.",
    "first-in": "Who comes into view first? Moments less than {band} apart count as the same.",
    "last-out": "Who is the last to go out of view? Moments less than {band} apart count as the same.",
    "overlap": "Which of them are in view at the same time at some moment?",
    "order-in": "In which order do they come into view?",
}


def _problem(person: Person, structure: str) -> str:
    """Why somebody's coming or going, which the answer rests on, is not known; empty where it is."""
    name = f"track {person.track_id}"
    if structure != "last-out" and not person.is_seen_coming:
        return f"{name} begins inside the frame"
    if structure not in ("first-in", "order-in") and not person.is_seen_going:
        return f"{name} ends inside the frame"
    if structure in ("first-in", "order-in") and person.enters == STAYED:
        return f"{name} was there from the start"
    if structure == "last-out" and person.leaves == STAYED:
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


def _evidence(people: Sequence[Person], structure: str, moments: _Moments) -> tuple[Evidence, ...]:
    """When they come and go: what the answer is computed from, in the order of time."""
    found = []
    if structure != "last-out":
        found += [moments[person.track_id][0] for person in people]
    if structure not in ("first-in", "order-in"):
        found += [moments[person.track_id][1] for person in people]
    return tuple(sorted(found, key=lambda e: (e.start_s or 0.0, e.end_s or 0.0)))


def create(options: Mapping[str, str]) -> Task:
    """The task.

    Options: ``tie_s`` (times closer than that are equal, 3), ``margin_s`` (how clear of that they must be,
    1), ``alike`` (word likeness above which descriptions do not tell people apart, 0.6), ``coverage`` (share
    of a track's frames with a box, 0.8), ``unclear_s`` (0.5), ``reach`` (0.05), ``same_look`` (distance
    of looks below which somebody without a card may be one of them, 0.1).

    Raises:
        UsageError: an option that is not known or cannot be read, or a margin above the band.
    """
    known = {
        **_people.OPTIONS,
        "tie_s": option_readers.positive_number,
        "margin_s": option_readers.number_from_zero,
    }
    rules = msgspec.convert(take_options("mpdr", options, known), Rules)
    if rules.margin_s > rules.tie_s:
        raise UsageError(
            f"mpdr: margin_s={rules.margin_s:g} is above tie_s={rules.tie_s:g}, so that no two times could "
            "be equal; expected at most that"
        )
    return Mpdr(rules)
