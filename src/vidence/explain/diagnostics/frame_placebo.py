"""What leaving out a frame that does not matter does: the floor under the shares of frames that may."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.explain.diagnostics.tables import Difference, Figures, adjusted
from vidence.records import Estimate, Item
from vidence.tables.table import Column, Measure, Table, lines, number, share, tabulate

ROUNDING: Final = 1e-9
MOST_SETS: Final = 2000  # of frames that change places; beyond that so many are drawn
Kind: TypeAlias = Literal["n", "jitter"]


@dataclass(frozen=True, kw_only=True)
class PlaceboDeltas:
    """The deltas of the frames of one question's evidence, and those of a placebo, in one context.

    The placebo are frames apart from the evidence that are left out, too, or the frames of the evidence
    encoded anew. `alone` are those of the evidence without the others, by which HERBench shares out.
    """

    item: Item
    is_right: bool
    evidence: tuple[float, ...]
    placebo: tuple[float, ...]
    alone: tuple[float, ...]

    @property
    def effect(self) -> float:
        """How much more leaving out a frame of the evidence costs than the placebo does, in nats."""
        return float(np.mean(self.evidence) - np.mean(self.placebo))

    @property
    def is_matched(self) -> bool:
        """Whether the placebo has as many frames as the evidence."""
        return len(self.evidence) == len(self.placebo)


Some: TypeAlias = Sequence[PlaceboDeltas]


def positive(deltas: Sequence[float]) -> tuple[float, float]:
    """The largest positive delta and the sum of all of them; 0 where there are none.

    >>> positive((0.5, -1.0, 1.5))
    (1.5, 2.0)
    """
    known = [delta for delta in deltas if delta > ROUNDING]
    return max(known, default=0.0), sum(known)


def top_share(deltas: Sequence[float]) -> float | None:
    """The largest share in the positive deltas; None where none is positive."""
    top, total = positive(deltas)
    return top / total if total else None


@dataclass(frozen=True, kw_only=True)
class Permuted:
    """How often frames that change places have so large an effect, and whether that is more than one half.

    `p_value` is the share of the sets of frames that could be the evidence whose effect is at least the one
    seen. `above` is the chance that it is above 0.5 if ties are parted at random, `expected` that chance
    where no set is special.
    """

    p_value: float
    above: float
    expected: float


def permuted(one: PlaceboDeltas, rng: np.random.Generator) -> Permuted:
    """The p-value of a question's effect under a change of places of its frames.

    All sets are looked at; where there are more than 2,000, so many are drawn, the one seen among them.
    """
    deltas = np.array([*one.evidence, *one.placebo])
    n_all, n = len(deltas), len(one.evidence)
    n_sets = math.comb(n_all, n)
    sets: NDArray[np.int64]
    if n_sets <= MOST_SETS:
        sets = np.array(list(itertools.combinations(range(n_all), n)), np.int64)
    else:
        drawn = rng.permuted(np.tile(np.arange(n_all), (MOST_SETS - 1, 1)), axis=1)[:, :n]
        sets = np.concatenate([np.arange(n)[None], drawn])
    sums = deltas[sets].sum(axis=1)
    seen = float(deltas[:n].sum())
    n_tried = len(sums)
    n_larger, n_least = int((sums > seen + ROUNDING).sum()), int((sums >= seen - ROUNDING).sum())
    ranks = range(n_larger + 1, n_least + 1)
    return Permuted(
        p_value=n_least / n_tried,
        above=sum(2 * rank > n_tried for rank in ranks) / len(ranks),
        expected=sum(2 * rank > n_tried for rank in range(1, n_tried + 1)) / n_tried,
    )


def share_with_effect(tests: Sequence[Permuted]) -> list[float]:
    """For each question a value whose mean is Storey's share of questions whose evidence does anything.

    Without any effect p-values above 0.5 come as often as is expected; the mean is then 0.

    Source: Storey (2002), equation for pi_0 at lambda 0.5.
    Departs: the number expected above 0.5 is that of the discrete p-values, and ties are parted at random.
    """
    expected = sum(one.expected for one in tests) / len(tests) if tests else 1.0
    return [1 - one.above / expected for one in tests]


def as_share(estimate: Estimate) -> Estimate:
    """The estimate cut to 0 and 1: Storey's share may lie outside of them."""
    value, low, high = (min(max(end, 0.0), 1.0) for end in (estimate.value, estimate.low, estimate.high))
    ends = {} if math.isnan(estimate.low) else {"low": low, "high": high}
    return msgspec.structs.replace(estimate, value=value, **ends)


# --------------------------------------------------------------------------- the table


