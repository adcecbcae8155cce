"""Item response: how hard a question is, how well it tells able runs from others, how able each run is.

The two-parameter logistic model with shrinkage: the ease and the discrimination of all questions are draws of
two normal laws that are estimated with them, and each question is averaged over a grid of both. So few runs
pull a question towards the others, and an all-right question has a difficulty like any other.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError

Numbers = NDArray[np.float64]
LEAST_RUNS = 8  # fewer say next to nothing of a single question
ABILITIES: Numbers = np.linspace(-4, 4, 33)
"""Where the curves of questions are kept."""
DOUBTFUL = 0.01  # a p-value of falling with ability below this makes a key doubtful
_SLOPE, _EASE = (grid.ravel() for grid in np.meshgrid(np.linspace(-2.5, 4.5, 15), np.linspace(-6, 6, 25)))
_PLACES = np.stack([_SLOPE, _EASE], axis=1)
_ROUNDS, _CLOSE = 60, 0.05  # in nats of the likelihood
_LEAST_SPREAD = 0.1
_N_DRAWS = 19_999


@dataclass(frozen=True, kw_only=True)
class ItemResponse:
    """What the replies of runs to questions say of both.

    Shapes: `ability` (n_runs,), with mean 0 and standard deviation 1 over the runs; `discrimination`,
    `difficulty` and their errors (n_items,). The difficulty is the log-odds of a wrong answer of a run of
    ability 0, so that it exists for a discrimination of 0, too. `curves` (n_items, len(ABILITIES)): the
    chance of a right answer.
    """

    ability: Numbers
    discrimination: Numbers
    discrimination_error: Numbers
    difficulty: Numbers
    difficulty_error: Numbers
    curves: Numbers

    def drawn(self, rng: np.random.Generator) -> Numbers:
        """Replies as the model draws them, were no key wrong: discriminations below 0 are 0."""
        odds = np.outer(self.discrimination.clip(0), self.ability) - self.difficulty[:, None]
        return np.asarray(rng.random(odds.shape) < _logistic(odds), np.float64)


def calibrate(values: Numbers, *, start: Numbers | None = None) -> ItemResponse:
    """Fit the model.

    Args:
        values: the score of each run on each question, 0 to 1, shape (n_items, n_runs).
        start: abilities to begin with, from a fit of nearly the same runs, shape (n_runs,).

    Raises:
        UsageError: fewer runs than `LEAST_RUNS` with one left out, or all have the same score.

    Source: Birnbaum (1968) for the model; Bock & Aitkin (1981), "Marginal maximum likelihood estimation of
        item parameters", Psychometrika 46, with questions and runs in exchanged roles, since runs are few.
    Departs: the laws of the parameters are estimated, too; discrimination may be below 0, as that of a
        question with a wrong key is.
    """
    n_runs = values.shape[1]
    if n_runs < LEAST_RUNS - 1:  # cross-validation leaves one out
        raise UsageError(f"{n_runs} runs; expected {LEAST_RUNS} or more, to estimate a single question")
    means = values.mean(axis=0)
    if np.ptp(means) == 0:
        raise UsageError("all runs have the same score, so their abilities cannot be estimated")
    ability = means if start is None else start
    ability = (ability - ability.mean()) / ability.std()
    centre, spread, before = np.array([0.8, 0.0]), np.array([0.5, 1.5]), -np.inf
    for _ in range(_ROUNDS):
        law = -0.5 * (((_PLACES - centre) / spread) ** 2).sum(axis=1)
        odds = np.outer(ability, _SLOPE) + _EASE
        logs = law - np.logaddexp.reduce(law) + values @ odds - np.logaddexp(0, odds).sum(axis=0)
        totals = np.logaddexp.reduce(logs, axis=1, keepdims=True)
        weights, likelihood = np.exp(logs - totals), float(totals.sum() - 0.5 * ability @ ability)
        if likelihood - before < _CLOSE:
            break
        before = likelihood
        shares, chances = weights.mean(axis=0), _logistic(odds)
        slope = (values.T @ weights - len(values) * shares * chances) @ _SLOPE - ability
        information = len(values) * (chances * (1 - chances)) @ (shares * _SLOPE**2) + 1
        ability = ability + slope / information
        mean, scale = ability.mean(), ability.std()
        ability, centre = (ability - mean) / scale, shares @ _PLACES
        spread = np.maximum(np.sqrt(shares @ (_PLACES - centre) ** 2) * [scale, 1.0], _LEAST_SPREAD)
        centre = np.array([centre[0] * scale, centre[1] + centre[0] * mean])
    (slopes, eases) = places = (weights @ _PLACES).T
    errors = np.sqrt(((weights @ _PLACES**2).T - places**2).clip(0))
    return ItemResponse(
        ability=ability,
        discrimination=slopes,
        discrimination_error=errors[0],
        difficulty=-eases,
        difficulty_error=errors[1],
        curves=weights @ _logistic(np.outer(ABILITIES, _SLOPE) + _EASE).T,
    )


def _logistic(odds: Numbers) -> Numbers:
    return np.asarray(1 / (1 + np.exp(-odds)), np.float64)


# --------------------------------------------------------------------------- keys that are doubtful


def falling(values: Numbers, ability: Numbers, *, rng: np.random.Generator) -> Numbers:
    """The p-value of each question that its right answers do not fall as ability rises, shape (n_items,).

    Abilities are permuted among the runs: were each run as likely to be right, every order would be.
    Where right answers rise with ability, small p-values are rarer still.

    Args:
        values: as for `calibrate`.
        ability: of the runs, shape (n_runs,).
        rng: where the deals come from.
    """
    deals = rng.permuted(np.tile(ability, (_N_DRAWS, 1)), axis=1)
    counts = [(deals @ value <= value @ ability + 1e-9).sum() for value in values]
    return np.asarray((1 + np.array(counts)) / (1 + _N_DRAWS), np.float64)


# --------------------------------------------------------------------------- a subset that predicts


def anchors(given: ItemResponse, n: int) -> NDArray[np.intp]:
    """Questions that stand for all: the middle of each of n parts by difficulty; their positions in order.

    Args:
        given: the calibration.
        n: how many, fewer than there are questions.

    Source: Polo and others (2024), "tinyBenchmarks", section 3: anchor points by item response.
    Departs: parts of equal size by difficulty, not k-means over all parameters, which came no nearer than
        random questions on VLM4D.
    """
    order = np.argsort(given.difficulty, kind="stable")
    return np.sort([part[len(part) // 2] for part in np.array_split(order, n)])


def predicted(scores: Numbers, curves: Numbers, *, weights: Numbers, whole: Numbers) -> float:
    """The score on all questions from that on the anchors: what was seen, and for the rest what is expected.

    Args:
        scores: of the anchors, 0 to 1, shape (n_anchors,).
        curves: of the anchors, shape (n_anchors, len(ABILITIES)).
        weights: what each anchor counts in the score, shape (n_anchors,).
        whole: the curves of all questions, each times what it counts, added up.

    Source: Polo and others (2024), section 3: the estimator p-IRT.
    Departs: averaged over the ability, given the replies and a standard normal law, not at its maximum.
    """
    logs = scores @ np.log(curves) + (1 - scores) @ np.log1p(-curves) - 0.5 * ABILITIES**2
    law = np.exp(logs - logs.max())
    return float(weights @ scores + (whole - weights @ curves) @ law / law.sum())
