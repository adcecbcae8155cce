"""What the two judges of HumanPCR's open questions share."""

from dataclasses import dataclass

import msgspec

from vidence.ask.judging._asking import Asking
from vidence.ask.judging._templates import JudgeTemplates
from vidence.ask.judging.verdicts import Field, Form, Reading, judge_error, judged_score
from vidence.contracts import Flow
from vidence.records import Answered, Item, Reply, Sampling, Score, Unreadable, Verdict

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


def disagreement(reading: Reading) -> str:
    """What is wrong with a verdict whose score and correctness contradict each other; else nothing.

    Source: HumanPCR, figure with the judge's prompt: a wrong answer scores 0, 1 or 2, a right one 3 or 4.
    Departs: the paper does not say what becomes of a verdict that breaks this rule; here it is no verdict.
    """
    is_right, points = reading.truth(CORRECT), reading.points(POINTS)
    if is_right == (points >= RIGHT_FROM):
        return ""
    return (
        f"{CORRECT!r} is {str(is_right).lower()} and {POINTS!r} is {points}, which contradict each other: "
        "0, 1 or 2 is for answers that are not correct, 3 or 4 for correct ones"
    )


@dataclass(frozen=True, kw_only=True)
class HumanpcrJudge:
    """The judge of Human-R: correct or not, and a score from 0 to 4 for answer and reasoning.

    Choices are left to the rules. A reply without any answer is wrong with 0 points, and nobody is asked.

    Source: HumanPCR, appendix C, the prompt of the judge; C.3 for the reference reasoning.
    Departs: the sentences are ours and the response is shown as data; temperature 0 (the paper names none);
        one repair, then a judge error.
    """

    templates: JudgeTemplates
    name: str
    gives_rationale: bool
    version: int = 1
    sampling: Sampling = SAMPLING
    scale: float = float(SCALE)

    @property
    def prompts_digest(self) -> str:
        """The SHA-256 over the templates in effect."""
        return self.templates.digest

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Ask for correctness and score of an open answer.

        Source: see the class.
        Departs: see the class.
        """
        if item.answer_kind == "choice":
            return ruled
        if not isinstance(ruled.outcome, Answered):
            return msgspec.structs.replace(ruled, points=0.0)
        asking = Asking(templates=self.templates, form=FORM, check=disagreement)
        rationale = item.rationale if self.gives_rationale else ""
        said = yield from asking.put(item, reply.text, more={"rationale": rationale})
        if said.reading is None:
            return judge_error(self, said.error, said=said.said)
        extracted, is_right = said.reading.text(EXTRACTED), said.reading.truth(CORRECT)
        verdict = Verdict(
            judge_model="",
            value=1.0 if is_right else 0.0,
            points=float(said.reading.points(POINTS)),
            extracted=extracted,
            said=said.said,
        )
        if not extracted and not is_right:
            return judged_score(self, Unreadable(reason="the judge found no answer in the reply"), verdict)
        return judged_score(self, Answered(answer=extracted, rule="judge"), verdict)
