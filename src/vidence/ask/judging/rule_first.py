"""Our judge: where a rule is sure it decides, and a model is asked only about the rest."""

from dataclasses import dataclass
from pathlib import Path

from vidence.ask.judging.equal import says_the_same
from vidence.ask.judging.templates import JudgeTemplates
from vidence.ask.judging.verdict_request import Decided, TemplateJudge
from vidence.ask.judging.verdicts import Field, Form, VerdictFields, contradiction
from vidence.contracts import Flow
from vidence.records import Answered, Item, Reply, Sampling, Score, Unreadable, Verdict
from vidence.text import without_thinking

CHOICE, NONE = "choice", "none"
EXTRACTED, CORRECT, REASON = "extracted_answer", "correct", "reason"
_REASON = Field(key=REASON, kind="text", meaning="one short sentence")
SAMPLING = Sampling(temperature=0.0, max_tokens=1024)
OPEN_FORM = Form(
    fields=(
        Field(key=EXTRACTED, kind="text", meaning="the final answer of the reply"),
        _REASON,
        Field(key=CORRECT, kind="truth", meaning="whether it means the same as the right answer"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class RuleFirst(TemplateJudge):
    """Rules first, a model where they abstain.

    *Choices*: a letter that the rules read stands. Where they can read none, the judge is asked which choice
    the reply means; it is not told which one is right. *Open answers*: one that equals the right answer
    (`says_the_same`) is right; about others the judge decides. A reply without any words is wrong, and
    nobody is asked.
    """

    name: str = "rule-first"
    version: int = 3
    sampling: Sampling = SAMPLING

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Return what the rules are sure of; ask about the rest.

        Source: see the class.
        Departs: no.
        """
        if item.answer_kind == "choice":
            words = without_thinking(reply.text).strip()
            if not isinstance(ruled.outcome, Unreadable) or not words:
                return ruled
            return (yield from self._which_choice(item, words))
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
        return (yield from self._same_meaning(item, words))

    def _which_choice(self, item: Item, words: str) -> Flow[Score]:
        letter = Field(
            key=CHOICE, kind="word", meaning="the choice that the reply means", words=(*item.letters, NONE)
        )
        form = Form(fields=(_REASON, letter))

        def decided(reading: VerdictFields) -> Decided:
            chosen, reason = reading.text(CHOICE), reading.text(REASON)
            if chosen == NONE:
                verdict = Verdict(judge_model="", value=0.0, reason=reason)
                return Unreadable(reason="the judge finds that the reply means no choice"), verdict
            value = float(chosen == item.answer)
            verdict = Verdict(judge_model="", value=value, extracted=chosen, reason=reason)
            return Answered(answer=chosen, rule="judge"), verdict

        hidden = {"answer": "", "rationale": ""}
        return (
            yield from self.ask(item, words, form=form, decide=decided, system="system-choice", more=hidden)
        )

    def _same_meaning(self, item: Item, words: str) -> Flow[Score]:
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
    """The judge ``rule-first``, the default.

    Args:
        prompts_dir: a folder whose files replace those of ``templates/rule-first``.

    Raises:
        UsageError: the folder or a template in it cannot be used.
    """
    return RuleFirst(templates=JudgeTemplates.load("rule-first", override=prompts_dir))
