"""What the diagnostic `budgets` has to say: its findings, and tables and curves over all questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from vidence.contracts import Examined
from vidence.explain.diagnostics._budget_groups import Grouping
from vidence.explain.diagnostics.paired import (
    KINDS,
    P_HOLM,
    QUESTIONS,
    Conditions,
    Figures,
    count_kinds,
    holm,
    note,
    side_by_side,
)
from vidence.explain.diagnostics.sitting import Mark
from vidence.records import Failed, Record
from vidence.statistics.plateau import FEWEST_AMOUNTS, Course, Plateau, find_plateau
from vidence.statistics.resampling import Resampling
from vidence.tables.findings import Chart, Entry, Heading, Point, Series, Sheet, Statement, Value

SWEEPS = {
    "frames": ("Score and number of frames", "frames asked for", "frames", "delivered"),
    "size": ("Score and resolution", "limit in pixels", "limit", "shorter side, px"),
    "thinking": ("Score and thinking", "tokens to think with", "setting", "tokens of the reply"),
}
COURSES: Mapping[Course, str] = {
    "saturates": "more does not help",
    "rises": "rises, no plateau",
    "falls": "more hurts",
    "flat": "no change seen",
    "unclear": "cannot be told",
}
ALL = "all"


class Measured(Record, kw_only=True, omit_defaults=True):
    """What one question got with one amount.

    `label` is how the amount was given, `amount` its number (None for such as ``native``). `delivered` is
    what came of it: frames shown, pixels of the shorter side, mean tokens of the replies.
    """

    label: str
    amount: float | None = None
    delivered: float | None = None
    marks: tuple[Mark, ...]


class BudgetsFinding(Record, kw_only=True):
    """What one question got with each amount of each sweep: ``frames``, ``size``, ``thinking``.

    Source: HumanPCR, figure 6; PerceptionComp, table 3.
    Departs: see `vidence.explain.diagnostics.budgets.Budgets`.
    """

    sweeps: dict[str, tuple[Measured, ...]]


@dataclass(frozen=True, kw_only=True)
class Sheets:
    """The statements over all questions; the amounts are those of the findings."""

    examined: tuple[Examined, ...]
    figures: Figures
    grouping: Grouping

    def all(self) -> tuple[Statement, ...]:
        """The table of the first sweep first."""
        findings = [
            cast("BudgetsFinding", one.finding)
            for one in self.examined
            if not isinstance(one.finding, Failed)
        ]
        statements: list[Statement] = []
        for sweep in findings[0].sweeps if findings else ():
            statements += self._sweep(sweep, findings[0].sweeps[sweep]).all()
        return tuple(statements) or (self._nothing(),)

    def _sweep(self, name: str, like: Sequence[Measured]) -> "_Sweep":
        def marks_of(finding: Record) -> dict[str, tuple[Mark, ...]]:
            measured = cast("BudgetsFinding", finding).sweeps.get(name, ())
            return {one.label: one.marks for one in measured}

        labels = [one.label for one in like]
        return _Sweep(
            name=name,
            amounts={one.label: one.amount for one in like},
            found=side_by_side(self.examined, marks_of, conditions=labels),
            figures=self.figures,
            grouping=self.grouping,
        )

    def _nothing(self) -> Sheet:
        found = side_by_side(self.examined, lambda _: {}, conditions=())
        return Sheet(
            name="budgets",
            title="Score and budget",
            label="budget",
            headings=(QUESTIONS,),
            entries=(),
            note=found.left_out,
        )


@dataclass(frozen=True, kw_only=True)
class _Sweep:
    """One sweep over the questions that have a mark with each amount."""

    name: str
    amounts: Mapping[str, float | None]
    found: Conditions
    figures: Figures
    grouping: Grouping

    def all(self) -> list[Statement]:
        groups = {ALL: self.found} | {
            group: self.found.of(positions)
            for group, positions in self.grouping.parted(self.found.items).items()
        }
        is_parted = len(groups) > 1
        statements: list[Statement] = [self._table(is_parted=is_parted)]
        if not self.found.items:
            return statements
        if is_parted:
            statements.append(self._groups(groups))
        if len(self._numbered()) > 1:
            courses = self._courses(groups)
            statements += [self._curve(groups, courses), self._gain(groups)]
            if courses:
                statements.append(self._course_table(courses))
        return statements

    def _numbered(self) -> dict[str, float]:
        """The amounts that have a number, ascending."""
        return {label: amount for label, amount in self.amounts.items() if amount is not None}

    def _delivered(self, label: str) -> tuple[float | None, int]:
        """The mean of what came of an amount, and how many questions got less than was asked for."""
        measured = [
            one
            for finding in self.found.findings
            for one in cast("BudgetsFinding", finding).sweeps[self.name]
            if one.label == label
        ]
        known = [one.delivered for one in measured if one.delivered is not None]
        n_short = sum(one.delivered < (one.amount or 0) for one in measured if one.delivered is not None)
        return (sum(known) / len(known) if known else None), n_short

    # ------------------------------------------------------------------ tables

    def _table(self, *, is_parted: bool) -> Sheet:
        items, values = self.found.items, self.found.values
        labels = list(values) if items else []
        steps = {
            second: self.figures.difference(values[second], values[first], items)
            for first, second in pairwise(labels)
        }
        adjusted = holm({label: p for label, (_, p) in steps.items()})
        title, _, label_title, delivered_title = SWEEPS[self.name]
        entries = []
        for label in labels:
            delivered, n_short = self._delivered(label)
            numbers: tuple[Value, ...] = (
                len(items),
                delivered,
                n_short if self.name == "frames" else None,
                self.figures.mean(values[label], items),
                steps[label][0] if label in steps else None,
                adjusted.get(label),
                *count_kinds(self.found.marks[label]),
            )
            entries.append(Entry(key=label, label=label, values=numbers))
        return Sheet(
            name=self.name,
            title=title,
            label=label_title,
            headings=(
                QUESTIONS,
                Heading(key="delivered", title=delivered_title, note="mean of what came of it"),
                Heading(key="short", title="fewer frames", note="questions whose video has no more"),
                Heading(key="accuracy", title="accuracy", is_share=True),
                Heading(
                    key="step", title="more than before", is_share=True, note="paired, against the line above"
                ),
                P_HOLM,
                *KINDS,
            ),
            entries=tuple(entries),
            note=note(
                "" if is_parted else f"Not parted by {self.grouping.title}: there are not two groups.",
                self.found.left_out,
            ),
        )

    def _groups(self, groups: Mapping[str, Conditions]) -> Sheet:
        labels = list(self.amounts)
        entries = []
        for group, some in groups.items():
            gain, _ = self.figures.difference(some.values[labels[-1]], some.values[labels[0]], some.items)
            numbers: tuple[Value, ...] = (
                len(some.items),
                *(self.figures.mean(some.values[label], some.items) for label in labels),
                gain,
            )
            entries.append(Entry(key=group, label=group, values=numbers))
        return Sheet(
            name=f"{self.name}:groups",
            title=f"{SWEEPS[self.name][0]}, by {self.grouping.title}",
            label=self.grouping.title,
            headings=(
                QUESTIONS,
                *(Heading(key=label, title=label, is_share=True) for label in labels),
                Heading(key="gain", title="last less first", is_share=True, note="paired"),
            ),
            entries=tuple(entries),
            note="No adjustment for the number of lines.",
        )

    # ------------------------------------------------------------------ curves

    def _x_title(self) -> str:
        delivered = [self._delivered(label)[0] for label in self._numbered()]
        if None in delivered:
            return SWEEPS[self.name][1]
        said = ", ".join(f"{one:g}" if one == round(one or 0) else f"{one:.1f}" for one in delivered)
        return f"{SWEEPS[self.name][1]} ({SWEEPS[self.name][3]}: {said})"

    def _curve(self, groups: Mapping[str, Conditions], courses: Mapping[str, Plateau]) -> Chart:
        series = tuple(
            Series(
                label=group,
                points=tuple(
                    Point(x=amount, y=self.figures.mean(some.values[label], some.items))
                    for label, amount in self._numbered().items()
                ),
            )
            for group, some in groups.items()
        )
        overall = courses[ALL].point if ALL in courses else None
        return Chart(
            name=f"{self.name}:curve",
            title=SWEEPS[self.name][0],
            x_title=self._x_title(),
            y_title="accuracy",
            series=series,
            is_log=0 not in self._numbered().values(),
            marks=() if overall is None else ((overall, COURSES["saturates"]),),
            note=note(
                "The same questions at every point of a curve: see the next figure for their differences."
            ),
        )

    def _gain(self, groups: Mapping[str, Conditions]) -> Chart:
        (first, *_) = labels = list(self._numbered())
        series = tuple(
            Series(
                label=group,
                points=tuple(
                    Point(
                        x=self._numbered()[label],
                        y=self.figures.difference(some.values[label], some.values[first], some.items)[0],
                    )
                    for label in labels[1:]
                ),
            )
            for group, some in groups.items()
        )
        return Chart(
            name=f"{self.name}:gain",
            title=f"{SWEEPS[self.name][0]}: gain over {first}",
            x_title=self._x_title(),
            y_title=f"accuracy less that at {first}, paired",
            series=series,
            is_log=0 not in self._numbered().values(),
        )

    # ------------------------------------------------------------------ saturation

    def _courses(self, groups: Mapping[str, Conditions]) -> dict[str, Plateau]:
        """The course of each curve over the amounts above 0; nothing where these are too few."""
        fitted = {label: amount for label, amount in self._numbered().items() if amount > 0}
        if len(fitted) < FEWEST_AMOUNTS:
            return {}
        return {
            group: find_plateau(
                np.stack([some.values[label] for label in fitted], axis=1),
                list(fitted.values()),
                clusters=[item.video_id for item in some.items],
                rng=self.figures.rng,
                settings=Resampling(level=self.figures.level),
            )
            for group, some in groups.items()
        }

    def _course_table(self, courses: Mapping[str, Plateau]) -> Sheet:
        entries = []
        for group, found in courses.items():
            numbers: tuple[Value, ...] = (
                COURSES[found.course],
                found.point,
                found.below,
                found.split,
                found.early,
                found.late,
            )
            entries.append(Entry(key=group, label=group, values=numbers))
        has_zero = 0 in self._numbered().values()
        return Sheet(
            name=f"{self.name}:saturation",
            title=f"{SWEEPS[self.name][0]}: where more stops to help",
            label=self.grouping.title if len(courses) > 1 else "",
            headings=(
                Heading(key="course", title="course"),
                Heading(key="point", title="saturates at", note="only where the data support it"),
                Heading(key="below", title="clearly below at", note="the largest amount that still is"),
                Heading(key="split", title="split at"),
                Heading(key="early", title="a doubling before", is_share=True),
                Heading(key="late", title="a doubling after", is_share=True),
            ),
            entries=tuple(entries),
            note=note(
                "It saturates at the first amount up to which the score clearly rises, and after which it "
                "may be level and clearly rises less than half as steeply.",
                "The amount 0 has no logarithm and is left out." if has_zero else "",
            ),
        )
