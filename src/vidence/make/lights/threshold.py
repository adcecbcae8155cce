"""Thresholds of observers: from runs over all levels, or from a staircase; tables, a page, files."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from vidence.engine.in_turn import Turns
from vidence.make.lights.ablation_config import folder_name, title_of
from vidence.make.lights.threshold_config import (
    N_CHOICES,
    ThresholdConfig,
    curve_of,
    setting_of,
)
from vidence.media.whole import write_file
from vidence.records import Estimate, Failed, Item, Record, Trial
from vidence.report.results import load_run
from vidence.statistics.detection import Detected, choose, detect
from vidence.statistics.intervals import mean_interval
from vidence.statistics.power import USUAL_ICC, Design
from vidence.statistics.psychometrics import Fitted, LevelCounts, fit, fit_counts, flatness, told
from vidence.statistics.resampling import Resampling
from vidence.statistics.staircase import QuestPlus
from vidence.tables.charts import Chart, Point, Series, Statement
from vidence.tables.export import csv_text
from vidence.tables.rendering import render
from vidence.tables.table import Column, Row, Table

JSON_FORMAT = "vidence-threshold/1"
N_SIMULATED = 400
_COLUMNS = (
    *("observer", "task", "setting", "method", "proportion", "n", "n_failed", "n_sources"),
    *("threshold", "threshold_low", "threshold_high", "slope", "slope_low", "slope_high"),
    *("lapse", "lapse_low", "lapse_high", "deviance", "p_fit", "p_flat", "reason"),
)
_LEVEL_COLUMNS = (
    *("observer", "level", "n", "right", "right_low", "right_high"),
    *("d_prime", "d_prime_low", "d_prime_high", "criterion", "criterion_low", "criterion_high"),
)


class LevelAnswer(Record):
    """One answer: the level of the question, whether there was a signal ("yes" is right), and the mark."""

    item_id: str
    level: float
    source: str
    is_right: bool
    is_signal: bool


class AtLevel(Record):
    """What an observer did at one level; `detected` is None where one kind of trials is lacking."""

    level: float
    right: Estimate
    detected: Detected | None


class Step(Record):
    """One answer of a staircase, and the threshold after it."""

    n: int
    level: float
    is_right: bool
    threshold: Estimate


class ObserverThreshold(Record):
    """The threshold of one observer.

    `slope` is that of F at its location, per unit of its scale. `fitted` is None for a staircase, whose
    estimates are those of the posterior; `steps` is empty for constant stimuli. `n_failed` questions got no
    answer and count nowhere.
    """

    observer: str
    threshold: Estimate
    slope: Estimate
    lapse: Estimate
    levels: tuple[AtLevel, ...]
    n_failed: int
    fitted: Fitted | None = None
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """All that was found, in the order of the configuration."""

    config: ThresholdConfig
    found: tuple[ObserverThreshold, ...]
    notes: tuple[str, ...]


def run_folder(out: Path, config: ThresholdConfig, observer: str) -> Path:
    """Where the run of an observer lies; a staircase and constant stimuli have the same questions."""
    return out / "runs" / config.method.kind / folder_name(observer)


def precision(config: ThresholdConfig, sources: Sequence[str], *, rng: np.random.Generator) -> str:
    """How exactly a threshold would be known, in words; said before anything is asked.

    For an observer whose threshold lies in the middle of the levels, whose function is half as wide as their
    range, and who lapses in 2 % of trials at most: the middle 95 % of the thresholds of simulated observers.
    """
    curve, levels = curve_of(config), np.asarray(config.vary.levels, np.float64)
    places = curve.scaled(levels)
    known = np.sort(places[np.isfinite(places)])
    lapse, width = min(0.02, curve.most_lapses), float(known[-1] - known[0]) / 2
    middle = float(known[0] + known[-1]) / 2
    chance = curve.right(levels, location=middle, width=width, lapse=lapse)
    truth = float(curve.threshold(config.proportion, location=middle, width=width, lapse=lapse))
    if config.method.kind == "staircase":
        n = min(config.method.n_trials, len(sources) * len(levels))
        per_level = n / len(levels)
        how = f"{n} questions, as if spread over {len(levels)} levels; a staircase is not worse"
    else:
        per_level = float(len(sources))
        how = f"{len(sources)} questions at each of {len(levels)} levels"
        if 2 <= len(set(sources)) < len(sources):
            per_level /= Design.of(sources, icc=USUAL_ICC).design_effect
    n_each = np.full((N_SIMULATED, len(levels)), max(1, round(per_level)))
    right = rng.binomial(n_each, np.clip(chance, 0, 1)).astype(np.float64)
    found = fit_counts(curve, LevelCounts(levels=levels, right=right, n=n_each.astype(np.float64)))
    drawn = curve.threshold(config.proportion, location=found.location, width=found.width, lapse=found.lapse)
    low, high = np.quantile(drawn[np.isfinite(drawn)], [0.025, 0.975])
    return (
        f"a threshold of {truth:.3g} would be found between {low:.3g} and {high:.3g} in 95 of 100 such "
        f"experiments ({how}; {title_of(setting_of(config))}, {len(set(sources))} sources of motions)"
    )


# --------------------------------------------------------------------------- answers


def answers(trials: Sequence[tuple[Item, Trial]]) -> tuple[tuple[LevelAnswer, ...], int]:
    """The answers of a run, and how many questions have none; what could not be read counts as wrong."""
    seen, n_failed = [], 0
    for item, trial in trials:
        if isinstance(trial.score.outcome, Failed):
            n_failed += 1
            continue
        seen.append(
            LevelAnswer(
                item_id=item.item_id,
                level=float(item.tags["level"]),
                source=item.source_id,
                is_right=trial.score.value == 1.0,
                is_signal=item.answer == "A",
            )
        )
    return tuple(seen), n_failed


def at_levels(
    seen: Sequence[LevelAnswer], config: ThresholdConfig, *, rng: np.random.Generator
) -> tuple[AtLevel, ...]:
    """For each level that was asked the share of right answers, d' and the criterion."""
    settings = Resampling(n_boot=config.method.n_boot)
    made = []
    for level in sorted({one.level for one in seen}):
        ours = [one for one in seen if one.level == level]
        sources, marks = [one.source for one in ours], [float(one.is_right) for one in ours]
        detected = None
        if config.task == "identify":
            detected = choose(marks, N_CHOICES[config.task], clusters=sources, rng=rng, settings=settings)
        elif len({one.is_signal for one in ours}) == 2:
            detected = detect(
                [float(one.is_right == one.is_signal) for one in ours],
                [float(one.is_signal) for one in ours],
                clusters=sources,
                rng=rng,
                settings=settings,
            )
        made.append(AtLevel(level=level, right=mean_interval(marks, clusters=sources), detected=detected))
    return tuple(made)