@dataclass(frozen=True, kw_only=True)
class _Placebo:
    """The figures of a table of placebos; `held` are the values of `share_with_effect` by item id, if any."""

    figures: Figures
    held: Mapping[str, float] | None

    def measures(self, effects: Mapping[str, Difference]) -> tuple[Measure[tuple[str, Some]], ...]:
        how = "cluster test of the evidence effect being 0, adjusted for all lines of this table"
        heading = Column(key="p_holm", title="p (Holm)", note=how, kind="p")
        held: Measure[tuple[str, Some]] = share(
            "held", lambda row: self._held(row[1]), "evidence does anything", note="Of the questions."
        )
        return (
            share("top", lambda row: self._tops(row[1])[0], "top-1 share", note="Of the evidence."),
            share("floor", lambda row: self._tops(row[1])[1], note="Top-1 share of the placebo."),
            number("beyond", lambda row: self._tops(row[1])[2], "top-1 less floor", kind="difference"),
            number(
                "effect",
                lambda row: effects[row[0]].estimate if row[0] in effects else None,
                "evidence effect, nats",
            ),
            Measure(heading=heading, of=lambda row: effects[row[0]].p_holm if row[0] in effects else None),
            *(() if self.held is None else (held,)),
            share("pooled", lambda row: self._pooled(row[1]), "pooled top-1", note="Of the evidence alone."),
            number("n", lambda row: len(row[1]), "questions"),
        )

    def _tops(self, some: Some) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
        """Top-1 share, floor and their difference, of questions that have both with as many frames."""
        both = with_floor(some)
        if not both:
            return None, None, None
        items = [one.item for one, _, _ in both]
        tops, floors = (np.array([one[i] for one in both], np.float64) for i in (1, 2))
        return (
            self.figures.mean(tops, items),
            self.figures.mean(floors, items),
            self.figures.difference(tops, floors, items)[0],
        )

    def _held(self, some: Some) -> Estimate | None:
        if not some or self.held is None:
            return None
        values = np.array([self.held[one.item.item_id] for one in some])
        found = self.figures.gain(values, [one.item for one in some])
        return msgspec.structs.replace(as_share(found), method=f"Storey's share; {found.method}")

    def _pooled(self, some: Some) -> Estimate | None:
        """The sum of the largest positive deltas over the sum of all of them."""
        known = [(one.item, *positive(one.alone)) for one in some if positive(one.alone)[1]]
        if not known:
            return None
        first, second = (np.array([one[i] for one in known], np.float64) for i in (1, 2))
        return self.figures.ratio(first, second, [one[0] for one in known])


_NOTES: Mapping[Kind, tuple[str, str]] = {
    "n": (
        "Frames apart from all evidence join it, and each frame is left out once. Floor: what the top-1 "
        "share is where no frame matters, but the log-probabilities move. Only a top-1 share above the "
        "floor says that an answer rests on one frame.",
        "Evidence effect: how much more leaving out a frame of the evidence costs than leaving out one "
        "apart; 0 where the evidence does nothing.",
    ),
    "jitter": (
        "Each frame is encoded anew once instead of left out. Floor: the top-1 share of that, a change which "
        "is none. A prompt with a frame less moves more than that even where the frame is irrelevant: the "
        "floor of placebo=n is the fairer one.",
        "Evidence effect: how much more leaving out a frame costs than encoding it anew.",
    ),
}
_POOLED = (
    "Pooled: the largest positive changes of all questions over all positive changes, so that questions "
    "count by what there is to share."
)


def with_floor(some: Some) -> list[tuple[PlaceboDeltas, float, float]]:
    """The questions that have a top-1 share of the evidence and of as large a placebo, with both."""
    return [
        (one, top, floor)
        for one in some
        if one.is_matched
        and (top := top_share(one.evidence)) is not None
        and (floor := top_share(one.placebo)) is not None
    ]


def placebo_tables(
    groups: Mapping[str, Some], labels: Mapping[str, str], figures: Figures, *, kind: Kind
) -> list[Table]:
    """The evidence against a placebo, for each group.

    The first group holds the questions of all others. Nothing where there are no questions. With ``jitter``
    evidence and placebo cannot change places, so that no share of questions with an effect is told.
    """
    every = next(iter(groups.values()), ())
    if not every:
        return []
    held: dict[str, float] | None = None
    if kind == "n":
        tests = [permuted(one, figures.rng) for one in every]
        held = {one.item.item_id: value for one, value in zip(every, share_with_effect(tests), strict=True)}
    said = _Placebo(figures=figures, held=held)
    effects = _effects(groups, figures)
    n_fewer = sum(not one.is_matched for one in every)
    n_still = sum(top_share(one.placebo) is None for one in every)
    titles = {"n": "frames that do not matter", "jitter": "the same frames encoded anew"}
    table = tabulate(
        "placebo",
        f"The evidence against {titles[kind]}",
        label="questions",
        rows=lines(((key, (key, some)) for key, some in groups.items()), labels),
        measures=said.measures(effects),
        notes=(
            *_NOTES[kind],
            _POOLED,
            f"{n_fewer:,} questions have fewer frames apart than evidence, and no floor." if n_fewer else "",
            f"In {n_still:,} questions the placebo never made the answer less likely: no floor."
            if n_still
            else "",
        ),
    )
    return [table]


def _effects(groups: Mapping[str, Some], figures: Figures) -> dict[str, Difference]:
    """The mean effect of each group that has questions, adjusted for their number."""
    return adjusted(
        {
            key: figures.effect(np.array([one.effect for one in some]), [one.item for one in some])
            for key, some in groups.items()
            if some
        }
    )
