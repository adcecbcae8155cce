"""Measure an ablation: accuracy at each level with its interval, differences to the base, files."""

import math
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec
import numpy as np

from vidence.errors import DataError, UsageError
from vidence.make.lights.ablation_clips import AblationTrial, StimulusSet, sources_of_shown
from vidence.make.lights.ablation_config import (
    BASE,
    AblationConfig,
    Condition,
    conditions,
    folder_name,
    shown_frames,
    spec_under,
    title_of,
    unique,
    words_of,
)
from vidence.media.whole import write_file
from vidence.pointlight.observer import Viewing, observed_accuracy, template
from vidence.records import Estimate, Record
from vidence.report.results import Run, load_run
from vidence.report.tables import guesses_of
from vidence.statistics.intervals import mean_interval
from vidence.statistics.paired import compare, holm
from vidence.statistics.power import USUAL_ICC, Design, paired_detectable
from vidence.tables.charts import Chart, Point, Series, Statement
from vidence.tables.export import csv_text
from vidence.tables.rendering import render
from vidence.tables.table import Column, Row, Table

JSON_FORMAT = "vidence-ablation/1"
_COLUMNS = (
    *("model", "factor", "level", "n", "accuracy", "low", "high", "interval"),
    *("difference", "difference_low", "difference_high", "p_adjusted", "chance", "n_guessed"),
)

# Two bounds of the ideal observer, by what it adds to the jitter of the display (see `pointlight.observer`).
_ACCURACY = Column(key="accuracy", title="accuracy", kind="share")
CHANGED = 0.3
"""The share of answers that are taken to be right in one of two conditions only, before anything is known."""
_LABELLED, _ALIKE = "observer, dots told apart", "observer, dots alike"


class Measured(Record):
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

    @classmethod
    def of(cls, model: str, condition: Condition, accuracy: Estimate) -> Self:
        """The accuracy of a model in a condition."""
        return cls(
            model=model,
            factor=condition.factor,
            level=condition.level,
            place=condition.place,
            condition=condition.name,
            accuracy=accuracy,
        )


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
    return out / "runs" / folder_name(model) / condition.name


def add_up(config: AblationConfig, stimuli: StimulusSet, out: Path, *, notes: Sequence[str]) -> Ablated:
    """The accuracy of every model, and of the ideal observer, in every condition.

    Clips are the clusters. Where there is one question for each clip the interval is Wilson's, otherwise that
    of the cluster bootstrap.

    Args:
        config: the ablation.
        stimuli: the clips, for the observer.
        out: the folder with the runs.
        notes: what there is to say besides.

    Raises:
        StoreError: a run is not there.
        UsageError: a run in which nothing was asked.
    """
    found: list[Measured] = []
    chance, n_clips = math.nan, 0
    for model in config.ask.models:
        runs = {c.name: load_run(run_folder(out, model, c)) for c in unique(conditions(config))}
        base = runs[BASE.name]
        shares = [1 / len(row.item.choices) for row in base.rows if row.item.choices]
        chance = math.fsum(shares) / len(shares) if shares else math.nan
        n_clips = len({row.item.video_id for row in base.rows})
        ours = [
            _one(config, model, c, base=base, run=runs[c.name])
            for _, some in conditions(config)
            for c in some
        ]
        p_values = [one.p_value for one in ours if one.p_value is not None]
        adjusted = iter(holm(p_values) if p_values else ())
        found += [
            o if o.p_value is None else msgspec.structs.replace(o, p_value=next(adjusted)) for o in ours
        ]
    seen, remarks = observed(config, stimuli)
    return Ablated(
        config=config,
        measured=tuple(found),
        observed=tuple(seen),
        chance=chance,
        n_clips=n_clips,
        notes=(*notes, *guess_notes(found), *remarks),
    )


