"""Planted against recovered: what diagnostics say of a phantom world, beside what was planted in it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vidence.ask.phantom.planted import (
    Reader,
    demand,
    expected,
    expected_mrfs,
    expected_top_share,
    in_sight_s,
)
from vidence.errors import DataError
from vidence.explain.diagnostics.budget_sheets import BudgetsFinding
from vidence.explain.diagnostics.gap_sheets import ORACLE, PLAN, TEXT, GapFinding
from vidence.explain.diagnostics.modality_sheets import ModalityFinding
from vidence.explain.diagnostics.mrfs_search import MrfsFinding
from vidence.explain.diagnostics.panel_sheets import PanelFinding
from vidence.explain.diagnostics.shares_measure import FrameSharesFinding
from vidence.records import Estimate, Item
from vidence.report.calibration import reader_of
from vidence.report.diagnosed import Diagnosed
from vidence.report.results import Run
from vidence.report.sections import Section
from vidence.tables.findings import table_of
from vidence.tables.table import Cell, Column, Kind, Row, Table

FindingT = TypeVar("FindingT")
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """One figure of a diagnostic beside what was planted.

    `found` is the figure as the diagnostic states it (None: it states none), `planted` what it must be.
    Of the `n` questions behind it, `n_different` have another finding than the planted one.
    """

    diagnostic: str
    label: str
    what: str
    planted: float
    found: Estimate | None
    n: int
    n_different: int
    is_share: bool

    @property
    def is_recovered(self) -> bool:
        """Whether figure and questions are as planted."""
        is_near = self.found is not None and abs(self.found.value - self.planted) <= _ROUNDING
        return is_near and self.n_different == 0


@dataclass(frozen=True, kw_only=True)
class _Case:
    """What one diagnostic found on one run, who was asked, and when the frames shown are.

    `shown_s` has the times of the frames of the plan by item id, `swept_s` those of other budgets.
    """

    diagnosed: Diagnosed
    reader: Reader
    shown_s: Mapping[str, Sequence[float]]
    swept_s: Mapping[int, Mapping[str, Sequence[float]]]

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(one.item for one in self.diagnosed.examined)

    def findings(self, kind: type[FindingT]) -> list[tuple[Item, FindingT | None]]:
        """Every question with its finding; None where it failed."""
        return [(e.item, e.finding if isinstance(e.finding, kind) else None) for e in self.diagnosed.examined]

    def estimate(self, sheet: str, line: str, *, column: str) -> Estimate | None:
        """What the diagnostic states there."""
        for statement in self.diagnosed.statements:
            if statement.name == sheet:
                value = table_of(statement).value(line, column)
                return value if isinstance(value, Estimate) else None
        raise DataError(f"{self.diagnosed.diagnostic.name} states no {sheet!r} on {self.diagnosed.path}")

    def right_with(self, item: Item, shown: str) -> bool:
        """Whether the reader must be right with the frames of the plan, of the evidence, or none."""
        times_s = {TEXT: (), PLAN: self.shown_s.get(item.item_id, ()), ORACLE: in_sight_s(item)}
        return expected(self.reader, item, times_s=times_s[shown])

    def share_right(self, shown: str) -> float:
        """The share of the questions on which it must be right."""
        return _mean([float(self.right_with(item, shown)) for item in self.items])

    def beside(
        self,
        what: str,
        planted: float,
        found: Estimate | None,
        *,
        n: int,
        n_different: int,
        is_share: bool = True,
    ) -> Recovered:
        """One figure of this case."""
        plan, diagnostic = self.diagnosed.plan, self.diagnosed.diagnostic
        is_of_evidence = diagnostic.name == "frame-shares"  # whatever the plan shows
        frames = "one frame of each card" if is_of_evidence else f"{plan.selector}, {plan.n_frames} frames"
        return Recovered(
            diagnostic=diagnostic.name,
            label=f"{self.reader.name}, {frames}",
            what=what,
            planted=planted,
            found=found,
            n=n,
            n_different=n_different,
            is_share=is_share,
        )


def shown_times(run: Run) -> dict[str, tuple[float, ...]]:
    """The times of the frames that a run showed, by item id, in seconds."""
    return {
        row.item.item_id: tuple(f.time_s for f in row.trial.selection.frames) if row.trial.selection else ()
        for row in run.rows
    }


def beside_planted(diagnosed: Diagnosed, run: Run, *, sweep: Sequence[Run] = ()) -> tuple[Recovered, ...]:
    """What a diagnostic says of a run on a phantom world, beside what was planted.

    Args:
        diagnosed: the diagnostic, on the plan of `run`.
        run: answered by a phantom reader; its frames tell what the plan shows.
        sweep: for ``budgets`` runs that tell what other budgets show.

    Raises:
        DataError: the run asked something else, or nothing is planted for this diagnostic.
    """
    name = diagnosed.diagnostic.name
    if name not in _PLANTED:
        raise DataError(f"nothing is planted for the diagnostic {name!r}; expected one of {list(_PLANTED)}")
    case = _Case(
        diagnosed=diagnosed,
        reader=reader_of(run),
        shown_s=shown_times(run),
        swept_s={one.plan.n_frames: shown_times(one) for one in sweep},
    )
    return _PLANTED[name](case)


def _mrfs(case: _Case) -> tuple[Recovered, ...]:
    """A line for each demand."""
    lines = []
    findings = case.findings(MrfsFinding)
    for k in sorted({demand(item) for item in case.items}):
        some = [(item, found) for item, found in findings if demand(item) == k]
        planted = [expected_mrfs(case.reader, item) for item, _ in some]
        needed = [float(n) for n in planted if n]
        if needed:
            n_different = sum(
                found is None or found.category == "error" or found.mrfs != n
                for n, (_, found) in zip(planted, some, strict=True)
            )
            stated = case.estimate("by demand", str(k), column="mean")
            lines.append(
                case.beside(
                    f"mean MRFS, {k} {_cards(k)} needed",
                    _mean(needed),
                    stated,
                    n=len(some),
                    n_different=n_different,
                    is_share=False,
                )
            )
    return tuple(lines)


def _shares(case: _Case) -> tuple[Recovered, ...]:
    """A line for each demand of two and more that has shares."""
    lines = []
    findings = case.findings(FrameSharesFinding)
    for k in sorted({demand(item) for item in case.items} - {1}):
        some = [(item, found) for item, found in findings if demand(item) == k]
        tops = [None if found is None else found.top_share for _, found in some]
        n_different = sum(
            found is None or _is_other_share(found.top_share, case.reader, item) for item, found in some
        )
        if any(top is not None for top in tops):
            planted = [s for item, _ in some if (s := expected_top_share(case.reader, item)) is not None]
            lines.append(
                case.beside(
                    f"top-1 share, {k} cards needed",
                    _mean(planted),
                    case.estimate("by demand", str(k), column="top"),
                    n=len(some),
                    n_different=n_different,
                )
            )
    return tuple(lines)


def _is_other_share(top: float | None, reader: Reader, item: Item) -> bool:
    planted = expected_top_share(reader, item)
    if top is None:
        return planted is not None and reader.name == "fuser"
    return planted is None or abs(top - planted) > _ROUNDING


def _modality(case: _Case) -> tuple[Recovered, ...]:
    """Words alone and frames in another order, as shares of the score with all frames."""
    conditions = {"text": TEXT, "shuffled": PLAN, "reversed": PLAN}
    labels = {"text": "words alone", "shuffled": "frames shuffled", "reversed": "frames reversed"}
    full = case.share_right(PLAN)
    lines = []
    for name, shown in conditions.items():
        n_different = sum(
            found is None
            or found.marks[name][0].value != case.right_with(item, shown)
            or found.marks["full"][0].value != case.right_with(item, PLAN)
            for item, found in case.findings(ModalityFinding)
        )
        lines.append(
            case.beside(
                f"{labels[name]} / all frames",
                case.share_right(shown) / full,
                case.estimate("modality", name, column="ratio"),
                n=len(case.items),
                n_different=n_different,
            )
        )
    return tuple(lines)


def _gaps(case: _Case) -> tuple[Recovered, ...]:
    """What is lost on the way to the evidence, and with the evidence in sight."""
    plan, oracle = case.share_right(PLAN), case.share_right(ORACLE)
    n_different = sum(
        found is None
        or any(found.marks[name][0].value != case.right_with(item, name) for name in (PLAN, ORACLE))
        for item, found in case.findings(GapFinding)
    )
    return tuple(
        case.beside(
            f"{column} gap",
            planted,
            case.estimate("selector-gap", PLAN, column=column),
            n=len(case.items),
            n_different=n_different,
        )
        for column, planted in (("retrieval", oracle - plan), ("fusion", 1 - oracle))
    )


def _panel(case: _Case) -> tuple[Recovered, ...]:
    """The questions that are answered without the video are those that give their answer away."""
    n_different = sum(
        found is None or found.is_flagged != case.right_with(item, TEXT)
        for item, found in case.findings(PanelFinding)
    )
    return (
        case.beside(
            "answered without the video",
            case.share_right(TEXT),
            case.estimate("blind-panel", "flagged", column="share"),
            n=len(case.items),
            n_different=n_different,
        ),
    )


def _budgets(case: _Case) -> tuple[Recovered, ...]:
    """A line for each budget of the sweep."""
    lines = []
    for n_frames, shown_s in sorted(case.swept_s.items()):
        right = {i.item_id: expected(case.reader, i, times_s=shown_s[i.item_id]) for i in case.items}
        n_different = sum(
            found is None or _swept(found, n_frames) != right[item.item_id]
            for item, found in case.findings(BudgetsFinding)
        )
        lines.append(
            case.beside(
                f"accuracy with {n_frames} frames",
                _mean([float(one) for one in right.values()]),
                case.estimate("frames", str(n_frames), column="accuracy"),
                n=len(case.items),
                n_different=n_different,
            )
        )
    return tuple(lines)


def _swept(found: BudgetsFinding, n_frames: int) -> bool | None:
    """Whether the question was right with that many frames; None where it was not asked."""
    values = [one.marks[0].value for one in found.sweeps.get("frames", ()) if one.label == str(n_frames)]
    return values[0] == 1.0 if values else None


_PLANTED: dict[str, Callable[[_Case], tuple[Recovered, ...]]] = {
    "mrfs": _mrfs,
    "frame-shares": _shares,
    "modality": _modality,
    "selector-gap": _gaps,
    "blind-panel": _panel,
    "budgets": _budgets,
}


def why_section(recovered: Sequence[Recovered]) -> Section:
    """A part of the report: what each diagnostic recovered, beside what was planted."""
    wrong = [one for one in recovered if not one.is_recovered]
    verdict = (
        f"All {len(recovered)} figures are the planted ones, and so is the finding of every question."
        if not wrong
        else f"{len(wrong)} of {len(recovered)} figures differ from what was planted: something is wrong."
    )
    return Section(
        title="Why the score is what it is",
        paragraphs=(
            "Diagnostics say how many frames a question needs, whether an answer rests on one frame, what is "
            "left of a score without the video, and whether a score is lost in finding the evidence or in "
            "putting it together. Here it is known before asking what they must say: a fuser needs every "
            "card and gives each an equal share; a single rests on one frame; a blind one scores the same "
            "without frames; frames far apart miss cards (a retrieval gap); a forgetful reader sees them "
            "and loses them (a fusion gap).",
            verdict,
        ),
        tables=(_table(recovered),),
    )


def _table(recovered: Sequence[Recovered]) -> Table:
    return Table(
        name="diagnosed-calibration",
        title="What the diagnostics recover",
        label=Column(key="what", title="figure"),
        columns=(
            Column(key="run", title="reader and frames", kind="text"),
            Column(key="n", title="questions", kind="count"),
            Column(key="planted", title="planted"),
            Column(key="recovered", title="recovered", note="No interval where all questions are alike."),
            Column(
                key="different",
                title="differ",
                kind="count",
                note="questions whose finding is not the planted one",
            ),
        ),
        rows=tuple(_row(number, one) for number, one in enumerate(recovered)),
        note="Shares and gaps in per cent, MRFS in frames.",
    )


def _row(number: int, one: Recovered) -> Row:
    kind: Kind = "share" if one.is_share else "number"
    planted, found = Cell(value=one.planted, kind=kind), Cell(value=one.found, kind=kind)
    return Row(
        key=str(number),
        label=one.what,
        detail=one.diagnostic,
        values=(one.label, one.n, planted, found, one.n_different),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def _cards(n: int) -> str:
    return "card" if n == 1 else "cards"
