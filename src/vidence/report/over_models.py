"""Scores of models by values of a tag, the table behind correlations and sorted means."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.report.results import Row
from vidence.report.scores import Draws, ScoredQuestions, chosen, natural_order
from vidence.statistics.sorted_means import Marks, SortedMeans, sorted_means
from vidence.statistics.student import quantile
from vidence.tables.charts import Chart, Point, Series
from vidence.tables.table import Cell, Column, Table, p_words
from vidence.tables.table import Row as TableRow

LEAST_MODELS: Final = 3
"""Fewest models for an interval over models."""


def where_of(text: str, *, what: str) -> dict[str, tuple[str, ...]]:
    """Parse ``TAG=VALUE,TAG=VALUE`` into tags and values; empty for an empty text.

    Raises:
        UsageError: another form; `what` names the option.
    """
    values: dict[str, tuple[str, ...]] = {}
    for part in filter(None, text.split(",")):
        tag, sign, value = (word.strip() for word in part.partition("="))
        if not (tag and sign and value):
            raise UsageError(f"{what} {text!r}; expected TAG=VALUE such as set=single, with commas between")
        values[tag] = (value,)
    return values


@dataclass(frozen=True, kw_only=True)
class ByValue:
    """The scores of several models on questions by values of a tag.

    Only values with a score from every model are kept; `left_out` are the others. Shapes: `scores` (n_models,
    n_values), each model's mean scores.
    """

    models: tuple[str, ...]
    values: tuple[str, ...]
    marks: tuple[Marks, ...]
    scores: NDArray[np.float64]
    left_out: tuple[str, ...]
    are_alike: bool
    """Whether all models' scores are of the same questions in the same order."""

    @classmethod
    def of(
        cls, rows: Mapping[str, Sequence[Row]], *, by: str, where: Mapping[str, Sequence[str]]
    ) -> "ByValue | None":
        """Return the models' scores on the questions of `where`; None if no value has scores of all models.

        Args:
            rows: the trials of each model, by name.
            by: the tag.
            where: filters of the questions.
        """
        scored = {name: ScoredQuestions.of(chosen(some, where)) for name, some in rows.items()}
        own = {
            name: {item.tags[by] for item in scored_questions.items if by in item.tags}
            for name, scored_questions in scored.items()
        }
        known = set.intersection(*own.values()) if own else set()
        if not known:
            return None
        values = tuple(sorted(known, key=natural_order))
        place = {value: i for i, value in enumerate(values)}
        marks, asked = [], []
        for questions in scored.values():
            at = [i for i, item in enumerate(questions.items) if item.tags.get(by) in place]
            things = np.array([place[questions.items[i].tags[by]] for i in at], np.int64)
            asked.append(tuple(questions.items[i].item_id for i in at))
            marks.append(Marks(values=np.asarray(questions.values[at], np.float64), things=things))
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
        """Say which values are left out; empty if none are."""
        if not self.left_out:
            return ""
        return f"Left out, since not every model has a score there: {', '.join(self.left_out)}."


def over_models(values: Sequence[float], *, level: float) -> Estimate | None:
    """Return the mean over models of one value each, with Student's interval; None without values."""
    n, method = len(values), "mean over models"
    if not n:
        return None
    mean = float(np.mean(values))
    if n < LEAST_MODELS:
        reason = f"too few models ({n})"
        method = f"{method}; no interval: {reason}"
        return Estimate.alone(mean, n=n, method=method, reason=reason, level=level)
    half = quantile(n - 1, level) * float(np.std(values, ddof=1)) / math.sqrt(n)
    low, high, method = max(0.0, mean - half), min(1.0, mean + half), f"{method}, Student's t"
    return Estimate(value=mean, low=low, high=high, level=level, n=n, n_clusters=n, method=method)


# --------------------------------------------------------------------------- sorted

MOST_WORDS: Final = 80
"""Most labels on the axis; with more values, only every second or fewer are labelled."""