def findable(config: AblationConfig, clips: Sequence[AblationTrial], *, rng: np.random.Generator) -> str:
    """Which difference from the base the ablation would find, in words; said before anything is asked.

    It is the one that is clear, after Holm's adjustment over all conditions, in four of five ablations, where
    `CHANGED` of the answers are right in one of the two conditions only.

    Args:
        config: the ablation.
        clips: what is shown; those of one source, as far as it is known, are not independent.
        rng: where simulated runs come from.
    """
    found = sources_of_shown(clips)
    sources = [found[clip.clip_id] or clip.clip_id for clip in clips]
    n_conditions = len(unique(conditions(config))) - 1
    if n_conditions < 1:
        return "nothing is varied"
    if len(set(sources)) < 2:
        return "one source of motions: no difference from the base can be told"
    level = 1 - 0.05 / n_conditions
    design = Design.of(sources, icc=USUAL_ICC)
    least = paired_detectable(discordance=CHANGED, design=design, rng=rng, level=level)
    of = f"{len(set(sources))} sources of motions, p adjusted for {n_conditions} conditions"
    if not math.isfinite(least):
        return f"a difference from the base is hardly ever found ({of}): show more clips (motions.n_each)"
    return (
        f"a difference of {100 * least:.0f} points from the base is found in four of five ablations ({of}; "
        f"if {100 * CHANGED:.0f} % of the answers change)"
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


def _one(config: AblationConfig, model: str, condition: Condition, *, base: Run, run: Run) -> Measured:
    values, before = _values(run), _values(base)
    if not values:
        raise UsageError("nothing was marked in a run of the ablation; ask the same command again")
    shared = [key for key in values if key in before] if condition.name != BASE.name else []
    paired = None
    if shared:
        paired = compare(
            [values[key][0] for key in shared],
            [before[key][0] for key in shared],
            clusters=[values[key][1] for key in shared],
        )
    marks, clips = zip(*values.values(), strict=True)
    accuracy = mean_interval(marks, clusters=clips)
    return msgspec.structs.replace(
        Measured.of(model, condition, accuracy),
        difference=paired and paired.difference,
        p_value=paired and paired.p_value,
        n_guessed=sum(guesses_of(run)),
    )


def _values(run: Run) -> dict[tuple[str, int], tuple[float, str]]:
    """For each question and repeat its score and the source of its clip."""
    return {
        (row.item.item_id, row.trial.repeat): (row.correct, row.item.source_id)
        for row in run.rows
        if row.correct is not None
    }


def observed(config: AblationConfig, stimuli: StimulusSet) -> tuple[list[Measured], list[str]]:
    """What the ideal observer makes of every condition, and where it does not apply, and why.

    The observer knows the clips of a condition exactly: view, scrambling, inversion and rate are no obstacle.
    """
    made: list[Measured] = []
    notes: list[str] = []
    kept: dict[str, dict[str, Estimate]] = {}
    for condition in (c for _, some in conditions(config) for c in some if config.observer.n_trials):
        if condition.name not in kept:
            try:
                kept[condition.name] = _observe(config, stimuli, condition)
            except (UsageError, DataError) as error:
                notes.append(f"no ideal observer for {condition.name}: {error}")
                continue
        made += [Measured.of(name, condition, found) for name, found in kept[condition.name].items()]
    return made, notes


def _observe(config: AblationConfig, stimuli: StimulusSet, condition: Condition) -> dict[str, Estimate]:
    spec = spec_under(config, condition)
    if spec.life_frames > 0 or spec.dropout > 0:
        raise UsageError("dots that come and go are not modelled")
    if config.ask.split != "label":
        raise UsageError(f"it is asked for labels, and the split is {config.ask.split}")
    # Which dots a clip keeps must not tell which clip it is: the observer sees some, drawn in each trial.
    whole = msgspec.structs.replace(condition, n_dots=None)
    shown = [(clip, stimuli.stimulus(clip, whole, undisturbed=True)) for clip in stimuli.clips]
    found: dict[str, Estimate] = {}
    for sd_px in config.observer.sd_px:
        known = [
            template(s, label=c.label, group=c.group, jitter_m=spec.jitter_m, own_sd_px=sd_px)
            for c, s in shown
        ]
        for name, is_labelled in ((_LABELLED, True), (_ALIKE, False)):
            viewing = Viewing(
                n_frames=min(shown_frames(config, condition), *(s.n_frames for _, s in shown)),
                n_dots=condition.n_dots,
                width_px=spec.width_px,
                height_px=spec.height_px,
                is_labelled=is_labelled,
                n_trials=config.observer.n_trials,
            )
            rng = np.random.default_rng(config.seed)
            found[f"{name}, {sd_px:g} px"] = observed_accuracy(known, viewing, rng=rng)
    return found


def statements(ablated: Ablated) -> tuple[Statement, ...]:
    """The base as a table; curves and a table of differences for each factor."""
    everything = sorted((*ablated.measured, *ablated.observed), key=lambda one: one.place)
    # Of the two bounds the lower one is drawn; both stand in the files.
    models = dict.fromkeys(one.model for one in (*ablated.measured, *ablated.observed))
    drawn = [name for name in models if not name.startswith(_LABELLED)]
    base = {one.model: one.accuracy for one in everything if one.condition == BASE.name}
    said: list[Statement] = [
        Table(
            name="base",
            title="Without any manipulation",
            label="who",
            columns=(_ACCURACY,),
            rows=tuple(
                Row(key=f"model:{i}", label=model, values=(base[model],))
                for i, model in enumerate(m for m in models if m in base)
            ),
            note=f"{ablated.n_clips} clips; chance is {100 * ablated.chance:.1f} %.",
        )
    ]
    for factor, some in conditions(ablated.config):
        points = {
            model: tuple(
                Point(x=o.place, y=o.accuracy) for o in everything if (o.model, o.factor) == (model, factor)
            )
            for model in drawn
        }
        said.append(
            Chart(
                name=factor,
                title=f"Accuracy by {title_of(factor)}",
                x_title=title_of(factor),
                y_title="accuracy",
                series=tuple(Series(label=model, points=own) for model, own in points.items() if own),
                y_marks=((ablated.chance, "chance"),),
                x_labels=tuple((c.place, words_of(c)) for c in some),
            )
        )
        said.append(_differences(ablated, some))
    return tuple(said)


def _differences(ablated: Ablated, some: Sequence[Condition]) -> Table:
    factor, words = some[0].factor, {c.level: words_of(c) for c in some}
    return Table(
        name=f"{factor}-differences",
        title=f"What {title_of(factor)} changes",
        label="model, level",
        columns=(
            _ACCURACY,
            Column(key="difference", title="less the base", kind="share"),
            Column(key="p", title="p, adjusted", kind="p"),
        ),
        rows=tuple(
            Row(
                key=f"{i}", label=f"{o.model}, {words[o.level]}", values=(o.accuracy, o.difference, o.p_value)
            )
            for i, o in enumerate(m for m in ablated.measured if m.factor == factor)
        ),
        note="On the same questions about the same clips; clips are drawn or swapped together, p-values are "
        "adjusted by Holm's method over all conditions of a model.",
    )


def write_files(ablated: Ablated, out: Path) -> tuple[Path, ...]:
    """Write ``ablation.csv``, ``ablation.json`` and ``ablation.html``.

    Raises:
        StoreError: a file cannot be written.
    """
    rows = [
        (
            *(one.model, one.factor, one.level, str(one.accuracy.n)),
            *(*_cells(one.accuracy), one.accuracy.method, *_cells(one.difference)),
            *(_digits(one.p_value), repr(ablated.chance), str(one.n_guessed)),
        )
        for one in (*ablated.measured, *ablated.observed)
    ]
    parts = ("config", "chance", "n_clips", "notes", "measured", "observed")
    whole = {"format": JSON_FORMAT} | {name: getattr(ablated, name) for name in parts}
    asked, varied = ablated.config.ask.models, ablated.config.vary
    page = render(
        "diagnosis.html.j2",
        eyebrow="vidence ablation",
        title=f"{_several(asked, 'model')}, {_several(varied, 'manipulation')}",
        sentences=(
            f"{ablated.n_clips} clips of point lights, each shown in every condition; chance is "
            f"{100 * ablated.chance:.1f} %. Bars are intervals of 95 %, with clips as clusters.",
            *ablated.notes,
        ),
        statements=statements(ablated),
        facts=(("Configuration", ablated.config),),
    )
    contents = {
        "csv": csv_text([_COLUMNS, *rows]).encode(),
        "json": msgspec.json.encode(whole) + b"\n",
        "html": page.encode(),
    }
    for kind, content in contents.items():
        write_file(out / f"ablation.{kind}", content)
    return tuple(out / f"ablation.{kind}" for kind in contents)


def _several(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def _cells(estimate: Estimate | None) -> list[str]:
    """A value and its interval with all their digits; empty where there is none."""
    values = (None,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)
    return [_digits(value) for value in values]


def _digits(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else repr(value)
