"""Multi-entities grounding and localization: who of those described is there, and how they go."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from vidence.make.pipeline.material import Card, Corpus, Material, Task
from vidence.make.tasks.candidates import (
    N_CHOICES,
    BalancedDraw,
    Candidate,
    Candidates,
    NoCandidate,
    by_time,
    fresh,
    one_of_each,
)
from vidence.make.tasks.paths import EDGE_WORDS
from vidence.make.tasks.people import (
    STAYED,
    UNCLEAR,
    PeopleSettings,
    PeopleTask,
    Person,
    Way,
    about,
    facts,
    listed,
    timeline_of,
    without_card,
)
from vidence.make.tasks.timeline import Timeline
from vidence.make.tasks.wording import closest, named, numbered, sentence
from vidence.records import Evidence
from vidence.seeing.same_person import distance
from vidence.seeing.space import EDGES, Edge
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
    """Somebody of another video."""

    video_id: str
    card: Card

    @property
    def text(self) -> str:
        return sentence(self.card.text)


class Megl(PeopleTask):
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
    structures: tuple[str, ...] = ("which", "exits", "entries", "through")

    def about_people(
        self, people: Sequence[Person], material: Material, corpus: Corpus, *, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        if material.tracked is None:
            return []
        timeline = timeline_of(material.tracked)
        return [
            _which(people, self._strangers(material, corpus), timeline, rng=rng),
            _ways(people, "exits", timeline, rng=rng),
            _ways(people, "entries", timeline, rng=rng),
            _through(people, timeline, rng=rng),
        ]

    def _strangers(self, material: Material, corpus: Corpus) -> tuple[_Stranger, ...]:
        """People of other videos who are like nobody here: by description, or by looks who has no card."""
        here = [card.text for card in material.a_cards]
        looks = {} if material.tracked is None else material.tracked.looks
        unknown = [looks[t.track_id] for t in without_card(material) if t.track_id in looks]
        found = []
        for video_id, cards in sorted(corpus.a_cards.items()):
            theirs = corpus.looks.get(video_id, {})
            for card in cards if video_id != material.source.video_id else ():
                look = theirs.get(card.track_id)
                seen_here = look is not None and any(
                    distance(np.array(look, np.float32), one) < self.people_settings.same_look
                    for one in unknown
                )
                if (
                    normal_form(card.text)
                    and closest(card.text, here) <= self.people_settings.alike
                    and not seen_here
                ):
                    found.append(_Stranger(video_id=video_id, card=card))
        return tuple(found)


# --------------------------------------------------------------------------- who is there


def _which(
    people: Sequence[Person],
    strangers: Sequence[_Stranger],
    timeline: Timeline,
    *,
    rng: np.random.Generator,
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

    any_yet = False
    for drawn in fresh(draw, _texts, most_repeats=_MOST_REPEATS):
        any_yet = True
        yield _which_candidate(drawn, timeline)
    if not any_yet:
        detail = f"{len(people)} people here, {len(strangers)} elsewhere"
        yield NoCandidate(subject="which", reason="too-few-people", detail=detail)


def _texts(drawn: Sequence[Person | _Stranger]) -> frozenset[str]:
    return frozenset(one.text for one in drawn)


def _which_candidate(shown: Sequence[Person | _Stranger], timeline: Timeline) -> Candidate:
    there = [i for i, one in enumerate(shown, 1) if isinstance(one, Person)]
    every = {pair: f"Only {named('person', pair, plural='people')}" for pair in combinations((1, 2, 3), 2)}
    options = (*every.values(), "All three", FEWER_THAN_TWO)
    right = (
        FEWER_THAN_TWO if len(there) < 2 else "All three" if len(there) == 3 else every[there[0], there[1]]
    )
    evidence: list[Evidence] = []
    facts: dict[str, str] = {}
    for i, one in enumerate(shown, 1):
        if isinstance(one, Person):
            first, _, last = one.looks(timeline)
            evidence += [first, last]
            facts[f"person {i}"] = one.fact
        else:
            facts[f"person {i}"] = f"track {one.card.track_id} of {one.video_id}"
    if len(there) < len(shown):
        evidence += timeline.parts(_SWEEPS, note="somebody described is nowhere: the whole video shows it")
    tracks = ", ".join(one.track_id for one in shown if isinstance(one, Person)) or "none"
    others = ", ".join(
        f"{one.card.track_id} of {one.video_id}" for one in shown if not isinstance(one, Person)
    )
    return Candidate(
        structure="which",
        subject=f"tracks {tracks}" + (f"; elsewhere {others}" if others else ""),
        question=(
            f"Here are descriptions of three people:\n{numbered([one.text for one in shown])}\n"
            "Which of them appear in the video?"
        ),
        right=right,
        wrong=tuple(text for text in options if text != right),
        evidence=tuple(evidence),
        facts=facts,
    )


# --------------------------------------------------------------------------- how they come and go


def _ways(
    people: Sequence[Person], structure: str, timeline: Timeline, *, rng: np.random.Generator
) -> Candidates:
    """Every two people of whom it is clear how they come, or go."""
    is_exit = structure == "exits"
    clear = [p for p in people if (p.leaves if is_exit else p.enters) != UNCLEAR]
    if len(clear) < N_PAIR:
        yield NoCandidate(subject=structure, reason="too-few-clear-edges", detail=f"{len(clear)} people")
        return
    pairs = list(combinations(clear, N_PAIR))
    for i in rng.permutation(len(pairs)):
        pair = [pairs[i][j] for j in rng.permutation(N_PAIR)]
        ways = tuple(p.leaves if is_exit else p.enters for p in pair)
        right = _pair_words(ways, is_exit=is_exit)
        asked = "go out of view, if at all" if is_exit else "come into view"
        yield Candidate(
            structure=structure,
            subject=about(pair),
            question=listed(pair, f"How does each of them {asked}?"),
            right=right,
            wrong=_other_pairs(ways, right, is_exit=is_exit, rng=rng),
            evidence=_way_evidence(pair, timeline, is_exit=is_exit),
            facts=facts(pair),
        )


def _other_pairs(
    ways: Sequence[Way], right: str, *, is_exit: bool, rng: np.random.Generator
) -> tuple[str, ...]:
    """Four wrong answers, drawn from all: made from the right one, they would repeat its parts."""
    every: tuple[Way, ...] = (*EDGES, STAYED)
    drawn: list[tuple[Way, ...]] = []
    for _ in range(N_CHOICES - 1):
        pool = [pair for pair in product(every, repeat=N_PAIR) if pair != tuple(ways) and pair not in drawn]
        drawn.append(pool[int(rng.integers(len(pool)))])
    return tuple(_pair_words(pair, is_exit=is_exit) for pair in drawn)


def _pair_words(ways: Sequence[Way], *, is_exit: bool) -> str:
    """How two people come or go."""
    if ways[0] == ways[1]:
        words = _way_words(ways[0], is_exit=is_exit, is_plural=True)
        return f"Both {words}"
    one, other = (_way_words(way, is_exit=is_exit, is_plural=False) for way in ways)
    return f"Person 1 {one}, person 2 {other}"


def _way_words(way: Way, *, is_exit: bool, is_plural: bool) -> str:
    if way in (STAYED, UNCLEAR):
        if is_exit:
            return "stay until the end" if is_plural else "stays until the end"
        return "are there from the start" if is_plural else "is there from the start"
    verb = ("leave" if is_exit else "enter") + ("" if is_plural else "s")
    return f"{verb} through the {way} edge"


def _through(people: Sequence[Person], timeline: Timeline, *, rng: np.random.Generator) -> Candidates:
    """Three people and one edge: which of them leave through it."""
    clear = [p for p in people if p.leaves != UNCLEAR]
    if len(clear) < N_LISTED:
        yield NoCandidate(subject="through", reason="too-few-clear-edges", detail=f"{len(clear)} people")
        return
    trios = list(combinations(clear, N_LISTED))
    every = [some for size in range(N_LISTED + 1) for some in combinations((1, 2, 3), size)]
    for i in rng.permutation(len(trios)):
        trio = [trios[i][j] for j in rng.permutation(N_LISTED)]
        edge: Edge = EDGES[int(rng.integers(len(EDGES)))]
        gone: list[Edge] = [p.leaves for p in trio if p.leaves not in (STAYED, UNCLEAR)]
        if gone and rng.random() < _USED_EDGE:
            edge = gone[int(rng.integers(len(gone)))]
        right = _set_words([n for n, p in enumerate(trio, 1) if p.leaves == edge])
        yield Candidate(
            structure="through",
            subject=f"{about(trio)}, {edge} edge",
            question=listed(trio, f"Which of them go out of view through {EDGE_WORDS[edge]} of the frame?"),
            right=right,
            wrong=one_of_each(right, [_set_words(some) for some in every], n=N_CHOICES - 1, rng=rng),
            evidence=_way_evidence(trio, timeline, is_exit=True),
            facts=facts(trio),
        )


def _set_words(numbers: Sequence[int]) -> str:
    if not numbers:
        return "None of them"
    return "All three" if len(numbers) == N_LISTED else f"Only {named('person', numbers, plural='people')}"


def _way_evidence(people: Sequence[Person], timeline: Timeline, *, is_exit: bool) -> tuple[Evidence, ...]:
    """For each person the moment that is asked for, and a look at who it is at the other end."""
    found: list[Evidence] = []
    for person in people:
        first, _, last = person.looks(timeline)
        found += [first, person.departure(timeline)] if is_exit else [person.arrival(timeline), last]
    return by_time(found)


def create(settings: Settings) -> Task:
    """The task."""
    return Megl(settings)
