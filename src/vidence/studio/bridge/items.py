"""Items between the studio and the files: what is written, the content of a revision, a question.

The content of a revision is the item as it stands in a file of questions, with two fields more, which
`item_of` leaves out: ``misconception``, as `vidence make expert` keeps it, and ``annotations``, which becomes
a line of ``annotations.jsonl``.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from vidence.errors import DataError
from vidence.make.gates.verdicts import content_of as asked_content
from vidence.make.review.files import question_of
from vidence.make.review.revisions import Revision
from vidence.make.review.translations import LANGUAGE
from vidence.records import Evidence, Item, Media, Record
from vidence.studio.rules.wording import (
    Condition,
    Knowledge,
    Mark,
    Option,
    Wording,
    box_of,
    frame_numbers,
    in_words,
    numbers,
    seconds,
)

ANNOTATIONS: Final = "annotations"
MISCONCEPTION: Final = "misconception"
WRITTEN_TAGS: Final = ("subject", "textbook", "chapter", "concept", "reasoning", "category", LANGUAGE)


class EvidenceExtra(Record, omit_defaults=True):
    """What the item format does not hold of one piece of evidence, in the order of the item's.

    `first` and `last` are the frames of the medium that were marked, None if they are not known. `times_s`
    are those of the frames that the item names, in order; none where they are not known. `box` is on a
    picture, in its pixels: left, top, right, bottom, from its left upper corner; None: all of it.
    """

    medium: int = 0
    steps: tuple[int, ...] = ()
    first: int | None = None
    last: int | None = None
    times_s: tuple[float, ...] = ()
    box: tuple[float, float, float, float] | None = None


class Annotations(Record, omit_defaults=True):
    """What the item format does not hold of an item.

    `options` are in the order in which they were written, the right one first, and without their texts;
    `order` has for each place the position of the option that is shown there, drawn from `seed`.
    """

    form: str = ""
    seed: int = 0
    options: tuple[Option, ...] = ()
    order: tuple[int, ...] = ()
    evidence: tuple[EvidenceExtra, ...] = ()
    conditions: tuple[Condition, ...] = ()
    knowledge: tuple[Knowledge, ...] = ()
    program: str = ""


class AnnotationRow(Record, omit_defaults=True):
    """One line of ``annotations.jsonl``, for the item of this name with this content hash."""

    item_id: str
    content: str
    revision: str
    n: int
    annotations: Annotations
    misconception: dict[str, str] = msgspec.field(default_factory=dict)


def item_of(revision: Revision) -> Item:
    """A wording as a question of our format.

    Raises:
        DataError: the wording is no question.
    """
    return question_of(revision.content)


def annotations_of(revision: Revision) -> AnnotationRow | None:
    """Return the annotations of a wording; None if it has none, as for imported items.

    Raises:
        DataError: the wording, or what stands beside it, cannot be read.
    """
    annotations = _annotations(revision.content)
    if annotations is None:
        return None
    value = revision.content.get(MISCONCEPTION)
    return AnnotationRow(
        item_id=revision.item_id,
        content=asked_content(item_of(revision)),
        revision=revision.sha256,
        n=revision.n,
        annotations=annotations,
        misconception=msgspec.convert(value, dict[str, str]) if value else {},
    )


def _annotations(content: Mapping[str, object]) -> Annotations | None:
    if ANNOTATIONS not in content:
        return None
    try:
        return msgspec.convert(content[ANNOTATIONS], Annotations)
    except msgspec.ValidationError as error:
        raise DataError(f"the annotations of {content.get('item_id')} cannot be read ({error})") from error


# --------------------------------------------------------------------------- written -> content


class Subject(Record, omit_defaults=True):
    """What an item is about and called, which its form does not ask for.

    `media` are in order; the clip that is written cuts the first of them. `seed` draws the order of
    the options, `form` is the name of the form, `benchmark` the set, `source` what clips of one film share.
    `tags` are those that the form does not show.
    """

    item_id: str
    form: str
    seed: int
    media: tuple[Media, ...] = ()
    benchmark: str = ""
    source: str = ""
    tags: dict[str, str] = msgspec.field(default_factory=dict)


def content_of(
    written: Wording, subject: Subject, *, pieces: Sequence[EvidenceExtra] = ()
) -> dict[str, object]:
    """Return the content of a revision: the question with its options in final order, and its annotations.

    Args:
        written: what was written, without faults.
        subject: what it is about.
        pieces: the frames of the evidence; none: they are not known.
    """
    order = _order(subject, n_options=len(options_of(written)))
    final = final_item(written, subject)
    known = pieces or [bare_piece(mark, subject.media) for mark in written.evidence]
    annotations = Annotations(
        form=subject.form,
        seed=subject.seed,
        options=tuple(Option(id=option.id, category=option.category) for option in options_of(written)),
        order=order,
        evidence=tuple(known),
        conditions=written.conditions,
        knowledge=written.knowledge,
        program=written.program,
    )
    content: dict[str, object] = dict(msgspec.to_builtins(final))
    content[ANNOTATIONS] = msgspec.to_builtins(annotations)
    if why := {option.text: option.why for option in written.wrong if option.why}:
        content[MISCONCEPTION] = why
    return content


def bare_piece(mark: Mark, media: Sequence[Media]) -> EvidenceExtra:
    """What a piece of evidence says by itself, without its file."""
    box = box_of(mark) if _is_still(mark, media) else None
    return EvidenceExtra(medium=mark.medium, steps=numbers(mark.steps) or (), box=box)


def _is_still(mark: Mark, media: Sequence[Media]) -> bool:
    return mark.medium < len(media) and media[mark.medium].kind == "image"


def options_of(written: Wording) -> tuple[Option, ...]:
    """The options as they were written, the right one first; none of an open question."""
    wrong = tuple(option for option in written.wrong if option.text)
    return (written.right, *wrong) if written.right.text or wrong else ()


def item_as_written(written: Wording, subject: Subject) -> Item:
    """The question before its options are put into their order: the right one is A."""
    options = options_of(written)
    start, end = seconds(written.start), seconds(written.end)
    entries = list(subject.media)
    if entries and entries[0].kind == "video" and (start is not None or end is not None):
        entries[0] = msgspec.structs.replace(entries[0], start_s=start, end_s=end)
    values = subject.tags | {name: getattr(written, name) for name in WRITTEN_TAGS}
    return Item(
        item_id=subject.item_id,
        benchmark=subject.benchmark,
        media=tuple(entries),
        source=subject.source,
        question=written.question,
        choices=tuple(option.text for option in options),
        answer="A" if options else written.answer,
        answer_kind="choice" if options else "text",
        tags={name: value for name, value in values.items() if value},
        evidence=tuple(_evidence(mark, subject.media) for mark in written.evidence),
        rationale="\n".join(f"{n}. {step}" for n, step in enumerate(written.steps, 1)),
        steps=written.steps,
        hints=tuple(hint for hint in written.hints if hint),
        knowledge=tuple(knowledge.url or knowledge.title for knowledge in written.knowledge),
    )


def _evidence(mark: Mark, media: Sequence[Media]) -> Evidence:
    steps = numbers(mark.steps)
    is_still = _is_still(mark, media)
    return Evidence(
        kind=mark.kind,
        start_s=None if is_still else seconds(mark.start),
        end_s=None if is_still else seconds(mark.end),
        frames=() if is_still else frame_numbers(mark.frames) or (),
        note=mark.text,
        step=steps[0] if steps else None,
    )


def _order(subject: Subject, *, n_options: int) -> tuple[int, ...]:
    """For each place the position of the option that is shown there; a function of the seed and the name."""
    if not n_options:
        return ()
    drawn = hashlib.sha256(f"{subject.seed}/{subject.item_id}".encode()).digest()
    return tuple(int(entry) for entry in np.random.default_rng(list(drawn)).permutation(n_options))


def final_item(written: Wording, subject: Subject) -> Item:
    """The question with its options in the order that others see."""
    order = _order(subject, n_options=len(options_of(written)))
    return item_as_written(written, subject).with_order(order)


# --------------------------------------------------------------------------- content -> written


def wording_of(content: Mapping[str, object]) -> Wording:
    """What a form shows of a revision; what only the item format says is read as well as it says it.

    Raises:
        DataError: the content is no question.
    """
    item = question_of(content)
    annotations = _annotations(content) or Annotations()
    wording = content.get(MISCONCEPTION)
    options = _written_options(item, annotations, wording if isinstance(wording, dict) else {})
    first = item.media[0] if item.media else Media()
    fields = {name: item.tags.get(name, "") for name in WRITTEN_TAGS}
    return Wording(
        question=item.question,
        answer="" if options else item.answer,
        right=options[0] if options else Option(),
        wrong=options[1:],
        steps=item.steps,
        evidence=_marks(item, annotations),
        conditions=annotations.conditions,
        knowledge=annotations.knowledge
        or tuple(Knowledge(url=name) if "://" in name else Knowledge(title=name) for name in item.knowledge),
        hints=item.hints,
        start=_text(first.start_s),
        end=_text(first.end_s),
        program=annotations.program,
        **fields,
    )


def _written_options(item: Item, annotations: Annotations, why: Mapping[str, str]) -> tuple[Option, ...]:
    if item.answer_kind != "choice":
        return ()
    letters = [chr(ord("A") + place) for place in range(len(item.choices))]
    if item.answer not in letters:
        raise DataError(
            f"the answer of {item.item_id} is {item.answer!r:.40}; expected one of {', '.join(letters)}"
        )
    right = letters.index(item.answer)
    if sorted(annotations.order) == list(range(len(item.choices))) and annotations.order[right] == 0:
        places = [annotations.order.index(number) for number in range(len(item.choices))]
    else:  # it was imported, or somebody has put them into another order
        places = [right, *(number for number in range(len(item.choices)) if number != right)]
    notes = annotations.options if len(annotations.options) == len(places) else (Option(),) * len(places)
    return tuple(
        msgspec.structs.replace(note, text=item.choices[place], why=str(why.get(item.choices[place], "")))
        for place, note in zip(places, notes, strict=True)
    )


def _marks(item: Item, annotations: Annotations) -> tuple[Mark, ...]:
    pieces = annotations.evidence if len(annotations.evidence) == len(item.evidence) else ()
    marks = []
    for number, evidence in enumerate(item.evidence):
        piece = (
            pieces[number]
            if pieces
            else EvidenceExtra(steps=() if evidence.step is None else (evidence.step,))
        )
        x0, y0, x1, y1 = map(_text, piece.box or (None,) * 4)
        marks.append(
            Mark(
                medium=piece.medium,
                kind=evidence.kind,
                start=_text(evidence.start_s),
                end=_text(evidence.end_s),
                frames=", ".join(str(index) for index in evidence.frames),
                text=evidence.note,
                steps=in_words(piece.steps),
                x0=x0,
                y0=y0,
                x1=x1,
                y1=y1,
            )
        )
    return tuple(marks)


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:.15g}"
