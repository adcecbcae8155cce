"""A model labels the errors of a packet: one row at a time, with words of the reply that show each error."""

from collections.abc import Sequence
from importlib import resources

from vidence.ask.judging.verdict_request import block_id, fence
from vidence.ask.judging.verdicts import Field, Form, NoReading, VerdictFields
from vidence.ask.prompting.templates import Template, choices_of
from vidence.contracts import Ask, Flow
from vidence.explain.errors.labels import VERDICTS, Label, UncheckedLabel, label_of
from vidence.explain.errors.packet import DrawnReply, PacketLine
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.records import ImagePart, Item, Prompt, Record, Reply, Sampling, TextPart
from vidence.text import refusal_in

SAMPLING = Sampling(temperature=0.0, max_tokens=1024)
_MOST_EARLIER = 4_000
_VARIABLES = {
    "kinds": "the kinds, with .name, .title and .says",
    "shown": "the row of the packet",
    "choices": "a list with .letter and .text for each choice; empty for open questions",
    "conditions": "the conditions, where the taxonomy judges them one by one",
    "verdicts": "the words that a verdict can be",
    "has_frames": "whether a picture of the frames goes before",
    "block_id": "the id on the marker lines of the block",
    "reply": "the reply, as a block",
    "problem": "why no label could be read; empty the first time",
    "earlier": "what the model said before, as a block",
}


class Labelled(Record, omit_defaults=True):
    """The result for one row: a label, or why it has none. `said` are the words of the model."""

    row: str
    label: Label | None = None
    problem: str = ""
    said: tuple[str, ...] = ()


def form_of(taxonomy: Taxonomy) -> Form:
    """The fields that a label has, in the order in which they are asked for."""
    chain = (
        Field(
            key="verdicts",
            kind="text",
            meaning=f"one of {', '.join(VERDICTS)} for each condition, separated by ;",
        ),
    )
    return Form(
        fields=(
            Field(key="quote", kind="text", meaning="words of the reply, copied, that show the error"),
            Field(key="reason", kind="text", meaning="one short sentence: why they are an error"),
            *(chain if taxonomy.has_verdicts else ()),
            Field(
                key="kind",
                kind="word",
                words=tuple(kind.name for kind in taxonomy.labels),
                meaning="the kind of the first error that decides",
            ),
        )
    )


def template() -> Template:
    """The words that are put to a model."""
    place = resources.files("vidence.explain.errors") / "label.txt"
    return Template.parse(
        place.read_text(encoding="utf-8"),
        place="label.txt",
        variables=_VARIABLES,
        origin="vidence",
        name="errors-label",
    )


def label_row(
    line: PacketLine,
    drawn: DrawnReply,
    *,
    labeller: str,
    taxonomy: Taxonomy,
    pictures: Sequence[ImagePart] = (),
) -> Flow[Labelled]:
    """The label of one row; one that cannot be read or checked is asked for once more.

    Args:
        line: the row.
        drawn: whose reply it is; the model is not told.
        labeller: the spec of the model.
        taxonomy: the kinds.
        pictures: what shows the frames, if anything.
    """
    words, form = template(), form_of(taxonomy)
    item = Item(
        item_id=line.row,
        question=line.question,
        choices=line.choices,
        answer=line.gold,
        answer_kind="text",
    )
    marked = block_id(item, line.words, form=form.digest)
    values: dict[str, object] = {
        "kinds": taxonomy.labels,
        "shown": line,
        "choices": choices_of(item),
        "conditions": line.conditions if taxonomy.has_verdicts else (),
        "verdicts": VERDICTS,
        "has_frames": bool(pictures),
        "block_id": marked,
        "reply": fence(line.words, name="reply", marked=marked),
        "problem": "",
        "earlier": "",
    }

    def asked(problem: str, earlier: str) -> Ask:
        block = fence(earlier, name="earlier", marked=marked, most_chars=_MOST_EARLIER)
        text = words.fill({**values, "problem": problem, "earlier": block})
        prompt = Prompt(
            parts=(*pictures, TextPart(text=text)), template=words.label, reply_schema=form.schema()
        )
        return Ask(prompt=prompt, sampling=SAMPLING)

    def read(reply: Reply) -> Label | str:
        if refused := refusal_in(reply):
            return f"the model declined: {refused.reason}"
        result = form.read(reply.text, marked=marked, is_cut=reply.finish == "length")
        if isinstance(result, NoReading):
            return result.problem
        return label_of(_given(result), line, drawn, labeller=labeller, by="model", taxonomy=taxonomy)

    (reply,) = yield (asked("", ""),)
    messages, row = [reply.text], read(reply)
    if isinstance(row, str) and not refusal_in(reply):
        (reply,) = yield (asked(row, reply.text),)
        messages.append(reply.text)
        row = read(reply)
    if isinstance(row, str):
        return Labelled(row=line.row, problem=row, said=tuple(messages))
    return Labelled(row=line.row, label=row, said=tuple(messages))


def _given(reading: VerdictFields) -> UncheckedLabel:
    verdicts = reading.text("verdicts") if "verdicts" in reading.values else ""
    return UncheckedLabel(kind=reading.text("kind"), quote=reading.text("quote"), verdicts=verdicts)
