"""Tasks that ask which of several things never occurs in a video."""

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from vidence.make.herbench.tasks.candidates import (
    N_CHOICES,
    BalancedDraw,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
    one_of,
)
from vidence.make.herbench.tasks.events import EventContext, event_context, overlap, span_of, used_up, when
from vidence.make.pipeline.english import joined
from vidence.make.pipeline.material import Corpus, Event, Material
from vidence.records import Evidence

_LISTED = N_CHOICES - 1
_IN_GROUP = 3
_SEPARATOR = "; "


@dataclass(frozen=True, kw_only=True)
class Present:
    """A thing that occurs: wording, times, and frequency in other videos, for reviewers."""

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
class TaskWording:
    """How one task asks; `things` names what is listed (``actions``)."""

    things: str
    absent: str
    which_of_four: str
    all_occur: str


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The things to ask about in a video."""

    present: Sequence[Present]
    absent: Sequence[Absent]
    words: TaskWording


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

    @abstractmethod
    def pool(self, context: EventContext) -> Pool:
        """Return the things to ask about in a video."""

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        pool = self.pool(event_context(material.source.video_id, material.events, corpus))
        return [_candidates(pool, name, rng=rng) for name in self.structures]


class _Draw:
    """Deals things of both kinds; each comes once before any that occurs comes again."""

    def __init__(self, pool: Pool, *, rng: np.random.Generator) -> None:
        self._present, self._rng = pool.present, rng
        self._balanced = BalancedDraw(len(pool.present), rng=rng)
        weights = np.array([absent.n_elsewhere for absent in pool.absent], dtype=float)
        order: Sequence[int] = []
        if len(weights):
            order = rng.choice(len(weights), len(weights), replace=False, p=weights / weights.sum()).tolist()
        self.absent = [pool.absent[i] for i in order]
        known = sorted(one.n_elsewhere for one in pool.present)
        # For each absent thing, how many of those that occur are at least as common elsewhere.
        self._commons = [len(known) - bisect_left(known, one.n_elsewhere) for one in self.absent]

    def present(self, n: int) -> list[Present]:
        """`n` different things that occur, in a drawn order."""
        return self._deal(dict.fromkeys((True, False), n), n, bar=0)

    def beside(self, n: int) -> tuple[Absent, list[Present]] | None:
        """Return an unused absent thing with `n` present ones; None if exhausted.

        It is drawn how many of the others are at least as common elsewhere as the absent one, so that neither
        the rarest nor the most common thing stands out. Where no absent thing has such others, the next one
        takes what is nearest.
        """
        if not self.absent:
            return None
        wanted = int(self._rng.integers(n + 1))
        n_present = len(self._present)
        off = [max(wanted - c, 0, n - wanted - (n_present - c)) for c in self._commons]
        place = off.index(min(off))
        commons = self._commons.pop(place)
        n_common = min(max(wanted, n - (n_present - commons)), commons)
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


_N_WRONG = N_CHOICES - 1
_N_GROUPED = _IN_GROUP + _N_WRONG * (_IN_GROUP - 1)
# How many things that occur, and how many that do not, a structure needs.
_NEEDED = {"absent": (_LISTED, 1), "which-of-four": (_LISTED, 1), "all-occur": (_N_GROUPED, _N_WRONG)}


@dataclass(frozen=True, kw_only=True)
class _DealtQuestion:
    """A question with its answers about things that were dealt."""

    question: str
    right: str
    wrong: tuple[str, ...]
    present: Sequence[Present]
    absent: Sequence[Absent]
    subject: str = ""


def _candidates(pool: Pool, structure: str, *, rng: np.random.Generator) -> Candidates:
    n_present, n_absent = _NEEDED[structure]
    if len(pool.present) < n_present or len(pool.absent) < n_absent:
        seen = f"{len(pool.present)} that occur and {len(pool.absent)} that do not"
        detail = f"{seen}; expected {n_present} and {n_absent} at least"
        yield NoCandidate(subject=structure, reason=f"too-few-{pool.words.things}", detail=detail)
        return
    deal = {"absent": _absent, "which-of-four": _which_of_four, "all-occur": _all_occur}[structure]
    for question in deal(_Draw(pool, rng=rng), pool.words, rng):
        yield Candidate(
            structure=structure,
            subject=question.subject or question.right,
            question=question.question,
            right=question.right,
            wrong=question.wrong,
            evidence=spans(question.present),
            facts=facts(question.present, question.absent),
        )
    yield used_up(structure)


def _absent(draw: _Draw, words: TaskWording, rng: np.random.Generator) -> Iterator[_DealtQuestion]:
    while (dealt := draw.beside(_LISTED)) is not None:
        foil, present = dealt
        wrong = tuple(entry.text for entry in present)
        yield _DealtQuestion(
            question=words.absent, right=foil.text, wrong=wrong, present=present, absent=[foil]
        )


def _which_of_four(draw: _Draw, words: TaskWording, rng: np.random.Generator) -> Iterator[_DealtQuestion]:
    cases = BalancedDraw(_LISTED + 1, rng=rng)
    numbers = range(1, _LISTED + 1)
    options = [f"Only {joined(n for n in numbers if n != i)}" for i in numbers]
    options.append(f"All {words.things}: {joined(numbers)}")
    while True:
        case = cases.next()
        foils: list[Absent] = []
        if case == _LISTED:
            present = draw.present(_LISTED)
        elif (dealt := draw.beside(_LISTED - 1)) is None:
            return
        else:
            foils, present = [dealt[0]], dealt[1]
        listed = [entry.text for entry in present]
        listed[case:case] = [foil.text for foil in foils]
        lines = "\n".join(f"{number}. {text}" for number, text in enumerate(listed, 1))
        right, wrong = one_of(options[case], options)
        yield _DealtQuestion(
            subject=_SEPARATOR.join(listed),
            question=f"{words.which_of_four}\n{lines}",
            right=right,
            wrong=wrong,
            present=present,
            absent=foils,
        )


def _all_occur(draw: _Draw, words: TaskWording, rng: np.random.Generator) -> Iterator[_DealtQuestion]:
    for first in range(0, len(draw.absent) - _N_WRONG + 1, _N_WRONG):
        foils = draw.absent[first : first + _N_WRONG]
        present = draw.present(_N_GROUPED)
        texts = iter([entry.text for entry in present])
        right, *groups = (list(islice(texts, n)) for n in (_IN_GROUP, *[_IN_GROUP - 1] * _N_WRONG))
        for group, foil in zip(groups, foils, strict=True):
            group.insert(int(rng.integers(_IN_GROUP)), foil.text)
        yield _DealtQuestion(
            question=words.all_occur,
            right=_SEPARATOR.join(right),
            wrong=tuple(map(_SEPARATOR.join, groups)),
            present=present,
            absent=foils,
        )


# --------------------------------------------------------------------------- what they rest on


def spans(present: Sequence[Present]) -> tuple[Evidence, ...]:
    """One occurrence of each thing, so that they overlap as little as can be; among such the longest one."""
    chosen: list[Event] = []
    for entry in sorted(present, key=lambda p: len(p.occurrences)):
        free = [e for e in entry.occurrences if not any(overlap(e, other) for other in chosen)]
        chosen.append(max(free or entry.occurrences, key=lambda e: (e.end_s - e.start_s, -e.start_s)))
    return tuple(span_of(event) for event in sorted(chosen, key=lambda e: (e.start_s, e.end_s)))


def facts(present: Sequence[Present], absent: Sequence[Absent]) -> dict[str, str]:
    """What a reviewer checks: how often and when each thing was narrated."""
    seen = {
        f"occurs: {entry.text}": f"{when(entry.occurrences)}; {entry.n_elsewhere} times elsewhere"
        for entry in present
    }
    unseen = {
        f"does not occur: {entry.text}": f"0 times here, {entry.n_elsewhere} times elsewhere{entry.why}"
        for entry in absent
    }
    return seen | unseen
