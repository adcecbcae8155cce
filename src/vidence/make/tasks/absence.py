"""Tasks that ask which of several things never occurs in a video."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vidence.make.pipeline.material import Corpus, Event, Material
from vidence.make.tasks.candidates import (
    N_CHOICES,
    BalancedDraw,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
)
from vidence.make.tasks.events import EventContext, EventContexts, overlap, span_of, used_up, when
from vidence.make.tasks.wording import joined
from vidence.records import Evidence

_LISTED = N_CHOICES - 1
_IN_GROUP = 3
_SEPARATOR = "; "


@dataclass(frozen=True, kw_only=True)
class Present:
    """Something that occurs: how it is said, when it happens, and how often elsewhere, for reviewers."""

    text: str
    occurrences: tuple[Event, ...]
    n_elsewhere: int


@dataclass(frozen=True, kw_only=True)
class Absent:
    """Something that does not occur and would fit; what is common elsewhere is drawn sooner."""

    text: str
    n_elsewhere: int
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Words:
    """How one task asks; `things` names what is listed (``actions``)."""

    things: str
    absent: str
    which_of_four: str
    all_occur: str


@dataclass(frozen=True, kw_only=True)
class Pool:
    """What there is to ask about in one video."""

    present: Sequence[Present]
    absent: Sequence[Absent]
    words: Words


class AbsenceTask(ComputedTask):
    """A task that asks what of several things occurs; which things is for `pool` to say.

    Three structures. ``absent``: five things, one of which does not occur. ``which-of-four``: four numbered
    things, of which three or all four occur. ``all-occur``: five groups of three, in one of which everything
    occurs. In every structure at least three things have to be seen.

    Source: HERBench, section 7.5 and figures 16 and 18 (``absent``).
    Departs: the other two structures are ours. Absent things are drawn in proportion to how often they occur
        elsewhere, and things that occur are held to the same rules and drawn around them, so that neither
        how common nor what kind of thing it is gives the answer away.
    """

    family = "GC&V"
    needs: tuple[str, ...] = ("events",)
    structures: tuple[str, ...] = ("absent", "which-of-four", "all-occur")

    def __init__(self) -> None:
        self._contexts = EventContexts()

    @abstractmethod
    def pool(self, context: EventContext) -> Pool:
        """What there is to ask about in one video."""

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        pool = self.pool(self._contexts.of(material, corpus))
        return [_absent(pool, rng=rng), _which_of_four(pool, rng=rng), _all_occur(pool, rng=rng)]


class _Draw:
    """Deals things of both kinds; each comes once before any that occurs comes again."""

    def __init__(self, pool: Pool, *, rng: np.random.Generator) -> None:
        self._present, self._rng = pool.present, rng
        self._balanced = BalancedDraw(len(pool.present), rng=rng)
        weights = np.array([one.n_elsewhere for one in pool.absent], dtype=float)
        order: Sequence[int] = []
        if len(weights):
            order = rng.choice(len(weights), len(weights), replace=False, p=weights / weights.sum()).tolist()
        self.absent = [pool.absent[i] for i in order]

    def present(self, n: int) -> list[Present]:
        """`n` different things that occur, in a drawn order."""
        return self._deal(dict.fromkeys((True, False), n), n, bar=0)

    def beside(self, n: int) -> tuple[Absent, list[Present]] | None:
        """An absent thing that was not dealt before, with `n` that occur; None where there is no more.

        It is drawn how many of the others are at least as common elsewhere as the absent one, so that neither
        the rarest nor the most common thing stands out. Where no absent thing has such others, the next one
        takes what is nearest.
        """
        if not self.absent:
            return None
        wanted = int(self._rng.integers(n + 1))
        commons = [sum(p.n_elsewhere >= a.n_elsewhere for p in self._present) for a in self.absent]
        rares = [len(self._present) - n_common for n_common in commons]
        off = [max(wanted - c, 0) + max(n - wanted - r, 0) for c, r in zip(commons, rares, strict=True)]
        place = off.index(min(off))
        n_common = min(max(wanted, n - rares[place]), commons[place])
        foil = self.absent.pop(place)
        return foil, self._deal({True: n_common, False: n - n_common}, n, bar=foil.n_elsewhere)

    def _deal(self, wanted: dict[bool, int], n: int, *, bar: int) -> list[Present]:
        places: dict[int, None] = {}
        while len(places) < n:
            place = self._balanced.next()
            is_common = self._present[place].n_elsewhere >= bar
            if place not in places and wanted[is_common] > 0:
                wanted[is_common] -= 1
                places[place] = None
        return [self._present[i] for i in places]


def _too_few(pool: Pool, structure: str, *, present: int, absent: int) -> NoCandidate | None:
    if len(pool.present) >= present and len(pool.absent) >= absent:
        return None
    seen = f"{len(pool.present)} that occur and {len(pool.absent)} that do not"
    reason = f"too-few-{pool.words.things}"
    return NoCandidate(
        subject=structure, reason=reason, detail=f"{seen}; expected {present} and {absent} at least"
    )


def _absent(pool: Pool, *, rng: np.random.Generator) -> Candidates:
    if (none := _too_few(pool, "absent", present=_LISTED, absent=1)) is not None:
        yield none
        return
    draw = _Draw(pool, rng=rng)
    while (dealt := draw.beside(_LISTED)) is not None:
        foil, present = dealt
        yield Candidate(
            structure="absent",
            subject=foil.text,
            question=pool.words.absent,
            right=foil.text,
            wrong=tuple(one.text for one in present),
            evidence=spans(present),
            facts=facts(present, [foil]),
        )
    yield used_up("absent")


def _which_of_four(pool: Pool, *, rng: np.random.Generator) -> Candidates:
    if (none := _too_few(pool, "which-of-four", present=_LISTED, absent=1)) is not None:
        yield none
        return
    draw, cases = _Draw(pool, rng=rng), BalancedDraw(_LISTED + 1, rng=rng)
    numbers = range(1, _LISTED + 1)
    options = {i: f"Only {joined(n for n in numbers if n != i)}" for i in numbers}
    options[_LISTED + 1] = f"All {pool.words.things}: {joined(numbers)}"
    while True:
        case = cases.next() + 1
        foils: list[Absent] = []
        if case > _LISTED:
            present = draw.present(_LISTED)
        elif (dealt := draw.beside(_LISTED - 1)) is None:
            yield used_up("which-of-four")
            return
        else:
            foils, present = [dealt[0]], dealt[1]
        listed: list[str] = [one.text for one in present]
        for foil in foils:
            listed.insert(case - 1, foil.text)
        lines = "\n".join(f"{number}. {text}" for number, text in zip(numbers, listed, strict=True))
        yield Candidate(
            structure="which-of-four",
            subject=_SEPARATOR.join(listed),
            question=f"{pool.words.which_of_four}\n{lines}",
            right=options[case],
            wrong=tuple(text for number, text in options.items() if number != case),
            evidence=spans(present),
            facts=facts(present, foils),
        )


def _all_occur(pool: Pool, *, rng: np.random.Generator) -> Candidates:
    n_wrong = N_CHOICES - 1
    n_present = _IN_GROUP + n_wrong * (_IN_GROUP - 1)
    if (none := _too_few(pool, "all-occur", present=n_present, absent=n_wrong)) is not None:
        yield none
        return
    draw = _Draw(pool, rng=rng)
    foils = draw.absent
    for first in range(0, len(foils) - n_wrong + 1, n_wrong):
        false = foils[first : first + n_wrong]
        present = draw.present(n_present)
        groups = [[one.text for one in present[:_IN_GROUP]]]
        for number, foil in enumerate(false):
            at = _IN_GROUP + number * (_IN_GROUP - 1)
            group = [one.text for one in present[at : at + _IN_GROUP - 1]]
            group.insert(int(rng.integers(_IN_GROUP)), foil.text)
            groups.append(group)
        right, *wrong = (_SEPARATOR.join(group) for group in groups)
        yield Candidate(
            structure="all-occur",
            subject=right,
            question=pool.words.all_occur,
            right=right,
            wrong=tuple(wrong),
            evidence=spans(present),
            facts=facts(present, false),
        )
    yield used_up("all-occur")


# --------------------------------------------------------------------------- what they rest on


def spans(present: Sequence[Present]) -> tuple[Evidence, ...]:
    """One occurrence of each thing, so that they overlap as little as can be; among such the longest one."""
    chosen: list[Event] = []
    for one in sorted(present, key=lambda p: len(p.occurrences)):
        free = [e for e in one.occurrences if not any(overlap(e, other) for other in chosen)]
        chosen.append(max(free or one.occurrences, key=lambda e: (e.end_s - e.start_s, -e.start_s)))
    return tuple(span_of(event) for event in sorted(chosen, key=lambda e: (e.start_s, e.end_s)))


def facts(present: Sequence[Present], absent: Sequence[Absent]) -> dict[str, str]:
    """What a reviewer checks: how often and when each thing was narrated."""
    seen = {
        f"occurs: {one.text}": f"{when(one.occurrences)}; {one.n_elsewhere} times elsewhere"
        for one in present
    }
    unseen = {
        f"does not occur: {one.text}": f"0 times here, {one.n_elsewhere} times elsewhere{one.why}"
        for one in absent
    }
    return seen | unseen
