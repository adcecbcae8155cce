"""The form of an item for the template: groups of fields with values and messages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Final

from vidence.make.writing.expert_config import REASONING
from vidence.studio.rules.faults import SKILLS, FieldRemark, Shape
from vidence.studio.rules.forms import Form, Kind, fields_of, rows_to_show
from vidence.studio.rules.wording import BOX, Wording

_LEVELS: Final = (
    "Level 1: a general relation",
    "Level 2: the meaning, and that something is linked",
    "Level 3: a vague pointer to the evidence to look for",
)
_SIDES: Final = ("left", "top", "right", "bottom")
_WHY: Final = "; of oracle frames, why these"
_REVIEWED: Final[Mapping[str, tuple[str, ...]]] = {
    "answer": ("answer", "wrong"),
    "choices": ("wrong",),
    "tags": ("reasoning", "category", "concept"),
    "media": ("clip", "media"),
    "rationale": ("steps",),
}
_WHOLE: Final = {
    "start": "clip",
    "end": "clip",
    "subject": "concept",
    "textbook": "concept",
    "chapter": "concept",
    "right-category": "wrong",
    "right-text": "wrong",
    "language": "question",
}
_FILLED_IN: Final = ("-id", "-kind", "-medium")
"""The ends of the names of fields that hold something before anything is written."""
NUMBER: Final = "__n__"
"""In the place of the number, from 0, of a row that a script adds."""
COUNTED: Final = "__m__"
"""In the place of the same number from 1."""


@dataclass(frozen=True)
class Field:
    """One field: a list where it has `choices`, an area of text where it has `lines`, else one line.

    What stands in it and what is said of it comes in when the form is drawn.
    """

    name: str
    label: str = ""
    _: KW_ONLY
    value: str = ""
    lines: int = 0
    choices: tuple[tuple[str, str], ...] = ()
    said: tuple[FieldRemark, ...] = ()
    is_hidden: bool = False
    fill: str = ""
    """What a button takes from the player: ``start`` or ``end`` of the marked range, ``frame`` its time, or
    ``frames``: the painted frame is added to those that stand there."""


@dataclass(frozen=True)
class Row:
    """Fields that belong together, such as those of one piece of evidence."""

    fields: tuple[Field, ...]
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Group:
    """A section of the form. `fresh` is the row that a script adds; `marks` are reviewers' comments."""

    name: str
    title: str
    help: str = ""
    rows: tuple[Row, ...] = ()
    fresh: Row | None = None
    add: str = ""
    said: tuple[FieldRemark, ...] = ()
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FormContext:
    """Data that a form needs in addition to its wording.

    `media` are the names of the media, `shapes` what they are, `said` is what machines say by field, `marks`
    what reviewers say by field of an item; `new_id` draws the names of options that nobody has written yet.
    """

    media: Sequence[str]
    shapes: Sequence[Shape]
    new_id: Callable[[], str]
    said: tuple[FieldRemark, ...] = ()
    marks: tuple[tuple[str, str], ...] = ()


def groups_of(written: Wording, form: Form, kind: Kind, *, beside: FormContext) -> tuple[Group, ...]:
    """The parts of the form of an item, in order.

    Args:
        written: what stands in it.
        form: which parts it has.
        kind: whether there are options.
        beside: the media, and what is said of it.
    """
    by_part = {
        "concept": _CONCEPT,
        "category": _CATEGORY,
        "reasoning": _REASONING,
        "clip": _CLIP,
        "steps": _several(
            _STEPS, written.steps, lambda n, i: Row((Field(f"step-{n}", f"Step {i}", lines=2),)), least=2
        ),
        "evidence": _evidence(written, beside),
        "conditions": _several(
            _CONDITIONS, written.conditions, _row_of("condition", "Condition", _CONDITION)
        ),
        "knowledge": _several(_KNOWLEDGE, written.knowledge, _row_of("knowledge", "Piece", _PIECE)),
        "hints": _HINTS,
    }
    parts = [
        name for name in by_part if name in form.parts and not (name == "category" and form.name == "actpld")
    ]
    groups = [_QUESTION, _ANSWER if kind == "open" else _options(written, form, new_id=beside.new_id)]
    groups += [by_part[name] for name in parts]
    if "conditions" in parts:
        groups.append(_PROGRAM)
    values = fields_of(written)
    return tuple(_filled(group, values, beside) for group in groups)


