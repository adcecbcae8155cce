"""Where a score is lost: on the way to the evidence, or with the evidence in sight."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
from msgspec import Meta

from vidence.ask.selection.evidence import located
from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import (
    Condition,
    ReplyScore,
    SideBySide,
    Values,
    ask_together,
    side_by_side,
)
from vidence.explain.diagnostics.tables import (
    Figures,
    Measure,
    by_name,
    difference,
    guesses,
    guessing_note,
    holm,
    kinds,
    note,
    number,
    share,
    tabulate,
    tag_tables,
)
from vidence.records import Estimate, Item, Record
from vidence.tables.findings import Dot, Scatter, Sheet, Statement

PLAN: Final = "plan"
ORACLE: Final = "evidence-frames"
TEXT: Final = "text"
LABELS: Mapping[str, str] = {
    PLAN: "frames of the plan",
    ORACLE: "frames of the evidence",
    TEXT: "words alone",
}


class Settings(Record):
    """Options of the diagnostic."""

    selectors: Annotated[
        tuple[str, ...],
        Meta(description="specs of selectors; without any the plan's frames alone are compared"),
    ] = ()
    base: Annotated[str, Meta(description="a selector in place of the plan's")] = ""
    oracle: Annotated[
        str,
        Meta(
            description="the selector of the evidence: evidence fills up to the budget; oracle or "
            "evidence:only show the evidence alone"
        ),
    ] = "evidence"
    missing: Annotated[
        Literal["refuse", "skip", "fill"], Meta(description="what becomes of questions without evidence")
    ] = "refuse"
    blind: Annotated[bool, Meta(description="ask with the words alone, too")] = True
    slack_s: Annotated[
        float, Meta(ge=0, description="how far from a span of evidence a frame still shows it, in seconds")
    ] = 0.0

    def __post_init__(self) -> None:
        taken = [name for name in LABELS if name in self.selectors]
        if taken:
            raise UsageError(
                f"selector-gap: {taken[0]!r} is shown anyway; expected specs of selectors, such as "
                "selectors=aks:clip:WEIGHTS|bolt:clip:WEIGHTS"
            )

    @property
    def chosen(self) -> tuple[str, ...]:
        """What is compared with the evidence."""
        return (PLAN, *self.selectors)

    @property
    def shown(self) -> tuple[str, ...]:
        """All that shows frames."""
        return (*self.chosen, ORACLE)


class GapFinding(Record, kw_only=True, omit_defaults=True):
    """What one question got by what was shown: ``plan``, the spec of a selector, ``evidence-frames``.

    A question that was skipped has nothing.

    Source: HERBench, section 5.1.
    Departs: see `SelectorGap`.
    """

    marks: dict[str, tuple[ReplyScore, ...]]
    """One score each; ``text`` has one, too."""
    recall: dict[str, float | None]
    """The share of the spans of evidence that the frames hit; None where evidence has no time."""
    n_frames: dict[str, int]
    n_pieces: int
    """How many pieces of evidence are annotated."""
    is_filled: bool = False
    """Whether there are none, and the plan's frames stand in for them."""


def recall(item: Item, times_s: Sequence[float], *, slack_s: float = 0.0) -> float | None:
    """The share of the spans of evidence of which at least one frame is shown.

    Args:
        item: the question; evidence that lists frames without a span says no time and does not count.
        times_s: presentation times of the frames shown, in seconds from the first frame of the file.
        slack_s: how far outside a span ``[start_s, end_s)`` a frame still shows it, in seconds.

    Returns:
        None where no evidence has a time, or where there are several media, of which evidence does not say
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


class SelectorGap:
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

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """The frames of the plan, of each selector and of the evidence, with one budget."""
        specs = {PLAN: self.settings.base or selector}
        specs |= {spec: spec for spec in self.settings.selectors}
        specs |= {ORACLE: self.settings.oracle}
        return {name: View(selector=spec, n_frames=n_frames) for name, spec in specs.items()}

    def models(self) -> Mapping[str, str]:
        """No others."""
        return {}

    def examine(self, subject: Subject) -> Flow[GapFinding]:
        """Ask with all frames at once, or not at all where there is no evidence and that is to be skipped."""
        item, settings = subject.item, self.settings
        n_pieces = len(located(item))
        is_filled = not n_pieces and settings.missing == "fill"
        if not n_pieces and settings.missing == "skip":
            return GapFinding(marks={}, recall={}, n_frames={}, n_pieces=0)
        shown = {name: name for name in settings.shown}
        if is_filled:
            shown[ORACLE] = PLAN
        conditions = {name: Condition(view=view) for name, view in shown.items()}
        if settings.blind:
            conditions[TEXT] = Condition(view=PLAN, positions=())
        scores = yield from ask_together(subject, list(conditions.values()))
        return GapFinding(
            marks={name: (score,) for name, score in zip(conditions, scores, strict=True)},
            recall={
                name: recall(item, subject.times_s(view), slack_s=settings.slack_s)
                for name, view in shown.items()
            },
            n_frames={name: subject.n_frames(view) for name, view in shown.items()},
            n_pieces=n_pieces,
            is_filled=is_filled,
        )

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Both gaps of each selector; where questions are lost; how much evidence is found; by tag."""
        conditions = (*self.settings.shown, *([TEXT] if self.settings.blind else []))
        found = side_by_side(examined, GapFinding, lambda one: one.marks, conditions=conditions)
        gaps = _Gaps(found=found, settings=self.settings, figures=Figures(rng=rng, level=level))
        return tuple(gaps.statements())


