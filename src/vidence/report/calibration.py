"""Planted against recovered: what a run on a phantom world measured, beside what was planted in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from vidence.ask.phantom.planted import MODEL_NAMES, SimulatedModel, demand, expected
from vidence.catalog import parse_spec
from vidence.errors import DataError
from vidence.report.results import Run
from vidence.report.scores import Draws
from vidence.report.sections import Section
from vidence.tables.table import Line, Table, lines, number, several, share, tabulate


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One run of a simulated model, question by question.

    Shapes: `planted`, `recovered` and `demands` have one entry for each trial: whether the model must
    be right given the times of the frames it was shown, whether it was scored right, and how many
    pieces of evidence the question needs.
    """

    label: str
    model: str
    n_frames: int
    planted: tuple[bool, ...]
    recovered: tuple[bool, ...]
    demands: tuple[int, ...]
    videos: tuple[str, ...]

    @property
    def n_different(self) -> int:
        """On how many questions planted and recovered differ."""
        return sum(p != r for p, r in zip(self.planted, self.recovered, strict=True))


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
        rows=(Line(str(k), label(k), demands == k) for k in sorted(set(compared.demands))),
        measures=(
            share("accuracy", lambda some: draws.average(recovered[some], clusters=videos[some].tolist())),
            share("planted", lambda some: float(planted[some].mean())),
        ),
        figure="scores",
    )
