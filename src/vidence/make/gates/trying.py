"""The gates that ask models, one behind the other: which there are, what they drop for, how they ask."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from vidence.make.gates.frames import FrameSource, cut_frames
from vidence.make.gates.model_gates import (
    ONE_FRAME,
    TEXT_ONLY,
    Asked,
    AskSettings,
    GateVerdict,
    ask_blind,
    ask_with_frames,
)
from vidence.make.gates.rules import AskingGates, NeedsAllRules, OneFrameRules, TextOnlyRules
from vidence.make.gates.withholding import NEEDS_ALL, ask_without, cut_evidence
from vidence.make.pipeline.models import Models

AskingRules: TypeAlias = TextOnlyRules | OneFrameRules | NeedsAllRules


def asking_gates(rules: AskingGates) -> Iterator[tuple[str, AskingRules | None, str]]:
    """The gates in their order: the name, the rules, and the reason for which they drop."""
    yield TEXT_ONLY, rules.text_only, "solved-blind"
    yield ONE_FRAME, rules.one_frame, "solved-one-frame"
    yield NEEDS_ALL, rules.needs_all, "spans-not-needed"


def ask_gate(
    asked: Sequence[Asked],
    rules: AskingRules,
    *,
    frames: Callable[[], FrameSource],
    models: Models,
    seed: int,
    how: AskSettings,
) -> tuple[GateVerdict, ...]:
    """What a gate says of drafts or items; `frames` is where their media are cut, asked for where needed.

    Raises:
        StoreError: pictures cannot be written.
        VidenceError: a model answers nobody any more; every reply so far is remembered.
    """
    match rules:
        case TextOnlyRules():
            return ask_blind(asked, rules, models=models, seed=seed, how=how)
        case OneFrameRules():
            tried = cut_frames(asked, rules, frames())
            return ask_with_frames(asked, tried, rules, models=models, seed=seed, how=how)
        case NeedsAllRules():
            shown = cut_evidence(asked, rules, frames())
            return ask_without(asked, shown, rules, models=models, seed=seed, how=how)
