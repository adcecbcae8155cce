"""MMVU's judge: a model extracts the answer from every reply, also for choices, and says if it is right."""

from dataclasses import dataclass
from pathlib import Path

from vidence.ask.judging.templates import JudgeTemplates
from vidence.ask.judging.verdict_request import Decided, TemplateJudge
from vidence.ask.judging.verdicts import CONTRADICTION, Field, Form, VerdictFields, contradiction
from vidence.ask.scoring.robust import read_text
from vidence.contracts import Flow
from vidence.records import Answered, Item, Outcome, Reply, Sampling, Score, Unreadable, Verdict

EXTRACTED, CORRECT = "extracted_answer", "correct"
FORM = Form(
    fields=(
        Field(key=EXTRACTED, kind="text", meaning="the answer that the response settles on"),
        Field(key=CORRECT, kind="truth", meaning="whether it is the right one"),
    )
)
SAMPLING = Sampling(temperature=1.0, max_tokens=128)


@dataclass(frozen=True, kw_only=True)
class MmvuOfficial(TemplateJudge):
    """The protocol of MMVU's released code: every reply is judged, without rules first.

    An empty reply is judged like any other, as in the code.

    A verdict that contradicts itself (it extracts a wrong letter and calls it right, or the reverse) counts
    by its correctness, as in the code; its outcome has the rule `CONTRADICTION`, and the verdict's
    `contradiction` describes it.

    Source: MMVU, section 4 and the released evaluation code: structured output {extracted_answer, correct},
        a system message for choices and one for open questions, 128 tokens, temperature 1.0.
    Departs: the prompts are ours unless imported, the response is shown as data, and the verdict repeats the
    id of its block; an
        invalid verdict is requested once more and then counted as a judge error, while the code marks the
        reply wrong (the value is 0.0 in both).
    """

    name: str = "mmvu-official"
    version: int = 2
    sampling: Sampling = SAMPLING

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Ask whether the reply is right; `ruled` is ignored."""
        system = "system-choice" if item.answer_kind == "choice" else "system-open"

        def decided(reading: VerdictFields) -> Decided:
            extracted, is_right = reading.text(EXTRACTED), reading.truth(CORRECT)
            outcome = _outcome(item, extracted, is_right=is_right)
            contrary = ""
            if isinstance(outcome, Answered) and outcome.rule == CONTRADICTION:
                contrary = f"extracted {outcome.answer}, right {item.answer}, correct {str(is_right).lower()}"
            elif item.answer_kind == "text":
                contrary = contradiction(extracted, item.answer, is_right=is_right)
            return outcome, Verdict(
                judge_model="", value=float(is_right), extracted=extracted, contradiction=contrary
            )

        return (yield from self.ask(item, reply.text, form=FORM, decide=decided, system=system))


def _outcome(item: Item, extracted: str, *, is_right: bool) -> Outcome:
    """Return the answer that the judge extracted; always a letter for choices."""
    if not extracted and not is_right:
        return Unreadable(reason="the judge found no answer in the reply")
    if item.answer_kind == "text":
        return Answered(answer=extracted, rule="judge")
    read = read_text(item, extracted)
    if isinstance(read, Answered):
        is_contradiction = (read.answer == item.answer) is not is_right
        return Answered(answer=read.answer, rule=CONTRADICTION if is_contradiction else "judge/letter")
    if is_right:
        return Answered(answer=item.answer, rule="judge/correct")
    return Unreadable(reason="the answer that the judge extracted is none of the choices")


def create(prompts_dir: Path | None = None) -> MmvuOfficial:
    """Create the judge ``mmvu-official``.

    Args:
        prompts_dir: a folder whose files replace those of ``templates/mmvu-official``.

    Raises:
        UsageError: the folder or a template in it is invalid.
    """
    return MmvuOfficial(templates=JudgeTemplates.load("mmvu-official", override=prompts_dir))
