"""Ask for one verdict: the question, at most one repair, and then no more."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from vidence.ask.judging.fence import block_id, fence
from vidence.ask.judging.templates import QUESTION, REPAIR, JudgeTemplates, item_values
from vidence.ask.judging.verdicts import Form, Reading, judge_error
from vidence.contracts import Flow
from vidence.records import Item, Outcome, Prompt, Reply, Sampling, Score, TextPart, Verdict
from vidence.text import refusal_in

# Most characters of the judge's own earlier words that a repair shows.
_MOST_EARLIER = 4_000


Decided: TypeAlias = tuple[Outcome, Verdict]
"""What a verdict makes of a reply."""


@dataclass(frozen=True, kw_only=True)
class TemplateJudge(ABC):
    """What the judges of this folder are: templates, and how their verdicts become scores.

    `sampling` is how a verdict is sampled, `scale` the most points that it can give (0: it gives none).
    """

    templates: JudgeTemplates
    name: str
    version: int = 1
    sampling: Sampling
    scale: float = 0.0

    @property
    def prompts_digest(self) -> str:
        """The SHA-256 over the templates in effect."""
        return self.templates.digest

    @abstractmethod
    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """See `contracts.Judge.judge`."""

    def ask(
        self,
        item: Item,
        judged: str,
        *,
        form: Form,
        decide: Callable[[Reading], Decided | str],
        system: str = "system",
        more: Mapping[str, object] = MappingProxyType({}),
    ) -> Flow[Score]:
        """The score of a text under judgement.

        A verdict that cannot be read is asked for once more, with what was wrong; a judge that
        declines is not asked again.

        Args:
            item: the question.
            judged: the text under judgement.
            form: what the verdict holds.
            decide: turns a verdict into the outcome of the reply and a record, to which what was said is
                added; or says what is wrong with a verdict that could be read.
            system: the template of the system message.
            more: values of the variables that the templates have beside the usual ones.
        """
        marked = block_id(item, judged)
        values = {**item_values(item, block_id=marked), **more}
        block = fence(judged, name="reply", marked=marked)
        prompt = Prompt(
            parts=(TextPart(text=self.templates.fill(QUESTION, {**values, "reply": block})),),
            system=self.templates.fill(system, values),
            template=self.templates.label(QUESTION),
            reply_schema=form.schema(),
        )

        def read(reply: Reply) -> Decided | str:
            if refused := refusal_in(reply):
                return f"the judge declined: {refused.reason}"
            reading = form.read(reply.text, marked=marked, judged=judged)
            if isinstance(reading, Reading):
                return decide(reading)
            cut = "; it was cut off at its length limit" if reply.finish == "length" else ""
            return f"no verdict in the judge's reply: {reading.problem}{cut}"

        (reply,) = yield (prompt,)
        decided, said = read(reply), [reply.text]
        if isinstance(decided, str) and not refusal_in(reply):
            earlier = fence(reply.text, name="earlier", marked=marked, most_chars=_MOST_EARLIER)
            shown = {**values, "earlier": earlier, "problem": decided}
            repair = TextPart(text=self.templates.fill(REPAIR, shown))
            (reply,) = yield (msgspec.structs.replace(prompt, parts=(*prompt.parts, repair)),)
            decided = read(reply)
            said.append(reply.text)
        if isinstance(decided, str):
            return judge_error(decided, scorer=self.name, version=self.version, said=tuple(said))
        outcome, verdict = decided
        if verdict.value is None:
            raise ValueError(f"{self.name} decided a verdict without a value; say what is wrong with it")
        return Score(
            outcome=outcome,
            value=verdict.value,
            scorer=self.name,
            scorer_version=self.version,
            points=verdict.points,
            verdicts=(msgspec.structs.replace(verdict, said=tuple(said)),),
        )
