"""Which of several free answers say the same, as a model sees it where no rule can be sure.

The answers are shown as data, as judges see them (`ask.judging.fence`). The model is not told the right one.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from vidence.ask.judging.fence import fence
from vidence.ask.judging.verdicts import Field, Form, NoReading, VerdictFields
from vidence.contracts import Ask, Flow, Subject
from vidence.records import Aside, Outcome, Prompt, Reply, Sampling, TextPart
from vidence.text import refusal_in

SAME: Final = "same"
SAMPLING: Final = Sampling(temperature=0.0, max_tokens=512)
"""How a grouping is drawn; the options of a model's spec hold whatever stands here."""
MOST_ASKS: Final = 2
"""The question to the model, and one repair."""
_ID_CHARS = 16


@dataclass(frozen=True, kw_only=True)
class Grouped:
    """Which replies have the same answer, and whether what the model said could be read.

    `places` has for each reply the place of the first one with the same answer, None where there is none.
    Where `is_read` is False the groups are those of the rule.
    """

    places: tuple[int | None, ...]
    is_read: bool


def group_by_model(
    subject: Subject, outcomes: Sequence[Outcome], groups: Sequence[int | None], *, view: str, model: str
) -> Flow[Grouped]:
    """The groups of a rule, joined where a model says that their answers are the same.

    One ask shows the first answer of every group; what cannot be read is asked for once more, and after that
    the groups stay as they are.

    Args:
        subject: the question.
        outcomes: what each reply answers.
        groups: for each the place of the first reply with the same answer by the rule, two or more of them.
        view: the view to which the prompt counts; no frame of it is shown.
        model: the flow's name of the model that is asked.
    """
    firsts = sorted({place for place in groups if place is not None})
    texts = [getattr(outcomes[place], "answer", "") for place in firsts]
    marked = hashlib.sha256(
        msgspec.json.encode([SAME, subject.item.item_id, subject.item.question, texts])
    ).hexdigest()[:_ID_CHARS]
    form = _form(len(texts))
    prompt = _prompt(subject, texts, view=view, marked=marked, form=form)

    def read(reply: Reply) -> tuple[int, ...] | str:
        if refused := refusal_in(reply):
            return f"it was declined: {refused.reason}"
        found = form.read(reply.text, marked=marked, is_cut=reply.finish == "length")
        return found.problem if isinstance(found, NoReading) else _leaders(found, len(texts))

    (reply,) = yield [Ask(prompt=prompt, model=model, sampling=SAMPLING)]
    leaders = read(reply)
    if isinstance(leaders, str):
        said = {"block_id": marked, "problem": leaders}
        words = subject.prompt(view, (), more=Aside(name="reward-repair", said=said, is_alone=True)).parts
        behind = tuple(part for part in words if isinstance(part, TextPart))
        again = msgspec.structs.replace(prompt, parts=(*prompt.parts, *behind))
        (reply,) = yield [Ask(prompt=again, model=model, sampling=SAMPLING)]
        leaders = read(reply)
    if isinstance(leaders, str):
        return Grouped(places=tuple(groups), is_read=False)
    joined = {first: firsts[leader] for first, leader in zip(firsts, leaders, strict=True)}
    return Grouped(places=tuple(None if one is None else joined[one] for one in groups), is_read=True)


def _form(n: int) -> Form:
    """What the model says: for each answer but the first the number of an earlier one, or its own."""
    return Form(
        fields=tuple(
            Field(
                key=f"answer-{i}",
                kind="word",
                meaning=f"the lowest number of an answer that says the same as answer {i}; {i} if none does",
                words=tuple(str(j) for j in range(1, i + 1)),
            )
            for i in range(2, n + 1)
        )
    )


def _leaders(found: VerdictFields, n: int) -> tuple[int, ...]:
    """For each answer the place of the first of its group: who is like one of a group is in the group."""
    leaders = [0]
    for i in range(2, n + 1):
        said = int(found.text(f"answer-{i}")) - 1
        leaders.append(i - 1 if said == i - 1 else leaders[said])
    return tuple(leaders)


def _prompt(subject: Subject, texts: Sequence[str], *, view: str, marked: str, form: Form) -> Prompt:
    shown = "\n\n".join(fence(text, name=f"answer-{i}", marked=marked) for i, text in enumerate(texts, 1))
    said = {"reply": shown, "block_id": marked, "n_replies": str(len(texts))}
    prompt = subject.prompt(view, (), more=Aside(name="same-answers", said=said, is_alone=True))
    return msgspec.structs.replace(prompt, reply_schema=form.schema())
