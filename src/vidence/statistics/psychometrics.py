"""Psychometric functions: how often an observer is right at each level of a stimulus, and from which on.

psi(x) = guess + (1 - guess - lapse) F(x), where F rises from 0 to 1 and lapses are errors at any level.
Everything is fitted for many weightings of the clusters at once, so that the bootstrap is quick.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from msgspec.structs import replace
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.statistics.resampling import (
    USUAL,
    Resampling,
    as_labels,
    as_values,
    percentile_estimate,
    replicates,
)

Floats: TypeAlias = NDArray[np.float64]
Shape: TypeAlias = Literal["weibull", "logistic", "gaussian"]

# The width of a function reaches from this share of F to the rest.
WIDTH_TAIL = 0.05
FEWEST_LEVELS = 3
_TINY = 1e-9
_N_LOCATIONS, _N_WIDTHS, _N_LAPSES = 49, 25, 4
_MOST_STEPS = 60
_LEAST_GAIN = 1e-7
_MOST_DAMPING = 1e8
_FAR = 1e6
_BLOCK = 256
# The grid of the profile likelihood: thresholds, and for each the widths and lapses among which one is best.
_N_PLACES, _N_PROFILE_WIDTHS, _N_PROFILE_LAPSES = 121, 61, 4
_AT_BOUND = 1e-6


class Curve(Record):
    """The family of functions that is fitted.

    `guess` is the share that is right without seeing anything, `most_lapses` the most that lapses may be.
    With `is_falling` a higher level is harder; with `is_log` levels count by their logarithm, for which a
    level of 0 lies beyond all others. ``weibull`` is one of the logarithm always; the others are symmetric.

    Source: Wichmann & Hill (2001), part I, equation 1, and its bound of 0.06 on lapses; Schuett, Harmeling,
        Macke & Wichmann (2016), section 2.1, for location (F = 0.5) and width (F from 0.05 to 0.95).
    Departs: lapses are bounded, and no other prior is used.
    """

    shape: Shape = "logistic"
    guess: float = 0.5
    is_falling: bool = False
    is_log: bool = False
    most_lapses: float = 0.06

    def __post_init__(self) -> None:
        if not 0 <= self.guess < 1 or not 0 <= self.most_lapses < 1 - self.guess:
            raise UsageError(
                f"guess {self.guess} and at most {self.most_lapses} lapses; "
                "expected shares whose sum is below 1"
            )
        if self.shape == "weibull" and not self.is_log:
            raise UsageError("a weibull is one of the logarithm of the level; choose the logarithmic scale")

    def scaled(self, levels: ArrayLike) -> Floats:
        """Levels on the scale of the function.

        Raises:
            UsageError: a level below 0 on a logarithmic scale.
        """
        values = np.asarray(levels, np.float64)
        if not self.is_log:
            return values
        if (values < 0).any():
            raise UsageError(f"level {values.min():g} has no logarithm; choose the linear scale")
        with np.errstate(divide="ignore"):
            return np.log(values)

    def unscaled(self, places: ArrayLike) -> Floats:
        """The levels of places on the scale of the function."""
        values = np.asarray(places, np.float64)
        return np.exp(values) if self.is_log else values

    def rise(self, z: Floats) -> Floats:
        """F at a distance from its location in widths; 0.5 at 0."""
        from scipy.special import expit, ndtr

        match self.shape:
            case "logistic":
                made = expit(_reach(self.shape) * z)
            case "gaussian":
                made = ndtr(_reach(self.shape) * z)
            case _:
                made = -np.expm1(-math.log(2) * np.exp(np.minimum(_reach(self.shape) * z, 50.0)))
        return np.asarray(made, np.float64)

    def steepness(self, z: Floats) -> Floats:
        """The derivative of `rise`."""
        reach, f = _reach(self.shape), self.rise(z)
        match self.shape:
            case "logistic":
                made = reach * f * (1 - f)
            case "gaussian":
                made = reach * np.exp(-0.5 * (reach * z) ** 2) / math.sqrt(2 * math.pi)
            case _:
                made = reach * math.log(2) * np.exp(np.minimum(reach * z, 50.0)) * (1 - f)
        return np.asarray(made, np.float64)

    def distance(self, share: Floats) -> Floats:
        """The inverse of `rise`; NaN for what is no share between 0 and 1."""
        from scipy.special import logit, ndtri

        inside = np.where((share > 0) & (share < 1), share, np.nan)
        match self.shape:
            case "logistic":
                made = logit(inside)
            case "gaussian":
                made = ndtri(inside)
            case _:
                made = np.log(-np.log1p(-inside) / math.log(2))
        return np.asarray(made / _reach(self.shape), np.float64)

    def right(self, levels: ArrayLike, *, location: ArrayLike, width: ArrayLike, lapse: ArrayLike) -> Floats:
        """psi: the chance to be right. Location and width are on the scale of the function; all broadcast."""
        place, size = np.asarray(location, np.float64), np.asarray(width, np.float64)
        z = _away(self, self.scaled(levels), location=place, width=size)
        lapses = np.asarray(lapse, np.float64)
        made: Floats = self.guess + (1 - self.guess - lapses) * self.rise(z)
        return made

    def threshold(
        self, proportion: float, *, location: ArrayLike, width: ArrayLike, lapse: ArrayLike
    ) -> Floats:
        """The level at which psi is `proportion`; NaN where it never is."""
        share = (proportion - self.guess) / (1 - self.guess - np.asarray(lapse, np.float64))
        away = self.distance(np.asarray(share, np.float64))
        sign = -1.0 if self.is_falling else 1.0
        return self.unscaled(np.asarray(location) + sign * away * np.asarray(width))


def _reach(shape: Shape) -> float:
    """How far F is from its tail to the rest, in the units of its textbook form."""
    from scipy.special import ndtri

    match shape:
        case "logistic":
            return 2 * math.log(1 / WIDTH_TAIL - 1)
        case "gaussian":
            return -2 * float(ndtri(WIDTH_TAIL))
        case _:
            return math.log(math.log(WIDTH_TAIL) / math.log(1 - WIDTH_TAIL))


def _away(curve: Curve, places: Floats, *, location: Floats, width: Floats) -> Floats:
    """How far levels are from the location, in widths, the easier the further; no infinity."""
    z = (places - location) / width
    return np.clip(-z if curve.is_falling else z, -_FAR, _FAR)


@dataclass(frozen=True, kw_only=True)
class LevelCounts:
    """Answers by level: how many were `right` of `n`, each of shape (..., n_levels)."""

    levels: Floats
    right: Floats
    n: Floats


@dataclass(frozen=True, kw_only=True)
class Fits:
    """The likeliest functions, each field of shape (n_fits,); location and width are on the curve's scale."""

    location: Floats
    width: Floats
    lapse: Floats
    log_likelihood: Floats


