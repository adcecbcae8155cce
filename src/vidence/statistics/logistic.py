"""Logistic regression of right and wrong, with an error by cluster."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from vidence.errors import UsageError
from vidence.records import Estimate, noun_of
from vidence.statistics.intervals import quantile
from vidence.statistics.resampling import as_labels, as_values, check_level

_MOST_STEPS = 50
_FARTHEST = 15.0  # log-odds beyond this are those of groups that are all right or all wrong


def log_odds(
    outcomes: ArrayLike,
    *,
    of: ArrayLike,
    given: Sequence[ArrayLike] = (),
    clusters: Sequence[str],
    level: float = 0.95,
) -> Estimate:
    """The coefficient of one variable in a logistic regression with an intercept.

    Args:
        outcomes: 1 for right and 0 for wrong, shape (n,).
        of: the variable whose coefficient it is, shape (n,).
        given: the other variables, each of shape (n,).
        clusters: the name of the cluster (video) of each item.
        level: coverage of the interval.

    Returns:
        The coefficient in log-odds with Student's t interval, clusters less one degrees of freedom; without
        value where some combination is all right or all wrong, so that no finite coefficient fits best.

    Raises:
        UsageError: outcomes other than 0 and 1, or not one of everything for each item.

    Source: Liang & Zeger (1986) for the error.
    Departs: times G / (G - 1) for G clusters.

    >>> found = log_odds([1, 0, 1, 1, 0, 0, 1, 0], of=[1, 1, 1, 1, 0, 0, 0, 0], clusters=list("abcdefgh"))
    >>> round(found.value, 3)
    2.197
    """
    check_level(level)
    marks = as_values(outcomes)
    if not np.isin(marks, (0, 1)).all():
        raise UsageError("a logistic regression needs outcomes of 0 and 1")
    columns = [np.ones(len(marks)), *(as_values(one) for one in given), as_values(of)]
    if len({len(column) for column in columns}) > 1:
        raise UsageError(f"{len(marks)} outcomes; expected as many values of every variable")
    design = np.column_stack(columns)
    names, codes = as_labels(clusters, len(marks), what="clusters")

    def estimate(value: float, half: float, why: str) -> Estimate:
        return Estimate(
            value=value,
            low=value - half,
            high=value + half,
            level=level,
            n=len(marks),
            n_clusters=len(names),
            method=f"log-odds; {why}",
            reason="" if math.isfinite(half) else why,
            clustered_by=noun_of(clusters),
        )

    found = _fitted(design, marks)
    if found is None:
        return estimate(math.nan, math.nan, "a group is all right or all wrong, or there is one group only")
    if len(names) < 2:
        return estimate(float(found[-1]), math.nan, "no interval: there is a single cluster")
    chance = 1 / (1 + np.exp(-design @ found))
    bread = np.linalg.inv((design * (chance * (1 - chance))[:, None]).T @ design)
    scores = np.zeros((len(names), design.shape[1]))
    np.add.at(scores, codes, design * (marks - chance)[:, None])
    variance = bread @ (scores.T @ scores) @ bread * len(names) / (len(names) - 1)
    half = quantile(len(names) - 1, level) * math.sqrt(float(variance[-1, -1]))
    return estimate(float(found[-1]), half, f"logistic regression, clustered error, {len(names)} clusters")


def _fitted(design: np.ndarray, marks: np.ndarray) -> np.ndarray | None:
    """The coefficients that fit best, by Newton's steps; None where there are none."""
    found = np.zeros(design.shape[1])
    for _ in range(_MOST_STEPS):
        chance = 1 / (1 + np.exp(-design @ found))
        weights = chance * (1 - chance)
        slope = design.T @ (marks - chance)
        information = (design * weights[:, None]).T @ design
        if np.linalg.matrix_rank(information) < len(found):
            return None
        step = np.linalg.solve(information, slope)
        found = found + step
        if np.abs(found).max() > _FARTHEST:
            return None
        if np.abs(step).max() < 1e-10:
            return found
    return None
