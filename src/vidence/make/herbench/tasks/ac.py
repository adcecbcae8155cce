"""Action counting: how often an action occurs in a video, and which one occurs most often."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta

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
from vidence.make.herbench.tasks.counting import STRUCTURES, Counts, Target, words_said
from vidence.make.herbench.tasks.counts import LEAST_COUNT, N_OTHERS, counts_around
from vidence.make.herbench.tasks.events import span_of, used_up, when
from vidence.make.pipeline.english import joined
from vidence.make.pipeline.material import Corpus, Material, Task
from vidence.records import Record

# By how much the most frequent action must lead, so that one more or less changes nothing.
_LEAD = 2
_LEAST_LEADER = 4
_MOST_NAMED = 3


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
    all five, and it is drawn how many of the other four are more common in other videos.

    Source: HERBench, sections 3.1 and 7.5, figure 20.
    Departs: the figure has a right count of 2, which two glances give; here the least is 3. Synonyms in the
        question, shared options, and two of three structures, are ours.
    """

    code = "AC"
    title = "Action Counting"
    family = "MEA&N"
    version = 7
    needs: tuple[str, ...] = ("events",)
    structures: tuple[str, ...] = (*STRUCTURES, "most-often")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._counts = Counts(least=settings.least, most=settings.most)

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        there = self._counts.of(material, corpus, n_asked=most)
        counted = [self._candidates(structure, there[structure], rng=rng) for structure in STRUCTURES]
        return [*counted, _most_often(there["pair"], rng=rng)]

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


def _most_often(targets: Sequence[Target], *, rng: np.random.Generator) -> Candidates:
    """Pairs that lead four others; each leads once. Only pairs that the log has one word for.

    An action counts with those whose words say more than its own: who picks up a pine nuts bag may be seen
    to pick up pine nuts.
    """
    known = [target for target in targets if not target.reason and not target.also]
    leaders = [target for target in known if len(target.events) >= _LEAST_LEADER]
    commoner, any_yet = BalancedDraw(N_OTHERS + 1, rng=rng), False
    for place in rng.permutation(len(leaders)):
        first = leaders[place]
        behind = [target for target in known if _seen_at_most(target, targets) <= len(first.events) - _LEAD]
        if len(behind) < N_OTHERS:
            continue
        any_yet = True
        n_commoner = commoner.next()
        others = _others(first, behind, n_commoner=n_commoner, rng=rng)
        if not others:
            detail = f"no four others, {n_commoner} of them more common in other videos"
            yield NoCandidate(subject=first.text, reason="too-few-as-common", detail=detail)
            continue
        yield Candidate(
            structure="most-often",
            subject=first.text,
            question="Which of these actions occurs most often in this video?",
            right=first.text,
            wrong=tuple(other.text for other in others),
            evidence=by_time(span_of(event) for entry in (first, *others) for event in entry.events),
            facts={
                entry.text: f"{when(entry.events)}; {entry.n_elsewhere} times elsewhere"
                for entry in (first, *others)
            },
        )
    if not any_yet:
        detail = f"no action with {_LEAST_LEADER} occurrences and {_LEAD} more than four others"
        yield NoCandidate(subject="most-often", reason="too-few-occurrences", detail=detail)
    yield used_up("most-often")


def _seen_at_most(target: Target, targets: Sequence[Target]) -> int:
    """How often an action may be seen: its own occurrences, and those of actions that hold all its words."""
    mine = words_said(target.text)
    return len(target.events) + sum(len(entry.events) for entry in targets if mine < words_said(entry.text))


def _others(
    first: Target, behind: Sequence[Target], *, n_commoner: int, rng: np.random.Generator
) -> tuple[Target, ...]:
    """Four others, `n_commoner` of them more common in other videos than the first one.

    Those that are as common as it count as either. None where there are not four such others, and where
    there are fewer than three of one sort: it would mostly be the most common of the five, or the rarest.
    """
    for sign in (1, -1):
        if sum(sign * (target.n_elsewhere - first.n_elsewhere) >= 0 for target in behind) < N_OTHERS - 1:
            return ()
    # Close seconds first, so that it takes counting and not a glance.
    left = sorted(behind, key=lambda target: -len(target.events))
    chosen: list[Target] = []
    for n, sign in ((n_commoner, 1), (N_OTHERS - n_commoner, -1)):
        fit = [target for target in left if sign * (target.n_elsewhere - first.n_elsewhere) >= 0][: 2 * n]
        if len(fit) < n:
            return ()
        chosen += [fit[i] for i in rng.permutation(len(fit))[:n]]
        left = [target for target in left if target not in chosen]
    return tuple(chosen)


def create(settings: Settings) -> Task:
    """The task."""
    return Ac(settings)
