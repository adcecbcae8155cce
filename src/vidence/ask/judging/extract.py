"""Read with a model which choice a reply states, where no rule could; it is not told which one is right."""

from dataclasses import dataclass
from pathlib import Path

from vidence.ask.judging.templates import JudgeTemplates
from vidence.ask.judging.verdict_request import Decided, TemplateJudge
from vidence.ask.judging.verdicts import Field, Form, VerdictFields
from vidence.contracts import Flow
from vidence.records import EXTRACT, Answered, Item, Reply, Sampling, Score, Unreadable, Verdict
from vidence.text import without_thinking

CHOICE, NONE, REASON = "choice", "none", "reason"
REASON_FIELD = Field(key=REASON, kind="text", meaning="one short sentence")
SAMPLING = Sampling(temperature=0.0, max_tokens=1024)


def which_choice(judge: TemplateJudge, item: Item, reply: Reply, *, ruled: Score, rule: str) -> Flow[Score]:
    """Ask which choice a reply states; `ruled` where rules read one, or the reply has no words.

    Args:
        judge: whose words and name are used.
        item: the question, with its choices as they were shown.
        reply: the reply.
        ruled: what the rules say of it.
        rule: the `Answered.rule` of a choice that is read this way.
    """
    words = without_thinking(reply.text).strip()
    if not isinstance(ruled.outcome, Unreadable) or not words:
        return ruled
    letter = Field(
        key=CHOICE, kind="word", meaning="the choice that the reply means", words=(*item.letters, NONE)
    )

    def decided(reading: VerdictFields) -> Decided:
        chosen, reason = reading.text(CHOICE), reading.text(REASON)
        if chosen == NONE:
            verdict = Verdict(judge_model="", value=0.0, reason=reason)
            return Unreadable(reason="the judge finds that the reply means no choice"), verdict
        value = float(chosen == item.answer)
        verdict = Verdict(judge_model="", value=value, extracted=chosen, reason=reason)
        return Answered(answer=chosen, rule=rule), verdict

    return (
        yield from judge.ask(
            item,
            words,
            form=Form(fields=(REASON_FIELD, letter)),
            decide=decided,
            system="system-choice",
            more={"answer": "", "rationale": ""},
        )
    )


@dataclass(frozen=True, kw_only=True)
class ExtractChoice(TemplateJudge):
    """Rules first; a model says which choice the other replies state, or that they state none.

    Free answers are left to another judge.

    Source: MMVU, section 4, and VLMEvalKit extract the choice with a model.
    Departs: they ask about every reply, or guess where the model finds none; here a reply without a choice
        stays unreadable.
    """

    name: str = EXTRACT
    sampling: Sampling = SAMPLING

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Ask about a reply to a question with choices that no rule could read."""
        if item.answer_kind != "choice":
            return ruled
        return (yield from which_choice(self, item, reply, ruled=ruled, rule=EXTRACT))


def create(prompts_dir: Path | None = None) -> ExtractChoice:
    """The judge ``extract``, which ``--extract-with`` names.

    Args:
        prompts_dir: a folder whose files replace those of ``templates/rule-first``.

    Raises:
        UsageError: the folder or a template in it cannot be used.
    """
    return ExtractChoice(templates=JudgeTemplates.load("rule-first", override=prompts_dir))
