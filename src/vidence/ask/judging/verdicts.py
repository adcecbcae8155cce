"""What a judge is to say, how it is read, and what becomes of it when it cannot be read.

A `Form` names the fields of a verdict, which is signed with the id of the block under judgement. `Form.read`
finds the one signed object in what the judge wrote, and takes nothing for it that the text under judgement
may have put there.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vidence.ask.judging.equal import says_the_same
from vidence.ask.judging.objects import Object, ObjectMention, inside, objects_holding, whole_object
from vidence.ask.judging.own_words import (
    behind_thinking,
    ends_as_copied,
    opens_thinking,
    said_pairs,
    spellings,
)
from vidence.records import Answered, Failed, Score, Verdict

ERROR = "JudgeError"
UNDECIDED = "Undecided"  # every judge gave a verdict, and they are tied
# The rule of an outcome whose verdict says one letter and marks another.
CONTRADICTION = "judge/contradiction"
ID_KEY = "id"
# Most characters of a verdict that is the object of the schema.
_MOST_EXACT = 1_000_000
# So much of the beginning and of the end of a text under judgement is what a judge was shown of it, and more.
_MOST_SHOWN = 24_000

_TRUE = frozenset({"true", "yes", "correct", "right", "1"})
_FALSE = frozenset({"false", "no", "incorrect", "wrong", "0"})
_NOT_KEY = re.compile(r"[\W_]+")
_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL | re.IGNORECASE)
_OUTER = " .:()*\"'`\n\t"

Value: TypeAlias = str | bool | int
Reads: TypeAlias = Literal["loosely", "strictly", "recorded"]
"""How a judge's words are read; see `Form.read`."""


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

    def is_exact(self, value: object) -> bool:
        """Whether the value is one that the schema of this field allows, without any leniency."""
        match self.kind:
            case "text":
                return isinstance(value, str)
            case "truth":
                return isinstance(value, bool)
            case "points":
                return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= self.most
            case _:
                return value in self.words

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
class VerdictFields:
    """The fields of one verdict, by their keys; a text that was missing is empty.

    `is_exact` is True where what the judge wrote is the object of the schema, and nothing else.
    """

    values: Mapping[str, Value]
    is_exact: bool = False

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


