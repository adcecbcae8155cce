"""Question statistics over many runs: difficulty, doubtful keys, and subsets that predict the full score."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from vidence.ask.files import read_json
from vidence.engine.samples import SUBSET_FILE, Subset, question_digest, read_subset
from vidence.errors import UsageError
from vidence.records import Estimate, Item, Record
from vidence.report.pairing import PairedRuns, pair
from vidence.report.results import Run
from vidence.report.scores import NO_VALUE, Draws, ScoredQuestions, headline_accuracy, macro_tag
from vidence.statistics.intervals import ClusteredMean
from vidence.statistics.item_response import (
    DOUBTFUL,
    LEAST_RUNS,
    Numbers,
    anchors,
    calibrate,
    falling,
    predicted,
)
from vidence.statistics.resampling import mean_weights
from vidence.statistics.student import quantile
from vidence.tables.table import (
    Table,
    by_name,
    interval_text,
    lines,
    number,
    p_value,
    percent,
    several,
    share,
    tabulate,
    words,
)

_MOST_LISTED = 10
_SIMULATED = 5  # sets of replies
_N_DRAWS = 20  # of random questions, for each run that is left out
METHODS: Mapping[str, str] = {
    "anchors": "anchors by difficulty, item response",
    "random-model": "random questions, item response",
    "random": "random questions, their mean",
}
Misses: TypeAlias = Mapping[str, Numbers]
"""Prediction errors of left-out runs' full scores, by method of `METHODS`; shape (n_runs, n)."""


def paired_replies(runs: Sequence[Run], *, shared: bool = False) -> PairedRuns:
    """Pair enough runs on the same questions for question statistics; see `pairing.pair`.

    Raises:
        UsageError: fewer than `LEAST_RUNS`, or as for `pair`.
    """
    if len(runs) < LEAST_RUNS:
        raise UsageError(
            f"{several(len(runs), 'run')} given; expected {LEAST_RUNS} or more on the same questions, "
            "since fewer say too little of a question. `vidence import` makes runs of recorded replies"
        )
    return pair(runs, shared=shared)


# --------------------------------------------------------------------------- calibration


class CalibratedItem(Record):
    """A question with its estimates; `p_value` tests that right answers do not fall with ability."""

    item_id: str
    digest: str
    difficulty: Estimate
    discrimination: Estimate
    right: float
    p_value: float

    @property
    def is_doubtful(self) -> bool:
        """Whether its answer key should be checked."""
        return self.p_value < DOUBTFUL


class Calibration(Record):
    """The calibration of a set: doubtful keys first, then by decreasing difficulty.

    `runs` are the names of the calibrating runs. `false_alarms` is the share of questions with right keys
    that look doubtful in a simulation of these runs.
    """

    format: Literal["vidence-items/1"] = "vidence-items/1"
    benchmark: str
    runs: tuple[str, ...]
    items: tuple[CalibratedItem, ...]
    false_alarms: float


def calibrated(paired: PairedRuns, *, rng: np.random.Generator) -> Calibration:
    """Calibrate every question, and test its key.

    Args:
        paired: the runs, from `paired_replies`.
        rng: source of the draws of test and simulation.
    """
    model, values = calibrate(paired.values), paired.values
    p_values = falling(values, model.ability, rng=rng)
    clean = [falling(model.drawn(rng), model.ability, rng=rng) for _ in range(_SIMULATED)]
    method, n = "two-parameter logistic model", len(paired.names)
    known = partial(Estimate, level=0.95, n=n, n_clusters=1, method=method, clustered_by=paired.noun)

    def estimate(value: float, error: float) -> Estimate:
        half = quantile(math.inf, 0.95) * error
        return known(value=value, low=value - half, high=value + half)

    items = [
        CalibratedItem(
            item_id=item.item_id,
            digest=question_digest(item),
            difficulty=estimate(model.difficulty[i].item(), model.difficulty_error[i].item()),
            discrimination=estimate(model.discrimination[i].item(), model.discrimination_error[i].item()),
            right=values[i].mean().item(),
            p_value=p_values[i].item(),
        )
        for i, item in enumerate(paired.items)
    ]
    items.sort(key=lambda i: (not i.is_doubtful, i.p_value if i.is_doubtful else -i.difficulty.value))
    return Calibration(
        benchmark=paired.runs[0].plan.benchmark,
        runs=paired.names,
        items=tuple(items),
        false_alarms=float((np.array(clean) < DOUBTFUL).mean()),
    )


def read_calibration(path: Path) -> Calibration:
    """Read a calibration from a file; see `read_json`."""
    advice = "expected a file that `vidence stats calibrate RUN... --out FILE` wrote"
    return read_json(path, Calibration, advice=advice)