def constant(
    config: ThresholdConfig, observer: str, folder: Path, *, rng: np.random.Generator
) -> ObserverThreshold:
    """The threshold of an observer from the run over all levels in a folder.

    Raises:
        StoreError: the run is not there.
        UsageError: fewer than three levels have answers.
    """
    run = load_run(folder)
    seen, n_failed = answers([(row.item, row.trial) for row in run.rows])
    fitted = fit(
        [one.level for one in seen],
        [float(one.is_right) for one in seen],
        curve=curve_of(config),
        proportion=config.proportion,
        clusters=[one.source for one in seen],
        rng=rng,
        settings=Resampling(n_boot=config.method.n_boot),
    )
    return ObserverThreshold(
        observer=observer,
        threshold=fitted.threshold,
        slope=fitted.slope,
        lapse=fitted.lapse,
        levels=at_levels(seen, config, rng=rng),
        n_failed=n_failed,
        fitted=fitted,
    )


def staircase(
    config: ThresholdConfig, observer: str, questions: Mapping[str, Item], *, rng: np.random.Generator
) -> Turns[ObserverThreshold]:
    """Asks at the level that tells most, of the questions that were not asked yet; returns the threshold.

    The order of the questions at a level is drawn. A question without an answer is left out.

    Raises:
        UsageError: no question was answered.
    """
    by_level = _orders(questions, rng=rng)
    levels = sorted(by_level)
    quest = QuestPlus(curve_of(config), levels)
    trials: list[tuple[Item, Trial]] = []
    steps: list[Step] = []
    while quest.n_answers < config.method.n_trials and any(by_level.values()):
        at = quest.next_level([bool(by_level[level]) for level in levels])
        item = by_level[levels[at]].pop()
        trial = yield item.item_id
        trials.append((item, trial))
        if isinstance(trial.score.outcome, Failed):
            continue
        is_right = trial.score.value == 1.0
        quest.add(at, is_right=is_right)
        now = quest.threshold(config.proportion)
        steps.append(Step(n=quest.n_answers, level=levels[at], is_right=is_right, threshold=now))
    return _posterior(config, observer, quest, trials=trials, steps=steps, rng=rng)