def create(settings: Settings) -> Diagnostic:
    """The diagnostic."""
    return SelectorGap(settings)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[GapFinding]


@dataclass(frozen=True, kw_only=True)
class _Gaps:
    """The tables over the questions that have a score with all frames."""

    found: Found
    settings: Settings
    figures: Figures

    def statements(self) -> list[Statement]:
        """The headline first."""
        timed = self._timed()
        made: list[Statement] = [self._headline()]
        if self.found.items:
            made += [self._lost(), self._beyond_guessing()]
            if self.settings.selectors:
                made.append(self._above_plan())
        if timed.items:
            made += [self._recall(timed), self._recall_figure(timed)]
        return [*made, *self._tags()]

    def _headline(self) -> Sheet:
        found, figures, chosen = self.found, self.figures, self.settings.chosen
        values, items = found.values, found.items
        gaps = figures.differences({name: (values[ORACLE], values[name]) for name in chosen}, items)
        n_filled = sum(one.is_filled for one in found.findings)
        filled = (
            f"{n_filled:,} questions have no evidence; the plan's frames stand in for it, which makes the "
            "retrieval gap smaller."
        )
        return tabulate(
            "selector-gap",
            "Where the score is lost",
            label="shown",
            rows=by_name(values if items else (), LABELS),
            measures=(
                number("questions", "questions", lambda _: len(items)),
                share("accuracy", "accuracy", lambda name: figures.mean(values[name], items)),
                share(
                    "loss",
                    "loss",
                    lambda name: figures.mean(1 - values[name], items),
                    note="what is not right",
                ),
                difference(
                    "retrieval",
                    "retrieval gap",
                    gaps,
                    note="accuracy on the frames of the evidence less that on these frames, paired",
                ),
                share(
                    "fusion",
                    "fusion gap",
                    lambda name: figures.mean(1 - values[ORACLE], items) if name != TEXT else None,
                    note="what is lost with the evidence in sight; the same for all selectors",
                ),
                share(
                    "retrieval_share",
                    "retrieval / loss",
                    lambda name: (
                        figures.ratio(values[ORACLE] - values[name], 1 - values[name], items)
                        if name in gaps
                        else None
                    ),
                    note="the share of the loss that is due to retrieval",
                ),
                holm(gaps),
                *kinds(lambda name: found.marks[name]),
            ),
            note=note(
                "Loss = retrieval gap + fusion gap.",
                filled if n_filled else "",
                guessing_note(items),
                found.left_out,
            ),
        )

    def _lost(self) -> Sheet:
        values, items = self.found.values, self.found.items

        def part(*, is_right: bool, by_oracle: bool) -> Callable[[str], Estimate]:
            def among(name: str) -> Estimate:
                is_so = ((values[name] >= 1) == is_right) & ((values[ORACLE] >= 1) == by_oracle)
                return self.figures.mean(is_so.astype(np.float64), items)

            return among

        return tabulate(
            "lost",
            "What becomes of the questions",
            label="shown",
            rows=by_name(self.settings.chosen, LABELS),
            measures=(
                share("right", "right both ways", part(is_right=True, by_oracle=True)),
                share(
                    "retrieval",
                    "lost in retrieval",
                    part(is_right=False, by_oracle=True),
                    note="right with the frames of the evidence, not with these",
                ),
                share(
                    "fusion",
                    "lost in fusion",
                    part(is_right=False, by_oracle=False),
                    note="right with neither",
                ),
                share(
                    "other",
                    "right with these alone",
                    part(is_right=True, by_oracle=False),
                    note="luck, evidence that was not annotated, or frames of the evidence that mislead",
                ),
            ),
            note="Retrieval gap = lost in retrieval less right with these alone.",
        )

    def _beyond_guessing(self) -> Sheet:
        values, items, chances = self.found.values, self.found.items, guesses(self.found.items)
        can_be_known = chances < 1
        weights = 1 / np.where(can_be_known, 1 - chances, 1)

        def weighed(lost: Values) -> Estimate | None:
            return self.figures.where(can_be_known, lost * weights, items, of=self.figures.gain)

        return tabulate(
            "beyond-guessing",
            "The gaps if whoever does not know guesses",
            label="shown",
            rows=by_name(self.settings.chosen, LABELS),
            measures=(
                share("loss", "not known", lambda name: weighed(1 - values[name])),
                share("retrieval", "retrieval gap", lambda name: weighed(values[ORACLE] - values[name])),
                share("fusion", "fusion gap", lambda _: weighed(1 - values[ORACLE])),
            ),
            note="Each wrong answer counts 1 / (1 - chance). Above 100 % is worse than guessing.",
        )

    def _above_plan(self) -> Sheet:
        values, names = self.found.values, self.settings.selectors
        above = self.figures.differences({n: (values[n], values[PLAN]) for n in names}, self.found.items)
        return tabulate(
            "above-plan",
            "Selectors against the frames of the plan",
            label="selector",
            rows=by_name(names),
            measures=(difference("difference", "difference", above), holm(above)),
        )

    # ------------------------------------------------------------------ what is found

    def _timed(self) -> Found:
        """The questions whose evidence has a time."""
        shown = self.settings.shown
        return self.found.of(
            [
                i
                for i, one in enumerate(self.found.findings)
                if not one.is_filled and all(one.recall[name] is not None for name in shown)
            ]
        )

    def _recall(self, timed: Found) -> Sheet:
        values, items, figures = timed.values, timed.items, self.figures
        recalls = self._recalls(timed)

        def accuracy(*, has_all: bool) -> Callable[[str], Estimate | None]:
            return lambda n: figures.where((recalls[n] >= 1) == has_all, values[n], items, of=figures.mean)

        def gap(*, has_all: bool) -> Callable[[str], Estimate | None]:
            def lost(name: str) -> Estimate | None:
                is_in, less = (recalls[name] >= 1) == has_all, values[ORACLE] - values[name]
                return figures.where(is_in, less, items, of=figures.gain) if name != ORACLE else None

            return lost

        return tabulate(
            "recall",
            "How much of the evidence is shown",
            label="shown",
            rows=by_name(self.settings.shown, LABELS),
            measures=(
                number("questions", "questions", lambda _: len(items)),
                share(
                    "recall",
                    "recall",
                    lambda name: figures.mean(recalls[name], items),
                    note="spans of evidence with a frame",
                ),
                share(
                    "all",
                    "all shown",
                    lambda name: figures.mean((recalls[name] >= 1).astype(np.float64), items),
                    note="questions with full recall",
                ),
                share("accuracy_all", "accuracy, all shown", accuracy(has_all=True)),
                share("accuracy_part", "accuracy, some missing", accuracy(has_all=False)),
                share("gap_all", "retrieval gap, all shown", gap(has_all=True)),
                share("gap_part", "retrieval gap, some missing", gap(has_all=False)),
            ),
            note="A retrieval gap where all is shown is not one of retrieval: other frames distract, or one "
            "frame of a span is not enough. Recall of the evidence's own frames below 100 % means more spans "
            "than frames, or spans shorter than a frame (slack_s allows for these).",
        )

    def _recalls(self, timed: Found) -> dict[str, Values]:
        shown = self.settings.shown
        return {n: np.array([one.recall[n] for one in timed.findings], np.float64) for n in shown}

    def _recall_figure(self, timed: Found) -> Scatter:
        recalls, mean = self._recalls(timed), self.figures.mean
        return Scatter(
            name="recall-accuracy",
            title="Evidence shown and score",
            x_title="share of the evidence that is shown",
            y_title="accuracy",
            dots=tuple(
                Dot(
                    label=LABELS.get(name, name),
                    x=mean(recalls[name], timed.items),
                    y=mean(timed.values[name], timed.items),
                )
                for name in self.settings.shown
            ),
            x_is_share=True,
        )

    def _tags(self) -> list[Sheet]:
        figures, chosen = self.figures, self.settings.chosen

        def accuracy(name: str) -> Measure[Found]:
            title = f"accuracy, {LABELS.get(name, name)}"
            return share(name, title, lambda some: figures.mean(some.values[name], some.items))

        def retrieval(name: str) -> Measure[Found]:
            return share(
                f"retrieval:{name}",
                f"retrieval gap, {LABELS.get(name, name)}",
                lambda some: figures.gain(some.values[ORACLE] - some.values[name], some.items),
            )

        measures = (
            number("questions", "questions", lambda some: len(some.items)),
            *map(accuracy, self.found.values),
            *map(retrieval, chosen),
            share("fusion", "fusion gap", lambda some: figures.mean(1 - some.values[ORACLE], some.items)),
        )
        return tag_tables(
            "selector-gap:",
            "Where the score is lost",
            self.found.items,
            about=self.found.of,
            measures=measures,
        )
