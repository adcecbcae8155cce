"""Item response: how hard a question is, how well it tells able runs from others, how able each run is.

The two-parameter logistic model with shrinkage: the ease and the discrimination of all questions are draws of
two normal laws that are estimated with them, and each question is averaged over a grid of both. So few runs
pull a question towards the others, and an all-right question has a difficulty like any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.statistics.resampling import as_labels

Numbers = NDArray[np.float64]
LEAST_RUNS = 8  # fewer say next to nothing of a single question
ABILITIES: Numbers = np.linspace(-4, 4, 33)
"""Where the curves of questions are kept."""
DOUBTFUL = 0.01  # a p-value of falling with ability below this makes a key doubtful
_SLOPE, _EASE = (grid.ravel() for grid in np.meshgrid(np.linspace(-2.5, 4.5, 15), np.linspace(-6, 6, 25)))
_ROUNDS, _CLOSE = 60, 0.05  # in nats of the evidence
_LEAST_SPREAD = 0.1
_N_DRAWS = 19_999
_SEARCHES = 25


@dataclass(frozen=True, kw_only=True)
class ItemResponse:
    """What the replies of runs to questions say of both.

    Shapes: `ability` and its error (n_runs,), with mean 0 and standard deviation 1 over the runs;
    `discrimination`, `difficulty` and their errors (n_items,). The difficulty is the log-odds of a wrong
    answer of a run of ability 0, so that it exists for a discrimination of 0, too. `curves`
    (n_items, len(ABILITIES)): the chance of a right answer. `floors` (n_items,): the least such chance.
    `evidence` is the log-likelihood of the replies, averaged over the questions' parameters.
    """

    ability: Numbers
    ability_error: Numbers
    discrimination: Numbers
    discrimination_error: Numbers
    difficulty: Numbers
    difficulty_error: Numbers
    curves: Numbers
    floors: Numbers
    evidence: float

    def chances(self, *, discrimination: Numbers) -> Numbers:
        """The chance of each run to be right on each question, had these that discrimination."""
        odds = np.outer(discrimination, self.ability) - self.difficulty[:, None]
        return _floored(_logistic(odds), self.floors[:, None])


def calibrate(
    values: Numbers, *, floors: Numbers, clusters: Sequence[str], start: Numbers | None = None
) -> ItemResponse:
    """Fit the model, with questions that guessing gets right by a floor or by none: what has more evidence.

    Args:
        values: the score of each run on each question, 0 to 1, shape (n_items, n_runs).
        floors: the share that guessing gets of each question, shape (n_items,).
        clusters: the source of each question; the errors of abilities are clustered.
        start: abilities to begin with, from a fit of nearly the same runs, shape (n_runs,).

    Raises:
        UsageError: fewer runs than `LEAST_RUNS` with one left out, or all have the same score.

    Source: Birnbaum (1968) for the model; Bock & Aitkin (1981), "Marginal maximum likelihood estimation of
        item parameters", Psychometrika 46, with questions and runs in exchanged roles, since runs are few.
    Departs: the laws of the parameters are estimated, too; discrimination may be below 0, as that of a
        question with a wrong key is.
    """
    fits = [
        fit(values, floors=one, clusters=clusters, start=start) for one in (np.zeros(len(values)), floors)
    ]
    return max(fits, key=lambda one: one.evidence)


def fit(
    values: Numbers, *, floors: Numbers, clusters: Sequence[str], start: Numbers | None = None
) -> ItemResponse:
    """As `calibrate`, with these floors."""
    n_runs = values.shape[1]
    if n_runs < LEAST_RUNS - 1:  # cross-validation leaves one out
        raise UsageError(f"{n_runs} runs; expected {LEAST_RUNS} or more: fewer say too little of a question")
    means = values.mean(axis=0)
    if np.ptp(means) == 0:
        raise UsageError("all runs have the same score, so that abilities cannot be told apart")
    state = _State(
        values=values,
        floors=floors,
        ability=(means - means.mean()) / means.std() if start is None else start,
        centre=np.array([0.8, 0.0]),
        spread=np.array([0.5, 1.5]),
    )
    before = -np.inf
    for _ in range(_ROUNDS):
        weights, evidence = state.weights()
        if evidence - before < _CLOSE:
            break
        before, state = evidence, state.better(weights)
    return state.result(weights, evidence, clusters=clusters)


def _logistic(odds: Numbers) -> Numbers:
    from scipy.special import expit

    return np.asarray(expit(odds), np.float64)


def _floored(chances: Numbers, floor: Numbers | float) -> Numbers:
    return np.asarray(floor + (1 - floor) * chances, np.float64).clip(1e-9, 1 - 1e-9)


@dataclass(frozen=True, kw_only=True)
class _State:
    """Where the fit stands: abilities, and the centre and spread of the laws of slopes and eases."""

    values: Numbers
    floors: Numbers
    ability: Numbers
    centre: Numbers
    spread: Numbers

    def weights(self) -> tuple[Numbers, float]:
        """How likely each place of the grid is for each question, (n_items, n_places); the evidence."""
        from scipy.special import logsumexp

        law = -0.5 * sum(
            ((grid - c) / s) ** 2
            for grid, c, s in zip((_SLOPE, _EASE), self.centre, self.spread, strict=True)
        )
        logs = np.tile(law - logsumexp(law), (len(self.values), 1))
        for floor in np.unique(self.floors):
            at = self.floors == floor
            chances = _floored(self._above(), floor)
            logs[at] += self.values[at] @ np.log(chances) + (1 - self.values[at]) @ np.log1p(-chances)
        totals = logsumexp(logs, axis=1, keepdims=True)
        return np.exp(logs - totals), float(totals.sum() - 0.5 * (self.ability**2).sum())

    def better(self, weights: Numbers) -> "_State":
        """The next state: laws from the weights, abilities by a step of Fisher's scoring; mean 0, sd 1."""
        shares = weights.mean(axis=0)
        centre = np.array([shares @ _SLOPE, shares @ _EASE])
        spread = np.sqrt([shares @ (_SLOPE - centre[0]) ** 2, shares @ (_EASE - centre[1]) ** 2])
        slope, information = -self.ability, np.ones(len(self.ability))
        for floor in np.unique(self.floors):
            at = self.floors == floor
            chances, pull = self._pull(floor)
            n, right = weights[at].sum(axis=0), self.values[at].T @ weights[at]
            slope = slope + ((right - n * chances) * pull).sum(axis=1)
            information = information + (n * pull**2 * chances * (1 - chances)).sum(axis=1)
        ability = self.ability + slope / information
        mean, scale = ability.mean(), ability.std()
        return replace(
            self,
            ability=(ability - mean) / scale,
            centre=np.array([centre[0] * scale, centre[1] + centre[0] * mean]),
            spread=np.maximum(spread * [scale, 1.0], _LEAST_SPREAD),
        )

    def result(self, weights: Numbers, evidence: float, *, clusters: Sequence[str]) -> ItemResponse:
        """The means of all parameters with their errors."""
        slope, ease = weights @ _SLOPE, weights @ _EASE
        curves = np.empty((len(weights), len(ABILITIES)))
        at_grid = _logistic(np.outer(ABILITIES, _SLOPE) + _EASE)
        for floor in np.unique(self.floors):
            at = self.floors == floor
            curves[at] = weights[at] @ _floored(at_grid, floor).T
        return ItemResponse(
            ability=self.ability,
            ability_error=self._ability_error(weights, clusters),
            discrimination=slope,
            discrimination_error=np.sqrt((weights @ _SLOPE**2 - slope**2).clip(0)),
            difficulty=-ease,
            difficulty_error=np.sqrt((weights @ _EASE**2 - ease**2).clip(0)),
            curves=curves,
            floors=self.floors,
            evidence=evidence,
        )

    def _above(self) -> Numbers:
        return _logistic(np.outer(self.ability, _SLOPE) + _EASE)

    def _pull(self, floor: float) -> tuple[Numbers, Numbers]:
        """Chances at each run and place, and what a unit above them adds to the slope of the likelihood."""
        above = self._above()
        chances = _floored(above, floor)
        return chances, (1 - floor) * above * (1 - above) * _SLOPE / (chances * (1 - chances))

    def _ability_error(self, weights: Numbers, clusters: Sequence[str]) -> Numbers:
        """The sandwich error: the slopes of the likelihood by question, and summed by source."""
        scores = np.empty(self.values.shape)
        for floor in np.unique(self.floors):
            at = self.floors == floor
            chances, pull = self._pull(floor)
            scores[at] = self.values[at] * (weights[at] @ pull.T) - weights[at] @ (chances * pull).T
        labels, rows = as_labels(clusters, len(clusters), what="clusters")
        prior = np.eye(len(self.ability))
        sums = np.zeros((len(labels), len(self.ability)))
        np.add.at(sums, rows, scores)
        bread = np.asarray(np.linalg.inv(scores.T @ scores + prior), np.float64)
        return np.asarray(np.sqrt(np.diag(bread @ (sums.T @ sums + prior) @ bread)), np.float64)


