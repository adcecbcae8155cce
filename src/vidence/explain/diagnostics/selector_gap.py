"""Where a score is lost: before reaching the evidence, or with the evidence in view."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final, Literal

import numpy as np
from msgspec import Meta

from vidence.ask.selection.evidence import located
from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import PLAN, Condition, Examination, ReplyScore, ask_together
from vidence.explain.diagnostics.tables import (
    Figures,
    SideBySide,
    Values,
    difference,
    holm,
    kinds,
    side_by_side,
    tag_tables,
)
from vidence.records import Estimate, Item, Record
from vidence.tables.charts import Statement
from vidence.tables.table import Measure, Table, by_name, number, share, tabulate

ORACLE: Final = "evidence-frames"
TEXT: Final = "text"
LABELS: Mapping[str, str] = {
    PLAN: "frames of the plan",
    ORACLE: "frames of the evidence",
    TEXT: "words alone",
}


class Settings(Record):
    """Options of the diagnostic."""

    selectors: Annotated[tuple[str, ...], Meta(description="specs to compare beside the plan's")] = ()
    base: Annotated[str, Meta(description="baseline selector (default: the plan's)")] = ""
    oracle: Annotated[
        str, Meta(description="selector of the evidence: evidence fills up to the budget, oracle does not")
    ] = "evidence"
    missing: Annotated[
        Literal["refuse", "skip", "fill"], Meta(description="what becomes of questions without evidence")
    ] = "refuse"
    blind: Annotated[bool, Meta(description="ask with the words alone, too")] = True
    slack_s: Annotated[
        float, Meta(ge=0, description="how far from a span of evidence a frame still shows it, in seconds")
    ] = 0.0

    def __post_init__(self) -> None:
        if taken := [name for name in LABELS if name in self.selectors]:
            raise UsageError(
                f"selector-gap: {taken[0]!r} is always included; expected specs of selectors, such as "
                "selectors=aks:clip:WEIGHTS|bolt:clip:WEIGHTS"
            )

    @property
    def chosen(self) -> tuple[str, ...]:
        """Return what is compared with the evidence."""
        return (PLAN, *self.selectors)

    @property
    def shown(self) -> tuple[str, ...]:
        """Return all views with frames."""
        return (*self.chosen, ORACLE)


class GapFinding(Record, omit_defaults=True):
    """What one question got by what was shown: ``plan``, the spec of a selector, ``evidence-frames``.

    A question that was skipped has nothing.

    Source: HERBench, section 5.1.
    Departs: see `SelectorGap`.
    """

    marks: dict[str, tuple[ReplyScore, ...]]
    """Scores by view, including ``text``."""
    recall: dict[str, float | None]
    """Share of evidence spans with a frame shown, by view; None if evidence has no times."""
    n_frames: dict[str, int]
    n_pieces: int
    """Number of annotated pieces of evidence."""
    is_filled: bool = False
    """Whether the item has no evidence frames, so that the plan's frames replace them."""


def recall(item: Item, times_s: Sequence[float], *, slack_s: float = 0.0) -> float | None:
    """Return the share of evidence spans with at least one frame shown.

    Args:
        item: the question; evidence that lists frames without a span says no time and does not count.
        times_s: presentation times of the frames shown, in seconds from the first frame of the file.
        slack_s: how far outside a span ``[start_s, end_s)`` a frame still shows it, in seconds.

    Returns:
        None if no evidence has a time, or where there are several media, of which evidence does not say
        which one it is in.

    Source: what HERBench, section 5.1, calls evidence retrieval.
    Departs: the paper gives no number for it.

    >>> from vidence.records import Evidence
    >>> spans = (Evidence(start_s=1, end_s=2), Evidence(start_s=5, end_s=6))
    >>> recall(Item(item_id="q", question="?", answer="x", evidence=spans), [0.5, 1.5, 6.0])
    0.5
    """
    spans = [e for e in located(item) if e.start_s is not None or e.end_s is not None]
    if not spans or len(item.media) > 1:
        return None
    hits = [
        any(
            (e.start_s is None or e.start_s - slack_s <= t) and (e.end_s is None or t < e.end_s + slack_s)
            for t in times_s
        )
        for e in spans
    ]
    return sum(hits) / len(hits)


