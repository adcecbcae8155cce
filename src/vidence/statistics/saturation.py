"""Where more of something (frames, pixels, tokens to think with) stops to help, if the data can tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.statistics._inputs import as_labels
from vidence.statistics.resampling import USUAL, Resampling, cluster_draws, percentile_estimate

Course: TypeAlias = Literal["saturates", "rises", "falls", "flat", "unclear"]
# A later slope that may still be as steep as this share of the earlier one is no plateau.
STILL_RISING = 0.5
FEWEST_AMOUNTS = 3
DIGITS = 12  # that are no rounding, of slopes and squared errors of scores from 0 to 1


class Saturation(Record, kw_only=True):
    """The course of a score over growing amounts, as two straight lines that meet at one of the amounts.

    `early` and `late` are the slopes before and after the bend: what one doubling adds to the score.
    `excess` is `late` less half of `early`. `bend` is the amount at which the lines meet, with the interval
    between percentiles of the bends of all draws; it is a saturation point only where `course` says so:

    * ``saturates``: `early` lies above 0, the interval of `late` holds 0, and `excess` lies below 0, so that
      the plateau is not merely a rise that could not be seen;
    * ``rises``: `late` lies above 0;
    * ``falls``: `late` lies below 0, or `early` does;
    * ``flat``: both intervals hold 0;
    * ``unclear``: `early` lies above 0, and what comes after it cannot be told.

    Source: see `saturation`.
    Departs: see `saturation`.
    """

    course: Course
    bend: Estimate
    early: Estimate
    late: Estimate
    excess: Estimate
    amounts: tuple[float, ...]

    @property
    def point(self) -> Estimate | None:
        """The amount from which on more does not help; None where the data do not support one."""
        return self.bend if self.course == "saturates" else None


@dataclass(frozen=True, kw_only=True)
class _Fits:
    """The best pair of lines through each row of means; everything has shape (n_rows,)."""

    early: NDArray[np.float64]
    late: NDArray[np.float64]
    bend: NDArray[np.float64]


def _fit(means: NDArray[np.float64], amounts: NDArray[np.float64]) -> _Fits:
    """Least squares for each inner amount as the bend; the best of them (the first of equals).

    Args:
        means: the score at each amount, shape (n_rows, n_amounts).
        amounts: ascending, shape (n_amounts,).
    """
    doublings = np.log2(amounts)
    errors, slopes = [], []
    for bend in doublings[1:-1]:
        columns = [np.ones_like(doublings), np.minimum(doublings - bend, 0), np.maximum(doublings - bend, 0)]
        design = np.stack(columns, axis=1)
        found = means @ np.linalg.pinv(design).T
        errors.append(((means - found @ design.T) ** 2).sum(axis=1))
        slopes.append(found[:, 1:])
    # Where lines meet the means exactly, what is left is rounding, and must not decide.
    best = np.argmin(np.round(np.stack(errors), DIGITS), axis=0)
    chosen = np.round(np.stack(slopes)[best, np.arange(len(means))], DIGITS)
    return _Fits(early=chosen[:, 0], late=chosen[:, 1], bend=amounts[1:-1][best])


def _course(early: Estimate, late: Estimate, excess: Estimate) -> Course:
    # Without an interval its ends are NaN, and every comparison is False.
    if late.low > 0:
        return "rises"
    if late.high < 0 or early.high < 0:
        return "falls"
    if early.low <= 0 <= early.high:
        return "flat"
    if early.low > 0 and excess.high < 0:
        return "saturates"
    return "unclear"


def saturation(
    values: ArrayLike,
    amounts: Sequence[float],
    *,
    clusters: Sequence[str],
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> Saturation:
    """Whether a score that grows with an amount has stopped growing, and from which amount on.

    Two straight lines over log2(amount) that meet at one of the inner amounts are fitted to the mean scores
    by least squares. Clusters are drawn with replacement; each draw is fitted anew, the bend included, so
    that the intervals hold the doubt about where it is. All amounts are of the same items, and a draw takes
    an item with all its scores: what makes items hard cancels out of the slopes.

    That the later slope cannot be told from 0 is not enough: on a straight rise of 6 points for each doubling
    over 8 to 64, with 200 questions on 50 videos, this happens in every third data set. The later slope must
    also lie clearly below half of the earlier one; then it happens in fewer than one of a hundred.

    Args:
        values: the score of each item at each amount, shape (n_items, n_amounts).
        amounts: the amounts, above 0 and ascending, three or more.
        clusters: the name of the cluster (video) of each item.
        rng: where the draws come from.
        settings: level and number of draws.

    Raises:
        UsageError: no items, a score that is not finite, fewer than three amounts, amounts that do not ascend
            from above 0, or not one cluster for each item.

    Source: ours. Continuous segmented regression as in Muggeo (2003), "Estimating regression models with
        unknown break-points"; the bootstrap as `intervals.mean`. HumanPCR, figure 6 (accuracy over frames).
    Departs: the papers fit nothing. The bend is one of the amounts, not anywhere between them: with four to
        seven amounts a free bend, or a saturating exponential, is not determined by the data.
    """
    scores = np.asarray(values, np.float64)
    steps = _check(scores, amounts)
    names, codes = as_labels(clusters, len(scores), what="clusters")
    n, n_clusters = len(scores), len(names)
    totals = np.stack([np.bincount(codes, weights=column) for column in scores.T], axis=1)
    counts = np.bincount(codes).astype(np.float64)
    blocks = [
        weights @ totals / (weights @ counts)[:, None]
        for weights in cluster_draws(n_clusters, rng, settings.n_boot)
    ]
    seen, drawn = _fit(scores.mean(axis=0)[None], steps), _fit(np.concatenate(blocks), steps)

    def estimate(name: str, value: NDArray[np.float64], draws: NDArray[np.float64]) -> Estimate:
        return percentile_estimate(
            float(value[0]), draws, size=(n, n_clusters), name=name, level=settings.level
        )

    early = estimate("gain of a doubling before the bend", seen.early, drawn.early)
    late = estimate("gain of a doubling after the bend", seen.late, drawn.late)
    excess = estimate(
        "gain after the bend less half of that before it",
        seen.late - STILL_RISING * seen.early,
        drawn.late - STILL_RISING * drawn.early,
    )
    return Saturation(
        course=_course(early, late, excess),
        bend=estimate("bend of two lines", seen.bend, drawn.bend),
        early=early,
        late=late,
        excess=excess,
        amounts=tuple(float(step) for step in steps),
    )


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
