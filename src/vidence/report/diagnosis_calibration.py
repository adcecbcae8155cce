"""Planted against recovered: what diagnostics say of a phantom world, beside what was planted in it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np

from vidence.ask.phantom.planted import (
    SimulatedModel,
    demand,
    expected,
    expected_mrfs,
    expected_top_share,
    in_sight_s,
    missing_card_loss,
)
from vidence.ask.strategies.rewards import MOST_POINTS
from vidence.errors import DataError
from vidence.explain.diagnostics.best_of_n import BestOfNFinding
from vidence.explain.diagnostics.blind_panel import PanelFinding
from vidence.explain.diagnostics.budgets import BudgetsFinding
from vidence.explain.diagnostics.frame_shares import FrameSharesFinding
from vidence.explain.diagnostics.modality import ModalityFinding
from vidence.explain.diagnostics.mrfs import Mrfs, MrfsFinding, search_of, told_of
from vidence.explain.diagnostics.mrfs_guessing import estimated, lines_of
from vidence.explain.diagnostics.repeats import RepeatsFinding
from vidence.explain.diagnostics.rotations import RotationsFinding
from vidence.explain.diagnostics.selector_gap import ORACLE, PLAN, TEXT, GapFinding
from vidence.explain.diagnostics.self_refine import SelfRefineFinding
from vidence.explain.diagnostics.tables import guess
from vidence.records import Estimate, Item, Record
from vidence.report.calibration import model_of
from vidence.report.diagnosis import Diagnosed
from vidence.report.results import Run
from vidence.report.sections import Section
from vidence.tables.table import Cell, Column, Measure, RowSpec, Table, Value, count, number, tabulate

FindingT = TypeVar("FindingT", bound=Record)
_ROUNDING = 1e-9
_SEED, _LEVEL = 7, 0.95
# A world has fewer questions than a mean demand is said of elsewhere; here the answer is known.
_LEAST_KNOWN = 50.0
_HOLDS = "the planted figure itself; where chance is planted, too, the interval holds it"


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """One figure of a diagnostic beside what was planted.

    `found` is the figure as the diagnostic states it (None: it states none), `planted` what it must be.
    Of the `n` questions behind it, `n_different` have another finding than the planted one. Where chance
    is planted, too (`is_drawn`), the planted figure need only lie in the interval.
    """

    diagnostic: str
    label: str
    what: str
    planted: float
    found: Estimate | None
    n: int
    n_different: int
    is_share: bool
    is_drawn: bool = False

    @property
    def is_recovered(self) -> bool:
        """Whether figure and questions are as planted."""
        if self.found is None or self.n_different:
            return False
        if self.is_drawn:
            return self.found.low - _ROUNDING <= self.planted <= self.found.high + _ROUNDING
        return abs(self.found.value - self.planted) <= _ROUNDING


@dataclass(frozen=True, kw_only=True)
class _Case:
    """What one diagnostic found on one run, who was asked, and when the frames shown are.

    `shown_s` has the times of the frames of the plan by item id, `swept_s` those of other budgets.
    """

    diagnosed: Diagnosed
    model: SimulatedModel
    shown_s: Mapping[str, Sequence[float]]
    swept_s: Mapping[int, Mapping[str, Sequence[float]]]

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(one.item for one in self.diagnosed.examined)

    @property
    def demands(self) -> list[int]:
        """How many cards questions need, each number once."""
        return sorted({demand(item) for item in self.items})

    def needing(self, k: int) -> list[Item]:
        return [item for item in self.items if demand(item) == k]

    def right_with(self, item: Item, shown: str) -> bool:
        """Whether the model must be right with the frames of the plan, of the evidence, or none."""
        times_s = {TEXT: (), PLAN: self.shown_s.get(item.item_id, ()), ORACLE: in_sight_s(item)}
        return expected(self.model, item, times_s=times_s[shown])

    def share_right(self, shown: str) -> float:
        """The share of the questions on which it must be right."""
        return _mean([float(self.right_with(item, shown)) for item in self.items])

    def stated(self, sheet: str, line: str, column: str) -> Estimate | None:
        """What the diagnostic states there."""
        table = self.diagnosed.tables().get(sheet)
        if table is None:
            raise DataError(f"{self.diagnosed.diagnostic.name} states no {sheet!r} on {self.diagnosed.path}")
        return table.estimate(line, column)

    def beside(
        self,
        what: str,
        planted: float,
        *,
        at: tuple[str, str, str],
        differs: Callable[[Item, Record], bool],
        items: Sequence[Item] | None = None,
        is_share: bool = True,
    ) -> Recovered:
        """One figure: what is planted, where the diagnostic states it, and which findings are other ones."""
        plan, name = self.diagnosed.plan, self.diagnosed.diagnostic.name
        frames = f"{plan.selector}, {plan.n_frames} frames"
        if name == "frame-shares":  # whatever the plan shows
            frames = "one frame of each card"
        findings = {one.item.item_id: one.finding for one in self.diagnosed.examined}
        some = self.items if items is None else items
        return Recovered(
            diagnostic=name,
            label=f"{self.model.name}, {frames}",
            what=what,
            planted=planted,
            found=self.stated(*at),
            n=len(some),
            n_different=sum(differs(item, findings[item.item_id]) for item in some),
            is_share=is_share,
        )


Recovering: TypeAlias = Callable[[_Case], list[Recovered]]


def _unless(
    kind: type[FindingT], is_planted: Callable[[Item, FindingT], bool]
) -> Callable[[Item, Record], bool]:
    """Whether a finding is not the planted one; one that failed never is."""
    return lambda item, found: not (isinstance(found, kind) and is_planted(item, found))


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
        run: answered by a simulated model; its frames tell what the plan shows.
        sweep: for ``budgets`` runs that tell what other budgets show.

    Raises:
        DataError: the run asked something else, or nothing is planted for this diagnostic.
    """
    name = diagnosed.diagnostic.name
    if name not in _PLANTED:
        raise DataError(f"nothing is planted for the diagnostic {name!r}; expected one of {list(_PLANTED)}")
    case = _Case(
        diagnosed=diagnosed,
        model=model_of(run),
        shown_s=shown_times(run),
        swept_s={one.plan.n_frames: shown_times(one) for one in sweep},
    )
    return tuple(_PLANTED[name](case))