# --------------------------------------------------------------------------- keys that are doubtful


def falling(values: Numbers, ability: Numbers, *, rng: np.random.Generator) -> Numbers:
    """The p-value of each question that its right answers do not fall as ability rises, shape (n_items,).

    Abilities are dealt out anew among the runs: were each run as likely to be right, every deal would be.
    Where right answers rise with ability, small p-values are rarer still.

    Args:
        values: as for `calibrate`.
        ability: of the runs, shape (n_runs,).
        rng: where the deals come from.
    """
    deals = rng.permuted(np.tile(ability, (_N_DRAWS, 1)), axis=1)
    found = np.empty(len(values))
    for i, one in enumerate(values):
        found[i] = (1 + (deals @ one <= one @ ability + 1e-9).sum()) / (1 + _N_DRAWS)
    return found


# --------------------------------------------------------------------------- a subset that predicts


def anchors(given: ItemResponse, n: int, *, rng: np.random.Generator) -> NDArray[np.intp]:
    """Questions that stand for all, by discrimination and difficulty; their positions in order, n of them.

    Args:
        given: the calibration.
        n: how many, fewer than there are questions.
        rng: where the search begins.

    Source: Polo and others (2024), "tinyBenchmarks", section 3: anchor points by item response, the question
        nearest to each centre of k-means.
    Departs: questions that are alike fill the place of a centre without any.
    """
    places = np.stack([given.discrimination, given.difficulty], axis=1)
    centres = places[rng.choice(len(places), n, replace=False)]
    for _ in range(_SEARCHES):
        nearest = ((places[:, None] - centres) ** 2).sum(axis=-1).argmin(axis=1)
        counts = np.bincount(nearest, minlength=n)[:, None]
        sums = np.stack([np.bincount(nearest, weights=one, minlength=n) for one in places.T], axis=1)
        centres = np.where(counts > 0, sums / np.maximum(counts, 1), centres)
    is_free = np.ones(len(places), np.bool_)
    for centre in centres:
        is_free[np.where(is_free, ((places - centre) ** 2).sum(axis=1), np.inf).argmin()] = False
    return np.flatnonzero(~is_free)


def predicted(scores: Numbers, curves: Numbers, *, weights: Numbers, rest: Numbers) -> float:
    """The score on all questions from that on the anchors: what was seen, and for the rest what is expected.

    Args:
        scores: of the anchors, 0 to 1, shape (n_anchors,).
        curves: of the anchors, shape (n_anchors, len(ABILITIES)).
        weights: what each anchor counts in the score, shape (n_anchors,).
        rest: the curves of the other questions, each times what it counts, added up.

    Source: Polo and others (2024), section 3: the estimator p-IRT.
    Departs: averaged over the ability, given the replies and a standard normal law, not at its maximum.
    """
    logs = scores @ np.log(curves) + (1 - scores) @ np.log1p(-curves) - 0.5 * ABILITIES**2
    law = np.exp(logs - logs.max())
    return float(weights @ scores + rest @ law / law.sum())
