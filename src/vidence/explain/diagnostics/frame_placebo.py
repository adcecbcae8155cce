"""Which frames are evidence and which are a placebo, and the effect of withholding either.

The effect of withholding an irrelevant frame is the floor under the shares of relevant frames.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec
import numpy as np

from vidence.explain.diagnostics.tables import Difference, Figures, adjusted
from vidence.records import Estimate, Item
from vidence.statistics.intervals import UNBOUNDED
from vidence.statistics.resampling import Resampling, difference_of_groups
from vidence.tables.table import Measure, Row, Table, difference, lines, number, p_value, share, tabulate

ROUNDING: Final = 1e-9
# Of fewer right or wrong answers the interval of their difference is too narrow.
LEAST_ANSWERS: Final = 20


@dataclass(frozen=True, kw_only=True)
class PlaceboDeltas:
    """The deltas of the frames of one question's evidence, and those of a placebo, in one context.

    The placebo are frames apart from the evidence that are left out, too, or the frames of the evidence
    encoded again. `alone` are those of the evidence without the others, by which HERBench shares out.
    """

    item: Item
    is_right: bool
    evidence: tuple[float, ...]
    placebo: tuple[float, ...]
    alone: tuple[float, ...]

    @property
    def effect(self) -> float:
        """Return how much more withholding an evidence frame costs than the placebo, in nats."""
        return float(np.mean(self.evidence) - np.mean(self.placebo))

    @property
    def is_matched(self) -> bool:
        """Whether placebo and evidence have equally many frames."""
        return len(self.evidence) == len(self.placebo)


Some: TypeAlias = Sequence[PlaceboDeltas]


def positive(deltas: Sequence[float]) -> tuple[float, float]:
    """Return the largest positive delta and the sum of all positive ones; 0 without any.

    >>> positive((0.5, -1.0, 1.5))
    (1.5, 2.0)
    """
    known = [delta for delta in deltas if delta > ROUNDING]
    return max(known, default=0.0), sum(known)


def top_share(deltas: Sequence[float]) -> float | None:
    """Return the largest delta's share of the positive deltas; None if none is positive."""
    top, total = positive(deltas)
    return top / total if total else None


# --------------------------------------------------------------------------- which frames


def evidence_positions(item: Item, times_s: Sequence[float]) -> list[int]:
    """Return one frame per annotated span, in time order: the one closest to its middle.

    Frames listed by the annotation are all kept, as are single images next to the video, which lie in no
    span. A span without a frame gets the latest frame before its start, unless that belongs to another span.
    No frame is used twice.

    Source: HERBench, section 5.2, has frames curated by hand.
    Departs: no.
    """
    in_time = sorted(range(len(times_s)), key=times_s.__getitem__)
    if any(evidence.frames for evidence in item.evidence):
        return in_time
    spans = _spans(item)
    stills = stills_of(item, len(times_s))
    moving = [i for i in in_time if i not in stills]
    free = [i for i in moving if not any(start <= times_s[i] < end for start, end in spans)]
    taken: set[int] = set()
    for start, end in spans:
        inside = [i for i in moving if start <= times_s[i] < end]
        before = [i for i in free if times_s[i] <= start][-1:]
        if left := [i for i in inside or before if i not in taken]:
            bounds = max(start, times_s[left[0]]), min(end, times_s[left[-1]])
            middle = (start + end) / 2 if math.isfinite(start + end) else sum(bounds) / 2
            taken.add(min(left, key=lambda i: (abs(times_s[i] - middle), times_s[i])))
    return [i for i in in_time if i in taken | stills]


