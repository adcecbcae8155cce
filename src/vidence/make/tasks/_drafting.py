"""From the idea for a question to a draft: five options, a letter, evidence enough; or why there is none."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from vidence.contracts import Flow
from vidence.errors import UsageError
from vidence.make.pipeline.material import Draft, Dropped, Made, Material, Task
from vidence.records import Evidence
from vidence.text import normal_form

N_CHOICES = 5
LEAST_EVIDENCE = 3
# A source of ideas that gave nothing usable so often in a row is given up.
_MOST_IN_VAIN = 300
_ID_CHARS = 12


@dataclass(frozen=True, kw_only=True)
class Idea:
    """A question with its right and its wrong answers, not yet in the order in which they are offered.

    `subject` says what it is about, for the account (``tracks 3, 7``). The evidence are spans in seconds of
    presentation time with the frames that show it.
    """

    structure: str
    subject: str
    question: str
    right: str
    wrong: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    truth: Literal["program", "model"] = "program"


@dataclass(frozen=True, kw_only=True)
class NoIdea:
    """Why there is no question about a subject; `reason` is a short name that accounts are kept by."""

    subject: str
    reason: str
    detail: str = ""


Ideas: TypeAlias = Iterator[Idea | NoIdea]


def n_apart(evidence: Sequence[Evidence]) -> int:
    """The most spans among the evidence of which no two share a moment.

    Evidence without a start and an end does not count.

    Source: HERBench, section 3.1 (at least three distinct observations, non-overlapping by the abstract).
    Departs: no.

    >>> n_apart([Evidence(start_s=0, end_s=2), Evidence(start_s=1, end_s=3), Evidence(start_s=2, end_s=4)])
    2
    """
    spans = sorted((e.end_s, e.start_s) for e in evidence if e.start_s is not None and e.end_s is not None)
    n_spans, free_from_s = 0, float("-inf")
    for end_s, start_s in spans:
        if start_s >= free_from_s:
            n_spans, free_from_s = n_spans + 1, end_s
    return n_spans


class Deck:
    """Numbers below `n` in a drawn order; each comes once before any comes again."""

    def __init__(self, n: int, *, rng: np.random.Generator) -> None:
        self._n, self._rng = n, rng
        self._left: list[int] = []

    def draw(self) -> int:
        """The next number."""
        if not self._left:
            self._left = [int(i) for i in self._rng.permutation(self._n)]
        return self._left.pop()


class Ledger:
    """What one task makes of one video: the drafts, and an account of what came to nothing.

    The letters of the right answers are dealt from a deck, so that they are balanced over the drafts.

    Source: HERBench, sections 3.1 (k >= 3) and 3.3 (five options, letters balanced).
    Departs: the paper does not say how it balances; here every five drafts have every letter once.
    """

    def __init__(self, *, code: str, video_id: str, rng: np.random.Generator) -> None:
        self._code, self._video_id, self._rng = code, video_id, rng
        self._letters = Deck(N_CHOICES, rng=rng)
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
        """Account for something that came to nothing; the same is written down once."""
        what = f"{self._video_id}: {subject}" if subject else self._video_id
        dropped = Dropped(what=what, stage=f"draft:{self._code}", reason=reason, detail=detail)
        if dropped not in self._dropped:
            self._dropped.add(dropped)
            self._made.append(dropped)

    def take(self, idea: Idea | NoIdea) -> bool:
        """Turn an idea into a draft; False where it cannot be one, which is accounted for."""
        if isinstance(idea, NoIdea):
            self.drop(idea.subject, reason=idea.reason, detail=idea.detail)
            return False
        about = f"{idea.structure}, {idea.subject}"
        options = (idea.right, *idea.wrong)
        if len(options) != N_CHOICES or not all(text.strip() for text in options):
            self.drop(about, reason="not-five-options", detail=" | ".join(options))
            return False
        if len({normal_form(text) for text in options}) < N_CHOICES:
            self.drop(about, reason="same-options", detail=" | ".join(options))
            return False
        k = n_apart(idea.evidence)
        if k < LEAST_EVIDENCE:
            self.drop(about, reason="too-little-evidence", detail=f"{k} spans that do not overlap")
            return False
        key = (idea.structure, idea.question, idea.right, *sorted(idea.wrong))
        if key in self._asked:
            self.drop(about, reason="same-question")
            return False
        self._asked.add(key)
        self._made.append(self._draft(idea, k=k, key=key))
        self.n_drafts += 1
        return True

    def _draft(self, idea: Idea, *, k: int, key: tuple[str, ...]) -> Draft:
        answer_index = self._letters.draw()
        choices = [idea.wrong[i] for i in self._rng.permutation(N_CHOICES - 1)]
        choices.insert(answer_index, idea.right)
        words = "\n".join((self._code, self._video_id, *key))
        return Draft(
            draft_id=f"{self._code}-{hashlib.sha256(words.encode()).hexdigest()[:_ID_CHARS]}",
            task=self._code,
            structure=idea.structure,
            video_id=self._video_id,
            question=idea.question,
            choices=tuple(choices),
            answer_index=answer_index,
            evidence=idea.evidence,
            k=k,
            truth=idea.truth,
            tags=dict(idea.tags),
            facts={**idea.facts, **self._facts},
        )

    def fill(self, sources: Sequence[Ideas], *, most: int) -> None:
        """Take ideas from the sources in turn until there are `most` drafts or no more ideas.

        Which source begins is drawn, so that a small `most` does not favour one.

        Raises:
            UsageError: `most` is below 0.
        """
        if most < 0:
            raise UsageError(f"at most {most} drafts; expected 0 or more")
        going = [sources[i] for i in self._rng.permutation(len(sources))]
        while going and self.n_drafts < most:
            going = [source for source in going if self.n_drafts >= most or self._next(source)]

    def _next(self, source: Ideas) -> bool:
        """Whether the source gave a draft."""
        for _ in range(_MOST_IN_VAIN):
            idea = next(source, None)
            if idea is None:
                return False
            if self.take(idea):
                return True
        return False


def one_of_each(right: str, others: Sequence[str], *, n: int, rng: np.random.Generator) -> tuple[str, ...]:
    """`n` drawn texts out of `others` that are not `right`; fewer where there are no more."""
    pool = [text for text in dict.fromkeys(others) if text != right]
    return tuple(pool[i] for i in rng.permutation(len(pool))[:n])


def lacks(material: Material, needs: Sequence[str], ledger: Ledger) -> bool:
    """Whether something that a task needs is not there; what is missing goes to the account."""
    missing = [name for name in needs if not getattr(material, name)]
    for name in missing:
        ledger.drop("", reason=f"no-{name.replace('_', '-')}", detail="the task needs them")
    return bool(missing)


def asking_nobody(made: Sequence[Made]) -> Flow[Sequence[Made]]:
    """The flow of a task that computes everything itself."""
    yield from ()
    return made


def computed(
    task: Task,
    material: Material,
    sources: Callable[[Ledger], Sequence[Ideas]],
    *,
    most: int,
    rng: np.random.Generator,
) -> Flow[Sequence[Made]]:
    """The flow of a task whose ideas are all computed: up to `most` drafts, from its sources in turn.

    The sources are made only where the material holds what the task needs; what they leave out at once goes
    to the ledger that they are given.
    """
    ledger = Ledger(code=task.code, video_id=material.source.video_id, rng=rng)
    if not lacks(material, task.needs, ledger):
        ledger.fill(sources(ledger), most=most)
    return asking_nobody(ledger.made)