@dataclass(frozen=True, kw_only=True)
class Form:
    """The fields of a verdict, in the order in which they are asked for.

    The verdict first repeats the id of the block under judgement, which no text under judgement can know. An
    object without it, or with another one, is never a verdict.
    """

    fields: tuple[Field, ...]

    def schema(self) -> dict[str, object]:
        """The JSON Schema of a verdict: no other keys, all needed, as strict structured output wants."""
        own: dict[str, object] = {ID_KEY: {"type": "string", "description": "the id on the marker lines"}}
        own |= {field.key: field.schema() for field in self.fields}
        return {"type": "object", "properties": own, "required": list(own), "additionalProperties": False}

    @property
    def digest(self) -> str:
        """The SHA-256 of the schema."""
        return hashlib.sha256(json.dumps(self.schema()).encode()).hexdigest()

    def read(
        self, said: str, *, marked: str, judged: str, reads: Reads = "loosely", is_cut: bool = False
    ) -> VerdictFields | NoReading:
        """The verdict in what a judge said.

        Words that are the object of the schema, and nothing else, are read as they are. Otherwise the object
        that repeats the id is looked for, behind the thinking that the words may begin with. Where there are
        several they must decide the same; the last one is taken. Where the text under judgement holds the
        same decision and may have put it there, it is none.

        Args:
            said: the judge's words; thinking in ``<think>`` tags at their beginning is set aside.
            marked: the id of the block under judgement.
            judged: the text under judgement.
            reads: ``loosely``; ``strictly``, where only the object of the schema counts, since the server is
                held to it; ``recorded``, where that object was written down before and cannot know the id.
            is_cut: whether the judge was cut off at its length limit.
        """
        words = said.strip()
        tails = list(behind_thinking(words, marked))
        for tail in tails[::-1]:
            exact = self._exact(tail.strip(), marked, is_recorded=reads == "recorded")
            if exact is not None and not (is_cut and self._may_be_lent(exact, judged)):
                return exact
        if reads != "loosely":
            return NoReading(
                problem=f"it is not the one JSON object that was asked for, with {self._wanted()}"
            )
        problem = ""
        for tail in tails:
            found = self._signed(tail, marked)
            if isinstance(found, NoReading):
                problem = found.problem
            elif len(tail) == len(words) and opens_thinking(words):
                return NoReading(problem="its thinking does not end before the verdict")
            else:
                return self._agreed(found, tail=tail, judged=judged, is_cut=is_cut)
        return NoReading(problem=problem)

    def _exact(self, words: str, marked: str, *, is_recorded: bool) -> VerdictFields | None:
        """The verdict that the words are, in a code fence or not; None where they are anything else."""
        fenced = _FENCED.fullmatch(words)
        value = whole_object(fenced[1] if fenced else words) if len(words) <= _MOST_EXACT else None
        if value is None:
            return None
        values = dict(value.pairs)
        needed = {f.key for f in (self._deciding if is_recorded else self.fields)}
        needed |= set() if is_recorded else {ID_KEY}
        is_whole = needed <= values.keys() <= {ID_KEY, *(f.key for f in self.fields)}
        if not is_whole or len(values) < len(value.pairs):
            return None
        is_signed = is_recorded or values[ID_KEY] == marked
        if not is_signed or not all(f.is_exact(values[f.key]) for f in self.fields if f.key in values):
            return None
        read = self._filled(value)
        return VerdictFields(values=read.values, is_exact=True) if isinstance(read, VerdictFields) else None

    def _signed(self, words: str, marked: str) -> list[tuple[ObjectMention, Object]] | NoReading:
        """The objects with the id that decide something, each with the outermost object that it stands in."""
        holding = objects_holding(marked, words)
        found = [(one, obj) for one in holding for obj in self._candidates(one.value)]
        signed = [(one, obj) for one, obj in found if self._id(obj) == marked]
        wanted = f"{ID_KEY!r}: the id on the marker lines and {self._wanted()}"
        return signed or NoReading(problem=f"it holds no JSON object with {wanted}")

    @property
    def _deciding(self) -> tuple[Field, ...]:
        return tuple(f for f in self.fields if f.kind != "text")

    def _wanted(self) -> str:
        return " and ".join(f"{f.key!r}: {f.expected}" for f in self._deciding)

    def _candidates(self, value: Object) -> Iterator[Object]:
        """The object if it decides something, otherwise those inside it that do."""
        deciding = {_plain_key(f.key) for f in self._deciding}
        if deciding & {_plain_key(key) for key, _ in value.pairs}:
            yield value
        else:
            for one in inside(value):
                yield from self._candidates(one)

    @staticmethod
    def _id(value: Object) -> str | None:
        ids = [str(v).strip() for key, v in value.pairs if _plain_key(key) == ID_KEY]
        return None if not ids else ids[0] if len(set(ids)) == 1 else ""

    def _filled(self, value: Object) -> VerdictFields | NoReading:
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
        return VerdictFields(values=values)

    def _agreed(
        self, signed: Sequence[tuple[ObjectMention, Object]], *, tail: str, judged: str, is_cut: bool
    ) -> VerdictFields | NoReading:
        """The last of the signed verdicts, if they all decide the same and are the judge's own."""
        filled = [self._filled(obj) for _, obj in signed]
        readings = [one for one in filled if isinstance(one, VerdictFields)]
        if not readings:
            return filled[-1]
        if len({tuple(one.values[f.key] for f in self._deciding) for one in readings}) > 1:
            return NoReading(problem="it holds several verdicts that differ")
        reading = readings[-1]
        if self._may_be_lent(reading, judged):
            if is_cut:
                return NoReading(problem="it was cut off where it copies the text under judgement")
            if self._says_otherwise(reading, tail):
                return NoReading(
                    problem="it says two things, one of them in a copy of the text under judgement"
                )
            starts = [one.start for one, _ in signed[1:]] + [len(tail)]
            if any(
                self._is_copied_end(one, tail[:until], judged)
                for (one, _), until in zip(signed, starts, strict=True)
            ):
                return NoReading(problem="its end is a copy of the text under judgement")
        return reading

    def _may_be_lent(self, reading: VerdictFields, judged: str) -> bool:
        """Whether the text under judgement holds this decision in any spelling, so that it may be a copy."""
        deciding = self._deciding
        if not any(reading.values[field.key] for field in deciding):
            return False  # wrong, with no points: nothing is gained by lending that
        long = len(judged) > 2 * _MOST_SHOWN
        shown = f"{judged[:_MOST_SHOWN]}\n{judged[-_MOST_SHOWN:]}" if long else judged
        texts = list(spellings(shown))
        return any(
            field.read(word) == reading.values[field.key]
            for field in deciding
            for text in texts
            for word in said_pairs(text, field.key)
        )

    def _says_otherwise(self, reading: VerdictFields, words: str) -> bool:
        """Whether the words decide differently anywhere, inside an object or not."""
        return any(
            (value := field.read(word)) is not None and value != reading.values[field.key]
            for field in self._deciding
            for word in said_pairs(words, field.key)
        )

    def _is_copied_end(self, found: ObjectMention, words: str, judged: str) -> bool:
        end = found.start + len(found.source)
        keys = [found.source.casefold().rfind(field.key.casefold()) for field in self._deciding]
        return ends_as_copied(words[end:], found.source[max(keys) :], judged)


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


def contradiction(extracted: str, answer: str, *, is_right: bool) -> str:
    """What contradicts itself in a verdict on a free answer; empty where nothing is sure to.

    Such a verdict counts by what it says is correct, and is counted and shown.

    Args:
        extracted: the answer that the judge took out of the reply.
        answer: the right one.
        is_right: what the judge says of it.
    """
    if is_right and not extracted:
        return "calls the answer right, and found none"
    if not is_right and says_the_same(extracted, answer):
        return f"extracted {extracted!r}, which is the right answer, and calls it wrong"
    return ""


def n_contradictions(scores: Iterable[Score]) -> int:
    """How many scores come from a verdict that contradicts itself."""
    return sum(map(_contradicts, scores))


def _contradicts(score: Score) -> bool:
    outcome = score.outcome
    is_marked = isinstance(outcome, Answered) and outcome.rule == CONTRADICTION  # all that older runs hold
    return is_marked or any(v.contradiction and v.value is not None for v in score.verdicts)