def _orders(questions: Mapping[str, Item], *, rng: np.random.Generator) -> dict[float, list[Item]]:
    """For each level its questions in an order that is drawn."""
    made: dict[float, list[Item]] = {}
    names = sorted(questions)
    for at in rng.permutation(len(names)):
        item = questions[names[at]]
        made.setdefault(float(item.tags["level"]), []).append(item)
    return made


def _posterior(
    config: ThresholdConfig,
    observer: str,
    quest: QuestPlus,
    *,
    trials: Sequence[tuple[Item, Trial]],
    steps: Sequence[Step],
    rng: np.random.Generator,
) -> ObserverThreshold:
    seen, n_failed = answers(trials)
    curve, levels = quest.curve, quest.levels
    n = np.array([sum(one.level == level for one in seen) for level in levels], np.float64)
    right = np.array(
        [sum(one.is_right for one in seen if one.level == level) for level in levels], np.float64
    )
    found, lapse = quest.threshold(config.proportion), quest.figure("lapse")
    p_flat = flatness(curve, LevelCounts(levels=levels, right=right, n=n))
    width = quest.figure("width")
    middle = float(curve.steepness(np.zeros(1))[0]) * (-1 if curve.is_falling else 1)
    ends = sorted((middle / width.low, middle / width.high))
    slope = msgspec.structs.replace(width, value=middle / width.value, low=ends[0], high=ends[1])
    return ObserverThreshold(
        observer=observer,
        threshold=told(found, levels, p_flat=p_flat, level=found.level, best=1 - lapse.value),
        slope=msgspec.structs.replace(slope, method=slope.method.replace("width", "slope", 1)),
        lapse=lapse,
        levels=at_levels(seen, config, rng=rng),
        n_failed=n_failed,
        steps=tuple(steps),
    )


# --------------------------------------------------------------------------- what is said


def statements(thresholds: Thresholds) -> tuple[Statement, ...]:
    """The table of thresholds, the shares of right answers by level, d' by level, courses of staircases."""
    return tuple(_statements(thresholds))


def _statements(thresholds: Thresholds) -> Iterator[Statement]:
    config, found = thresholds.config, thresholds.found
    title, guess = title_of(setting_of(config)), 1 / N_CHOICES[config.task]
    yield _table(thresholds)
    yield Chart(
        name="right",
        title=f"Right answers by {title}",
        x_title=title,
        y_title="right",
        series=tuple(
            Series(label=one.observer, points=tuple(Point(x=a.level, y=a.right) for a in one.levels))
            for one in found
        ),
        y_marks=((guess, "guessing"), (config.proportion, "threshold")),
        marks=tuple(
            (one.threshold.value, one.observer) for one in found if math.isfinite(one.threshold.value)
        ),
    )
    for name, words in (("d_prime", "d'"), ("criterion", "criterion")):
        points = {
            one.observer: tuple(
                Point(x=a.level, y=getattr(a.detected, name)) for a in one.levels if a.detected is not None
            )
            for one in found
        }
        if config.task == "identify" and name == "criterion":
            continue
        yield Chart(
            name=name,
            title=f"{words} by {title}",
            x_title=title,
            y_title=words,
            is_share=False,
            series=tuple(Series(label=label, points=own) for label, own in points.items() if own),
            y_marks=((0.0, "none"),),
        )
    stairs = [one for one in found if one.steps]
    if stairs:
        yield Chart(
            name="course",
            title="The threshold after each answer",
            x_title="answers",
            y_title=title,
            is_share=False,
            series=tuple(
                Series(
                    label=one.observer,
                    points=tuple(Point(x=float(s.n), y=s.threshold) for s in one.steps),
                )
                for one in stairs
            ),
        )