class SelectorGap(Examination[Settings]):
    """Each question with the frames of the plan, of every selector, and of the annotated evidence.

    All on the same questions with the same budget, asked together. With a(s) the accuracy on the frames of
    selector s, and a(o) that on the frames of the evidence::

        1 - a(s) = [a(o) - a(s)] + [1 - a(o)] = retrieval gap of s + fusion gap

    The retrieval gap is what the selector loses on the way to the evidence; it is below 0 where it finds
    better frames than the annotation. The fusion gap is what is lost with the evidence in sight: not put
    together, not recognised, not answered, or wrongly annotated. How often a question can be guessed, and how
    often the words alone are enough, stands beside them: both make either gap smaller than it is.

    Questions without evidence are refused, skipped, or filled: then the frames of the plan stand in for
    those of the evidence, as HERBench does in the tasks without curated frames, and their retrieval gap for
    the plan is 0.

    Source: HERBench, sections 5.1 and 8.2 and tables 3 and 5 (selectors and oracle frames on the same
        questions; footnote 1 for the oracle frames, which are filled up to the budget).
    Departs: the paper prints accuracies and names the two deficits; the split into two terms, the pairing,
        the intervals, the p-values and the recall are ours. Means are over questions; the paper's 100
        questions of each task make that the same as its mean over tasks.
    """

    name = "selector-gap"
    version = 1
    finding: type[Record] = GapFinding

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """Return the frames of the plan, of each selector and of the evidence, with one budget."""
        specs = {PLAN: self.settings.base or selector}
        specs |= {spec: spec for spec in self.settings.selectors}
        specs |= {ORACLE: self.settings.oracle}
        return {name: View(selector=spec, n_frames=n_frames) for name, spec in specs.items()}

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return the number of selectors, plus evidence and text."""
        return len(self.settings.shown) + self.settings.blind

    def examine(self, subject: Subject) -> Flow[GapFinding]:
        """Ask with all views at once; nothing if there is no evidence and such items are skipped."""
        item, settings = subject.item, self.settings
        n_pieces = len(located(item))
        is_filled = not n_pieces and settings.missing == "fill"
        if not n_pieces and settings.missing == "skip":
            return GapFinding(marks={}, recall={}, n_frames={}, n_pieces=0)
        values = {name: name for name in settings.shown}
        if is_filled:
            values[ORACLE] = PLAN
        conditions = {name: Condition(view=view) for name, view in values.items()}
        if settings.blind:
            conditions[TEXT] = Condition(view=PLAN, positions=())
        scores = yield from ask_together(subject, list(conditions.values()))
        return GapFinding(
            marks={name: (score,) for name, score in zip(conditions, scores, strict=True)},
            recall={
                name: recall(item, subject.times_s(view), slack_s=settings.slack_s)
                for name, view in values.items()
            },
            n_frames={name: subject.n_frames(view) for name, view in values.items()},
            n_pieces=n_pieces,
            is_filled=is_filled,
        )

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return both gaps by selector, where questions are lost, evidence recall, and results by tag."""
        conditions = (*self.settings.shown, *([TEXT] if self.settings.blind else []))
        figures = Figures(rng=rng, level=level)
        side = side_by_side(examined, GapFinding, lambda f: f.marks, conditions=conditions, figures=figures)
        return tuple(_Gaps(found=side, settings=self.settings).statements())


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return SelectorGap(settings)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[GapFinding]


