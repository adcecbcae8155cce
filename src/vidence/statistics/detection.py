"""Signal detection: how far two kinds of trials are apart for an observer, and which answer is preferred."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from msgspec.structs import replace
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.statistics.resampling import (
    USUAL,
    Figure,
    Resampling,
    as_labels,
    as_values,
    percentile_estimate,
    replicates,
)

Floats: TypeAlias = NDArray[np.float64]
_FAR = 12.0


class Detected(Record):
    """The d' and the criterion of an observer; both in standard deviations of what is seen.

    `criterion` is 0 without a preference and above 0 where "no" is preferred; among several choices it is
    NaN.
    """

    d_prime: Estimate
    criterion: Estimate


def d_prime(hits: ArrayLike, signals: ArrayLike, *, false_alarms: ArrayLike, noises: ArrayLike) -> Floats:
    """The d' of yes and no: z(hit rate) - z(false-alarm rate).

    0.5 is added to each count, and 1 to each total, so that rates of 0 and 1 have one.

    Args:
        hits: how often "yes" was said where there was a signal; all four broadcast.
        signals: how often there was one.
        false_alarms: how often "yes" was said where there was none.
        noises: how often there was none.

    Source: Macmillan & Creelman (2005), equation 1.5; Hautus (1995), the log-linear correction.
    Departs: no.

    >>> round(float(d_prime(20, 25, false_alarms=10, noises=25)), 3)
    1.044
    """
    return _z(hits, signals) - _z(false_alarms, noises)


def criterion(hits: ArrayLike, signals: ArrayLike, *, false_alarms: ArrayLike, noises: ArrayLike) -> Floats:
    """The criterion c, above 0 where "no" is preferred; counts as for `d_prime`.

    Source: Macmillan & Creelman (2005), equation 2.1; corrected as `d_prime`.
    Departs: no.

    >>> round(float(criterion(20, 25, false_alarms=10, noises=25)), 3)
    -0.279
    """
    return -0.5 * (_z(hits, signals) + _z(false_alarms, noises))


def _z(times: ArrayLike, of: ArrayLike) -> Floats:
    from scipy.special import ndtri

    share = (np.asarray(times, np.float64) + 0.5) / (np.asarray(of, np.float64) + 1)
    return np.asarray(ndtri(share), np.float64)


def d_prime_among(share_right: ArrayLike, n_choices: int) -> Floats:
    """The d' of an observer without bias who names the one of `n_choices` that is the signal.

    The share that is right is the integral of phi(x - d') Phi(x) ** (m - 1); its inverse.

    Source: Macmillan & Creelman (2005), section 10 (m-alternative forced choice); Hacker & Ratcliff (1979).
    Departs: no.

    Raises:
        UsageError: fewer than two choices.

    >>> d_prime_among([0.5, 0.760, 0.92], 2).round(2).tolist()
    [0.0, 1.0, 1.99]
    """
    from scipy.special import ndtr

    if n_choices < 2:
        raise UsageError(f"{n_choices} choices; expected two or more")
    at = np.linspace(-_FAR / 2, _FAR / 2, 721)
    x = np.linspace(-_FAR, _FAR, 1201)
    density = np.exp(-0.5 * (x - at[:, None]) ** 2) / math.sqrt(2 * math.pi)
    right = (density * ndtr(x) ** (n_choices - 1)).sum(axis=1) * (x[1] - x[0])
    made: Floats = np.interp(np.asarray(share_right, np.float64), right, at)
    return made


def detect(
    said_yes: ArrayLike,
    is_signal: ArrayLike,
    *,
    clusters: Sequence[str],
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> Detected:
    """The d' and the criterion of single answers, yes (1) or no (0), with intervals over draws of clusters.

    Raises:
        UsageError: values other than 0 and 1, or only one kind of trials.
    """
    said, signal = as_values(said_yes), as_values(is_signal)
    if not np.isin((said, signal), (0, 1)).all():
        raise UsageError("detection needs answers and trials of 0 and 1")
    if len(set(signal.tolist())) < 2:
        raise UsageError("detection needs trials with a signal and trials without")
    cells = np.stack([said * signal, signal, said * (1 - signal), 1 - signal], axis=1)

    def figures(counts: Floats) -> Floats:
        hits, signals, alarms, noises = counts.T
        found = np.stack(
            [
                d_prime(hits, signals, false_alarms=alarms, noises=noises),
                criterion(hits, signals, false_alarms=alarms, noises=noises),
            ],
            axis=1,
        )
        # A draw without one of the two kinds says nothing.
        found[(signals == 0) | (noises == 0)] = np.nan
        return found

    yes, biased = _estimates(
        figures, cells, ("d'", "criterion"), clusters=clusters, rng=rng, settings=settings
    )
    return Detected(d_prime=yes, criterion=biased)


def choose(
    marks: ArrayLike,
    n_choices: int,
    *,
    clusters: Sequence[str],
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> Detected:
    """The d' of single answers among `n_choices`, right (1) or wrong (0), with its interval.

    A share of 0 or 1 has no d': 0.5 is added to the right answers and 1 to all, as for yes and no.
    """
    right = as_values(marks)
    if not np.isin(right, (0, 1)).all():
        raise UsageError("d' among choices needs marks of 0 and 1")
    cells = np.stack([right, np.ones(len(right))], axis=1)

    def figures(counts: Floats) -> Floats:
        share = (counts[:, 0] + 0.5) / (counts[:, 1] + 1)
        return d_prime_among(share, n_choices)[:, None]

    (found,) = _estimates(figures, cells, ("d'",), clusters=clusters, rng=rng, settings=settings)
    nan = math.nan
    none = replace(found, value=nan, low=nan, high=nan, method="criterion", reason="more than yes and no")
    return Detected(d_prime=found, criterion=none)


def _estimates(
    figures: Figure,
    cells: Floats,
    names: Sequence[str],
    *,
    clusters: Sequence[str],
    rng: np.random.Generator,
    settings: Resampling,
) -> list[Estimate]:
    """Figures of the sums of cells, (n, n_cells), each with its interval over draws of clusters."""
    owners, codes = as_labels(clusters, len(cells), what="clusters")
    sums = np.zeros((len(owners), cells.shape[1]))
    np.add.at(sums, codes, cells)
    value = figures(sums.sum(axis=0, keepdims=True))[0]
    drawn = replicates(lambda w: figures(w @ sums), len(owners), rng=rng, n_boot=settings.n_boot)
    size = (len(cells), len(owners))
    return [
        percentile_estimate(float(value[i]), drawn[:, i], size=size, name=name, level=settings.level)
        for i, name in enumerate(names)
    ]
