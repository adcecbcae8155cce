"""QUEST+: which level to show next, and what the answers so far say of an observer's psychometric function.

Own implementation: the package ``questplus`` gives the same levels and the same posterior (a test holds its
values), but needs xarray and pandas.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics.psychometrics import Curve
from vidence.statistics.resampling import check_level

Floats: TypeAlias = NDArray[np.float64]
N_LOCATIONS, N_WIDTHS = 61, 13
# Narrowest and widest function that is looked for, as shares of the range of the levels.
WIDTHS = (0.1, 2.0)
_TINY = 1e-9


class QuestPlus:
    """A posterior over functions, on a grid; every answer changes it.

    Args:
        curve: the family of functions.
        levels: those that can be shown, ascending, three or more.
        locations: the grid of locations on the scale of the curve; None: as far as the levels reach.
        widths: the grid of widths; None: from `WIDTHS` of the range of the levels, evenly by logarithm.
        lapses: the grid of lapses; None: none, half of and all of what the curve allows.

    Source: Watson (2017), QUEST+: equations 1 to 12 (the level of the least expected entropy).
    Departs: levels can be left out of the choice, such as those without a stimulus left; of several that are
        equally good the first is taken. The prior is flat over the grid.
    """

    def __init__(
        self,
        curve: Curve,
        levels: Sequence[float],
        *,
        locations: Sequence[float] | None = None,
        widths: Sequence[float] | None = None,
        lapses: Sequence[float] | None = None,
    ) -> None:
        self.curve = curve
        self.levels = np.asarray(levels, np.float64)
        if len(self.levels) < 3 or (np.diff(self.levels) <= 0).any():
            raise UsageError(f"levels {list(levels)}; a staircase needs three or more that ascend")
        places = curve.scaled(self.levels)
        known = places[np.isfinite(places)]
        span = float(known[-1] - known[0])
        most = curve.most_lapses
        axes = (
            np.linspace(known[0], known[-1], N_LOCATIONS) if locations is None else np.asarray(locations),
            np.geomspace(*WIDTHS, N_WIDTHS) * span if widths is None else np.asarray(widths),
            np.unique([0.0, most / 2, most]) if lapses is None else np.asarray(lapses),
        )
        cells = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        self.location, self.width, self.lapse = cells.T
        right = curve.right(
            self.levels, location=self.location[:, None], width=self.width[:, None], lapse=self.lapse[:, None]
        )
        self._right: Floats = np.clip(right, _TINY, 1 - _TINY)
        self.weights: Floats = np.full(len(cells), 1 / len(cells))
        self.n_answers = 0

    def expected_entropy(self) -> Floats:
        """The entropy of the posterior after an answer at each level, in nats, shape (n_levels,)."""
        joint = self.weights[:, None] * self._right
        made = np.zeros(len(self.levels))
        for part in (joint, self.weights[:, None] - joint):
            share = part.sum(axis=0)
            inside = np.clip(part / share, 1e-300, None)
            made += share * -(inside * np.log(inside)).sum(axis=0)
        return made

    def next_level(self, allowed: Sequence[bool] | None = None) -> int:
        """The position of the level that tells most, among those allowed.

        Raises:
            UsageError: none is allowed.
        """
        entropy = self.expected_entropy()
        if allowed is not None:
            if not any(allowed):
                raise UsageError("no level is left to show")
            entropy = np.where(np.asarray(allowed, bool), entropy, np.inf)
        return int(entropy.argmin())

    def add(self, level: int, *, is_right: bool) -> None:
        """Take an answer at the level of this position into account."""
        chance = self._right[:, level]
        weights = self.weights * (chance if is_right else 1 - chance)
        self.weights = weights / weights.sum()
        self.n_answers += 1

    def threshold(self, proportion: float, *, level: float = 0.95) -> Estimate:
        """The posterior's median of the level at which so many answers are right, and its credible interval.

        Functions that never reach the proportion count as above (below, where higher is harder) all levels.

        Source: Watson (2017), "Parameter estimates" (from the posterior; he takes its mode or mean).
        Departs: the median, which is the same on every scale, between quantiles of the posterior.
        """
        check_level(level)
        found = self.curve.threshold(proportion, location=self.location, width=self.width, lapse=self.lapse)
        beyond = -math.inf if self.curve.is_falling else math.inf
        low, value, high = _quantiles(
            np.where(np.isnan(found), beyond, found), self.weights, ((1 - level) / 2, 0.5, (1 + level) / 2)
        )
        return self._estimate(f"threshold at {proportion:g}", (value, low, high), level=level)

    def figure(self, name: str, *, level: float = 0.95) -> Estimate:
        """The posterior's median of ``location``, ``width`` or ``lapse`` with its credible interval."""
        values = {"location": self.location, "width": self.width, "lapse": self.lapse}[name]
        low, value, high = _quantiles(values, self.weights, ((1 - level) / 2, 0.5, (1 + level) / 2))
        return self._estimate(name, (value, low, high), level=level)

    def _estimate(self, name: str, found: tuple[float, float, float], *, level: float) -> Estimate:
        value, low, high = (x if math.isfinite(x) else math.nan for x in found)
        return Estimate(
            value=value,
            low=low,
            high=high,
            level=level,
            n=self.n_answers,
            n_clusters=self.n_answers,
            method=f"{name}; posterior of QUEST+, median and quantiles",
            reason="" if all(map(math.isfinite, found)) else "the posterior reaches beyond all levels",
        )


def _quantiles(values: Floats, weights: Floats, shares: Sequence[float]) -> tuple[float, ...]:
    """Weighted quantiles: each value stands in the middle of its weight, between two it is interpolated."""
    order = np.argsort(values, kind="stable")
    sorted_values = values[order]
    reached = np.cumsum(weights[order]) - weights[order] / 2
    is_known = np.isfinite(sorted_values)
    made = []
    for share in shares:
        at = int(np.clip(np.searchsorted(reached, share), 0, len(values) - 1))
        if not is_known[at] or not is_known.any():
            made.append(float(sorted_values[at]))
        else:
            made.append(float(np.interp(share, reached[is_known], sorted_values[is_known])))
    return tuple(made)
