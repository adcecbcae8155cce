"""Multi-entities grounding and localization: who of those described is there, and how they go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

import numpy as np

from vidence.make.herbench.tasks.candidates import (
    N_CHOICES,
    BalancedDraw,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
    all_drawn,
    any_or,
    by_time,
    fresh,
    one_of,
    one_of_each,
)
from vidence.make.herbench.tasks.paths import EDGE_WORDS
from vidence.make.herbench.tasks.people import (
    STAYED,
    UNCLEAR,
    PeopleSettings,
    Person,
    Way,
    about,
    doubt_of,
    facts,
    groups,
    identification,
    listed,
    people_of,
    timeline_of,
    without_card,
)
from vidence.make.herbench.tasks.timeline import Timeline
from vidence.make.pipeline.english import closest, named, numbered, sentence
from vidence.make.pipeline.material import Card, Corpus, Material, Task
from vidence.records import Evidence
from vidence.seeing.boxes import EDGES, Edge
from vidence.seeing.same_person import distance
from vidence.text import normal_form

Settings = PeopleSettings
N_LISTED, N_PAIR = 3, 2
FEWER_THAN_TWO = "Fewer than two of them"
_SWEEPS = 3
# A new set of descriptions was not found so often in a row: there are no more.
_MOST_REPEATS = 40
# So often the edge asked about is one through which somebody leaves.
_USED_EDGE = 0.75


@dataclass(frozen=True, kw_only=True)
class _Stranger:
    """A person of another video."""

    video_id: str
    card: Card

    @property
    def text(self) -> str:
        return sentence(self.card.text)

    @property
    def fact(self) -> str:
        return f"track {self.card.track_id} of {self.video_id}"


class Megl(ComputedTask):
    """Described people: which of them appear; through which edges they come or go.

    For ``which``, three descriptions, some of them of people of other videos and unlike anybody's here; each
    of its five options is right as often as the others. For ``exits`` and ``entries``, two people; for
    ``through``, three people and one edge.

    Source: HERBench, sections 3.1 and 3.2, figure 19.
    Departs: the structures other than ``exits`` are ours. An absent description must be looked for in the
        whole video, which counts as three pieces of evidence.
    """

    code = "MEGL"
    title = "Multi-Entities Grounding & Localization"
    family = "MEA&N"
    version = 8
    needs: tuple[str, ...] = ("tracked", "chosen", "a_cards")
    across: tuple[str, ...] = ("a_cards",)
    structures: tuple[str, ...] = ("which", "exits", "entries", "through")

    def __init__(self, settings: PeopleSettings) -> None:
        self._settings = settings

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        if material.tracked is None:
            return []
        people, timeline = people_of(material, self._settings, log), timeline_of(material.tracked)
        return [
            _which(people, self._strangers(material, corpus), timeline, rng=rng),
            _ways(people, "exits", rng=rng),
            _ways(people, "entries", rng=rng),
            _through(people, rng=rng),
        ]

    def _strangers(self, material: Material, corpus: Corpus) -> tuple[_Stranger, ...]:
        """Return people of other videos unlike everyone here, by description or, without card, by looks."""
        here = [card.text for card in material.a_cards]
        looks = {} if material.tracked is None else material.tracked.looks
        unknown = [looks[t.track_id] for t in without_card(material) if t.track_id in looks]
        strangers = []
        for video_id, cards in sorted(corpus.a_cards.items()):
            theirs = corpus.looks.get(video_id, {})
            for card in cards if video_id != material.source.video_id else ():
                look = theirs.get(card.track_id)
                seen_here = look is not None and any(
                    distance(np.array(look, np.float32), values) < self._settings.same_look
                    for values in unknown
                )
                if (
                    normal_form(card.text)
                    and closest(card.text, here) <= self._settings.alike
                    and not seen_here
                ):
                    strangers.append(_Stranger(video_id=video_id, card=card))
        return tuple(strangers)


# --------------------------------------------------------------------------- who is there


def _which(
    people: Sequence[Person], strangers: Sequence[_Stranger], timeline: Timeline, *, rng: np.random.Generator
) -> Candidates:
    """Sets of three descriptions; which option is to be right is dealt, so that each is as often."""
    pairs = list(combinations(range(1, N_LISTED + 1), 2))
    balanced = BalancedDraw(N_CHOICES, rng=rng)
    if not strangers:
        yield NoCandidate(subject="which", reason="no-descriptions-of-others", detail="from other videos")
        return

    def draw() -> list[Person | _Stranger] | None:
        card = balanced.next()
        there = set(pairs[card]) if card < len(pairs) else set(range(1, N_LISTED + 1))
        if card == N_CHOICES - 1:
            there = set() if rng.random() < 0.5 else {int(rng.integers(1, N_LISTED + 1))}
        n_absent = N_LISTED - len(there)
        if len(people) < len(there) or len(strangers) < n_absent:
            return None
        known = iter([people[i] for i in rng.permutation(len(people))[: len(there)]])
        others = iter([strangers[i] for i in rng.permutation(len(strangers))[:n_absent]])
        drawn = [next(known) if i in there else next(others) for i in range(1, N_LISTED + 1)]
        return drawn if len(_texts(drawn)) == N_LISTED else None

    detail = f"{len(people)} people here, {len(strangers)} elsewhere"
    none = NoCandidate(subject="which", reason="too-few-people", detail=detail)
    for drawn in any_or(fresh(draw, _texts, most_repeats=_MOST_REPEATS), none):
        yield drawn if isinstance(drawn, NoCandidate) else _which_candidate(drawn, timeline)


def _texts(drawn: Sequence[Person | _Stranger]) -> frozenset[str]:
    return frozenset(entry.text for entry in drawn)


def _which_candidate(entries: Sequence[Person | _Stranger], timeline: Timeline) -> Candidate:
    here = [i for i, entry in enumerate(entries, 1) if isinstance(entry, Person)]
    every = (*combinations((1, 2, 3), 2), (1, 2, 3))
    options: dict[tuple[int, ...], str] = {some: _set_words(some) for some in every}
    right, wrong = one_of(options.get(tuple(here), FEWER_THAN_TWO), (*options.values(), FEWER_THAN_TWO))
    people = [entry for entry in entries if isinstance(entry, Person)]
    evidence = [look for person in people for look in (person.looks[0], person.looks[-1])]
    if len(people) < len(entries):
        evidence += timeline.parts(_SWEEPS, note="a described person is absent: the whole video shows it")
    tracks = ", ".join(person.track_id for person in people) or "none"
    others = ", ".join(entry.fact.removeprefix("track ") for entry in entries if isinstance(entry, _Stranger))
    return Candidate(
        structure="which",
        subject=f"tracks {tracks}" + (f"; elsewhere {others}" if others else ""),
        question=(
            f"Here are descriptions of three people:\n{numbered([entry.text for entry in entries])}\n"
            "Which of them appear in the video?"
        ),
        right=right,
        wrong=wrong,
        evidence=tuple(evidence),
        # Whom nobody of the video resembles was told by words and colours alone.
        facts={f"person {i}": entry.fact for i, entry in enumerate(entries, 1)}
        | identification(people, knows_all=len(people) == len(entries)),
        review=doubt_of(people, knows_all=len(people) == len(entries)),
    )


# --------------------------------------------------------------------------- how they come and go


def _ways(people: Sequence[Person], structure: str, *, rng: np.random.Generator) -> Candidates:
    """Return the pairs of people with known entries, or exits."""
    is_exit = structure == "exits"

    def way(person: Person) -> Way:
        return person.leaves if is_exit else person.enters

    clear = [person for person in people if way(person) != UNCLEAR]
    if len(clear) < N_PAIR:
        yield NoCandidate(subject=structure, reason="too-few-clear-edges", detail=f"{len(clear)} people")
        return
    for pair in groups(clear, N_PAIR, rng):
        ways = (way(pair[0]), way(pair[1]))
        # Drawn from all: made from the right one, wrong answers would repeat its parts. Two are of both
        # people, whatever is right, so that no option is the only short one.
        every: tuple[Way, ...] = (*EDGES, STAYED)
        pool = [other for other in all_drawn(list(product(every, every)), rng) if other != ways]
        alike = [other for other in pool if len(set(other)) == 1][: len(set(ways))]
        apart = [other for other in pool if len(set(other)) > 1][: N_CHOICES - 1 - len(alike)]
        asked = "go out of view, if at all" if is_exit else "come into view"
        yield Candidate(
            structure=structure,
            subject=about(pair),
            question=listed(pair, f"How does each of them {asked}?"),
            right=_pair_words(ways, structure),
            wrong=tuple(_pair_words(both, structure) for both in (*alike, *apart)),
            evidence=_way_evidence(pair, is_exit=is_exit),
            facts=facts(pair),
            review=doubt_of(pair),
        )


# Of one person, and of both.
_PASS: Final[Mapping[str, tuple[str, str]]] = {"exits": ("leaves", "leave"), "entries": ("enters", "enter")}
_STAY: Final[Mapping[str, tuple[str, str]]] = {
    "exits": ("stays until the end", "stay until the end"),
    "entries": ("is there from the start", "are there from the start"),
}


def _pair_words(ways: tuple[Way, Way], structure: str) -> str:
    """How two people come or go."""
    is_both = ways[0] == ways[1]
    name, other = (
        _STAY[structure][is_both] if way == STAYED else f"{_PASS[structure][is_both]} through the {way} edge"
        for way in ways
    )
    return f"Both {name}" if is_both else f"Person 1 {name}, person 2 {other}"


def _through(people: Sequence[Person], *, rng: np.random.Generator) -> Candidates:
    """Three people and one edge: which of them leave through it."""
    clear = [p for p in people if p.leaves != UNCLEAR]
    if len(clear) < N_LISTED:
        yield NoCandidate(subject="through", reason="too-few-clear-edges", detail=f"{len(clear)} people")
        return
    every = [some for size in range(N_LISTED + 1) for some in combinations((1, 2, 3), size)]
    for trio in groups(clear, N_LISTED, rng):
        edge: Edge = EDGES[int(rng.integers(len(EDGES)))]
        gone = [edge for person in trio for edge in EDGES if person.leaves == edge]
        if gone and rng.random() < _USED_EDGE:
            edge = gone[int(rng.integers(len(gone)))]
        right = _set_words([n for n, p in enumerate(trio, 1) if p.leaves == edge])
        yield Candidate(
            structure="through",
            subject=f"{about(trio)}, {edge} edge",
            question=listed(trio, f"Which of them go out of view through {EDGE_WORDS[edge]} of the frame?"),
            right=right,
            wrong=one_of_each(right, map(_set_words, every), rng=rng),
            evidence=_way_evidence(trio, is_exit=True),
            facts=facts(trio),
            review=doubt_of(trio),
        )


def _set_words(numbers: Sequence[int]) -> str:
    if not numbers:
        return "None of them"
    return "All three" if len(numbers) == N_LISTED else f"Only {named('person', numbers, plural='people')}"


def _way_evidence(people: Sequence[Person], *, is_exit: bool) -> tuple[Evidence, ...]:
    """For each person the moment that is asked for, and a look at who it is at the other end."""
    if is_exit:
        return by_time(evidence for person in people for evidence in (person.looks[0], person.departure))
    return by_time(evidence for person in people for evidence in (person.arrival, person.looks[-1]))


def create(settings: Settings) -> Task:
    """The task."""
    return Megl(settings)
