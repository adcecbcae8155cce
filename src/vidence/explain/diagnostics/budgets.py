"""How a score depends on what is spent: frames, thinking tokens."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Final

import msgspec
import numpy as np
from msgspec import Meta

from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import (
    PLAN,
    Condition,
    Count,
    Examination,
    ReplyScore,
    ask_together,
)
from vidence.explain.diagnostics.tables import (
    NO_ADJUSTMENT,
    Figures,
    SideBySide,
    by_tag,
    difference,
    holm,
    kinds,
    side_by_side,
)
from vidence.records import Estimate, Item, Record
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import Measure, Table, Value, lines, number, share, tabulate

EVIDENCE: Final = "evidence"
COUNT_TAG: Final = "n_evidence"  # where a benchmark counts evidence that it does not list
OTHER: Final = "other"
_FIRST: Final = 8  # frames; doubled up to the budget of the plan
_USUAL_BINS = ("0", "1", "2-3", "4-5", "6+")
_BIN = re.compile(r"(\d+)(?:-(\d+)|(\+))?")


class Settings(Record):
    """Options of the diagnostic. Only named sweeps run; frames by default."""

    frames: Annotated[
        tuple[Count, ...], Meta(description="budgets (default: 8, 16, 32, ... up to the plan's)")
    ] = ()
    thinking: Annotated[tuple[str, ...], Meta(description="values of the model's option `setting`")] = ()
    setting: Annotated[str, Meta(description="the model's option that `thinking` sweeps")] = "thinking_budget"
    by: Annotated[str, Meta(description="what parts the questions: evidence, or a tag")] = EVIDENCE
    groups: Annotated[
        tuple[str, ...], Meta(description="bins of the numbers of `by`; for evidence 0|1|2-3|4-5|6+")
    ] = ()
    repeats: Annotated[Count, Meta(description="how often each question is asked with each amount")] = 1

    def __post_init__(self) -> None:
        for sweep, amounts in (("frames", self.frames), ("thinking", self.thinking)):
            if len(amounts) == 1:
                raise UsageError(
                    f"budgets: {sweep}={amounts[0]} is a single amount; expected two or more, split by |"
                )
        for group in self.groups:
            ends = _BIN.fullmatch(group)
            if ends is None or (ends[2] is not None and int(ends[2]) < int(ends[1])):
                raise UsageError(
                    f"budgets: {group!r} is no bin; expected bins such as 1, 2-3 or 6+, split by |"
                )

    def steps(self, frames: Sequence[int]) -> "tuple[Step, ...]":
        """Return all steps of all sweeps, smallest first, with these frame budgets."""
        thinking = self.thinking
        if all(name.isdecimal() for name in thinking):
            thinking = tuple(sorted(thinking, key=int))
        return (
            *(Step(sweep="frames", label=str(n), amount=n, view=f"frames:{n}") for n in sorted(frames)),
            *(
                Step(
                    sweep="thinking",
                    label=name,
                    amount=float(name) if name.isdecimal() else None,
                    view=PLAN,
                    model=f"thinking:{name}",
                )
                for name in thinking
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a sweep: its text, its number (None if it has none), and the model."""

    sweep: str
    label: str
    amount: float | None
    view: str
    model: str = ""


class Measured(Record, omit_defaults=True):
    """One question's result at one step."""

    label: str
    """The amount as given."""
    amount: float | None = None
    """Its number; None for values such as ``high``."""
    delivered: float | None = None
    """The amount delivered: frames shown, or mean tokens of the replies."""
    marks: tuple[ReplyScore, ...]


class BudgetsFinding(Record):
    """One question's results at each step of each sweep: ``frames``, ``thinking``.

    Source: HumanPCR, figure 6; PerceptionComp, table 3.
    Departs: see `Budgets`.
    """

    sweeps: dict[str, tuple[Measured, ...]]


def doublings(n_frames: int) -> tuple[int, ...]:
    """Return 8, 16, 32, ... below a number of frames, and that number; from 1 if it is 8 or less.

    Source: HumanPCR, figure 6, and PerceptionComp, table 3a, sweep frames; the steps are ours.

    >>> doublings(50), doublings(4)
    ((8, 16, 32, 50), (1, 2, 4))
    """
    first = _FIRST if n_frames > _FIRST else 1
    steps = [first * 2**i for i in range(n_frames.bit_length()) if first * 2**i < n_frames]
    return (*steps, n_frames)


