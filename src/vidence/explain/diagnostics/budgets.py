"""How far a score depends on what is spent: frames, resolution, tokens to think with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast

import numpy as np

from vidence.catalog import take_options
from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics._budget_groups import EVIDENCE, Grouping, bins_apart
from vidence.explain.diagnostics._settings import amounts_apart
from vidence.explain.diagnostics.budget_sheets import BudgetsFinding, Measured, Sheets
from vidence.explain.diagnostics.paired import Figures
from vidence.explain.diagnostics.sitting import Mark, Sitting, sit
from vidence.media.sizes import Size
from vidence.option_readers import positive_whole, words_apart
from vidence.records import ImagePart, Prompt, Record
from vidence.tables.findings import Statement

PLAN = "plan"
_FIRST = 8  # frames; doubled up to the budget of the plan


@dataclass(frozen=True, kw_only=True)
class Step:
    """One amount of a sweep: how it is written, its number (None where it has none), and who is asked."""

    sweep: str
    label: str
    amount: float | None
    view: str
    model: str = ""


def doublings(n_frames: int) -> tuple[int, ...]:
    """8, 16, 32, ... below a number of frames, and that number; from 1 on where it is 8 or less.

    Source: HumanPCR, figure 6, and PerceptionComp, table 3a, sweep frames; the steps are ours.
    Departs: no.

    >>> doublings(50), doublings(4)
    ((8, 16, 32, 50), (1, 2, 4))
    """
    first = _FIRST if n_frames > _FIRST else 1
    steps = [first * 2**i for i in range(n_frames.bit_length()) if first * 2**i < n_frames]
    return (*steps, n_frames)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What is swept; see `create`."""

    frames: tuple[int, ...] = ()
    sizes: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    setting: str = "thinking_budget"
    repeats: int = 1
    grouping: Grouping

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every amount of every sweep."""
        frames = [Step(sweep="frames", label=str(n), amount=n, view=f"frames:{n}") for n in self.frames]
        sizes = [
            Step(sweep="size", label=size, amount=Size.parse(size).pixels or None, view=f"size:{size}")
            for size in self.sizes
        ]
        thinking = [
            Step(
                sweep="thinking",
                label=value,
                amount=float(value) if value.isdecimal() else None,
                view=PLAN,
                model=f"thinking:{value}",
            )
            for value in self.thinking
        ]
        return (*frames, *sizes, *thinking)


class Budgets:
    """Each question with growing budgets, all asked together.

    *Frames*: the plan's selector with several budgets. *Size*: the plan's frames at several resolutions.
    *Thinking*: the plan's frames, and the plan's model with several values of one of its options.

    Every curve is of the same questions, so that neighbours are compared in pairs. Overall and by the
    number of pieces of evidence. A saturation point is named only where the data support one.

    Source: HumanPCR, section 4.3 and figure 6 (frames, overall and by number of evidence: 2-3, 4-5, 6 and
        more); PerceptionComp, section 4.2 and table 3 (frames; thinking budget).
    Departs: the papers give no intervals, no tests and no saturation point, and do not sweep resolution. A
        selector chooses anew for each budget, as in the papers: the smaller set of frames need not be a
        part of the larger one.
    """

    name = "budgets"
    version = 1
    finding: type[Record] = BudgetsFinding

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """A view for each budget and each size.

        Where no sweep was asked for, this is also what fixes the budgets: they follow from the plan's.

        Raises:
            UsageError: the plan has a single frame and nothing to sweep was given.
        """
        if not self.rules.steps:
            if n_frames < 2:
                raise UsageError(
                    f"budgets: the plan shows {n_frames} frame, so there is nothing to sweep; "
                    "say frames=1|2|4|8, sizes=... or thinking=..."
                )
            self.rules = replace(self.rules, frames=doublings(n_frames))
        found = {f"frames:{budget}": View(selector=selector, n_frames=budget) for budget in self.rules.frames}
        found |= {
            f"size:{size}": View(selector=selector, n_frames=n_frames, size=size) for size in self.rules.sizes
        }
        if self.rules.thinking:
            found[PLAN] = View(selector=selector, n_frames=n_frames)
        return found

    def models(self) -> Mapping[str, str]:
        """The plan's model with each value of the option: ``+key=value`` stands for that."""
        return {f"thinking:{value}": f"+{self.rules.setting}={value}" for value in self.rules.thinking}

    def examine(self, subject: Subject) -> Flow[BudgetsFinding]:
        """Ask with every budget at once.

        Raises:
            UsageError: nothing to sweep was given, and `views` was not asked what follows from the plan.
        """
        steps, repeats = self.rules.steps, self.rules.repeats
        if not steps:
            raise UsageError("budgets: the budgets follow from the plan's; ask views() before examine()")
        marks = yield from sit(
            subject,
            [
                Sitting(view=step.view, model=step.model, sample=repeat)
                for step in steps
                for repeat in range(repeats)
            ],
        )
        sweeps: dict[str, tuple[Measured, ...]] = {}
        for i, step in enumerate(steps):
            some = tuple(marks[i * repeats : (i + 1) * repeats])
            measured = Measured(
                label=step.label,
                amount=step.amount,
                delivered=_delivered(subject, step, some),
                marks=some,
            )
            sweeps[step.sweep] = (*sweeps.get(step.sweep, ()), measured)
        return BudgetsFinding(sweeps=sweeps)

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Each sweep as a table and as curves, by evidence, and where it saturates."""
        sheets = Sheets(
            examined=tuple(examined), figures=Figures(rng=rng, level=level), grouping=self.rules.grouping
        )
        return sheets.all()


def _delivered(subject: Subject, step: Step, marks: Sequence[Mark]) -> float | None:
    """What came of an amount: frames, pixels of the shorter side, tokens of the reply; None if not known."""
    match step.sweep:
        case "frames":
            return float(subject.n_frames(step.view))
        case "size":
            return _side_px(subject.prompt(step.view))
        case _:
            tokens = [mark.output_tokens for mark in marks if mark.output_tokens is not None]
            return sum(tokens) / len(tokens) if tokens else None


def _side_px(prompt: Prompt) -> float | None:
    """The shorter side of the first image of a prompt, in pixels."""
    sides = [min(p.width_px, p.height_px) for p in prompt.parts if isinstance(p, ImagePart)]
    return float(sides[0]) if sides else None


def _sizes(text: str) -> tuple[str, ...]:
    """Sizes of one kind, the smallest first and ``native`` last."""
    found = words_apart(text)
    try:
        sizes = {one: Size.parse(one) for one in found}
    except UsageError as error:
        raise ValueError(str(error)) from error
    kinds = {size.kind for size in sizes.values()} - {"native"}
    if len(kinds) > 1:
        raise ValueError("expected limits on the same side, all short:PIXELS or all long:PIXELS")
    return tuple(sorted(found, key=lambda one: (sizes[one].kind == "native", sizes[one].pixels)))


def _thinking(text: str) -> tuple[str, ...]:
    """Values of an option, in order of size where all are numbers."""
    found = words_apart(text)
    return tuple(sorted(found, key=int)) if all(one.isdecimal() for one in found) else found


_KNOWN: Mapping[str, Callable[[str], object]] = MappingProxyType(
    {
        "frames": amounts_apart,
        "sizes": _sizes,
        "thinking": _thinking,
        "setting": str,
        "by": str,
        "groups": bins_apart,
        "repeats": positive_whole,
    }
)


def create(options: Mapping[str, str]) -> Diagnostic:
    """The diagnostic.

    Options: `frames`, budgets split by ``|``, in place of 8, 16, 32, ... up to the plan's; `sizes`, such as
    ``short:224|short:448|native``; `thinking`, such as ``0|1024|4096``, values of the model's option
    `setting` (``thinking_budget``). Only what is named is swept; frames where nothing is. `by`: what parts
    the questions, ``evidence`` (how many pieces) or a tag; `groups` (``0|1|2-3|4-5|6+``) of its numbers;
    `repeats` (1), how often each is asked.

    Raises:
        UsageError: an option that is not known or cannot be read, or a sweep of a single amount.
    """
    given = take_options("budgets", options, _KNOWN)
    for sweep in ("frames", "sizes", "thinking"):
        amounts = cast("tuple[object, ...] | None", given.get(sweep))
        if amounts is not None and len(amounts) < 2:
            raise UsageError(
                f"budgets: {sweep}={amounts[0]} is a single amount; expected two or more, split by |"
            )
    by = cast("str", given.get("by", EVIDENCE))
    usual = Grouping().bins if by == EVIDENCE else ()
    return Budgets(
        Rules(
            frames=cast("tuple[int, ...]", given.get("frames", ())),
            sizes=cast("tuple[str, ...]", given.get("sizes", ())),
            thinking=cast("tuple[str, ...]", given.get("thinking", ())),
            setting=cast("str", given.get("setting", "thinking_budget")),
            grouping=Grouping(by=by, bins=cast("tuple[str, ...]", given.get("groups", usual))),
            repeats=cast("int", given.get("repeats", 1)),
        )
    )