def doubts(calibration: Calibration, items: Sequence[Item]) -> dict[str, str]:
    """Return why the keys of some questions are doubtful, by id.

    Raises:
        UsageError: none of the questions was calibrated.
    """
    known = {(item.item_id, item.digest): item for item in calibration.items}
    same = [known[key] for i in items if (key := (i.item_id, question_digest(i))) in known]
    if not same:
        raise UsageError(
            f"none of these {len(items):,} questions is one of the {len(known):,} that were calibrated, or "
            "each has another text, choices or answer now; calibrate runs on these questions"
        )
    return {
        item.item_id: f"right answers ({percent(item.right)} %) fall as the ability of models rises (p "
        f"{item.p_value:.2g}): the key may be wrong, or the question a trap"
        for item in same
        if item.is_doubtful
    }


def sentences(calibration: Calibration) -> tuple[str, ...]:
    """Say what was calibrated, and how many keys are doubtful."""
    n, n_runs = len(calibration.items), len(calibration.runs)
    n_doubtful = sum(item.is_doubtful for item in calibration.items)
    sentences = (
        f"{several(n_doubtful, 'key')} doubtful: right answers fall as ability rises (p below {DOUBTFUL}). "
        f"Were every key right, about {calibration.false_alarms * n:.0f} would be by chance (simulated with "
        f"these runs; {DOUBTFUL * n:.0f} if ability did not matter)."
    )
    if not n_doubtful and math.comb(n_runs, n_runs // 2) * DOUBTFUL < 1:
        sentences = f"{n_runs} runs cannot make a key doubtful (p below {DOUBTFUL}) by right or wrong; 9 can."
    return f"{n:,} questions calibrated by {n_runs} runs.", sentences


def items_table(calibration: Calibration) -> Table:
    """Return a table of the doubtful keys and the hardest other questions."""
    n, n_all = sum(item.is_doubtful for item in calibration.items), len(calibration.items)
    listed = (*calibration.items[: min(n, _MOST_LISTED)], *calibration.items[n : n + _MOST_LISTED])
    return tabulate(
        "items",
        "Doubtful keys, and the hardest of the other questions",
        label="question",
        rows=lines((item.item_id, item) for item in listed),
        measures=(
            words("key", lambda item: "doubtful" if item.is_doubtful else ""),
            share("right", lambda item: item.right, note="mean of the runs"),
            number(
                "difficulty", lambda item: item.difficulty, note="log-odds of being wrong at mean ability"
            ),
            number("discrimination", lambda item: item.discrimination, note="log-odds by unit of ability"),
            p_value("p", lambda item: item.p_value, note="of right answers not falling with ability"),
        ),
        notes=(f"At most {_MOST_LISTED} of both: {n:,} keys are doubtful, and {n_all - n:,} are not.",),
    )


# --------------------------------------------------------------------------- a subset


def _average(paired: PairedRuns) -> tuple[str, list[str] | None]:
    """Return the runs' average and, for a macro average, each question's group."""
    averages = {run.plan.headline for run in paired.runs}
    tag = macro_tag(averages.pop()) if len(averages) == 1 else None
    if tag is None:
        return "micro", None
    return f"macro:{tag}", [item.group(tag) or NO_VALUE for item in paired.items]


def cross_validated(
    paired: PairedRuns, sizes: Sequence[int], *, rng: np.random.Generator
) -> dict[int, Misses]:
    """Return the errors of predicting each run from subsets chosen on the others, and from random samples.

    Args:
        paired: the runs, from `paired_replies`.
        sizes: subset sizes.
        rng: source of the random samples.

    Raises:
        UsageError: a size that is not below the number of questions.
    """
    n_items = len(paired.items)
    for n in sizes:
        if not 1 < n < n_items:
            raise UsageError(f"--n {n} of {n_items:,} questions; expected 2 to {n_items - 1:,}")
    weights, ability = mean_weights(_average(paired)[1], n_items), calibrate(paired.values).ability
    misses = {n: {method: list[list[float]]() for method in METHODS} for n in sizes}
    for left, scores in enumerate(paired.values.T):
        model = calibrate(np.delete(paired.values, left, axis=1), start=np.delete(ability, left))
        whole, true = weights @ model.curves, weights @ scores
        for n in sizes:
            draws = [rng.choice(n_items, n, replace=False) for _ in range(_N_DRAWS)]
            for method, chosen in (("anchors", [anchors(model, n)]), ("random-model", draws)):
                predicteds = [
                    predicted(scores[at], model.curves[at], weights=weights[at], whole=whole) for at in chosen
                ]
                misses[n][method].append([value - true for value in predicteds])
            means = [np.average(scores[at], weights=weights[at]) for at in draws]
            misses[n]["random"].append([float(value - true) for value in means])
    return {n: {method: np.array(of) for method, of in some.items()} for n, some in misses.items()}


def rmse(misses: Misses, method: str) -> float:
    """Return the root mean squared error of a method, in points."""
    return 100 * float(np.sqrt((misses[method] ** 2).mean()))


def chosen_subset(paired: PairedRuns, n: int, misses: Misses) -> Subset:
    """Choose anchors on all runs, with the data for a prediction.

    Args:
        paired: the runs, from `paired_replies`.
        n: how many.
        misses: errors of subsets of this size.

    Raises:
        UsageError: all questions are from one source, so the sampling error is unknown.
    """
    if len(set(paired.clusters)) < 2:
        raise UsageError(
            "all questions are of one source; expected two or more, which the interval of a prediction counts"
        )
    model, (average, groups) = calibrate(paired.values), _average(paired)
    weights, chosen = mean_weights(groups, len(paired.items)), anchors(model, n)
    means = [ClusteredMean.of(entry, clusters=paired.clusters, groups=groups) for entry in paired.values.T]
    return Subset(
        average=average,
        n_items=len(paired.items),
        n_runs=len(paired.runs),
        error=rmse(misses, "anchors") / 100,
        sampling=float(np.mean([mean.error for mean in means])),
        whole=tuple(np.round(weights @ model.curves, 6).tolist()),
        digests={item.item_id: question_digest(item) for item in (paired.items[i] for i in chosen)},
        weights=tuple(weights[chosen].tolist()),
        curves=tuple(map(tuple, np.round(model.curves[chosen], 5).tolist())),
    )


def errors_table(errors: Mapping[int, Misses]) -> Table:
    """Return a table of each method's error on left-out runs."""
    return tabulate(
        "subset-errors",
        "How far off a predicted full score is",
        label="prediction from",
        rows=by_name(METHODS, METHODS),
        measures=[number(f"n:{n}", partial(rmse, misses), f"{n} questions") for n, misses in errors.items()],
        notes=(
            "Root mean squared error in points, each run left out once; of random questions over "
            f"{_N_DRAWS} draws each.",
        ),
    )


def verdict(n: int, misses: Misses) -> str:
    """Say whether anchors beat random questions, and for how many runs they beat most draws."""
    ours, theirs = (np.median(np.abs(misses[method]), axis=1) for method in ("anchors", "random"))
    error, of_random = rmse(misses, "anchors"), rmse(misses, "random")
    gain = f"{error:.1f} points, random ones by {of_random:.1f}"
    if error >= of_random:
        return f"{n} anchors do not beat random questions: they miss the full score by {gain}."
    return (
        f"{n} anchors miss the full score by {gain}; for {(ours < theirs).sum()} of {len(ours)} runs they "
        "are nearer than half of the random draws."
    )


# --------------------------------------------------------------------------- a run of a subset


def predicted_score(run: Run, *, level: float = 0.95) -> tuple[Subset, Estimate | None]:
    """Return the full score that a run of a subset predicts; None until all its questions are scored.

    Raises:
        DataError: the run folder has lost its subset.
    """
    subset = read_subset(run.folder / SUBSET_FILE)
    scored = ScoredQuestions.of(run.rows)
    known = dict(zip((item.item_id for item in scored.items), scored.values.tolist(), strict=True))
    if not subset.digests.keys() <= known.keys():
        return subset, None
    scores = np.array([known[item_id] for item_id in subset.digests])
    weights, whole = np.array(subset.weights), np.array(subset.whole)
    value = predicted(scores, np.array(subset.curves), weights=weights, whole=whole)
    error = math.hypot(subset.error * math.sqrt(1 + 1 / subset.n_runs), subset.sampling)
    half = quantile(subset.n_runs - 1, level) * error
    return subset, Estimate(
        value=value,
        low=max(0.0, value - half),
        high=min(1.0, value + half),
        level=level,
        n=len(scores),
        n_clusters=scored.n_videos,
        method="item response; error of cross-validation over runs, and of sampling",
        dof=subset.n_runs - 1,
        clustered_by=scored.clusters.noun,
    )


def subset_tables(run: Run, *, draws: Draws) -> tuple[Table, ...]:
    """Return the predicted full score and the anchors' raw score; empty for a run without a subset."""
    if not run.plan.subset:
        return ()
    subset, estimate = predicted_score(run, level=draws.level)
    raw = f"the {len(subset.digests):,} anchors that {subset.n_runs} other runs chose, alone"
    labels = {"predicted": f"all {subset.n_items:,} questions, predicted", "raw": raw}
    rows = lines((("predicted", estimate), ("raw", headline_accuracy(run, draws=draws))), labels)
    measures = (share("accuracy", lambda entry: entry),)
    return (tabulate("subset", "Predicted full score", label="score", rows=rows, measures=measures),)


def prediction_sentence(run: Run, *, level: float = 0.95) -> str:
    """Describe the predicted full score."""
    subset, estimate = predicted_score(run, level=level)
    if estimate is None:
        return "The full score is predicted once every question of the subset has a score."
    return (
        f"Predicted score on all {subset.n_items:,} questions: {percent(estimate.value)} % ({100 * level:g} "
        f"% interval {interval_text(estimate)}: error of cross-validation over {subset.n_runs} other runs, "
        "and of sampling). What follows is of the anchors alone, which are not a representative sample."
    )
