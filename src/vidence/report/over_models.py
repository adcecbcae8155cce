"""Scores of models on the values of a tag, as a table that correlations and sorted means are taken from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.report.results import Row
from vidence.report.scores import ScoredQuestions, chosen, natural_order
from vidence.statistics.intervals import quantile
from vidence.statistics.sorted_means import Marks

LEAST_MODELS: Final = 3
"""Of fewer no interval over models is told."""


def where_of(text: str, *, what: str) -> dict[str, tuple[str, ...]]:
    """The tags and values of ``TAG=VALUE,TAG=VALUE``; nothing for an empty text.

    Raises:
        UsageError: it is not of this form; `what` says whose it is.
    """
    found: dict[str, tuple[str, ...]] = {}
    for part in filter(None, text.split(",")):
        tag, sign, value = (word.strip() for word in part.partition("="))
        if not (tag and sign and value):
            raise UsageError(f"{what} {text!r}; expected TAG=VALUE such as set=single, with commas between")
        found[tag] = (value,)
    return found


@dataclass(frozen=True, kw_only=True)
class ByValue:
    """The marks of several models on questions with values of a tag.

    Only values of which every model has a mark are kept; `left_out` are the others. Shapes: `scores`
    (n_models, n_values), the mean of each model's marks.
    """

    models: tuple[str, ...]
    values: tuple[str, ...]
    marks: tuple[Marks, ...]
    scores: NDArray[np.float64]
    left_out: tuple[str, ...]
    are_alike: bool
    """Whether the marks of all models are of the same questions in the same order."""

    @classmethod
    def of(
        cls, rows: Mapping[str, Sequence[Row]], *, by: str, where: Mapping[str, Sequence[str]]
    ) -> "ByValue | None":
        """The marks of the models on the questions of `where`; None where no value is known of all models.

        Args:
            rows: the trials of each model, by its name.
            by: the tag.
            where: which questions.
        """
        scored = {name: ScoredQuestions.of(chosen(some, where)) for name, some in rows.items()}
        own = {name: {item.tags[by] for item in one.items if by in item.tags} for name, one in scored.items()}
        known = set.intersection(*own.values()) if own else set()
        if not known:
            return None
        values = tuple(sorted(known, key=natural_order))
        place = {value: i for i, value in enumerate(values)}
        marks, asked = [], []
        for one in scored.values():
            at = [i for i, item in enumerate(one.items) if item.tags.get(by) in place]
            things = np.array([place[one.items[i].tags[by]] for i in at], np.int64)
            asked.append(tuple(one.items[i].item_id for i in at))
            marks.append(Marks(values=np.asarray(one.values[at], np.float64), things=things))
        scores = [
            np.bincount(m.things, weights=m.values, minlength=len(values))
            / np.bincount(m.things, minlength=len(values))
            for m in marks
        ]
        return cls(
            models=tuple(scored),
            values=values,
            marks=tuple(marks),
            scores=np.array(scores),
            left_out=tuple(sorted(set[str]().union(*own.values()) - known, key=natural_order)),
            are_alike=len(set(asked)) == 1,
        )

    def note(self) -> str:
        """Which values are left out; empty where none is."""
        if not self.left_out:
            return ""
        return f"Left out, since not every model has a score there: {', '.join(self.left_out)}."


def over_models(values: Sequence[float], *, level: float) -> Estimate | None:
    """The mean of one value for each model, with Student's interval; None without values."""
    n = len(values)
    if not n:
        return None
    mean = float(np.mean(values))
    low = high = math.nan
    reason = f"too few models ({n})" if n < LEAST_MODELS else ""
    if not reason:
        half = quantile(n - 1, level) * float(np.std(values, ddof=1)) / math.sqrt(n)
        low, high = max(0.0, mean - half), min(1.0, mean + half)
    return Estimate(
        value=mean,
        low=low,
        high=high,
        level=level,
        n=n,
        n_clusters=n,
        method="mean over models, Student's t" if not reason else f"mean over models; no interval: {reason}",
        reason=reason,
    )
