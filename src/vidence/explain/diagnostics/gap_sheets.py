"""What the diagnostic `selector-gap` has to say: its findings, and the sheets over all questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from vidence.contracts import Examined
from vidence.explain.diagnostics._summary import by_tag
from vidence.explain.diagnostics.paired import (
    KINDS,
    P_HOLM,
    QUESTIONS,
    Conditions,
    Figures,
    Values,
    count_kinds,
    guesses,
    holm,
    note,
    side_by_side,
)
from vidence.explain.diagnostics.sitting import Mark
from vidence.records import Record
from vidence.tables.findings import Dot, Entry, Heading, Scatter, Sheet, Statement, Value

PLAN, ORACLE, TEXT = "plan", "evidence-frames", "text"
LABELS = {PLAN: "frames of the plan", ORACLE: "frames of the evidence", TEXT: "words alone"}
_GAPS_NOTE = "Loss = retrieval gap + fusion gap."


class GapFinding(Record, kw_only=True, omit_defaults=True):
    """What one question got with the frames of each selector.

    By name of what is shown (``plan``, the spec of a selector, ``evidence-frames``; ``text`` has a mark
    alone): `marks` with one mark each, `recall` the share of the spans of evidence that the frames hit
    (None where evidence has no time), `n_frames` how many there were. `n_pieces` counts the annotated
    evidence. `is_filled` tells that there is none and that the plan's frames stand in for it; a question
    that was skipped has nothing.

    Source: HERBench, section 5.1.
    Departs: see `vidence.explain.diagnostics.selector_gap.SelectorGap`.
    """

    marks: dict[str, tuple[Mark, ...]]
    recall: dict[str, float | None]
    n_frames: dict[str, int]
    n_pieces: int
    is_filled: bool = False


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is compared; see `vidence.explain.diagnostics.selector_gap.create`."""

    selectors: tuple[str, ...]
    base: str
    oracle: str
    missing: str
    is_blind: bool
    slack_s: float

    @property
    def chosen(self) -> tuple[str, ...]:
        """Whatever is compared with the evidence."""
        return (PLAN, *self.selectors)

    @property
    def shown(self) -> tuple[str, ...]:
        """All that shows frames."""
        return (*self.chosen, ORACLE)

    def label(self, name: str) -> str:
        """The words for what is shown."""
        return LABELS.get(name, name)