def _mrfs(case: _Case) -> list[Recovered]:
    """A line for each demand, or where the model guesses for what luck makes of it."""
    if case.model.guess:
        return _guessed_mrfs(case)

    def is_planted(item: Item, found: MrfsFinding) -> bool:
        return found.category != "error" and found.mrfs == expected_mrfs(case.model, item)

    planted = {
        k: [n for item in case.needing(k) if (n := expected_mrfs(case.model, item))] for k in case.demands
    }
    return [
        case.beside(
            f"mean MRFS, {k} {'card' if k == 1 else 'cards'} needed",
            _mean(needed),
            at=("by demand", str(k), "mean"),
            differs=_unless(MrfsFinding, is_planted),
            items=case.needing(k),
            is_share=False,
        )
        for k, needed in planted.items()
        if needed
    ]


def _guessed_mrfs(case: _Case) -> list[Recovered]:
    """The mean of who only guesses, or the demand of who knows with enough frames, without luck."""
    model, diagnostic = case.model, case.diagnosed.diagnostic
    rho = 0.0 if model.guess == "independent" else model.stick
    found = [(o.item, o.finding) for o in case.diagnosed.examined if isinstance(o.finding, MrfsFinding)]
    told = told_of(found)
    some = [one for one in told if one.is_found is not None]

    def is_planted(item: Item, finding: MrfsFinding) -> bool:
        """Whether it is right with every number of frames from the planted demand on."""
        need = expected_mrfs(model, item)
        known = [finding.right[n] for n in finding.right if need is not None and n >= need]
        return finding.category != "error" and all(known)

    differs = _unless(MrfsFinding, is_planted)
    if any(expected_mrfs(model, one.item) for one in some):
        needs = [expected_mrfs(model, one.item) or 0 for one in some]
        rng = np.random.default_rng(_SEED)
        mixture = estimated(told, rng=rng, level=_LEVEL, least_known=_LEAST_KNOWN)
        line = case.beside(
            "demand with luck taken out",
            _mean(needs),
            at=("mrfs", "all", "mean"),
            differs=differs,
            is_share=False,
        )
        return [replace(line, found=None if mixture is None else mixture.mean, is_drawn=True)]
    if not isinstance(diagnostic, Mrfs):
        raise DataError(f"findings of mrfs under the diagnostic {diagnostic.name!r}; expected mrfs")
    settings = diagnostic.settings
    lines = lines_of(
        some,
        rho=rho,
        least=settings.min,
        n_orders=settings.orders,
        search=lambda n_frames: search_of(settings, n_frames),
    )
    line = case.beside(
        "mean MRFS by luck alone",
        math.nan if lines is None else lines.mean,
        at=("mrfs", "all", "mean"),
        differs=differs,
        is_share=False,
    )
    return [replace(line, is_drawn=True)]


