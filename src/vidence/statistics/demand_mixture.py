"""How many frames are demanded where answers with too few frames are guesses: a mixture over demands.

A question has a demand K, a number of frames, or none is enough. With fewer frames its answer is a guess; it
is kept with probability `rho` when a frame is added, otherwise drawn anew, evenly among the choices or, with
probability `declines`, no letter at all. From K frames on it is right but for slips.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics.intervals import quantile

Floats: TypeAlias = NDArray[np.float64]
# What an answer may be besides a wrong letter, which is 1 or more.
RIGHT: Final = 0
NONE: Final = -1
"""A reply without a letter."""
MISSING: Final = -2
"""No reply, or no such number of frames."""
LEAST_KNOWN = 100.0
"""So many questions at least must have a demand before a mean is said."""
LEAST_SHARE = 0.05
"""The interval of their share must lie above this."""
_MOST_SLIPS = 0.45
_TINY = 1e-12


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """The answers of questions with 1 to x frames.

    Shapes: `codes` (n_items, x), each ``RIGHT``, ``NONE``, ``MISSING`` or the number of a wrong choice, from
    1; `n_choices` (n_items,), 2 or more.
    """

    codes: NDArray[np.int64]
    n_choices: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.n_choices.shape != self.codes.shape[:1] or not self.codes.size:
            raise UsageError(
                f"answers of shape {self.codes.shape} and {self.n_choices.shape} numbers of choices; "
                "expected (n_items, x), none of them 0, and one number for each item"
            )
        if (self.n_choices < 2).any() or (self.codes >= self.n_choices[:, None]).any():
            raise UsageError("a question with fewer than two choices, or a wrong choice beyond the last one")

    @property
    def most(self) -> int:
        """The largest number of frames."""
        return int(self.codes.shape[1])

    @functools.cached_property
    def is_same(self) -> NDArray[np.bool_]:
        """Whether an answer is that with one frame less."""
        return np.asarray(self.has_before & (self.codes == np.roll(self.codes, 1, axis=1)), np.bool_)

    @functools.cached_property
    def has_before(self) -> NDArray[np.bool_]:
        """Whether there is an answer, and one with one frame less."""
        there = self.is_there
        return there & np.roll(there, 1, axis=1) & (np.arange(self.most) > 0)

    @functools.cached_property
    def is_there(self) -> NDArray[np.bool_]:
        """Whether there is an answer."""
        return np.asarray(self.codes != MISSING, np.bool_)


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """What answers are made of.

    Shapes: `shares` (x + 1,), of the questions that demand 1 to x frames and, last, of those that no number
    is enough for.
    """

    shares: Floats
    rho: float
    slips: float
    declines: float = 0.0
    slip_declines: float = 0.0

    @property
    def known(self) -> float:
        """The share of the questions that have a demand."""
        return float(self.shares[:-1].sum())

    @property
    def mean(self) -> float:
        """The mean demand of those."""
        return float(np.arange(1, len(self.shares)) @ self.shares[:-1] / max(self.known, _TINY))


def fit(
    vectors: Vectors,
    *,
    weights: Floats | None = None,
    start: Mixture | None = None,
    tolerance: float = 1e-7,
    most_steps: int = 2000,
) -> Mixture:
    """The likeliest mixture, by expectation and maximisation.

    Args:
        vectors: the answers.
        weights: of the questions, shape (n_items,); None for all alike.
        start: where to begin.
        tolerance: the search ends when a step gains less log-likelihood per question.
        most_steps: it ends at the latest after so many.

    Source: Dempster, Laird & Rubin (1977) for the method; the model is ours.
    Departs: an answer behind one that is missing counts as drawn anew.
    """
    given = np.ones(len(vectors.codes)) if weights is None else weights
    keep = given > 0
    used = vectors if keep.all() else Vectors(codes=vectors.codes[keep], n_choices=vectors.n_choices[keep])
    given = given[keep] / given[keep].sum()
    n_classes = vectors.most + 1
    found = start or Mixture(
        shares=np.array([0.5 / vectors.most] * vectors.most + [0.5]),
        rho=0.3,
        slips=0.05,
        declines=0.05,
        slip_declines=0.05,
    )
    # A share of 0 would stay 0.
    found = _restarted(found, n_classes)
    before = -np.inf
    for _ in range(most_steps):
        found, gained = _step(used, found, given)
        if gained - before < tolerance:
            break
        before = gained
    return found


def _restarted(start: Mixture, n_classes: int) -> Mixture:
    shares = 0.99 * start.shares + 0.01 / n_classes

    def inside(value: float) -> float:
        return min(max(value, 0.005), 0.995)

    return Mixture(
        shares=shares,
        rho=inside(start.rho),
        slips=inside(start.slips),
        declines=inside(start.declines),
        slip_declines=inside(start.slip_declines),
    )


def _step(vectors: Vectors, now: Mixture, weights: Floats) -> tuple[Mixture, float]:
    """One step, and the mean log-likelihood before it."""
    codes, there, same = vectors.codes, vectors.is_there, vectors.is_same
    n = vectors.n_choices[:, None].astype(np.float64)
    is_none, is_right = codes == NONE, codes == RIGHT
    anew = np.where(is_none, now.declines, (1 - now.declines) / n)
    guessed = np.where(same, now.rho + (1 - now.rho) * anew, anew)
    guessed = np.where(vectors.has_before & ~same, (1 - now.rho) * anew, guessed)
    slipped = np.where(is_none, now.slip_declines, (1 - now.slip_declines) / (n - 1))
    known = np.where(is_right, 1 - now.slips, now.slips * slipped)
    below = np.where(there, np.log(np.maximum(guessed, _TINY)), 0.0)
    above = np.where(there, np.log(np.maximum(known, _TINY)), 0.0)
    zero = np.zeros((len(codes), 1))
    logs = np.hstack([zero, np.cumsum(below, axis=1)])
    logs += np.hstack([np.cumsum(above[:, ::-1], axis=1)[:, ::-1], zero])
    logs += np.log(np.maximum(now.shares, 1e-300))
    highest = logs.max(axis=1, keepdims=True)
    parts = np.exp(logs - highest)
    sums = parts.sum(axis=1, keepdims=True)
    parts *= weights[:, None] / sums
    gained = float(weights @ (highest + np.log(sums))[:, 0])
    # How surely each answer is a guess, of those that are there.
    is_guess = np.where(there, np.cumsum(parts[:, ::-1], axis=1)[:, ::-1][:, 1:], 0.0)
    is_known = np.where(there, weights[:, None], 0.0) - is_guess
    kept = np.where(same, is_guess * now.rho / np.maximum(guessed, _TINY), 0.0)
    drawn = is_guess - kept
    n_wrong = float(is_known[~is_right].sum())
    return Mixture(
        shares=parts.sum(axis=0),
        rho=_ratio(kept.sum(), is_guess[vectors.has_before].sum(), now.rho),
        slips=min(_ratio(n_wrong, is_known.sum(), now.slips), _MOST_SLIPS),
        declines=_ratio(drawn[is_none].sum(), drawn.sum(), now.declines),
        slip_declines=_ratio(is_known[is_none].sum(), n_wrong, now.slip_declines),
    ), gained


def _ratio(part: float, whole: float, otherwise: float) -> float:
    return float(part / whole) if whole > 1e-9 else otherwise


def draw(mixture: Mixture, like: Vectors, *, rng: np.random.Generator) -> Vectors:
    """Answers of a mixture: as many questions, choices and missing answers as there are."""
    n_items, most = like.codes.shape
    n = like.n_choices
    demands = 1 + rng.choice(most + 1, size=n_items, p=mixture.shares / mixture.shares.sum())
    codes = np.empty((n_items, most), np.int64)
    guess = np.full(n_items, MISSING)
    for k in range(most):
        anew = np.where(rng.random(n_items) < mixture.declines, NONE, rng.integers(0, n))
        is_kept = (rng.random(n_items) < mixture.rho) & (guess != MISSING)
        guess = np.where(is_kept, guess, anew)
        wrong = np.where(rng.random(n_items) < mixture.slip_declines, NONE, rng.integers(1, n))
        slipped = np.where(rng.random(n_items) < mixture.slips, wrong, RIGHT)
        codes[:, k] = np.where(k + 1 < demands, guess, slipped)
    return Vectors(codes=np.where(like.is_there, codes, MISSING), n_choices=n)


# --------------------------------------------------------------------------- with its interval


@dataclass(frozen=True, kw_only=True)
class Demand:
    """The mean demand, less its bias; None, and why, where it says nothing.

    `bias` is what the fit of answers drawn from the fit itself finds above their planted mean.
    """

    mixture: Mixture
    known: Estimate | None
    mean: Estimate | None
    bias: float | None
    why: str = ""


def demand(  # noqa: PLR0913 - what is estimated, and how its interval is drawn
    vectors: Vectors,
    *,
    clusters: Sequence[str],
    rng: np.random.Generator,
    level: float = 0.95,
    least_known: float = LEAST_KNOWN,
    n_draws: int = 200,
    n_planted: int = 100,
) -> Demand:
    """The mean demand less its bias, with an interval by draws of whole clusters, each fitted anew.

    The interval is Student's t around it, with the error of the draws and half of the bias.

    It is said only of 100 questions with a demand or more, whose share surely is above 5 %: where nearly all
    answers are guesses, the few that seem to know are chance.

    Args:
        vectors: the answers.
        clusters: one label for each question.
        rng: where the draws come from.
        level: coverage of the intervals.
        least_known: so many questions at least must have a demand.
        n_draws: of clusters.
        n_planted: sets of answers drawn from the fit, for the bias.

    Raises:
        UsageError: not one cluster for each question.
    """
    n_items = len(vectors.codes)
    if len(clusters) != n_items:
        raise UsageError(f"{len(clusters)} clusters for {n_items} questions; expected one for each")
    found = fit(vectors)
    n_known = found.known * n_items
    names, of = np.unique(np.asarray(clusters), return_inverse=True)
    if n_known < least_known:
        why = f"{n_known:.0f} questions have a demand; expected {least_known:.0f} or more"
        return Demand(mixture=found, known=None, mean=None, bias=None, why=why)
    if len(names) < 2:
        why = "all questions are about one video"
        return Demand(mixture=found, known=None, mean=None, bias=None, why=why)
    fits = []
    for _ in range(n_draws):
        times = np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))
        weights = times[of].astype(np.float64)
        fits.append(fit(vectors, weights=weights, start=found, tolerance=1e-5))

    def estimate(
        value: float, drawn: Sequence[float], *, bias: float, within: tuple[float, float]
    ) -> Estimate:
        # The bias is that of the fit, not of the truth: half of it may be wrong.
        error = math.hypot(float(np.std(drawn, ddof=1)), bias / 2)
        half = quantile(len(names) - 1, level) * error
        low, middle, high = np.clip([value - bias - half, value - bias, value - bias + half], *within)
        return Estimate(
            value=float(middle),
            low=float(low),
            high=float(high),
            level=level,
            n=n_items,
            n_clusters=len(names),
            method=f"mixture; error of {n_draws} draws of whole clusters, fitted anew, t",
        )

    known = estimate(found.known, [one.known for one in fits], bias=0.0, within=(0.0, 1.0))
    if known.low <= LEAST_SHARE:
        why = f"the share with a demand may be as low as {100 * known.low:.1f} %; expected more than 5 %"
        return Demand(mixture=found, known=known, mean=None, bias=None, why=why)
    planted = [fit(draw(found, vectors, rng=rng), start=found, tolerance=1e-5).mean for _ in range(n_planted)]
    bias = float(np.mean(planted)) - found.mean
    mean = estimate(found.mean, [one.mean for one in fits], bias=bias, within=(1.0, float(vectors.most)))
    return Demand(mixture=found, known=known, mean=mean, bias=bias)
