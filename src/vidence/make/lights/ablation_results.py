"""What came of an ablation: accuracy at each level with its interval, and the difference to the base."""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from vidence.errors import DataError, UsageError
from vidence.make.lights.ablation_config import (
    BASE,
    AblationConfig,
    Condition,
    conditions,
    spec_under,
    title_of,
    words_of,
)
from vidence.make.lights.ablation_stimuli import Cast
from vidence.pointlight.observer import Viewing, observed_accuracy, template
from vidence.records import Estimate, Record
from vidence.report.headline import guesses_of
from vidence.report.results import Run, load_run
from vidence.statistics.intervals import mean_interval, proportion
from vidence.statistics.paired import compare, holm
from vidence.tables.findings import Chart, Entry, Heading, Point, Series, Sheet, Statement

# Two bounds of the ideal observer, by what it adds to the jitter of the display (see `pointlight.observer`).
_LABELLED, _ALIKE = "observer, dots told apart", "observer, dots alike"


class Measured(Record, kw_only=True):
    """One model in one condition. `difference` is to the base on the same questions, None in the base.

    `p_value` is adjusted by Holm's method over all conditions of the model. `n_guessed` counts the answers of
    which the model itself says that they are guesses.
    """

    model: str
    factor: str
    level: str
    place: float
    condition: str
    accuracy: Estimate
    difference: Estimate | None = None
    p_value: float | None = None
    n_guessed: int = 0


@dataclass(frozen=True, kw_only=True)
class Ablated:
    """All that was measured, in the order of the configuration; `chance` is that of guessing."""

    config: AblationConfig
    measured: tuple[Measured, ...]
    observed: tuple[Measured, ...]
    chance: float
    n_clips: int
    notes: tuple[str, ...]


def run_folder(out: Path, model: str, condition: Condition) -> Path:
    """Where the run of a model in a condition lies: its name, and what tells it from others like it."""
    digest = hashlib.sha256(model.encode()).hexdigest()[:8]
    name = re.sub(r"[^A-Za-z0-9.]+", "-", model)[:40].strip("-.")
    return out / "runs" / f"{name}-{digest}" / condition.name


def measured(config: AblationConfig, out: Path) -> tuple[list[Measured], float, int]:
    """The accuracy of every model in every condition.

    Clips are the clusters. Where there is one question for each clip the interval is Wilson's, otherwise that
    of the cluster bootstrap.

    Returns:
        What was measured, chance, and the number of clips in the base.

    Raises:
        StoreError: a run is not there.
        UsageError: a run in which nothing was asked.
    """
    found: list[Measured] = []
    chance, n_clips = math.nan, 0
    for model in config.ask.models:
        base = _run(out, model, BASE)
        chance = _chance(base)
        n_clips = len({row.item.video_id for row in base.rows})
        ours = [
            _one(config, model, c, base=base, run=base if c.name == BASE.name else _run(out, model, c))
            for _, some in conditions(config)
            for c in some
        ]
        found += _adjusted(ours)
    return found, chance, n_clips


def _run(out: Path, model: str, condition: Condition) -> Run:
    return load_run(run_folder(out, model, condition))


def _one(config: AblationConfig, model: str, condition: Condition, *, base: Run, run: Run) -> Measured:
    rng = np.random.default_rng(config.seed)
    values = _values(run)
    difference, p_value = None, None
    if run is not base:
        before = _values(base)
        shared = [key for key in values if key in before]
        if shared:
            paired = compare(
                [values[key][0] for key in shared],
                [before[key][0] for key in shared],
                clusters=[values[key][1] for key in shared],
                rng=rng,
            )
            difference, p_value = paired.difference, paired.p_value
    return Measured(
        model=model,
        factor=condition.factor,
        level=condition.level,
        place=condition.place,
        condition=condition.name,
        accuracy=_accuracy(values, rng=rng),
        difference=difference,
        p_value=p_value,
        n_guessed=sum(guesses_of(run)),
    )


def guess_notes(found: Sequence[Measured]) -> tuple[str, ...]:
    """For each model that guessed, where and how often, by its own word."""
    notes = []
    for model in dict.fromkeys(one.model for one in found):
        ours = {one.condition: one for one in found if one.model == model}
        n_guessed, n = sum(o.n_guessed for o in ours.values()), sum(o.accuracy.n for o in ours.values())
        if n_guessed:
            most = max(ours.values(), key=lambda one: one.n_guessed)
            notes.append(
                f"{model} guessed in {n_guessed:,} of {n:,} answers, as it says itself; most in "
                f"{most.condition} ({most.n_guessed} of {most.accuracy.n})"
            )
    return tuple(notes)


def _values(run: Run) -> dict[tuple[str, int], tuple[float, str]]:
    """For each question and repeat its mark and its clip."""
    return {
        (row.item.item_id, row.trial.repeat): (row.correct, row.item.video_id)
        for row in run.rows
        if row.correct is not None
    }


def _accuracy(values: Mapping[tuple[str, int], tuple[float, str]], *, rng: np.random.Generator) -> Estimate:
    if not values:
        raise UsageError("nothing was marked in a run of the ablation; ask the same command again")
    marks, clips = zip(*values.values(), strict=True)
    if len(set(clips)) == len(clips) and set(marks) <= {0.0, 1.0}:
        return proportion(int(sum(marks)), len(marks))
    return mean_interval(marks, clusters=clips, rng=rng)


def _chance(run: Run) -> float:
    shares = [1 / len(row.item.choices) for row in run.rows if row.item.choices]
    return math.fsum(shares) / len(shares) if shares else math.nan