@dataclass(frozen=True, kw_only=True)
class _Bounds:
    low: Floats
    high: Floats

    @classmethod
    def of(cls, curve: Curve, levels: Floats) -> "_Bounds":
        """Where functions are looked for: up to half the range of the levels beyond them."""
        places = curve.scaled(levels)
        known = np.sort(places[np.isfinite(places)])
        if len(known) < 2:
            raise UsageError("a psychometric function needs two levels or more above 0")
        span = float(known[-1] - known[0])
        low = np.array([known[0] - span / 2, math.log(float(np.diff(known).min()) / 4), 0.0])
        return cls(
            low=low,
            high=np.array([known[-1] + span / 2, math.log(5 * span), curve.most_lapses]),
        )


def fit_counts(curve: Curve, counted: LevelCounts) -> Fits:
    """The likeliest function for every row of counts, of shape (n_fits, n_levels).

    The best place of a grid over location, width and lapses is where Fisher's scoring begins, with damped
    steps that never lower the likelihood and stay inside the bounds.

    Source: Wichmann & Hill (2001), part I, equation 2 (likelihood).
    Departs: found by Fisher's scoring, not by a simplex; a test compares with scipy's optimiser.
    """
    bounds = _Bounds.of(curve, counted.levels)
    right, n = np.atleast_2d(counted.right), np.atleast_2d(counted.n)
    blocks = []
    for start in range(0, len(right), _BLOCK):
        rows = slice(start, start + _BLOCK)
        blocks.append(
            _fitted(curve, LevelCounts(levels=counted.levels, right=right[rows], n=n[rows]), bounds)
        )
    theta, found = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return Fits(location=theta[:, 0], width=np.exp(theta[:, 1]), lapse=theta[:, 2], log_likelihood=found)


