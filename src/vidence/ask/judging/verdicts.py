"""What a judge is to say, how it is read, and what becomes of it when it cannot be read.

A `Form` names the fields of a verdict. `Form.read` finds it in whatever the judge wrote, and takes
nothing for a verdict that stands in the text under judgement.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vidence.ask.judging.objects import Object, find_objects, inside
from vidence.records import Failed, Score, Verdict
from vidence.text import without_thinking

ERROR = "JudgeError"
UNDECIDED = "Undecided"  # every judge gave a verdict, and they are tied
ID_KEY = "id"
_MOST_SAID = 20_000

_TRUE = frozenset({"true", "yes", "correct", "right", "1"})
_FALSE = frozenset({"false", "no", "incorrect", "wrong", "0"})
_NOT_KEY = re.compile(r"[\W_]+")
_OUTER = " .:()*\"'`\n\t"

Value: TypeAlias = str | bool | int


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a verdict.

    `key` is written as asked for; when read, case, blanks and underscores do not count. The kinds: ``text``
    (words that explain; may be missing), ``truth`` (true or false), ``points`` (a whole number from 0 to
    `most`), ``word`` (one of `words`, such as the letters of the choices). `meaning` is for the judge.
    """

    key: str
    kind: Literal["text", "truth", "points", "word"]
    meaning: str
    words: tuple[str, ...] = ()
    most: int = 0

    def schema(self) -> dict[str, object]:
        """The JSON Schema of this field."""
        kinds: dict[str, dict[str, object]] = {
            "text": {"type": "string"},
            "truth": {"type": "boolean"},
            "points": {"type": "integer", "enum": list(range(self.most + 1))},
            "word": {"type": "string", "enum": list(self.words)},
        }
        return {**kinds[self.kind], "description": self.meaning}

    def read(self, value: object) -> Value | None:
        """The value if it is one of this field, otherwise None."""
        if self.kind == "text":
            return _text(value)
        if self.kind == "points":
            return _points(value, self.most)
        said = "none" if value is None else str(value).strip(_OUTER).casefold()
        if self.kind == "truth":
            return True if said in _TRUE else False if said in _FALSE else None
        return next((word for word in self.words if word.casefold() == said), None)

    @property
    def expected(self) -> str:
        """What the value has to be, in words."""
        kinds = {
            "text": "a text",
            "truth": "true or false",
            "points": f"a whole number from 0 to {self.most}",
            "word": f"one of {', '.join(self.words)}",
        }
        return kinds[self.kind]


def _text(value: object) -> str | None:
    if value is None:
        return ""
    return str(value).strip() if isinstance(value, str | int | float) else None


def _points(value: object, most: int) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,3}(?:\.0+)?\s*", value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and 0 <= value <= most else None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The fields of one verdict, by their keys; a text that was missing is empty."""

    values: Mapping[str, Value]

    def text(self, key: str) -> str:
        """A field of the kind ``text`` or ``word``."""
        return str(self.values[key])

    def truth(self, key: str) -> bool:
        """A field of the kind ``truth``."""
        return self.values[key] is True

    def points(self, key: str) -> int:
        """A field of the kind ``points``."""
        return int(self.values[key])


@dataclass(frozen=True, kw_only=True)
class NoReading:
    """Why there is no verdict in what the judge said.

    `problem` is put to the judge and so holds no words of the judge, which may be those of the reply.
    """

    problem: str


def _plain_key(key: str) -> str:
    return _NOT_KEY.sub("", key.casefold())


def _squeezed(text: str) -> str:
    return "".join(text.split())


