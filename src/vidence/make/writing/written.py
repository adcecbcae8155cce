"""Texts by models for multiple-choice questions: questions, wrong choices, checkers' verdicts."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

import msgspec

from vidence.ask.prompting.templates import Template
from vidence.contracts import Flow
from vidence.make.pipeline.wording import CardWording, load_template
from vidence.make.pipeline.writer import Objection, WritingTask, in_words, write_all
from vidence.make.sources.annotations.annotation_records import AnnotationRecord
from vidence.make.writing.phrases import read_list
from vidence.records import Prompt, Record, TextPart
from vidence.text import json_objects, normal_form

ASK, EXPAND, OPTIONS = "choices_ask", "choices_expand", "choices_options"
POINT, SAME = "choices_point", "choices_same"
_NOTES: Final = {"notes": "what it is about, as JSON"}
_N: Final = {"n": "how many are wanted, or shown"}
_ASPECT: Final = {"aspect": "what the task asks about, in words"}
VARIABLES: Final[Mapping[str, Mapping[str, str]]] = {
    ASK: {**_N, **_NOTES, **_ASPECT},
    EXPAND: {**_N, **_NOTES, **_ASPECT},
    OPTIONS: {**_N, **_NOTES},
    POINT: _NOTES,
    SAME: {**_N, **_NOTES},
}
QUESTION_CHANGED, WRONG_NUMBER, TRUTH_AMONG = "question-changed", "wrong-number", "truth-among-wrong"
_LINE: Final = re.compile(r"^\W{0,3}(?:question\s+)?(\d{1,2})\s*[.):]\s*(\S.*)$", re.IGNORECASE)
_RIGHT: Final = re.compile(r"^\W{0,3}correct answer\s*:", re.IGNORECASE | re.MULTILINE)
_WRONG: Final = re.compile(r"^\W{0,3}wrong answer\s*\d{0,2}\s*:\s*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_NONE: Final = re.compile(r"^\W*none\W*$", re.IGNORECASE)
_SOME: Final = re.compile(r"^[\s\d,;.and]+$")


class Wrote(Record, omit_defaults=True):
    """A text from a model or a failure; `n_together` texts were requested in the call."""

    text: str = ""
    texts: tuple[str, ...] = ()
    reason: str = ""
    detail: str = ""
    n_together: int = 1
    n_tries: int = 1


class WroteAll(Record):
    """The result of one call, one text per request."""

    wrote: tuple[Wrote, ...]


@dataclass(frozen=True, kw_only=True)
class PromptsInEffect:
    """The prompts in effect."""

    templates: Mapping[str, Template]
    repair: CardWording

    @classmethod
    def load(cls, folder: Path | None = None) -> Self:
        """Read the templates; files in `folder` replace ours.

        Raises:
            UsageError: as for `load_template`.
        """
        values = {n: load_template(n, variables=known, folder=folder) for n, known in VARIABLES.items()}
        return cls(templates=MappingProxyType(values), repair=CardWording.load())

    def label(self, name: str) -> str:
        """Return the template label: origin, name, hash."""
        return self.templates[name].label

    def prompt(self, name: str, notes: object, **values: object) -> Prompt:
        """Fill a template with notes as JSON and further values."""
        message = json.dumps(notes, ensure_ascii=False)
        wanted = {key: value for key, value in values.items() if key in VARIABLES[name]}
        text = self.templates[name].fill({"notes": message, **wanted})
        return Prompt(parts=(TextPart(text=text),), template=self.label(name))


def write_questions(
    records: Sequence[AnnotationRecord], words: PromptsInEffect, *, aspect: str
) -> Flow[WroteAll]:
    """Write one question per record: together; on a mismatch again; then singly.

    Source: HumanPCR, appendix B.1 and figure 12 (three records in a call).
    Departs: what becomes of replies with other numbers is ours.
    """

    def piece(some: Sequence[AnnotationRecord]) -> WritingTask[tuple[str, ...]]:
        notes = [
            {"number": i, "text": record.caption, "label": record.label}
            for i, record in enumerate(some, start=1)
        ]
        prompt = words.prompt(ASK, notes, n=len(some), aspect=aspect)
        return WritingTask(prompt=prompt, read=in_words(partial(read_numbered, n=len(some))))

    (task,) = yield from write_all([piece(records)], words.repair)
    if task.made is not None:
        result = (Wrote(text=t, n_together=len(records), n_tries=task.n_tries) for t in task.made)
        return WroteAll(wrote=tuple(result))
    if len(records) == 1:
        return WroteAll(wrote=(_none(task),))
    apart = yield from write_all([piece([record]) for record in records], words.repair)
    return WroteAll(
        wrote=tuple(_none(t) if t.made is None else Wrote(text=t.made[0], n_tries=t.n_tries) for t in apart)
    )


def _none(piece: WritingTask[tuple[str, ...]]) -> Wrote:
    return Wrote(reason=piece.why.reason, detail=piece.why.detail, n_tries=piece.n_tries)


def read_numbered(text: str, *, n: int) -> tuple[str, ...] | Objection:
    r"""Return the lines of a reply numbered 1 to `n`, each once and in order.

    >>> read_numbered("1. Who sits?\nQuestion 2: Who stands?", n=2)
    ('Who sits?', 'Who stands?')
    """
    matches = [match for line in text.splitlines() if (match := _LINE.match(line)) is not None]
    if [int(entry[1]) for entry in matches] == list(range(1, n + 1)):
        return tuple(entry[2].strip() for entry in matches)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if n == 1 and len(lines) == 1 and not matches:
        return (lines[0],)
    numbers = ", ".join(entry[1] for entry in matches) or "none"
    detail = f"it has the numbered lines {numbers}; wanted are 1 to {n}, one question each"
    return Objection(reason="misshapen", detail=detail)


def write_phrases(seeds: Sequence[str], words: PromptsInEffect, *, aspect: str, n: int) -> Flow[Wrote]:
    """Write `n` further templates."""
    prompt = words.prompt(EXPAND, list(seeds), n=n, aspect=aspect)
    return (yield from _asked(prompt, partial(read_list, least=1), words))


def _asked(
    prompt: Prompt, read: Callable[[str], tuple[str, ...] | Objection], words: PromptsInEffect
) -> Flow[Wrote]:
    """Return the result of one prompt, in `texts`."""
    (task,) = yield from write_all([WritingTask(prompt=prompt, read=in_words(read))], words.repair)
    return _none(task) if task.made is None else Wrote(texts=task.made, n_tries=task.n_tries)


def write_options(question: str, record: AnnotationRecord, words: PromptsInEffect, *, n: int) -> Flow[Wrote]:
    """Write `n` wrong choices in a separate call; the question must come back unchanged.

    Source: HumanPCR, appendix B.1 and figure 14.
    Departs: the words of the prompt are ours.
    """
    notes = {"question": question, "right": record.label, "text": record.caption}
    prompt = words.prompt(OPTIONS, notes, n=n)
    read = partial(read_options, question=question, right=record.label, n=n)
    return (yield from _asked(prompt, read, words))


def read_options(text: str, *, question: str, right: str, n: int) -> tuple[str, ...] | Objection:
    """Return a reply's wrong choices: its last JSON object, or lines as in figure 14.

    >>> read_options('{"question": "Who?", "wrong": ["Ann"]}', question="Who?", right="Bob", n=2).reason
    'wrong-number'
    """
    objects = json_objects(text) or _printed(text)
    if not objects:
        return Objection(reason="unreadable", detail="there is no JSON object in the reply")
    asked, wrong = objects[-1].get("question"), objects[-1].get("wrong")
    if not isinstance(wrong, list) or not all(isinstance(name, str) and normal_form(name) for name in wrong):
        return Objection(reason="unreadable", detail='"wrong" is no list of texts')
    if asked != question:
        return Objection(reason=QUESTION_CHANGED, detail=f"it has {asked!r}; wanted is {question!r}")
    texts = tuple(str(entry).strip() for entry in wrong)
    if any(normal_form(name) == normal_form(right) for name in texts):
        return Objection(reason=TRUTH_AMONG, detail=f"{right!r} is right, and stands among the wrong ones")
    if len(texts) != n:
        return Objection(reason=WRONG_NUMBER, detail=f"{len(texts)} wrong choices; wanted are {n}")
    return texts


def _printed(text: str) -> list[dict[str, object]]:
    """Parse a question with lines ``Correct answer: ...`` and ``Wrong answer 1: ...``."""
    asked, *rest = _RIGHT.split(text, maxsplit=1)
    numbered = _LINE.match(asked.strip())
    question = numbered[2] if numbered else asked.strip()
    return [{"question": question, "wrong": _WRONG.findall(part)} for part in rest]


def answer_from_text(question: str, record: AnnotationRecord, words: PromptsInEffect) -> Flow[Wrote]:
    """Return a checker's answer to a question, given the caption."""
    prompt = words.prompt(POINT, {"text": record.caption, "question": question})
    result = yield from _asked(prompt, _whole, words)
    return msgspec.structs.replace(result, text="".join(result.texts), texts=())


def _whole(text: str) -> tuple[str, ...]:
    return (text.strip(),)


def judge_options(question: str, right: str, wrong: Sequence[str], *, words: PromptsInEffect) -> Flow[Wrote]:
    """Return the wrong choices that a judge considers right, too, in `texts`."""
    notes = {
        "question": question,
        "right": right,
        "others": {str(i): name for i, name in enumerate(wrong, start=1)},
    }
    prompt = words.prompt(SAME, notes, n=len(wrong))
    result = yield from _asked(prompt, partial(_read_same, n=len(wrong)), words)
    return msgspec.structs.replace(result, texts=tuple(wrong[int(i) - 1] for i in result.texts))


def _read_same(text: str, *, n: int) -> tuple[str, ...] | Objection:
    if _NONE.match(text):
        return ()
    numbers = re.findall(r"\d+", text)
    if not _SOME.match(text) or not numbers or not all(1 <= int(number) <= n for number in numbers):
        return Objection(reason="misshapen", detail=f"wanted are numbers from 1 to {n}, or the word none")
    return tuple(dict.fromkeys(numbers))
