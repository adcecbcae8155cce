"""Planted against recovered: what a run on a phantom world measured, beside what was planted in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from vidence.ask.phantom.planted import MODEL_NAMES, SimulatedModel, demand, expected
from vidence.catalog import parse_spec
from vidence.errors import DataError
from vidence.records import Estimate
from vidence.report.results import Run
from vidence.report.scores import Draws
from vidence.report.sections import Section
from vidence.tables.charts import Chart, curves
from vidence.tables.table import RowSpec, Table, lines, number, several, share, tabulate

_USUAL = 16  # frames
_BINS = ((1, 1), (2, 2), (3, 4), (5, 8))  # cards that questions need
_DEFECTS: Mapping[str, str] = {
    "fuser": "uses every card that it is shown",
    "single": "rests on one frame",
    "forgetful": "keeps two cards in mind",
}


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One run of a simulated model, question by question.

    Shapes: `planted`, `recovered`, `demands` and `told` have one entry for each trial: whether the model must
    be right given the times of the frames it was shown, whether it was scored right, how many pieces of
    evidence the question needs, and whether its words tell the answer.
    """

    label: str
    model: str
    n_frames: int
    planted: tuple[bool, ...]
    recovered: tuple[bool, ...]
    demands: tuple[int, ...]
    videos: tuple[str, ...]
    told: tuple[bool, ...]

    @property
    def n_different(self) -> int:
        """On how many questions planted and recovered differ."""
        return sum(p != r for p, r in zip(self.planted, self.recovered, strict=True))

    def average(self, draws: Draws, positions: Sequence[int] | None = None) -> Estimate:
        """The measured accuracy with its interval, over the questions at some positions or over all."""
        at = range(len(self.recovered)) if positions is None else positions
        found = draws.average(
            np.array([self.recovered[i] for i in at], np.float64), clusters=[self.videos[i] for i in at]
        )
        if found is None:
            raise ValueError("there is no question to average over")
        return found


def model_of(run: Run) -> SimulatedModel:
    """The simulated model that a run asked, with its settings.

    Raises:
        DataError: the run asked something else.
    """
    spec = parse_spec(run.plan.model)
    for name in MODEL_NAMES:
        if spec.name == "phantom" and spec.argument == name:
            given = {k: v for k, v in spec.options.items() if k in SimulatedModel.__struct_fields__}
            return msgspec.convert({"name": name, **given}, SimulatedModel, strict=False)
    raise DataError(f"{run.folder} asked {run.plan.model!r}; expected phantom: and one of {MODEL_NAMES}")


def compare(run: Run) -> Compared:
    """A run on a phantom world beside what was planted.

    Raises:
        DataError: a question that is not of a phantom world.
    """
    model = model_of(run)
    planted = tuple(
        expected(
            model,
            row.item,
            times_s=[f.time_s for f in row.trial.selection.frames] if row.trial.selection else [],
            is_stepwise=run.plan.style == "cot",
        )
        for row in run.rows
    )
    return Compared(
        label=f"{model.name}, {_shown(run)}",
        model=model.name,
        n_frames=run.plan.n_frames,
        planted=planted,
        recovered=tuple(row.correct == 1.0 for row in run.rows),
        demands=tuple(demand(row.item) for row in run.rows),
        videos=tuple(row.item.source_id for row in run.rows),
        told=tuple(row.item.tags["leak"] == "yes" for row in run.rows),
    )


def _shown(run: Run) -> str:
    """Which frames, and at most how many."""
    if run.plan.selector == "none":
        return "no frames"
    return f"{run.plan.selector}, {several(run.plan.n_frames, 'frame')}"


def calibration_section(compared: Sequence[Compared], *, rng: np.random.Generator) -> Section:
    """A part of the report: for each run the score that was planted and the one that was recovered."""
    draws = Draws(rng=rng)
    n_different = sum(c.n_different for c in compared)
    n_all = sum(len(c.planted) for c in compared)
    verdict = (
        f"All {n_all} answers are the planted ones."
        if n_different == 0
        else f"{n_different} of {n_all} answers differ from what was planted: something is wrong."
    )
    return Section(
        title="Planted against recovered",
        paragraphs=(
            "The videos were rendered for this page: cards with numbers appear in them at known times, "
            "and each question needs one to eight of these cards. The simulated models find the cards in the "
            "pixels of the frames that they are shown; each has a known defect. So it is known before "
            "asking which questions each of them must get right. The scores below were measured the "
            "ordinary way: videos decoded, frames chosen and encoded, questions put, replies read.",
            verdict,
        ),
        tables=(
            _table(compared, draws=draws),
            *(_by_demand(c, draws=draws) for c in compared if c.model == "fuser" and c.n_frames > 0),
        ),
    )


