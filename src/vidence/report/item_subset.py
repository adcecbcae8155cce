"""Few questions that predict the score on all: which, how far off they are, what they predict."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.engine.samples import SUBSET_FILE, Anchor, Subset, question_digest, read_subset
from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.report.item_calibration import Replies
from vidence.report.results import Run
from vidence.report.scores import NO_VALUE, Draws, ScoredQuestions, headline_accuracy, macro_tag
from vidence.statistics.intervals import ClusteredMean, quantile
from vidence.statistics.item_response import ItemResponse, Numbers, anchors, fit, predicted
from vidence.tables.table import Table, by_name, interval_text, lines, number, percent, share, tabulate

Places: TypeAlias = NDArray[np.intp]
METHODS: Mapping[str, str] = {
    "anchors": "anchors, item response",
    "random-model": "random questions, item response",
    "stratified": "stratified by difficulty, their mean",
    "random": "random questions, their mean",
}
_N_DRAWS = 20  # of random questions, for each run that is left out


@dataclass(frozen=True, kw_only=True)
class Errors:
    """By how much the full scores of left-out runs are missed, by method of `METHODS`; shape (n_runs, n)."""

    n: int
    misses: Mapping[str, Numbers]

    def rmse(self, method: str) -> float:
        """The root mean squared error of a method."""
        return float(np.sqrt((self.misses[method] ** 2).mean()))


@dataclass(frozen=True, kw_only=True)
class _Fitted:
    """A model with what each question counts in the full score, shape (n_items,)."""

    model: ItemResponse
    weights: Numbers

    def predict(self, scores: Numbers, chosen: Places) -> float:
        """The full score of a run by its scores, (n_items,), of which the chosen ones alone are used."""
        return predicted(
            scores[chosen],
            self.model.curves[chosen],
            weights=self.weights[chosen],
            rest=self.rest(chosen),
        )

    def rest(self, chosen: Places) -> Numbers:
        """The weighted curves of all other questions, added up."""
        others = np.delete(np.arange(len(self.weights)), chosen)
        return np.asarray(self.weights[others] @ self.model.curves[others], np.float64)


def cross_validated(
    replies: Replies, sizes: tuple[int, ...], *, rng: np.random.Generator
) -> tuple[Errors, ...]:
    """The errors of predictions of each run from subsets that the others chose, and of plain samples.

    Args:
        replies: of the runs.
        sizes: how many questions a subset has.
        rng: where anchors and random questions come from.

    Raises:
        UsageError: a size that is not below the number of questions.
    """
    values, weights = replies.paired.values, _weights(replies)
    n_items, n_runs = values.shape
    for n in sizes:
        if not 1 < n < n_items:
            raise UsageError(f"--n {n} of {n_items:,} questions; expected 2 to {n_items - 1:,}")
    whole = replies.fitted()
    misses = {n: {method: list[list[float]]() for method in METHODS} for n in sizes}
    for left in range(n_runs):
        kept = np.delete(np.arange(n_runs), left)
        start = whole.ability[kept]
        model = fit(
            values[:, kept],
            floors=whole.floors,
            clusters=replies.paired.clusters,
            start=(start - start.mean()) / start.std(),
        )
        fitted, scores = _Fitted(model=model, weights=weights), values[:, left]
        full, order = float(weights @ scores), np.argsort(model.difficulty, kind="stable")
        for n in sizes:
            draws = [rng.choice(n_items, n, replace=False) for _ in range(_N_DRAWS)]
            strata = [
                np.array([rng.choice(part) for part in np.array_split(order, n)]) for _ in range(_N_DRAWS)
            ]
            found = {
                "anchors": [fitted.predict(scores, anchors(model, n, rng=rng))],
                "random-model": [fitted.predict(scores, one) for one in draws],
                "stratified": [_mean(scores, weights, one) for one in strata],
                "random": [_mean(scores, weights, one) for one in draws],
            }
            for method, some in found.items():
                misses[n][method].append([one - full for one in some])
    return tuple(
        Errors(n=n, misses={m: np.array(of) for m, of in some.items()}) for n, some in misses.items()
    )


def _mean(scores: Numbers, weights: Numbers, chosen: Places) -> float:
    return float(np.average(scores[chosen], weights=weights[chosen]))


def _average(replies: Replies) -> str:
    """The average of the runs where it is one over tags; otherwise all questions count alike."""
    averages = {run.plan.headline for run in replies.paired.runs}
    (found,) = averages if len(averages) == 1 else ("micro",)
    return found if macro_tag(found) else "micro"


def _groups(replies: Replies) -> list[str] | None:
    tag = macro_tag(_average(replies))
    return None if tag is None else [item.tags.get(tag, NO_VALUE) for item in replies.paired.items]


def _weights(replies: Replies) -> Numbers:
    """What each question counts in the full score, shape (n_items,); they add up to 1."""
    groups = _groups(replies) or [""] * len(replies.paired.items)
    names, sizes = np.unique(groups, return_counts=True)
    size_of = dict(zip(names.tolist(), sizes.tolist(), strict=True))
    return np.array([1 / (len(names) * size_of[one]) for one in groups], np.float64)


def chosen_subset(replies: Replies, errors: Errors, *, rng: np.random.Generator) -> Subset:
    """Anchors by all runs, with all that a prediction needs.

    Args:
        replies: of the runs.
        errors: those of subsets of this size.
        rng: where the search for anchors begins.

    Raises:
        UsageError: all questions are of one source, so that the error of sampling is not known.
    """
    if len(set(replies.paired.clusters)) < 2:
        raise UsageError(
            "all questions are of one source; expected two or more, which the interval of a prediction counts"
        )
    fitted = _Fitted(model=replies.fitted(), weights=_weights(replies))
    places, paired = anchors(fitted.model, errors.n, rng=rng), replies.paired
    samplings = [
        ClusteredMean.of(one, clusters=paired.clusters, groups=_groups(replies)).error
        for one in paired.values.T
    ]
    return Subset(
        average=_average(replies),
        n_items=len(paired.items),
        n_runs=len(paired.runs),
        error=errors.rmse("anchors"),
        sampling=float(np.mean(samplings)),
        rest=tuple(np.round(fitted.rest(places), 6).tolist()),
        anchors=tuple(
            Anchor(
                item_id=paired.items[i].item_id,
                digest=question_digest(paired.items[i]),
                weight=float(fitted.weights[i]),
                curve=tuple(np.round(fitted.model.curves[i], 5).tolist()),
            )
            for i in places
        ),
    )


def _points(errors: Errors, method: str) -> float:
    return 100 * errors.rmse(method)


def errors_table(errors: tuple[Errors, ...]) -> Table:
    """By how much each method misses the full score of a run that it has not seen."""
    return tabulate(
        "subset-errors",
        "How far off a predicted full score is",
        label="prediction from",
        rows=by_name(METHODS, METHODS),
        measures=[number(f"n:{one.n}", partial(_points, one), f"{one.n} questions") for one in errors],
        notes=(
            f"Root mean squared error in points, over {len(errors[0].misses['random'])} runs, each left out "
            f"once; of random questions over {_N_DRAWS} draws each.",
        ),
    )


def verdict(errors: Errors) -> str:
    """Whether anchors beat random questions of the same number, run by run."""
    ours, theirs = (np.sqrt((errors.misses[m] ** 2).mean(axis=1)) for m in ("anchors", "random"))
    n_better, n = int((ours < theirs).sum()), len(ours)
    gain = f"{100 * errors.rmse('anchors'):.1f} points, {100 * errors.rmse('random'):.1f} of random ones"
    if errors.rmse("anchors") < errors.rmse("random"):
        return f"{errors.n} anchors miss the full score by {gain} (nearer in {n_better} of {n} runs)."
    return f"{errors.n} anchors do not beat random questions: they miss the full score by {gain}."


# --------------------------------------------------------------------------- a run of a subset


def predicted_score(run: Run, *, level: float = 0.95) -> tuple[Subset, Estimate | None]:
    """The full score that a run of a subset predicts; None while not all of its questions have a score.

    Raises:
        DataError: the run folder has lost its subset.
    """
    subset, _ = read_subset(run.folder / SUBSET_FILE)
    scored = ScoredQuestions.of(run.rows)
    known = dict(zip((item.item_id for item in scored.items), scored.values.tolist(), strict=True))
    if any(one.item_id not in known for one in subset.anchors):
        return subset, None
    value = predicted(
        np.array([known[one.item_id] for one in subset.anchors]),
        np.array([one.curve for one in subset.anchors]),
        weights=np.array([one.weight for one in subset.anchors]),
        rest=np.array(subset.rest),
    )
    error = math.hypot(subset.error * math.sqrt(1 + 1 / subset.n_runs), subset.sampling)
    half = quantile(subset.n_runs - 1, level) * error
    return subset, Estimate(
        value=value,
        low=max(0.0, value - half),
        high=min(1.0, value + half),
        level=level,
        n=len(subset.anchors),
        n_clusters=scored.n_videos,
        method="item response; error of cross-validation over runs, and of sampling",
        dof=subset.n_runs - 1,
        clustered_by=scored.clusters.noun,
    )


def subset_tables(run: Run, *, draws: Draws) -> tuple[Table, ...]:
    """The predicted full score beside the raw one of the anchors; nothing of a run without a subset."""
    if not run.plan.subset:
        return ()
    subset, found = predicted_score(run, level=draws.level)
    return (
        tabulate(
            "subset",
            "Predicted full score",
            label="score",
            rows=lines(
                (("predicted", found), ("raw", headline_accuracy(run, draws=draws))),
                {"predicted": f"all {subset.n_items:,} questions, predicted", "raw": "the anchors alone"},
            ),
            measures=(share("accuracy", lambda one: one),),
            notes=(
                f"From {len(subset.anchors):,} anchors that {subset.n_runs} other runs chose; they alone are "
                "no fair sample of the questions.",
            ),
        ),
    )


def prediction_sentence(run: Run, *, level: float = 0.95) -> str:
    """What a run of a subset predicts of the full score."""
    subset, found = predicted_score(run, level=level)
    if found is None:
        return "The full score is predicted once every question of the subset has a score."
    return (
        f"Predicted score on all {subset.n_items:,} questions: {percent(found.value)} % ({100 * level:g} % "
        f"interval {interval_text(found)}: error of cross-validation over {subset.n_runs} other runs, and of "
        "sampling). What follows is of the anchors alone, which are no fair sample."
    )