@dataclass(frozen=True, kw_only=True)
class Sheets:
    """The statements over the questions that have a mark with all frames."""

    found: Conditions
    settings: Settings
    figures: Figures

    @classmethod
    def of(cls, examined: Sequence[Examined], *, settings: Settings, figures: Figures) -> "Sheets":
        """Put the questions side by side."""
        conditions = (*settings.shown, *([TEXT] if settings.is_blind else []))
        found = side_by_side(
            examined, lambda finding: cast("GapFinding", finding).marks, conditions=conditions
        )
        return cls(found=found, settings=settings, figures=figures)

    def all(self) -> tuple[Statement, ...]:
        """The headline first."""
        recalls = self._recalls()
        parts: list[Statement] = [self._headline()]
        if self.found.items:
            parts += [self._lost(), self._beyond_guessing()]
            if self.settings.selectors:
                parts.append(self._above_plan())
        if recalls is not None:
            parts += [self._recall_sheet(recalls), self._recall_figure(recalls)]
        parts += [self._tag(tag, values) for tag, values in by_tag(self.found.items).items()]
        return tuple(parts)

    # ------------------------------------------------------------------ the gaps

    def _headline(self) -> Sheet:
        items, values = self.found.items, self.found.values
        gaps = {}
        if items:
            gaps = {
                name: self.figures.difference(values[ORACLE], values[name], items)
                for name in self.settings.chosen
            }
        adjusted = holm({name: p for name, (_, p) in gaps.items()})
        entries = []
        for name in values if items else ():
            retrieval = gaps[name][0] if name in gaps else None
            loss = 1 - values[name]
            lost_on_the_way = values[ORACLE] - values[name]
            numbers: tuple[Value, ...] = (
                len(items),
                self.figures.mean(values[name], items),
                self.figures.mean(loss, items),
                retrieval,
                self.figures.mean(1 - values[ORACLE], items) if name != TEXT else None,
                self.figures.ratio(lost_on_the_way, loss, items) if name in gaps else None,
                adjusted.get(name),
                *count_kinds(self.found.marks[name]),
            )
            entries.append(Entry(key=name, label=self.settings.label(name), values=numbers))
        return Sheet(
            name="selector-gap",
            title="Where the score is lost",
            label="shown",
            headings=(
                QUESTIONS,
                Heading(key="accuracy", title="accuracy", is_share=True),
                Heading(key="loss", title="loss", is_share=True, note="what is not right"),
                Heading(
                    key="retrieval",
                    title="retrieval gap",
                    is_share=True,
                    note="accuracy on the frames of the evidence less that on these frames, paired",
                ),
                Heading(
                    key="fusion",
                    title="fusion gap",
                    is_share=True,
                    note="what is lost with the evidence in sight; the same for all selectors",
                ),
                Heading(
                    key="retrieval_share",
                    title="retrieval / loss",
                    is_share=True,
                    note="the share of the loss that is due to retrieval",
                ),
                P_HOLM,
                *KINDS,
            ),
            entries=tuple(entries),
            note=note(_GAPS_NOTE, self._filled_note(), self._guessing_note(), self.found.left_out),
        )

    def _filled_note(self) -> str:
        n = sum(cast("GapFinding", one).is_filled for one in self.found.findings)
        if not n:
            return ""
        return (
            f"{n:,} questions have no evidence; the plan's frames stand in for it, which makes the retrieval "
            "gap smaller."
        )

    def _guessing_note(self) -> str:
        if not self.found.items:
            return ""
        chance = float(guesses(self.found.items, lambda c: c).mean())
        return f"Guessing alone gets {100 * chance:.1f} %."

    def _lost(self) -> Sheet:
        items, oracle = self.found.items, self.found.values[ORACLE] >= 1
        entries = []
        for name in self.settings.chosen:
            right = self.found.values[name] >= 1
            parts = (right & oracle, ~right & oracle, ~right & ~oracle, right & ~oracle)
            numbers = tuple(self.figures.mean(part.astype(np.float64), items) for part in parts)
            entries.append(Entry(key=name, label=self.settings.label(name), values=numbers))
        return Sheet(
            name="lost",
            title="What becomes of the questions",
            label="shown",
            headings=(
                Heading(key="right", title="right both ways", is_share=True),
                Heading(
                    key="retrieval",
                    title="lost in retrieval",
                    is_share=True,
                    note="right with the frames of the evidence, not with these",
                ),
                Heading(key="fusion", title="lost in fusion", is_share=True, note="right with neither"),
                Heading(
                    key="other",
                    title="right with these alone",
                    is_share=True,
                    note="luck, evidence that was not annotated, or frames of the evidence that mislead",
                ),
            ),
            entries=tuple(entries),
            note="Retrieval gap = lost in retrieval less right with these alone.",
        )

    def _beyond_guessing(self) -> Sheet:
        items, chances = self.found.items, guesses(self.found.items, lambda c: c)
        can_be_known = chances < 1
        weights = 1 / np.where(can_be_known, 1 - chances, 1)
        entries = []
        for name in self.settings.chosen:
            oracle, ours = self.found.values[ORACLE], self.found.values[name]
            parts = (1 - ours, oracle - ours, 1 - oracle)
            numbers = tuple(self.figures.gain_where(part * weights, can_be_known, items) for part in parts)
            entries.append(Entry(key=name, label=self.settings.label(name), values=numbers))
        return Sheet(
            name="beyond-guessing",
            title="The gaps if whoever does not know guesses",
            label="shown",
            headings=(
                Heading(key="loss", title="not known", is_share=True),
                Heading(key="retrieval", title="retrieval gap", is_share=True),
                Heading(key="fusion", title="fusion gap", is_share=True),
            ),
            entries=tuple(entries),
            note="Each wrong answer counts 1 / (1 - chance). Above 100 % is worse than guessing.",
        )

    def _above_plan(self) -> Sheet:
        values, items = self.found.values, self.found.items
        found = {
            name: self.figures.difference(values[name], values[PLAN], items)
            for name in self.settings.selectors
        }
        adjusted = holm({name: p for name, (_, p) in found.items()})
        return Sheet(
            name="above-plan",
            title="Selectors against the frames of the plan",
            label="selector",
            headings=(
                Heading(key="difference", title="difference", is_share=True, note="paired"),
                P_HOLM,
            ),
            entries=tuple(
                Entry(key=name, label=name, values=(difference, adjusted[name]))
                for name, (difference, _) in found.items()
            ),
        )

    # ------------------------------------------------------------------ what is found

    def _recalls(self) -> "_Recalls | None":
        """The questions whose evidence has a time; None where there are none."""
        findings = [cast("GapFinding", one) for one in self.found.findings]
        positions = [
            i
            for i, finding in enumerate(findings)
            if not finding.is_filled and all(finding.recall[name] is not None for name in self.settings.shown)
        ]
        if not positions:
            return None
        table = {
            name: np.array([findings[i].recall[name] for i in positions], np.float64)
            for name in self.settings.shown
        }
        return _Recalls(found=self.found.of(positions), recall=table)

    def _recall_sheet(self, recalls: "_Recalls") -> Sheet:
        entries = []
        for name in self.settings.shown:
            values, recall = recalls.found.values, recalls.recall[name]
            has_all = recall >= 1
            gap = values[ORACLE] - values[name]
            numbers: tuple[Value, ...] = (
                len(recall),
                self.figures.mean(recall, recalls.found.items),
                self.figures.mean(has_all.astype(np.float64), recalls.found.items),
                self.figures.mean_where(values[name], has_all, recalls.found.items),
                self.figures.mean_where(values[name], ~has_all, recalls.found.items),
                self.figures.gain_where(gap, has_all, recalls.found.items) if name != ORACLE else None,
                self.figures.gain_where(gap, ~has_all, recalls.found.items) if name != ORACLE else None,
            )
            entries.append(Entry(key=name, label=self.settings.label(name), values=numbers))
        return Sheet(
            name="recall",
            title="How much of the evidence is shown",
            label="shown",
            headings=(
                QUESTIONS,
                Heading(key="recall", title="recall", is_share=True, note="spans of evidence with a frame"),
                Heading(key="all", title="all shown", is_share=True, note="questions with full recall"),
                Heading(key="accuracy_all", title="accuracy, all shown", is_share=True),
                Heading(key="accuracy_part", title="accuracy, some missing", is_share=True),
                Heading(key="gap_all", title="retrieval gap, all shown", is_share=True),
                Heading(key="gap_part", title="retrieval gap, some missing", is_share=True),
            ),
            entries=tuple(entries),
            note=(
                "A retrieval gap where all is shown is not one of retrieval: other frames distract, or one "
                "frame of a span is not enough. Recall of the evidence's own frames below 100 % means more "
                "spans than frames, or spans shorter than a frame (slack_s allows for these)."
            ),
        )

    def _recall_figure(self, recalls: "_Recalls") -> Scatter:
        items = recalls.found.items
        dots = tuple(
            Dot(
                label=self.settings.label(name),
                x=self.figures.mean(recalls.recall[name], items),
                y=self.figures.mean(recalls.found.values[name], items),
            )
            for name in self.settings.shown
        )
        return Scatter(
            name="recall-accuracy",
            title="Evidence shown and score",
            x_title="share of the evidence that is shown",
            y_title="accuracy",
            dots=dots,
            x_is_share=True,
        )

    def _tag(self, tag: str, values: Mapping[str, tuple[int, ...]]) -> Sheet:
        names, chosen = tuple(self.found.values), self.settings.chosen
        entries = []
        for value, positions in values.items():
            some = self.found.of(positions)
            oracle = some.values[ORACLE]
            numbers: tuple[Value, ...] = (
                len(some.items),
                *(self.figures.mean(some.values[name], some.items) for name in names),
                *(self.figures.gain(oracle - some.values[name], some.items) for name in chosen),
                self.figures.mean(1 - oracle, some.items),
            )
            entries.append(Entry(key=value, label=value, values=numbers))
        label = self.settings.label
        return Sheet(
            name=f"selector-gap:{tag}",
            title=f"Where the score is lost, by {tag}",
            label=tag,
            headings=(
                QUESTIONS,
                *(Heading(key=name, title=f"accuracy, {label(name)}", is_share=True) for name in names),
                *(
                    Heading(key=f"retrieval:{name}", title=f"retrieval gap, {label(name)}", is_share=True)
                    for name in chosen
                ),
                Heading(key="fusion", title="fusion gap", is_share=True),
            ),
            entries=tuple(entries),
            note="No adjustment for the number of lines.",
        )


@dataclass(frozen=True, kw_only=True)
class _Recalls:
    """The questions whose evidence has a time, and by name what share of it is shown, shape (n_items,)."""

    found: Conditions
    recall: Mapping[str, Values]