def _adjusted(found: Sequence[Measured]) -> list[Measured]:
    """The p-values of one model, adjusted for how many there are."""
    p_values = [one.p_value for one in found if one.p_value is not None]
    if not p_values:
        return list(found)
    adjusted = iter(holm(p_values))
    return [
        one if one.p_value is None else msgspec.structs.replace(one, p_value=next(adjusted)) for one in found
    ]


def observed(config: AblationConfig, cast: Cast) -> tuple[list[Measured], list[str]]:
    """What the ideal observer makes of every condition, and where it does not apply, and why.

    The observer knows the clips of a condition exactly: view, scrambling, inversion and rate are no obstacle.
    """
    made: list[Measured] = []
    notes: list[str] = []
    if config.observer.n_trials == 0:
        return made, notes
    kept: dict[str, dict[str, Estimate]] = {}
    for _, some in conditions(config):
        for condition in some:
            if condition.name not in kept:
                try:
                    kept[condition.name] = _observe(config, cast, condition)
                except (UsageError, DataError) as error:
                    notes.append(f"no ideal observer for {condition.name}: {error}")
                    continue
            for name, estimate in kept[condition.name].items():
                made.append(
                    Measured(
                        model=name,
                        factor=condition.factor,
                        level=condition.level,
                        place=condition.place,
                        condition=condition.name,
                        accuracy=estimate,
                    )
                )
    return made, notes


def _observe(config: AblationConfig, cast: Cast, condition: Condition) -> dict[str, Estimate]:
    spec = spec_under(config, condition)
    if spec.life_frames > 0 or spec.dropout > 0:
        raise UsageError("dots that come and go are not modelled")
    if config.ask.split != "label":
        raise UsageError(f"it is asked for labels, and the split is {config.ask.split}")
    # Which dots a clip keeps must not tell which clip it is: the observer sees some, drawn in each trial.
    whole = msgspec.structs.replace(condition, n_dots=None)
    stimuli = [cast.stimulus(clip, whole, undisturbed=True) for clip in cast.clips]
    wanted = config.ask.n_frames if condition.n_frames is None else condition.n_frames
    n_frames = min(wanted, *(s.n_frames for s in stimuli))
    found: dict[str, Estimate] = {}
    for sd_px in config.observer.sd_px:
        known = [
            template(s, label=c.label, group=c.group, jitter_m=spec.jitter_m, own_sd_px=sd_px)
            for s, c in zip(stimuli, cast.clips, strict=True)
        ]
        for name, is_labelled in ((_LABELLED, True), (_ALIKE, False)):
            viewing = Viewing(
                n_frames=n_frames,
                n_dots=condition.n_dots,
                n_noise=spec.n_noise,
                width_px=spec.width_px,
                height_px=spec.height_px,
                is_labelled=is_labelled,
                n_trials=config.observer.n_trials,
            )
            rng = np.random.default_rng(config.seed)
            found[f"{name}, {sd_px:g} px"] = observed_accuracy(known, viewing, rng=rng)
    return found


def statements(ablated: Ablated) -> tuple[Statement, ...]:
    """A sheet of everything, and curves for each factor."""
    everything = [*ablated.measured, *ablated.observed]
    # Of the two bounds the lower one is drawn; both stand in the files.
    names = dict.fromkeys(one.model for one in everything)
    models = [name for name in names if not name.startswith(_LABELLED)]
    said: list[Statement] = [_base_sheet(ablated)]
    for factor, some in conditions(ablated.config):
        curves = []
        for model in models:
            points = [
                Point(x=one.place, y=one.accuracy)
                for one in sorted(everything, key=lambda m: m.place)
                if one.model == model and one.factor == factor
            ]
            if points:
                curves.append(Series(label=model, points=tuple(points)))
        title = title_of(factor)
        said.append(
            Chart(
                name=factor,
                title=f"Accuracy by {title}",
                x_title=title,
                y_title="accuracy",
                series=tuple(curves),
                y_marks=((ablated.chance, "chance"),),
                x_labels=tuple((c.place, words_of(c)) for c in some),
            )
        )
        said.append(_differences(ablated, some))
    return tuple(said)


def _base_sheet(ablated: Ablated) -> Sheet:
    first = {one.model: one for one in (*ablated.measured, *ablated.observed) if one.condition == BASE.name}
    return Sheet(
        name="base",
        title="Without any manipulation",
        label="who",
        headings=(Heading(key="accuracy", title="accuracy", is_share=True),),
        entries=tuple(
            Entry(key=f"model:{i}", label=one.model, values=(one.accuracy,))
            for i, one in enumerate(first.values())
        ),
        note=f"{ablated.n_clips} clips; chance is {100 * ablated.chance:.1f} %.",
    )


def _differences(ablated: Ablated, some: Sequence[Condition]) -> Sheet:
    factor, words = some[0].factor, {c.level: words_of(c) for c in some}
    ours = [one for one in ablated.measured if one.factor == factor]
    return Sheet(
        name=f"{factor}-differences",
        title=f"What {title_of(factor)} changes",
        label="model, level",
        headings=(
            Heading(key="accuracy", title="accuracy", is_share=True),
            Heading(key="difference", title="less the base", is_share=True),
            Heading(key="p", title="p, adjusted", is_p=True),
        ),
        entries=tuple(
            Entry(
                key=f"{i}",
                label=f"{one.model}, {words[one.level]}",
                values=(one.accuracy, one.difference, one.p_value),
            )
            for i, one in enumerate(ours)
        ),
        note="On the same questions about the same clips; clips are drawn or swapped together, p-values are "
        "adjusted by Holm's method over all conditions of a model.",
    )
