"""Where more of something (frames, pixels, tokens to think with) stops to help, if the data can tell."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.statistics.resampling import USUAL, Resampling, as_labels, percentile_estimate, replicates

Course: TypeAlias = Literal["saturates", "rises", "falls", "flat", "unclear"]
# A later slope that may still be as steep as this share of the earlier one is no plateau.
STILL_RISING = 0.5
FEWEST_AMOUNTS = 3
DIGITS = 12  # that are no rounding, of scores from 0 to 1 and their slopes


class Plateau(Record):
    """The course of a score over growing amounts.

    `split` is the amount that parts the curve: `early` is the mean gain of a doubling up to it, `late` the
    gain of a doubling from it on (the slope of a line through these scores), `excess` is `late` less half of
    `early`. `course` says what can be told:

    * ``saturates``: `split` is the point from which on more does not help. `below` is then the largest
      amount at which the score is clearly below the plateau (None: no single one is);
    * ``rises``: no plateau can be shown, and `late` lies above 0;
    * ``falls``: `late` lies below 0;
    * ``flat``: the scores at no two amounts can be told apart;
    * ``unclear``: none of these.

    Where it does not saturate, `split` is the amount in the middle.
    """

    course: Course
    split: float
    below: float | None
    early: Estimate
    late: Estimate
    excess: Estimate
    amounts: tuple[float, ...]

    @property
    def point(self) -> float | None:
        """The amount from which on more does not help; None where the data do not support one."""
        return self.split if self.course == "saturates" else None


@dataclass(frozen=True, kw_only=True)
class _Curve:
    """The mean scores that were seen and those of every draw of clusters.

    Shapes: `seen` (n_amounts,), `drawn` (n_draws, n_amounts), `doublings` (n_amounts,).
    """

    seen: NDArray[np.float64]
    drawn: NDArray[np.float64]
    doublings: NDArray[np.float64]
    size: tuple[int, int]
    level: float

    def estimate(self, name: str, weights: NDArray[np.float64]) -> Estimate:
        """A weighted sum of the scores with the interval between percentiles of the draws."""
        return percentile_estimate(
            round(float(self.seen @ weights), DIGITS),
            np.round(self.drawn @ weights, DIGITS),
            size=self.size,
            name=name,
            level=self.level,
        )

    def early(self, at: int) -> NDArray[np.float64]:
        """The weights of the mean gain of a doubling from the first amount to this one."""
        weights = np.zeros(len(self.seen))
        weights[at], weights[0] = 1.0, -1.0
        weights /= self.doublings[at] - self.doublings[0]
        return weights

    def late(self, at: int) -> NDArray[np.float64]:
        """The weights of the slope of the line through the scores from this amount on."""
        weights = np.zeros(len(self.seen))
        centred = self.doublings[at:] - self.doublings[at:].mean()
        weights[at:] = centred / (centred @ centred)
        return weights

    def slopes(self, at: int) -> tuple[Estimate, Estimate, Estimate]:
        """`early`, `late` and `excess` of a curve that is parted here."""
        early, late = self.early(at), self.late(at)
        return (
            self.estimate("mean gain of a doubling before the split", early),
            self.estimate("gain of a doubling after the split", late),
            self.estimate("gain after the split less half of that before it", late - STILL_RISING * early),
        )

    def is_level(self, first: int) -> bool:
        """Whether the scores from this amount on may all be the same, by a chi-square test."""
        from scipy.special import chdtrc

        gains = np.round(self.seen[first + 1 :] - self.seen[first], DIGITS)
        drawn = np.round(self.drawn[:, first + 1 :] - self.drawn[:, [first]], DIGITS)
        spread = np.atleast_2d(np.cov(drawn.T))
        inverse = np.linalg.pinv(spread, rtol=1e-9, hermitian=True)
        # A gain that is the same in every draw is no chance.
        if not np.allclose(spread @ inverse @ gains, gains, atol=1e-9):
            return False
        rank = int(np.linalg.matrix_rank(spread, rtol=1e-9, hermitian=True))
        return rank == 0 or float(chdtrc(rank, gains @ inverse @ gains)) > 1 - self.level

    def is_plateau(self, at: int) -> bool:
        """Whether the score rises to this amount, no higher before it, and clearly rises no more after it."""
        early, late, excess = self.slopes(at)
        return (
            bool(self.seen[at] >= self.seen[:at].max())
            and early.low > 0
            and late.low <= 0 <= late.high
            and excess.high < 0
            and self.is_level(at)
        )

    def below(self, at: int) -> int | None:
        """The last position before this one whose score is clearly below the mean from here on."""
        for position in range(at - 1, -1, -1):
            weights = np.zeros(len(self.seen))
            weights[at:] = 1 / (len(self.seen) - at)
            weights[position] = -1.0
            if self.estimate("plateau less the score before it", weights).low > 0:
                return position
        return None


def find_plateau(
    values: ArrayLike,
    amounts: Sequence[float],
    *,
    clusters: Sequence[str],
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> Plateau:
    """Whether a score that grows with an amount has stopped growing, and from which amount on.

    The first of the inner amounts is taken at which all of this holds, with percentile intervals over draws
    of clusters and amounts on the scale of doublings:

    1. the mean gain from the first amount to this one lies above 0, and no earlier score is higher;
    2. the slope from this amount on may be 0;
    3. it lies clearly below half of the earlier gain, so that the plateau is no rise that could not be seen;
    4. the scores from this amount on may all be the same (chi-square test with the covariance of the draws).

    All amounts are of the same items, and a draw takes an item with all its scores: what makes items hard
    cancels out. The first two rules alone would not do: on a straight rise of 6 points for each doubling
    from 8 to 64, with 200 questions on 50 videos, they name a plateau in half of the data sets, and all four
    in none of 150.

    Args:
        values: the score of each item at each amount, shape (n_items, n_amounts).
        amounts: the amounts, above 0 and ascending, three or more.
        clusters: the name of the cluster (video) of each item.
        rng: where the draws come from.
        settings: level and number of draws.

    Raises:
        UsageError: no items, a score that is not finite, fewer than three amounts, amounts that do not ascend
            from above 0, or not one cluster for each item.

    Source: the draws as in `intervals.mean_interval`. HumanPCR, figure 6, and PerceptionComp, table 3 (scores
        over frames and thinking).
    Departs: the papers name no such point. No curve such as a - b exp(-n / c) is fitted: over four
        to seven amounts its three numbers are not determined unless it has saturated already, and scores
        that begin at the level of guessing follow no such curve.
    """
    scores = np.asarray(values, np.float64)
    steps = _check(scores, amounts)
    names, codes = as_labels(clusters, len(scores), what="clusters")
    totals = np.stack([np.bincount(codes, weights=column) for column in scores.T], axis=1)
    counts = np.bincount(codes).astype(np.float64)
    curve = _Curve(
        seen=scores.mean(axis=0),
        drawn=replicates(
            lambda weights: weights @ totals / (weights @ counts)[:, None],
            len(names),
            rng=rng,
            n_boot=settings.n_boot,
        ),
        doublings=np.log2(steps),
        size=(len(scores), len(names)),
        level=settings.level,
    )
    plateau = next((at for at in range(1, len(steps) - 1) if curve.is_plateau(at)), None)
    at = len(steps) // 2 if plateau is None else plateau
    below = None if plateau is None else curve.below(plateau)
    early, late, excess = curve.slopes(at)
    return Plateau(
        course=_course(curve, late) if plateau is None else "saturates",
        split=float(steps[at]),
        below=None if below is None else float(steps[below]),
        early=early,
        late=late,
        excess=excess,
        amounts=tuple(float(step) for step in steps),
    )


def _course(curve: _Curve, late: Estimate) -> Course:
    """What can be said where there is no plateau."""
    if late.low > 0:
        return "rises"
    if late.high < 0:
        return "falls"
    # Without an interval nothing can be told, not even that nothing happens.
    return "flat" if not math.isnan(late.low) and curve.is_level(0) else "unclear"


def _check(scores: NDArray[np.float64], amounts: Sequence[float]) -> NDArray[np.float64]:
    """The amounts as an array, shape (n_amounts,)."""
    steps = np.asarray(amounts, np.float64)
    if scores.ndim != 2 or not len(scores) or scores.shape[1] != len(steps):
        raise UsageError(
            f"scores of shape {scores.shape} for {len(steps)} amounts; expected one row for each item, "
            "at least one, and one column for each amount"
        )
    if not np.isfinite(scores).all():
        raise UsageError("a score is not a finite number; leave out items that lack one at some amount")
    if len(steps) < FEWEST_AMOUNTS:
        raise UsageError(f"{len(steps)} amounts; a bend needs {FEWEST_AMOUNTS} or more")
    if steps[0] <= 0 or not np.isfinite(steps).all() or (np.diff(steps) <= 0).any():
        raise UsageError(
            f"amounts {', '.join(f'{step:g}' for step in steps)}; expected numbers above 0 that ascend"
        )
    return steps
