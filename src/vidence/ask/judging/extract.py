"""Use a model to find which choice a reply states, or a caption supports; it is not told the right one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vidence.ask.judging.templates import JudgeTemplates
from vidence.ask.judging.verdict_request import Decided, TemplateJudge
from vidence.ask.judging.verdicts import Field, Form, VerdictFields, judge_error
from vidence.ask.mapping.items import split_question
from vidence.contracts import Flow
from vidence.records import EXTRACT, Answered, Item, Reply, Sampling, Score, Unreadable, Verdict
from vidence.text import without_thinking

NAMES = ("extract", "tempcompass")
SUMMARIES: Mapping[str, str] = {
    "extract": "Read with a model which choice a reply states, where no rule could.",
    "tempcompass": "TempCompass's judge of captions: which choice of a question a caption supports.",
}
CHOICE, NONE, REASON = "choice", "none", "reason"
REASON_FIELD = Field(key=REASON, kind="text", meaning="one short sentence")
SAMPLING = Sampling(temperature=0.0, max_tokens=1024)


def which_choice(judge: TemplateJudge, item: Item, reply: Reply, *, ruled: Score, rule: str) -> Flow[Score]:
    """Ask which choice a reply states; return `ruled` if rules read one, or the reply is empty.

    Args:
        judge: provides prompts and name.
        item: the question, with its choices as shown.
        reply: the reply.
        ruled: the rules' score.
        rule: the `Answered.rule` of choices found this way.
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
        verdict = Verdict(judge_model="", value=float(chosen == item.answer), extracted=chosen, reason=reason)
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
    Departs: they ask about every reply, or guess if the model finds no choice; here a reply without a choice
    stays unreadable.
    """

    name: str = EXTRACT
    sampling: Sampling = SAMPLING

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Ask about a reply to a question with choices that no rule could read."""
        if item.answer_kind != "choice":
            return ruled
        return (yield from which_choice(self, item, reply, ruled=ruled, rule=EXTRACT))


@dataclass(frozen=True, kw_only=True)
class CaptionChoice(TemplateJudge):
    """Find the choice that a caption supports; right if it is the answer.

    The item's `rationale` is the question with its choices below; its answer starts with a letter. For
    questions with choices, only replies that no rule could read are judged.

    Source: TempCompass, eval_captioning.py and eval_multi-choice.py of its code.
    Departs: the prompts are ours, and the temperature is 0 instead of 1. Their judge of replies to choices is
    told the right
        choice, ours never is.
    """

    name: str = "tempcompass"
    sampling: Sampling = SAMPLING

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Ask which choice an answered caption supports; a judge error without such a question."""
        if item.answer_kind == "choice":
            return (yield from which_choice(self, item, reply, ruled=ruled, rule="judge"))
        if not isinstance(ruled.outcome, Answered):
            return ruled
        (question, choices), letter = split_question(item.rationale), item.answer.partition(".")[0].strip()
        asked = msgspec.structs.replace(item, question=question, choices=choices, answer=letter)
        if letter not in asked.letters:
            why = "the caption has no question with choices to be judged by (its rationale and answer)"
            return judge_error(why, scorer=self.name, version=self.version)
        unread = msgspec.structs.replace(ruled, outcome=Unreadable(reason="a caption"))
        result = Reply(text=ruled.outcome.answer)
        score = yield from which_choice(self, asked, result, ruled=unread, rule="judge")
        return score if score.has_judge_error else msgspec.structs.replace(score, outcome=ruled.outcome)


def create(name: str, prompts_dir: Path | None = None) -> TemplateJudge:
    """Create the judge ``extract``, which ``--extract-with`` selects, or ``tempcompass``.

    Args:
        name: which of them.
        prompts_dir: a folder whose files replace those of ``templates/rule-first``, or ``tempcompass``.

    Raises:
        UsageError: the folder or a template in it is invalid.
    """
    if name == "tempcompass":
        return CaptionChoice(templates=JudgeTemplates.load(name, override=prompts_dir))
    return ExtractChoice(templates=JudgeTemplates.load("rule-first", override=prompts_dir))