def _filled(group: Group, values: Mapping[str, str], context: FormContext) -> Group:
    """Return a section with the values and messages of its fields."""

    def said_of(name: str) -> tuple[FieldRemark, ...]:
        return tuple(remark for remark in context.said if remark.field == name)

    def filled(field: Field) -> Field:
        return replace(field, value=values.get(field.name) or field.value, said=said_of(field.name))

    rows = tuple(replace(row, fields=tuple(map(filled, row.fields))) for row in group.rows)
    has_field_of_its_name = any(field.name == group.name for row in rows for field in row.fields)
    return replace(
        group,
        rows=rows,
        said=() if has_field_of_its_name else said_of(group.name),
        marks=tuple(words for name, words in context.marks if group.name in _REVIEWED.get(name, (name,))),
    )


def group_of(name: str) -> str:
    """Return the section that a field belongs to, for links from comments."""
    bare = name.split("-", maxsplit=1)[0]
    several = {"step": "steps", "condition": "conditions", "hint": "hints"}
    return _WHOLE.get(name) or several.get(bare, bare)


def in_written_parts(remarks: Iterable[FieldRemark], written: Wording) -> tuple[FieldRemark, ...]:
    """The remarks on parts of the form that hold something, and those on the whole once any does."""
    parts = {
        group_of(name)
        for name, value in fields_of(written).items()
        if value.strip() and name != "language" and not name.endswith(_FILLED_IN)
    }
    return tuple(remark for remark in remarks if group_of(remark.field) in (parts | {""} if parts else ()))


# --------------------------------------------------------------------------- parts that are always the same


def _part(name: str, title: str, *fields: Field, about: str = "") -> Group:
    """Return a section whose fields are in one row."""
    return Group(name=name, title=title, help=about, rows=(Row(fields),))