def _fitted(curve: Curve, counted: LevelCounts, bounds: _Bounds) -> tuple[Floats, Floats]:
    """The parameters (location, log width, lapse) that fit best, (n_fits, 3), and their likelihood."""
    theta = _best_of_grid(curve, counted, bounds)
    found = _likelihood(_chance(curve, counted.levels, theta), counted)
    damping = np.full(len(theta), 1e-3)
    is_open = np.ones(len(theta), bool)
    for _ in range(_MOST_STEPS):
        rows = np.flatnonzero(is_open)
        if not len(rows):
            break
        part = LevelCounts(levels=counted.levels, right=counted.right[rows], n=counted.n[rows])
        step = _step(curve, part, theta[rows], damping=damping[rows], bounds=bounds)
        tried = np.clip(theta[rows] + step, bounds.low, bounds.high)
        better = _likelihood(_chance(curve, counted.levels, tried), part)
        gain = better - found[rows]
        is_gain = gain >= 0
        theta[rows[is_gain]], found[rows[is_gain]] = tried[is_gain], better[is_gain]
        damping[rows] = np.where(is_gain, np.maximum(damping[rows] / 5, 1e-9), damping[rows] * 10)
        is_done = (is_gain & (gain < _LEAST_GAIN)) | (damping[rows] > _MOST_DAMPING)
        is_open[rows[is_done]] = False
    return theta, found


def _best_of_grid(curve: Curve, counted: LevelCounts, bounds: _Bounds) -> Floats:
    sizes = (_N_LOCATIONS, _N_WIDTHS, _N_LAPSES)
    axes = [
        np.linspace(low, high, size if high > low else 1)
        for low, high, size in zip(bounds.low, bounds.high, sizes, strict=True)
    ]
    cells = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    chance = _chance(curve, counted.levels, cells)
    heights = counted.right @ np.log(chance).T + (counted.n - counted.right) @ np.log1p(-chance).T
    made: Floats = cells[heights.argmax(axis=1)].copy()
    return made


def _chance(curve: Curve, levels: Floats, theta: Floats) -> Floats:
    """The chance to be right at the levels, (n_fits, n_levels), kept off 0 and 1."""
    made = curve.right(levels, location=theta[:, [0]], width=np.exp(theta[:, [1]]), lapse=theta[:, [2]])
    return np.clip(made, _TINY, 1 - _TINY)


def _likelihood(chance: Floats, counted: LevelCounts) -> Floats:
    wrong = counted.n - counted.right
    made: Floats = (counted.right * np.log(chance) + wrong * np.log1p(-chance)).sum(axis=1)
    return made


def _step(curve: Curve, counted: LevelCounts, theta: Floats, *, damping: Floats, bounds: _Bounds) -> Floats:
    """The damped step of Fisher's scoring, none in directions that lead out of the bounds."""
    chance, slopes = _slopes(curve, counted.levels, theta)
    spread = chance * (1 - chance)
    gradient = np.einsum("bl,bli->bi", (counted.right - counted.n * chance) / spread, slopes)
    is_held = ((theta <= bounds.low) & (gradient <= 0)) | ((theta >= bounds.high) & (gradient >= 0))
    information = np.einsum("bl,bli,blj->bij", counted.n / spread, slopes, slopes)
    diagonal = np.einsum("bii->bi", information)
    diagonal += damping[:, None] * (diagonal + 1e-6)
    information[is_held] = 0.0
    information.transpose(0, 2, 1)[is_held] = 0.0
    diagonal[is_held] = 1.0
    made: Floats = np.linalg.solve(information, np.where(is_held, 0.0, gradient)[..., None])[..., 0]
    return made


