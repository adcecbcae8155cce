"""The judges of free answers at the gates."""

from dataclasses import replace

import msgspec

from vidence.ask.judging.verdict_request import TemplateJudge
from vidence.catalog import create, parse_spec
from vidence.contracts import Judge
from vidence.engine.scoring import RECORDED, JudgeModel, JudgePool
from vidence.engine.specs import without_sampling
from vidence.make.gates.rules import JudgeRules
from vidence.make.pipeline.models import Models
from vidence.records import Sampling


def judge_pool(rules: JudgeRules | None, models: Models, *, seed: int) -> JudgePool | None:
    """Return the judge of free answers with its models; None if no judge is configured.

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
    """Return notes on how free answers were marked; empty if there were no free answers."""
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
