"""Question candidates, and their conversion to drafts: five options, a letter, enough evidence."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from vidence.contracts import Flow
from vidence.errors import UsageError
from vidence.make.pipeline.material import Corpus, Doubt, Draft, Dropped, Made, Material, n_apart
from vidence.records import Evidence
from vidence.text import normal_form

N_CHOICES = 5
LEAST_EVIDENCE = 3
# A source of candidates that gave nothing usable so often in a row is given up.
_MOST_IN_VAIN = 300
_ID_CHARS = 12


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A question with its right and its wrong answers, not yet in the order in which they are offered.

    `subject` says what it is about, for the account (``tracks 3, 7``). The evidence are spans in seconds of
    presentation time with the frames that show it. `truth` and `review` are those of a draft. `k` says how
    many moments an answer needs where these are fewer than the spans that lie apart: who somebody is may be
    seen in the moment that shows the answer.
    """

    structure: str
    subject: str
    question: str
    right: str
    wrong: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    truth: str = ""
    review: Literal["", Doubt] = ""
    k: int | None = None


@dataclass(frozen=True, kw_only=True)
class NoCandidate:
    """Why a subject gives no question; `reason` is a short name for accounts."""

    subject: str
    reason: str
    detail: str = ""


Candidates: TypeAlias = Iterator[Candidate | NoCandidate]
# The right answer, and the wrong ones.
Choice: TypeAlias = tuple[str, tuple[str, ...]]
T = TypeVar("T")


class BalancedDraw:
    """Numbers below `n` in a random order; each comes once before any comes again."""

    def __init__(self, n: int, *, rng: np.random.Generator) -> None:
        self._n, self._rng = n, rng
        self._left: list[int] = []

    def next(self) -> int:
        """The next number."""
        if not self._left:
            self._left = [int(i) for i in self._rng.permutation(self._n)]
        return self._left.pop()


class DraftLog:
    """The drafts of one task and video, with an account of failures.

    The letters of the right answers are dealt in turn, so that they are balanced over the drafts.

    Source: HERBench, sections 3.1 (k >= 3) and 3.3 (five options, letters balanced).
    Departs: the paper does not say how it balances; here every five drafts have every letter once.
    """

    def __init__(self, *, code: str, video_id: str, rng: np.random.Generator) -> None:
        self._code, self._video_id, self._rng = code, video_id, rng
        self._letters = BalancedDraw(N_CHOICES, rng=rng)
        self._made: list[Made] = []
        self._dropped: set[Dropped] = set()
        self._asked: set[tuple[str, ...]] = set()
        self._facts: dict[str, str] = {}
        self.n_drafts = 0

    def note(self, name: str, value: str) -> None:
        """Write a fact about the video into every draft from now on."""
        self._facts[name] = value

    @property
    def made(self) -> tuple[Made, ...]:
        """Everything so far, in order."""
        return tuple(self._made)

    def drop(self, subject: str, *, reason: str, detail: str = "") -> None:
        """Record a drop, once per subject."""
        what = f"{self._video_id}: {subject}" if subject else self._video_id
        dropped = Dropped(what=what, stage=f"draft:{self._code}", reason=reason, detail=detail)
        if dropped not in self._dropped:
            self._dropped.add(dropped)
            self._made.append(dropped)

    def lacks(self, material: Material, needs: Sequence[str]) -> bool:
        """Record a missing requirement; return whether it is missing."""
        missing = [name for name in needs if not getattr(material, name)]
        for name in missing:
            self.drop("", reason=f"no-{name.replace('_', '-')}", detail="the task needs them")
        return bool(missing)

    def take(self, candidate: Candidate | NoCandidate) -> bool:
        """Convert a candidate to a draft; return False if that fails, and record the reason."""
        if isinstance(candidate, NoCandidate):
            self.drop(candidate.subject, reason=candidate.reason, detail=candidate.detail)
            return False
        about = f"{candidate.structure}, {candidate.subject}"
        options = (candidate.right, *candidate.wrong)
        if len(options) != N_CHOICES or not all(text.strip() for text in options):
            self.drop(about, reason="not-five-options", detail=" | ".join(options))
            return False
        if len({normal_form(text) for text in options}) < N_CHOICES:
            self.drop(about, reason="same-options", detail=" | ".join(options))
            return False
        k = n_apart(candidate.evidence)
        if k < LEAST_EVIDENCE:
            self.drop(about, reason="too-little-evidence", detail=f"{k} spans that do not overlap")
            return False
        key = (candidate.structure, candidate.question, candidate.right, *sorted(candidate.wrong))
        if key in self._asked:
            self.drop(about, reason="same-question")
            return False
        self._asked.add(key)
        k = k if candidate.k is None else min(k, candidate.k)
        self._made.append(self._draft(candidate, k=k, key=key))
        self.n_drafts += 1
        return True

    def _draft(self, candidate: Candidate, *, k: int, key: tuple[str, ...]) -> Draft:
        answer_index = self._letters.next()
        choices = [candidate.wrong[i] for i in self._rng.permutation(N_CHOICES - 1)]
        choices.insert(answer_index, candidate.right)
        words = "\n".join((self._code, self._video_id, *key))
        return Draft(
            draft_id=f"{self._code}-{hashlib.sha256(words.encode()).hexdigest()[:_ID_CHARS]}",
            task=self._code,
            structure=candidate.structure,
            video_id=self._video_id,
            question=candidate.question,
            choices=tuple(choices),
            answer_index=answer_index,
            evidence=candidate.evidence,
            k=k,
            truth=candidate.truth,
            review=candidate.review,
            tags=dict(candidate.tags),
            facts={**candidate.facts, **self._facts},
        )

    def fill(self, sources: Sequence[Candidates], *, most: int) -> None:
        """Take candidates from the sources in turn until there are `most` drafts or no more candidates.

        Which source begins is drawn, so that a small `most` does not favour one.

        Raises:
            UsageError: `most` is below 0.
        """
        if most < 0:
            raise UsageError(f"at most {most} drafts; expected 0 or more")
        going = [sources[i] for i in self._rng.permutation(len(sources))]
        while going and self.n_drafts < most:
            going = [source for source in going if self.n_drafts >= most or self._next(source)]

    def _next(self, source: Candidates) -> bool:
        """Take one draft from a source; return whether it had one."""
        for _ in range(_MOST_IN_VAIN):
            candidate = next(source, None)
            if candidate is None:
                return False
            if self.take(candidate):
                return True
        return False