def _table(thresholds: Thresholds) -> Table:
    config = thresholds.config
    return Table(
        name="thresholds",
        title=f"Thresholds: {title_of(setting_of(config))} at which "
        f"{100 * config.proportion:.0f} % are right",
        label="who",
        columns=(
            Column(key="threshold", title="threshold"),
            Column(key="slope", title="slope of F"),
            Column(key="lapse", title="lapses", kind="share"),
            Column(key="p_fit", title="p of the fit", kind="p"),
            Column(key="n", title="answers", kind="count"),
        ),
        rows=tuple(
            Row(
                key=f"observer:{i}",
                label=one.observer,
                detail=one.threshold.reason,
                values=(
                    one.threshold if math.isfinite(one.threshold.value) else None,
                    one.slope,
                    one.lapse,
                    None if one.fitted is None else one.fitted.p_fit,
                    sum(a.right.n for a in one.levels),
                ),
            )
            for i, one in enumerate(thresholds.found)
        ),
        note="Intervals of 95 %: between quantiles of the posterior."
        if config.method.kind == "staircase"
        else "Intervals of 95 %, with sources of motions as clusters; a small p speaks against the fit.",
    )


def write_files(thresholds: Thresholds, out: Path) -> tuple[Path, ...]:
    """Write ``threshold.csv``, ``levels.csv``, ``threshold.json`` and ``threshold.html``.

    Raises:
        StoreError: a file cannot be written.
    """
    config, found = thresholds.config, thresholds.found
    whole = {"format": JSON_FORMAT, "config": config, "notes": thresholds.notes, "found": found}
    page = render(
        "diagnosis.html.j2",
        eyebrow="vidence threshold",
        title=f"{title_of(setting_of(config)).capitalize()}: {config.task}, {config.method.kind}",
        sentences=thresholds.notes,
        statements=statements(thresholds),
        facts=(("Configuration", config),),
    )
    contents = {
        "threshold.csv": csv_text([_COLUMNS, *(_line(config, one) for one in found)]).encode(),
        "levels.csv": csv_text(
            [_LEVEL_COLUMNS, *(_level_line(one, a) for one in found for a in one.levels)]
        ).encode(),
        "threshold.json": msgspec.json.encode(whole) + b"\n",
        "threshold.html": page.encode(),
    }
    for name, content in contents.items():
        write_file(out / name, content)
    return tuple(out / name for name in contents)


def _line(config: ThresholdConfig, one: ObserverThreshold) -> tuple[str | float | None, ...]:
    fitted = one.fitted
    return (
        *(one.observer, config.task, setting_of(config), config.method.kind, config.proportion),
        *(sum(a.right.n for a in one.levels), one.n_failed, one.threshold.n_clusters),
        *(*_cells(one.threshold), *_cells(one.slope), *_cells(one.lapse)),
        *((None,) * 3 if fitted is None else (fitted.deviance, fitted.p_fit, fitted.p_flat)),
        one.threshold.reason,
    )


def _level_line(one: ObserverThreshold, at: AtLevel) -> tuple[str | float | None, ...]:
    both = (None, None) if at.detected is None else (at.detected.d_prime, at.detected.criterion)
    more = [cell for estimate in both for cell in _cells(estimate)]
    return (one.observer, at.level, at.right.n, *_cells(at.right), *more)


def _cells(estimate: Estimate | None) -> list[float | None]:
    """A value and its interval; None where there is none."""
    values = (math.nan,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)
    return [None if math.isnan(x) else x for x in values]