def _placebo(case: _Case) -> list[Recovered]:
    """What frames of the evidence add beyond a placebo, in nats."""
    beside = {
        one.item.item_id: found
        for one in case.diagnosed.examined
        if isinstance(found := one.finding, FrameSharesFinding)
        and (found.placebo_deltas or found.anew_deltas)
    }
    items = [item for item in case.items if item.item_id in beside]
    if case.model.name not in ("fuser", "blind"):
        raise DataError(
            f"effects are planted for fuser and blind, not for {case.model.name!r}; ask one of them"
        )
    # What a missing card takes from the log-probability; a question that tells its answer needs none.
    is_needless = [case.model.name == "blind" or expected(case.model, item, times_s=()) for item in items]
    losses = [
        0.0 if no_need else missing_card_loss(item) for item, no_need in zip(items, is_needless, strict=True)
    ]
    loss_of = {item.item_id: loss for item, loss in zip(items, losses, strict=True)}
    is_exact = not case.model.noise

    def is_planted(item: Item, found: FrameSharesFinding) -> bool:
        near = [abs(d - loss_of[item.item_id]) <= 1e-6 for d in found.beside_deltas or found.deltas]
        placebo = found.placebo_deltas or found.anew_deltas
        return not is_exact or all([*near, *(abs(d) <= 1e-6 for d in placebo)])

    differs = _unless(FrameSharesFinding, is_planted)
    at = ("placebo", "all", "effect")
    effect = case.beside(
        "evidence effect, nats", _mean(losses), at=at, differs=differs, items=items, is_share=False
    )
    lines = [replace(effect, is_drawn=not is_exact)]
    if case.model.name == "blind" and not is_exact:
        what, at = "top-1 share less its floor", ("placebo", "all", "beyond")
        lines.append(replace(case.beside(what, 0.0, at=at, differs=differs, items=items), is_drawn=True))
    return lines


def _shares(case: _Case) -> list[Recovered]:
    """A line for each demand of two and more that has shares, or for a placebo."""
    if "placebo" in case.diagnosed.tables():
        return _placebo(case)
    found = {one.item.item_id: one.finding for one in case.diagnosed.examined}

    def has_share(item: Item) -> bool:
        finding = found[item.item_id]
        return isinstance(finding, FrameSharesFinding) and finding.top_share is not None

    def is_planted(item: Item, finding: FrameSharesFinding) -> bool:
        planted = expected_top_share(case.model, item)
        if finding.top_share is None:
            return planted is None or case.model.name != "fuser"
        return planted is not None and abs(finding.top_share - planted) <= _ROUNDING

    return [
        case.beside(
            f"top-1 share, {k} cards needed",
            _mean([s for item in some if (s := expected_top_share(case.model, item)) is not None]),
            at=("by demand", str(k), "top"),
            differs=_unless(FrameSharesFinding, is_planted),
            items=some,
        )
        for k in case.demands
        if k > 1 and any(map(has_share, some := case.needing(k)))
    ]


def _modality(case: _Case) -> list[Recovered]:
    """Words alone and frames in another order, as shares of the score with all frames."""
    full = case.share_right(PLAN)

    def beside(name: str, label: str, shown: str) -> Recovered:
        def is_planted(item: Item, found: ModalityFinding) -> bool:
            planted = {name: case.right_with(item, shown), "full": case.right_with(item, PLAN)}
            return all(found.marks[one][0].value == right for one, right in planted.items())

        return case.beside(
            f"{label} / all frames",
            case.share_right(shown) / full,
            at=("modality", name, "ratio"),
            differs=_unless(ModalityFinding, is_planted),
        )

    return [
        beside("text", "words alone", TEXT),
        beside("shuffled", "frames shuffled", PLAN),
        beside("reversed", "frames reversed", PLAN),
    ]


def _gaps(case: _Case) -> list[Recovered]:
    """What is lost on the way to the evidence, and with the evidence in sight."""
    plan, oracle = case.share_right(PLAN), case.share_right(ORACLE)

    def is_planted(item: Item, found: GapFinding) -> bool:
        return all(found.marks[name][0].value == case.right_with(item, name) for name in (PLAN, ORACLE))

    return [
        case.beside(
            f"{column} gap",
            planted,
            at=("selector-gap", PLAN, column),
            differs=_unless(GapFinding, is_planted),
        )
        for column, planted in (("retrieval", oracle - plan), ("fusion", 1 - oracle))
    ]


