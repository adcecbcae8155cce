"""Judges that rate a free answer against the reference, each a data file with its scale and fields."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean

from vidence.ask.judging.templates import JudgeTemplates
from vidence.ask.judging.verdict_request import Decided, TemplateJudge
from vidence.ask.judging.verdicts import Field, Form, VerdictFields
from vidence.contracts import Flow
from vidence.installation import packaged
from vidence.records import Answered, Item, Record, Reply, Sampling, Score, Verdict


class Rating(Record):
    """The file of a judge.

    `scale` is the minimum and maximum of points: the sum of the fields of the kind ``points``. A question
    with scoring points (`Item.steps`) uses `of_steps` instead of `fields`, and the mean over `step`, one per
    scoring point.
    """

    about: str
    scale: tuple[int, int]
    fields: tuple[Field, ...]
    step: Field | None = None
    of_steps: tuple[Field, ...] = ()
    max_tokens: int = 256


@dataclass(frozen=True, kw_only=True)
class RatingJudge(TemplateJudge):
    """The points of a free answer; without a ``truth`` field, the score is their share of the scale.

    Choices are left to the rules. A reply without an answer gets 0, without asking.

    Source: MMBench-Video, section 3.3; the evaluation of ActivityNet-QA by a language model; MLVU,
        evaluate_ssc.py and evaluate_summary.py of its code (G-Avg).
    Departs: the prompts are ours, the verdict is strict, and the user chooses the judge model. MLVU's judge
    averages over
        scoring points itself; here the verdict rates each.
    """

    rating: Rating

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Ask for the rating of an open answer."""
        if (known := self.without_asking(item, ruled)) is not None:
            return known
        fields, step, points = self.rating.fields, self.rating.step, ""
        if step is not None and item.steps:
            keys = [f"{step.key} {i}" for i in range(1, len(item.steps) + 1)]
            fields = (*self.rating.of_steps, *(replace(step, key=key) for key in keys))
            points = "\n".join(f'"{key}": {text}' for key, text in zip(keys, item.steps, strict=True))
        form, decide = Form(fields=fields), partial(self._decided, reply, fields)
        return (yield from self.ask(item, reply.text, form=form, decide=decide, more={"points": points}))

    def _decided(self, reply: Reply, fields: tuple[Field, ...], reading: VerdictFields) -> Decided:
        points = float(sum(reading.points(field.key) for field in fields if field.kind == "points"))
        if parts := [int(reading.text(field.key)) for field in fields if field.kind == "word"]:
            points += fmean(parts)
        least, most = self.rating.scale
        marks = [float(reading.truth(field.key)) for field in fields if field.kind == "truth"]
        value = marks[0] if marks else (points - least) / (most - least)
        verdict = Verdict(judge_model="", value=value, points=points, reason=reading.text("reason"))
        return Answered(answer=reply.text.strip(), rule="judge"), verdict


def create(name: str, prompts_dir: Path | None = None) -> RatingJudge:
    """Create the judge of a file: ``mmbench-video``, ``activitynet-qa``, ``mlvu``.

    Args:
        name: which of them.
        prompts_dir: a folder whose files replace those of ``templates/NAME``.

    Raises:
        UsageError: the folder or a template in it is invalid.
    """
    rating = packaged("vidence.ask.judging", f"rated/{name}.toml", Rating)
    more = {"points": "the scoring points of the question, each on a line behind its key; may be empty"}
    return RatingJudge(
        templates=JudgeTemplates.load(name, override=prompts_dir, more=more),
        name=name,
        sampling=Sampling(temperature=0.0, max_tokens=rating.max_tokens),
        scale=float(rating.scale[1]),
        rating=rating,
    )
