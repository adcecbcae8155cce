"""HumanPCR's judge of open questions, with and without the reference reasoning."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vidence.ask.judging.templates import JudgeTemplates
from vidence.ask.judging.verdict_request import Decided, TemplateJudge
from vidence.ask.judging.verdicts import Field, Form, VerdictFields, contradiction
from vidence.contracts import Flow
from vidence.records import Answered, Item, Reply, Sampling, Score, Unreadable, Verdict

NAMES = ("humanpcr", "humanpcr-printed")
SUMMARIES: Mapping[str, str] = {
    "humanpcr": "HumanPCR's judge of open questions, with the reference reasoning that raised its "
    "agreement with people.",
    "humanpcr-printed": "HumanPCR's judge of open questions with what its printed prompt gives it: no "
    "reference reasoning.",
}
EXTRACTED, CORRECT, POINTS = "extracted answer", "correctness", "score"
SCALE = 4
RIGHT_FROM = 3
SAMPLING = Sampling(temperature=0.0, max_tokens=1024)
FORM = Form(
    fields=(
        Field(key=EXTRACTED, kind="text", meaning="the short final answer of the response"),
        Field(key=CORRECT, kind="truth", meaning="whether it is correct"),
        Field(key=POINTS, kind="points", meaning="0 to 2 if not correct, 3 or 4 if correct", most=SCALE),
    )
)


def disagreement(reading: VerdictFields) -> str:
    """Describe the contradiction between a verdict's score and its correctness, if any.

    Source: HumanPCR, figure with the judge's prompt: a wrong answer scores 0, 1 or 2, a right one 3 or 4.
    Departs: the paper does not say how it treats a verdict that breaks this rule; here it is invalid.
    """
    is_right, points = reading.truth(CORRECT), reading.points(POINTS)
    if is_right == (points >= RIGHT_FROM):
        return ""
    return (
        f"{CORRECT!r} is {str(is_right).lower()} and {POINTS!r} is {points}, which contradict each other: "
        "0, 1 or 2 is for answers that are not correct, 3 or 4 for correct ones"
    )


@dataclass(frozen=True, kw_only=True)
class HumanpcrJudge(TemplateJudge):
    """The judge of Human-R: correct or not, and a score from 0 to 4 for answer and reasoning.

    Choices are left to the rules. A reply without an answer is wrong with 0 points, without asking.

    Source: HumanPCR, appendix C, the prompt of the judge; C.3 for the reference reasoning.
    Departs: the prompts are ours, the response is shown as data, and the verdict repeats the id of its block,
    unlike the printed
        form; temperature 0 (the paper states none); one repair, then a judge error.
    """

    gives_rationale: bool
    version: int = 2
    sampling: Sampling = SAMPLING
    scale: float = float(SCALE)

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Ask for correctness and score of an open answer."""
        if (known := self.without_asking(item, ruled)) is not None:
            return known
        more = {"rationale": item.rationale if self.gives_rationale else ""}
        return (yield from self.ask(item, reply.text, form=FORM, decide=partial(_decided, item), more=more))


def _decided(item: Item, reading: VerdictFields) -> Decided | str:
    if problem := disagreement(reading):
        return problem
    extracted, is_right = reading.text(EXTRACTED), reading.truth(CORRECT)
    verdict = Verdict(
        judge_model="",
        value=float(is_right),
        points=float(reading.points(POINTS)),
        extracted=extracted,
        contradiction=contradiction(extracted, item.answer, is_right=is_right),
    )
    if not extracted and not is_right:
        return Unreadable(reason="the judge found no answer in the reply"), verdict
    return Answered(answer=extracted, rule="judge"), verdict


def create(name: str, prompts_dir: Path | None = None) -> HumanpcrJudge:
    """Create ``humanpcr``, whose judge sees the item's rationale, or ``humanpcr-printed``, whose does not.

    Args:
        name: which of them.
        prompts_dir: a folder whose files replace those of ``templates/humanpcr``.

    Raises:
        UsageError: the folder or a template in it is invalid.

    Source: HumanPCR, C.3: with the annotated reasoning the correlation with people rises from .642 to .689.
    Departs: the prompt printed in appendix C has no place for the reasoning; ``humanpcr-printed`` gives none.
    """
    templates = JudgeTemplates.load("humanpcr", override=prompts_dir)
    return HumanpcrJudge(templates=templates, name=name, gives_rationale=name == "humanpcr")
