"""Whether a description supports the right label: ActPLD's thought logs, judged by a model."""

from dataclasses import dataclass
from pathlib import Path

from vidence.ask.judging.templates import JudgeTemplates
from vidence.ask.judging.verdict_request import Decided, TemplateJudge
from vidence.ask.judging.verdicts import Field, Form, VerdictFields
from vidence.ask.scoring.description_match import NAME, NO_CHOICE, description_in, label_words
from vidence.ask.scoring.label_words import with_known
from vidence.contracts import Flow
from vidence.records import Answered, Item, Reply, Sampling, Score, Verdict

SAMPLING = Sampling(temperature=0.0, max_tokens=2048)
_FORM = Form(
    fields=(
        Field(
            key="described",
            kind="text",
            meaning="the action or aim that the description supports, in a few words",
        ),
        Field(key="reason", kind="text", meaning="one sentence on why it matches or does not"),
        Field(key="match", kind="truth", meaning="whether the description supports the true label"),
    )
)
_MORE = {
    "label": "the label that is right",
    "synonyms": "other words for it, joined by commas; may be empty",
    "features": "its features, separated by semicolons; may be empty",
    "rivals": "the labels that would be wrong, joined by commas; may be empty",
}


@dataclass(frozen=True, kw_only=True)
class DescriptionMatch(TemplateJudge):
    """A `contracts.Judge` for descriptions.

    Questions with choices are judged only if the parser ``description-match`` scored their log; a score from
    a letter is kept. Replies without a description are unchanged.

    Source: ActPLD, section 2.5 and appendix A.3; the judge there is Gemini 2.5 Pro (section 2.5), or
        GPT-5 and Gemini 2.5 Pro (section 1.6).
    Departs: the prompts are ours; the paper's judge receives a table of many rows at once, ours one reply,
    shown as data. The
        temperature is not given; ours is 0.
    """

    name: str = NAME
    version: int = 2
    sampling: Sampling = SAMPLING

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Ask whether the description supports the right label."""
        is_letter = item.answer_kind == "choice" and ruled.scorer != NAME
        if is_letter or not isinstance(ruled.outcome, Answered):
            return ruled
        right, rivals = label_words(item)
        words = with_known(right)
        more = {
            "label": right.text,
            "synonyms": ", ".join(words.forms),
            "features": "; ".join(words.features),
            "rivals": ", ".join(rival.text for rival in rivals),
        }
        described = ruled.outcome

        def decided(reading: VerdictFields) -> Decided:
            is_match = reading.truth("match")
            verdict = Verdict(
                judge_model="",
                value=float(is_match),
                extracted=reading.text("described"),
                reason=reading.text("reason"),
            )
            if item.answer_kind == "text":
                return described, verdict
            # What was read of a choice is the one that the judge finds in the log.
            return Answered(answer=item.answer if is_match else NO_CHOICE, rule="log/judge"), verdict

        return (yield from self.ask(item, description_in(reply), form=_FORM, decide=decided, more=more))


def create(prompts_dir: Path | None = None) -> DescriptionMatch:
    """Create the judge ``description-match``.

    Raises:
        UsageError: `prompts_dir` is not a folder of its templates.
    """
    return DescriptionMatch(templates=JudgeTemplates.load(NAME, override=prompts_dir, more=_MORE))
