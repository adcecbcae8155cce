"""Planted against recovered: what a run on a phantom world measured, beside what was planted in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from vidence.ask.phantom.planted import READER_NAMES, Reader, demand, expected
from vidence.catalog import parse_spec
from vidence.errors import DataError
from vidence.records import Estimate
from vidence.report.results import Run
from vidence.report.sections import Section
from vidence.statistics.intervals import mean
from vidence.tables.figures import Bar, BarFigure, Mark
from vidence.tables.table import Column, Row, Table


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One run of a phantom reader, question by question.

    Shapes: `planted`, `recovered` and `demands` have one entry for each trial: whether the reader must
    be right given the times of the frames it was shown, whether it was marked right, and how many
    pieces of evidence the question needs.
    """

    label: str
    reader: str
    n_frames: int
    planted: tuple[bool, ...]
    recovered: tuple[bool, ...]
    demands: tuple[int, ...]
    videos: tuple[str, ...]

    @property
    def n_different(self) -> int:
        """On how many questions planted and recovered differ."""
        return sum(p != r for p, r in zip(self.planted, self.recovered, strict=True))


def reader_of(run: Run) -> Reader:
    """The phantom reader that a run asked, with its settings.

    Raises:
        DataError: the run asked something else.
    """
    spec = parse_spec(run.plan.model)
    for name in READER_NAMES:
        if spec.name == "phantom" and spec.argument == name:
            given = {k: v for k, v in spec.options.items() if k in ("letter", "memory")}
            return msgspec.convert({"name": name, **given}, Reader, strict=False)
    raise DataError(f"{run.folder} asked {run.plan.model!r}; expected phantom: and one of {READER_NAMES}")


def compare(run: Run) -> Compared:
    """A run on a phantom world beside what was planted.

    Raises:
        DataError: a question that is not of a phantom world.
    """
    reader = reader_of(run)
    planted = tuple(
        expected(
            reader,
            row.item,
            times_s=[f.time_s for f in row.trial.selection.frames] if row.trial.selection else [],
        )
        for row in run.rows
    )
    return Compared(
        label=f"{reader.name}, {_shown(run)}",
        reader=reader.name,
        n_frames=run.plan.n_frames,
        planted=planted,
        recovered=tuple(row.correct == 1.0 for row in run.rows),
        demands=tuple(demand(row.item) for row in run.rows),
        videos=tuple(row.item.video_id for row in run.rows),
    )


def _shown(run: Run) -> str:
    """Which frames, and at most how many."""
    if run.plan.selector == "none":
        return "no frames"
    return f"{run.plan.selector}, {run.plan.n_frames} frame{'' if run.plan.n_frames == 1 else 's'}"


def calibration_section(compared: Sequence[Compared], *, rng: np.random.Generator) -> Section:
    """A part of the report: for each run the score that was planted and the one that was recovered."""
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
            "and each question needs one to eight of these cards. The readers find the cards in the "
            "pixels of the frames that they are shown; each has a known defect. So it is known before "
            "asking which questions each of them must get right. The scores below were measured the "
            "ordinary way: videos decoded, frames chosen and encoded, questions put, replies read.",
            verdict,
        ),
        figures=tuple(_by_demand(c, rng=rng) for c in compared if c.reader == "fuser" and c.n_frames > 0),
        tables=(_table(compared, rng=rng),),
    )


def _recovered(compared: Compared, *, rng: np.random.Generator) -> Estimate:
    return mean([float(r) for r in compared.recovered], clusters=compared.videos, rng=rng)


def _table(compared: Sequence[Compared], *, rng: np.random.Generator) -> Table:
    return Table(
        name="calibration",
        title="Scores by reader",
        label=Column(key="run", title="reader and frames"),
        columns=(
            Column(key="n", title="questions", kind="count"),
            Column(key="planted", title="planted", kind="share"),
            Column(key="recovered", title="recovered", kind="share"),
            Column(
                key="different",
                title="differ",
                kind="count",
                note="questions on which planted and recovered differ",
            ),
        ),
        rows=tuple(
            Row(
                key=one.label,
                label=one.label,
                values=(
                    len(one.planted),
                    sum(one.planted) / len(one.planted),
                    _recovered(one, rng=rng),
                    one.n_different,
                ),
            )
            for one in compared
        ),
    )


def _by_demand(compared: Compared, *, rng: np.random.Generator) -> BarFigure:
    bars = []
    for k in sorted(set(compared.demands)):
        chosen = [i for i, d in enumerate(compared.demands) if d == k]
        estimate = mean(
            [float(compared.recovered[i]) for i in chosen],
            clusters=[compared.videos[i] for i in chosen],
            rng=rng,
        )
        planted = sum(compared.planted[i] for i in chosen) / len(chosen)
        bars.append(
            Bar(
                label=f"needs {k} {'piece' if k == 1 else 'pieces'} ({len(chosen)} questions)",
                value=estimate.value,
                low=estimate.low,
                high=estimate.high,
                text=f"{100 * estimate.value:.1f}",
                marks=(Mark(kind="planted", value=planted),),
            )
        )
    return BarFigure(title=f"{compared.label}: right answers by evidence needed", bars=tuple(bars))
