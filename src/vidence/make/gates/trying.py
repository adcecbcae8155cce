"""The gates that ask models: which there are, what they drop for, how they ask, who judges free answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec

from vidence.ask.judging.verdict_request import TemplateJudge
from vidence.catalog import create, parse_spec
from vidence.contracts import Judge
from vidence.engine.scoring import RECORDED, JudgeModel, JudgePool
from vidence.engine.specs import without_sampling
from vidence.make.gates.frames import FrameSource, cut_frames
from vidence.make.gates.model_gates import (
    ONE_FRAME,
    TEXT_ONLY,
    Asked,
    AskSettings,
    GateVerdict,
    ask_blind,
    ask_with_frames,
    remarks,
)
from vidence.make.gates.rules import AskingGates, JudgeRules, NeedsAllRules, OneFrameRules, TextOnlyRules
from vidence.make.gates.withholding import NEEDS_ALL, ask_without, cut_evidence
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.models import Models
from vidence.records import Sampling

AskingRules: TypeAlias = TextOnlyRules | OneFrameRules | NeedsAllRules


def asking_gates(rules: AskingGates) -> Iterator[tuple[str, AskingRules | None, str]]:
    """The gates in their order: the name, the rules, and the reason for which they drop."""
    yield TEXT_ONLY, rules.text_only, "solved-blind"
    yield ONE_FRAME, rules.one_frame, "solved-one-frame"
    yield NEEDS_ALL, rules.needs_all, "spans-not-needed"


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What a gate asks with.

    `frames` gives where media are cut, asked for only where the gate shows frames. `seed` decides orders of
    choices, `how` how models are asked and who judges free answers. With `to_people` what would be dropped is
    left open for people.
    """

    frames: Callable[[], FrameSource]
    models: Models
    seed: int
    how: AskSettings
    to_people: bool = False


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What came of one gate: a verdict for each question in order, what is dropped by id, and remarks."""

    verdicts: tuple[GateVerdict, ...]
    dropped: Mapping[str, Dropped]
    words: tuple[str, ...]


def try_gate(gate: str, asked: Sequence[Asked], rules: AskingRules, *, asking: Asking, reason: str) -> Tried:
    """Put drafts or items to the models of a gate: the one way of makers and of `vidence gate`.

    Args:
        gate: its name.
        asked: the questions.
        rules: of the gate.
        asking: what it asks with.
        reason: for which it drops.

    Raises:
        StoreError: pictures cannot be written.
        VidenceError: a model answers nobody any more; every reply so far is remembered.
    """
    settled: dict[str, str] = {"reason": reason}
    if asking.to_people:
        settled = {"decision": "open", "why": f"{reason}, for people to look at"}
    verdicts = tuple(
        msgspec.structs.replace(one, **settled) if one.decision == "dropped" else one
        for one in _verdicts(asked, rules, asking)
    )
    dropped = {
        one.item_id: Dropped(what=one.item_id, stage=gate, reason=reason, detail=_told(one))
        for one in verdicts
        if one.decision == "dropped"
    }
    return Tried(verdicts=verdicts, dropped=dropped, words=tuple(remarks(gate, verdicts)))


def _told(verdict: GateVerdict) -> str:
    """Why a gate drops a question, in figures."""
    if verdict.k_verified is not None:
        return f"{verdict.k_verified} moments proved needed, {verdict.n_right} spans did not"
    return f"{verdict.n_right} of {len(verdict.votes)} right"


def _verdicts(asked: Sequence[Asked], rules: AskingRules, asking: Asking) -> tuple[GateVerdict, ...]:
    models, seed, how = asking.models, asking.seed, asking.how
    match rules:
        case TextOnlyRules():
            return ask_blind(asked, rules, models=models, seed=seed, how=how)
        case OneFrameRules():
            tried = cut_frames(asked, rules, asking.frames())
            return ask_with_frames(asked, tried, rules, models=models, seed=seed, how=how)
        case NeedsAllRules():
            shown = cut_evidence(asked, rules, asking.frames())
            return ask_without(asked, shown, rules, models=models, seed=seed, how=how)


def judge_pool(rules: JudgeRules | None, models: Models, *, seed: int) -> JudgePool | None:
    """The judge of free answers with the models that speak for it; None where there is none.

    The ids of what judges see are made from the seed.

    Raises:
        UnknownNameError: a model is not among these.
    """
    if rules is None:
        return None
    judge: Judge = create("judge", rules.protocol)
    if isinstance(judge, TemplateJudge):
        judge = replace(judge, seed=seed)
    return JudgePool(judge=judge, models=[_model(name, judge, models) for name in rules.models])


def judges_words(rules: JudgeRules | None, *, gate: str, n_free: int) -> list[str]:
    """What a person should know of how free answers were marked; nothing where there are none."""
    if not n_free:
        return []
    if rules is not None:
        who = ", ".join(rules.models)
        return [f"{gate}: free answers to {n_free:,} questions were judged by {who} as {rules.protocol}."]
    return [
        f"{gate}: {n_free:,} questions have free answers and no judge: an answer in the right words counts "
        "as right, any other leaves its question open. Name a judge (--judge-model, or [gates.judge])."
    ]


def _model(name: str, judge: Judge, models: Models) -> JudgeModel:
    identity = models.identity(name)
    spec = parse_spec(models.spec(name))
    _, sampled = without_sampling(spec)
    sampling = msgspec.convert(msgspec.to_builtins(judge.sampling) | sampled, Sampling)
    return JudgeModel(name=name, identity=identity, sampling=sampling, is_recorded=spec.name in RECORDED)