class Budgets(Examination[Settings]):
    """Each question with growing budgets, all asked together.

    *Frames*: the plan's selector with several budgets. *Thinking*: the plan's frames, and the plan's model
    with several values of one of its options.

    Every curve is of the same questions, so that neighbours are compared in pairs. Overall and by the
    number of pieces of evidence.

    Source: HumanPCR, section 4.3 and figure 6 (frames, overall and by number of evidence: 2-3, 4-5, 6 and
        more); PerceptionComp, section 4.2 and table 3 (frames; thinking budget).
    Departs: the papers give no intervals and no tests. A selector chooses again for each budget, as in the
        papers: the smaller set of frames need not be a part of the larger one.
    """

    name = "budgets"
    version = 1
    finding: type[Record] = BudgetsFinding

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._steps = settings.steps(settings.frames)

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """Return a view per budget.

        Without a requested sweep, this also fixes the budgets, which follow from the plan's.

        Raises:
            UsageError: the plan has a single frame and no sweep is given.
        """
        if not self._steps:
            if n_frames < 2:
                raise UsageError(
                    f"budgets: the plan shows {n_frames} frame, so there is nothing to sweep; "
                    "say frames=1|2|4|8 or thinking=..."
                )
            self._steps = self.settings.steps(doublings(n_frames))
        views: dict[str, View] = {}
        for step in self._steps:
            budget = int(step.label) if step.sweep == "frames" else n_frames
            views[step.view] = View(selector=selector, n_frames=budget)
        return views

    def models(self) -> Mapping[str, str]:
        """Return the plan's model with each option value, as ``+key=value``."""
        return {s.model: f"+{self.settings.setting}={s.label}" for s in self._steps if s.model}

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return the number of steps times repeats."""
        steps = self._steps or (self.settings.steps(doublings(n_frames)) if n_frames > 1 else ())
        return len(steps) * self.settings.repeats

    def examine(self, subject: Subject) -> Flow[BudgetsFinding]:
        """Ask at every step at once.

        Raises:
            UsageError: nothing to sweep was given, and `views` was not asked what follows from the plan.
        """
        steps, repeats = self._steps, self.settings.repeats
        if not steps:
            raise UsageError("budgets: the budgets follow from the plan's; ask views() before examine()")
        marks = yield from ask_together(
            subject,
            [
                Condition(view=step.view, model=step.model, sample=repeat)
                for step in steps
                for repeat in range(repeats)
            ],
        )
        sweeps: dict[str, tuple[Measured, ...]] = {}
        for i, step in enumerate(steps):
            some = tuple(marks[i * repeats : (i + 1) * repeats])
            measured = Measured(
                label=step.label, amount=step.amount, delivered=_delivered(subject, step, some), marks=some
            )
            sweeps[step.sweep] = (*sweeps.get(step.sweep, ()), measured)
        return BudgetsFinding(sweeps=sweeps)

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return each sweep as table and curves, overall and by evidence."""
        figures, parts = Figures(rng=rng, level=level), list[Statement]()
        first = next((entry.finding for entry in examined if isinstance(entry.finding, BudgetsFinding)), None)
        for name, like in first.sweeps.items() if first else ():
            side = side_by_side(
                examined,
                BudgetsFinding,
                partial(_marks, name),
                conditions=[measured.label for measured in like],
                figures=figures,
            )
            amounts = {measured.label: measured.amount for measured in like}
            parts += _Sweep(name=name, amounts=amounts, found=side, settings=self.settings).statements()
        return tuple(parts) or (_nothing(examined, figures),)


def _delivered(subject: Subject, step: Step, scores: Sequence[ReplyScore]) -> float | None:
    """Return a step's delivered amount: frames, or tokens of the reply; None if unknown."""
    if step.sweep == "frames":
        return float(subject.n_frames(step.view))
    tokens = [score.output_tokens for score in scores if score.output_tokens is not None]
    return sum(tokens) / len(tokens) if tokens else None


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return Budgets(settings)


# --------------------------------------------------------------------------- groups of questions


def grouped(items: Sequence[Item], settings: Settings) -> dict[str, tuple[int, ...]]:
    """Return the positions of each group's items, in order; empty without two groups."""
    bins = settings.groups or (_USUAL_BINS if settings.by == EVIDENCE else ())
    if not bins:
        return by_tag(items).get(settings.by, {})
    values: dict[str, list[int]] = {name: [] for name in (*bins, OTHER)}
    for position, item in enumerate(items):
        value = item.tags.get(settings.by, "")
        if settings.by == EVIDENCE:
            value = item.tags.get(COUNT_TAG, str(len(item.evidence)))
        inside = (name for name in bins if value.isdecimal() and _holds(name, int(value)))
        values[next(inside, OTHER)].append(position)
    groups = {name: tuple(positions) for name, positions in values.items() if positions}
    return groups if len(groups) > 1 else {}


def _holds(name: str, value: int) -> bool:
    first, dash, last = name.rstrip("+").partition("-")
    if name.endswith("+"):
        return value >= int(first)
    return int(first) <= value <= int(last if dash else first)


# --------------------------------------------------------------------------- what all questions say


@dataclass(frozen=True, kw_only=True)
class _SweepWords:
    """The labels of a sweep."""

    title: str
    amount: str
    label: str
    delivered: str


SWEEPS: Mapping[str, _SweepWords] = {
    "frames": _SweepWords(
        title="Score and number of frames", amount="frames asked for", label="frames", delivered="delivered"
    ),
    "thinking": _SweepWords(
        title="Score and thinking",
        amount="tokens to think with",
        label="setting",
        delivered="tokens of the reply",
    ),
}
ALL: Final = "all"
Found = SideBySide[BudgetsFinding]


def _marks(sweep: str, finding: BudgetsFinding) -> dict[str, tuple[ReplyScore, ...]]:
    return {measured.label: measured.marks for measured in finding.sweeps.get(sweep, ())}