def _panel(case: _Case) -> list[Recovered]:
    """The questions that are answered without the video are those that give their answer away."""

    def is_planted(item: Item, found: PanelFinding) -> bool:
        return found.is_flagged == case.right_with(item, TEXT)

    return [
        case.beside(
            "answered without the video",
            case.share_right(TEXT),
            at=("blind-panel", "flagged", "share"),
            differs=_unless(PanelFinding, is_planted),
        )
    ]


def _budgets(case: _Case) -> list[Recovered]:
    """A line for each budget of the sweep."""

    def beside(n_frames: int, shown_s: Mapping[str, Sequence[float]]) -> Recovered:
        right = {i.item_id: expected(case.model, i, times_s=shown_s[i.item_id]) for i in case.items}

        def is_planted(item: Item, found: BudgetsFinding) -> bool:
            measured = [one for one in found.sweeps.get("frames", ()) if one.label == str(n_frames)]
            return bool(measured) and measured[0].marks[0].value == right[item.item_id]

        return case.beside(
            f"accuracy with {n_frames} frames",
            _mean([float(one) for one in right.values()]),
            at=("frames", str(n_frames), "accuracy"),
            differs=_unless(BudgetsFinding, is_planted),
        )

    return [beside(n_frames, shown_s) for n_frames, shown_s in sorted(case.swept_s.items())]


def _best_of_n(case: _Case) -> list[Recovered]:
    """A line for each number of candidates: one who guesses anew each time, weighed by one who knows."""
    reward = SimulatedModel(name="fuser")
    column = f"phantom:{reward.name}"
    told, known = (
        {one.item_id: expected(model, one, times_s=case.shown_s.get(one.item_id, ())) for one in case.items}
        for model in (case.model, reward)
    )

    def chance(item: Item, n: int) -> float:
        if told[item.item_id]:
            return 1.0
        return 1 - (1 - guess(item)) ** (n if known[item.item_id] else 1)

    def is_planted(item: Item, found: BestOfNFinding) -> bool:
        most = MOST_POINTS if known[item.item_id] else 0
        points = tuple(int(most * (mark.value or 0.0)) for mark in found.marks)
        return found.points[column] == points and (not told[item.item_id] or all(points))

    lines = [
        case.beside(
            f"accuracy, best of {n} for one who knows",
            _mean([chance(item, n) for item in case.items]),
            at=("best-of-n", f"{column}:averaged", f"m{m}"),
            differs=_unless(BestOfNFinding, is_planted),
        )
        for m, n in ((0, 1), (1, 2), (2, 4), (3, 8))
    ]
    return [replace(line, is_drawn=True) for line in lines]


def _self_refine(case: _Case) -> list[Recovered]:
    """Who looks at nothing and reviews repairs nothing; asked anew, chance repairs g (1 - g)."""
    told = {one.item_id: expected(case.model, one, times_s=()) for one in case.items}

    def is_planted(item: Item, found: SelfRefineFinding) -> bool:
        return len({mark.answer for mark in found.marks["own"]}) == 1

    repaired = _mean([0.0 if told[one.item_id] else guess(one) * (1 - guess(one)) for one in case.items])
    lines = {
        way: case.beside(
            f"wrong to right, {words}",
            planted,
            at=("controls", way, "repaired"),
            differs=_unless(SelfRefineFinding, is_planted),
        )
        for way, words, planted in (("own", "own review", 0.0), ("resample", "asked anew", repaired))
    }
    return [lines["own"], replace(lines["resample"], is_drawn=True)]


def _rotations(case: _Case) -> list[Recovered]:
    """Right in all orders is who knows; who does not keeps to its letter, or to the text of its guess."""
    known = {
        one.item_id: expected(SimulatedModel(name="fuser"), one, times_s=case.shown_s.get(one.item_id, ()))
        for one in case.items
    }
    if case.model.name == "letter-biased":

        def in_all_orders(item: Item, found: RotationsFinding) -> bool:
            return all(turn.mark.value == 1.0 for turn in found.turns) == known[item.item_id]

        differs = _unless(RotationsFinding, in_all_orders)
        share = _mean([float(one) for one in known.values()])
        at = ("rotations", "all", "share")
        return [
            case.beside("right in all orders", share, at=at, differs=differs),
            case.beside(
                "wrong, and follow the letter",
                1.0,
                at=("follows", "wrong", "letter"),
                differs=differs,
            ),
        ]
    if case.model.name != "blind" or case.model.guess != "text":
        raise DataError(
            f"rotations are planted for letter-biased and blind?guess=text, not for {case.model.name!r}; "
            "ask one of them"
        )
    told = [case.right_with(item, TEXT) for item in case.items]
    chance = _mean([1.0 if is_told else guess(i) for i, is_told in zip(case.items, told, strict=True)])
    differs = _unless(RotationsFinding, lambda _, found: set(found.followed()) == {"text"})
    lucky = case.beside(
        "right in all orders, text kept", chance, at=("rotations", "all", "share"), differs=differs
    )
    follows = case.beside("answers that follow the text", 1.0, at=("follows", "all", "text"), differs=differs)
    return [replace(lucky, is_drawn=True), follows]


