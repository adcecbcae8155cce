"""Request a verdict, with at most one repair.

The text under judgement is shown to the judge as data: it cannot end its block, or imitate our words. It is
written as a JSON string on one line between two marker lines. Everything that could be markup, a control
token of a chat format, or a deceptive character is escaped, so that no marker, tag, line break or invisible
character of the text reaches the judge. The markers carry an id derived from the question, the whole text,
the form of the verdict and the seed of the run: the same for the same text, so that verdicts are cached. No
text can contain its own id, because any change of the text changes the id.
"""

import hashlib
import hmac
import json
import unicodedata
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from vidence.ask.judging.templates import QUESTION, REPAIR, SIGN, JudgeTemplates, item_values
from vidence.ask.judging.verdicts import Form, VerdictFields, judge_error
from vidence.contracts import Flow
from vidence.records import Answered, Item, Outcome, Prompt, Reply, Sampling, Score, TextPart, Verdict
from vidence.text import refusal_in

# Most characters of the judge's own earlier words that a repair shows.
_MOST_EARLIER = 4_000


Decided: TypeAlias = tuple[Outcome, Verdict]
"""The score and label of a verdict."""

# Of a longer text the judge sees the first third and the last two thirds of this many characters.
MOST_CHARS = 24_000
_ID_CHARS = 16
# Begin tags, entities, code fences, and the control tokens of chat formats, such as <|im_start|> and [INST].
_MARKUP = frozenset("<>&`[]")
# Controls, format characters (zero width, bidi, tags), separators, surrogates, private and unassigned.
_ODD_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs", "Cs", "Co", "Cn"})
# Letters and marks that show nothing: fillers, the blank of Braille, joiners, variation selectors.
_BLANKS = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0})
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))


def block_id(item: Item, text: str, *, form: str = "", seed: int = 0) -> str:
    """Return the id of the block that holds `text`: 16 hexadecimal digits of an HMAC-SHA-256.

    Args:
        item: the question.
        text: the text under judgement.
        form: identifies the form of the verdict, see `verdicts.Form.digest`.
        seed: the seed in the run's plan, used as the key.
    """
    digest = hmac.new(f"vidence judge {seed}".encode(), digestmod=hashlib.sha256)
    for word in (item.item_id, item.question, *item.choices, item.answer, form, text):
        data = word.encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)} ".encode() + data)
    return digest.hexdigest()[:_ID_CHARS]


@lru_cache(maxsize=4096)
def _written(character: str) -> str:
    """Return a character as written in the block."""
    code = ord(character)
    is_odd = (
        character in _MARKUP
        or code in _BLANKS
        or any(code in span for span in _SELECTORS)
        or (character != " " and unicodedata.category(character) in _ODD_CATEGORIES)
    )
    if is_odd and character not in "\n\r\t":
        units = character.encode("utf-16-be", "surrogatepass").hex(" ", 2).split()
        return "".join(f"\\u{unit}" for unit in units)
    return json.dumps(character, ensure_ascii=False)[1:-1]


def _taken(pieces: list[str], most_chars: int) -> int:
    """Return how many pieces fit into this many characters."""
    return bisect_right(list(accumulate(map(len, pieces))), most_chars)


def fence(text: str, *, name: str, marked: str, most_chars: int = MOST_CHARS) -> str:
    """Return the block that shows `text` as data.

    Each line of the block that starts with a quotation mark is a JSON string. There is one; for a text longer
    than `most_chars` there are two, its beginning and its end, separated by a line that says how much is left
    out. The text cannot produce such a line, because it contains no line breaks here.

    Args:
        text: what to show.
        name: the name of the markers, for example ``reply``.
        marked: their id, see `block_id`.
        most_chars: maximum characters of the block without markers, as written.
    """
    pieces = [_written(character) for character in text]
    lines = [f'"{"".join(pieces)}"']
    if len(lines[0]) - 2 > most_chars:
        n_head = _taken(pieces, most_chars // 3)
        n_tail = _taken(pieces[n_head:][::-1], most_chars - most_chars // 3)
        head, tail = pieces[:n_head], pieces[len(pieces) - n_tail :]
        n_out = len(pieces) - n_head - n_tail
        lines = [f'"{"".join(head)}"', f"({n_out} characters are left out here)", f'"{"".join(tail)}"']
    return "\n".join([f'<{name} id="{marked}">', *lines, f'</{name} id="{marked}">'])


@dataclass(frozen=True, kw_only=True)
class TemplateJudge(ABC):
    """Base of the judges in this folder: templates, and the conversion of verdicts to scores.

    `sampling` is how a verdict is sampled, `scale` its maximum of points (0: none). `seed` is the plan's,
    from which block ids are derived. `is_recorded` means that its replies were recorded earlier, see
    `verdicts.Form.read`.
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
        """Return whose prompts its messages are, see `templates.JudgeTemplates.wording`."""
        return self.templates.wording

    @property
    def prompts_digest(self) -> str:
        """Return the SHA-256 over the templates in effect."""
        return self.templates.digest

    @staticmethod
    def without_asking(item: Item, ruled: Score) -> Score | None:
        """Return the score of what a rating judge leaves to rules: choices, and empty replies."""
        if item.answer_kind == "choice":
            return ruled
        return None if isinstance(ruled.outcome, Answered) else msgspec.structs.replace(ruled, points=0.0)

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
        """Return the score of a text under judgement.

        An invalid verdict is requested once more, with what was wrong; a judge that refuses is not asked
        again. If a user's templates do not ask for the id, a line of ours does.

        Args:
            item: the question.
            judged: the text under judgement.
            form: the fields of the verdict.
            decide: converts a verdict to the reply's outcome and a record, to which the judge's text is
                added; or returns what is wrong with a parsed verdict.
            system: the template of the system message.
            more: values of additional variables.
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
        decided, messages = read(reply), [reply.text]
        if isinstance(decided, str) and not refusal_in(reply):
            earlier = fence(reply.text, name="earlier", marked=marked, most_chars=_MOST_EARLIER)
            fields = {**values, "earlier": earlier, "problem": decided}
            repair = TextPart(text=self.templates.fill(REPAIR, fields) + signing)
            (reply,) = yield (msgspec.structs.replace(prompt, parts=(*prompt.parts, repair)),)
            decided = read(reply)
            messages.append(reply.text)
        if isinstance(decided, str):
            return judge_error(
                decided, scorer=self.name, version=self.version, said=tuple(messages), contrary=contrary
            )
        outcome, verdict = decided
        if verdict.value is None:
            raise ValueError(f"{self.name} decided a verdict without a value; return what is wrong with it")
        return Score(
            outcome=outcome,
            value=verdict.value,
            scorer=self.name,
            scorer_version=self.version,
            points=verdict.points,
            verdicts=(msgspec.structs.replace(verdict, said=tuple(messages)),),
        )
