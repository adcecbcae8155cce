"""Check a form by its fields alone: missing values and values that cannot be parsed."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from vidence.make.sources.vocabulary import Skill
from vidence.make.writing.expert_config import REASONING
from vidence.records import Record
from vidence.studio.rules.forms import Form, Kind
from vidence.studio.rules.wording import MOST_FRAMES, Mark, Wording, box_of, frame_numbers, numbers, seconds

Level: TypeAlias = Literal["fault", "warning", "note"]
SKILLS: tuple[str, ...] = get_args(Skill)


class FieldRemark(Record):
    """One thing about one field; a fault keeps the item from being handed in. `by` is what has looked."""

    field: str
    level: Level
    words: str
    by: str = "form"


class Shape(Record):
    """One medium of an item: what it is, how many frames and pixels it has; None if that is not known."""

    kind: Literal["video", "image", "frames"] = "video"
    n_frames: int | None = None
    width_px: int | None = None
    height_px: int | None = None


def fault(field: str, words: str) -> FieldRemark:
    """Something that keeps an item from being handed in."""
    return FieldRemark(field=field, level="fault", words=words)


def warning(field: str, words: str) -> FieldRemark:
    """Something to look at again."""
    return FieldRemark(field=field, level="warning", words=words)


def form_faults(written: Wording, form: Form, kind: Kind, *, media: Sequence[Shape]) -> Iterator[FieldRemark]:
    """Everything that the fields say by themselves.

    Args:
        written: what was written.
        form: the form.
        kind: of the item: whether it has options.
        media: those that it is about, in order.
    """
    if not written.question:
        yield fault("question", "The question is missing.")
    if not written.language:
        yield fault("language", "Give the language of the question.")
    yield from _answer(written, form, kind)
    yield from _span("", written.start, written.end)
    if "steps" in form.parts and not written.steps:
        yield fault("steps", "Give one or more steps of reasoning.")
    if "reasoning" in form.parts and written.reasoning not in REASONING:
        yield fault("reasoning", f"Choose one of {', '.join(REASONING)}.")
    for number, mark in enumerate(written.evidence):
        name = f"evidence-{number}"
        yield from _evidence(mark, name, media=media)
        is_tied = form.tied and mark.kind != "oracle"
        yield from _its_steps(mark, name, n_steps=len(written.steps), is_tied=is_tied)
    yield from _enough_evidence(written, form)
    if "conditions" in form.parts:
        yield from _conditions(written)
    for level, (hint, above) in enumerate(pairwise(written.hints), 1):
        if above and not hint:
            yield fault(f"hint-{level - 1}", f"Hint {level + 1} builds on hint {level}, which is empty.")


def _answer(written: Wording, form: Form, kind: Kind) -> Iterator[FieldRemark]:
    if kind == "open":
        if not written.answer:
            yield fault("answer", "The answer is missing.")
        if written.right.text or written.wrong:
            yield fault("answer", "An open question has no options; clear them.")
        return
    yield from _options(written, form, kind)
    if form.name == "actpld":
        yield from _groups(written)
    elif "category" in form.parts:
        yield from _categories(written)


def _options(written: Wording, form: Form, kind: Kind) -> Iterator[FieldRemark]:
    if not written.right.text:
        yield fault("right-text", "The right option is empty.")
    n_wrong = sum(bool(option.text) for option in written.wrong)
    if n_wrong != form.wrong and kind != "made":
        yield fault("wrong", f"{n_wrong} wrong options; expected {form.wrong}, none of them empty.")
    elif not n_wrong:
        yield fault("wrong", "Give one or more wrong options.")
    named = {"right-text": written.right.text}
    named |= {f"wrong-{i}-text": option.text for i, option in enumerate(written.wrong)}
    texts = [" ".join(word.casefold().split()) for word in named.values() if word]
    if len(set(texts)) < len(texts):
        yield fault("wrong", "Two options are the same.")
    for name, text in named.items() if form.most_words else ():
        if (n := len(text.split())) > form.most_words:
            yield warning(name, f"{n} words; expected a word or a short phrase.")


def _categories(written: Wording) -> Iterator[FieldRemark]:
    options = (written.right, *written.wrong)
    others = {
        option.category for option in options if option.category and option.category != written.category
    }
    if not written.category:
        yield fault("category", "Give the kind of the answers: colour, place, person, number, …")
    elif others:
        yield warning("category", f"Some options are of another kind: {', '.join(sorted(others))}.")


def _groups(written: Wording) -> Iterator[FieldRemark]:
    """Options of point lights are of groups of actions that do not overlap."""
    groups = [option.category.casefold() for option in (written.right, *written.wrong) if option.text]
    if not all(groups):
        yield fault("right-category", "Give the group of actions of each option.")
    elif len(set(groups)) < len(groups):
        yield fault("right-category", "Two options have the same group of actions.")


def _span(name: str, first: str, last: str, *, advice: str = "") -> Iterator[FieldRemark]:
    """What is wrong with two times, in the fields ``start`` and ``end`` behind a name."""
    start, end = seconds(first), seconds(last)
    for part, message, value in (("start", first, start), ("end", last, end)):
        if message and value is None:
            yield fault(
                f"{name}{part}", f"{message!r:.40} is not a time; write seconds such as 12.5, or 1:02.5."
            )
    if start is not None and end is not None and end <= start:
        yield fault(f"{name}end", f"From {start:g} to {end:g} s there is nothing{advice}.")


def _evidence(mark: Mark, name: str, *, media: Sequence[Shape]) -> Iterator[FieldRemark]:
    if mark.medium >= max(len(media), 1):
        yield fault(f"{name}-medium", f"Medium {mark.medium + 1} is not there; there are {len(media)}.")
    shape = media[mark.medium] if mark.medium < len(media) else Shape()
    if shape.kind == "image":
        yield from _on_picture(mark, name, shape)
        return
    if mark.has_box:
        yield fault(f"{name}-x0", "A box goes on a picture; this medium has frames. Clear the box.")
    yield from _frames(mark, name, shape)
    yield from _times(mark, name)


def _on_picture(mark: Mark, name: str, shape: Shape) -> Iterator[FieldRemark]:
    """A picture has no times and frames, but places: a box in its pixels, or all of it."""
    for part in ("start", "end", "frames"):
        if getattr(mark, part):
            yield fault(f"{name}-{part}", "This medium is a picture, which has neither times nor frames.")
    if not mark.has_box:
        return
    box = box_of(mark)
    if box is None:
        yield fault(f"{name}-x0", "A box has four numbers, in pixels: left, top, right, bottom.")
        return
    x0, y0, x1, y1 = box
    if x1 <= x0 or y1 <= y0:
        yield fault(f"{name}-x1", f"From {x0:g}, {y0:g} to {x1:g}, {y1:g} there is nothing.")
    elif shape.width_px and shape.height_px and (x1 > shape.width_px or y1 > shape.height_px):
        size = f"{shape.width_px} x {shape.height_px}"
        yield fault(f"{name}-x1", f"The box ends at {x1:g}, {y1:g}; the picture has {size} pixels.")


def _frames(mark: Mark, name: str, shape: Shape) -> Iterator[FieldRemark]:
    values = frame_numbers(mark.frames)
    if values is None:
        words = f"{mark.frames!r:.40} is not a list of up to {MOST_FRAMES} frames, such as 40, 7."
        yield fault(f"{name}-frames", words)
    elif shape.n_frames is not None and (gone := [n for n in values if n >= (shape.n_frames or 0)]):
        yield fault(f"{name}-frames", f"There is no frame {gone[0]}; they are 0 to {shape.n_frames - 1}.")
    elif values and mark.kind == "oracle" and not mark.text:
        yield warning(f"{name}-text", "Say why these frames show what the answer needs.")


def _times(mark: Mark, name: str) -> Iterator[FieldRemark]:
    yield from _span(f"{name}-", mark.start, mark.end, advice="; mark a later frame")
    if bool(mark.start) != bool(mark.end):
        yield fault(f"{name}-end", "Give the times from when to when it is seen.")


def _its_steps(mark: Mark, name: str, *, n_steps: int, is_tied: bool) -> Iterator[FieldRemark]:
    steps = numbers(mark.steps)
    if steps is None:
        yield fault(
            f"{name}-steps", f"{mark.steps!r:.40} is not a list of steps; write numbers such as 1, 3."
        )
    elif gone := [n + 1 for n in steps if n >= n_steps]:
        yield fault(f"{name}-steps", f"There is no step {gone[0]}; there are {n_steps}.")
    elif is_tied and not steps:
        yield fault(f"{name}-steps", "Say which step it belongs to.")


def _enough_evidence(written: Wording, form: Form) -> Iterator[FieldRemark]:
    n = sum(mark.kind != "oracle" for mark in written.evidence)
    if n < form.least_evidence:
        yield fault("evidence", f"{n} pieces of evidence; expected {form.least_evidence} or more.")
    n = sum(mark.kind == "proactive" for mark in written.evidence)
    if n < form.least_proactive:
        yield fault("evidence", f"{n} proactive pieces; expected {form.least_proactive} or more.")


def _conditions(written: Wording) -> Iterator[FieldRemark]:
    if not written.conditions:
        yield fault("conditions", "Give one or more conditions.")
    for number, condition in enumerate(written.conditions):
        name = f"condition-{number}"
        if not condition.text:
            yield fault(f"{name}-text", "Describe the condition.")
        if condition.skill not in SKILLS:
            yield fault(f"{name}-skill", f"Choose one of {', '.join(SKILLS)}.")
        depends = numbers(condition.depends)
        if depends is None or any(n >= number for n in depends):
            yield fault(f"{name}-depends", "Name earlier conditions by their numbers, such as 1, 2.")
        if condition.at and seconds(condition.at) is None:
            yield fault(
                f"{name}-at", f"{condition.at!r:.40} is not a time; write seconds such as 12.5, or 1:02.5."
            )
        if not (condition.note or condition.otherwise):
            words = "Give another candidate or answer that fits without this condition."
            yield fault(f"{name}-note", words)