def _slopes(curve: Curve, levels: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """The chance to be right, (n_fits, n_levels), and how it changes with location, log width and lapses."""
    width = np.exp(theta[:, [1]])
    z = _away(curve, curve.scaled(levels), location=theta[:, [0]], width=width)
    span = 1 - curve.guess - theta[:, [2]]
    rise, steep = curve.rise(z), curve.steepness(z)
    sign = -1.0 if curve.is_falling else 1.0
    slopes = np.stack([-sign * span * steep / width, -span * steep * z, -rise], axis=2)
    return np.clip(curve.guess + span * rise, _TINY, 1 - _TINY), slopes


# --------------------------------------------------------------------------- the interval of a threshold


@dataclass(frozen=True, kw_only=True)
class Within:
    """The levels between which a threshold lies, and how many times wider answers of one cluster make it.

    `widening` is the ratio of the variances of the threshold with clusters and with answers that are
    independent, 1 at least. An end at the last level that is looked at (half the range beyond those that were
    shown) means: there or further.
    """

    low: float
    high: float
    widening: float


def threshold_within(
    curve: Curve, answers: LevelCounts, *, proportion: float, level: float = USUAL.level
) -> Within:
    """The thresholds that the answers do not speak against: the interval of the profile likelihood.

    A level counts as a possible threshold where the likeliest function that has its threshold there is less
    likely than the likeliest of all by no more than half of t**2 times the widening; t is the quantile of
    Student's distribution with one degree of freedom fewer than there are clusters.

    Args:
        curve: the family of functions.
        answers: by cluster, `right` and `n` of shape (n_clusters, n_levels), two clusters or more.
        proportion: the share of right answers at the threshold.
        level: how often such intervals hold the threshold.

    Source: Venzon & Moolgavkar (1988), profile likelihood; Pace, Salvan & Sartori (2011) for dividing the
        ratio by that of the variances where answers are not independent.
    Departs: Student's quantile in place of the normal one, for clusters are few; the ratio is 1 at least;
        widths and lapses are those of a grid.
    """
    from scipy.special import stdtrit

    whole = LevelCounts(
        levels=answers.levels, right=answers.right.sum(axis=0)[None], n=answers.n.sum(axis=0)[None]
    )
    bounds, best = _Bounds.of(curve, answers.levels), fit_counts(curve, whole)
    theta = np.array([best.location[0], math.log(best.width[0]), best.lapse[0]])
    widening = max(1.0, _variance_ratio(curve, answers, theta, proportion=proportion, bounds=bounds))
    n_clusters = len(answers.right)
    quantile = float(stdtrit(n_clusters - 1, (1 + level) / 2))
    places = np.linspace(bounds.low[0], bounds.high[0], _N_PLACES)
    lost = best.log_likelihood[0] - _profile(curve, whole, places, proportion=proportion, bounds=bounds)
    low, high = _ends(places, lost, most=max(quantile**2 * widening / 2, float(lost.min())))
    ends = np.sort(curve.unscaled(np.array([low, high])))
    return Within(low=float(ends[0]), high=float(ends[1]), widening=widening)


def _profile(
    curve: Curve, counted: LevelCounts, places: Floats, *, proportion: float, bounds: _Bounds
) -> Floats:
    """The likelihood of the likeliest function with its threshold at each place, (n_places,)."""
    widths = np.exp(np.linspace(bounds.low[1], bounds.high[1], _N_PROFILE_WIDTHS))
    lapses = np.linspace(0.0, bounds.high[2], _N_PROFILE_LAPSES if bounds.high[2] > 0 else 1)
    width, lapse = (axis.ravel() for axis in np.meshgrid(widths, lapses, indexing="ij"))
    sign = -1.0 if curve.is_falling else 1.0
    away = sign * curve.distance((proportion - curve.guess) / (1 - curve.guess - lapse)) * width
    is_reached = np.isfinite(away)
    width, lapse, away = width[is_reached], lapse[is_reached], away[is_reached]  # without lapses it always is
    cells = np.stack(
        [
            (places[:, None] - away).ravel(),
            np.tile(np.log(width), len(places)),
            np.tile(lapse, len(places)),
        ],
        axis=1,
    )
    found = _likelihood(_chance(curve, counted.levels, cells), counted)
    made: Floats = found.reshape(len(places), -1).max(axis=1)
    return made


def _ends(places: Floats, lost: Floats, *, most: float) -> tuple[float, float]:
    """The first and the last place at which no more than so much is lost, interpolated between places."""
    inside = np.flatnonzero(lost <= most)
    ends = []
    for at, outer in ((int(inside[0]), int(inside[0]) - 1), (int(inside[-1]), int(inside[-1]) + 1)):
        if not 0 <= outer < len(places) or not math.isfinite(lost[outer]):
            ends.append(float(places[at]))
            continue
        share = (most - lost[at]) / (lost[outer] - lost[at])
        ends.append(float(places[at] + share * (places[outer] - places[at])))
    return ends[0], ends[1]


def _variance_ratio(
    curve: Curve, answers: LevelCounts, theta: Floats, *, proportion: float, bounds: _Bounds
) -> float:
    """The variance of the threshold with answers in clusters, as a share of that of independent ones.

    Parameters that lie at their bounds are held. 1 where none is free, or nothing depends on what is.
    """
    chance, slopes = (one[0] for one in _slopes(curve, answers.levels, theta[None]))
    is_free = (theta > bounds.low + _AT_BOUND) & (theta < bounds.high - _AT_BOUND)
    spread = chance * (1 - chance)
    information = np.einsum("l,li,lj->ij", answers.n.sum(axis=0) / spread, slopes, slopes)
    scores = ((answers.right - answers.n * chance) / spread) @ slopes
    inverse = np.linalg.pinv(information[np.ix_(is_free, is_free)])
    gradient = _threshold_slopes(curve, theta, proportion=proportion)[is_free]
    direction = inverse @ gradient
    alone = float(gradient @ direction)
    n_clusters = len(answers.right)
    together = float(np.square(scores[:, is_free] @ direction).sum()) * n_clusters / (n_clusters - 1)
    return together / alone if alone > 0 else 1.0


def _threshold_slopes(curve: Curve, theta: Floats, *, proportion: float) -> Floats:
    """How the place of the threshold changes with location, log width and lapses."""
    width, rest = math.exp(theta[1]), 1 - curve.guess - theta[2]
    share = np.array([(proportion - curve.guess) / rest])
    away = curve.distance(share)
    sign = -1.0 if curve.is_falling else 1.0
    by_lapse = share / rest / curve.steepness(away)
    return np.array([1.0, sign * float(away[0]) * width, sign * width * float(by_lapse[0])])


# --------------------------------------------------------------------------- one function with its intervals


class Fitted(Record):
    """The likeliest psychometric function of an observer.

    `threshold` is the level at which `proportion` of the answers are right; `location` (F = 0.5) and `width`
    (F from 0.05 to 0.95) are on the scale of the function: natural logarithms of levels where it `is_log`.
    `slope` is that of F at its location, for one unit of that scale. `p_fit` is the chance of a larger
    `deviance` if the function is right, `p_flat` that of as clear a change if no level differs from another.
    """

    curve: Curve
    proportion: float
    threshold: Estimate
    location: Estimate
    width: Estimate
    slope: Estimate
    lapse: Estimate
    deviance: float
    p_fit: float
    p_flat: float


def fit(  # noqa: PLR0913 - one argument for each thing that differs
    levels: ArrayLike,
    marks: ArrayLike,
    *,
    curve: Curve,
    proportion: float,
    clusters: Sequence[str],
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> Fitted:
    """The psychometric function of single answers, with intervals for answers in clusters.

    The interval of the threshold is that of `threshold_within`; those of the other figures lie between
    percentiles of draws of clusters.

    Where answers do not change with the level (`p_flat` above 1 - level), there is no threshold: a function
    that is fitted to a flat row says nothing, and `Estimate.reason` says so.

    Args:
        levels: the level of each answer, shape (n,).
        marks: 1 for right and 0 for wrong, shape (n,).
        curve: the family of functions.
        proportion: the share of right answers at the threshold.
        clusters: what answers share, such as the source of their clip.
        rng: where draws and simulated answers come from.
        settings: level and number of draws.

    Raises:
        UsageError: fewer than three levels, marks other than 0 and 1, or a proportion that is not between
            guessing and 1.

    Source: Wichmann & Hill (2001), part I (likelihood, deviance and its simulated distribution) and part II
        (bootstrap intervals); Cameron, Gelbach & Miller (2008) for drawing clusters.
    Departs: answers of whole clusters are drawn again, not simulated from the function, and intervals lie
        between percentiles (they: bias-corrected), that of the threshold not even so: drawn from seven
        clusters, it held it in 84 of 100 cases. `p_fit` and `p_flat` take answers for independent.
    """
    scores, values = as_values(marks), as_values(levels)
    if not np.isin(scores, (0, 1)).all() or len(values) != len(scores):
        raise UsageError("a psychometric function needs marks of 0 and 1, and a level for each")
    if not curve.guess < proportion < 1:
        raise UsageError(f"proportion {proportion}; expected one between {curve.guess:g} (guessing) and 1")
    steps, at = np.unique(values, return_inverse=True)
    if len(steps) < FEWEST_LEVELS:
        raise UsageError(f"{len(steps)} levels; a psychometric function needs {FEWEST_LEVELS} or more")
    names, owners = as_labels(clusters, len(scores), what="clusters")
    right = np.zeros((len(names), len(steps)))
    n = np.zeros_like(right)
    np.add.at(right, (owners, at), scores)
    np.add.at(n, (owners, at), 1.0)

    def figures(weights: Floats) -> Floats:
        found = fit_counts(curve, LevelCounts(levels=steps, right=weights @ right, n=weights @ n))
        return np.stack([found.location, found.width, found.lapse], axis=1)

    whole = LevelCounts(levels=steps, right=right.sum(axis=0), n=n.sum(axis=0))
    value = figures(np.ones((1, len(names))))[0]
    drawn = replicates(figures, len(names), rng=rng, n_boot=settings.n_boot)
    deviance, p_fit = goodness(curve, whole, rng=rng, n_simulated=settings.n_boot)
    p_flat = flatness(curve, whole)

    def estimate(name: str, one: float, draws: Floats) -> Estimate:
        size = (len(scores), len(names))
        return percentile_estimate(one, draws, size=size, name=name, level=settings.level)

    middle = float(curve.steepness(np.zeros(1))[0]) * (-1 if curve.is_falling else 1)
    threshold = _threshold(
        curve, LevelCounts(levels=steps, right=right, n=n), value, proportion=proportion, level=settings.level
    )
    return Fitted(
        curve=curve,
        proportion=proportion,
        threshold=told(threshold, steps, p_flat=p_flat, level=settings.level, best=1 - float(value[2])),
        location=estimate("location", float(value[0]), drawn[:, 0]),
        width=estimate("width", float(value[1]), drawn[:, 1]),
        slope=estimate("slope", middle / float(value[1]), middle / drawn[:, 1]),
        lapse=estimate("lapses", float(value[2]), drawn[:, 2]),
        deviance=deviance,
        p_fit=p_fit,
        p_flat=p_flat,
    )


def _threshold(
    curve: Curve, answers: LevelCounts, found: Floats, *, proportion: float, level: float
) -> Estimate:
    """The threshold of a fitted function (location, width, lapse), with its interval."""
    value = float(curve.threshold(proportion, location=found[0], width=found[1], lapse=found[2]))
    n_clusters, name = len(answers.right), f"threshold at {proportion:g}"
    low = high = math.nan
    if math.isnan(value):
        method = f"{name}; it does not exist for these values"
    elif n_clusters == 1:
        method = f"{name}; no interval: there is a single cluster"
    else:
        within = threshold_within(curve, answers, proportion=proportion, level=level)
        low, high = min(within.low, value), max(within.high, value)
        method = f"{name}; profile likelihood, variance times {within.widening:.2f} for clusters"
    return Estimate(
        value=value,
        low=low,
        high=high,
        level=level,
        n=int(answers.n.sum()),
        n_clusters=n_clusters,
        method=method,
    )


def told(found: Estimate, steps: Floats, *, p_flat: float, level: float, best: float) -> Estimate:
    """A threshold, or why there is none; beyond the levels it is a guess, and `reason` says so.

    Args:
        found: the threshold as it was fitted.
        steps: the levels that were shown, ascending.
        p_flat: as of `flatness`.
        level: coverage; a `p_flat` above 1 - level is no change.
        best: the share that is right where the task is easiest.
    """
    nan = math.nan
    if p_flat > 1 - level:
        reason = f"answers do not change with the level (p = {p_flat:.2f})"
        return replace(found, value=nan, low=nan, high=nan, reason=reason)
    if math.isnan(found.value):
        return replace(found, low=nan, high=nan, reason=f"never reached: {100 * best:.0f} % at best")
    if not steps[0] <= found.value <= steps[-1]:
        return replace(found, reason="beyond the levels that were shown")
    if not steps[0] <= found.low <= found.high <= steps[-1]:
        return replace(found, reason="the interval reaches beyond the levels that were shown")
    return found


def deviances(curve: Curve, counted: LevelCounts) -> Floats:
    """Twice how much likelier the seen shares are than the likeliest function, for each row of counts."""
    right, n = np.atleast_2d(counted.right), np.atleast_2d(counted.n)
    found = fit_counts(curve, counted).log_likelihood
    seen = np.clip(np.divide(right, n, out=np.full(right.shape, 0.5), where=n > 0), _TINY, 1 - _TINY)
    made: Floats = np.maximum(
        0.0, 2 * (_likelihood(seen, LevelCounts(levels=counted.levels, right=right, n=n)) - found)
    )
    return made


def goodness(
    curve: Curve, counted: LevelCounts, *, rng: np.random.Generator, n_simulated: int = 1000
) -> tuple[float, float]:
    """The deviance of the likeliest function, and how often one of simulated answers is as large.

    Source: Wichmann & Hill (2001), part I, equation 6 and "Assessing goodness of fit".
    Departs: every simulated row is fitted anew; the seen one is counted in.
    """
    right, n = np.atleast_2d(counted.right), np.atleast_2d(counted.n)
    best = fit_counts(curve, counted)
    chance = curve.right(counted.levels, location=best.location[0], width=best.width[0], lapse=best.lapse[0])
    drawn = rng.binomial(n.astype(np.int64)[0], np.clip(chance, 0, 1), size=(n_simulated, right.shape[1]))
    simulated = LevelCounts(
        levels=counted.levels, right=drawn.astype(np.float64), n=np.broadcast_to(n, drawn.shape)
    )
    seen = float(deviances(curve, counted)[0])
    n_reached = int((deviances(curve, simulated) >= seen - 1e-6).sum())
    return seen, (1 + n_reached) / (1 + n_simulated)


def flatness(curve: Curve, counted: LevelCounts) -> float:
    """The chance of as clear a change from level to level, if answers do not change with it.

    The likelihood ratio of the function and of one share of right answers for all levels, that of guessing at
    least, as chi-square with two degrees of freedom.
    """
    from scipy.special import chdtrc

    right, n = np.atleast_2d(counted.right), np.atleast_2d(counted.n)
    share = np.clip(right.sum() / n.sum(), max(curve.guess, _TINY), 1 - _TINY)
    flat = _likelihood(np.full(right.shape, share), LevelCounts(levels=counted.levels, right=right, n=n))[0]
    gain = 2 * (fit_counts(curve, counted).log_likelihood[0] - flat)
    return float(chdtrc(2, max(0.0, gain)))
