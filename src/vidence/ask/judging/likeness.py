"""Judges that rate how like a free answer is to the reference: MMBench-Video's and ActivityNet-QA's."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from vidence.ask.judging.templates import JudgeTemplates
from vidence.ask.judging.verdict_request import Decided, TemplateJudge
from vidence.ask.judging.verdicts import Field, Form, VerdictFields
from vidence.contracts import Flow
from vidence.records import Answered, Item, Reply, Sampling, Score, Verdict

NAMES = ("mmbench-video", "activitynet-qa")
SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "mmbench-video": "MMBench-Video's rating of a free answer, 0 to 3.",
        "activitynet-qa": "Right or wrong, and 0 to 5, as free answers of ActivityNet-QA are judged.",
    }
)
CORRECT, POINTS = "correctness", "score"
SAMPLING = Sampling(temperature=0.0, max_tokens=256)
SCALES: Mapping[str, int] = MappingProxyType({"mmbench-video": 3, "activitynet-qa": 5})
_TRUTH = Field(key=CORRECT, kind="truth", meaning="whether it answers as the reference does")


@dataclass(frozen=True, kw_only=True)
class LikenessJudge(TemplateJudge):
    """A rating from 0 to `scale`; without a field for correctness, its share of the scale is the mark.

    Choices are left to the rules. A reply without any answer gets 0, and nobody is asked.

    Source: MMBench-Video, section 3.3; the evaluation of ActivityNet-QA by a language model.
    Departs: the sentences are ours, and the verdict is strict; the judges' models are the user's.
    """

    has_truth: bool
    sampling: Sampling = SAMPLING
    scale: float

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Ask for the rating of an open answer.

        Source: see the class.
        Departs: see the class.
        """
        if (known := self.without_asking(item, ruled)) is not None:
            return known
        most = int(self.scale)
        points = Field(key=POINTS, kind="points", meaning="how like it is to the reference", most=most)
        form = Form(fields=((_TRUTH, points) if self.has_truth else (points,)))
        return (yield from self.ask(item, reply.text, form=form, decide=partial(self._decided, reply)))

    def _decided(self, reply: Reply, reading: VerdictFields) -> Decided:
        points = float(reading.points(POINTS))
        value = float(reading.truth(CORRECT)) if self.has_truth else points / self.scale
        verdict = Verdict(judge_model="", value=value, points=points)
        return Answered(answer=reply.text.strip(), rule="judge"), verdict


def create(name: str, prompts_dir: Path | None = None) -> LikenessJudge:
    """The judge ``mmbench-video``, or ``activitynet-qa``.

    Args:
        name: which of them.
        prompts_dir: a folder whose files replace those of ``templates/NAME``.

    Raises:
        UsageError: the folder or a template in it cannot be used.
    """
    templates = JudgeTemplates.load(name, override=prompts_dir)
    scale = float(SCALES[name])
    return LikenessJudge(templates=templates, name=name, scale=scale, has_truth=name == "activitynet-qa")