def placebo_positions(
    item: Item, evidence_s: Sequence[float], times_s: Sequence[float]
) -> tuple[list[int], list[int]]:
    """Return the positions of the evidence frames, and of as many others, evenly spread.

    Args:
        item: the question; its single images are evidence, never a placebo.
        evidence_s: the times of the evidence frames.
        times_s: the times of all frames shown.
    """
    stills = stills_of(item, len(times_s))
    wanted = Counter(evidence_s)
    evidence: list[int] = []
    for i in sorted(range(len(times_s)), key=lambda i: (times_s[i], i not in stills)):
        if wanted[times_s[i]]:
            wanted[times_s[i]] -= 1
            evidence.append(i)
    others = [i for i in range(len(times_s)) if i not in evidence and i not in stills]
    spans = _spans(item)
    apart = [i for i in others if not any(start <= times_s[i] < end for start, end in spans)]
    n = min(len(evidence), len(apart))
    return evidence, [apart[(2 * j + 1) * len(apart) // (2 * n)] for j in range(n)]


def _spans(item: Item) -> list[tuple[float, float]]:
    """Return the evidence spans, open if start or end is missing."""
    return [
        (-math.inf if e.start_s is None else e.start_s, math.inf if e.end_s is None else e.end_s)
        for e in item.evidence
        if e.start_s is not None or e.end_s is not None
    ]


def stills_of(item: Item, n_frames: int) -> set[int]:
    """Return which frames are single images before or after the only video."""
    are_still = [medium.is_still for medium in item.media]
    first = are_still.index(False) if False in are_still else len(are_still)
    n_behind = are_still.count(True) - first
    return {*range(first), *range(n_frames - n_behind, n_frames)}


# --------------------------------------------------------------------------- the table


def _measures(effects: Mapping[str, Difference], figures: Figures) -> tuple[Measure[tuple[str, Some]], ...]:
    how = "cluster test of the evidence effect being 0, adjusted for all lines of this table"

    def effect(row: tuple[str, Some]) -> Estimate | None:
        return effects[row[0]].estimate if row[0] in effects else None

    def p_holm(row: tuple[str, Some]) -> float | None:
        return effects[row[0]].p_holm if row[0] in effects else None

    return (
        share("top", lambda row: _tops(row[1], figures)[0], "top-1 share", note="Of the evidence."),
        share("floor", lambda row: _tops(row[1], figures)[1], note="Top-1 share of the placebo."),
        difference("beyond", lambda row: _tops(row[1], figures)[2], "top-1 less floor"),
        number("effect", effect, "evidence effect, nats"),
        p_value("p_holm", p_holm, "p (Holm)", note=how),
        share("pooled", lambda row: _pooled(row[1], figures), "pooled top-1", note="Of the evidence alone."),
        number("n", lambda row: len(row[1]), "questions"),
    )


def _tops(some: Some, figures: Figures) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
    """Return top-1 share, floor and their difference, for questions with both at equal size."""
    both = with_floor(some)
    if not both:
        return None, None, None
    items = [deltas.item for deltas, _, _ in both]
    tops, floors = (np.array([entry[i] for entry in both], np.float64) for i in (1, 2))
    difference, _ = figures.difference(tops, floors, items)
    return figures.mean(tops, items), figures.mean(floors, items), difference


def _pooled(some: Some, figures: Figures) -> Estimate | None:
    """Return the sum of largest positive deltas divided by the sum of all positive deltas."""
    known = [(deltas.item, *positive(deltas.alone)) for deltas in some if positive(deltas.alone)[1]]
    if not known:
        return None
    first, second = (np.array([entry[i] for entry in known], np.float64) for i in (1, 2))
    return figures.ratio(first, second, [entry[0] for entry in known])


_NOTES: Final = (
    "Frames apart from all evidence join it, and each frame is left out once. Floor: what the top-1 "
    "share is where no frame matters, but the log-probabilities move. Only a top-1 share above the "
    "floor says that an answer rests on one frame.",
    "Evidence effect: how much more leaving out a frame of the evidence costs than leaving out one "
    "apart; 0 where the evidence does nothing.",
    "Right less wrong: the difference in what is above the placebo; its interval draws whole videos.",
    "Pooled: the largest positive changes of all questions over all positive changes, so that questions "
    "count by what there is to share.",
)

_FEW: Final = (
    f"Fewer than {LEAST_ANSWERS} right or wrong answers with a floor: the two are not compared, since so few "
    "answers can show a difference that is not there."
)


def with_floor(some: Some) -> list[tuple[PlaceboDeltas, float, float]]:
    """Return the questions with a top-1 share of evidence and of an equally large placebo, with both."""
    return [
        (deltas, top, floor)
        for deltas in some
        if deltas.is_matched
        and (top := top_share(deltas.evidence)) is not None
        and (floor := top_share(deltas.placebo)) is not None
    ]


def placebo_tables(groups: Mapping[str, Some], labels: Mapping[str, str], figures: Figures) -> list[Table]:
    """Return tables of evidence against placebo for each group.

    The first group contains all questions. Empty without questions.
    """
    every = next(iter(groups.values()), ())
    if not every:
        return []
    compared = _right_less_wrong(groups, figures)
    effects = adjusted({key: _effect(some, figures) for key, some in groups.items() if some})
    n_fewer = sum(not deltas.is_matched for deltas in every)
    n_still = sum(top_share(deltas.placebo) is None for deltas in every)
    table = tabulate(
        "placebo",
        "The evidence against frames that do not matter",
        label="questions",
        rows=lines(((key, (key, some)) for key, some in groups.items()), labels),
        measures=_measures(effects, figures),
        notes=(
            *_NOTES,
            f"{n_fewer:,} questions have fewer frames apart than evidence, and no floor." if n_fewer else "",
            f"In {n_still:,} questions the placebo never made the answer less likely: no floor."
            if n_still
            else "",
            "" if compared else _FEW,
        ),
    )
    return [msgspec.structs.replace(table, rows=(*table.rows, *compared))]


def _right_less_wrong(groups: Mapping[str, Some], figures: Figures) -> list[Row]:
    """Return right minus wrong answers, each minus its placebo; empty if either are few."""
    right, wrong = groups.get("right", ()), groups.get("wrong", ())
    floors = with_floor(right), with_floor(wrong)
    if min(map(len, floors)) < LEAST_ANSWERS:
        return []
    beyond = [[(top - floor, deltas.item.source_id) for deltas, top, floor in some] for some in floors]
    effects = [[(deltas.effect, deltas.item.source_id) for deltas in some] for some in (right, wrong)]
    entries = []
    for pair in (beyond, effects):
        (first, ours), (second, theirs) = (zip(*some, strict=True) for some in pair)
        settings = Resampling(level=figures.level)
        entries.append(
            difference_of_groups(first, second, clusters=(ours, theirs), rng=figures.rng, settings=settings)
        )
    values = (None, None, *entries, None, None, None)
    return [Row(key="difference", label="right less wrong", values=values)]


def _effect(some: Some, figures: Figures) -> tuple[Estimate, float]:
    """Return the mean effect, which is unbounded, and its p-value."""
    effects, items = np.array([deltas.effect for deltas in some]), [deltas.item for deltas in some]
    return figures.difference(effects, np.zeros(len(items)), items, bounds=UNBOUNDED)
