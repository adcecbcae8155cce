"""Questions written by a model: asked, parsed strictly, repaired once, searched for leaks."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

import msgspec

from vidence.ask.judging.verdict_request import fence
from vidence.ask.prompting.templates import Template
from vidence.errors import UsageError
from vidence.installation import packaged_schema
from vidence.make.herbench.tasks.candidates import N_CHOICES
from vidence.make.pipeline.english import content_words, jaccard
from vidence.make.pipeline.material import Card, Crop
from vidence.make.pipeline.wording import load_template
from vidence.make.pipeline.writer import Objection, image
from vidence.records import Prompt, Reply, TextPart
from vidence.text import json_objects, normal_form, refusal_in, without_thinking

_MOST_WORDS = 20
_MOST_QUESTION_WORDS = 60
_MOST_NOTES, _MOST_EARLIER = 6_000, 4_000
_N_WRONG = N_CHOICES - 1
_FIELDS = ("possible", "question", "answer", "distractors")


# What each template can use, and what it means.
VARIABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "ask": {
        "notes": "what is known of the person's behaviour, as a block",
        "topic": "what to ask about",
        "n_pictures": "how many pictures are shown, 0 for none",
    },
    "system": {"n_pictures": "how many pictures are shown, 0 for none"},
    "repair": {"earlier": "the reply that cannot be used, as a block", "problem": "what is wrong with it"},
}


@dataclass(frozen=True, kw_only=True)
class TaskPrompts:
    """The templates of one task: ``ask``, ``system`` and ``repair``.

    `label` says which question template it is, with the SHA-256 over all that are in effect.
    """

    label: str
    templates: Mapping[str, Template]

    @classmethod
    def load(cls, task: str, *, folder: str = "") -> Self:
        """Read ``task_TASK.txt``, ``task_system.txt`` and ``task_repair.txt``.

        Args:
            task: the name of the task.
            folder: a folder with files that replace those; empty for none.

        Raises:
            UsageError: the folder has none of the files, or a template has an error or lacks its block.
        """
        names = {"ask": f"task_{task}", "system": "task_system", "repair": "task_repair"}
        own = Path(folder) if folder else None
        if own is not None and not any((own / f"{name}.txt").is_file() for name in names.values()):
            listed = ", ".join(f"{name}.txt" for name in names.values())
            raise UsageError(f"{folder} has none of {listed}; a folder of prompts has one at least")
        digest = hashlib.sha256()
        templates = {p: load_template(n, variables=VARIABLES[p], folder=own) for p, n in names.items()}
        for part, template in templates.items():
            digest.update(f"{part} {len(template.text.encode())}\n{template.text}".encode())
        ask = templates["ask"]
        label = f"{ask.origin}/{ask.name}.txt sha256:{digest.hexdigest()}"
        return cls(label=label, templates=MappingProxyType(templates))

    def prompt(self, request: "Request") -> Prompt:
        """How a question is asked for."""
        text, n_pictures = request.b_card.text, len(request.crops)
        notes = fence(text, name="notes", marked=_marker(text), most_chars=_MOST_NOTES)
        words = self.templates["ask"].fill({"notes": notes, "topic": request.topic, "n_pictures": n_pictures})
        return Prompt(
            parts=(*map(image, request.crops), TextPart(text=words)),
            system=self.templates["system"].fill({"n_pictures": n_pictures}),
            template=self.label,
            reply_schema=packaged_schema("vidence.make.herbench.tasks", "written.schema.json"),
        )

    def repaired(self, prompt: Prompt, message: str, *, problem: str) -> Prompt:
        """The prompt with the reply that cannot be used, as data, and what is wrong with it."""
        earlier = fence(message, name="earlier", marked=_marker(message), most_chars=_MOST_EARLIER)
        more = self.templates["repair"].fill({"earlier": earlier, "problem": problem})
        return msgspec.structs.replace(prompt, parts=(*prompt.parts, TextPart(text=more)))


def _marker(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Request:
    """A requested question: subject, notes, person."""

    topic: str
    b_card: Card
    a_text: str
    crops: tuple[Crop, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WrittenQuestion:
    """A question as the model wrote it."""

    question: str
    answer: str
    distractors: tuple[str, ...]


def read_reply(reply: Reply, request: Request, *, leak: float) -> WrittenQuestion | Objection:
    """The question in a reply that gives nothing away; `leak` as in `leak_in`.

    Source: HERBench, sections 3.2 and 7.2.
    Departs: the paper's prompts for questions are not printed.
    """
    if refused := refusal_in(reply):
        return Objection(reason="model-declined", detail=refused.reason, is_final=True)
    read = read_question(reply.text)
    if isinstance(read, WrittenQuestion) and (leaking := leak_in(read, request, leak=leak)):
        return Objection(reason="leak", detail=leaking)
    return read


def read_question(text: str) -> WrittenQuestion | Objection:
    """The question in a model's reply: the last object with the four fields, each as it has to be.

    >>> read_question('{"possible": false, "question": "", "answer": "", "distractors": []}').reason
    'nothing-to-ask'
    """
    objects = json_objects(without_thinking(text))
    if not objects:
        return Objection(reason="unreadable", detail="there is no JSON object in the reply")
    values = objects[-1]
    if sorted(values) != sorted(_FIELDS):
        detail = f"the object has the fields {', '.join(values) or 'none'}; expected {', '.join(_FIELDS)}"
        return Objection(reason="unreadable", detail=detail)
    if values["possible"] is False:
        detail = "the model says that the notes hold nothing to ask"
        return Objection(reason="nothing-to-ask", detail=detail, is_final=True)
    if problem := _problem(values):
        return Objection(reason="unreadable", detail=problem)
    options = [_tidy(str(option)).rstrip(" .;,") for option in _options(values)]
    return WrittenQuestion(
        question=_tidy(str(values["question"])), answer=options[0], distractors=tuple(options[1:])
    )


def _options(values: Mapping[str, object]) -> list[object]:
    """The options as they stand in the object, the right one first."""
    distractors = values["distractors"]
    return [values["answer"], *(distractors if isinstance(distractors, list) else ())]


def _problem(values: Mapping[str, object]) -> str:
    """What is wrong with the fields, or nothing."""
    question, distractors = values["question"], values["distractors"]
    if values["possible"] is not True:
        return f'"possible" is {values["possible"]!r}; expected true or false'
    if not isinstance(question, str) or not question.strip().endswith("?"):
        return f'"question" is {question!r}; expected a text that ends with a question mark'
    if len(question.split()) > _MOST_QUESTION_WORDS:
        return f"the question has {len(question.split())} words; expected at most {_MOST_QUESTION_WORDS}"
    if not isinstance(distractors, list) or len(distractors) != _N_WRONG:
        return f'"distractors" is no list of {_N_WRONG}'
    return _options_problem(question, _options(values))


def _options_problem(question: str, options: Sequence[object]) -> str:
    """What is wrong with the options, the right one first, or nothing."""
    for option in options:
        if not isinstance(option, str) or not normal_form(option):
            return f"the option {option!r} is no text"
        if len(option.split()) > _MOST_WORDS:
            return f"the option {option!r} has {len(option.split())} words; expected at most {_MOST_WORDS}"
    if len({normal_form(str(option)) for option in options}) < len(options):
        return "two options say the same"
    if f" {normal_form(str(options[0]))} " in f" {normal_form(question)} ":
        return "the question holds the right answer"
    return ""


def _tidy(text: str) -> str:
    message = " ".join(text.split())
    return message[:1].upper() + message[1:]


# --------------------------------------------------------------------------- leaks


def leak_in(written: WrittenQuestion, request: Request, *, leak: float) -> str:
    """What of the person's description the question or its right answer gives away, or nothing.

    Source: HERBench, section 7.2 (token-level Jaccard similarity of at most 0.15).
    Departs: the paper compares cards; here the question and its answer are compared with the A-card too, and
        an answer most of whose words stand in the A-card leaks whatever its length.
    """
    result = content_words(request.a_text)
    answer = content_words(written.answer)
    if answer and len(answer & result) * 2 > len(answer):
        return (
            "most of the answer stands in the description of the person: "
            f"{', '.join(sorted(answer & result))}"
        )
    for name, words in (("answer", answer), ("question", content_words(written.question))):
        like = jaccard(words, result) if words else 0.0
        if like > leak:
            shared = ", ".join(sorted(words & result))
            return f"the {name} repeats the description of the person ({like:.2f}): {shared}"
    return ""