@dataclass(frozen=True, kw_only=True)
class Form:
    """The fields of a verdict, in the order in which they are asked for.

    With `has_id` the verdict also repeats the id of the block under judgement, which no text under
    judgement can know. An object with another id is never taken.
    """

    fields: tuple[Field, ...]
    has_id: bool = False

    def schema(self) -> dict[str, object]:
        """The JSON Schema of a verdict: no other keys, all needed, as strict structured output wants."""
        own: dict[str, object] = {field.key: field.schema() for field in self.fields}
        if self.has_id:
            own = {ID_KEY: {"type": "string", "description": "the id on the marker lines"}, **own}
        return {"type": "object", "properties": own, "required": list(own), "additionalProperties": False}

    def read(self, said: str, *, marked: str, judged: str) -> Reading | NoReading:
        """The verdict in what a judge said.

        Objects that repeat the id of the block go before all others; without an id, an object counts only
        if the text under judgement does not hold the same. Where several are left they must decide the
        same; the last one is taken.

        Args:
            said: the judge's words; reasoning in ``<think>`` tags is set aside.
            marked: the id of the block under judgement.
            judged: the text under judgement.
        """
        words = without_thinking(said).strip()
        if len(words) > _MOST_SAID:
            return NoReading(problem=f"it has {len(words)} characters, at most {_MOST_SAID} are read")
        try:
            found = [(obj, f.source) for f in find_objects(words) for obj in self._candidates(f.value)]
        except ValueError as error:
            return NoReading(problem=str(error))
        if not found:
            return NoReading(problem=f"it holds no JSON object with {self._wanted()}")
        if self.has_id:
            signed = [one for one in found if self._id(one[0]) == marked]
            found = signed or [one for one in found if self._id(one[0]) is None]
            if not found:
                return NoReading(problem="its id is not the one on the marker lines")
            if signed:
                return self._agreed([self._filled(obj) for obj, _ in signed])
        return self._agreed(self._own(found, judged))

    def _wanted(self) -> str:
        return " and ".join(f"{f.key!r}: {f.expected}" for f in self.fields if f.kind != "text")

    def _candidates(self, value: Object) -> Iterator[Object]:
        """The object if it decides something, otherwise those inside it that do."""
        deciding = {_plain_key(f.key) for f in self.fields if f.kind != "text"}
        if deciding & {_plain_key(key) for key, _ in value.pairs}:
            yield value
        else:
            for one in inside(value):
                yield from self._candidates(one)

    @staticmethod
    def _id(value: Object) -> str | None:
        ids = [str(v).strip() for key, v in value.pairs if _plain_key(key) == ID_KEY]
        return None if not ids else ids[0] if len(set(ids)) == 1 else ""

    def _own(self, found: list[tuple[Object, str]], judged: str) -> list[Reading | NoReading]:
        """The readings that are the judge's own: those which the text under judgement does not hold."""
        try:
            theirs = [self._filled(obj) for f in find_objects(judged) for obj in self._candidates(f.value)]
        except ValueError:
            theirs = []  # too many braces to take apart; word-for-word copies are still found
        tight = _squeezed(judged)
        own: list[Reading | NoReading] = []
        for obj, source in found:
            filled = self._filled(obj)
            if _squeezed(source) not in tight and not (isinstance(filled, Reading) and filled in theirs):
                own.append(filled)
        return own or [NoReading(problem="all that it says stands in the text under judgement already")]

    def _filled(self, value: Object) -> Reading | NoReading:
        """The fields of one object; none where one that decides is missing, wrong or there twice."""
        values: dict[str, Value] = {}
        for field in self.fields:
            given = [v for key, v in value.pairs if _plain_key(key) == _plain_key(field.key)]
            if len({repr(v) for v in given}) > 1:
                return NoReading(problem=f"{field.key!r} is there twice and says two things")
            if not given and field.kind != "text":
                return NoReading(problem=f"{field.key!r} is missing; expected {field.expected}")
            read = field.read(given[0]) if given else ""
            if read is None:
                return NoReading(problem=f"{field.key!r} is not what it has to be: {field.expected}")
            values[field.key] = read
        return Reading(values=values)

    def _agreed(self, all_found: list[Reading | NoReading]) -> Reading | NoReading:
        """The last of the readings, if they all decide the same."""
        readings = [one for one in all_found if isinstance(one, Reading)]
        if not readings:
            return all_found[-1]
        deciding = [f.key for f in self.fields if f.kind != "text"]
        if len({tuple(one.values[key] for key in deciding) for one in readings}) > 1:
            return NoReading(problem="it holds several verdicts that differ")
        return readings[-1]


# --------------------------------------------------------------------------- scores


def is_undecided(score: Score) -> bool:
    """Whether the judges of a panel gave verdicts that are tied."""
    return isinstance(score.outcome, Failed) and score.outcome.error == UNDECIDED and bool(score.verdicts)


def has_judge_error(score: Score) -> bool:
    """Whether judges were asked and no verdict came of it; a tied panel is another case."""
    return bool(score.verdicts) and isinstance(score.outcome, Failed) and not is_undecided(score)


def judge_error(message: str, *, scorer: str, version: int, said: tuple[str, ...] = ()) -> Score:
    """The score of a reply on which no verdict could be had: 0.0, counted as failed, nothing guessed.

    Args:
        message: why there is no verdict.
        scorer: the name of the judge.
        version: its version.
        said: what the judge said, word for word.

    Source: HumanPCR and MMVU do not say what becomes of a verdict that cannot be read.
    Departs: MMVU's code marks such replies wrong and does not count them apart; here they are counted.
    """
    return Score(
        outcome=Failed(stage="scoring", error=ERROR, message=message),
        value=0.0,
        scorer=scorer,
        scorer_version=version,
        verdicts=(Verdict(judge_model="", value=None, said=said, error=message),),
    )
