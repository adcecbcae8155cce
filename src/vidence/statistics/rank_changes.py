"""Whether settings put models in the same order, and whether parts of a set say the same of models."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.statistics.correlation import kendall_tau
from vidence.statistics.resampling import Resampling, as_labels, cluster_draws
from vidence.statistics.split_halves import N_SPLITS, stepped_up

LEAST_MODELS: Final = 8
"""Fewer models say nothing of what parts of a set have in common."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The scores of all models on the questions of one setting: `values` (n_items, n_models).

    `clusters` names the cluster of each item; settings share draws where they share names.
    """

    values: NDArray[np.float64]
    clusters: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """The orders of models in several settings.

    Shapes, with s settings and m models: `means` (s, m); `tau` (s, s), Kendall's tau-b of the orders of two
    settings, with `low` and `high` over draws of whole clusters; `swaps` (s, s, m, m), the share of draws in
    which a pair of models is in opposite orders in two settings.
    """

    means: NDArray[np.float64]
    tau: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    swaps: NDArray[np.float64]


def rank_changes(settings: Sequence[Setting], *, rng: np.random.Generator, resampling: Resampling) -> Ranks:
    """How far settings agree on the order of models, and how sure it is that two models change places.

    All settings are drawn together: a cluster that is in several of them is drawn into all or none. Draws in
    which a setting has no question are left out.

    Args:
        settings: two or more, with the same models in the same order.
        rng: where the draws come from.
        resampling: how many draws, and the level.

    Raises:
        UsageError: fewer than two settings or models, or other models in one of them.

    Source: Kendall (1945) for tau-b.
    Departs: intervals and shares of draws are ours. Noise alone makes orders differ, so that tau of settings
        that do not differ is below 1.
    """
    n_models = {one.values.shape[1] for one in settings}
    if len(settings) < 2 or len(n_models) != 1 or min(n_models) < 2:
        raise UsageError(
            f"{len(settings)} settings of {sorted(n_models)} models; expected two settings or more of the "
            "same two models or more"
        )
    means = np.array([one.values.mean(axis=0) for one in settings])
    drawn = _draws(settings, rng=rng, n_boot=resampling.n_boot)
    tail = (1 - resampling.level) / 2
    n, m = means.shape
    tau, low, high = np.ones((n, n)), np.ones((n, n)), np.ones((n, n))
    swaps = np.zeros((n, n, m, m))
    signs = np.sign(drawn[:, :, :, None] - drawn[:, :, None, :])
    for a in range(n):
        for b in range(a + 1, n):
            tau[a, b] = tau[b, a] = float(kendall_tau(means[a], means[b]))
            of_draws = kendall_tau(drawn[:, a], drawn[:, b])
            of_draws = of_draws[~np.isnan(of_draws)]
            ends = np.quantile(of_draws, (tail, 1 - tail)) if len(of_draws) else (math.nan, math.nan)
            low[a, b], high[a, b] = ends
            low[b, a], high[b, a] = ends
            swaps[a, b] = swaps[b, a] = (signs[:, a] * signs[:, b] < 0).mean(axis=0)
    return Ranks(means=means, tau=tau, low=low, high=high, swaps=swaps)


def _draws(settings: Sequence[Setting], *, rng: np.random.Generator, n_boot: int) -> NDArray[np.float64]:
    """The means of all models in all settings, shape (n_draws, n_settings, n_models)."""
    names = [name for one in settings for name in one.clusters]
    distinct, codes = as_labels(names, len(names), what="clusters")
    ends = np.cumsum([0, *(len(one.clusters) for one in settings)])
    sums, sizes = [], []
    for one, start, end in zip(settings, ends[:-1], ends[1:], strict=True):
        of = np.zeros((len(distinct), one.values.shape[1]))
        np.add.at(of, codes[start:end], one.values)
        sums.append(of)
        sizes.append(np.bincount(codes[start:end], minlength=len(distinct)).astype(np.float64))
    found = []
    for weights in cluster_draws(len(distinct), rng, n_boot, width=sum(s.shape[1] for s in sums)):
        totals = np.stack([weights @ size for size in sizes], axis=1)
        is_whole = (totals > 0).all(axis=1)
        means = np.stack([weights[is_whole] @ of for of in sums], axis=1) / totals[is_whole][:, :, None]
        found.append(means)
    return np.concatenate(found)


@dataclass(frozen=True, kw_only=True)
class Redundancy:
    """What parts of a set, such as tasks, have in common over models.

    Shapes, with t parts: `r` (t, t), the correlation of two parts over models after each model's mean is
    taken off; `reliable` (t,), that of a part with itself on other questions, NaN where its halves have
    nothing in common; `ceiling` (t, t), what `r` could be at most. `expected` is `r` of parts that have
    nothing in common: taking off the mean makes them differ.
    """

    r: NDArray[np.float64]
    reliable: NDArray[np.float64]
    ceiling: NDArray[np.float64]
    expected: float


def redundancy(parts: Sequence[Setting], *, rng: np.random.Generator, n_splits: int = N_SPLITS) -> Redundancy:
    """Which parts of a set say the same of models, beyond that some models are better throughout.

    Args:
        parts: three or more, with the same models in the same order.
        rng: where the splits come from: the clusters of each part into halves.
        n_splits: how many.

    Raises:
        UsageError: fewer than three parts or models.

    Source: Spearman (1904), correction for attenuation.
    Departs: no.
    """
    n_models = {one.values.shape[1] for one in parts}
    if len(parts) < 3 or len(n_models) != 1 or min(n_models) < 3:
        raise UsageError(
            f"{len(parts)} parts of {sorted(n_models)} models; expected three parts or more of the same "
            "three models or more"
        )
    means = np.array([one.values.mean(axis=0) for one in parts])
    found = []
    for _ in range(n_splits):
        halves = [_halves(one, rng) for one in parts]
        known = np.array([half is not None for half in halves])
        filled = [
            half if half is not None else (mean, mean) for half, mean in zip(halves, means, strict=True)
        ]
        first, second = (_centred(np.array([half[i] for half in filled])) for i in (0, 1))
        found.append(np.where(known, _paired_r(first, second), math.nan))
    splits = np.array(found)
    n_known = (~np.isnan(splits)).sum(axis=0)
    sums = np.nansum(splits, axis=0)
    reliable = np.array([stepped_up(s / n) if n else math.nan for s, n in zip(sums, n_known, strict=True)])
    centred = _centred(means)
    deviations = centred - centred.mean(axis=1, keepdims=True)
    scale = np.sqrt((deviations**2).sum(axis=1))
    r = np.full((len(parts), len(parts)), math.nan)
    both = np.outer(scale, scale)
    np.divide(deviations @ deviations.T, both, out=r, where=both > 0)
    return Redundancy(
        r=r,
        reliable=reliable,
        ceiling=np.sqrt(np.outer(reliable, reliable)),
        expected=-1 / (len(parts) - 1),
    )


def _centred(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores without each model's mean over the parts."""
    centred: NDArray[np.float64] = means - means.mean(axis=0, keepdims=True)
    return centred


def _halves(one: Setting, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The scores of models on two halves of the clusters; None where there is a single cluster."""
    names, codes = as_labels(list(one.clusters), len(one.clusters), what="clusters")
    if len(names) < 2:
        return None
    in_first = np.zeros(len(names), np.bool_)
    in_first[rng.permutation(len(names))[: len(names) // 2]] = True
    at = in_first[codes]
    return one.values[at].mean(axis=0), one.values[~at].mean(axis=0)


def _paired_r(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson's r of each row of x with the same row of y; NaN where one is flat."""
    a, b = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    r = np.full(len(x), math.nan)
    np.divide((a * b).sum(axis=1), scale, out=r, where=scale > 0)
    return r
