"""Tasks that ask which of several things never occurs in a video."""

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.make.herbench.tasks.candidates import (
    N_CHOICES,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
    one_of,
)
from vidence.make.herbench.tasks.events import EventContext, event_context, overlap, span_of, used_up, when
from vidence.make.herbench.tasks.guessing import EventCounts, FairSets, Floats, Sets, Thing
from vidence.make.pipeline.english import joined
from vidence.make.pipeline.material import Corpus, Event, Material
from vidence.records import Evidence

_LISTED = N_CHOICES - 1
_IN_GROUP = 3
_SEPARATOR = "; "
_BATCH: Final = 1000  # sets that are drawn at a time
_N_BATCHES: Final = 10
_LEARNT_FROM: Final = 1000  # sets of each video
_MOST_SETS: Final = 150_000  # that are learnt from in all
_SEED: Final = 0  # of the sets learnt from: every video's questions rest on the same ones

# What the sets of a structure hold: N things that never occur, Y that do. The first choice is right.
_LAYOUTS: Final = {"absent": "NYYYY", "which-of-four": "NYYY", "all-occur": "YYY" + "NYY" * _LISTED}


@dataclass(frozen=True, kw_only=True)
class Present(Thing):
    """A thing that occurs: wording, times, and frequency in other videos, for reviewers."""

    occurrences: tuple[Event, ...]
    n_elsewhere: int


@dataclass(frozen=True, kw_only=True)
class Absent(Thing):
    """Something that does not occur and would fit; what is common elsewhere is drawn sooner, by `weight`."""

    n_elsewhere: int
    weight: float = 1.0
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
    """The things to ask about in a video; `counts` says how often each thing of its log occurs."""

    present: Sequence[Present]
    absent: Sequence[Absent]
    words: TaskWording
    counts: Mapping[Hashable, int]

    @property
    def things(self) -> Sequence[Present | Absent]:
        """The absent ones, then those that occur."""
        return (*self.absent, *self.present)

    def has(self, structure: str) -> bool:
        """Whether there are enough things of both kinds for a structure."""
        n_absent = _LAYOUTS[structure].count("N")
        n_present = max(_LISTED, _LAYOUTS[structure].count("Y"))
        return len(self.absent) >= n_absent and len(self.present) >= n_present