def _nothing(examined: Sequence[Examined], figures: Figures) -> Table:
    side = side_by_side(examined, BudgetsFinding, lambda _: {}, conditions=(), figures=figures)
    measures, notes = [side.questions()], (side.left_out,)
    return tabulate("budgets", "Score and budget", label="budget", rows=(), measures=measures, notes=notes)


@dataclass(frozen=True, kw_only=True)
class _Sweep:
    """One sweep over the questions with a score at each step."""

    name: str
    amounts: Mapping[str, float | None]
    found: Found
    settings: Settings

    @property
    def words(self) -> _SweepWords:
        return SWEEPS[self.name]

    @property
    def parted_by(self) -> str:
        """Return the name of the grouping."""
        return "pieces of evidence" if self.settings.by == EVIDENCE else self.settings.by

    @property
    def numbered(self) -> dict[str, float]:
        """Return the numeric amounts, ascending."""
        return {label: amount for label, amount in self.amounts.items() if amount is not None}

    def statements(self) -> list[Statement]:
        groups = {ALL: self.found} | {
            group: self.found.of(positions)
            for group, positions in grouped(self.found.items, self.settings).items()
        }
        is_parted = len(groups) > 1
        statements: list[Statement] = [self._table(is_parted=is_parted)]
        if not self.found.items:
            return statements
        if is_parted:
            statements.append(self._groups(groups))
        if len(self.numbered) > 1:
            curve = self._chart(groups, tuple(self.numbered), SideBySide.accuracy)
            statements += [curve, self._gain(groups)]
        return statements

    def _delivered(self, label: str) -> list[float]:
        """Return a step's delivered amount for each question where known."""
        return [
            measured.delivered
            for finding in self.found.findings
            for measured in finding.sweeps[self.name]
            if measured.label == label and measured.delivered is not None
        ]

    def _mean_delivered(self, label: str) -> float | None:
        known = self._delivered(label)
        return sum(known) / len(known) if known else None

    def _n_short(self, label: str) -> Value:
        """Return how many questions received fewer frames than requested."""
        if self.name != "frames":
            return None
        return sum(value < (self.amounts[label] or 0) for value in self._delivered(label))

    # ------------------------------------------------------------------ tables

    def _table(self, *, is_parted: bool) -> Table:
        side, words = self.found, self.words
        steps = side.differences({second: (second, first) for first, second in pairwise(self.amounts)})
        return tabulate(
            self.name,
            words.title,
            label=words.label,
            rows=side.rows(self.amounts),
            measures=(
                side.questions(),
                number("delivered", self._mean_delivered, words.delivered, note="mean of what came of it"),
                number("short", self._n_short, "fewer frames", note="questions whose video has no more"),
                share("accuracy", side.accuracy),
                difference("step", steps, "more than before", note="paired, against the line above"),
                holm(steps),
                *kinds(side.marks),
            ),
            notes=(
                "" if is_parted else f"Not parted by {self.parted_by}: there are not two groups.",
                side.left_out,
            ),
        )

    def _groups(self, groups: Mapping[str, Found]) -> Table:
        first, *_, last = self.amounts

        def accuracy(label: str) -> Measure[tuple[Found, Estimate]]:
            return share(label, lambda row: row[0].accuracy(label))

        return tabulate(
            f"{self.name}:groups",
            f"{self.words.title}, by {self.parted_by}",
            label=self.parted_by,
            rows=lines((group, (some, some.difference(last, first))) for group, some in groups.items()),
            measures=(
                number("questions", lambda row: len(row[0].items)),
                *map(accuracy, self.amounts),
                share("gain", lambda row: row[1], "last less first", note="paired"),
            ),
            notes=(NO_ADJUSTMENT,),
        )

    # ------------------------------------------------------------------ curves

    def _x_title(self) -> str:
        delivered = [self._mean_delivered(label) for label in self.numbered]
        known = [value for value in delivered if value is not None]
        if len(known) < len(delivered):
            return self.words.amount
        title = ", ".join(f"{value:g}" if value == round(value) else f"{value:.1f}" for value in known)
        return f"{self.words.amount} ({self.words.delivered}: {title})"

    def _chart(
        self, groups: Mapping[str, Found], labels: Sequence[str], y: Callable[[Found, str], Estimate]
    ) -> Chart:
        return Chart(
            name=f"{self.name}:curve",
            title=f"{self.words.title}: the curve",
            x_title=self._x_title(),
            y_title="accuracy",
            series=curves(
                (group, ((self.numbered[label], y(some, label)) for label in labels))
                for group, some in groups.items()
            ),
            is_log=0 not in self.numbered.values(),
            note="The same questions at every point of a curve: see the next figure for their differences.",
        )

    def _gain(self, groups: Mapping[str, Found]) -> Chart:
        first, *labels = self.numbered
        return msgspec.structs.replace(
            self._chart(groups, labels, lambda some, label: some.difference(label, first)),
            name=f"{self.name}:gain",
            title=f"{self.words.title}: gain over {first}",
            y_title=f"accuracy less that at {first}, paired",
            note="",
        )
