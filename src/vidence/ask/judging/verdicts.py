"""The form of a verdict, how it is parsed, and what happens if it is invalid.

A `Form` names the fields of a verdict, which is signed with the id of the block under judgement. Parsing is
strict: one JSON object with exactly these fields and nothing around it. Whatever the text under judgement
makes a judge copy, an object with more or fewer fields is no verdict.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vidence.ask.judging.equal import says_the_same
from vidence.records import Answered, Failed, Score, Verdict

ERROR = "JudgeError"
# The rule of an outcome whose verdict says one letter and marks another.
CONTRADICTION = "judge/contradiction"
ID_KEY = "id"
_MOST_CHARS = 1_000_000  # of a verdict
_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_MOST_TAGS = 16  # thinking that quotes many closing tags is tried from its end so many times

Value: TypeAlias = str | bool | int


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of a verdict.

    The kinds: ``text`` (an explanation), ``truth`` (true or false), ``points`` (an integer from `least` to
    `most`), ``word`` (one of `words`, such as the letters of the choices). `meaning` is for the judge.
    """

    key: str
    kind: Literal["text", "truth", "points", "word"]
    meaning: str
    words: tuple[str, ...] = ()
    most: int = 0
    least: int = 0

    def schema(self) -> dict[str, object]:
        """Return the field's JSON Schema."""
        kinds: dict[str, dict[str, object]] = {
            "text": {"type": "string"},
            "truth": {"type": "boolean"},
            "points": {"type": "integer", "enum": list(range(self.least, self.most + 1))},
            "word": {"type": "string", "enum": list(self.words)},
        }
        return {**kinds[self.kind], "description": self.meaning}

    def allows(self, value: object) -> bool:
        """Whether the field's schema allows the value."""
        match self.kind:
            case "text":
                return isinstance(value, str)
            case "truth":
                return isinstance(value, bool)
            case "points":
                return type(value) is int and self.least <= value <= self.most
            case _:
                return value in self.words

    @property
    def expected(self) -> str:
        """Describe the expected value."""
        return {
            "text": "a text",
            "truth": "true or false",
            "points": f"a whole number from {self.least} to {self.most}",
            "word": f"one of {', '.join(self.words)}",
        }[self.kind]


@dataclass(frozen=True, kw_only=True)
class VerdictFields:
    """The fields of one verdict by key; a text that a recorded one lacks is empty."""

    values: Mapping[str, Value]

    def text(self, key: str) -> str:
        """Return a field of the kind ``text`` or ``word``."""
        return str(self.values.get(key, "")).strip()

    def truth(self, key: str) -> bool:
        """Return a field of the kind ``truth``."""
        return self.values[key] is True

    def points(self, key: str) -> int:
        """Return a field of the kind ``points``."""
        return int(self.values[key])


@dataclass(frozen=True, kw_only=True)
class NoReading:
    """Why a judge's reply contains no verdict.

    `problem` is shown to the judge, so it quotes none of the judge's words, which may come from the reply.
    """

    problem: str