def fresh(draw: Callable[[], T | None], key: Callable[[T], Hashable], *, most_repeats: int) -> Iterator[T]:
    """Draws that differ from all before, until `most_repeats` in a row brought nothing new.

    Args:
        draw: draws something; None if this draw came to nothing.
        key: what tells it from others.
        most_repeats: how many draws in a row may be in vain.
    """
    seen: set[Hashable] = set()
    n_in_vain = 0
    while n_in_vain < most_repeats:
        drawn = draw()
        if drawn is None or key(drawn) in seen:
            n_in_vain += 1
            continue
        n_in_vain = 0
        seen.add(key(drawn))
        yield drawn


def all_drawn(things: Sequence[T], rng: np.random.Generator) -> Iterator[T]:
    """All of them in a random order."""
    return (things[i] for i in rng.permutation(len(things)))


def by_time(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Evidence in time order."""
    return tuple(sorted(evidence, key=lambda e: (e.start_s or 0.0, e.end_s or 0.0)))


def one_of(right: str, options: Iterable[str]) -> Choice:
    """The right one of several options with all the others."""
    return right, tuple(text for text in dict.fromkeys(options) if text != right)


def one_of_each(
    right: str, others: Iterable[str], *, rng: np.random.Generator, n: int = N_CHOICES - 1
) -> tuple[str, ...]:
    """`n` drawn texts out of `others` that are not `right`; fewer where there are no more."""
    _, pool = one_of(right, others)
    return tuple(pool[i] for i in rng.permutation(len(pool))[:n])


def any_or(drawn: Iterable[T], none: NoCandidate) -> Iterator[T | NoCandidate]:
    """Yield all candidates; if there are no candidates, the reason."""
    any_yet = False
    for entry in drawn:
        any_yet = True
        yield entry
    if not any_yet:
        yield none


class ComputedTask(ABC):
    """A task without a model: drafts from several sources in turn.

    For the attributes see `Task`.
    """

    code: str
    title: str
    family: str
    version: int
    needs: tuple[str, ...]
    uses: tuple[str, ...] = ()
    across: tuple[str, ...] = ("events",)
    structures: tuple[str, ...]
    asks = False
    wants_people = False

    @abstractmethod
    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """The candidates for questions about one video, mostly one iterator for each structure.

        Args:
            material: what is known of the video; it has what the task needs.
            corpus: what is known of all videos.
            log: takes what cannot be asked about at all, and facts for every draft.
            most: how many drafts are wanted.
            rng: draws.
        """

    def draft(
        self, material: Material, corpus: Corpus, *, most: int, rng: np.random.Generator
    ) -> Flow[Sequence[Made]]:
        """Return up to `most` questions about one video, and the failures."""
        yield from ()
        log = DraftLog(code=self.code, video_id=material.source.video_id, rng=rng)
        if not log.lacks(material, self.needs):
            log.fill(self.sources(material, corpus, log, most=most, rng=rng), most=most)
        return log.made
