"""The strengths of models by who wins pairs of their replies: Bradley and Terry, with ties as Davidson."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record, noun_of
from vidence.statistics.contrasts import LEAST_VIDEOS
from vidence.statistics.intervals import Values, too_few
from vidence.statistics.near_duplicates import gather
from vidence.statistics.resampling import as_labels, check_level
from vidence.statistics.student import quantile

_STEPS, _CLOSE = 100, 1e-10


class Strengths(Record):
    """The strength of each name in log-odds, less the mean of all; their covariance.

    `ties` is Davidson's log nu; -inf where no pair is tied. `is_bounded` where one side of the comparisons
    never loses to the other: then each pair of names that was compared counts half a win more for both.
    """

    strengths: dict[str, Estimate]
    covariance: tuple[tuple[float, ...], ...]
    ties: float
    n_pairs: int
    n_ties: int
    is_bounded: bool


def bradley_terry(
    first: Sequence[str],
    second: Sequence[str],
    *,
    outcomes: ArrayLike,
    clusters: Sequence[str],
    level: float = 0.95,
) -> Strengths:
    """The strengths of the names behind pairs, by maximum likelihood.

    The error is clustered, and the interval is of Student's t; with fewer than `LEAST_VIDEOS` clusters there
    is none. Where one side never loses, clusters show too little variance, and the error is that of the
    likelihood.

    Args:
        first: a name for each pair.
        second: the name that it is compared with.
        outcomes: 1 where the first wins, 0 if the second does, 0.5 for a tie, shape (n_pairs,).
        clusters: the name of the cluster of each pair.
        level: coverage of the intervals.

    Raises:
        UsageError: no pairs, ties alone, a name against itself, an outcome other than 1, 0.5 and 0, or names
            that no chain of pairs links.

    Source: Bradley & Terry (1952); Davidson (1970), "On extending the Bradley-Terry model to accommodate ties
        in paired comparison experiments".
    Departs: the error is clustered; half a win for both sides where the likelihood has no maximum.

    >>> found = bradley_terry("aabb", "bbcc", outcomes=[1, 0, 1, 0], clusters="wxyz")
    >>> [round(one.value, 3) for one in found.strengths.values()]
    [0.0, 0.0, 0.0]
    """
    check_level(level)
    results = np.asarray(outcomes, np.float64)
    if not len(results) == len(first) == len(second) == len(clusters) or not len(results):
        raise UsageError("give at least one pair, with two names, an outcome and a cluster each")
    if not np.isin(results, (0.0, 0.5, 1.0)).all():
        raise UsageError("the outcome of a pair is 1 (the first wins), 0 (the second) or 0.5 (a tie)")
    if (results == 0.5).all():
        raise UsageError(f"all {len(results):,} pairs are tied, so the strengths cannot be estimated")
    names, codes = as_labels([*first, *second], 2 * len(first), what="names")
    pairs = codes.reshape(2, -1).T
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise UsageError("a pair has the same name twice; expected two names")
    is_bounded = _check_linked(names, pairs, results)
    more = np.unique(np.sort(pairs, axis=1), axis=0).repeat(2, axis=0) if is_bounded else pairs[:0]
    values, bread, scores = _maximum(
        np.concatenate([pairs, more]),
        np.append(results, np.resize([1.0, 0.0], len(more))),
        np.repeat([1.0, 0.5], [len(pairs), len(more)]),
    )
    covariance, n_clusters = bread, len(set(clusters))
    if not is_bounded and n_clusters > 1:
        labels, rows = as_labels([*clusters], len(clusters), what="clusters")
        sums = np.zeros((len(labels), scores.shape[1]))
        np.add.at(sums, rows, scores)
        covariance = bread @ (sums.T @ sums) @ bread * n_clusters / (n_clusters - 1)
    terry = covariance[: len(names), : len(names)]
    reason = too_few(n_clusters, noun_of(clusters)) if n_clusters < LEAST_VIDEOS else ""
    half = math.nan if reason else quantile(n_clusters - 1, level)
    reach = half * np.sqrt(np.diag(terry).clip(0))
    return Strengths(
        strengths={
            name: Estimate(
                value=float(values[i]),
                low=float(values[i] - reach[i]),
                high=float(values[i] + reach[i]),
                level=level,
                n=int((codes == i).sum()),
                n_clusters=n_clusters,
                method="Bradley-Terry with Davidson's ties",
                dof=None if reason else n_clusters - 1,
                reason=reason,
                clustered_by=noun_of(clusters),
            )
            for i, name in enumerate(names)
        },
        covariance=tuple(map(tuple, terry.tolist())),
        ties=float(values[-1]) if len(values) > len(names) else -math.inf,
        n_pairs=len(first),
        n_ties=int((results == 0.5).sum()),
        is_bounded=is_bounded,
    )


def _check_linked(names: Sequence[str], pairs: NDArray[np.int64], results: Values) -> bool:
    """Whether one side never loses to the other, so that the likelihood has no maximum; see Ford (1957).

    Raises:
        UsageError: no chain of pairs links all names.
    """
    wins = np.concatenate([pairs[results > 0], pairs[results < 1][:, ::-1]])
    linked = gather([*((i, i) for i in range(len(names))), *((int(i), int(j)) for i, j in wins)])
    if len(linked) > 1:
        groups = (", ".join(names[i] for i in group) for group in linked)
        raise UsageError(
            f"no pair links {' and '.join(f'{{{group}}}' for group in groups)}, so their strengths cannot be "
            "compared; add a pair with a name of each, or estimate them separately"
        )
    return any(_n_reached(way, len(names)) < len(names) for way in (wins, wins[:, ::-1]))


def _n_reached(ways: NDArray[np.int64], n: int) -> int:
    """How many of `n` nodes, the first included, can be reached from the first."""
    reached = np.zeros(n, bool)
    reached[0] = True
    while not reached[ways[reached[ways[:, 0]], 1]].all():
        reached[ways[reached[ways[:, 0]], 1]] = True
    return int(reached.sum())


def _maximum(pairs: NDArray[np.int64], results: Values, weights: Values) -> tuple[Values, Values, Values]:
    """The strengths and, where there are ties, log nu; the inverse of their information; the score by pair.

    By Newton's method over the log-odds of a win, a defeat and a tie; the likelihood is concave.
    """
    n_names, has_ties, places = int(pairs.max()) + 1, bool((results == 0.5).any()), np.arange(len(pairs))
    design = np.zeros((len(pairs), 2 + has_ties, n_names + has_ties))
    for outcome, half in enumerate((0.5, -0.5)):
        design[places, outcome, pairs[:, 0]], design[places, outcome, pairs[:, 1]] = half, -half
    design[:, 2:, n_names:] = 1.0
    met = np.select([results == 1, results == 0], [0, 1], 2)
    values = np.zeros(design.shape[2])
    for _ in range(_STEPS):
        odds = np.exp(design @ values - (design @ values).max(axis=1, keepdims=True))
        chances = (odds / odds.sum(axis=1, keepdims=True))[:, :, None]
        apart = design - (chances * design).sum(axis=1, keepdims=True)
        scores = apart[places, met]
        information = np.einsum("i,ijk,ijl->kl", weights, chances * apart, apart)
        bread = np.linalg.pinv(information, rcond=1e-10, hermitian=True)  # blind to a shift of all
        step = bread @ (scores.T @ weights)
        values = values + step
        if np.abs(step).max() < _CLOSE:
            break
    return values, bread, scores