class AbsenceTask(ComputedTask):
    """A task that asks what of several things occurs; which things is for `pool` to say.

    Three structures. ``absent``: five things, one of which does not occur. ``which-of-four``: four numbered
    things, of which three or all four occur. ``all-occur``: five groups of three, in one of which everything
    occurs. In every structure at least three things have to be seen.

    Source: HERBench, section 7.5 and figures 16 and 18 (``absent``).
    Departs: the other two structures are ours. Things that occur are held to the same rules as absent ones,
        and of the sets drawn of both those are asked that `FairSets` keeps.
    """

    family = "GC&V"
    needs: tuple[str, ...] = ("events",)
    structures: tuple[str, ...] = ("absent", "which-of-four", "all-occur")
    _learnt: tuple[Corpus, int, Mapping[str, FairSets]] | None = None

    @abstractmethod
    def pool(self, context: EventContext) -> Pool:
        """Return the things to ask about in a video."""

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        if self._learnt is None or self._learnt[0] is not corpus or self._learnt[1] != most:
            self._learnt = corpus, most, self._fair_sets(corpus, most)
        video_id = material.source.video_id
        pool = self.pool(event_context(video_id, material.events, corpus))
        return [
            _candidates(video_id, pool, name, fair=self._learnt[2][name], rng=rng) for name in self.structures
        ]

    def _fair_sets(self, corpus: Corpus, most: int) -> Mapping[str, FairSets]:
        """Learn from all videos which sets of each structure to keep."""
        pools = {
            name: self.pool(event_context(name, corpus.events[name], corpus))
            for name in sorted(corpus.events)
        }
        counts = EventCounts(
            {name: pool.counts for name, pool in pools.items()},
            {name: [thing.text for thing in pool.present] for name, pool in pools.items()},
        )
        rng = np.random.default_rng(_SEED)
        n_learnt = min(_LEARNT_FROM, _MOST_SETS // max(1, len(pools)))
        wanted = most / len(self.structures) * n_learnt / (_BATCH * _N_BATCHES)
        return {
            structure: FairSets(
                counts,
                [
                    _draw(name, pool, structure, n=n_learnt, rng=rng)
                    for name, pool in pools.items()
                    if pool.has(structure)
                ],
                choices=_CHOICES[structure],
                wanted=wanted,
            )
            for structure in self.structures
        }


def _draw(video_id: str, pool: Pool, structure: str, *, n: int, rng: np.random.Generator) -> Sets:
    """Draw sets of things, those that never occur by the root of how often they do elsewhere."""
    n_absent = len(pool.absent)
    weights = [thing.weight * thing.n_elsewhere**0.5 for thing in pool.absent]
    absent = (-np.log(weights) - rng.gumbel(size=(n, n_absent))).argsort(axis=1)
    present = n_absent + rng.random((n, len(pool.present))).argsort(axis=1)

    def laid_out(layout: str) -> NDArray[np.intp]:
        columns = {"N": iter(absent.T), "Y": iter(present.T)}
        return np.column_stack([next(columns[kind]) for kind in layout])

    places, right = laid_out(_LAYOUTS[structure]), np.zeros(n, np.intp)
    if structure == "which-of-four":
        right[rng.random(n) < 1 / N_CHOICES] = _LISTED
        places = np.where(right[:, None] == _LISTED, laid_out("Y" * _LISTED), places)
    return Sets(video=video_id, things=pool.things, places=places, odd=places < n_absent, right=right)


def _or_all(x: Floats) -> Floats:
    """Append the choice that all things occur, which has a trait of its own."""
    values = np.pad(x, ((0, 0), (0, 1), (1, 0)))
    values[:, -1, 0] = 1.0
    return values


def _of_groups(x: Floats) -> Floats:
    values: Floats = x.reshape(len(x), N_CHOICES, _IN_GROUP, -1).mean(axis=2)
    return values


def _of_things(x: Floats) -> Floats:
    return x


_CHOICES: Final = {"absent": _of_things, "which-of-four": _or_all, "all-occur": _of_groups}


@dataclass(frozen=True, kw_only=True)
class _Worded:
    """A question about a set in words."""

    question: str
    right: str
    wrong: tuple[str, ...]
    subject: str = ""


def _candidates(
    video_id: str, pool: Pool, structure: str, *, fair: FairSets, rng: np.random.Generator
) -> Candidates:
    if not pool.has(structure):
        detail = f"{len(pool.present)} that occur and {len(pool.absent)} that do not are too few"
        yield NoCandidate(subject=structure, reason=f"too-few-{pool.words.things}", detail=detail)
        return
    asked: set[frozenset[str]] = set()
    for _ in range(_N_BATCHES):
        sets = _draw(video_id, pool, structure, n=_BATCH, rng=rng)
        for i in fair.kept(sets, rng=rng):
            things = [pool.things[place] for place in sets.places[i]]
            absent = [thing for thing in things if isinstance(thing, Absent)]
            names = frozenset(thing.text for thing in things)
            if names in asked:
                continue
            asked.add(names)
            worded = _WORDED[structure](things, words=pool.words, rng=rng)
            present = [thing for thing in things if isinstance(thing, Present)]
            yield Candidate(
                structure=structure,
                subject=worded.subject or worded.right,
                question=worded.question,
                right=worded.right,
                wrong=worded.wrong,
                evidence=spans(present),
                facts=facts(present, absent),
            )
    yield used_up(structure)


def _absent(things: Sequence[Thing], *, words: TaskWording, rng: np.random.Generator) -> _Worded:
    right, *wrong = (thing.text for thing in things)
    return _Worded(question=words.absent, right=right, wrong=tuple(wrong))


def _which_of_four(things: Sequence[Thing], *, words: TaskWording, rng: np.random.Generator) -> _Worded:
    numbers = range(1, _LISTED + 1)
    options = [f"Only {joined(n for n in numbers if n != i)}" for i in numbers]
    options.append(f"All {words.things}: {joined(numbers)}")
    listed = [things[i] for i in rng.permutation(_LISTED)]
    (place,) = [i for i, thing in enumerate(listed) if isinstance(thing, Absent)] or [_LISTED]
    lines = "\n".join(f"{number}. {thing.text}" for number, thing in enumerate(listed, 1))
    right, wrong = one_of(options[place], options)
    return _Worded(
        question=f"{words.which_of_four}\n{lines}",
        right=right,
        wrong=wrong,
        subject=_SEPARATOR.join(thing.text for thing in listed),
    )


def _all_occur(things: Sequence[Thing], *, words: TaskWording, rng: np.random.Generator) -> _Worded:
    texts = [thing.text for thing in things]
    groups = [texts[i : i + _IN_GROUP] for i in range(0, len(texts), _IN_GROUP)]
    right, *wrong = (_SEPARATOR.join(group[i] for i in rng.permutation(_IN_GROUP)) for group in groups)
    return _Worded(question=words.all_occur, right=right, wrong=tuple(wrong))


_WORDED: Final = {"absent": _absent, "which-of-four": _which_of_four, "all-occur": _all_occur}


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
