"""Our judge: rules decide if they are certain, and a model judges the rest."""

from dataclasses import dataclass
from pathlib import Path

from vidence.ask.judging.equal import says_the_same
from vidence.ask.judging.extract import REASON, REASON_FIELD, SAMPLING, which_choice
from vidence.ask.judging.templates import JudgeTemplates
from vidence.ask.judging.verdict_request import Decided, TemplateJudge
from vidence.ask.judging.verdicts import Field, Form, VerdictFields, contradiction
from vidence.contracts import Flow
from vidence.records import Answered, Item, Reply, Sampling, Score, Verdict

EXTRACTED, CORRECT = "extracted_answer", "correct"
OPEN_FORM = Form(
    fields=(
        Field(key=EXTRACTED, kind="text", meaning="the final answer of the reply"),
        REASON_FIELD,
        Field(key=CORRECT, kind="truth", meaning="whether it means the same as the right answer"),
    )
)


@dataclass(frozen=True, kw_only=True)
class RuleFirst(TemplateJudge):
    """Rules first, a model if they abstain.

    *Choices*: a letter that the rules read stands. Otherwise the judge says which choice the reply means,
    without being told the right one. *Open answers*: one that equals the right answer (`says_the_same`) is
    right; the judge decides about others. An empty reply is wrong, without asking.
    """

    name: str = "rule-first"
    version: int = 4
    sampling: Sampling = SAMPLING

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Return the rules' score if they are certain; ask about the rest."""
        if item.answer_kind == "choice":
            return (yield from which_choice(self, item, reply, ruled=ruled, rule="judge"))
        if not isinstance(ruled.outcome, Answered) or ruled.value is not None:
            return ruled
        words = ruled.outcome.answer
        if says_the_same(words, item.answer):
            return Score(
                outcome=Answered(answer=item.answer, rule="equal"),
                value=1.0,
                scorer=self.name,
                scorer_version=self.version,
            )

        def decided(reading: VerdictFields) -> Decided:
            extracted, is_right = reading.text(EXTRACTED), reading.truth(CORRECT)
            verdict = Verdict(
                judge_model="",
                value=float(is_right),
                extracted=extracted,
                reason=reading.text(REASON),
                contradiction=contradiction(extracted, item.answer, is_right=is_right),
            )
            return Answered(answer=verdict.extracted or words, rule="judge"), verdict

        return (yield from self.ask(item, words, form=OPEN_FORM, decide=decided, system="system-open"))


def create(prompts_dir: Path | None = None) -> RuleFirst:
    """Create the judge ``rule-first``, the default.

    Args:
        prompts_dir: a folder whose files replace those of ``templates/rule-first``.

    Raises:
        UsageError: the folder or a template in it is invalid.
    """
    return RuleFirst(templates=JudgeTemplates.load("rule-first", override=prompts_dir))