def _list_of(values: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((value, value) for value in values)


_QUESTION: Final = _part(
    "question", "Question", Field("question", "Question", lines=3), Field("language", "Language, such as en")
)
_ANSWER: Final = _part("answer", "Answer", Field("answer", "Answer", lines=2))
_CONCEPT: Final = _part(
    "concept",
    "Subject and concept",
    *(Field(name, name.capitalize()) for name in ("subject", "textbook", "chapter", "concept")),
)
_CATEGORY: Final = _part(
    "category",
    "Category of the answer",
    Field("category", "Kind of answer: colour, place, person, number, …"),
)
_REASONING: Final = _part(
    "reasoning",
    "Type of reasoning",
    Field("reasoning", "Type of reasoning", choices=(("", "choose"), *_list_of(REASONING))),
)
_CLIP: Final = _part(
    "clip",
    "Clip",
    Field("start", "From, in seconds", fill="start"),
    Field("end", "To, in seconds", fill="end"),
    about="The part of the first medium to show; empty: all of it.",
)
_HINTS: Final = _part(
    "hints",
    "Hints",
    *(Field(f"hint-{i}", words, lines=2) for i, words in enumerate(_LEVELS)),
    about="Each hint is given with those before it. None may contain the answer or a step.",
)
_PROGRAM: Final = _part(
    "program",
    "Proof",
    Field("program", "Program of the composition", lines=5),
    about="In the format of vidence items prove; if the project has the scene, the proof is shown here.",
)


# --------------------------------------------------------------------------- parts of several rows


def _row_of(name: str, title: str, fields: Sequence[Field]) -> Callable[[int | str, int | str], Row]:
    """What makes a numbered row: `fields` are named without the row, as in ``text`` of ``wrong-0-text``."""

    def row(n: int | str, count: int | str) -> Row:
        named = (replace(field, name=f"{name}-{n}-{field.name}") for field in fields)
        return Row(tuple(named), f"{title} {count}")

    return row


def _several(
    group: Group,
    written: Sequence[object],
    row: Callable[[int | str, int | str], Row],
    *,
    spare: int = 1,
    least: int = 0,
) -> Group:
    """A part with rows of one kind, which a script can add one to.

    Args:
        group: the part without its rows.
        written: what stands in the rows.
        row: makes one, of its number from 0 and from 1.
        spare: how many are left to write in.
        least: how many there are at least.
    """
    n = rows_to_show(written, spare=spare, least=least)
    return replace(group, rows=tuple(row(i, i + 1) for i in range(n)), fresh=row(NUMBER, COUNTED))


def _options(written: Wording, form: Form, *, new_id: Callable[[], str]) -> Group:
    has_why = form.name in ("mmvu", "humanpcr-pc", "actpld")
    category = form.categories if form.name == "actpld" else "Kind, if different"

    def option(name: str, title: str) -> Row:
        drawn_id = "" if NUMBER in name else new_id()
        fields = [Field(f"{name}-id", value=drawn_id, is_hidden=True), Field(f"{name}-text", "Option")]
        if "category" in form.parts:
            fields.append(Field(f"{name}-category", category))
        if has_why and name != "right":
            fields.append(Field(f"{name}-why", "Why it is tempting", lines=2))
        return Row(tuple(fields), title)

    options = Group(
        name="wrong",
        title="Options",
        help="The right option is entered separately; the order that others see is drawn when you hand in.",
        add="Add a wrong option",
    )
    wrong = _several(
        options,
        written.wrong,
        lambda n, count: option(f"wrong-{n}", f"Wrong option {count}"),
        spare=0,
        least=form.wrong,
    )
    return replace(wrong, rows=(option("right", "Right option"), *wrong.rows))


def _evidence(written: Wording, context: FormContext) -> Group:
    is_still = [shape.kind == "image" for shape in context.shapes]
    has_frames, has_pictures = not all(is_still) or not is_still, any(is_still)
    names = tuple(
        (str(i), f"picture {i + 1}: {name}" if i < len(is_still) and is_still[i] else name)
        for i, name in enumerate(context.media)
    )
    fields = (
        Field("medium", "Medium", choices=names) if len(names) > 1 else Field("medium", is_hidden=True),
        Field("kind", "Kind", choices=_list_of(("referred", "proactive", "oracle"))),
        *(_IN_TIME if has_frames else ()),
        *(_ON_PICTURE if has_pictures else ()),
        Field("text", "What is seen" + _WHY * has_frames, lines=2),
        Field("steps", "For steps, such as 1, 3"),
    )
    more = ["Oracle: the frames that show what the answer needs, and why these."] if has_frames else []
    more += ["On a picture, give a box, or use the whole picture."] if has_pictures else []
    evidence = Group(
        name="evidence",
        title="Evidence",
        help=" ".join(["Referred: the question names it; proactive: the viewer has to look for it.", *more]),
        add="Add evidence from the marked range" if has_frames else "Add evidence",
    )
    return _several(evidence, written.evidence, _row_of("evidence", "Piece", fields))


_STEPS: Final = Group(
    name="steps",
    title="Steps of reasoning",
    help="In order, from what is seen to the answer.",
    add="Add a step",
)
_IN_TIME: Final = (
    Field("start", "From, in seconds", fill="start"),
    Field("end", "To, in seconds", fill="end"),
    Field("frames", "Frames, best first, such as 40, 7", fill="frames"),
)
_ON_PICTURE: Final = tuple(
    Field(part, f"Box: {side}, in pixels") for part, side in zip(BOX, _SIDES, strict=True)
)
_CONDITIONS: Final = Group(
    name="conditions",
    title="Conditions",
    help="In order. Each must be needed: give the answer without it.",
    add="Add a condition",
)
_CONDITION: Final = (
    Field("text", "Condition", lines=2),
    Field("skill", "Skill", choices=(("", "choose"), *_list_of(SKILLS))),
    Field("depends", "Depends on conditions, such as 1"),
    Field("hands_on", "Hands on"),
    Field("at", "Without it: when is another candidate seen?", fill="frame"),
    Field("note", "Which candidate", lines=2),
    Field("otherwise", "The answer would be"),
)
_KNOWLEDGE: Final = Group(name="knowledge", title="Knowledge", add="Add knowledge")
_PIECE: Final = (Field("title", "Required knowledge"), Field("url", "Page that explains it (URL)"))