def opening_section(compared: Sequence[Compared], *, rng: np.random.Generator, outcome: str) -> Section:
    """What a stranger sees first: what was asked, what came out, three figures, what to do next.

    Args:
        compared: the runs.
        rng: where the draws of the intervals come from.
        outcome: how many of the other planted things were recovered, in a sentence.
    """
    draws = Draws(rng=rng)
    n_videos = len({video for one in compared for video in one.videos})
    n_questions = max(len(one.planted) for one in compared)
    n_all = sum(len(one.planted) for one in compared)
    n_different = sum(one.n_different for one in compared)
    answers = f"all {n_all:,} answers" if not n_different else f"{n_all - n_different:,} of {n_all:,} answers"
    midpoints = [one for one in compared if one.model == "fuser" and "midpoints" in one.label]
    return Section(
        title="In short",
        paragraphs=(
            f"What was asked: {n_videos} videos were drawn for this page, in which cards with numbers come "
            f"and go, and {n_questions} questions such as 'What is the sum of the numbers on the red and the "
            "grey card?'. Simulated models with known defects answered from the frames that they were shown, "
            "so the score of each is known before it is measured.",
            f"What came out: measuring found {answers} as they were planted. {outcome}",
            "What to do next: ask a model about your own clips, one question a line (see "
            "docs/item-format.md), with: vidence run table --data questions.jsonl --model openai:NAME",
        ),
        figures=(
            msgspec.structs.replace(_scores(compared, draws=draws), figure="scores"),
            _by_frames(midpoints, draws=draws),
            _by_cards(_largest(compared), draws=draws),
        ),
    )


def _scores(compared: Sequence[Compared], *, draws: Draws) -> Table:
    return tabulate(
        "opening:scores",
        "Measured scores are the planted ones",
        label="simulated model and frames",
        rows=lines((one.label, one) for one in compared),
        measures=(
            share("accuracy", lambda one: one.average(draws), "measured"),
            share("planted", lambda one: sum(one.planted) / len(one.planted)),
        ),
    )


def _by_frames(compared: Sequence[Compared], *, draws: Draws) -> Chart:
    """The same model with more and more frames."""
    ordered = sorted(compared, key=lambda one: one.n_frames)
    points = [(one.n_frames, one.average(draws)) for one in ordered]
    return Chart(
        name="opening:frames",
        title="More frames show more of the evidence",
        x_title="frames, evenly over the video",
        y_title="accuracy",
        series=curves([("a model that misses nothing it is shown", points)]),
        is_log=True,
    )


def _largest(compared: Sequence[Compared]) -> list[Compared]:
    """Of each model that is shown frames at even distances, the run that has 16, or the most."""
    found: dict[str, Compared] = {}
    for one in compared:
        if one.n_frames and "midpoints" in one.label:
            kept = found.get(one.model)
            if kept is None or abs(one.n_frames - _USUAL) < abs(kept.n_frames - _USUAL):
                found[one.model] = one
    return list(found.values())


def _by_cards(compared: Sequence[Compared], *, draws: Draws) -> Chart:
    """Where models of different defects fail, by how many cards a question needs."""

    def points(one: Compared) -> Iterator[tuple[float, Estimate]]:
        for i, (least, most) in enumerate(_BINS):
            needed = zip(one.demands, one.told, strict=True)
            at = [n for n, (demand, is_told) in enumerate(needed) if least <= demand <= most and not is_told]
            if at:
                yield i, one.average(draws, at)

    known = {one.model: one for one in compared}
    names = tuple(f"{least}" if least == most else f"{least} to {most}" for least, most in _BINS)
    return Chart(
        name="opening:cards",
        title="Defects show where a question needs much",
        x_title="cards that a question needs",
        y_title=f"accuracy with {_USUAL} frames",
        series=curves(
            (f"{model}: {words}", points(known[model])) for model, words in _DEFECTS.items() if model in known
        ),
        x_labels=tuple((float(i), name) for i, name in enumerate(names)),
    )


def _table(compared: Sequence[Compared], *, draws: Draws) -> Table:
    different = "questions on which planted and recovered differ"
    return tabulate(
        "calibration",
        "Scores by simulated model",
        label="simulated model and frames",
        rows=lines((one.label, one) for one in compared),
        measures=(
            number("n", lambda one: len(one.planted), "questions"),
            share("planted", lambda one: sum(one.planted) / len(one.planted)),
            share(
                "recovered",
                lambda one: draws.average(np.array(one.recovered, np.float64), clusters=one.videos),
            ),
            number("different", lambda one: one.n_different, "differ", note=different),
        ),
    )


def _by_demand(compared: Compared, *, draws: Draws) -> Table:
    planted, recovered = (np.array(one, np.float64) for one in (compared.planted, compared.recovered))
    videos, demands = np.array(compared.videos), np.array(compared.demands)

    def label(k: int) -> str:
        return f"needs {several(k, 'piece')} ({(demands == k).sum()} questions)"

    return tabulate(
        f"calibration:{compared.label}",
        f"{compared.label}: right answers by evidence needed",
        label="questions",
        rows=(RowSpec(str(k), label(k), demands == k) for k in sorted(set(compared.demands))),
        measures=(
            share("accuracy", lambda some: draws.average(recovered[some], clusters=videos[some].tolist())),
            share("planted", lambda some: float(planted[some].mean())),
        ),
        figure="scores",
    )
