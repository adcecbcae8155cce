"""Labels of the replies in a packet: checks and files."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from vidence.ask.judging.verdict_request import block_id, fence
from vidence.ask.judging.verdicts import Field, Form, NoReading, VerdictFields
from vidence.ask.prompting.templates import Template, choices_of
from vidence.contracts import Ask, Flow
from vidence.errors import DataError, UsageError
from vidence.explain.errors.packet import DrawnReply, Packet, PacketLine, read_jsonl, rows_as_jsonl
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.records import ImagePart, Item, Prompt, Record, Reply, Sampling, TextPart
from vidence.text import refusal_in

By: TypeAlias = Literal["person", "model"]
Verdict: TypeAlias = Literal["right", "wrong", "partial", "not reached"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
NOT_RIGHT: frozenset[Verdict] = frozenset({"wrong", "partial"})
FOLDERS: Mapping[By, str] = {"person": "people", "model": "models"}
_SEPARATOR = ";"


class Label(Record, omit_defaults=True):
    """One labeller's label of one row.

    `kind` is the decisive error, `second` another one that occurs, `quote` are words of the reply that show
    the error, `evidence` is what in the video shows it, `step` the step of the reply at which it goes wrong,
    from 1. `verdicts` has one per condition. `repeat` is 1 if the labeller saw the row a second time.
    """

    row: str
    item_id: str
    run: str
    labeller: str
    by: By
    kind: str
    quote: str = ""
    verdicts: tuple[Verdict, ...] = ()
    second: str = ""
    evidence: str = ""
    step: int | None = None
    repeat: int = 0

    @property
    def first_wrong(self) -> int | None:
        """Return the first condition that is not right, from 1; None if all are, or without verdicts."""
        return next((i for i, verdict in enumerate(self.verdicts, 1) if verdict in NOT_RIGHT), None)


class UncheckedLabel(Record, omit_defaults=True):
    """A label before checking: texts as in a sheet, or as a model gave them."""

    kind: str
    quote: str = ""
    verdicts: str = ""
    second: str = ""
    evidence: str = ""
    step: int | None = None
    repeat: int = 0


def label_of(
    given: UncheckedLabel, line: PacketLine, drawn: DrawnReply, *, labeller: str, by: By, taxonomy: Taxonomy
) -> Label | str:
    """Return the label, or what is wrong with it.

    Args:
        given: the label as given.
        line: the labelled row.
        drawn: the reply it shows.
        labeller: the labeller's name.
        by: a person or a model.
        taxonomy: the available kinds.
    """
    verdicts = checked(given, words=line.words, n_conditions=len(line.conditions), taxonomy=taxonomy)
    if isinstance(verdicts, str):
        return verdicts
    if by == "model" and not given.quote and line.words.strip():
        return "no quote; a model's label needs words of the reply that show the error"
    return Label(
        row=line.row,
        item_id=drawn.item_id,
        run=drawn.run,
        labeller=labeller,
        by=by,
        kind=given.kind,
        quote=given.quote,
        verdicts=verdicts,
        second=given.second,
        evidence=given.evidence,
        step=given.step,
        repeat=given.repeat,
    )


def checked(
    given: UncheckedLabel, *, words: str, n_conditions: int, taxonomy: Taxonomy
) -> tuple[Verdict, ...] | str:
    """Return the verdicts of a valid label, or what is wrong with it.

    Args:
        given: the label as given.
        words: the reply's text.
        n_conditions: the question's number of conditions.
        taxonomy: the available kinds.
    """
    known = [kind.name for kind in taxonomy.labels]
    if given.kind not in known:
        return f"kind {given.kind!r} is not one of {', '.join(known)}"
    if given.second and given.second not in known:
        return f"second kind {given.second!r} is not one of {', '.join(known)}"
    if given.second == given.kind:
        return f"second kind {given.second!r} repeats the first; leave it empty, or name another"
    if given.quote and (fault := quote_fault(given.quote, words)):
        return fault
    if given.verdicts and not taxonomy.has_verdicts:
        return "verdicts, but the taxonomy has none; leave the column empty"
    verdicts = verdicts_of(given.verdicts, n_conditions)
    needs = {kind.name for kind in taxonomy.kinds if kind.needs_wrong}
    if given.kind in needs and verdicts and not isinstance(verdicts, str) and not NOT_RIGHT & {*verdicts}:
        return f"kind {given.kind!r} needs a condition that is wrong or partial, and the verdicts have none"
    return verdicts


def quote_fault(quote: str, words: str) -> str:
    """Return why a quote is invalid: it does not occur in the reply, ignoring white space."""
    if _plain(quote) in _plain(words):
        return ""
    return f"the quote {_short(quote)!r} is not in the reply; copy words of the reply as they stand"


def verdicts_of(text: str, n_conditions: int) -> tuple[Verdict, ...] | str:
    """Parse verdicts separated by semicolons, one per condition; or return why not."""
    words = _listed(text)
    if not words:
        return ()
    verdicts: list[Verdict] = []
    for word in words:
        verdict = next((name for name in VERDICTS if name == word.casefold()), None)
        if verdict is None:
            return f"verdict {word!r} is not one of {', '.join(VERDICTS)}"
        if verdicts and verdicts[-1] == "not reached" and verdict != "not reached":
            return f"verdict {word!r} after a condition that was not reached"
        verdicts.append(verdict)
    if len(verdicts) != n_conditions:
        return f"{len(verdicts)} verdicts for {n_conditions} conditions; give one for each, separated by ';'"
    return tuple(verdicts)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(_SEPARATOR))))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


# --------------------------------------------------------------------------- beside the packet


def keep_labels(folder: Path, labels: Sequence[Label], *, labeller: str, by: By) -> tuple[Path, bytes]:
    """Return a labeller's file next to a packet, and its contents; people's and models' are separate.

    The file is named after the labeller; if the name is not a file name, as ``openai:gpt-4.1``, a digest is
    appended to keep it unique.

    Raises:
        UsageError: the name is empty.
    """
    stem = re.sub(r"[^\w.-]+", "-", labeller).strip("-.")
    if not stem:
        raise UsageError(f"the labeller {labeller!r} has no name; say --labeller with letters or digits")
    place = folder / "labels" / FOLDERS[by]
    if stem != labeller:  # another one's name may look alike as that of a file
        stem += f"-{hashlib.sha256(labeller.encode()).hexdigest()[:8]}"
    return place / f"{stem}.jsonl", rows_as_jsonl(labels)


def read_labels(folder: Path, packet: Packet, *, taxonomy: Taxonomy) -> tuple[Label, ...]:
    """Return all labels of a packet, by labeller.

    Raises:
        DataError: a file cannot be read, or has a label of an unknown row or kind.
    """
    kinds = [kind.name for kind in taxonomy.labels]
    known = packet.key.reply_of()
    labels: list[Label] = []
    for path in sorted((folder / "labels").glob("*/*.jsonl")):
        for number, label in enumerate(read_jsonl(path, Label), 1):
            if label.row not in known:
                raise DataError(f"{path}, line {number}: there is no row {label.row!r} in the packet")
            if label.kind not in kinds:
                raise DataError(
                    f"{path}, line {number}: kind {label.kind!r} is not one of {', '.join(kinds)}; was it "
                    "given with another --taxonomy?"
                )
            labels.append(label)
    return tuple(labels)


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
    """The result for one row: a label, or why there is none. `said` is the model's reply."""

    row: str
    label: Label | None = None
    problem: str = ""
    said: tuple[str, ...] = ()


def form_of(taxonomy: Taxonomy) -> Form:
    """Return the fields of a label, in the order requested."""
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
    """Return the prompt for models."""
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
    """Label one row; an invalid label is requested once more.

    Args:
        line: the row.
        drawn: the reply it shows; the model is not told.
        labeller: the model's spec.
        taxonomy: the kinds.
        pictures: the frames' picture, if any.
    """
    words, form = template(), form_of(taxonomy)
    item = Item(
        item_id=line.row, question=line.question, choices=line.choices, answer=line.gold, answer_kind="text"
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
