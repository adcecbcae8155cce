"""Few questions that predict the score on all: which, how far off they are, what they predict."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.engine.samples import SUBSET_FILE, Anchor, Subset, question_digest, read_subset
from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.report.pairing import PairedRuns
from vidence.report.results import Run
from vidence.report.scores import NO_VALUE, Draws, ScoredQuestions, headline_accuracy, macro_tag
from vidence.statistics.intervals import ClusteredMean, quantile
from vidence.statistics.item_response import ItemResponse, Numbers, anchors, calibrate, predicted
from vidence.tables.table import Table, by_name, interval_text, lines, number, percent, share, tabulate

Places: TypeAlias = NDArray[np.intp]
METHODS: Mapping[str, str] = {
    "anchors": "anchors by difficulty, item response",
    "random-model": "random questions, item response",
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

    def points(self, method: str) -> float:
        """`rmse` in points."""
        return 100 * self.rmse(method)


def cross_validated(
    paired: PairedRuns, sizes: tuple[int, ...], *, rng: np.random.Generator
) -> tuple[Errors, ...]:
    """The errors of predictions of each run from subsets that the others chose, and of plain samples.

    Args:
        paired: the runs, of `paired_replies`.
        sizes: how many questions a subset has.
        rng: where random questions come from.

    Raises:
        UsageError: a size that is not below the number of questions.
    """
    n_items, n_runs = paired.values.shape
    for n in sizes:
        if not 1 < n < n_items:
            raise UsageError(f"--n {n} of {n_items:,} questions; expected 2 to {n_items - 1:,}")
    weights, ability = _weights(paired), calibrate(paired.values).ability
    misses = {n: {method: list[list[float]]() for method in METHODS} for n in sizes}
    for left, scores in enumerate(paired.values.T):
        kept = np.delete(np.arange(n_runs), left)
        model = calibrate(paired.values[:, kept], start=ability[kept])

        def predict(chosen: Places, model: ItemResponse = model, scores: Numbers = scores) -> float:
            return predicted(
                scores[chosen],
                model.curves[chosen],
                weights=weights[chosen],
                rest=_rest(model, weights, chosen),
            )

        for n in sizes:
            draws = [rng.choice(n_items, n, replace=False) for _ in range(_N_DRAWS)]
            found = {
                "anchors": [predict(anchors(model, n))],
                "random-model": [predict(one) for one in draws],
                "random": [float(np.average(scores[one], weights=weights[one])) for one in draws],
            }
            for method, some in found.items():
                misses[n][method].append([one - float(weights @ scores) for one in some])
    return tuple(
        Errors(n=n, misses={m: np.array(of) for m, of in some.items()}) for n, some in misses.items()
    )


def _rest(model: ItemResponse, weights: Numbers, chosen: Places) -> Numbers:
    """The weighted curves of all other questions, added up."""
    return np.asarray(weights @ model.curves - weights[chosen] @ model.curves[chosen], np.float64)


def _average(paired: PairedRuns) -> str:
    """The average of the runs where it is one over tags; otherwise all questions count alike."""
    averages = {run.plan.headline for run in paired.runs}
    (found,) = averages if len(averages) == 1 else ("micro",)
    return found if macro_tag(found) else "micro"


def _groups(paired: PairedRuns) -> list[str]:
    """The group of each question, of which each counts alike; one for an average over questions."""
    tag = macro_tag(_average(paired))
    return [item.tags.get(tag, NO_VALUE) if tag else "" for item in paired.items]


def _weights(paired: PairedRuns) -> Numbers:
    """What each question counts in the full score, shape (n_items,); they add up to 1."""
    names, codes, sizes = np.unique(_groups(paired), return_inverse=True, return_counts=True)
    return np.asarray(1 / (len(names) * sizes[codes]), np.float64)


def chosen_subset(paired: PairedRuns, errors: Errors) -> Subset:
    """Anchors by all runs, with all that a prediction needs.

    Args:
        paired: the runs, of `paired_replies`.
        errors: those of subsets of this size.

    Raises:
        UsageError: all questions are of one source, so that the error of sampling is not known.
    """
    if len(set(paired.clusters)) < 2:
        raise UsageError(
            "all questions are of one source; expected two or more, which the interval of a prediction counts"
        )
    model, weights, groups = calibrate(paired.values), _weights(paired), _groups(paired)
    chosen = anchors(model, errors.n)
    means = [ClusteredMean.of(one, clusters=paired.clusters, groups=groups) for one in paired.values.T]
    return Subset(
        average=_average(paired),
        n_items=len(paired.items),
        n_runs=len(paired.runs),
        error=errors.rmse("anchors"),
        sampling=float(np.mean([one.error for one in means])),
        rest=tuple(np.round(_rest(model, weights, chosen), 6).tolist()),
        anchors=tuple(
            Anchor(
                item_id=paired.items[i].item_id,
                digest=question_digest(paired.items[i]),
                weight=float(weights[i]),
                curve=tuple(np.round(model.curves[i], 5).tolist()),
            )
            for i in chosen
        ),
    )


def errors_table(errors: tuple[Errors, ...]) -> Table:
    """By how much each method misses the full score of a run that it has not seen."""
    return tabulate(
        "subset-errors",
        "How far off a predicted full score is",
        label="prediction from",
        rows=by_name(METHODS, METHODS),
        measures=[number(f"n:{one.n}", one.points, f"{one.n} questions") for one in errors],
        notes=(
            f"Root mean squared error in points, over {len(errors[0].misses['random'])} runs, each left out "
            f"once; of random questions over {_N_DRAWS} draws each.",
        ),
    )


def verdict(errors: Errors) -> str:
    """Whether anchors beat random questions of the same number, and for how many runs most draws of these."""
    ours, theirs = (np.median(np.abs(errors.misses[m]), axis=1) for m in ("anchors", "random"))
    n_better, n = int((ours < theirs).sum()), len(ours)
    gain = f"{errors.points('anchors'):.1f} points, random ones by {errors.points('random'):.1f}"
    if errors.rmse("anchors") < errors.rmse("random"):
        return (
            f"{errors.n} anchors miss the full score by {gain}; for {n_better} of {n} runs they are "
            "nearer than half of the random draws."
        )
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