@dataclass(frozen=True, kw_only=True)
class Form:
    """The fields of a verdict, in the order in which they are requested.

    The verdict first repeats the id of the block under judgement, which no text under judgement can know. An
    object without it, or with another id, is never a verdict.
    """

    fields: tuple[Field, ...]

    def schema(self) -> dict[str, object]:
        """Return the JSON Schema of a verdict: no other keys, all required, for strict structured output."""
        own: dict[str, object] = {ID_KEY: {"type": "string", "description": "the id on the marker lines"}}
        own |= {field.key: field.schema() for field in self.fields}
        return {"type": "object", "properties": own, "required": list(own), "additionalProperties": False}

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the schema."""
        return hashlib.sha256(json.dumps(self.schema()).encode()).hexdigest()

    def read(
        self, message: str, *, marked: str, is_recorded: bool = False, is_cut: bool = False
    ) -> VerdictFields | NoReading:
        """Return the verdict in a judge's reply: one JSON object with the fields and the id, nothing else.

        Args:
            message: the judge's reply; thinking closed by a tag, and a code fence around the object, are
                removed.
            marked: the id of the block under judgement.
            is_recorded: the reply was recorded earlier, and needs neither the id nor the texts.
            is_cut: whether the judge was cut off at its length limit; then nothing is a verdict.
        """
        if is_cut:
            return NoReading(problem="it was cut off at its length limit")
        for words in _behind_thinking(message.strip(), marked):
            pairs = _object(words.strip())
            if pairs is not None and self._holds(pairs, marked, is_recorded=is_recorded):
                return VerdictFields(values={key: value for key, value in pairs.items() if key != ID_KEY})
        deciding = (f"{f.key!r}: {f.expected}" for f in self.fields if f.kind != "text")
        wanted = " and ".join((f"{ID_KEY!r}: the id on the marker lines", *deciding))
        return NoReading(
            problem=f"it is not the one JSON object that was asked for, with {wanted}, all its keys, and "
            "nothing before or behind it"
        )

    def _holds(self, pairs: Mapping[str, object], marked: str, *, is_recorded: bool) -> bool:
        """Whether an object has all fields with valid values, the id, and no other key."""
        fields = {field.key: field for field in self.fields}
        needed = {f.key for f in self.fields if f.kind != "text"} if is_recorded else {ID_KEY, *fields}
        if not needed <= pairs.keys() <= {ID_KEY, *fields}:
            return False
        if not is_recorded and pairs[ID_KEY] != marked:
            return False
        return all(field.allows(pairs[key]) for key, field in fields.items() if key in pairs)


def _object(words: str) -> dict[str, Value] | None:
    """Return the object in a text, with or without a code fence; None if there is more, or a repeated key."""
    fenced = _FENCED.fullmatch(words)
    text = fenced[1] if fenced else words
    if not text.startswith("{") or len(text) > _MOST_CHARS:
        return None
    try:
        pairs: dict[str, Value] = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return pairs


def _once(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    if len(values := dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return values


def _behind_thinking(words: str, marked: str) -> Iterator[str]:
    """Yield the whole text, and what may follow leading thinking, the shortest last.

    A tag that ends the thinking may be quoted, in the thinking or in a string of the verdict.
    """
    yield words
    last = words.rfind(marked)
    ends = [tag.end() for tag in _THOUGHT.finditer(words) if tag.end() <= last]
    for end in ends[-_MOST_TAGS:]:
        yield words[end:]


# --------------------------------------------------------------------------- scores


def judge_error(
    message: str,
    *,
    scorer: str,
    version: int,
    error: str = ERROR,
    said: tuple[str, ...] = (),
    contrary: str = "",
) -> Score:
    """Return the score of a reply without a verdict: failed, and in no mean (`Score.counted`).

    Args:
        message: why there is no verdict.
        scorer: the name of the judge.
        version: its version.
        error: the kind of error.
        said: the judge's reply, verbatim.
        contrary: the contradiction in an unusable verdict.

    Source: HumanPCR and MMVU do not say how they treat an invalid verdict.
    Departs: MMVU's code marks such replies wrong and does not count them separately; here they wait for a
    judge.
    """
    return Score(
        outcome=Failed(stage="scoring", error=error, message=message),
        value=0.0,
        scorer=scorer,
        scorer_version=version,
        verdicts=(Verdict(judge_model="", value=None, said=said, error=message, contradiction=contrary),),
    )


def contradiction(extracted: str, answer: str, *, is_right: bool) -> str:
    """Describe a definite contradiction in a verdict on a free answer; empty if there is none.

    Such a verdict counts by its correctness, and is counted and shown.

    Args:
        extracted: the answer that the judge extracted from the reply.
        answer: the right one.
        is_right: the judge's verdict.
    """
    if is_right and not extracted:
        return "calls the answer right, and found none"
    if not is_right and says_the_same(extracted, answer):
        return f"extracted {extracted!r}, which is the right answer, and calls it wrong"
    return ""


def n_contradictions(scores: Iterable[Score]) -> int:
    """Return how many scores come from a self-contradictory verdict."""
    return sum(map(_contradicts, scores))


def _contradicts(score: Score) -> bool:
    outcome = score.outcome
    is_marked = isinstance(outcome, Answered) and outcome.rule == CONTRADICTION  # all that older runs hold
    return is_marked or any(v.contradiction and v.value is not None for v in score.verdicts)