def _repeats(case: _Case) -> list[Recovered]:
    """Who guesses anew each time: how often two replies agree, and how often one or all of some are right."""
    told = {one.item_id: case.right_with(one, TEXT) for one in case.items}

    def planted(of: Callable[[float], float]) -> float:
        return _mean([1.0 if told[one.item_id] else of(guess(one)) for one in case.items])

    def is_planted(item: Item, found: RepeatsFinding) -> bool:
        return not told[item.item_id] or all(mark.value == 1.0 for mark in found.marks)

    rows = (
        ("two replies have the same answer", lambda g: g, ("changes", "agreement", "share")),
        ("one or more of 4 replies right", lambda g: 1 - (1 - g) ** 4, ("repeats", "4", "pass@k")),
        ("both of 2 replies right", lambda g: g**2, ("repeats", "2", "pass^k")),
    )
    differs = _unless(RepeatsFinding, is_planted)
    return [
        replace(case.beside(what, planted(of), at=at, differs=differs), is_drawn=True)
        for what, of, at in rows
    ]


_PLANTED: Mapping[str, Recovering] = {
    "mrfs": _mrfs,
    "frame-shares": _shares,
    "modality": _modality,
    "selector-gap": _gaps,
    "blind-panel": _panel,
    "budgets": _budgets,
    "best-of-n": _best_of_n,
    "self-refine": _self_refine,
    "rotations": _rotations,
    "repeats": _repeats,
}


def why_section(recovered: Sequence[Recovered]) -> Section:
    """A part of the report: what each diagnostic recovered, beside what was planted."""
    n_wrong = sum(not one.is_recovered for one in recovered)
    n_drawn = sum(one.is_drawn for one in recovered)
    verdict = f"{n_wrong} of {len(recovered)} figures differ from what was planted: something is wrong."
    if not n_wrong:
        verdict = (
            f"All {len(recovered) - n_drawn} figures are the planted ones, and so is the finding of every "
            "question."
        )
        if n_drawn:
            verdict += (
                f" In {n_drawn} more chance is planted, too: models guess with a known probability, their "
                "log-probabilities move, or judges and labellers err at known rates. There the planted "
                "figure lies in the interval."
            )
    return Section(
        title="Why the score is what it is",
        paragraphs=(
            "Diagnostics say how many frames a question needs, whether an answer rests on one frame, what is "
            "left of a score without the video, and whether a score is lost in finding the evidence or in "
            "putting it together. Here it is known before asking what they must say: a fuser needs every "
            "card and gives each an equal share; a single rests on one frame; a blind one scores the same "
            "without frames; frames far apart miss cards (a retrieval gap); a forgetful model sees them "
            "and loses them (a fusion gap). Some need no video: readers who search by hints, refine their "
            "answers or follow wordings, people and models who label errors, and judges, each with planted "
            "habits.",
            verdict,
        ),
        tables=(_table(recovered),),
    )


def _table(recovered: Sequence[Recovered]) -> Table:
    def figure(key: str, of: Callable[[Recovered], Value], note: str = "") -> Measure[Recovered]:
        return number(
            key,
            lambda one: Cell(value=of(one), kind="share" if one.is_share else "number"),
            note=note,
        )

    different = "questions whose finding is not the planted one; of a judge, what should be called and is not"
    return tabulate(
        "diagnosed-calibration",
        "What the diagnostics recover",
        label=Column(key="what", title="figure"),
        rows=(RowSpec(str(i), one.what, one, detail=one.diagnostic) for i, one in enumerate(recovered)),
        measures=(
            number("run", lambda one: one.label, "simulated model and frames", kind="text"),
            count("n", lambda one: one.n, "questions"),
            figure("planted", lambda one: one.planted),
            figure("recovered", lambda one: one.found, "No interval where all questions are alike."),
            count("different", lambda one: one.n_different, "differ", note=different),
            number("holds", lambda one: "yes" if one.is_recovered else "no", kind="text", note=_HOLDS),
        ),
        notes=("Shares and gaps in per cent, MRFS in frames.",),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
