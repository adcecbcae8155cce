"""Ask for one verdict: the question, at most one repair, and then no more."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from vidence.ask.judging._templates import QUESTION, REPAIR, JudgeTemplates, item_values
from vidence.ask.judging.fence import MOST_CHARS, block_id, fence
from vidence.ask.judging.verdicts import Form, NoReading, Reading
from vidence.contracts import Flow
from vidence.records import Item, Prompt, Reply, TextPart
from vidence.text import refusal_in

# Most characters of the judge's own earlier words that a repair shows.
_MOST_EARLIER = 4_000


def _no_check(_: Reading) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What came of asking: a reading, or None and why there is none; and the judge's words."""

    reading: Reading | None
    error: str
    said: tuple[str, ...]


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
    ) -> Flow[Said]:
        """Ask for a verdict on a text.

        A verdict that cannot be read is asked for once more, with what was wrong; a judge that
        declines is not asked again.

        Args:
            item: the question.
            judged: the text under judgement.
            more: values of the variables that the templates have beside the usual ones.
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
        said: tuple[str, ...] = ()
        (reply,) = yield (prompt,)
        reading, said = self._read(reply, marked=marked, judged=judged), (reply.text,)
        if isinstance(reading, NoReading) and not refusal_in(reply):
            repair = self._repair(reply.text, reading.problem, values=values, marked=marked)
            (reply,) = yield (_with_part(prompt, repair),)
            reading, said = self._read(reply, marked=marked, judged=judged), (*said, reply.text)
        if isinstance(reading, NoReading):
            return Said(reading=None, error=reading.problem, said=said)
        return Said(reading=reading, error="", said=said)

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


def _with_part(prompt: Prompt, text: str) -> Prompt:
    """The prompt with more words behind it."""
    return Prompt(
        parts=(*prompt.parts, TextPart(text=text)),
        system=prompt.system,
        template=prompt.template,
        reply_schema=prompt.reply_schema,
    )
