"""Ask for one verdict: the question, at most one repair, and then no more."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import msgspec

from vidence.ask.judging.fence import MOST_CHARS, block_id, fence
from vidence.ask.judging.templates import QUESTION, REPAIR, JudgeTemplates, item_values
from vidence.ask.judging.verdicts import Form, NoReading, Reading, judge_error, judged_score
from vidence.contracts import Flow
from vidence.records import Item, Outcome, Prompt, Reply, Sampling, Score, TextPart, Verdict
from vidence.text import refusal_in

# Most characters of the judge's own earlier words that a repair shows.
_MOST_EARLIER = 4_000


def _no_check(_: Reading) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How one judge asks.

    `check` looks at a verdict that could be read and says what is wrong with it, or nothing. `most_chars`
    is how much of a text under judgement is shown, see `fence`.
    """

    templates: JudgeTemplates
    form: Form
    system: str = "system"
    check: Callable[[Reading], str] = _no_check
    most_chars: int = MOST_CHARS

    def put(
        self, item: Item, judged: str, *, more: Mapping[str, object] = MappingProxyType({})
    ) -> Flow[tuple[Reading | NoReading, tuple[str, ...]]]:
        """Ask for a verdict on a text.

        A verdict that cannot be read is asked for once more, with what was wrong; a judge that
        declines is not asked again.

        Args:
            item: the question.
            judged: the text under judgement.
            more: values of the variables that the templates have beside the usual ones.

        Returns:
            The verdict, or why there is none; and what the judge said.
        """
        marked = block_id(item, judged)
        values = {**item_values(item, block_id=marked), **more}
        block = fence(judged, name="reply", marked=marked, most_chars=self.most_chars)
        prompt = Prompt(
            parts=(TextPart(text=self.templates.fill(QUESTION, {**values, "reply": block})),),
            system=self.templates.fill(self.system, values),
            template=self.templates.label(QUESTION),
            reply_schema=self.form.schema(),
        )
        (reply,) = yield (prompt,)
        reading, said = self._read(reply, marked=marked, judged=judged), (reply.text,)
        if isinstance(reading, NoReading) and not refusal_in(reply):
            repair = self._repair(reply.text, reading.problem, values=values, marked=marked)
            again = msgspec.structs.replace(prompt, parts=(*prompt.parts, TextPart(text=repair)))
            (reply,) = yield (again,)
            return self._read(reply, marked=marked, judged=judged), (*said, reply.text)
        return reading, said

    def _read(self, reply: Reply, *, marked: str, judged: str) -> Reading | NoReading:
        refused = refusal_in(reply)
        if refused:
            return NoReading(problem=f"the judge declined: {refused.reason}")
        reading = self.form.read(reply.text, marked=marked, judged=judged)
        if isinstance(reading, NoReading):
            cut = "; it was cut off at its length limit" if reply.finish == "length" else ""
            return NoReading(problem=f"no verdict in the judge's reply: {reading.problem}{cut}")
        problem = self.check(reading)
        return NoReading(problem=problem) if problem else reading

    def _repair(self, said: str, problem: str, *, values: Mapping[str, object], marked: str) -> str:
        earlier = fence(said, name="earlier", marked=marked, most_chars=_MOST_EARLIER)
        return self.templates.fill(REPAIR, {**values, "earlier": earlier, "problem": problem})


@dataclass(frozen=True, kw_only=True)
class TemplateJudge:
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

    def ask(
        self,
        asking: Asking,
        item: Item,
        judged: str,
        *,
        decide: Callable[[Reading], tuple[Outcome, Verdict]],
        more: Mapping[str, object] = MappingProxyType({}),
    ) -> Flow[Score]:
        """The score of a text under judgement.

        Args:
            asking: how the verdict is asked for.
            item: the question.
            judged: the text under judgement.
            decide: turns a verdict into the outcome of the reply and a record; what was said is added.
            more: as for `Asking.put`.
        """
        reading, said = yield from asking.put(item, judged, more=more)
        if isinstance(reading, NoReading):
            return judge_error(self, reading.problem, said=said)
        outcome, verdict = decide(reading)
        return judged_score(self, outcome, msgspec.structs.replace(verdict, said=said))