@dataclass(frozen=True, kw_only=True)
class _Gaps:
    """The tables over the questions with a score for all views."""

    found: Found
    settings: Settings

    def statements(self) -> list[Statement]:
        """Return the statements, the headline first."""
        recalled = self._recalled()
        statements: list[Statement] = [self._headline()]
        if self.found.items:
            statements.append(self._lost())
        if recalled.items:
            statements.append(self._recall(recalled))
        return [*statements, *self._tags()]

    def _headline(self) -> Table:
        side, values, oracle = self.found, self.found.values, self.found.values[ORACLE]
        gaps = side.differences({name: (ORACLE, name) for name in self.settings.chosen})
        n_filled = sum(finding.is_filled for finding in side.findings)
        filled = (
            f"{n_filled:,} questions have no evidence; the plan's frames stand in for it, which makes the "
            "retrieval gap smaller."
        )

        def fusion(name: str) -> Estimate | None:
            return side.mean(1 - oracle) if name != TEXT else None

        def retrieval_share(name: str) -> Estimate | None:
            return side.ratio(oracle - values[name], 1 - values[name]) if name in gaps else None

        gap_note = "accuracy on the frames of the evidence less that on these frames, paired"
        fusion_note = "lost although the evidence is shown; the same for all selectors"
        share_note = "the share of the loss that is due to retrieval"
        return tabulate(
            "selector-gap",
            "Where the score is lost",
            label="shown",
            rows=side.rows(values, LABELS),
            measures=(
                side.questions(),
                share("accuracy", side.accuracy),
                share("loss", lambda name: side.mean(1 - values[name]), note="share of wrong answers"),
                difference("retrieval", gaps, "retrieval gap", note=gap_note),
                share("fusion", fusion, "fusion gap", note=fusion_note),
                share("retrieval_share", retrieval_share, "retrieval / loss", note=share_note),
                holm(gaps),
                *kinds(side.marks),
            ),
            notes=(
                "Loss = retrieval gap + fusion gap.",
                filled if n_filled else "",
                side.guessing_note(),
                side.left_out,
            ),
            figure="scores",
        )

    def _lost(self) -> Table:
        values = self.found.values

        def part(*, is_right: bool, by_oracle: bool) -> Callable[[str], Estimate]:
            def among(name: str) -> Estimate:
                is_so = ((values[name] >= 1) == is_right) & ((values[ORACLE] >= 1) == by_oracle)
                return self.found.mean(is_so.astype(np.float64))

            return among

        both, neither = part(is_right=True, by_oracle=True), part(is_right=False, by_oracle=False)
        lost, alone = part(is_right=False, by_oracle=True), part(is_right=True, by_oracle=False)
        lost_note = "right with the frames of the evidence, not with these"
        alone_note = "luck, evidence that was not annotated, or frames of the evidence that mislead"
        return tabulate(
            "lost",
            "Questions by outcome",
            label="shown",
            rows=by_name(self.settings.chosen, LABELS),
            measures=(
                share("right", both, "right both ways"),
                share("retrieval", lost, "lost in retrieval", note=lost_note),
                share("fusion", neither, "lost in fusion", note="right with neither"),
                share("other", alone, "right with these alone", note=alone_note),
            ),
            notes=("Retrieval gap = lost in retrieval less right with these alone.",),
        )

    # ------------------------------------------------------------------ what is found

    def _recalled(self) -> Found:
        """Return the questions whose evidence has a time."""
        findings, names = self.found.findings, self.settings.shown
        has_all = [not f.is_filled and all(f.recall[name] is not None for name in names) for f in findings]
        return self.found.of(np.flatnonzero(has_all))

    def _recall(self, side: Found) -> Table:
        def some(name: str, *, has_all: bool) -> Found:
            return side.of(np.flatnonzero((_recall_of(side, name) >= 1) == has_all))

        def accuracy(name: str, *, has_all: bool) -> Estimate | None:
            part = some(name, has_all=has_all)
            return part.accuracy(name) if part.items else None

        def gap(name: str, *, has_all: bool) -> Estimate | None:
            part = some(name, has_all=has_all)
            lost = part.values[ORACLE] - part.values[name]
            return part.gain(lost) if part.items and name != ORACLE else None

        def shown(name: str) -> Estimate:
            return side.mean((_recall_of(side, name) >= 1).astype(np.float64))

        return tabulate(
            "recall",
            "How much of the evidence is shown",
            label="shown",
            rows=by_name(self.settings.shown, LABELS),
            measures=(
                side.questions(),
                share(
                    "recall",
                    lambda name: side.mean(_recall_of(side, name)),
                    note="spans of evidence with a frame",
                ),
                share("all", shown, "all shown", note="questions with full recall"),
                share("accuracy_all", partial(accuracy, has_all=True), "accuracy, all shown"),
                share("accuracy_part", partial(accuracy, has_all=False), "accuracy, some missing"),
                share("gap_all", partial(gap, has_all=True), "retrieval gap, all shown"),
                share("gap_part", partial(gap, has_all=False), "retrieval gap, some missing"),
            ),
            notes=(
                "A retrieval gap where all is shown is not one of retrieval: other frames distract, or one "
                "frame of a span is not enough. Recall of the evidence's own frames below 100 % means more "
                "spans than frames, or spans shorter than a frame (slack_s allows for these).",
            ),
        )

    def _tags(self) -> list[Table]:
        def accuracy(name: str) -> Measure[Found]:
            return share(name, lambda some: some.accuracy(name), f"accuracy, {LABELS.get(name, name)}")

        def retrieval(name: str) -> Measure[Found]:
            return share(
                f"retrieval:{name}",
                lambda some: some.gain(some.values[ORACLE] - some.values[name]),
                f"retrieval gap, {LABELS.get(name, name)}",
            )

        return tag_tables(
            "selector-gap:",
            "Where the score is lost",
            self.found.items,
            about=self.found.of,
            measures=(
                number("questions", lambda some: len(some.items)),
                *map(accuracy, self.found.values),
                *map(retrieval, self.settings.chosen),
                share("fusion", lambda some: some.mean(1 - some.values[ORACLE]), "fusion gap"),
            ),
        )


def _recall_of(side: Found, name: str) -> Values:
    return np.array([finding.recall[name] for finding in side.findings], np.float64)
