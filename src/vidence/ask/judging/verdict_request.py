"""Ask for one verdict: the question, at most one repair, and then no more."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from vidence.ask.judging.fence import block_id, fence
from vidence.ask.judging.templates import (
    QUESTION,
    REPAIR,
    SIGN,
    JudgeTemplates,
    item_values,
)
from vidence.ask.judging.verdicts import Form, VerdictFields, judge_error
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
    `seed` is that of the plan, from which the ids of blocks are made. `is_recorded` says that
    its words were written down before, see `verdicts.Form.read`.
    """

    templates: JudgeTemplates
    name: str
    version: int = 1
    sampling: Sampling
    scale: float = 0.0
    seed: int = 0
    is_recorded: bool = False

    @property
    def wording(self) -> str:
        """Whose words its messages are, see `templates.JudgeTemplates.wording`."""
        return self.templates.wording

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
        decide: Callable[[VerdictFields], Decided | str],
        system: str = "system",
        more: Mapping[str, object] = MappingProxyType({}),
    ) -> Flow[Score]:
        """The score of a text under judgement.

        A verdict that cannot be read is asked for once more, with what was wrong; a judge that
        declines is not asked again. Where the words of somebody else do not ask for the id, a line of ours
        does.

        Args:
            item: the question.
            judged: the text under judgement.
            form: what the verdict holds.
            decide: turns a verdict into the outcome of the reply and a record, to which what was said is
                added; or says what is wrong with a verdict that could be read.
            system: the template of the system message.
            more: values of the variables that the templates have beside the usual ones.
        """
        marked = block_id(item, judged, form=form.digest, seed=self.seed)
        values = {**item_values(item, block_id=marked), **more}
        sign = f"\n\n{self.templates.fill(SIGN, values)}"
        signing = "" if self.templates.asks_for_id(system, QUESTION) else sign
        block = fence(judged, name="reply", marked=marked)
        prompt = Prompt(
            parts=(TextPart(text=self.templates.fill(QUESTION, {**values, "reply": block}) + signing),),
            system=self.templates.fill(system, values),
            template=self.templates.label(QUESTION),
            reply_schema=form.schema(),
        )
        contrary = ""  # in the last verdict that could be read and decided nothing

        def read(reply: Reply) -> Decided | str:
            nonlocal contrary
            contrary = ""
            if refused := refusal_in(reply):
                return f"the judge declined: {refused.reason}"
            is_cut = reply.finish == "length"
            reading = form.read(reply.text, marked=marked, is_recorded=self.is_recorded, is_cut=is_cut)
            if isinstance(reading, VerdictFields):
                decided = decide(reading)
                contrary = decided if isinstance(decided, str) else ""
                return decided
            return f"no verdict in the judge's reply: {reading.problem}"

        (reply,) = yield (prompt,)
        decided, said = read(reply), [reply.text]
        if isinstance(decided, str) and not refusal_in(reply):
            earlier = fence(reply.text, name="earlier", marked=marked, most_chars=_MOST_EARLIER)
            shown = {**values, "earlier": earlier, "problem": decided}
            repair = TextPart(text=self.templates.fill(REPAIR, shown) + signing)
            (reply,) = yield (msgspec.structs.replace(prompt, parts=(*prompt.parts, repair)),)
            decided = read(reply)
            said.append(reply.text)
        if isinstance(decided, str):
            lost = judge_error(decided, scorer=self.name, version=self.version, said=tuple(said))
            return _contrary(lost, contrary)
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


def _contrary(lost: Score, why: str) -> Score:
    """A judge error with what contradicts itself in the verdict, if that is why there is none."""
    verdicts = tuple(msgspec.structs.replace(one, contradiction=why) for one in lost.verdicts)
    return msgspec.structs.replace(lost, verdicts=verdicts)