def sorted_statements(benchmark: str, value: ByValue, *, by: str, draws: Draws) -> tuple[Chart, Table]:
    """Return a figure and a table of a tag's values, sorted by score.

    Args:
        benchmark: the name of the questions.
        value: the models' scores.
        by: the tag.
        draws: source of the bootstrap draws.
    """
    result = sorted_means(
        value.marks,
        n_things=len(value.values),
        rng=draws.fresh(),
        are_alike=value.are_alike,
        level=draws.level,
    )
    names = [value.values[i] for i in result.order]
    return (
        _figure(benchmark, names, result, by=by, draws=draws),
        _table(benchmark, value, result, by=by, draws=draws),
    )


def _between(value: float, low: float, high: float, *, n: int, draws: Draws) -> Estimate:
    method = "sorted means of permuted marks"
    return Estimate(value=value, low=low, high=high, level=draws.level, n=n, n_clusters=n, method=method)


def _figure(benchmark: str, names: Sequence[str], result: SortedMeans, *, by: str, draws: Draws) -> Chart:
    n = len(names)
    places = range(1, n + 1)
    step = math.ceil(n / MOST_WORDS)
    words = tuple((float(p), names[p - 1] if (p - 1) % step == 0 else "") for p in places)
    envelope = tuple(
        Point(x=float(p), y=_between(middle, low, high, n=n, draws=draws))
        for p, middle, low, high in zip(
            places, result.middle.tolist(), result.low.tolist(), result.high.tolist(), strict=True
        )
    )
    means = tuple(
        Point(x=float(p), y=Estimate.alone(mean, n=n, method="mean", reason="in the table"))
        for p, mean in zip(places, result.means.tolist(), strict=True)
    )
    return Chart(
        name=f"sorted:{benchmark}",
        title=f"{benchmark}: {by} from the easiest to the hardest",
        x_title=f"{by}, the easiest first",
        y_title="mean over the models",
        series=(
            Series(label="mean over the models", points=means),
            Series(label="by sorting alone", points=envelope),
        ),
        x_labels=words,
        note=f"Vertical lines: where {100 * draws.level:g} % of the means of a place lie if no {by} and no "
        f"question is harder than another. The means are that far apart with p {p_words(result.p_value)}"
        + (
            "; if questions differ, and all models find the same ones hard, with p "
            f"{p_words(result.p_questions)}."
            if not math.isnan(result.p_questions)
            else "."
        ),
    )


def _table(benchmark: str, value: ByValue, result: SortedMeans, *, by: str, draws: Draws) -> Table:
    rows = []
    for place, thing in enumerate(result.order):
        mean = over_models([float(v) for v in value.scores[:, thing]], level=draws.level)
        low, high = float(result.low[place]), float(result.high[place])
        seen = float(result.means[place])
        side = "above" if seen > high else "below" if seen < low else "inside"
        n = sum(int((mark.things == thing).sum()) for mark in value.marks)
        values = (place + 1, mean, Cell(value=low), Cell(value=high), Cell(value=side), n)
        rows.append(TableRow(key=f"value:{value.values[thing]}", label=value.values[thing], values=values))
    return Table(
        name=f"sorted-values:{benchmark}",
        title=f"{benchmark}: {by} by its mean over {len(value.models)} models",
        label=by,
        columns=(
            Column(key="place", title="place", kind="count"),
            Column(key="mean", title="mean over models", kind="share", note="Student's t over models"),
            Column(key="low", title="from", kind="share", group="by sorting alone"),
            Column(key="high", title="to", kind="share", group="by sorting alone"),
            Column(key="side", title="mean is", kind="text", note="of the envelope of its place"),
            Column(key="marks", title="marks", kind="count"),
        ),
        rows=tuple(rows),
        note="Each model and condition counts alike. The envelope is of places, not of names: a value outside"
        " says that the order is not luck alone, not that its own place is known. Values with few marks end"
        " up at the ends. The mean of a value with few questions may be that of one hard question: then use"
        f" the p for questions that differ. {value.note()}".strip(),
    )
