"""Compute which difference between two models a comparison can detect."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.console.files import screen, show, write_said
from vidence.console.flags import JSON, command, flag
from vidence.errors import UsageError
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.statistics.power import Design

GROUP = "stats"


_SHARE = click.FloatRange(0, 1)


class Power(Record):
    """A planned comparison."""

    items: Annotated[int | None, flag("Number of questions.", type=click.IntRange(min=2))] = None
    videos: Annotated[
        int | None, flag("Number of videos (default: one per question).", type=click.IntRange(min=2))
    ] = None
    folder: Annotated[
        Path | None, flag("Take questions, videos, accuracy and icc from an earlier run.", "--run")
    ] = None
    accuracy: Annotated[
        float | None,
        flag(
            "Accuracy expected of the first model, between 0 and 1.",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
        ),
    ] = None
    correlation: Annotated[
        float,
        flag("Correlation of correctness between the models, over questions.", type=click.FloatRange(-1, 1)),
    ] = 0.4
    icc: Annotated[
        float | None,
        flag(
            "Correlation of the differences on questions about one video (default: 0.1, or that of --run).",
            type=_SHARE,
        ),
    ] = None
    difference: Annotated[
        float | None, flag("Expected difference.", type=click.FloatRange(0, 1, min_open=True))
    ] = None
    power: Annotated[float, flag("Required power.", type=_SHARE)] = 0.8
    level: Annotated[float, flag("Level of the test.", type=_SHARE)] = 0.95
    json_path: Annotated[Path | None, JSON] = None


@command()
def power(given: Power) -> None:
    """Compute the smallest difference that a comparison detects, or the questions that a difference needs.

    A difference is detected if `vidence compare` calls it clear, clustered by video. With --run, the
    correlation within a video is that of the scores; that of differences between models is usually smaller.
    """
    from vidence.statistics.power import USUAL_ICC, Design

    console = screen(given.json_path)
    earlier = _of_run(given.folder) if given.folder is not None else _EarlierRun()
    n_items = given.items or earlier.n_items
    if n_items is None:
        raise UsageError("give the number of questions with --items N, or an earlier run with --run DIR")
    accuracy = earlier.accuracy if given.accuracy is None else given.accuracy
    if accuracy is None:
        raise UsageError("give the expected accuracy with --accuracy 0.5, or an earlier run with --run DIR")
    known = earlier.icc if given.icc is None else given.icc
    design = Design(
        n_items=n_items,
        n_clusters=given.videos or (earlier.n_videos if given.items is None else None) or n_items,
        icc=USUAL_ICC if known is None else known,
    )
    if given.difference is not None and accuracy + given.difference > 1:
        raise UsageError(
            f"an accuracy of {100 * accuracy:.1f} % cannot grow by {100 * given.difference:g} points; give a "
            "smaller --difference"
        )
    plan = _Plan(
        given=given,
        design=design,
        accuracy=accuracy,
        is_icc_assumed=known is None,
        source="video" if given.videos or given.items is not None else earlier.source,
    )
    plan.work_out()
    write_said(given.json_path, "power", sentences=plan.sentences, values=plan.values)
    show(console, plan.sentences, ())


@dataclass(frozen=True, kw_only=True)
class _EarlierRun:
    """Values from an earlier run."""

    n_items: int | None = None
    n_videos: int | None = None
    accuracy: float | None = None
    icc: float | None = None
    source: str = "video"


def _of_run(folder: Path) -> _EarlierRun:
    from vidence.records import source_noun
    from vidence.report.results import load_run
    from vidence.report.scores import ScoredQuestions
    from vidence.statistics.power import intraclass_correlation

    scored = ScoredQuestions.of(load_run(folder, are_brief=True).rows)
    if not len(scored.values):
        raise UsageError(f"{folder} has no scored questions yet")
    icc = 0.0
    if 2 <= scored.n_videos < len(scored.values):
        icc = intraclass_correlation(scored.values, clusters=scored.clusters)
    return _EarlierRun(
        n_items=len(scored.values),
        n_videos=scored.n_videos,
        accuracy=float(scored.values.mean()),
        icc=0.0 if math.isnan(icc) else min(max(icc, 0.0), 1.0),
        source=source_noun(scored.items),
    )


@dataclass(kw_only=True)
class _Plan:
    """A planned comparison and its results, as sentences and numbers."""

    given: Power
    design: "Design"
    accuracy: float
    is_icc_assumed: bool
    source: str
    sentences: list[str] = field(default_factory=list)
    values: dict[str, float | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with the planned values."""
        self.sentences += self._size()
        self.values |= {
            "n_questions": self.design.n_items,
            "n_clusters": self.design.n_clusters,
            "clustered_by": self.source,
            "n_effective": self.design.n_effective,
            "icc": self.design.icc,
            "is_icc_assumed": self.is_icc_assumed,
            "accuracy": self.accuracy,
            "power": self.given.power,
            "level": self.given.level,
        }

    def _size(self) -> list[str]:
        design = self.design
        size = f"{design.n_items:,} questions on {design.n_clusters:,} {self.source}s"
        if design.n_items == design.n_clusters:
            return [f"{size}, one each."]
        messages = [
            f"{size}, correlation within a {self.source} {design.icc:.2f}: they count as "
            f"{design.n_effective:,.0f} independent questions."
        ]
        if self.is_icc_assumed:
            messages.append(
                f"The correlation is assumed: {design.icc:g} is the largest of pairs of models on three "
                "benchmarks; give --icc, or --run for that of an earlier run."
            )
        return messages

    def work_out(self) -> None:
        """Add what the comparison can detect, and what an expected difference requires."""
        import numpy as np

        from vidence.statistics.power import discordance, paired_detectable, paired_needed, paired_power

        def rng() -> np.random.Generator:  # simulated runs are the same ones for the same words
            return np.random.default_rng(0)

        given, design = self.given, self.design
        correlation, power, level = given.correlation, given.power, given.level
        apart = discordance(self.accuracy, self.accuracy, correlation=correlation)
        least = paired_detectable(discordance=apart, design=design, rng=rng(), power=power, level=level)
        self.sentences += [
            f"Two models around {100 * self.accuracy:.1f} % that agree with correlation {correlation:g} "
            f"differ on {100 * apart:.1f} % of the questions.",
            self._detectable(least),
        ]
        self.values |= {"correlation": correlation, "discordance": apart, "detectable_difference": least}
        if (difference := given.difference) is None:
            return
        apart = discordance(self.accuracy, self.accuracy + difference, correlation=correlation)
        chance = paired_power(difference, discordance=apart, design=design, rng=rng(), level=level)
        needed = paired_needed(
            difference, discordance=apart, rng=rng(), like=design, power=power, level=level
        )
        self.sentences += [
            f"A difference of {100 * difference:g} points is detected with power {chance:.2f}.",
            f"For power {given.power:g} it takes {needed.n_items:,} questions "
            f"on {needed.n_clusters:,} {self.source}s.",
        ]
        self.values |= {
            "difference": difference,
            "power_of_difference": chance,
            "needed_questions": needed.n_items,
            "needed_clusters": needed.n_clusters,
        }

    def _detectable(self, least: float) -> str:
        if math.isinf(least):
            return (
                f"No difference on the same questions is detected with power {self.given.power:g}: "
                f"{self.design.n_clusters:,} {self.source}s are too few; ask about more {self.source}s."
            )
        return (
            f"Smallest difference detected with power {self.given.power:g} at level {self.given.level:g}, "
            f"on the same questions: {100 * least:.1f} points."
        )
