"""Action counting: how often an action occurs in a video, and which one occurs most often."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.make.herbench.tasks.candidates import (
    LEAST_EVIDENCE,
    BalancedDraw,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
    by_time,
    one_of,
)
from vidence.make.herbench.tasks.counting import STRUCTURES, Counted, Counts, Target, words_said
from vidence.make.herbench.tasks.counts import LEAST_COUNT, N_OTHERS, counts_around
from vidence.make.herbench.tasks.events import span_of, used_up, when
from vidence.make.herbench.tasks.guessing import EventCounts, FairSets, Sets, Thing
from vidence.make.pipeline.english import joined
from vidence.make.pipeline.material import Corpus, Material, Task
from vidence.make.sources.event_index import pair_of
from vidence.records import Record

# By how much the most frequent action must lead, so that one more or less changes nothing.
_LEAD = 2
_MOST_NAMED = 3
_TRIED: Final = 50  # sets of a leader and four others
_LEARNT_FROM: Final = 200  # sets of each leader
_MOST_SETS: Final = 60_000  # that are learnt from in all
_SEED: Final = 0  # of the sets learnt from


class Settings(Record):
    """Which counts are asked."""

    least: Annotated[int, Meta(ge=1, description="smallest count that is asked, 3 or more")] = LEAST_COUNT
    most: Annotated[int, Meta(ge=1, description="largest count that is asked")] = 40
    alone: Annotated[
        bool, Meta(description="ask a count that shares its options with no other question, too")
    ] = False

    def __post_init__(self) -> None:
        if not LEAST_COUNT <= self.least <= self.most:
            raise UsageError(
                f"ac: counts from {self.least} to {self.most}; expected {LEAST_COUNT} at least, below which "
                "a count is not three pieces of evidence, and the largest not below the smallest"
            )


class Ac(ComputedTask):
    """How often a pair of verb and object, or a verb with any object, occurs; which pair occurs most often.

    Counts go by classes or a list of synonyms (``put``, ``place``); the question names every other word that
    the log has for it. A pair is not asked where the log leaves its count open: the same done twice at one
    time, narrations of something that goes on, the object as a further noun beside another one, another pair
    whose words say more than its own (``pick up pine nuts bag`` beside ``pick up pine nuts``).

    k: every occurrence is a span of evidence, and three of them share no moment. Five questions of the
    corpus share five counts as their options, each of them right in one (`shared_options`). A count that is
    left over is not asked, or among counts that are nobody's (``alone=true``; from four on, so that there is
    room for it at each place among the five). For the most frequent action the spans are all occurrences of
    all five, and of the sets drawn those are asked that `FairSets` keeps: which actions lead in other videos
    does not tell.

    Source: HERBench, sections 3.1 and 7.5, figure 20.
    Departs: the figure has a right count of 2, which two glances give; here the least is 3. Synonyms in the
        question, shared options, and two of three structures, are ours.
    """

    code = "AC"
    title = "Action Counting"
    family = "MEA&N"
    version = 9
    needs: tuple[str, ...] = ("events",)
    structures: tuple[str, ...] = (*STRUCTURES, "most-often")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._counts = Counts(least=settings.least, most=settings.most)
        self._learnt: tuple[Mapping[str, Counted], Mapping[str, _Leads], FairSets] | None = None

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        dealt = self._counts.of(material, corpus, n_asked=most)
        if self._learnt is None or self._learnt[0] is not dealt:
            every = {name: _Leads.of(name, both["pair"]) for name, both in sorted(dealt.items())}
            self._learnt = dealt, every, _fair_leads(tuple(every.values()))
        _, leads, fair = self._learnt
        video_id = material.source.video_id
        there = dealt[video_id]
        counted = [self._candidates(structure, there[structure], rng=rng) for structure in STRUCTURES]
        return [*counted, leads[video_id].candidates(fair, rng=rng)]

    def _candidates(self, structure: str, there: Sequence[Target], *, rng: np.random.Generator) -> Candidates:
        inside = [
            target for target in there if self._settings.least <= len(target.events) <= self._settings.most
        ]
        ranks = BalancedDraw(N_OTHERS + 1, rng=rng)
        for place in rng.permutation(len(inside)):
            entry = inside[place]
            count = len(entry.events)
            if entry.reason:
                yield NoCandidate(subject=entry.text, reason=entry.reason, detail=entry.detail)
            elif entry.within:
                detail = f"{joined([repr(other) for other in entry.within[:_MOST_NAMED]])} may be seen as it"
                yield NoCandidate(subject=entry.text, reason="words-within-others", detail=detail)
            elif entry.k < LEAST_EVIDENCE:
                detail = f"{entry.k} of its {count} occurrences share no moment"
                yield NoCandidate(subject=entry.text, reason="too-little-evidence", detail=detail)
            elif entry.options:
                yield _count_candidate(structure, entry, options=entry.options)
            elif self._settings.alone and count < N_OTHERS:
                detail = f"it occurs {count} times, and {N_OTHERS} smaller counts do not fit below"
                yield NoCandidate(subject=entry.text, reason="no-room-below", detail=detail)
            elif self._settings.alone:
                options = counts_around(count, rank=ranks.next(), rng=rng)
                yield _count_candidate(structure, entry, options=options)
            else:
                detail = (
                    f"it occurs {count} times, and no four questions with other counts are left in the "
                    "log to share options with; alone=true asks it all the same"
                )
                yield NoCandidate(subject=entry.text, reason="count-left-over", detail=detail)
        if not inside:
            bounds = f"from {self._settings.least} to {self._settings.most}"
            yield NoCandidate(
                subject=structure, reason="too-few-occurrences", detail=f"no count {bounds} to ask"
            )
        yield used_up(structure)


def _count_candidate(structure: str, target: Target, *, options: Sequence[int]) -> Candidate:
    whatever = "" if structure == "pair" else ", whatever the object"
    count = len(target.events)
    rank = str(sum(option < count for option in options))
    right, wrong = one_of(str(count), map(str, options))
    return Candidate(
        structure=structure,
        subject=target.text,
        question=f"How many times does the action '{target.text}' occur in this video{whatever}?"
        + target.hint,
        right=right,
        wrong=wrong,
        evidence=tuple(span_of(event) for event in target.events),
        facts={target.text: when(target.events), "smaller options": rank},
        tags={"rank": rank},
    )


@dataclass(frozen=True, kw_only=True)
class _Leads:
    """The pairs of a video that the log has one word for; by place, which ones lead which others (`behind`).

    An action counts with those whose words say more than its own: who picks up a pine nuts bag may be seen
    to pick up pine nuts.
    """

    video: str
    known: Sequence[Target]
    things: Sequence[Thing]
    behind: Mapping[int, NDArray[np.intp]]

    @classmethod
    def of(cls, video: str, targets: Sequence[Target]) -> Self:
        """Leaders lead four others by two occurrences."""
        known = [target for target in targets if not target.reason and not target.also]
        n_seen = np.array([_seen_at_most(target, targets) for target in known])
        behind = {
            i: np.flatnonzero(n_seen <= len(target.events) - _LEAD)
            for i, target in enumerate(known)
            if len(target.events) >= LEAST_COUNT
        }
        return cls(
            video=video,
            known=known,
            things=[Thing(text=target.text, key=pair_of(target.events[0])) for target in known],
            behind={i: some for i, some in behind.items() if len(some) >= N_OTHERS},
        )

    def draw(self, leader: int, *, n: int, rng: np.random.Generator) -> Sets:
        """Draw sets of a leader and four others, close seconds sooner, so that it takes counting."""
        behind = self.behind[leader]
        closeness = np.log([len(self.known[i].events) for i in behind])
        order = (-closeness - rng.gumbel(size=(n, len(behind)))).argsort(axis=1)
        places = np.column_stack([np.full(n, leader), behind[order[:, :N_OTHERS]]])
        right = np.zeros(n, np.intp)
        return Sets(video=self.video, things=self.things, places=places, odd=places == leader, right=right)

    def candidates(self, fair: FairSets, *, rng: np.random.Generator) -> Candidates:
        """Each leader once, with the first four others that `fair` keeps."""
        if not self.behind:
            detail = f"no action with {LEAST_COUNT} occurrences and {_LEAD} more than four others"
            yield NoCandidate(subject="most-often", reason="too-few-occurrences", detail=detail)
        for leader in rng.permutation(list(self.behind)):
            first = self.known[leader]
            more = np.array([self.known[i].n_elsewhere - first.n_elsewhere for i in self.behind[leader]])
            if not fair.has_learnt and min((more >= 0).sum(), (more <= 0).sum()) < N_OTHERS - 1:
                detail = "fewer than three others that are as common in other videos, or as rare"
                yield NoCandidate(subject=first.text, reason="too-few-as-common", detail=detail)
                continue
            sets = self.draw(leader, n=_TRIED, rng=rng)
            kept = fair.kept(sets, rng=rng)
            if len(kept):
                yield _lead_candidate([self.known[place] for place in sets.places[kept[0]]])
            else:
                detail = f"{_TRIED} drawn sets of four others are less likely to lead, by other videos"
                yield NoCandidate(subject=first.text, reason="likely-to-lead", detail=detail)
        yield used_up("most-often")


def _lead_candidate(first_and_others: Sequence[Target]) -> Candidate:
    right, *wrong = (target.text for target in first_and_others)
    return Candidate(
        structure="most-often",
        subject=right,
        question="Which of these actions occurs most often in this video?",
        right=right,
        wrong=tuple(wrong),
        evidence=by_time(span_of(event) for target in first_and_others for event in target.events),
        facts={
            target.text: f"{when(target.events)}; {target.n_elsewhere} times elsewhere"
            for target in first_and_others
        },
    )


def _seen_at_most(target: Target, targets: Sequence[Target]) -> int:
    """How often an action may be seen: its own occurrences, and those of actions that hold all its words."""
    mine = words_said(target.text)
    return len(target.events) + sum(len(entry.events) for entry in targets if mine < words_said(entry.text))


def _fair_leads(leads: Sequence[_Leads]) -> FairSets:
    """Learn from all videos which sets with their leaders to keep."""
    rng = np.random.default_rng(_SEED)
    n_learnt = max(1, min(_LEARNT_FROM, _MOST_SETS // max(1, sum(len(some.behind) for some in leads))))
    return FairSets(
        EventCounts(
            {
                some.video: {t.key: len(k.events) for t, k in zip(some.things, some.known, strict=True)}
                for some in leads
            },
            {some.video: [thing.text for thing in some.things] for some in leads},
        ),
        [some.draw(leader, n=n_learnt, rng=rng) for some in leads for leader in some.behind],
        choices=lambda x: x,
        wanted=n_learnt / _TRIED,
    )


def create(settings: Settings) -> Task:
    """The task."""
    return Ac(settings)
